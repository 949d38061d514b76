"""A numba whose private parts nobody has looked at: kernels are made the plain way, and give the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from tokbench.kernels import bits, compiling, keeping
from tokbench.kernels.compiling import KNOWN_BEFORE, KNOWN_FROM, PRIVATE, is_known

PROGRAM = """
import numba, sys
numba.__version__ = sys.argv[1]
import numpy as np
from tokbench.kernels import compiling
from tokbench.kernels.hashing import hash_spans
from tokbench.kernels.pointers import padded
from tokbench.kernels.calls import callable_of
from tokbench.kernels.joining import list_decoder
data, out = padded(b"one and another, and then a third"), np.zeros(2, np.uint64)
hash_spans(data, np.array([0, 3]), np.array([16, 33]), out)
decode = list_decoder(data, np.array([0, 3, 7]), lambda ids: "left to Python")
print(compiling.PRIVATE, out.tolist(), decode([0, 1]))
"""


def test_the_numba_that_is_installed_is_known() -> None:
    assert PRIVATE, f"numba {numba.__version__}: look whether what `compiling` uses is as it was"
    assert KNOWN_FROM < KNOWN_BEFORE
    assert not is_known(f"{KNOWN_BEFORE[0]}.{KNOWN_BEFORE[1]}.0")


@pytest.mark.long
def test_another_numba_compiles_the_plain_way(tmp_path: Path) -> None:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = []
    for version in (numba.__version__, "9.9.9"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, version], env=env, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(done.stdout.split(maxsplit=1))
    (private, known), (plain, unknown) = found
    assert (private, plain) == ("True", "False")
    assert known.replace("one and", "left to Python") == unknown


LOADED = """
import sys
import numpy as np
from tokbench.kernels.compiling import kernel

@kernel
def twice(numbers):
    return numbers * 2

def total(numbers):
    return np.sort(numbers)[-1]

print(twice(np.arange(3)).tolist(), sum(twice.stats.cache_hits.values()), "numba.np.arraymath" in sys.modules)
if twice.stats.cache_hits:
    print(kernel(total)(np.arange(3)))  # what has to be compiled then has all it needs
"""


@pytest.mark.long
@pytest.mark.skipif(not PRIVATE or numba.config.DISABLE_JIT, reason="nothing is loaded")
def test_what_was_compiled_before_is_loaded_without_what_compiles(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOADED)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = []
    for _ in range(2):
        done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        said.append(done.stdout.split("\n"))
    assert said[0][0] == "[0, 2, 4] 0 True"
    assert said[1][:2] == ["[0, 2, 4] 1 False", "2"]


@pytest.mark.skipif(not PRIVATE or numba.config.DISABLE_JIT, reason="numba's own way of compiling, or none")
def test_what_only_kernels_call_is_compiled_once_and_optimized_within_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from numba.core.codegen import CPUCodeLibrary, JitEngine

    optimized, made_machine_code = [], []
    optimize, add = CPUCodeLibrary._optimize_final_module, JitEngine.add_module

    def noted_optimize(library: Any) -> None:
        optimized.append(library.name)
        optimize(library)

    def noted_add(engine: Any, module: Any) -> Any:
        made_machine_code.append(module.name)
        return add(engine, module)

    @compiling.inline
    def more(a: Any, b: Any) -> Any:
        return a + b

    @compiling.subroutine
    def twice(a: Any) -> Any:
        return more(a, a) + more(a, 0) + more(a, 1)

    @numba.njit  # type: ignore[untyped-decorator]
    def kernel(a: Any) -> Any:
        return more(a, 7) + twice(a)

    assert numba.njit(lambda a: a)(3) == 3  # what numba itself runs on is there
    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", noted_optimize)
    monkeypatch.setattr(JitEngine, "add_module", noted_add)
    assert kernel(3) == 23
    [inlined], [_] = more.overloads.values(), twice.overloads.values()  # type: ignore[attr-defined]
    assert not inlined.library.codegen._engine.is_symbol_defined(inlined.fndesc.mangled_name)
    assert len(optimized) == len(made_machine_code) == 1
    assert "kernel" in optimized[0]
    [code] = kernel.inspect_llvm().values()
    definitions = [line for line in code.splitlines() if line.startswith("define")]
    assert any("twice" in line for line in definitions)  # called, though from one place only
    assert not any("more" in line for line in definitions)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is kept")
def test_what_is_kept_follows_the_file_that_an_instruction_is_written_in() -> None:
    names: dict[str, Any] = {"zeros": bits.trailing_zeros}
    exec("def kernel(word):\n    return zeros(word)\n", names)
    function = names["kernel"]
    function.__code__ = function.__code__.replace(co_filename=__file__)
    assert bits.__file__ in [name for name, *_ in keeping._stamp(function)]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is kept")
def test_what_a_loaded_kernel_is_linked_with_is_read_when_another_kernel_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    source = tmp_path / "adding.py"
    source.write_text("def add(a, b):\n    return a + b\n\n\ndef twice(a, b):\n    return 2 * add(a, b)\n")
    names: dict[str, Any] = {"__name__": "adding"}
    exec(compile(source.read_text(), str(source), "exec"), names)
    assert compiling.kernel(names["add"])(2, 3) == 5
    add: Any = compiling.kernel(names["add"])
    assert add(2, 3) == 5
    assert sum(add.stats.cache_hits.values()) == 1
    [loaded] = add.overloads.values()
    assert loaded.library._shared_module is None
    names["add"] = add
    assert compiling.kernel(names["twice"])(2, 3) == 10
    assert loaded.library._shared_module is not None


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is kept")
def test_what_makes_arrays_is_compiled_in_the_first_process_alone(tmp_path: Path) -> None:
    program = (
        "from numba.core.runtime import nrtdynmod\n"
        "made, usual = [], nrtdynmod.create_nrt_module\n"
        "nrtdynmod.create_nrt_module = lambda target: made.append(target) or usual(target)\n"
        "from tokbench.kernels.text import utf8_of\n"
        "print(utf8_of(['é'])[0].tobytes()[:2], len(made))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run() -> tuple[str, str]:
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
        return done.stdout.removeprefix(repr("é".encode())).strip(), done.stderr

    assert (run()[0], run()) == ("1", ("0", ""))
    [kept] = tmp_path.rglob("*.runtime")
    kept.write_bytes(kept.read_bytes()[:-1])
    made, said = run()
    assert made == "1"
    assert f"{kept} is damaged" in said
    assert run() == ("0", "")


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is kept")
def test_a_damaged_cache_is_noticed_compiled_again_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    source = tmp_path / "adding.py"
    source.write_text("def add(a, b):\n    return a + b\n")

    def called() -> tuple[int, str, int]:
        """What a fresh kernel gives, what is said, and whether it came from the cache."""
        monkeypatch.setattr(keeping, "_damaged", [])
        names: dict[str, Any] = {"__name__": "adding"}
        exec(compile(source.read_text(), str(source), "exec"), names)
        add = compiling.kernel(names["add"])
        found = add(2, 3)
        return found, capsys.readouterr().err, sum(add.stats.cache_hits.values())

    assert called() == (5, "", 0)
    assert called() == (5, "", 1)
    for ending in ("nbc", "nbi"):
        [kept] = tmp_path.rglob(f"*.{ending}")
        whole = kept.read_bytes()
        middle = len(whole) // 2
        changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        for damaged in (whole[:middle], b"", *([changed] if ending == "nbc" else [])):
            kept.write_bytes(damaged)
            found, said, hits = called()
            assert (found, hits) == (5, 0)
            assert f"{kept} is damaged" in said
            assert called() == (5, "", 1)
