"""The house as a test: who may import whom, what is packaged, and what stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each row may import from its own and from the rows above it.
LAYERS = [
    ("errors", "wording", "presenting", "collecting"),
    ("spec", "languages"),
    ("arguments", "vocabulary_files"),
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
"""docs/architecture.md shows them, too."""
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
        ".vocabulary_files",
        ".workers.calls",
        ".workers.parent",
    )
}


HEAVY = "numba pandas matplotlib transformers tokenizers tiktoken sentencepiece pyarrow pydantic numpy torch"


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


HOST, PLUGINS = modules(ROOT / "tokbench"), modules(ROOT / "plugins")


class Source(ast.NodeVisitor):
    """What these tests go by of a module: one reading of it serves them all."""

    def __init__(self, path: Path) -> None:
        tree = ast.parse(path.read_text("utf-8"))
        self.classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        self.at_import = [name for node in tree.body for name in _imported(node, with_names=True)]
        """Imported when the module is (not under TYPE_CHECKING, not inside functions)."""
        self.anywhere: list[str] = []
        self.at_run: set[str] = set()
        """Modules of ours that are imported when it is or when its functions run: types alone do not count."""
        self.crowded: set[str] = set()
        """Kernels of more parameters than may be."""
        self.percentages = 0
        """How many numbers are formatted as percentages."""
        self._for_types = False
        self.visit(tree)

    def visit_If(self, node: ast.If) -> None:
        before = self._for_types
        self._for_types |= isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        self.generic_visit(node)
        self._for_types = before

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        spec = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
        self.percentages += any(isinstance(part, ast.Constant) and "%" in str(part.value) for part in spec)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.anywhere += _imported(node)
        self.at_run |= set() if self._for_types else {*_imported(node)}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.anywhere += _imported(node)
        if not self._for_types:
            module = str(node.module)
            self.at_run |= {
                full if (full := f"{module}.{alias.name}") in HOMES else module for alias in node.names
            }

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        parameters = sum(isinstance(part, ast.arg) for part in ast.walk(node.args))
        if parameters > MOST_PARAMETERS and any(map(_compiles, node.decorator_list)):
            self.crowded.add(node.name)
        self.generic_visit(node)


def _imported(node: ast.AST, *, with_names: bool = False) -> list[str]:
    """What an import statement names, and what it takes of a module as a part of it."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        taken = [f"{node.module}.{alias.name}" for alias in node.names] if with_names else []
        return [node.module, *taken]
    return []


source = cache(Source)


def test_no_class_name_stands_for_two_things() -> None:
    homes: dict[str, list[str]] = {}
    for path in [*HOST, *PLUGINS]:
        for name in source(path).classes:
            homes.setdefault(name.lstrip("_"), []).append(str(path.relative_to(ROOT)))
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twice, f"name each after what it is (docs/internals.md has the words): {twice}"


def room(module: str) -> str | None:
    """The room of ``tokbench.room.module``."""
    parts = module.split(".")
    return parts[1] if parts[0] == "tokbench" and len(parts) > 1 else None


def test_imports_go_one_way() -> None:
    upward = []
    for path in HOST:
        own = path.relative_to(ROOT / "tokbench").parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        assert own in LEVEL, f"{own} has no place in LAYERS"
        found = {other for other in map(room, source(path).at_import) if other in LEVEL}
        upward += [f"{path}: {own} must not import {other}" for other in found if LEVEL[other] > LEVEL[own]]
    assert not upward


def test_the_page_of_the_architecture_shows_these_layers() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    shown = page.split("## Who may import whom")[1].split("```")[1].removeprefix("text")
    layers = [tuple(name.strip() for name in layer.split(",")) for layer in shown.split("←")]
    assert layers == LAYERS[: LEVEL["cli"] + 1]


HOMES = {
    ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path
    for base, folder in ((ROOT, "tokbench"), (ROOT / "plugins", ""))
    for path in modules(base / folder)
}
"""Where each module of ours is."""


def test_no_modules_import_each_other() -> None:
    """Nor by imports inside functions, which only hide a circle. `graphlib.CycleError` names one."""
    graph = {module: (source(path).at_run & HOMES.keys()) - {module} for module, path in HOMES.items()}
    TopologicalSorter(graph).prepare()


def test_the_host_knows_no_tokenizer_plugin() -> None:
    assert not [(path, name) for path in HOST for name in source(path).anywhere if name.startswith("tokbench_")]


def test_a_plugin_imports_only_public_names() -> None:
    wrong = []
    for path in PLUGINS:
        own = path.relative_to(ROOT / "plugins").parts[0]
        for name in source(path).anywhere:
            package = name.split(".")[0]
            if package == "tokbench":
                public = name in PLUGIN_MAY_IMPORT or name.startswith(("tokbench.testing", "tokbench.kernels"))
                wrong += [] if public else [f"{path} imports {name}"]
            elif package.startswith("tokbench_") and package != own:
                wrong.append(f"{path} imports another plugin: {name}")
    assert not wrong


PATTERNS = "tokbench_subword.pipeline.patterns"


def test_patterns_know_nothing_of_the_pipeline_around_them() -> None:
    rooms = {module: source(path).anywhere for module, path in HOMES.items() if module.startswith(PATTERNS)}
    assert len(rooms) > 10
    ours = {(module, name) for module, names in rooms.items() for name in names if name.startswith("tokbench_")}
    assert not {(module, name) for module, name in ours if not name.startswith(PATTERNS)}


def test_unigram_knows_nothing_of_sentencepieces_models() -> None:
    """Nor of their files: those are built on the search, which serves a `tokenizer.json` alike."""
    rooms = {name: source(path).anywhere for name, path in HOMES.items() if ".unigram." in f"{name}."}
    assert len(rooms) > 15
    upward = ("tokbench_subword.sentencepiece", "tokbench_subword.files.sentencepiece_model")
    assert not {name: used for name, used in rooms.items() if any(one.startswith(upward) for one in used)}


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


def test_loading_a_tokenizer_imports_nothing_that_works_with_it() -> None:
    """Every family is asked for, since any may know the name; none needs what counts, checks or runs."""
    unwanted = ("testing", "golden", "runner", "workers", "results", "reports", "plots", "tally.tally")
    code = (
        "import sys, tokbench; tokbench.load('bytes')\n"
        f"unwanted = tuple(f'tokbench.{{name}}' for name in {unwanted!r})\n"
        "print(*[name for name in sys.modules if name.startswith(unwanted)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_percentages_are_written_one_way() -> None:
    """By `wording.percent`; a gate tells what may be typed as a budget, where the sign follows at once."""
    found = {path.relative_to(ROOT).as_posix() for path in [*HOST, *PLUGINS] if source(path).percentages}
    assert found == {"tokbench/wording.py", "tokbench/reports/gates.py"}


MOST_PARAMETERS = 10


def test_kernels_take_few_parameters() -> None:
    """What belongs together travels as one record, a NamedTuple of arrays."""
    found = {path.relative_to(ROOT).as_posix(): source(path).crowded for path in [*PLUGINS, *HOST]}
    assert not {path: names for path, names in found.items() if names}


def _compiles(decorator: ast.expr) -> bool:
    """Whether a decorator is one of `tokbench.kernels.compiling`, or numba's own."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    said = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
    return said.removeprefix("lean_") in ("kernel", "inline", "subroutine", "njit", "jit", "called_directly")
