"""`WordPieceEncoder`: a `WordPieceModel` behind the pipeline and the word cache, by greedy longest match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import inline
from tokbench.kernels.copies import Stays, cached_property
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, i64_in, u64_in
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.pipeline.trie import build_trie, children, longest_below, root_of
from tokbench_subword.wordpiece.model import WordPieceModel, bert_pipeline
from tokbench_subword.words.cache import CACHE_BYTES
from tokbench_subword.words.encoder import ToArray, ToList, WordEncoder
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.prepared import PreparedEncoder, few
from tokbench_subword.words.searching import Search

UNITS, SETTINGS = range(MODEL, MODEL + 2)
"""The arrays of a model in the block of `words.layout`."""
CONTINUATION, UNK, LIMIT, BYTES = range(4)
"""Members of SETTINGS, int64: the base of what continues a word, 0 for nothing; the unknown id; the longest
word; and whether that is counted in bytes, each of which is a character of the byte alphabet."""


@inline
def _too_long(text: Bytes, start: Int, length: Int, settings: Ints) -> bool:
    """Whether a word has more characters than the limit."""
    if length <= settings[LIMIT]:
        return False
    if settings[BYTES] == 1:
        return True
    characters = 0
    for i in range(start, start + length):
        characters += (text[i] & 0xC0) != 0x80
    return characters > settings[LIMIT]


@Search
def match_word(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: int) -> int:
    """Write the tokens of a word; return the new end of `out`.

    From each place the longest token, from the root at the beginning of the word and from the base of what
    continues one after it. Where nothing matches, the whole word is one unknown token; so it is where it is too
    long.
    """
    units, settings = u64_in(block, UNITS), i64_in(block, SETTINGS)
    unk = np.int32(settings[UNK])
    if _too_long(text, start, length, settings):
        out[o] = unk
        return o + 1
    count, at, stop = o, start, start + length
    node = root_of(units)
    while at < stop:
        token, end = longest_below(units, node, text, at, stop)
        if token < 0:
            out[o] = unk
            return o + 1
        out[count] = token
        count += 1
        at, node = end, settings[CONTINUATION]
    return count


@dataclass(frozen=True, kw_only=True)
class WordPiecePreparation(Preparation):
    """Prepares text for one model."""

    spelled_by_model: bool = False
    """Whether bytes are left as they are, since the model's tokens can be taken as bytes themselves."""

    @classmethod
    def of(cls, model: WordPieceModel, match_special: bool = False) -> WordPiecePreparation:
        """The preparation of a model, BERT's written out."""
        around = model.pipeline or bert_pipeline(model.rules)
        document = TokenizerJson(
            model={},
            normalizer=around.normalizer,
            pre_tokenizer=around.pre_tokenizer,
            added_tokens=model.added_tokens,
        )
        steps = steps_of(around.pre_tokenizer, "pretokenizers")
        last = bool(steps) and steps[-1].get("type") == "ByteLevel"
        by_model = last and unspelled(model.prefix) is not None
        return cls(document=document, match_special=match_special, spelled_by_model=by_model)

    @property
    def gives_letters(self) -> bool:
        """Whether the pre-tokenizer writes the bytes of words as letters."""
        steps = steps_of(self.document.pre_tokenizer, "pretokenizers")
        return any(step.get("type") == "ByteLevel" for step in steps)

    @property
    def spells_segments(self) -> bool:
        """See `pipeline.preparation`."""
        return not self.spelled_by_model


class WordPieceEncoder(Stays):
    """Encodes text with a `WordPieceModel`. Safe for use by many threads.

    `threads` is how many of them a batch may use, `cache` how many bytes the word cache of each may take. Text
    of special tokens is text unless `match_special`.
    """

    def __init__(
        self,
        model: WordPieceModel,
        *,
        threads: int = 1,
        cache: int = CACHE_BYTES,
        match_special: bool = False,
    ) -> None:
        self.model = model
        self.preparation = preparation = WordPiecePreparation.of(model, match_special)
        self.compiled = preparation.compiled
        cutters, spelled = self.compiled.cutters, preparation.spelled_by_model
        arrays = _arrays(model, spelled=spelled)
        self._words = WordEncoder(match_word, arrays, cutters=cutters, threads=threads, cache=cache)
        self._prepared = PreparedEncoder(self.compiled, self._words)
        self._letters = WordEncoder(match_word, _arrays(model), cutters=()) if spelled else self._words

    @cached_property
    def _one_by_one(self) -> tuple[ToArray, ToList] | None:
        return self._prepared.one_by_one()

    @property
    def to_list(self) -> ToList:
        """The ids of one text, which may be short, as a list."""
        return self._one_by_one[1] if self._one_by_one else self._prepared.encode_to_list

    def encode_batch(self, texts: Sequence[str], *, name: str = "wordpiece") -> TokenBatch:
        """The ids of many texts; raises `TokenizerError` where one is no str, in the name of a tokenizer."""
        alone = self._one_by_one[0] if self._one_by_one else None
        return few(texts, alone, name=name) or self._prepared.encode_batch(texts, name=name)

    def match(self, pieces: Sequence[str]) -> TokenBatch:
        """The ids of each word of a list, as they stand: normalized and cut elsewhere."""
        data, offsets = utf8_of(pieces)
        return self._letters.encode_pretokens(data, np.stack([offsets[:-1], offsets[1:]], axis=1))

    def pretokens(self, data: NDArray[np.uint8], spans: NDArray[np.int64]) -> TokenBatch:
        """The ids of each of the pre-tokens that the pipeline has cut, int64 ``(n, 2)``, bytes in `data`."""
        return self._words.encode_pretokens(data, spans)

    def forget(self) -> None:
        """Empty the word caches."""
        self.__dict__.pop("_one_by_one", None)
        self._words.forget()
        self._letters.forget()


def _arrays(model: WordPieceModel, *, spelled: bool = False) -> list[NDArray[Any]]:
    """The arrays of the search; `spelled`: tokens are letters of the byte alphabet, and words are bytes."""
    keys = {_key(token, spelled): index for token, index in model.vocabulary.items()}
    units = build_trie({key: index for key, index in keys.items() if key}, nul=True)
    continuation = children(units, _key(model.prefix, spelled) or b"")
    settings = [continuation, model.unk_id, model.max_input_chars_per_word, spelled]
    return [units, np.array(settings, np.int64)]


def _key(token: str, spelled: bool) -> bytes | None:
    """The bytes of a token in text; none where letters are asked for and one of its characters is no letter."""
    return unspelled(token) if spelled else token.encode("utf-8", "surrogatepass")
