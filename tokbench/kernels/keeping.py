"""What numba keeps of kernels on disk: good for as long as their sources are, whole, and loaded by itself.

A kernel that was compiled once is read from numba's cache by every later process. numba asks whether one file
has changed, of the several that a kernel is made of; takes what it reads for whole; imports its compiler before
it looks; and reads all that other kernels could be linked with. `watch_sources` puts these right, by private
parts of numba: it is called for a numba that `tokbench.kernels.compiling` knows, and for no other.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from inspect import unwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import llvmlite
import numba


def watch_sources(compiled: Any, function: Callable[..., Any]) -> None:
    """Have numba compile again what it kept where any file has changed that `function` is made of.

    numba asks only whether the file of the function itself has changed. Kernels are made of functions from
    several files, and an upgrade that changes one file would go on running the old code of another.
    """
    cache_file = getattr(compiled._cache, "_cache_file", None)
    if cache_file is not None:  # there is none where nothing can be written
        _seal(cache_file, function)
        _load_alone(compiled._cache)


def _load_alone(cache: Any) -> None:
    """Have what numba kept be loaded without all that numba compiles with.

    numba imports 200 modules before it looks for what it has kept, and scipy with them: 0.1 to 0.2 s and 30 MB
    of every process. Whatever has to be compiled after all imports them then.
    """

    def load(signature: Any, target: Any) -> Any:
        made = target.codegen()
        usual, made._library_class = made._library_class, _loaded_code()
        try:
            with cache._guard_against_spurious_io_errors():
                _start_runtime(target, cache._cache_file)
                return cache._load_overload(signature, target)
        finally:
            made._library_class = usual

    cache.load_overload = load


def _start_runtime(target: Any, cache_file: Any) -> None:
    """Have numba start what makes arrays and counts references, with its code kept as that of kernels is.

    numba compiles that code in every process, which takes 20 ms, and 29 MB for all that LLVM compiles with.
    """
    from numba.core.runtime import nrtdynmod, rtsys

    def runtime(target: Any) -> Any:
        codegen = target.codegen()
        of = (numba.__version__, llvmlite.__version__, *codegen.magic_tuple())
        name = sha256(repr(of).encode()).hexdigest()[:16] + ".runtime"
        try:
            return _loaded_code()._unserialize(codegen, *cache_file._load_data(name))
        except OSError:  # it is not there yet
            module, library = nrtdynmod.create_nrt_module(target)
            library.enable_object_caching()
            library.add_ir_module(module)
            library.finalize()
            with suppress(OSError):  # a full disk: the next process compiles it again
                cache_file._save_data(name, [library.serialize_using_object_code()])
            return library

    usual, nrtdynmod.compile_nrt_functions = nrtdynmod.compile_nrt_functions, runtime
    try:
        rtsys.initialize(target)  # once in a process
    finally:
        nrtdynmod.compile_nrt_functions = usual


@lru_cache(maxsize=1)
def _loaded_code() -> type[Any]:
    """The class of numba for the code of a function, for code that is loaded."""
    from llvmlite.binding import parse_bitcode
    from numba.core.codegen import JITCodeLibrary

    class LoadedCode(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
        """The machine code of a kernel, and the code that another would be linked with: read if one is.

        That takes a third of the time of loading a kernel, and Python calls nearly all that are loaded.
        """

        _shared_module: Any
        _to_link: bytes | None = None

        @classmethod
        def _unserialize(cls, codegen: Any, state: Any) -> Any:
            name, _, (machine_code, to_link, symbols) = state
            library = codegen.create_library(name)
            library.enable_object_caching()
            library._set_compiled_object(machine_code)
            library._to_link = to_link
            library._finalize_final_module()
            codegen._engine._defined_symbols.update(symbols)
            return library

        def _get_module_for_linking(self) -> Any:
            if self._shared_module is None and self._to_link is not None:
                self._shared_module = parse_bitcode(self._to_link)
            return super()._get_module_for_linking()

    return LoadedCode


def _with_symbols(
    code: tuple[str, str, tuple[bytes, bytes]],
) -> tuple[str, str, tuple[bytes, bytes, list[str]]]:
    """What numba writes of a function's code, and what it would look up there: the names that are defined."""
    from llvmlite.binding import parse_bitcode

    name, kind, (machine_code, to_link) = code
    module = parse_bitcode(to_link)
    defined = (*module.functions, *module.global_variables)
    symbols = [symbol.name for symbol in defined if not symbol.is_declaration]
    return name, kind, (machine_code, to_link, symbols)


_SEAL = 32
"""Bytes of SHA-256 at the end of what is kept of a kernel."""


def _seal(cache_file: Any, function: Callable[..., Any]) -> None:
    """Have numba compile again what it kept where the file was cut short or changed, and say so.

    numba takes what it reads for whole. Half a file raises from whatever calls the kernel, for ever, and wrong
    machine code does anything.
    """
    load_index = cache_file._load_index

    def index() -> Any:
        cache_file._source_stamp = _stamp(function)
        try:
            return load_index()
        except OSError:
            raise
        except Exception:  # what unpickling half a file raises is of any kind
            _tell_damaged(cache_file._index_path)
            return {}

    def save_data(name: str, data: Any) -> None:
        content = cache_file._dump((_with_symbols(data[0]), *data[1:]))
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
    files = {__file__}  # how it is kept
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        one = unwrap(waiting.pop())
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
