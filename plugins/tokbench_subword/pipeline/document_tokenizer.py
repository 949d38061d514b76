"""What tokenizers have in common whose text is prepared and decoded as a `tokenizer.json` says."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokbench.batch import batched
from tokbench.kernels.copies import cached_property
from tokbench.kernels.utf8 import repaired
from tokbench_subword.pipeline.added_tokens import new_tokens
from tokbench_subword.pipeline.decoding_kernel import TokenJoiner
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.document_decoding import DocumentDecoder
from tokbench_subword.pipeline.preparation import Preparation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.batch import TokenBatch


class DocumentTokenizer(ABC):
    """A tokenizer by its `document`; `_written` is each token by its id, as decoding starts from it, and `_ids`
    the id of each as the vocabulary writes it.
    """

    name: str
    vocab_size: int
    match_special: bool
    document: TokenizerJson
    _written: Mapping[int, str]
    _ids: Mapping[str, int]
    _preparation: Preparation
    _joiner: TokenJoiner | None = None
    """What joins the bytes of tokens, where decoding does no more than that."""

    @abstractmethod
    def __call__(self, text: str) -> list[int]:
        """The ids of `text`, as a list."""

    @abstractmethod
    def convert_id_to_token(self, token_id: int) -> str:
        """The token of an id."""

    @abstractmethod
    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has those from ``limits[i]`` to ``limits[i + 1]``."""

    @abstractmethod
    def _surround(self, document: TokenizerJson) -> None:
        """Put another document around the model; what was made of the one before is forgotten."""

    def add_tokens(self, tokens: str | Iterable[str], *, special: bool = False) -> list[int]:
        """Add tokens that are matched as a whole before the model sees the text; returns their new ids.

        Those that are `special` are so only by a tokenizer that matches special tokens. Raises `TokenizerError`
        where one is in the vocabulary already.
        """
        new = new_tokens(tokens, self._ids, self.vocab_size, special=special)
        self._surround(replace(self.document, added_tokens=(*self.document.added_tokens, *new)))
        return [token.id for token in new]

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
        """What `text` has become after added tokens, normalizer and pre-tokenizer."""
        return self._as_told.stages(text)

    @cached_property
    def _as_told(self) -> Preparation:
        """What the document says, whatever the model needs; words are not spelled in the byte alphabet."""
        return Preparation(document=self.document, match_special=self.match_special, spelling=False)

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """The text of `ids`, as `tokenizers` decodes it: special tokens are written out.

        An id that the vocabulary leaves out adds nothing.
        """
        return self._decoder.text(ids)

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, as `decode` gives it."""
        return self._decoder.texts(batched(batch, name=self.name))

    @cached_property
    def _decoder(self) -> DocumentDecoder:
        joiner = self._joiner
        written = {} if joiner else self._written
        return DocumentDecoder(self.document.decoder, written, self.vocab_size, name=self.name, joiner=joiner)
