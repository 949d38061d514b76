"""Bits per byte from the losses of a model: the exact figure, and the error of the usual short cuts.

    bits per byte = Σ nats / (ln 2 · Σ bytes)

over the tokens that have a loss. The bytes are those of the text if it is known, or else of the decoded ids of
the whole document. If some tokens of a document have no loss (the first, which nothing predicts), the byte
table (`tokbench.inspection.bytetable`) says how many bytes to leave out; if its bytes do not add up to the
document's, the document is left out, and counted as such. Special tokens add no bytes, but their losses count,
because a model must also predict where a text ends.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import known_ids
from tokbench.batch import TokenBatch
from tokbench.corpus import in_batches
from tokbench.errors import CorpusError
from tokbench.inspection.bytetable import ByteTable, IdKind, byte_table
from tokbench.metrics.context import CONFIDENCE, REPLICATES
from tokbench.metrics.intervals import Interval, intervals
from tokbench.metrics.lossfile import Scored
from tokbench.metrics.resampling import Floats, Ints, resampled_sums
from tokbench.tally.counters import GROUPS
from tokbench.tokenizer import Tokenizer, decode_batch, encode_batch

SUMS = ("documents", "tokens", "nats", "special_nats", "special_tokens", "bytes", "chars", "single",
        "single_special", "twice", "ratios", "figures")  # fmt: skip
"""The sums over groups of documents."""
Sums = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BitsFigure:
    """Bits per byte in one way of counting, and its error against the exact one (None if that is 0)."""

    name: str
    how: str
    value: float
    interval: Interval | None
    error: float | None
    error_interval: Interval | None


@dataclass(frozen=True, slots=True)
class BitsAudit:
    """The result of an audit; in `figures` the exact one is first, then the short cuts.

    `left_out` documents are in no figure; `rewritten` ones decode to another text; `from_ids` have no text, so
    that the decoded text was counted.
    """

    tokenizer: str
    documents: int
    tokens: int
    special_tokens: int
    unscored: int
    bytes: int
    left_out: int
    rewritten: int
    from_ids: int
    figures: tuple[BitsFigure, ...]

    @property
    def bits_per_byte(self) -> float:
        """The exact figure."""
        return self.figures[0].value


def audit_bits(
    tokenizer: Tokenizer,
    documents: Iterable[Scored],
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> BitsAudit:
    """Bits per byte of documents with their losses, exactly, and by the usual short cuts.

    Intervals are bootstrapped over documents, with copies of a document together. Raises `CorpusError` for
    losses that do not fit the tokens, and `TokenizerError` for ids outside the vocabulary.

    Example:
        >>> import numpy as np, tokbench
        >>> scored = [Scored("here", np.full(3, np.log(2)), text="né")]
        >>> audit_bits(tokbench.load("bytes"), scored).bits_per_byte
        1.0
    """
    table = byte_table(tokenizer)
    sums = np.zeros((len(SUMS), GROUPS))
    counted = dict.fromkeys(("unscored", "left_out", "rewritten", "from_ids"), 0)
    singles = _Singles(tokenizer, len(table))
    for some in in_batches(documents, progress):
        for group, row in _rows(tokenizer, table, singles, some, counted):
            sums[:, group] += [row[name] for name in SUMS]
    if not sums[SUMS.index("bytes")].sum() > 0:
        raise CorpusError("no losses on text: there is nothing to divide by")
    found = _figures(table, sums, seed)
    whole = dict(zip(SUMS, sums.sum(axis=1).tolist(), strict=True))
    totals = {name: int(whole[name]) for name in ("documents", "tokens", "special_tokens", "bytes")}
    return BitsAudit(tokenizer.name, **totals, **counted, figures=tuple(found))


def _rows(
    tokenizer: Tokenizer, table: ByteTable, singles: _Singles, some: list[Scored], counted: dict[str, int]
) -> Iterable[tuple[int, Sums]]:
    """The bootstrap group (by its text) and `SUMS` of each document that can be counted exactly."""
    batch = _ids_of(tokenizer, some, len(table))
    added, decoded = table.of_tokens(batch), decode_batch(tokenizer, batch)
    alone = singles.of(batch.ids)
    lossless = bool(getattr(tokenizer, "lossless", False))
    for index, scored in enumerate(some):
        own = slice(int(batch.offsets[index]), int(batch.offsets[index + 1]))
        ids, parts = batch.ids[own], added[own]
        special = table.kind[ids] == IdKind.SPECIAL
        nats = _aligned(scored, len(ids), int(special.sum()))
        told = ~np.isnan(nats)
        text = decoded[index] if scored.text is None else scored.text
        rewritten = not special.any() and decoded[index] != text
        if rewritten and lossless and scored.ids is not None:
            raise CorpusError(
                f"{scored.place}: the ids decode to {decoded[index][:40]!r}, the text is {text[:40]!r}: ids of "
                "another tokenizer or row; give one of the two, or the tokenizer of the losses"
            )
        data = text.encode("utf-8", "surrogatepass")
        size = len(data)
        if scored.text is None and special.any():
            # decode may hide or show special tokens, so the table decides which bytes are text
            size = int(parts.sum())
        exact = int(parts.sum()) == size and not rewritten
        counted["from_ids"] += scored.text is None
        counted["rewritten"] += rewritten
        if not told.all() and not exact:
            counted["left_out"] += 1
            continue
        counted["unscored"] += int((~told).sum())
        scoring = size if told.all() else int(parts[told].sum())
        scored_nats = float(nats[told].sum())
        text_tokens = told & ~special
        row = {
            "documents": 1,
            "tokens": told.sum(),
            "nats": scored_nats,
            "special_nats": nats[told & special].sum(),
            "special_tokens": (told & special).sum(),
            "bytes": scoring,
            "chars": len(text) * scoring / size if size else 0,  # approximate for a part of a document
            "single": alone[own][text_tokens].sum(),
            "single_special": alone[own][told].sum(),
            "twice": scoring + (text_tokens & (table.first[ids] < table.after[ids])).sum(),
            "ratios": scoring / told.sum() if told.any() else 0,
            "figures": scored_nats / scoring if scoring else 0,
        }
        yield zlib.crc32(data) % GROUPS, row


def _ids_of(tokenizer: Tokenizer, some: Sequence[Scored], size: int) -> TokenBatch:
    """The ids of each document: those given, which are checked against `size`, or else those of its text."""
    without = [scored.text or "" for scored in some if scored.ids is None]
    encoded = iter(encode_batch(tokenizer, without))
    return TokenBatch.of(
        [
            next(encoded) if scored.ids is None else known_ids(scored.ids, size, name=scored.place)
            for scored in some
        ]
    )


def _aligned(scored: Scored, tokens: int, special: int) -> Floats:
    """The losses, one for each token; raises `CorpusError` if there are more, or fewer by two or more."""
    losses = len(scored.nats)
    if losses == tokens:
        return scored.nats
    if losses == tokens - 1:
        return np.append(np.nan, scored.nats)
    if scored.ids is None:
        hint = "if a BOS or EOS was predicted too, or another tokenizer cut the text, give `ids`"
    else:
        hint = "one a token, or one less where the first is not predicted"
    raise CorpusError(f"{scored.place}: losses: {losses:,}, tokens: {tokens:,}; {hint}")


class _Singles:
    """The bytes of each id decoded alone, computed when the id first occurs."""

    def __init__(self, tokenizer: Tokenizer, size: int) -> None:
        self._tokenizer = tokenizer
        self._bytes: Ints = np.full(size, -1, np.int64)

    def of(self, ids: NDArray[np.int32]) -> Ints:
        """The bytes of each of `ids` decoded alone, int64."""
        new = np.unique(ids[self._bytes[ids] < 0])
        texts = decode_batch(self._tokenizer, TokenBatch.of(new[:, None]))
        self._bytes[new] = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
        found: Ints = self._bytes[ids]
        return found


def _figures(table: ByteTable, sums: Floats, seed: int) -> list[BitsFigure]:
    """The exact figure and the short cuts, for the whole and for resamples."""
    again = dict(zip(SUMS, resampled_sums(sums, seed=seed, n=REPLICATES), strict=True))
    whole = dict(zip(SUMS, sums.sum(axis=1), strict=True))
    text = (table.kind == IdKind.TEXT) | (table.kind == IdKind.PARTIAL)
    mean = float(table.after[text].mean()) if text.any() else math.nan
    rows = []
    with np.errstate(all="ignore"):
        # no figure from a division by zero, as of a text without characters
        ways = [
            (name, how, compute)
            for name, how, compute in _ways(mean)
            if _differs(name, table, whole) and (name == "exact" or np.isfinite(compute(whole)))
        ]
        exact = ways[0][2]
        for _, _, compute in ways:
            rows += [compute(again) / math.log(2), compute(again) / exact(again) - 1]
    limits = intervals(rows, CONFIDENCE, int(whole["documents"]))
    said = float(exact(whole))
    found = []
    for index, (name, how, compute) in enumerate(ways):
        nats = float(compute(whole))
        own, of_error = limits[2 * index], limits[2 * index + 1] if index else None
        found.append(
            BitsFigure(name, how, nats / math.log(2), own, nats / said - 1 if said else None, of_error)
        )
    return found


def _ways(mean: float) -> list[tuple[str, str, Callable[[Sums], Any]]]:
    """The ways of counting, the exact one first: name, explanation, and nats per byte from the sums."""
    return [
        ("exact", "bytes of the text", lambda s: s["nats"] / s["bytes"]),
        ("characters", "characters taken for bytes", lambda s: s["nats"] / s["chars"]),
        (
            "mean_bytes_per_token",
            "loss per token over the mean of the documents' bytes per token",
            lambda s: s["nats"] / s["tokens"] / (s["ratios"] / s["documents"]),
        ),
        (
            "mean_of_vocabulary",
            "loss per token over the mean bytes of the vocabulary's tokens",
            lambda s: s["nats"] / s["tokens"] / mean,
        ),
        ("single_tokens", "bytes of each token decoded alone", lambda s: s["nats"] / s["single"]),
        ("special_as_text", "the same, names of special tokens too", lambda s: s["nats"] / s["single_special"]),
        ("space_twice", "the space before a token counted twice", lambda s: s["nats"] / s["twice"]),
        ("mean_of_documents", "mean of the documents' bits per byte", lambda s: s["figures"] / s["documents"]),
        (
            "without_special",
            "losses of special tokens left out",
            lambda s: (s["nats"] - s["special_nats"]) / s["bytes"],
        ),
    ]


def _differs(name: str, table: ByteTable, whole: Sums) -> bool:
    """Whether a way of counting applies here."""
    if name in ("special_as_text", "without_special"):
        return bool(whole["special_tokens"] > 0)
    if name == "space_twice":
        return bool((table.first < table.after).any())
    return True
