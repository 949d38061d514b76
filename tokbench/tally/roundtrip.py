"""Which documents come back, decode(encode(x)) = x, decoding no more of them than it takes to know.

With all of them decoded, counting with tiktoken takes 1.7 times as long (12 languages, PUD).

Most decoders put the bytes of the tokens end to end, and say so (`decode_joins_bytes`). Where a document's
tokens are its very bytes, none of them special or without bytes, such a decoder gives it back, and need not be
asked. Some take away the space that their tokenizer puts before a text (`decode_drops_space`): they are
believed where a space and the document are what the tokens spell, and the document begins with none itself.

What a decoder says of itself is checked. Of the documents it is believed, a sixty-fourth of every batch and
eight at least are decoded all the same; once 512 or a megabyte of them came back, one in 2,048. If one does
not, the whole batch is decoded, and every later one. All other documents are decoded and compared.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import TokenByter
from tokbench.kernels.pointers import Ints, Keys
from tokbench.tally.edits import example_of
from tokbench.tally.examples import EXAMPLES, Loss, kept_examples
from tokbench.tally.loss_kinds import same_white_space
from tokbench.tally.lost import what_is_lost
from tokbench.tally.places import Places
from tokbench.tally.text import Flags, TextBatch
from tokbench.tokenizer import Tokenizer, decode_batch, unk_id

CHECKED_SHARE = 64
CHECKED_AT_LEAST = 8
TRUSTED_AFTER, TRUSTED_AFTER_BYTES = 1 << 9, 1 << 20
TRUSTED_SHARE = 2048
_KEYS = 1 << 32
_SPACE = 0x20


class RoundTrips:
    """Compares the documents of one tokenizer, batch by batch; `losses` are examples of what was lost."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        joins = bool(getattr(tokenizer, "decode_joins_bytes", False))
        self._drops_space = not joins and bool(getattr(tokenizer, "decode_drops_space", False))
        self._believed = isinstance(tokenizer, TokenByter) and (joins or self._drops_space)
        self._checked = self._checked_bytes = 0
        self.losses: tuple[Loss, ...] = ()

    def count(self, batch: TextBatch, tokens: TokenBatch, places: Places) -> dict[str, Ints]:
        """What came back, by document."""
        lost = self.lost(batch, tokens, places)
        same = np.ones(len(batch), np.int64)
        kept = np.ones(len(batch), np.int64)
        for i, decoded in lost.items():
            same[i] = 0
            kept[i] = same_white_space(batch.text(i), decoded)
        what: dict[str, Ints] = {}
        if lost:
            self._keep_examples(batch, lost, places)
            what = what_is_lost(batch, lost, places.unknown)
        return {
            "round_trips": same,
            "whitespace_kept": kept,
            "lossy_chars": np.where(same == 0, batch.counts["chars"], 0),
            **what,
        }

    def _keep_examples(self, batch: TextBatch, lost: dict[int, str], places: Places) -> None:
        """Have `losses` be those of the smallest keys so far; copies of a text are one example."""
        texts, keys = batch.texts, batch.keys.tolist()
        threshold = self.losses[-1].key if len(self.losses) >= EXAMPLES else _KEYS
        alike: dict[tuple[int, str], list[int]] = {}
        for i in lost:
            if keys[i] <= threshold:
                alike.setdefault((keys[i], texts[i]), []).append(i)
        new = [
            replace(
                example_of(key, text, lost[same[0]], unknown=self._unknown if places.unknown[same[0]] else ""),
                copies=len(same),
            )
            for (key, text), same in sorted(alike.items())[:EXAMPLES]
        ]
        self.losses = kept_examples([*self.losses, *new])

    def lost(self, batch: TextBatch, tokens: TokenBatch, places: Places) -> dict[int, str]:
        """The documents of `batch` that do not come back, and what they come back as."""
        if not self._believed:
            return _changed(batch, self._decoded(tokens, np.ones(len(batch), np.bool_)))
        told = places.exact & (places.empty == 0) & ~batch.surrogates & (places.leads == self._drops_space)
        if self._drops_space:  # what becomes of more than one space is not declared
            told &= batch.data[np.minimum(batch.starts, len(batch.data) - 1)] != _SPACE
        if self._checked < TRUSTED_AFTER and self._checked_bytes < TRUSTED_AFTER_BYTES:
            checked = _sample(batch.keys, told)
            self._checked += int(checked.sum())
            self._checked_bytes += int(batch.counts["bytes"][checked].sum())
        else:
            checked = told & (batch.keys < _KEYS // TRUSTED_SHARE)
        changed = _changed(batch, self._decoded(tokens, checked | ~told))
        if any(checked[document] for document in changed):
            self._believed = False
            changed |= _changed(batch, self._decoded(tokens, told & ~checked))
        return dict(sorted(changed.items()))

    @cached_property
    def _unknown(self) -> str:
        """What the decoder writes for an unknown token."""
        unknown = unk_id(self._tokenizer)
        return "" if unknown is None else decode_batch(self._tokenizer, TokenBatch.of([[unknown]]))[0]

    def _decoded(self, tokens: TokenBatch, documents: Flags) -> dict[int, str]:
        """What each of `documents` decodes to."""
        texts = decode_batch(self._tokenizer, tokens.copy() if documents.all() else tokens.some(documents))
        return dict(zip(np.flatnonzero(documents).tolist(), texts, strict=True))


def _changed(batch: TextBatch, decoded: dict[int, str]) -> dict[int, str]:
    """The documents that were decoded to another text."""
    return {document: text for document, text in decoded.items() if text != batch.text(document)}


def _sample(keys: Keys, among: Flags) -> Flags:
    """Some of the documents `among`, the same in any order: those with the smallest keys."""
    own = keys[among]
    wanted = max(CHECKED_AT_LEAST, -(-len(own) // CHECKED_SHARE))
    if len(own) <= wanted:
        return among.copy()
    chosen: Flags = among & (keys <= np.partition(own, wanted - 1)[wanted - 1])
    return chosen
