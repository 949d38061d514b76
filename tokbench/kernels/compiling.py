"""The decorators that make kernels of functions, and the one module that touches private parts of numba.

`kernel` marks a function that Python calls: compiled on its first call, kept on disk by numba, running without
the GIL. `inline` marks a function that only kernels call, and which becomes part of them. What makes no arrays
may be a `lean_kernel` and `lean_inline`: no references are counted then, which in a loop over arrays can cost
more than its work.

Some things that numba does not offer to the public are used here, each for a reason given where it is. They are
those of the versions from `KNOWN_FROM` on and before `KNOWN_BEFORE`. With any other, kernels are made by plain
``njit(cache=True)``: the same results, later and slower. With ``NUMBA_DISABLE_JIT=1`` the same source runs as
plain Python.
"""

from __future__ import annotations

import gc
import os
import pickle
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numba
import numpy
from numba import config, njit, types
from numba.core.compiler_lock import global_compiler_lock

Function = TypeVar("Function", bound=Callable[..., Any])

KNOWN_FROM, KNOWN_BEFORE = (0, 61), (0, 69)
"""The versions of numba whose private parts are as they are used here."""


def is_known(version: str) -> bool:
    """Whether the private parts of a numba of this version are those used here.

    Example:
        >>> is_known("0.61.2"), is_known("0.68.1"), is_known("1.0.0"), is_known("unheard of")
        (True, True, False, False)
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and KNOWN_FROM <= (int(found[1]), int(found[2])) < KNOWN_BEFORE


PRIVATE = is_known(numba.__version__)
"""Whether private parts of numba are used."""

if PRIVATE:
    from numba import _dynfunc
    from numba.core import codegen, compiler, compiler_machinery, typed_passes, untyped_passes
    from numba.core.runtime import rtsys

    class _Inner(codegen.JITCodeLibrary):  # type: ignore[misc]  # numba has no types
        """The code of a function that only kernels call: without machine code, which nobody would run."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    @compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
    class _Lowering(typed_passes.NativeLowering):  # type: ignore[misc]
        """Typed code to that of LLVM, and for what Python calls to machine code."""

        _name = "tokbench_lowering"

        def run_pass(self, state: Any) -> bool:
            """One function's typed code, lowered; without machine code where only kernels call it."""
            flags = state.flags
            if flags.no_compile or not (flags.no_cpython_wrapper and flags.no_cfunc_wrapper):
                done: bool = super().run_pass(state)
                return done
            library = state.library = _Inner(state.targetctx.codegen(), state.func_id.func_qualname)
            flags.no_compile = True
            super().run_pass(state)
            made = state.cr
            # an object to know the function by, at no address
            entry = _dynfunc.make_function(numba, made.fndesc.qualname, "", 0, made.env, (library,))
            state.targetctx.insert_user_function(entry, made.fndesc, [library])
            state.cr = made._replace(cfunc=entry)
            return True

    class _Compiler(compiler.CompilerBase):  # type: ignore[misc]
        """numba's compiler without what kernels have no use for: about a sixth of the time of a first call."""

        def define_pipelines(self) -> list[Any]:
            """The passes of one compilation."""
            state, builder = self.state, compiler.DefaultPassBuilder
            passes = compiler_machinery.PassManager("kernel")
            has_closures = any(hasattr(one, "co_code") for one in state.func_id.code.co_consts)
            for one, why in (
                *builder.define_untyped_pipeline(state).passes,
                *builder.define_typed_pipeline(state).passes,
                *builder.define_nopython_lowering_pipeline(state).passes,
            ):
                if one is typed_passes.NativeLowering:
                    passes.add_pass(_Lowering, why)
                elif has_closures or one is not untyped_passes.InlineClosureLikes:
                    passes.add_pass(one, why)
            passes.finalize()
            return [passes]


_FAST: dict[str, Any] = {"nogil": True, "boundscheck": False}
if PRIVATE:
    _FAST["pipeline_class"] = _Compiler
_UNSEEN = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True} if PRIVATE else {}
"""Of functions that only kernels call: what Python would call them by takes a sixth of the time to compile.

So Python must not call them, which would end the process."""
_INLINE = {"forceinline": True} if PRIVATE else {}
_SUBROUTINE = {"inline": "never", "forceinline": False} if PRIVATE else {"inline": "never"}
# without `forceinline=False` it would inherit what the function that calls it first was compiled with
_LEAN = {"_nrt": False} if PRIVATE else {}


def kernel(function: Function) -> Function:
    """Compile `function` for calls from Python: cached on disk, without the GIL."""
    return _kept(function)


def lean_kernel(function: Function) -> Function:
    """The same for a function that makes no arrays: no references are counted, not even in its loops."""
    return _kept(function, **_LEAN)


def inline(function: Function) -> Function:
    """Compile `function` into every kernel that calls it (LLVM inlines it; no call is left)."""
    return _inner(function, **_INLINE)


def lean_inline(function: Function) -> Function:
    """The same for a function that makes no arrays and takes some: no references are counted."""
    return _inner(function, **_INLINE, **_LEAN)


def subroutine(function: Function) -> Function:
    """Compile `function` as a subroutine of kernels: called, not copied, so that hot loops stay small."""
    return _inner(function, **_SUBROUTINE)


def _inner(function: Function, **options: Any) -> Function:
    compiled: Any = njit(**_FAST, **_UNSEEN, **options)(function)
    if PRIVATE and not config.DISABLE_JIT:
        template_of = compiled.get_call_template

        def of_any_number(arguments: Any, named: Any) -> Any:
            """Not compiled anew for each number that is written out in a call."""
            return template_of(
                [types.unliteral(one) for one in arguments],
                {name: types.unliteral(one) for name, one in named.items()},
            )

        compiled.get_call_template = of_any_number
    inner: Function = compiled
    return inner


def when_compiling(tell: Callable[[], None]) -> None:
    """Have `tell` called once: when a kernel has to be compiled, which takes seconds, not just loaded."""
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]  # numba has no types
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                tell()

        def on_end(self, event: Any) -> None:
            """Nothing is said."""

    event.register("numba:compile", Once())


def _kept(function: Function, **options: bool) -> Function:
    if config.DISABLE_JIT:  # compiled code wraps around where hashes overflow, and numpy would warn of it
        return numpy.errstate(over="ignore")(function)
    compiled: Any = njit(cache=True, **_FAST, **options)(function)
    if PRIVATE:
        _watch_sources(compiled, function)
        compiled._compile_for_args = _undisturbed(compiled._compile_for_args)
    kept: Function = compiled
    return kept


def _undisturbed(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """The same without collecting garbage, and without importing what other packages plug into numba.

    Kernels need none of that, and it can be large: awkward, where installed, brings pyarrow along. It is
    imported as ever when a function of someone else's is compiled.
    """
    from numba.core import entrypoints

    def compile_undisturbed(*arguments: Any) -> Any:
        with global_compiler_lock:
            loaded, collects = entrypoints._already_initialized, gc.isenabled()
            entrypoints._already_initialized = True
            gc.disable()
            try:
                return compile_(*arguments)
            finally:
                entrypoints._already_initialized = loaded
                if collects:
                    gc.enable()

    return compile_undisturbed


def c_function(signature: tuple[tuple[Any, ...], Any], function: Callable[..., Any]) -> Any:
    """`function` for callers from C, compiled when its `compile` is called and not before; kept on disk.

    None with a numba whose private parts are not known.
    """
    if not PRIVATE:
        return None
    from numba.core.ccallback import CFunc  # `numba.cfunc` compiles at once, when a module is imported

    options = {"boundscheck": False}
    made: Any = CFunc(function, signature, locals={}, options=options, pipeline_class=_Compiler)
    made.enable_caching()
    made.compile = _undisturbed(made.compile)
    _watch_sources(made, function)
    return made


def _watch_sources(compiled: Any, function: Callable[..., Any]) -> None:
    """Have numba compile again what it kept where any file has changed that `function` is made of.

    numba asks only whether the file of the function itself has changed. Kernels are made of functions from
    several files, and an upgrade that changes one file would go on running the old code of another.
    """
    cache_file = getattr(compiled._cache, "_cache_file", None)
    if cache_file is not None:  # there is none where nothing can be written
        cache_file._source_stamp = _stamp(function)
        _seal(cache_file)
        _load_alone(compiled._cache)


def _load_alone(cache: Any) -> None:
    """Have what numba kept be loaded without all that numba compiles with.

    numba imports 200 modules before it looks for what it has kept, and scipy with them: 0.1 to 0.2 s and 30 MB
    of every process. Whatever has to be compiled after all imports them then.
    """

    def load(signature: Any, target: Any) -> Any:
        rtsys.initialize(target)  # how arrays are made
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target)

    cache.load_overload = load


_SEAL = 32
"""Bytes of SHA-256 at the end of what is kept of a kernel."""


def _seal(cache_file: Any) -> None:
    """Have numba compile again what it kept where the file was cut short or changed, and say so.

    numba takes what it reads for whole. Half a file raises from whatever calls the kernel, for ever, and wrong
    machine code does anything.
    """
    load_index = cache_file._load_index

    def index() -> Any:
        try:
            return load_index()
        except OSError:
            raise
        except Exception:  # what unpickling half a file raises is of any kind
            _tell_damaged(cache_file._index_path)
            return {}

    def save_data(name: str, data: Any) -> None:
        content = cache_file._dump(data)
        with cache_file._open_for_write(cache_file._data_path(name)) as stream:
            stream.write(content + sha256(content).digest())

    def load_data(name: str) -> Any:
        path = cache_file._data_path(name)
        content = Path(path).read_bytes()
        if sha256(content[:-_SEAL]).digest() != content[-_SEAL:]:
            _tell_damaged(path)
            raise FileNotFoundError(path)  # which numba takes for a reason to compile
        return pickle.loads(content[:-_SEAL])

    cache_file._load_index, cache_file._save_data, cache_file._load_data = index, save_data, load_data


def _tell_damaged(path: str) -> None:
    if not _damaged:
        print(f"tokbench: {path} is damaged: what it holds is compiled again …", file=sys.stderr, flush=True)
    _damaged.append(path)


_damaged: list[str] = []


def _stamp(function: Callable[..., Any]) -> tuple[tuple[str, int, int], ...]:
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


_told: list[bool] = []


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
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if not PRIVATE or cache_file is None or getattr(function, "signatures", None):
        return True  # another numba keeps its cache elsewhere: better silent than wrong
    try:
        return bool(cache_file._load_index())
    except Exception:  # the index may be of another version; numba then compiles again
        return False


if hasattr(os, "register_at_fork"):
    # A fork waits until no other thread compiles: the new process would wait for that thread for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
