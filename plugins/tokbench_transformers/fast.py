"""A `tokenizers.Tokenizer` as a tokbench tokenizer: content only, nothing padded, nothing cut."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import FormatError, TokenBatch, TokenizerError
from tokbench.arguments import check_ids, known_id, known_ids, plain_text, plain_texts, refused
from tokbench.batch import batched
from tokbench.capabilities import SpansFromEncoding
from tokbench.corpus import gathered
from tokbench.kernels.copies import Rebuilt
from tokbench_transformers.description import describe, losses, piece_decoder, steps, summary

if TYPE_CHECKING:
    import numpy as np
    import tokenizers
    from numpy.typing import NDArray

# An `Encoding` holds far more than ids (the text of each token, spans, masks). So many characters a call keep
# the memory of a batch within about a hundred megabytes; and where no threads share a call, so few that its
# encodings stay in the processor's cache. Measured on PUD sentences: 3 to 15 % less time than by thousands.
CHARACTERS_A_CALL = 1_000_000
CHARACTERS_ALONE = 4_000


def settle(threads: int) -> None:
    """Make `tokenizers` use `threads` threads, unless the user has set the environment variables.

    The process has one thread pool: it reads the variables when it first encodes a batch, and never again.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true" if threads > 1 else "false")
    if threads > 1:
        os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


def _parallel() -> bool:
    """Whether `tokenizers` spreads a batch over threads, as it reads the environment."""
    return os.environ.get("TOKENIZERS_PARALLELISM", "").lower() not in ("off", "false", "f", "no", "n", "0")


class FastTokenizer(SpansFromEncoding, Rebuilt):
    """A tokenizer of the `tokenizers` library.

    The text of special tokens is ordinary text unless ``special="match"``; added tokens that are not special
    always match, as in the library. Nothing is changed after construction, so threads may share it.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, *, name: str, special: str = "text") -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.post_processor = None  # templates, and spans trimmed of their spaces
        tokenizer.encode_special_tokens = special == "text"  # no copy of a `Tokenizer` keeps this
        self.name = name
        self.tokenizer = tokenizer
        self.special = special
        self.vocab_size = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """The `tokenizer.json` without vocabulary, merges and added tokens."""
        return describe(self.tokenizer)

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Added tokens marked special, and UNK."""
        added = self.tokenizer.get_added_tokens_decoder()
        unknown = frozenset[int]() if self.unk_id is None else frozenset({self.unk_id})
        return frozenset(index for index, token in added.items() if token.special) | unknown

    @cached_property
    def unk_id(self) -> int | None:
        """The id of UNK, where the model has one."""
        model = self.description["model"]
        if model.get("unk_id") is not None:
            return int(model["unk_id"])
        token = model.get("unk_token")
        found: int | None = self.tokenizer.token_to_id(token) if token else None
        return found

    @cached_property
    def lossless(self) -> bool:
        """Whether `losses` finds no reason why decode(encode(x)) may differ from x."""
        return not losses(self.description)

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        ids: list[int] = self._asked(self.tokenizer.encode, plain_text(text, name=self.name), [text]).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text, by the library call that computes the least besides ids."""
        texts = plain_texts(texts, name=self.name)
        encodings = self._encodings(texts, self.tokenizer.encode_batch_fast)
        return TokenBatch.of_lists(encoding.ids for encoding in encodings)

    def _encodings(self, texts: Sequence[str], encode: Callable[..., Any]) -> Iterator[Any]:
        for part in gathered(texts, len, CHARACTERS_A_CALL if _parallel() else CHARACTERS_ALONE):
            yield from self._asked(encode, part, texts)

    def _asked(self, encode: Callable[..., Any], given: str | list[str], texts: Sequence[str]) -> Any:
        """The library's result for a text or a part of `texts`; `TokenizerError` even for a panic in Rust."""
        try:
            return encode(given, add_special_tokens=False)
        except TypeError as error:
            raise refused(self.name, "tokenizers", texts, error) from error
        except BaseException as error:
            if type(error) is Exception:  # the library's own
                raise TokenizerError(f"{self.name}: tokenizers: {error}") from error
            if type(error).__name__ == "PanicException":
                raise TokenizerError(f"{self.name}: tokenizers gave up (a panic in Rust: {error})") from error
            raise

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens included."""
        known = known_ids(ids, self.vocab_size, name=self.name)
        text: str = self.tokenizer.decode(known, skip_special_tokens=False)
        return text

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, special tokens included."""
        batch = batched(batch, name=self.name)
        check_ids(batch.ids, self.vocab_size, name=self.name)
        texts: list[str] = self.tokenizer.decode_batch(batch.to_lists(), skip_special_tokens=False)
        return texts

    @cached_property
    def decode_joins_bytes(self) -> bool:
        """Whether its only decoder is ByteLevel, which joins the bytes and reads them as UTF-8."""
        return [step["type"] for step in steps(self.description.get("decoder"))] == ["ByteLevel"]

    @cached_property
    def decode_drops_space(self) -> bool:
        """Whether its decoder joins the bytes and strips one space: as sentencepiece models are described."""
        found = list(steps(self.description.get("decoder")))
        kinds = [step["type"] for step in found]
        if kinds == ["Metaspace"]:  # takes every space out of the first token, so that no token may have two
            mark, pieces = found[0].get("replacement", "▁"), self.tokenizer.get_vocab(with_added_tokens=True)
            return found[0].get("prepend_scheme") != "never" and not any(mark in piece[1:] for piece in pieces)
        if kinds != ["Replace", "ByteFallback", "Fuse", "Strip"]:
            return False
        spaces, strip = found[0], found[-1]
        return spaces["content"] == strip["content"] == " " and (strip["start"], strip["stop"]) == (1, 0)

    @cached_property
    def _bytes_of(self) -> Any:
        model = self.description["model"]
        return piece_decoder(
            self.description.get("decoder"),
            continuing=model.get("continuing_subword_prefix") or "",
            end=model.get("end_of_word_suffix") or "",
        )

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a piece as its decoder reads it; nothing for special tokens and gaps."""
        piece = self.tokenizer.id_to_token(known_id(token_id, self.vocab_size, name=self.name))
        if piece is None or token_id in self.special_ids:
            return b""
        decoded: bytes = self._bytes_of(piece)
        return decoded

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text and the span of each, by the batch call of the library that keeps spans.

        Spans are in the text before normalisation. `offsets` of a model with dropout are of tokens drawn anew.
        """
        import numpy as np

        texts, spans = plain_texts(texts, name=self.name), array("q")

        def ids() -> Iterator[list[int]]:
            for encoding in self._encodings(texts, self.tokenizer.encode_batch):
                spans.extend(chain.from_iterable(encoding.offsets))
                yield encoding.ids

        tokens = TokenBatch.of_lists(ids())
        return tokens, np.frombuffer(spans, np.int64).reshape(-1, 2)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `tokenizer.json`; raises `FormatError` for a path that names another format."""
        target = Path(path)
        if target.suffix != ".json" or "tekken" in target.name:
            raise FormatError(f"{self.name} is written as FILE.json alone, not as {target.name!r}")
        target.write_text(self.tokenizer.to_str(), encoding="utf-8")

    def facts(self) -> Mapping[str, Any]:
        """A description of the tokenizer, from its `tokenizer.json`."""
        model, reasons = self.description["model"], losses(self.description)
        added = sorted(self.tokenizer.get_added_tokens_decoder().items())
        special = {token.content: index for index, token in added if token.special}
        matched = [text for text, index in special.items() if index in self.encode(text)]
        return {
            "algorithm": model.get("type", "BPE"),
            "normalizer": summary(self.description.get("normalizer")),
            "pre_tokenizer": summary(self.description.get("pre_tokenizer")),
            "decoder": summary(self.description.get("decoder")),
            "byte_fallback": bool(model.get("byte_fallback")),
            "special_tokens": special,
            "added_tokens": {token.content: index for index, token in added if not token.special},
            "special_token_text": self.special,
            "special_tokens_the_model_itself_matches": matched if self.special == "text" else [],
            "lossless": not reasons,
            "why_not_lossless": "; ".join(reasons) or None,
        }
