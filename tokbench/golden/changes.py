"""Single changes to a `tokenizer.json`: a normalizer or a merge left out, a pattern changed, ids exchanged."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
REPLACED = "instead"
_LISTS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}
_FLAGS = (
    *("add_prefix_space", "use_regex", "lowercase", "strip_accents", "clean_text", "handle_chinese_chars"),
    *("individual_digits", "split", "invert", "strip_left", "strip_right"),
)
_MODEL_FLAGS = ("byte_fallback", "fuse_unk", "ignore_merges")
_SWAPS = (
    *((r"{1,3}", r"{1,2}"), (r"{1,3}", "+"), ("(?i:", "(?:")),
    *((r"\p{N}", r"[0-9]"), (r"\p{L}", "[a-zA-Z]")),
)

Content = dict[str, Any]
Change = tuple[str, Content]
"""A name, and the parts of a content or of its model that are different then."""


def mutants(content: Mapping[str, Any], *, drawn: int) -> Iterator[Change]:
    """The changed contents, each with a name; `drawn` merges and tokens of each kind are drawn evenly.

    Each is made when it is asked for: vocabularies are large. `content` itself is left alone.
    """
    changes = chain(_of_parts(content), _of_added(content), _of_model(content, random.Random(0), drawn))
    return ((name, {**content, **changed}) for name, changed in changes)


def _of_parts(content: Mapping[str, Any]) -> Iterator[Change]:
    """Each normalizer and pre-tokenizer left out, its flags turned over, its pattern changed."""
    for part, listed in _LISTS.items():
        component = content.get(part) or {"type": "Sequence", listed: []}
        for number, step in enumerate(component[listed] if component["type"] == "Sequence" else [component]):
            where = f"{part} {number + 1} ({step['type']})"
            yield f"{where} left out", {part: _with(component, listed, number)}
            for name, value in _settings(step):
                changed = value if name == REPLACED else {**step, name: value}
                yield f"{where}: {name} = {_told(value)}", {part: _with(component, listed, number, changed)}


def _told(value: Any) -> str:
    """What a setting was changed to: of a pattern its whole expression, of another step its type."""
    if not isinstance(value, Mapping):
        return str(value)
    first = value.get("pretokenizers", [value])[0]
    return str(first.get("pattern", first).get("Regex", first.get("type")))


def _with(component: Mapping[str, Any], listed: str, number: int, *steps: Content) -> Content | None:
    """A component with other steps, or none, in the place of one of its."""
    if component["type"] != "Sequence":
        return steps[0] if steps else None
    own = component[listed]
    return {**component, listed: [*own[:number], *steps, *own[number + 1 :]]}


def _settings(step: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for flag in _FLAGS:
        if flag in step:
            yield flag, not step[flag]
    for name, choices in (
        ("prepend_scheme", ("always", "never", "first")),
        ("behavior", ("Removed", "MergedWithPrevious", "MergedWithNext")),
    ):
        for choice in choices if name in step else ():
            if choice != step[name]:
                yield name, choice
    pattern = step.get("pattern")
    if isinstance(pattern, Mapping) and "Regex" in pattern:
        for source in _patterns(pattern["Regex"]):
            yield "pattern", {"Regex": source}
    if step["type"] == "ByteLevel" and step.get("use_regex", True) and "use_regex" in step:
        for source in _patterns(GPT2):
            split = {"type": "Split", "pattern": {"Regex": source}, "behavior": "Isolated", "invert": False}
            inner = {**step, "use_regex": False}
            yield REPLACED, {"type": "Sequence", "pretokenizers": [split, inner]}
    if "precompiled_charsmap" in step:
        for kind in ("NFKC", "NFC"):
            yield REPLACED, {"type": kind}


def _patterns(source: str) -> Iterator[str]:
    """A pattern with one alternative left out, other bounds, other case, or without its last lookahead."""
    parts = _alternatives(source)
    for number in range(len(parts)) if len(parts) > 1 else ():
        yield "|".join(parts[:number] + parts[number + 1 :])
    for old, new in _SWAPS:
        if old in source:
            yield source.replace(old, new)
    for old in (r"(?!\S)", "[\\r\\n]*", " ?"):
        if old in source:
            yield source.replace(old, "", 1)


def _alternatives(source: str) -> list[str]:
    """The alternatives at the top of a pattern."""
    parts, depth, last = [], 0, 0
    for match in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]", source):
        text = match[0]
        depth += {"(": 1, ")": -1}.get(text, 0)
        if text == "|" and not depth:
            parts.append(source[last : match.start()])
            last = match.end()
    return [*parts, source[last:]]


def _of_added(content: Mapping[str, Any]) -> Iterator[Change]:
    """Added tokens that text is searched for, left out or with another flag; special ones are text here."""
    every = content.get("added_tokens") or []
    for text in [token["content"] for token in every if not token.get("special")][:5]:
        others = [token for token in every if token["content"] != text]
        yield f"added token {text!r} left out", {"added_tokens": others}
        for flag in ("lstrip", "rstrip", "single_word"):
            turned = [{**one, flag: one[flag] != (one["content"] == text)} for one in every]
            yield f"added token {text!r}: {flag} turned over", {"added_tokens": turned}


def _of_model(content: Mapping[str, Any], rng: random.Random, drawn: int) -> Iterator[Change]:
    """Flags of the model turned over, and `drawn` merges and tokens of each kind left out or exchanged."""
    model = content["model"]
    changes: list[Change] = [
        (f"model: {flag} turned over", {flag: not model[flag]}) for flag in _MODEL_FLAGS if flag in model
    ]
    if model.get("max_input_chars_per_word"):
        changes.append(("model: words of 20 characters at most", {"max_input_chars_per_word": 20}))
    merges, vocab = model.get("merges") or [], model["vocab"]
    without = (
        (f"merge {at} {merges[at]} left out", {"merges": [*merges[:at], *merges[at + 1 :]]})
        for at in rng.sample(range(len(merges)), min(drawn, len(merges)))
    )
    special = {token["content"] for token in content.get("added_tokens") or []}
    if isinstance(vocab, Mapping):
        tokens = _of_tokens(vocab, [name for name in vocab if name not in special], rng, drawn, bool(merges))
    else:
        kept = {index for index, (name, _) in enumerate(vocab) if name in special} | {model.get("unk_id")}
        tokens = _of_pieces(vocab, kept, rng, drawn)
    for name, changed in chain(changes, without, tokens):
        yield name, {"model": {**model, **changed}}


def _of_tokens(
    vocab: Mapping[str, int], names: Sequence[str], rng: random.Random, drawn: int, merges: bool
) -> Iterator[Change]:
    """Ids exchanged, and tokens left out where no merge names them, of a vocabulary of texts with ids."""
    for _ in range(min(drawn, len(names) // 2)):
        a, b = rng.sample(names, 2)
        yield f"ids of {a!r} and {b!r} exchanged", {"vocab": {**vocab, a: vocab[b], b: vocab[a]}}
    for name in () if merges else rng.sample(names, min(drawn, len(names))):
        others = {key if key != name else f"[left out {name}]": index for key, index in vocab.items()}
        yield f"token {name!r} left out", {"vocab": others}


def _of_pieces(
    vocab: Sequence[Sequence[Any]], kept: Collection[int | None], rng: random.Random, drawn: int
) -> Iterator[Change]:
    """Pieces left out (by a score so low that they are never taken) or exchanged, where pieces have scores."""
    for at in rng.sample(range(len(vocab)), min(drawn, len(vocab))):
        if at in kept:
            continue
        name, after = vocab[at][0], (at + 1) % len(vocab)
        yield f"piece {name!r} left out", {"vocab": [*vocab[:at], [name, -99.0], *vocab[at + 1 :]]}
        exchanged = list(vocab)
        exchanged[at], exchanged[after] = vocab[after], vocab[at]
        yield f"piece {name!r} and the next exchanged", {"vocab": exchanged}
