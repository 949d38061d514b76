"""Turns what a user typed into a spec: names of models, bare paths, and hints for what was probably meant.

A tokenizer is named by a spec (``tiktoken:o200k_base``), an alias that a plugin knows (``gpt-4o``), or the path
of its file, which a family recognises by its content; a dataset by a spec or a path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import SpecError, TokbenchError, UnknownNameError, described, nearest
from tokbench.family import HEAD_BYTES, TokenizerFamily
from tokbench.spec import Spec, validate
from tokbench.wording import nothing_at, without_name

if TYPE_CHECKING:
    from tokbench.registry import Registry


Named = str | os.PathLike[str] | Spec
"""A name of a tokenizer or a dataset: a spec, as text or parsed, or the path of a file."""


def tokenizer_spec(registry: Registry, text: Named) -> Spec:
    """The validated spec of a tokenizer, also from an alias or a path; errors list the nearest names."""
    text = _as_text("tokenizer", text)
    if isinstance(text, str) and text.partition(",")[0] not in registry.tokenizers:
        if alias := _of_alias(registry, text):
            _tell_of_file(registry, text, alias)
        text = alias or _of_path(registry, text) or text
        hubs = [family.name for family in registry.tokenizers.values() if "on the hub" in family.variant]
        hint = f" A model of the hub is {hubs[0]}:{text}." if hubs and _ON_A_HUB.fullmatch(text) else ""
        _refuse_missing(text, registry.tokenizers, "tokenizer", hint)
    spec = text if isinstance(text, Spec) else Spec.parse(text)
    hint = ""
    if spec.family not in registry.tokenizers and not nearest(spec.family, registry.tokenizers):
        _refuse_model(registry, str(spec))
        hint = "" if spec.variant or spec.options else _UNPUBLISHED
    family = registry.pick(registry.tokenizers, spec.family, "tokenizer family", hint)
    return validate(spec, family.options)


_UNPUBLISHED = (
    "`tokbench list aliases` shows the known models; if a model's tokenizer is not published, "
    "tokbench calibrate can estimate its token counts"
)


def dataset_spec(registry: Registry, text: Named) -> Spec:
    """The validated spec of a dataset; the ending of a bare path decides its family, by default ``text``."""
    text = _as_text("dataset", text)
    if isinstance(text, str):
        if text.partition(":")[0] not in registry.datasets and (found := _path_first(text)):
            path, options = found
            text = str(Spec(_dataset_family(registry, path), path)) + options
        _refuse_missing(text, registry.datasets, "dataset")
    spec = text if isinstance(text, Spec) else Spec.parse(text)
    is_url = (spec.variant or "").startswith("//")
    hint = f"Put the family before a URL, as in text:{text}" if is_url else ""
    family = registry.pick(registry.datasets, spec.family, "dataset family", hint=hint)
    return validate(spec, family.options)


def _as_text(what: str, named: Named) -> str | Spec:
    """A path as text; raises `SpecError` for anything but text, a path or a spec."""
    if isinstance(named, os.PathLike):
        named = os.fspath(named)
    if not isinstance(named, str | Spec):
        raise SpecError(f"{named!r} names no {what}; give its spec or the path of its file, as text")
    return named


def recognising(registry: Registry, path: Path) -> tuple[list[TokenizerFamily], list[str]]:
    """The families that open a file or folder, those with its ending first, and why others do not.

    Example:
        >>> from tokbench.registry import build_registry
        >>> recognising(build_registry(), Path("no such file"))[0]
        []
    """
    try:
        head = b"" if path.is_dir() else _head(path)
        names = [each.name.lower() for each in (path.iterdir() if path.is_dir() else [path])]
    except OSError as error:
        return [], [f"{path}: cannot be read: {error.strerror}"]
    faults: list[str] = []
    found = [
        family for family in registry.tokenizers.values() if _recognises(registry, family, path, head, faults)
    ]
    return sorted(found, key=lambda each: not any(name.endswith(tuple(each.endings)) for name in names)), faults


def _recognises(
    registry: Registry, family: TokenizerFamily, path: Path, head: bytes, faults: list[str]
) -> bool:
    if family.recognises is None:
        return path.name.lower().endswith(tuple(family.endings))
    try:
        return bool(family.recognises(path, head))
    except (TokbenchError, OSError) as error:  # the file's fault
        faults.append(str(error))
        return False
    except Exception as error:  # the plugin's fault: the user may still name the family
        registry.host.fail(registry.owner(family.name), f"recognises: {described(error)}")
        return False


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD_BYTES)


def _of_alias(registry: Registry, name: str) -> str | None:
    """The spec of an alias that a plugin lists, or that a plugin can resolve."""
    if name in registry.aliases:
        return registry.aliases[name]
    for implementation in registry.host.implementations("tokbench_resolve_alias"):
        plugin = implementation.plugin_name
        _, spec = registry.host.ask(plugin, "tokbench_resolve_alias", implementation.function, name)
        if isinstance(spec, str) and spec:
            return spec
        if spec:
            registry.host.refuse(plugin, f"tokbench_resolve_alias: returned {type(spec).__name__}, not str")
    return None


def _tell_of_file(registry: Registry, name: str, spec: str) -> None:
    """Tell the user that a model's name was read as `spec` although a tokenizer file has that name, too."""
    if os.path.exists(name) and recognising(registry, Path(name))[0]:  # noqa: PTH110  (Path's raises for long words)
        registry.tell_once(f"{name} is taken as {spec}; what lies here under that name is ./{name}")


def _of_path(registry: Registry, text: str) -> str | None:
    """The spec of a bare path to a tokenizer's file or folder, if a family recognises it."""
    if not (found := _path_first(text)):
        return None
    path, options = found
    families, faults = recognising(registry, Path(path))
    if families:
        return str(Spec(families[0].name, path)) + options
    if not re.search(r"[/\\.]", text):  # a plain word, which may be the name of a file by chance
        return None
    if faults:
        raise SpecError(f"{path}: no tokenizer family opens it: {without_name(faults[0], path)}")
    holds = f" (the folder holds {_contents(Path(path))})" if Path(path).is_dir() else ""
    raise SpecError(f"{path}: no tokenizer family recognises it{holds}; name one, as in FAMILY:{text}")


def _contents(folder: Path) -> str:
    names = sorted(each.name for each in folder.iterdir())
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "") or "nothing"


_OPTIONS = re.compile(r",(?=\w+=)")


def _path_first(text: str) -> tuple[str, str] | None:
    """Split off the path of an existing file or folder from the options after it; None if there is none.

    Example:
        >>> _path_first(".,unit=file"), _path_first("nowhere.txt,unit=file")
        (('.', ',unit=file'), None)
    """
    ends = [len(text), *(match.start() for match in _OPTIONS.finditer(text))]
    return next(((text[:end], text[end:]) for end in ends if os.path.exists(text[:end])), None)  # noqa: PTH110  (Path's raises for long words)


def _dataset_family(registry: Registry, path: str) -> str:
    """The family of a bare path to text."""
    from tokbench.corpora.finding import bare_name

    name = bare_name(path).lower()
    families = registry.datasets.values()
    return next((family.name for family in families if name.endswith(tuple(family.endings))), "text")


def _refuse_model(registry: Registry, name: str) -> None:
    """Raise `UnknownNameError` if `name` looks like the name of a model, or like a file that a family opens."""
    examples = (spec for family in registry.tokenizers.values() for spec in family.examples)
    offered = [*examples, *registry.aliases.values()]  # of two families, that of the models' names
    variants = {Spec.parse(spec).variant or spec: spec for spec in offered}
    near = [variants[name]] if name in variants else nearest(name, registry.aliases)
    if near := near or [variants[each] for each in nearest(name, variants)]:
        said = (
            f"unknown tokenizer {name!r}; did you mean {' or '.join(map(repr, near))}? "
            "`tokbench list aliases` has the names of models, `tokbench list tokenizers` the families"
        )
        raise UnknownNameError(registry.host.explained(said))


_ON_A_HUB = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _refuse_missing(text: str, families: Iterable[str], kind: str, hint: str = "") -> None:
    """Raise `SpecError` for text that looks like a path (a slash, or an ending) but is not one."""
    head = text.partition(":")[0].partition(",")[0]
    if head in families or not re.search(r"[/\\]|\.\w{1,8}$", head) or Path(text).exists():
        return
    raise SpecError(
        f"{text}: {not_there(Path(_OPTIONS.split(text, maxsplit=1)[0]))}{hint} "
        f"A {kind} is a path or FAMILY:PATH; `tokbench list {kind}s` shows the families"
    )


def not_there(path: Path) -> str:
    """A sentence that a file or folder does not exist, with similar names in its folder.

    Example:
        >>> not_there(Path("nowhere/vocab.json"))
        'there is no such file or folder (nor a folder nowhere).'
    """
    beside = {each.name for each in path.parent.iterdir()} if path.parent.is_dir() else set()
    near = [str(path.parent / name) for name in nearest(path.name, beside - {path.name})]
    guess = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    where = "" if path.parent.is_dir() else f" (nor a folder {path.parent})"
    return f"there is {nothing_at(path)}{where}{guess}"
