"""The common part of tokenizers that prepare and decode text as a `tokenizer.json` says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import known_id
from tokbench.batch import TokenBatch, batched
from tokbench.kernels.copies import cached_property
from tokbench.kernels.utf8 import repaired
from tokbench_subword.pipeline.added_tokens import new_tokens
from tokbench_subword.pipeline.decoding_kernel import TokenJoiner
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.document_decoding import DocumentDecoder
from tokbench_subword.pipeline.pre_tokenizers import expression_of
from tokbench_subword.pipeline.preparation import Preparation


class DocumentTokenizer(ABC):
    """A tokenizer that follows its `document`, a `tokenizer.json`.

    `_names` are the tokens by id as the vocabulary writes them, `_written` as decoding takes them.
    """

    name: str
    cache: int
    document: TokenizerJson
    _names: Mapping[int, str]
    _written: Mapping[int, str]
    _preparation: Preparation
    _match_special: bool
    _joiner: TokenJoiner | None = None
    """Joins the bytes of tokens, if decoding does no more than that."""

    @abstractmethod
    def __call__(self, text: str) -> list[int]:
        """The ids of `text`, as a list."""

    @property
    def match_special(self) -> bool:
        """Whether `encode` finds special tokens in text; its tables are made for that."""
        return self._match_special

    @property
    def vocab_size(self) -> int:
        """The number of ids: one more than the highest."""
        return self._size

    @cached_property
    def _size(self) -> int:
        return 1 + max(self._names)

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """The ids of special tokens."""
        return frozenset(token.id for token in self.document.added_tokens if token.special)

    @abstractmethod
    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""

    @abstractmethod
    def _surround(self, document: TokenizerJson) -> None:
        """Put another `tokenizer.json` around the model, and drop everything that was made from the old one."""

    def add_tokens(self, tokens: str | Iterable[str], *, special: bool = False) -> list[int]:
        """Add tokens that are matched as a whole before the model sees the text; returns their new ids.

        Those that are `special` are matched only if the tokenizer matches special tokens. Raises
        `TokenizerError` if one is in the vocabulary already.
        """
        new = new_tokens(tokens, self._ids, self.vocab_size, special=special)
        self._surround(replace(self.document, added_tokens=(*self.document.added_tokens, *new)))
        return [token.id for token in new]

    def pre_tokenize(self, text: str) -> list[str]:
        """The pieces that the model works on, one by one; added tokens are pieces of their own."""
        words = self._preparation.words(text)
        return [word.token.content if word.token else word.stretch.text for word in words]

    def convert_id_to_token(self, token_id: int) -> str:
        """A token as the vocabulary writes it (``Ġword``), empty for an id that no token has.

        Raises `TokenizerError` for an id outside the vocabulary.
        """
        return self._names.get(known_id(token_id, self.vocab_size, name=self.name), "")

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The ids of the tokens."""
        return {text: index for index, text in self._names.items()}

    def tokenize(self, text: str) -> list[str]:
        """The tokens of `text`, as the vocabulary writes them."""
        return [self.convert_id_to_token(index) for index in self(text)]

    def offsets(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token in code points of `text`: int64 ``(tokens, 2)``."""
        return self.offsets_batch([text])[0]

    def normalize(self, text: str) -> str:
        """`text` after the normalizer."""
        return self._preparation.normalized(repaired(text))

    def stages(self, text: str) -> Mapping[str, Sequence[str]]:
        """The pieces of `text` after added tokens, normalizer and pre-tokenizer."""
        return self._as_stated.stages(text)

    @cached_property
    def _as_stated(self) -> Preparation:
        """The preparation as the `tokenizer.json` says, without the byte alphabet that the model may need."""
        return Preparation(document=self.document, match_special=self.match_special, spelling=False)

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """The text of `ids`, as `tokenizers` decodes it: special tokens are written out.

        An id without a token adds nothing.
        """
        return self._decoder.text(ids)

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, as `decode` gives it."""
        return self._decoder.texts(batched(batch, name=self.name))

    def _facts_around(self) -> dict[str, Any]:
        """The part of `facts` about everything around the model."""

        def kinds(config: Mapping[str, Any] | None, key: str) -> str | None:
            return " + ".join(str(step.get("type")) for step in steps_of(config, key)) or None

        tokens = self.document.added_tokens
        cuts = steps_of(self.document.pre_tokenizer, "pretokenizers")
        return {
            "normalizer": kinds(self.document.normalizer, "normalizers"),
            "pre_tokenizer": kinds(self.document.pre_tokenizer, "pretokenizers"),
            "split_patterns": [expression_of(step["pattern"]) for step in cuts if step["type"] == "Split"],
            **self._preparation.compiled.ways,
            "special_tokens": {token.content: token.id for token in tokens if token.special},
            "added_tokens": {token.content: token.id for token in tokens if not token.special},
            "match_special": self.match_special,
            "word_cache_bytes": self.cache,
        }

    @cached_property
    def _decoder(self) -> DocumentDecoder:
        joiner = self._joiner
        written = {} if joiner else self._written
        return DocumentDecoder(self.document.decoder, written, self.vocab_size, name=self.name, joiner=joiner)
