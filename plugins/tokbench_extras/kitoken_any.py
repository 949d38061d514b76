"""kitoken: BPE, Unigram and WordPiece in Rust from a `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenBatch, TokenizerFamily
from tokbench_extras.json_files import Told, files, opened, path_of
from tokbench_extras.libraries import SPECIAL, LibraryTokenizer, matches_special, need

if TYPE_CHECKING:
    import kitoken


class KitokenTokenizer(LibraryTokenizer):
    """A tokenizer of kitoken's."""

    library = "kitoken"

    def __init__(self, tokenizer: kitoken.Kitoken, told: Told, *, name: str, match: bool) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocab_size = told.vocab_size
        self.special_ids = frozenset(told.special_tokens.values())
        self._told = told
        self._match = match

    def _one(self, text: str) -> Any:
        return self.tokenizer.encode_all([text], self._match)[0]

    def _many(self, texts: list[str]) -> TokenBatch:
        return TokenBatch.of_lists(self.tokenizer.encode_all(texts, self._match))

    def _decoded(self, ids: list[int]) -> Any:
        return self.tokenizer.decode(ids, True)

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {"algorithm": self._told.content["model"].get("type"), **self._told.facts()}


def load(spec: Spec, context: LoadContext) -> KitokenTokenizer:
    """Load a `tokenizer.json`."""
    path_of(spec)  # a spec without one is told before what is not installed
    library = need("kitoken", extra="kitoken")

    def of_text(text: str) -> Any:
        return library.Kitoken.from_tokenizers(text.encode())

    tokenizer, told = opened(spec, "kitoken", of_text, keep_unknown=True)
    return KitokenTokenizer(tokenizer, told, name=str(spec), match=matches_special(spec))


KITOKEN = TokenizerFamily(
    name="kitoken",
    summary="BPE, Unigram and WordPiece in Rust from tokenizer.json files",
    load=load,
    files=files,
    options=(SPECIAL,),
    variant="a tokenizer.json, or the folder of one",
    libraries=("kitoken",),
    examples=("kitoken:path/to/tokenizer.json",),
)
