"""What a model is to the word cache: a search, which encodes one word that the cache does not hold.

    search(block, text, start, length, k, count, out, o)

encodes the word ``text[start:start + length]``, number `k` of a group of `count`, to ``out[o:]`` and returns
the new end; it may enter the word in the cache. The loops of `encoding` call it by its address. So they are
compiled once for all models, and know none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from tokbench.kernels.compiling import c_function
from tokbench.kernels.copies import cached_property

_NUMBER = types.int64
_ARGUMENTS = (
    types.CPointer(types.uint64),
    types.CPointer(types.uint8),
    *(_NUMBER,) * 4,
    types.CPointer(types.int32),
    _NUMBER,
)


class Search:
    """A search, compiled when its `address` is first asked for, and kept on disk by numba."""

    def __init__(self, code: Callable[..., int]) -> None:
        self.code = code
        self.compiled: Any = None if config.DISABLE_JIT else c_function((_ARGUMENTS, _NUMBER), code)

    @cached_property
    def address(self) -> int:
        """Where it is in memory; among the `_PLAIN` ones without numba."""
        if config.DISABLE_JIT:
            _PLAIN.append(self.code)
            return len(_PLAIN) - 1
        if self.compiled is None:  # a numba that is not known
            self.compiled = numba.cfunc(_NUMBER(*_ARGUMENTS), cache=True)(self.code)
        else:
            self.compiled.compile()
        return int(self.compiled.address)


_PLAIN: list[Callable[..., int]] = []

if config.DISABLE_JIT:

    def search_at(address: int, *arguments: Any) -> int:
        """The search at an address, called."""
        return _PLAIN[address](*arguments)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def search_at(
        typingctx: Any,
        address: Any,
        block: Any,
        text: Any,
        start: Any,
        length: Any,
        k: Any,
        count: Any,
        out: Any,
        o: Any,
    ) -> Any:
        """The search at an address, called."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            result, *kinds = map(context.get_value_type, (_NUMBER, *_ARGUMENTS))
            place = builder.inttoptr(args[0], ir.FunctionType(result, kinds).as_pointer())
            return builder.call(place, args[1:])

        return _NUMBER(_NUMBER, *_ARGUMENTS), codegen
