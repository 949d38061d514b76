"""Kernels called by their address, as C calls function pointers: the caller is compiled without knowing them.

A loop that works with any model, or over any stages, reads the addresses of what it calls from an array. Each
kind of such kernels is a subclass of `ByAddress` that says what they take; all return an int64. Used as a
decorator, the class makes a kernel of a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numba
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils

from tokbench.kernels.compiling import c_function, instruction, kernel
from tokbench.kernels.copies import cached_property

NUMBER = types.int64
BLOCK = types.CPointer(types.uint64)
"""The type of the argument that is a block (`pointers.block`)."""


class ByAddress:
    """A kernel, compiled when its `address` is first asked for, and kept on disk by numba."""

    takes: ClassVar[tuple[Any, ...]]

    def __init__(self, code: Callable[..., int] | Callable[..., np.int64]) -> None:
        self.code = kernel(code) if config.DISABLE_JIT else code
        self.compiled: Any = None if config.DISABLE_JIT else c_function((self.takes, NUMBER), code)

    @cached_property
    def address(self) -> int:
        """Where it is in memory; among the `_PLAIN` ones without numba."""
        if config.DISABLE_JIT:
            _PLAIN.append(self.code)
            return len(_PLAIN) - 1
        if self.compiled is None:  # a numba that is not known
            self.compiled = numba.cfunc(NUMBER(*self.takes), cache=True)(self.code)
        else:
            self.compiled.compile()
        return int(self.compiled.address)


_PLAIN: list[Callable[..., Any]] = []

if config.DISABLE_JIT:

    def called_at(takes: tuple[Any, ...]) -> Any:
        """What calls, in kernels, a kernel that `takes` these, by its address and with a tuple of arguments."""
        return lambda address, arguments: _PLAIN[address](*arguments)

else:

    def called_at(takes: tuple[Any, ...]) -> Any:
        """What calls, in kernels, a kernel that `takes` these, by its address and with a tuple of arguments."""

        @instruction(NUMBER, NUMBER, types.Tuple(takes))
        def call_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            result, *kinds = map(context.get_value_type, (NUMBER, *takes))
            place = builder.inttoptr(args[0], ir.FunctionType(result, kinds).as_pointer())
            return builder.call(place, cgutils.unpack_tuple(builder, args[1], len(takes)))

        return call_at
