"""kitoken and snaptokens: tokenizers in Rust from a `tokenizer.json`, for a fair speed table.

The libraries always match the special tokens they are given. Without ``special=match`` they get none, so their
text is ordinary text, as everywhere in tokbench. snaptokens supports only byte-level BPE.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from tokbench import LoadContext, Spec, TokenBatch, TokenizerFamily
from tokbench_extras.json_files import Told, opened, path_of
from tokbench_extras.libraries import SPECIAL, LibraryTokenizer, matches_special, need


class ToldTokenizer(LibraryTokenizer):
    """A library's tokenizer of a `tokenizer.json`; the text of special tokens is matched where `match`.

    In an adapter, `read` makes the library's tokenizer from the text of a file. With `keep_unknown`, the
    library always gets the unknown token, even if it is special.
    """

    keep_unknown = False
    read: ClassVar[Any]

    def __init__(self, tokenizer: Any, told: Told, *, name: str, match: bool) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocab_size = told.vocab_size
        self.special_ids = frozenset(told.special_tokens.values())
        self._told = told
        self._match = match

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        content = self._told.content
        return {
            "algorithm": content["model"].get("type") or "BPE",
            "normalizer": (content.get("normalizer") or {}).get("type"),
            "special_tokens": dict(self._told.special_tokens),
            "lossless": False,
            "why_not_lossless": "its file may normalise text",
        }


class KitokenTokenizer(ToldTokenizer):
    """A tokenizer of kitoken."""

    library = "kitoken"
    keep_unknown = True

    @staticmethod
    def read(library: Any, text: str) -> Any:
        """What the library makes of a file."""
        return library.Kitoken.from_tokenizers(text.encode())

    def _one(self, text: str) -> Any:
        return self.tokenizer.encode_all([text], self._match)[0]

    def _many(self, texts: list[str]) -> TokenBatch:
        return TokenBatch.of_lists(self.tokenizer.encode_all(texts, self._match))

    def _decoded(self, ids: list[int]) -> Any:
        return self.tokenizer.decode(ids, True)


class SnaptokensTokenizer(ToldTokenizer):
    """A tokenizer of snaptokens."""

    library = "snaptokens"

    @staticmethod
    def read(library: Any, text: str) -> Any:
        """What the library makes of a file."""
        return library.Tokenizer.from_json_str(text)

    def _one(self, text: str) -> Any:
        return self._many([text]).ids.tolist()

    def _many(self, texts: list[str]) -> TokenBatch:
        """The library's packed ids, without a copy."""
        import numpy as np

        ids, offsets = self.tokenizer.encode_batch_flat(texts)
        return TokenBatch(np.frombuffer(ids, np.int32), np.frombuffer(offsets, np.int64))

    def _decoded(self, ids: list[int]) -> Any:
        return self.tokenizer.decode(ids)


def load(kind: type[ToldTokenizer], spec: Spec, context: LoadContext) -> ToldTokenizer:
    """Load a `tokenizer.json` by the library of a kind."""
    path_of(spec)  # report a spec without a file before a missing library
    read = partial(kind.read, need(kind.library, extra=kind.library))
    tokenizer, told = opened(spec, kind.library, read, keep_unknown=kind.keep_unknown)
    return kind(tokenizer, told, name=str(spec), match=matches_special(spec))


KITOKEN, SNAPTOKENS = (
    TokenizerFamily(
        name=kind.library,
        summary=f"{what} from tokenizer.json files",
        load=partial(load, kind),
        files=lambda spec, context: [path_of(spec)],
        options=(SPECIAL,),
        variant="a tokenizer.json, or the folder of one",
        libraries=(kind.library,),
        examples=(f"{kind.library}:path/to/tokenizer.json",),
    )
    for kind, what in (
        (KitokenTokenizer, "BPE, Unigram and WordPiece in Rust"),
        (SnaptokensTokenizer, "Fast byte-level BPE in Rust"),
    )
)
