"""A tokenizer class of `transformers` as a tokbench tokenizer, used without a `tokenizer.json` or on request.

It has the ids of ``AutoTokenizer``, which are not always those that the model was trained with: `tokbench diff`
against the `tokenizer.json` shows any difference.
"""

from __future__ import annotations

import copy
import os
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import FormatError, TokenBatch
from tokbench.arguments import known_id, known_ids, plain_text, plain_texts, refused
from tokbench.capabilities import SpansFromEncoding
from tokbench_transformers.fast import FastTokenizer

if TYPE_CHECKING:
    import numpy as np
    import transformers
    from numpy.typing import NDArray


class AutoTokenizer:
    """Whatever class `transformers` picks; content only, nothing padded, nothing cut."""

    def __init__(
        self, tokenizer: transformers.PreTrainedTokenizerBase, *, name: str, special: str = "text"
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.special = special
        self.vocab_size = max(tokenizer.get_vocab().values(), default=-1) + 1
        self.special_ids = frozenset(tokenizer.all_special_ids)
        self.unk_id: int | None = tokenizer.unk_token_id
        self._options = {
            "add_special_tokens": False,
            "padding": False,
            "truncation": False,
            "split_special_tokens": special == "text",
            "return_attention_mask": False,
            "return_token_type_ids": False,
            "verbose": False,
        }

    lossless = False  # unknown, so not claimed

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        return self._ids(plain_text(text, name=self.name))  # type: ignore[no-any-return]

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text, by the library's batch call."""
        texts = plain_texts(texts, name=self.name)
        return TokenBatch.of_lists(self._ids(texts) if texts else [])

    def _ids(self, texts: str | list[str]) -> Any:
        return self._asked(self.tokenizer, texts)["input_ids"]

    def _asked(self, tokenizer: Any, texts: str | list[str], **more: Any) -> Any:
        """The result of calling a class of the library."""
        try:
            return tokenizer(texts, **self._options, **more)
        except (TypeError, UnicodeEncodeError, RuntimeError, ValueError) as error:
            given = [texts] if isinstance(texts, str) else texts
            raise refused(self.name, "transformers", given, error) from error

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, with no tidying of spaces."""
        known = known_ids(ids, self.vocab_size, name=self.name)
        text: str = self.tokenizer.decode(known, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return text

    @cached_property
    def _fast(self) -> FastTokenizer | None:
        """A copy of the `tokenizers` object inside, if there is one, which gives the bytes of pieces."""
        inside = getattr(self.tokenizer, "backend_tokenizer", None)
        if inside is None:
            return None
        return FastTokenizer(type(inside).from_str(inside.to_str()), name=self.name, special=self.special)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a piece, or the UTF-8 of the piece decoded alone if nothing else gives its bytes."""
        token_id = known_id(token_id, self.vocab_size, name=self.name)
        if token_id in self.special_ids:
            return b""
        if self._fast is not None:
            return self._fast.token_bytes(token_id)
        return self.decode([token_id]).encode("utf-8", "surrogatepass")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the folder that ``save_pretrained`` makes; raises `FormatError` for the name of a file."""
        if Path(path).suffix:
            raise FormatError(f"{self.name} is written as a folder alone, not as {Path(path).name!r}")
        self.tokenizer.save_pretrained(Path(path))

    def facts(self) -> Mapping[str, Any]:
        """A description of the tokenizer."""
        facts = dict(self._fast.facts()) if self._fast is not None else {"algorithm": None}
        known = dict(zip(self.tokenizer.all_special_tokens, self.tokenizer.all_special_ids, strict=True))
        return facts | {"class": type(self.tokenizer).__name__, "special_tokens": known}


class PlacedAutoTokenizer(SpansFromEncoding, AutoTokenizer):
    """An `AutoTokenizer` whose class is based on `tokenizers`, which returns token offsets."""

    @cached_property
    def _placing(self) -> Any:
        """A copy without a post-processor, which would trim spans of their spaces."""
        placing = copy.deepcopy(self.tokenizer)
        placing.backend_tokenizer.post_processor = None
        return placing

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text and the span of each before normalisation, by one call of the class."""
        import numpy as np

        texts = plain_texts(texts, name=self.name)
        if not texts:
            return TokenBatch.of_lists([]), np.empty((0, 2), np.int64)
        found = self._asked(self._placing, texts, return_offsets_mapping=True)
        spans = array("q", chain.from_iterable(chain.from_iterable(found["offset_mapping"])))
        return TokenBatch.of_lists(found["input_ids"]), np.frombuffer(spans, np.int64).reshape(-1, 2)
