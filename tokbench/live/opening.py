"""Loads what the live page starts with: the tokenizers asked for, what may be loaded later, examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from tokbench.errors import TokbenchError
from tokbench.inspection.pieces import visible
from tokbench.lint.subject import Subject
from tokbench.live.bench import Bench, Seat, VisitorLimits
from tokbench.plots.labels import tokenizer_labels
from tokbench.registry import Registry
from tokbench.runner.training.train import corpus_specs, train
from tokbench.spec import Spec
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus

_EXAMPLES = 24
"""Hard cases that the page offers."""


def open_bench(
    registry: Registry,
    specs: Iterable[str],
    *,
    train_on: str | None = None,
    load_from: Iterable[str] = (),
    limits: VisitorLimits | None = None,
) -> Bench:
    """Load (and, where needed, train) the tokenizers of `specs`; what cannot be had is named, with why.

    The page may load more: the files of the folders of `load_from`, and the models of known names where "names"
    is among them. Raises `TokbenchError` for what is no folder, or no dataset to train on, before any work.
    """
    more = {name: partial(_seat, registry, name, name, spec) for name, spec in on_offer(registry, load_from)}
    if train_on is not None:
        corpus_specs(registry, train_on)
    loaded: dict[str, Tokenizer] = {}
    missing: dict[str, str] = {}
    asked: dict[str, list[str]] = {}
    for text in specs:
        try:
            spec = registry.tokenizer_spec(text)
            trains = registry.tokenizers[spec.family].trains(spec)
            tokenizer = train(registry, spec, train_on) if trains and train_on else registry.load(spec)
            loaded[str(spec)] = tokenizer
            asked.setdefault(str(spec), []).append(text)
        except TokbenchError as error:
            name = _public(text, Path(text).name)
            path = Path(_path(text))
            said = str(error).replace(text, name).replace(str(path), path.name)
            missing[name] = said.replace(str(path.parent), "its folder") if path.is_absolute() else said
    labels = tokenizer_labels(loaded)
    seats: dict[str, Seat] = {}
    typed: dict[str, str] = {}
    for key, tokenizer in loaded.items():
        public = _public(key, labels[key])
        alike = sum(name == public or name.startswith(f"{public} (") for name in seats)
        name = f"{public} ({alike + 1})" if alike else public  # two files of one name
        seats[name] = _seat(registry, name, labels[key], key, tokenizer)
        typed |= {text: name for text in asked[key] if _public(text, "")}
    examples, texts = hard_cases(registry), texts_of(registry, "bundled:parallel")
    return Bench(seats, missing, more, examples, texts, limits or VisitorLimits(), typed=typed)


def _seat(registry: Registry, name: str, label: str, spec: str, tokenizer: Tokenizer | None = None) -> Seat:
    """A tokenizer with its files at hand; one that is not loaded yet is, without any network."""
    offline = replace(registry.context, offline=True, offline_because="the live page downloads nothing")
    parsed = registry.tokenizer_spec(spec)
    opened = registry.load(parsed, offline) if tokenizer is None else tokenizer
    files = registry.tokenizers[parsed.family].files
    there = tuple(files(parsed, registry.context)) if files is not None and parsed.variant else ()
    subject = Subject(spec, opened, there, open_matching=lambda: registry.load_matching(parsed, offline))
    return Seat(name, label, opened, subject)


MOST_FILES = 500
"""Files of a folder that are looked at, for tokenizers that the page may load."""


def on_offer(registry: Registry, load_from: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What a page may load, as visitors see it and as the registry does.

    Files are those that a family recognises by what is in them, which is data; a family that goes by the ending
    alone may run what is there.
    """
    for place in load_from:
        if place == "names":
            yield from sorted(registry.aliases.items())
            continue
        if not (folder := Path(place)).is_dir():
            raise TokbenchError(f"--load-from {place}: no folder; name one, or `names` for known models")
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        for path in files[:MOST_FILES]:
            families = [family.name for family in registry.recognising(path) if family.recognises is not None]
            if families:
                yield f"{families[0]} {path.relative_to(folder).as_posix()}", str(Spec(families[0], str(path)))


def _public(spec: str, label: str) -> str:
    """The spec, or the label where the spec is a path on this machine, be there something or not."""
    path = _path(spec)
    here = Path(path).is_absolute() or Path(path).exists() or path.startswith(("./", "../", "~"))
    return label if here else spec


def _path(spec: str) -> str:
    """What a spec names: its variant, or itself where it is a bare path."""
    try:
        return Spec.parse(spec).variant or spec
    except TokbenchError:
        return spec


def hard_cases(registry: Registry) -> list[dict[str, str]]:
    """Examples from the bundled corpus of hard cases, spread over it; none where the corpus is not there."""
    texts = texts_of(registry, "bundled:tricky")
    step = max(1, len(texts) // _EXAMPLES)
    return [{"title": _title(text), "text": text[:2000]} for text in texts[::step][:_EXAMPLES]]


def texts_of(registry: Registry, dataset: str) -> list[str]:
    """Every document of a dataset; none where it is not there."""
    try:
        return [*TrainingCorpus.of(registry.dataset(dataset)).texts()]
    except TokbenchError:
        return []


def _title(text: str, room: int = 40) -> str:
    shown = visible(text[: room + 1])
    return shown if len(shown) <= room else shown[:room] + "…"
