"""kitoken: BPE, Unigram and WordPiece in Rust from a `tokenizer.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenBatch
from tokbench_extras.json_files import Told, ToldTokenizer, json_family, opened, path_of
from tokbench_extras.libraries import matches_special, need

if TYPE_CHECKING:
    import kitoken


class KitokenTokenizer(ToldTokenizer):
    """A tokenizer of kitoken's."""

    library = "kitoken"

    def __init__(self, tokenizer: kitoken.Kitoken, told: Told, *, name: str, match: bool) -> None:
        super().__init__(tokenizer, told, name=name)
        self._match = match

    def _one(self, text: str) -> Any:
        return self.tokenizer.encode_all([text], self._match)[0]

    def _many(self, texts: list[str]) -> TokenBatch:
        return TokenBatch.of_lists(self.tokenizer.encode_all(texts, self._match))

    def _decoded(self, ids: list[int]) -> Any:
        return self.tokenizer.decode(ids, True)


def load(spec: Spec, context: LoadContext) -> KitokenTokenizer:
    """Load a `tokenizer.json`."""
    path_of(spec)  # a spec without one is told before what is not installed
    library = need("kitoken", extra="kitoken")

    def of_text(text: str) -> Any:
        return library.Kitoken.from_tokenizers(text.encode())

    tokenizer, told = opened(spec, "kitoken", of_text, keep_unknown=True)
    return KitokenTokenizer(tokenizer, told, name=str(spec), match=matches_special(spec))


KITOKEN = json_family("kitoken", "BPE, Unigram and WordPiece in Rust", load)
