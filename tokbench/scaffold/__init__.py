"""`tokbench plugins new`: a complete plugin package, ready to install, test and run."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from tokbench.errors import SpecError, TokbenchError, UnknownNameError

KINDS = ("tokenizer", "trainable", "metric", "dataset", "plot", "report", "engine")

_COMMON = {
    "pyproject.toml.j2": "pyproject.toml",
    "README.md.j2": "README.md",
    "gitignore.j2": ".gitignore",
    "ci.yml.j2": ".github/workflows/ci.yml",
}
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\Z")


def write_plugin(name: str, kind: str = "tokenizer", folder: Path | None = None) -> list[Path]:
    """Write a plugin package of `kind` into `folder` (default: ``./NAME``) and return its files.

    Raises `TokbenchError` where the name is no name, the kind is unknown or the folder holds something.
    """
    if kind not in KINDS:
        raise UnknownNameError.of("kind of plugin", kind, KINDS)
    module = name.replace("-", "_")
    if not _NAME.match(name) or keyword.iskeyword(module):
        raise SpecError(
            f"{name!r} cannot be the name of a plugin: use lower-case letters and digits, joined by single '-' "
            "or '_'; begin with a letter; do not use a keyword of Python, such as class"
        )
    folder = folder or Path(name)
    if folder.exists() and not folder.is_dir():
        raise TokbenchError(f"{folder} is a file; name a folder")
    if folder.exists() and any(folder.iterdir()):
        raise TokbenchError(f"{folder} is there and not empty; name another folder or remove it")
    files = {
        **_COMMON,
        f"{kind}.py.j2": f"src/tokbench_{module}/__init__.py",
        f"test_{kind}.py.j2": f"tests/test_{module}.py",
    }
    return [
        _write(template, folder / target, name=name, module=module, kind=kind)
        for template, target in files.items()
    ]


def _write(template: str, path: Path, **values: str) -> Path:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tokbench.scaffold"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # Python, TOML and Markdown, never HTML
        variable_start_string="<<",
        variable_end_string=">>",
    )
    class_name = "".join(part.capitalize() for part in values["module"].split("_"))
    content = environment.get_template(template).render(**values, class_name=class_name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise TokbenchError(f"cannot write {path}: {error.strerror}") from error
    return path
