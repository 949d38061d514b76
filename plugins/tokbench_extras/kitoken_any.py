"""kitoken: BPE, Unigram and WordPiece in Rust from a `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenBatch, TokenizerError, TokenizerFamily
from tokbench.arguments import known_ids, plain_text, plain_texts, refused
from tokbench_extras.json_files import Told, files, opened, path_of
from tokbench_extras.libraries import SPECIAL, first_line, matches_special, need

if TYPE_CHECKING:
    import kitoken


class KitokenTokenizer:
    """A tokenizer of kitoken's."""

    unk_id = None

    def __init__(self, tokenizer: kitoken.Kitoken, told: Told, *, name: str, match: bool) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.vocab_size = told.vocab_size
        self.special_ids = frozenset(told.special_tokens.values())
        self._told = told
        self._match = match

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        ids: list[int] = self._encoded([plain_text(text, name=self.name)])[0]
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        return TokenBatch.of_lists(self._encoded(plain_texts(texts, name=self.name)))

    def _encoded(self, texts: Sequence[str]) -> list[list[int]]:
        try:
            found: list[list[int]] = self.tokenizer.encode_all(list(texts), self._match)
        except (TypeError, UnicodeEncodeError, ValueError) as error:
            raise refused(self.name, "kitoken", texts, error) from error
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; bytes that are not UTF-8 become U+FFFD."""
        try:
            data: bytes = self.tokenizer.decode(known_ids(ids, self.vocab_size, name=self.name), True)
        except ValueError as error:  # an id without a token
            raise TokenizerError(f"{self.name}: {first_line(error)}") from error
        return data.decode("utf-8", "replace")

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
