"""Greedy longest match with the tokens of a BPE vocabulary, ignoring its merges.

At each place of a pre-token the longest matching token is taken. A character that no token matches becomes the
unknown token, or is an error if there is none. Bostrom & Durrett 2020 and Uzan et al. 2024 compare this with
merging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.capabilities import Step
from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, i64_in, u64_in
from tokbench.kernels.text import utf8_of
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.patterns.cutters import units_of
from tokbench_subword.pipeline.trie import build_trie, longest_below, root_of
from tokbench_subword.words.encoder import WordEncoder
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.prepared import PreparedEncoder
from tokbench_subword.words.runs import Room
from tokbench_subword.words.searching import Search

UNITS, SETTINGS = range(MODEL, MODEL + 2)
UNKNOWN, BYTEWISE = range(2)
"""Indices in SETTINGS, int64: the unknown id, or -1; whether an unmatched unit is a byte, not a character."""


@Search
def longest_tokens(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: int) -> int:
    """Write the longest matching token at each place; return the new end of `out`."""
    units, settings = u64_in(block, UNITS), i64_in(block, SETTINGS)
    at, stop = start, start + length
    while at < stop:
        token, end = longest_below(units, root_of(units), text, at, stop)
        if token < 0:
            token, end = settings[UNKNOWN], at + 1
            while settings[BYTEWISE] == 0 and end < stop and text[end] & 0xC0 == 0x80:
                end += 1
        out[o] = np.int32(token)
        o, at = o + 1, end
    return o


class GreedyTokenizer(BpeTokenizer):
    """A `BpeTokenizer` that encodes by longest match; it saves the same files as a `BpeTokenizer`.

    Raises `TokenizerError` for a character-level vocabulary with prefixes or suffixes, where a token's text
    depends on its place.
    """

    sample = with_dropout = pruned = offsets = offsets_batch = None  # type: ignore[assignment]
    """Capabilities that depend on merges, which this class therefore does not have."""

    @classmethod
    def of(cls, bpe: BpeTokenizer) -> GreedyTokenizer:
        """The same vocabulary, encoded by longest match."""
        return cls(**bpe._made_of())

    def _surround(self, document: TokenizerJson) -> None:
        if self.model.continuing_prefix or self.model.end_of_word:
            raise TokenizerError(f"{self.name}: encoding=greedy is for vocabularies without prefix or suffix")
        super()._surround(document)

    @cached_property
    def _encoder(self) -> WordEncoder:  # type: ignore[override]
        model, left_out = self.model, {*self.special_ids, self.unk_id}
        tokens = {token: index for token, index in model.ids.items() if index not in left_out}
        settings = [-1 if model.unk is None else model.unk, model.level == "byte"]
        return WordEncoder(
            longest_tokens,
            [build_trie(tokens, nul=True), np.array(settings, np.int64)],
            cutters=self._preparation.compiled.cutters,
            threads=self.threads,
            cache=self.cache,
        )

    @cached_property
    def _prepared(self) -> PreparedEncoder:  # type: ignore[override]
        return _Checked(self._preparation.compiled, self._encoder, self._refuse)

    def _prepared_encoder(self) -> PreparedEncoder | None:
        return self._prepared if self._has_bytes or self.unk_id is not None else None  # else `_Checked`

    def _refuse(self, text: str) -> None:
        """Raise `TokenizerError` for the first place in `text` that no token matches, if there is one."""
        for word in self._preparation.words(text):
            data, offsets = utf8_of([word.stretch.text if word.token is None else ""])
            ids = self._encoder.encode_pretokens(data, units_of(offsets)).ids.tolist()
            if -1 in ids:
                at = sum(len(self.model.vocabulary[index]) for index in ids[: ids.index(-1)])
                rest = data[at : min(at + 4, offsets[1])].tobytes()
                raise TokenizerError(f"{self.name}: no token matches the beginning of {rest!r}")

    @property
    def _encode_of_files(self) -> Callable[[str], Any]:
        """Encodes as a saved file does: by merging."""
        return BpeTokenizer(**{**self._made_of(), "match_special": False})._prepared.encode

    def trace(self, text: str) -> Iterator[Step]:
        """One step per token: the longest match and its id."""
        tokens: list[bytes] = []
        for index in self.encode(text).tolist():
            tokens.append(self.token_bytes(index))
            name = self.convert_id_to_token(index)
            yield Step("match", tuple(tokens), len(tokens) - 1, f"longest token: {name}", {"id": index})

    def facts(self) -> dict[str, Any]:
        """A description of the tokenizer, ready for JSON."""
        return {**super().facts(), "algorithm": "greedy longest match over a BPE vocabulary"}


class _Checked(PreparedEncoder):
    """Calls `refuse` with each text of a batch if an id is missing in the batch."""

    def __init__(self, before: Any, words: WordEncoder, refuse: Callable[[str], None]) -> None:
        super().__init__(before, words)
        self._refuse = refuse

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], room: Room = None) -> TokenBatch:
        """See `PreparedEncoder`."""
        batch = super().encode_utf8(data, offsets, room)
        if batch.ids.min(initial=0) < 0:
            for start, end in pairwise(offsets.tolist()):
                self._refuse(data[start:end].tobytes().decode())
        return batch
