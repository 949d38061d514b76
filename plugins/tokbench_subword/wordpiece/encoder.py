"""`WordPieceEncoder`: a `WordPieceModel` behind the pipeline and the word cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.copies import Stays, cached_property
from tokbench.kernels.text import utf8_of
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.trie import build_trie, children
from tokbench_subword.wordpiece.kernels import match_word
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.preparation import WordPiecePreparation
from tokbench_subword.words.cache import CACHE_BYTES
from tokbench_subword.words.encoder import ToArray, ToList, WordEncoder
from tokbench_subword.words.prepared import PreparedEncoder, few


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
