"""The house as a test: who may import whom, what is packaged, and what stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each row may import from its own and from the rows above it.
LAYERS = [
    ("errors", "wording", "presenting"),
    ("spec", "languages"),
    ("arguments",),
    ("batch", "kernels", "counts"),
    ("tokenizer", "capabilities", "family", "corpus", "training_corpus"),
    ("pieces",),
    ("corpora", "inspection", "tally"),
    ("metrics", "lint"),
    ("results", "extension", "hookspecs", "workers"),
    ("manager", "resolving"),
    ("registry",),
    ("runner", "testing", "scaffold", "api", "golden"),
    ("reports", "plots", "live"),
    ("builtin",),
    ("cli",),
    ("__main__",),
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# Imports inside functions may look up where a comment at the place says why.
PLUGIN_MAY_IMPORT = {
    f"tokbench{module}"
    for module in (
        "",
        ".errors",
        ".spec",
        ".arguments",
        ".batch",
        ".counts",
        ".capabilities",
        ".tokenizer",
        ".family",
        ".corpus",
        ".pieces",
    )
}


HEAVY = "numba pandas matplotlib transformers tokenizers tiktoken sentencepiece pyarrow pydantic numpy torch"


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def test_no_class_name_stands_for_two_things() -> None:
    homes: dict[str, list[str]] = {}
    for path in [*modules(ROOT / "tokbench"), *modules(ROOT / "plugins")]:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name.lstrip("_"), []).append(str(path.relative_to(ROOT)))
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twice, f"name each after what it is (docs/internals.md has the words): {twice}"


def top_level_imports(path: Path) -> list[str]:
    """Modules imported when `path` is imported (not under TYPE_CHECKING, not inside functions)."""
    names: list[str] = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def all_imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names


def room(module: str) -> str | None:
    """The room of ``tokbench.room.module``."""
    parts = module.split(".")
    return parts[1] if parts[0] == "tokbench" and len(parts) > 1 else None


@pytest.mark.parametrize("path", modules(ROOT / "tokbench"), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(ROOT / "tokbench").parts[0].removesuffix(".py")
    if own == "__init__":
        return
    assert own in LEVEL, f"{own} has no place in LAYERS"
    for name in top_level_imports(path):
        other = room(name)
        if other in LEVEL:
            assert LEVEL[other] <= LEVEL[own], f"{path}: {own} must not import {other}"


def runtime_imports(path: Path) -> set[str]:
    """Modules of ours that are imported when `path` is or when its functions run: types alone do not count."""

    class Imports(ast.NodeVisitor):
        names: set[str]

        def visit_If(self, node: ast.If) -> None:
            if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
                self.generic_visit(node)

        def visit_Import(self, node: ast.Import) -> None:
            self.names |= {alias.name for alias in node.names}

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            module = str(node.module)
            self.names |= {
                full if (full := f"{module}.{alias.name}") in HOMES else module for alias in node.names
            }

    imports = Imports()
    imports.names = set()
    imports.visit(ast.parse(path.read_text("utf-8")))
    return imports.names & HOMES.keys()


HOMES = {
    ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path
    for base, folder in ((ROOT, "tokbench"), (ROOT / "plugins", ""))
    for path in modules(base / folder)
}
"""Where each module of ours is."""


def test_no_modules_import_each_other() -> None:
    """Nor by imports inside functions, which only hide a circle. `graphlib.CycleError` names one."""
    graph = {module: runtime_imports(path) - {module} for module, path in HOMES.items()}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", modules(ROOT / "tokbench"), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_host_knows_no_tokenizer_plugin(path: Path) -> None:
    assert not [name for name in all_imports(path) if name.startswith("tokbench_")]


@pytest.mark.parametrize("path", modules(ROOT / "plugins"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_plugin_imports_only_public_names(path: Path) -> None:
    own = path.relative_to(ROOT / "plugins").parts[0]
    for name in all_imports(path):
        package = name.split(".")[0]
        if package == "tokbench":
            public = name in PLUGIN_MAY_IMPORT or name.startswith(("tokbench.testing", "tokbench.kernels"))
            assert public, f"{path} imports {name}"
        elif package.startswith("tokbench_"):
            assert package == own, f"{path} imports another plugin: {name}"


def test_every_package_is_listed() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {"tokbench._datasets"}
    for base, prefix in ((ROOT / "tokbench", ROOT), (ROOT / "plugins", ROOT / "plugins")):
        for init in base.rglob("__init__.py"):
            found.add(".".join(init.parent.relative_to(prefix).parts))
    assert listed == found


def test_the_data_folder_is_no_package() -> None:
    assert not list((ROOT / "datasets").rglob("__init__.py"))
    import importlib.util

    spec = importlib.util.find_spec("datasets")
    assert spec is None or ROOT / "datasets" not in [
        Path(place) for place in spec.submodule_search_locations or []
    ]


def test_importing_tokbench_is_light() -> None:
    found = f"[name for name in {HEAVY.split()!r} if name in sys.modules]"
    code = f"import sys, tokbench.cli.program; print(*{found})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(("arguments", "most"), [(["--help"], 450), (["plugins", "list"], 550)])
def test_the_first_commands_import_little(arguments: list[str], most: int) -> None:
    """Importing is what a first answer waits for: nothing heavy but what checks suites, and little else."""
    code = (
        "import sys; from tokbench.cli import main; sys.argv = ['tokbench', *sys.argv[1:]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"heavy = [name for name in {HEAVY.split()!r} if name in sys.modules]\n"
        "print(len(sys.modules), *heavy, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    count, *heavy = done.stderr.splitlines()[-1].split()
    assert {*heavy} <= ({"pydantic"} if "plugins" in arguments else set())
    assert int(count) <= most


def test_a_worker_imports_only_what_it_works_with() -> None:
    """A run of two tokenizers starts three processes, and each imports all of this."""
    unwanted = [*HEAVY.split(), "psutil", "urllib.request"]
    code = (
        "import sys, tokbench.workers.child, tokbench.runner.speed.stopwatch\n"
        "from tokbench.registry import build_registry\n"
        f"build_registry().tokenizers; print(*[name for name in {unwanted!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


MOST_PARAMETERS = 10


def test_kernels_take_few_parameters() -> None:
    """What belongs together travels as one record, a NamedTuple of arrays."""
    found: dict[str, set[str]] = {}
    for path in modules(ROOT / "plugins") + modules(ROOT / "tokbench"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or not any(map(_compiles, node.decorator_list)):
                continue
            if sum(isinstance(part, ast.arg) for part in ast.walk(node.args)) > MOST_PARAMETERS:
                found.setdefault(path.relative_to(ROOT).as_posix(), set()).add(node.name)
    assert not found


def _compiles(decorator: ast.expr) -> bool:
    """Whether a decorator is one of `tokbench.kernels.compiling`, or numba's own."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    said = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
    return said.removeprefix("lean_") in ("kernel", "inline", "subroutine", "njit", "jit", "called_directly")
