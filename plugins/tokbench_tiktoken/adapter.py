"""A tiktoken `Encoding` as a tokbench tokenizer."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokbench import TokenBatch, TokenizerError
from tokbench.arguments import known_id, known_ids, plain_text, plain_texts

if TYPE_CHECKING:
    import tiktoken

# The text length in characters from which threads pay: tiktoken releases the interpreter lock while it encodes,
# and on shorter texts acquiring it again costs more than a second thread gains. Measured on PUD sentences and
# on pieces of a novel of 200 to 50,000 characters.
LONG = 500
SLICES_PER_THREAD = 4


class TiktokenTokenizer:
    """A tiktoken encoding; the text of special tokens is ordinary text unless `special` says otherwise.

    `special`: ``text`` (``encode_ordinary``), ``match`` (``allowed_special="all"``), ``error`` (tiktoken's own
    default: raise on the text of a special token). Lone surrogates become U+FFFD, as in tiktoken.
    """

    lossless = True
    decode_joins_bytes = True
    unk_id = None

    def __init__(
        self, encoding: tiktoken.Encoding, *, name: str, special: str = "text", threads: int = 1
    ) -> None:
        self.name = name
        self.encoding = encoding
        self.vocab_size = encoding.max_token_value + 1
        self.special_ids = frozenset(encoding._special_tokens.values())
        self.special = special
        self._threads = threads
        self._encode: Callable[[str], list[int]] = {
            "text": encoding.encode_ordinary,
            "match": lambda text: encoding.encode(text, allowed_special="all"),
            "error": encoding.encode,
        }[special]
        # the special tokens that match; None if text must be checked for them, to raise
        self._allowed: set[str] | None = {"text": set(), "match": encoding.special_tokens_set, "error": None}[
            special
        ]

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        plain_text(text, name=self.name)
        try:
            return self._encode(text)
        except ValueError as error:
            said = str(error).splitlines()[0]
            raise TokenizerError(f"{self.name}: {said} (special={self.special})") from error
        except BaseException as error:
            self._tell_panic(error)
            raise

    def _tell_panic(self, error: BaseException) -> None:
        """Raise a Rust panic, which is not an `Exception`, as `TokenizerError`."""
        if type(error).__name__ == "PanicException":
            raise TokenizerError(f"{self.name}: tiktoken gave up (a panic in Rust: {error})") from error

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text, with threads if the texts are long enough for that to be faster.

        tiktoken's own batch call makes a task of each text; for sentences that costs far more than encoding.
        """
        texts = plain_texts(texts, name=self.name)
        if self._threads < 2 or len(texts) < 2 or sum(map(len, texts)) < LONG * len(texts):
            return _batch(map(self._ids, texts))
        size = -(-len(texts) // (self._threads * SLICES_PER_THREAD))
        slices = [texts[start : start + size] for start in range(0, len(texts), size)]
        with ThreadPoolExecutor(self._threads) as pool:
            encoded = pool.map(lambda part: list(map(self._ids, part)), slices)
            return _batch(ids for part in encoded for ids in part)

    def _ids(self, text: str) -> Any:
        """The ids of `text`, a buffer of uint32; made from a list if only the call for lists takes the text."""
        try:
            if self._allowed is None:
                return self.encoding.encode_to_numpy(text)
            return self.encoding._core_bpe.encode_to_tiktoken_buffer(text, self._allowed)
        except ValueError:  # lone surrogates, which only the calls for lists replace; special tokens
            return array("I", self.encode(text))
        except BaseException as error:
            self._tell_panic(error)
            raise

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; bytes that are not UTF-8 become U+FFFD."""
        known = known_ids(ids, self.vocab_size, name=self.name)
        try:
            return self.encoding.decode(known)
        except KeyError as error:
            gap = next(index for index in known if index not in self._bytes and index not in self.special_ids)
            raise TokenizerError(f"{self.name}: no token has the id {gap}") from error

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a token; empty for special tokens and for gaps in the numbering."""
        return self._bytes.get(known_id(token_id, self.vocab_size, name=self.name), b"")

    def token_bytes_batch(self, ids: Sequence[int]) -> list[bytes]:
        """The bytes of many tokens."""
        known = self._bytes
        return [known.get(token_id, b"") for token_id in known_ids(ids, self.vocab_size, name=self.name)]

    @cached_property
    def _bytes(self) -> Mapping[int, bytes]:
        """The bytes of every token that is not special; asking the library for each is several times slower."""
        ranks = self.encoding._mergeable_ranks
        return {rank: piece for piece, rank in ranks.items() if rank not in self.special_ids}

    def facts(self) -> Mapping[str, Any]:
        """A description of the encoding, for `tokbench show`."""
        ordinary = len(self.encoding._mergeable_ranks)
        return {
            "algorithm": "BPE",
            "normalizer": None,
            "pre_tokenizer": self.encoding._pat_str,
            "byte_level": True,
            "byte_fallback": False,
            "special_tokens": dict(self.encoding._special_tokens),
            "special_token_text": self.special,
            "unassigned_ids": self.vocab_size - ordinary - len(self.special_ids),
            "lossless": self.special != "error",
        }


def _batch(documents: Iterable[Any]) -> TokenBatch:
    """The batch of some documents, each a buffer of ids, uint32."""
    import numpy as np

    flat, ends = bytearray(), array("q", [0])
    for ids in documents:
        flat += ids
        ends.append(len(flat) // 4)
    return TokenBatch(np.frombuffer(flat, np.int32), np.frombuffer(ends, np.int64))
