"""Single changes to the model of a `tokenizer.json` (a merge left out, two ids exchanged), for `mutations`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

Content = dict[str, Any]
Change = tuple[str, Callable[[Content], None]]
"""A name, and what makes the change in a content."""

_MODEL_FLAGS = ("byte_fallback", "fuse_unk", "ignore_merges")


def _model(**changed: Any) -> Callable[[Content], None]:
    return lambda one: one["model"].update(changed)


def of_model(content: Mapping[str, Any], rng: random.Random, drawn: int) -> Iterator[Change]:
    """Flags turned over, and `drawn` merges and tokens of each kind left out or exchanged."""
    model = content["model"]
    for flag in _MODEL_FLAGS:
        if flag in model:
            yield f"model: {flag} turned over", _model(**{flag: not model[flag]})
    if model.get("max_input_chars_per_word"):
        yield "model: words of 20 characters at most", _model(max_input_chars_per_word=20)
    special = {token["content"] for token in content.get("added_tokens") or []}
    merges, vocab = model.get("merges") or [], model["vocab"]
    for at in rng.sample(range(len(merges)), min(drawn, len(merges))):
        yield f"merge {at} {merges[at]} left out", _computed("merges", partial(_without, merges, at))
    if isinstance(vocab, Mapping):
        yield from _of_mapping(vocab, [name for name in vocab if name not in special], rng, drawn, bool(merges))
        return
    for at in rng.sample(range(len(vocab)), min(drawn, len(vocab))):
        if vocab[at][0] in special or at == model.get("unk_id"):
            continue
        yield f"piece {vocab[at][0]!r} left out", _computed("vocab", partial(_worthless, vocab, at))
        yield f"piece {vocab[at][0]!r} and the next exchanged", _computed("vocab", partial(_swapped, vocab, at))


def _of_mapping(
    vocab: Mapping[str, int], names: Sequence[str], rng: random.Random, drawn: int, merges: bool
) -> Iterator[Change]:
    """Ids exchanged, and tokens left out where no merge names them, of a vocabulary of texts with ids."""
    for _ in range(min(drawn, len(names) // 2)):
        a, b = rng.sample(names, 2)
        exchanged = {a: vocab[b], b: vocab[a]}
        yield f"ids of {a!r} and {b!r} exchanged", _computed("vocab", partial(_merged, vocab, exchanged))
    for name in () if merges else rng.sample(names, min(drawn, len(names))):
        yield f"token {name!r} left out", _computed("vocab", partial(_renamed, vocab, name))


def _computed(part: str, value: Callable[[], Any]) -> Callable[[Content], None]:
    """A change of a part of the model, computed when it is made: vocabularies are large."""
    return lambda one: one["model"].update({part: value()})


def _without(merges: Sequence[Any], at: int) -> list[Any]:
    return [*merges[:at], *merges[at + 1 :]]


def _merged(vocab: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {**vocab, **other}


def _renamed(vocab: Mapping[str, int], name: str) -> dict[str, int]:
    return {key if key != name else f"[left out {name}]": index for key, index in vocab.items()}


def _worthless(vocab: Sequence[Sequence[Any]], at: int) -> list[list[Any]]:
    """The pieces with one whose score is so low that it is never taken."""
    return [[name, -99.0 if index == at else score] for index, (name, score) in enumerate(vocab)]


def _swapped(vocab: Sequence[Any], at: int) -> list[Any]:
    other = (at + 1) % len(vocab)
    return [vocab[{at: other, other: at}.get(index, index)] for index in range(len(vocab))]
