"""A barrier for kernels that run side by side in threads of their own.

Each thread has a counter, alone in its cache line: how many barriers it has come to. It stores the next number,
and goes on when every counter has reached it. Nothing is ever reset and no counter has two writers, so no order
of events can go wrong:

- A thread passes barrier k only after all have stored k or more, that is, have come to it. That includes a
  thread that is late in looking: others may be at barrier k + 1 by then, and no further, since they wait there
  for its own counter. Counters only rise, so what it waits for cannot be missed.
- A store is a *release* and a look is an *acquire*: what a thread wrote before it came to a barrier is seen by
  all that have passed it. What it reads between two barriers stays as it is if its writer writes only after
  the next one.

`arrive` stores, `all_there` looks for a bounded time. Who has looked in vain leaves its kernel and asks again
later: so a machine with fewer free cores than threads can run the others meanwhile, and Python can see that one
has failed or that the user wants to stop.

The first thread may call all off, once: `call_off`, while it is at barrier k, has every thread find, at barrier
k + 1, that it is the last one. None can have passed that before, since the first has not come to it; and it
comes to it after the call, so who passes it sees the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Block, Int, Ints

_LINE = 16
"""Counters lie so many int64 apart: two cache lines, since processors fetch them in pairs."""
LOOKS = 1 << 16
"""Looks at a counter before giving up: about 20 microseconds, less than it takes to leave and come again."""

if config.DISABLE_JIT:

    def _load_acquire(counters: Ints, index: Int) -> np.int64:
        """The counter at `index`."""
        counter: np.int64 = counters[index]
        return counter

    def _store_release(counters: Ints, index: Int, value: Int) -> None:
        """Set the counter at `index`."""
        counters[index] = value

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def _load_acquire(typingctx: Any, counters: Any, index: Any) -> Any:
        """The int64 at `index` of a pointer; what its writer wrote before is seen after."""
        signature = types.int64(counters, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.load_atomic(builder.gep(args[0], [args[1]]), "acquire", 8)

        return signature, codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def _store_release(typingctx: Any, counters: Any, index: Any, value: Any) -> Any:
        """Set the int64 at `index` of a pointer; whoever sees it sees all that was written before."""
        signature = types.void(counters, types.int64, types.int64)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store_atomic(args[2], builder.gep(args[0], [args[1]]), "release", 8)
            return context.get_dummy_value()

        return signature, codegen


def apart(size: int) -> Ints:
    """Zeros in cache lines where nothing else lies: for what one thread writes while others write near by."""
    room = np.zeros(size + 2 * _LINE, np.int64)
    skipped = -room.ctypes.data % (8 * _LINE) // 8
    return room[skipped : skipped + size]


def put_apart(block: Block) -> Block:
    """A block of arrays (see `pointers`), likewise."""
    if config.DISABLE_JIT:
        return block
    copy = apart(len(block)).view(block.dtype)
    copy[:] = block
    return copy


def counters(threads: int) -> Ints:
    """The counters of a barrier for so many threads, and the number of the last one (0: none is the last)."""
    return apart((threads + 1) * _LINE)


def call_off(arrivals: Ints, number: int) -> None:
    """Make the barrier after `number`, where the first thread has come, the last one; the first call counts."""
    if arrivals[-_LINE] == 0:
        arrivals[-_LINE] = number + 1


@inline
def arrive(arrivals: Ints, me: Int, number: Int) -> None:
    """Thread `me` has come to barrier `number` (from 1 on) of a pointer to `counters`."""
    _store_release(arrivals, _LINE * me, np.int64(number))


@inline
def all_there(arrivals: Ints, threads: Int, number: Int) -> bool:
    """Whether all threads have come to barrier `number`; waits a little before it says no."""
    looks = LOOKS
    for thread in range(threads):
        while _load_acquire(arrivals, _LINE * thread) < number:
            looks -= 1
            if looks == 0:
                return False
    return True


@inline
def is_last(arrivals: Ints, threads: Int, number: Int) -> Any:
    """Whether a barrier where all are there is the last one."""
    return _load_acquire(arrivals, _LINE * threads) == number
