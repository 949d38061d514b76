"""The decorators of kernels, ours and plugins', and the one line a user sees while they compile.

`kernel` marks a function that Python calls: compiled on its first call, kept on disk by numba, running without
the GIL. `inline` marks a function that only kernels call: it becomes part of them.

numba asks only whether the file of the kernel itself has changed before it uses what it kept. Kernels here are
made of functions from several files, so `kernel` widens that question to all of them: without it, an upgrade
that changes one file would go on running the old code of another.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import config, njit

Function = Callable[..., Any]

_told: list[bool] = []
_UNSEEN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Of functions that only kernels call: what Python would call them by takes a sixth of the time to compile.

So Python must not call them, which would end the process."""


def inline(function: Function) -> Function:
    """Compile `function` into every kernel that calls it (LLVM inlines it; no call is left)."""
    compiled: Function = njit(nogil=True, boundscheck=False, forceinline=True, **_UNSEEN)(function)
    return compiled


def subroutine(function: Function) -> Function:
    """Compile `function` as a subroutine of kernels: called, not copied, so that hot loops stay small."""
    # without `forceinline=False` it would inherit what the function that calls it first was compiled with
    compiled: Function = njit(nogil=True, boundscheck=False, inline="never", forceinline=False, **_UNSEEN)(
        function
    )
    return compiled


def kernel(function: Function) -> Function:
    """Compile `function` for calls from Python: cached on disk, without the GIL."""
    compiled: Function = njit(cache=True, nogil=True, boundscheck=False)(function)
    watch_sources(compiled, function)
    return compiled


def watch_sources(compiled: Any, function: Function) -> None:
    """Have numba compile again what it kept where any file has changed that `function` is made of."""
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _stamp(function)


def _stamp(function: Function) -> tuple[tuple[str, int, int], ...]:
    """Name, modification time and size of every file that compiled code of `function` is made of."""
    files: set[str] = set()
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        one = waiting.pop()
        code = getattr(one, "__code__", None)
        if code is None or id(one) in seen:
            continue
        seen.add(id(one))
        files.add(code.co_filename)
        files.update(_imported(code.co_filename))
        named = [one.__globals__.get(name) for name in code.co_names]
        # constants reached through a module ("layout as at") are compiled in as well
        files.update(it.__file__ for it in named if isinstance(it, ModuleType) and it.__file__)
        # a dispatcher keeps its Python function in py_func, an intrinsic in _defn
        waiting += [getattr(it, "py_func", None) or getattr(it, "_defn", None) for it in named]
    states = [(name, Path(name).stat()) for name in sorted(files)]
    return tuple((name, state.st_mtime_ns, state.st_size) for name, state in states)


@lru_cache(maxsize=256)
def _imported(path: str) -> list[str]:
    """The files of tokbench and its plugins that a file imports names from: their numbers are compiled in."""
    names = re.findall(r"^from (tokbench[\w.]*) import", Path(path).read_text(encoding="utf-8"), re.M)
    modules = (sys.modules.get(name) for name in names)
    return [module.__file__ for module in modules if module is not None and module.__file__]


def announce(*kernels: Any) -> None:
    """Say once, on stderr, that compiling takes a while, if none of `kernels` is in numba's cache yet.

    Called with the kernels about to be used, before their first call. Silent in plain-Python mode.
    """
    if config.DISABLE_JIT or _told or all(_on_disk(function) for function in kernels):
        return
    _told.append(True)
    print(
        "tokbench: compiling kernels (once per machine and version; up to a minute) …",
        file=sys.stderr,
        flush=True,
    )


def _on_disk(function: Any) -> bool:
    """Whether numba has compiled code of `function` in memory or in its cache folder."""
    if getattr(function, "signatures", None):
        return True
    cache = getattr(function, "_cache", None)
    implementation = getattr(cache, "_impl", None)
    cache_file = getattr(cache, "_cache_file", None)
    if implementation is None or cache_file is None:
        return True  # another numba keeps its cache elsewhere: better silent than wrong
    try:
        return bool(cache_file._load_index())
    except Exception:  # the index may be of another version; numba then compiles again
        return False
