"""Checks for patterns, and alternatives of patterns, that never match: TB101, TB102."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokbench import Check, Finding, Outcome
from tokbench_subword.checks.alternatives import winners
from tokbench_subword.pipeline.document import steps_of
from tokbench_subword.pipeline.patterns import NAMED, Pattern
from tokbench_subword.pipeline.patterns.class_names import Dialect
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.patterns.simplifying import tree_of
from tokbench_subword.pipeline.patterns.tree import Either, Node, NotExpressible
from tokbench_subword.pipeline.pre_tokenizers import GPT2_PATTERN, pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch

_LIKE_REGEX = re.compile(r"\\[pPsSdDwWbB]|\(\?[:=!<i]|\[\^|[\])][+*?]|\{\d+,\d*\}")
_MOST_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Place:
    """A pattern and its place in the tokenizer; `literal` if it is plain text, not a regular expression."""

    where: str
    source: str
    dialect: Dialect
    literal: bool = False


def places(subject: Any) -> list[Place]:
    """The patterns of a tokenizer, from its `tokenizer.json`, its model or its facts."""
    if subject.document is not None:
        return list(_in_document(subject.document))
    model = getattr(subject.tokenizer, "model", None)
    pattern = getattr(model, "pattern", None)
    if isinstance(pattern, Pattern) and pattern.name != "none":
        named = bool(pattern.name)
        source = NAMED[pattern.name] if named else pattern.source
        return [Place("pattern", source, "rust" if named else pattern.dialect)]
    stated = subject.facts.get("pre_tokenizer")
    if subject.facts.get("byte_level") and isinstance(stated, str):
        return [Place("pattern", stated, "rust")]
    return []


def _in_document(document: Mapping[str, Any]) -> Iterator[Place]:
    for part, key in (("normalizer", "normalizers"), ("pre_tokenizer", "pretokenizers")):
        for number, step in enumerate(steps_of(document.get(part), key)):
            where = f"{part} {number + 1} ({step.get('type')})"
            pattern = step.get("pattern")
            if isinstance(pattern, str):
                yield Place(where, pattern, "oniguruma", literal=True)
            elif isinstance(pattern, Mapping) and "String" in pattern:
                yield Place(where, str(pattern["String"]), "oniguruma", literal=True)
            elif isinstance(pattern, Mapping) and "Regex" in pattern:
                yield Place(where, str(pattern["Regex"]), "oniguruma")
            elif step.get("type") == "ByteLevel" and step.get("use_regex", True) and part == "pre_tokenizer":
                yield Place(where, GPT2_PATTERN, "oniguruma")


@lru_cache(maxsize=64)
def _won(source: str, dialect: Dialect) -> tuple[list[bool], list[str]]:
    """Whether each alternative can match, and its source text; raises `NotExpressible`."""
    tree = tree_of(source, dialect)
    return winners(tree), _written(source, tree)


def _proved(found: Iterable[Place]) -> tuple[list[tuple[Place, list[bool], list[str]]], list[str]]:
    """The results of `_won` for expressions, and a message for each expression without a result."""
    proved, unproved = [], []
    for place in found:
        try:
            proved.append((place, *_won(place.source, place.dialect)))
        except NotExpressible as reason:
            unproved.append(f"{place.where}: no automaton ({reason})")
    return proved, unproved


def _written(source: str, tree: Node) -> list[str]:
    """The source text of each alternative of a pattern, split at the bars outside all brackets."""
    expected = len(tree.parts) if isinstance(tree, Either) else 1
    parts, depth, inside, last, at = [], 0, False, 0, 0
    while at < len(source):
        letter = source[at]
        if letter == "\\":
            at += 1
        elif inside:
            inside = letter != "]"
        elif letter == "[":
            inside = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and not depth:
            parts.append(source[last:at])
            last = at + 1
        at += 1
    parts.append(source[last:])
    return parts if len(parts) == expected else [f"number {number + 1}" for number in range(expected)]


@Check.of("TB101", "pattern-never-matches", fail=0)
def never_match(subject: Any, bounds: Mapping[str, float]) -> Finding:
    """Patterns that match no text (proved), and regular expressions that are used as plain text.

    A model of a thousand million parameters was pretrained with Split patterns that never matched
    (llama.cpp 29211); that was found only after training.
    """
    found = places(subject)
    if not found:
        return Finding.unchecked("it has no known pattern")
    wrong = [
        f"{place.where}: {place.source!r} is a regular expression, but is used as plain text"
        for place in found
        if place.literal and _LIKE_REGEX.search(place.source)
    ]
    proved, unproved = _proved(place for place in found if not place.literal)
    wrong += [
        f"{place.where}: {place.source!r} cannot match any text" for place, won, _ in proved if not any(won)
    ]
    silent = [] if wrong else list(_silent(subject))
    if wrong or not (silent or unproved):
        return Finding.judged(wrong, bounds, of=f"patterns of {len(found)} that never match")
    if silent:
        said = f"patterns that do not match anywhere in the sample text: {len(silent)}"
        return Finding(Outcome.WARN, said, len(silent), tuple(silent))
    return Finding.unchecked("; ".join(unproved))


def _silent(subject: Any) -> Iterator[str]:
    """`Split` steps whose pattern does not match in the sample text, as the earlier steps have cut it."""
    document = subject.document or {}
    steps = list(steps_of(document.get("pre_tokenizer"), "pretokenizers"))
    if sum("pattern" in step for step in steps) < 2 and not (len(steps) > 1 and subject.texts):
        return
    pieces: Iterable[Stretch] = [Stretch(text) for text in _sample(subject)]
    for number, step in enumerate(steps):
        pieces = list(pieces)
        pattern = step.get("pattern")
        if isinstance(pattern, Mapping) and "Regex" in pattern:
            spans = compile_regex(str(pattern["Regex"]), "oniguruma").spans
            if not any(next(spans(piece.text), None) for piece in pieces):
                where = f"pre_tokenizer {number + 1} ({step.get('type')})"
                yield f"{where}: {pattern['Regex']!r}, after the earlier steps"
        split = pre_tokenizer_of(step)
        pieces = [part for piece in pieces for part in split(piece)]


def _sample(subject: Any) -> Sequence[str]:
    found, size = [], 0
    for text in (*subject.sample(), "I'm 12, you'll  see:\n\n x=3.5!\r\n\tNO…  "):
        found.append(text)
        size += len(text)
        if size > _MOST_TEXT:
            break
    return found


@Check.of("TB102", "alternative-never-matches", warn=0)
def never_win(subject: Any, bounds: Mapping[str, float]) -> Finding:
    """Alternatives of a pattern that never match, because earlier alternatives match everything first.

    Such a pattern cuts text differently than its author believes. Training and inference of one project used
    two different patterns (nanochat 291), and a wrong pattern raised a perplexity from 15.4 to 19.0 (llama.cpp
    29033).
    """
    found = [place for place in places(subject) if not place.literal]
    if not found:
        return Finding.unchecked("it has no known pattern")
    proved, unproved = _proved(found)
    wrong = [
        f"{place.where}: {part}"
        for place, won, written in proved
        for part, wins in zip(written, won, strict=True)
        if any(won) and not wins
    ]
    if unproved and not wrong:
        return Finding.unchecked("; ".join(unproved))
    total = sum(len(won) for _, won, _ in proved)
    said = f"alternatives of {total} that never match, in any text"
    return Finding.judged(wrong, bounds, of=said)


CHECKS = (never_match, never_win)
