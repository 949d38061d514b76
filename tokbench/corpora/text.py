"""The family `text`: files, globs and folders of plain text or source code."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.corpora.dataset import FileDataset
from tokbench.corpora.finding import find_files
from tokbench.corpora.naming import UNKNOWN, code_language, text_language
from tokbench.corpora.plain import LineFormat, WholeFileFormat
from tokbench.corpora.transcoding import encoding_of
from tokbench.corpus import Dataset
from tokbench.errors import SpecError
from tokbench.family import LoadContext
from tokbench.spec import Spec

TEXT_SUFFIXES = (".txt", ".text", ".md", ".rst")


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``text:PATH``."""
    code = spec.get("kind", "text") == "code"
    unit = spec.get("unit") or ("file" if code else "line")
    errors, limit, encoding = spec.get("errors", "strict"), spec.get("max_document_bytes"), encoding_of(spec)
    check_limit(limit)
    wanted = _is_code if code else _is_text
    describe = "source code that tokbench knows by its ending" if code else f"{', '.join(TEXT_SUFFIXES)} files"
    paths = find_files(path_of(spec), wanted=wanted, describe=describe)
    return FileDataset(
        name=str(spec),
        files=by_language(paths, spec.get("language"), code_language if code else text_language),
        format=WholeFileFormat(errors, limit, encoding)
        if unit == "file"
        else LineFormat(unit, errors, limit, encoding),
        kind="code" if code else "text",
        consecutive=unit != "file" and spec.get("cluster") != "document",
    )


def path_of(spec: Spec) -> str:
    """The path that the spec names; raises `SpecError` where it names none."""
    if not spec.variant:
        raise SpecError(f"{spec.family} needs a path: {spec.family}:PATH")
    return spec.variant


def check_limit(limit: int | None) -> None:
    """Refuse a limit that could not hold a character."""
    if limit is not None and limit < 16:
        raise SpecError(f"max_document_bytes must be at least 16, not {limit}")


def by_language(
    paths: list[str], language: str | None, named: Callable[[str], str] = text_language
) -> dict[str, list[str]]:
    """Files by language: the given one for all, or what each name says."""
    files: dict[str, list[str]] = {}
    for path in paths:
        files.setdefault(language or named(path), []).append(path)
    return dict(sorted(files.items()))


def _is_text(name: str) -> bool:
    return name.lower().endswith(TEXT_SUFFIXES)


def _is_code(name: str) -> bool:
    return "." in name and code_language(name) != UNKNOWN
