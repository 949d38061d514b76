"""From what a user names (a file, a folder, a glob, a URL) to the files meant, always in the same order."""

from __future__ import annotations

import glob
from collections.abc import Callable
from pathlib import Path

from tokbench.corpora.storage import compression, is_remote, remote
from tokbench.errors import CorpusError, SpecError
from tokbench.spec import Spec
from tokbench.wording import nothing_at

_WILD = "*?["


def bare_name(path: str) -> str:
    """The file name without the ending of a compression.

    Example:
        >>> bare_name("data/eng_Latn.txt.gz")
        'eng_Latn.txt'
    """
    name = path.rstrip("/").rpartition("/")[2] if is_remote(path) else Path(path).name
    packed = compression(name)
    return name if packed is None else name[: -len(packed) - 1]


def path_of(spec: Spec) -> str:
    """The path that the spec names; raises `SpecError` where it names none."""
    if not spec.variant:
        raise SpecError(f"{spec.family} needs a path: {spec.family}:PATH")
    return spec.variant


def find_files(
    path: str, endings: tuple[str, ...] = (), *, wanted: Callable[[str], bool] | None = None, describe: str = ""
) -> list[str]:
    """The files that `path` names, sorted: itself, what a glob matches, or a folder's, at any depth.

    In a folder only files count whose bare name has one of the `endings`, or is `wanted` (`describe` says in an
    error which those are), hidden ones never; a glob or a file is taken as it is. Raises `CorpusError` where
    nothing is found.
    """
    wanted = wanted or (lambda name: name.lower().endswith(endings))
    describe = describe or f"{', '.join(endings)} files"
    found = _find_remote(path, wanted) if is_remote(path) else _find_local(path, wanted)
    if found is None:
        raise CorpusError(f"{path}: {nothing_at(Path(path))}")
    if not found:
        if set(path) & set(_WILD):
            raise CorpusError(f"{path}: the pattern matches no file")
        raise CorpusError(f"{path}: the folder holds no {describe}; name others with a pattern ({path}/**/*)")
    return found


def _find_local(path: str, wanted: Callable[[str], bool]) -> list[str] | None:
    here = Path(path).expanduser()
    if here.is_dir():
        files = (file for file in here.rglob("*") if not _hidden(file.relative_to(here)))
        return sorted(str(file) for file in files if wanted(bare_name(str(file))) and file.is_file())
    if here.exists():
        return [str(here)]
    if set(path) & set(_WILD):
        return sorted(match for match in glob.glob(str(here), recursive=True) if Path(match).is_file())  # noqa: PTH207  (absolute and relative patterns alike)
    return None


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in relative.parts)


def _find_remote(path: str, wanted: Callable[[str], bool]) -> list[str] | None:
    system, inner = remote(path)
    try:
        if set(path) & set(_WILD):
            return sorted(system.unstrip_protocol(match) for match in system.glob(inner))
        if system.isfile(inner):  # asked first: over HTTP, any page with links is a folder as well
            return [path]
        if system.isdir(inner):
            files = (system.unstrip_protocol(file) for file in system.find(inner))
            return sorted(file for file in files if wanted(bare_name(file)))
        return None
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from error
