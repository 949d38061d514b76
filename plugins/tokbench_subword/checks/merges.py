"""Checks for merges that can never apply, and for duplicate merges: TB103, TB104."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from tokbench import Check, Finding

_LONGEST = 256


def _merges_of(subject: Any) -> tuple[list[tuple[str, str]], str] | str:
    """The merges in order, and the prefix of continuing tokens; or a text that says why there are none."""
    if subject.document is not None:
        stated = subject.document["model"]
        if stated.get("type", "BPE") != "BPE" or "merges" not in stated:
            return f"a model of type {stated.get('type')} has no merges"
        pairs = [tuple(one.split(" ")) if isinstance(one, str) else tuple(one) for one in stated["merges"]]
        return cast(list[tuple[str, str]], pairs), stated.get("continuing_subword_prefix") or ""
    model = getattr(subject.tokenizer, "model", None)
    if model is None or getattr(model, "merges", None) is None:
        return "it has no merges"
    if model.ranks is not None:
        return "a vocabulary of ranks has no list of merges: any two neighbours that make a token are joined"
    texts = [part.decode("latin-1") for part in model.vocabulary]
    return [(texts[left], texts[right]) for left, right, _ in model.merges.tolist()], model.continuing_prefix


def applies(
    pair: tuple[str, str], rank: int, ranks: Mapping[tuple[str, str], int], symbols: Sequence[str]
) -> bool:
    """Whether the merge of `pair` is the last merge of BPE on `symbols`, with only the merges up to `rank`.

    If a merge ever applies, it also applies to the text of its own token, since merges inside a token's text do
    not depend on the surrounding text.

    Example:
        >>> ranks = {("a", "b"): 0, ("b", "c"): 1, ("a", "bc"): 2}
        >>> applies(("a", "bc"), 2, ranks, "abc"), applies(("b", "c"), 1, ranks, "bc")
        (False, True)
    """
    parts = list(symbols)
    while len(parts) > 1:
        best = min((ranks.get(two, rank + 1), at) for at, two in enumerate(pairwise(parts)))
        if best[0] > rank:
            return False
        if best[0] == rank:
            return len(parts) == 2 and (parts[0], parts[1]) == pair
        at = best[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return False


@Check.of("TB103", "merges-never-apply", warn=0)
def never_apply(subject: Any, bounds: Mapping[str, float]) -> Finding:
    """Merges that can never apply, because earlier merges always join their parts differently.

    No text can produce their tokens, so the model's embeddings for these tokens take memory but get no
    gradient in training.
    """
    found = _merges_of(subject)
    if isinstance(found, str):
        return Finding.unchecked(found)
    pairs, prefix = found
    suffix = (subject.document or {}).get("model", {}).get("end_of_word_suffix")
    if prefix or suffix:
        return Finding.unchecked(f"its symbols have affixes ({prefix or suffix!r}), not supported here")
    ranks: dict[tuple[str, str], int] = {}
    for rank, pair in enumerate(pairs):
        ranks.setdefault(pair, rank)
    wrong, long = [], 0
    for rank, pair in enumerate(pairs):
        if ranks[pair] != rank:
            continue  # a duplicate, which TB104 reports
        text = pair[0] + pair[1]
        if len(text) > _LONGEST:
            long += 1
        elif not applies(pair, rank, ranks, text):
            wrong.append(f"merge {rank}: {pair[0]!r} + {pair[1]!r}")
    of = f"merges of {len(pairs):,} that can never apply" + (
        f" ({long} very long ones not checked)" if long else ""
    )
    return Finding.judged(wrong, bounds, of=of, total=len(pairs) or None)


@Check.of("TB104", "duplicate-merges", fail=0)
def duplicates(subject: Any, bounds: Mapping[str, float]) -> Finding:
    """Merges that are listed more than once.

    Libraries differ in which of the two ranks they use, so ids differ between programs that read the same
    file.
    """
    found = _merges_of(subject)
    if isinstance(found, str):
        return Finding.unchecked(found)
    again = [pair for pair, count in Counter(found[0]).items() if count > 1]
    examples = [f"{left!r} + {right!r}" for left, right in again]
    return Finding.judged(examples, bounds, of="merges listed more than once")


CHECKS = (never_apply, duplicates)
