"""The decorators that make kernels of functions.

`kernel` marks a function that Python calls: compiled on its first call, kept on disk by numba, running without
the GIL. `inline` marks a function that only kernels call, and which becomes part of them. What makes no arrays
may be a `lean_kernel` and `lean_inline`: no references are counted then, which in a loop over arrays can cost
more than its work.

Some things that numba does not offer to the public are used here and in `tokbench.kernels.keeping`, and nowhere
else, each for a reason given where it is. They are those of the versions from `KNOWN_FROM` on and before
`KNOWN_BEFORE`. With any other, kernels are made by plain ``njit(cache=True)``: the same results, later and
slower. With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, TypeVar
from weakref import WeakSet

import numba
import numpy
from numba import config, njit, types
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from tokbench.collecting import uncollected
from tokbench.kernels.keeping import watch_sources
from tokbench.wording import COMPILING

Function = TypeVar("Function", bound=Callable[..., Any])

KNOWN_FROM, KNOWN_BEFORE = (0, 61), (0, 69)
"""The versions of numba whose private parts are as they are used."""


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

    class _Inner(codegen.JITCodeLibrary):  # type: ignore[misc]  # numba has no types
        """The code of a function that only kernels call: it is optimized, and made machine code, within these.

        numba optimizes every function by itself, and once more, with all that it calls, in each that calls it:
        compiling takes 1.4 times as long so (BPE, WordPiece and Unigram together).
        """

        def add_ir_module(self, module: Any) -> None:
            """Take the code; a subroutine stays one: LLVM would make it part of the only one that calls it."""
            for function in module.functions:
                if function.blocks and not function.linkage and "alwaysinline" not in function.attributes:
                    function.attributes.add("noinline")
            super().add_ir_module(module)

        def _optimize_final_module(self) -> None:
            """Not by itself."""

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


def object_kernel(function: Function) -> Function:
    """The same for a function that reads objects of Python (`calls`), which only who holds the GIL may."""
    return _kept(function, nogil=False)


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
    if config.DISABLE_JIT:
        return function
    compiled: Any = njit(**_FAST, **_UNSEEN, **options)(function)
    _made.add(compiled)
    if PRIVATE:
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


def instruction(result: Any, *takes: Any) -> Callable[[Callable[..., Any]], Any]:
    """For kernels: an instruction that a function of LLVM's builder writes, in the place of each call.

    `result` and what it `takes` are types of numba's; None takes any type. The function is ``write(context,
    builder, signature, args)``, and gives the value.
    """

    def made(write: Callable[..., Any]) -> Any:
        @wraps(write)
        def typed(typingctx: Any, *given: Any) -> Any:
            kinds = (one if kind is None else kind for kind, one in zip(takes, given, strict=True))
            return result(*kinds), write

        names = ["typingctx", *(f"argument_{number}" for number in range(len(takes)))]
        parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        typed.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # numba counts them
        return intrinsic(typed)

    return made


def when_compiling(tell: Callable[[], None]) -> None:
    """Have `tell` called, not a line printed, when numba first has to compile anything, be it a plugin's."""
    _notice.tell, _notice.of_others = tell, True


def seconds_compiling(since: float) -> tuple[float, float]:
    """Seconds by the wall and of CPU time that numba has compiled in this process, from a `perf_counter` on."""
    spans = [took for begun, *took in _notice.spans if begun >= since]
    return sum(wall for wall, _ in spans), sum(cpu for _, cpu in spans)


def _say() -> None:
    print(f"tokbench: {COMPILING}", file=sys.stderr, flush=True)


class _Notice(event.Listener):  # type: ignore[misc]  # numba has no types
    """Tells once in a process that a kernel is being compiled, which takes seconds, and how many it took.

    numba compiles in one thread at a time; what a kernel calls is compiled within its own span.
    """

    tell: Callable[[], None] | None = staticmethod(_say)
    of_others = False
    depth = 0

    def __init__(self) -> None:
        self.spans: list[tuple[float, float, float]] = []

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.begun = time.perf_counter(), time.process_time()
        self.depth += 1
        if self.tell is not None and (self.of_others or event.data.get("dispatcher") in _made):
            tell, self.tell = self.tell, None
            tell()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            wall, cpu = self.begun
            self.spans.append((wall, time.perf_counter() - wall, time.process_time() - cpu))


_notice = _Notice()
_made: WeakSet[Any] = WeakSet()
"""What numba compiles for the decorators of this module; others have functions of their own."""
event.register("numba:compile", _notice)


def _kept(function: Function, **options: bool) -> Function:
    if config.DISABLE_JIT:  # compiled code wraps around where hashes overflow, and numpy would warn of it
        return numpy.errstate(over="ignore")(function)
    compiled: Any = njit(**{"cache": True, **_FAST, **options})(function)
    _made.add(compiled)
    if PRIVATE:
        watch_sources(compiled, function)
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
        with global_compiler_lock, uncollected():
            loaded, entrypoints._already_initialized = entrypoints._already_initialized, True
            try:
                return compile_(*arguments)
            finally:
                entrypoints._already_initialized = loaded

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
    watch_sources(made, function)
    return made


if hasattr(os, "register_at_fork"):
    # A fork waits until no other thread compiles: the new process would wait for that thread for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
