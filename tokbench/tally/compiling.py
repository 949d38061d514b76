"""How the loops that count are compiled: numba, kept on disk, without the GIL.

Modules that use this import numba, so they are themselves imported inside functions. With
``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numba.core import entrypoints
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

PADDING = 64
"""Bytes that must be readable beyond the text given to a kernel: kernels look at up to 64 at once."""


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, and again where a file of this folder has changed."""
    return _compiled(function)


def lean_kernel(function: Function) -> Function:
    """The same for a function that makes no arrays: no references are counted then, not even in its loops."""
    return _compiled(function, _nrt=False)


def inline(function: Function) -> Function:
    """Compile `function` into every lean kernel that calls it; not to be called from Python."""
    compiled: Function = njit(
        nogil=True,
        boundscheck=False,
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        _nrt=False,
    )(function)
    return compiled


def _compiled(function: Function, **options: bool) -> Function:
    compiled: Function = njit(cache=True, nogil=True, boundscheck=False, **options)(function)
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        # numba asks for the kernel's own file only, and constants and intrinsics come from others
        cache_file._source_stamp = _stamp()
    if hasattr(compiled, "_compile_for_args"):
        compiled._compile_for_args = _without_extensions(compiled._compile_for_args)
    return compiled


def _without_extensions(compile_for: Callable[..., Any]) -> Callable[..., Any]:
    """The same without importing what other packages plug into numba.

    Kernels need none of it, and it can be large: awkward, where installed, brings pyarrow along. It is
    imported as ever when a function of someone else's is compiled.
    """

    def compile_for_arguments(*arguments: Any) -> Any:
        with global_compiler_lock:
            loaded = getattr(entrypoints, "_already_initialized", True)
            entrypoints._already_initialized = True
            try:
                return compile_for(*arguments)
            finally:
                entrypoints._already_initialized = loaded

    return compile_for_arguments


@cache
def _stamp() -> tuple[tuple[str, int, int], ...]:
    states = [(path.name, path.stat()) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, contiguous and read-only: one kind of array, so that a kernel is compiled once."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def padded(data: bytes) -> NDArray[np.uint8]:
    """Text as bytes, uint8, that kernels may read `PADDING` bytes beyond the end of."""
    return np.frombuffer(data + bytes(PADDING), np.uint8)[: len(data)]


def windows(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The eight bytes from each byte on as one little-endian number: a view, to compare eight at a time.

    `data` is contiguous uint8, followed by `PADDING`; there is a window for every byte and for those after
    the end, as far as the padding goes.

    Example:
        >>> hex(int(windows(padded(bytes(range(1, 10))))[1]))
        '0x908070605040302'
    """
    whole = data if data.base is None else data.base
    return np.ndarray((len(data) + PADDING - 7,), np.dtype("<u8"), whole, strides=(1,))
