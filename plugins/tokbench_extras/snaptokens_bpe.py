"""snaptokens: byte-level BPE in Rust from a `tokenizer.json`, for a fair speed table.

The library always matches special tokens that it knows; unless ``special=match`` it is not told of them, so
that their text is ordinary text, as everywhere in tokbench.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenBatch, TokenizerFamily
from tokbench.arguments import known_ids, plain_texts, refused
from tokbench_extras.json_files import Told, files, opened, path_of
from tokbench_extras.libraries import SPECIAL, need

if TYPE_CHECKING:
    import snaptokens


class SnaptokensTokenizer:
    """A tokenizer of snaptokens'."""

    unk_id = None

    def __init__(self, tokenizer: snaptokens.Tokenizer, told: Told, *, name: str) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocab_size = told.vocab_size
        self.special_ids = frozenset(told.special_tokens.values())
        self._told = told

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        ids: list[int] = self.encode_batch([text]).ids.tolist()
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text: the library's packed ids as they are, nothing copied."""
        import numpy as np

        texts = plain_texts(texts, name=self.name)
        try:
            ids, offsets = self.tokenizer.encode_batch_flat(texts)
        except (TypeError, UnicodeEncodeError) as error:
            raise refused(self.name, "snaptokens", texts, error) from error
        return TokenBatch(np.frombuffer(ids, np.int32), np.frombuffer(offsets, np.int64))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; bytes that are not UTF-8 become U+FFFD."""
        text: str = self.tokenizer.decode(known_ids(ids, self.vocab_size, name=self.name))
        return text

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {"algorithm": "BPE", **self._told.facts()}


def load(spec: Spec, context: LoadContext) -> SnaptokensTokenizer:
    """Load a `tokenizer.json` of byte-level BPE."""
    path_of(spec)  # a spec without one is told before what is not installed
    library = need("snaptokens", extra="snaptokens")
    tokenizer, told = opened(spec, "snaptokens", library.Tokenizer.from_json_str)
    return SnaptokensTokenizer(tokenizer, told, name=str(spec))


SNAPTOKENS = TokenizerFamily(
    name="snaptokens",
    summary="Fast byte-level BPE in Rust from tokenizer.json files",
    load=load,
    files=files,
    options=(SPECIAL,),
    variant="a tokenizer.json, or the folder of one",
    libraries=("snaptokens",),
    examples=("snaptokens:path/to/tokenizer.json",),
)
