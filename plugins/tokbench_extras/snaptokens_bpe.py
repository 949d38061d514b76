"""snaptokens: byte-level BPE in Rust from a `tokenizer.json`, for a fair speed table.

The library always matches special tokens that it knows; unless ``special=match`` it is not told of them, so
that their text is ordinary text, as everywhere in tokbench.
"""

from __future__ import annotations

from typing import Any

from tokbench import LoadContext, Spec, TokenBatch
from tokbench_extras.json_files import ToldTokenizer, json_family, opened, path_of
from tokbench_extras.libraries import need


class SnaptokensTokenizer(ToldTokenizer):
    """A tokenizer of snaptokens'."""

    library = "snaptokens"

    def _one(self, text: str) -> Any:
        return self._many([text]).ids.tolist()

    def _many(self, texts: list[str]) -> TokenBatch:
        """The library's packed ids as they are, nothing copied."""
        import numpy as np

        ids, offsets = self.tokenizer.encode_batch_flat(texts)
        return TokenBatch(np.frombuffer(ids, np.int32), np.frombuffer(offsets, np.int64))

    def _decoded(self, ids: list[int]) -> Any:
        return self.tokenizer.decode(ids)


def load(spec: Spec, context: LoadContext) -> SnaptokensTokenizer:
    """Load a `tokenizer.json` of byte-level BPE."""
    path_of(spec)  # a spec without one is told before what is not installed
    library = need("snaptokens", extra="snaptokens")
    tokenizer, told = opened(spec, "snaptokens", library.Tokenizer.from_json_str)
    return SnaptokensTokenizer(tokenizer, told, name=str(spec))


SNAPTOKENS = json_family("snaptokens", "Fast byte-level BPE in Rust", load)
