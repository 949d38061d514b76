"""A sentencepiece processor as a tokbench tokenizer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import FormatError, TokenBatch, TokenizerError
from tokbench.arguments import check_generator, check_ids, known_id, known_ids, plain_text, plain_texts, refused
from tokbench.batch import batched
from tokbench.capabilities import SpansFromEncoding
from tokbench.kernels.copies import Rebuilt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPACE = "▁"
ALL_SEGMENTATIONS = -1  # of sampling: from the whole lattice
# The text length in characters below which lists of ids are faster than arrays, each of which costs a
# microsecond. Measured on pieces of PUD sentences of 12 to 200 characters.
SHORT = 64


class SentencePieceTokenizer(SpansFromEncoding, Rebuilt):
    """A sentencepiece model; no BOS, no EOS, no sampling unless asked.

    As in the library, control symbols never match in text, and user-defined symbols always do. `trainer` and
    `normalizer` are the model's own messages with its settings.
    """

    def __init__(self, model: bytes, *, name: str, threads: int = 1) -> None:
        import sentencepiece
        from google.protobuf.message import DecodeError
        from sentencepiece import sentencepiece_model_pb2

        self.name, self.model, self.threads = name, model, threads
        try:
            message = sentencepiece_model_pb2.ModelProto.FromString(model)
            self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (DecodeError, RuntimeError, OSError) as error:
            raise TokenizerError(f"{name}: not a sentencepiece model: {error}") from error
        message.ClearField("pieces")
        self.trainer, self.normalizer = message.trainer_spec, message.normalizer_spec
        self.model_type: str = self.trainer.ModelType.Name(self.trainer.model_type).lower()
        self._denormalizes = bool(message.denormalizer_spec.precompiled_charsmap)
        self.vocab_size: int = self.processor.GetPieceSize()

    lossless = False  # at least U+2581, the mark that stands for a space, comes back as one

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Control symbols and UNK."""
        processor = self.processor
        return frozenset(
            index
            for index in range(self.vocab_size)
            if processor.IsControl(index) or processor.IsUnknown(index)
        )

    @property
    def unk_id(self) -> int | None:
        """The id of UNK; a run of unknown characters becomes one UNK token."""
        index: int = self.processor.unk_id()
        return None if index < 0 else index

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        plain_text(text, name=self.name)
        try:
            ids: list[int] = self.processor.EncodeAsIds(text)
        except (RuntimeError, TypeError) as error:
            raise refused(self.name, "sentencepiece", [text], error) from error
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text, by the library's own batch calls and threads: lists where texts are short."""
        import numpy as np

        texts = plain_texts(texts, name=self.name)
        if not texts:
            return TokenBatch.of([])
        short = sum(map(len, texts)) < SHORT * len(texts)
        encode = self.processor.EncodeAsIds if short else self.processor.EncodeAsNumpy
        try:
            found = encode(texts, num_threads=self.threads)
        except (RuntimeError, TypeError) as error:
            raise refused(self.name, "sentencepiece", texts, error) from error
        if short:
            return TokenBatch.of_lists(found)
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, found), np.int64, len(found)), out=offsets[1:])
        return TokenBatch(np.frombuffer(b"".join(found), np.int32), offsets)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, control symbols left out."""
        text: str = self.processor.Decode(known_ids(ids, self.vocab_size, name=self.name))
        return text

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, by the library's own batch call and threads."""
        batch = batched(batch, name=self.name)
        if not len(batch):
            return []
        check_ids(batch.ids, self.vocab_size, name=self.name)
        texts: list[str] = self.processor.Decode(batch.to_lists(), num_threads=self.threads)
        return texts

    @property
    def decode_drops_space(self) -> bool:
        """Whether decoding joins the bytes of tokens and drops the first space, which encoding has added."""
        prefixed = self.normalizer.add_dummy_prefix and not self.trainer.treat_whitespace_as_suffix
        return prefixed and self.normalizer.escape_whitespaces and not self._denormalizes

    def _piece(self, index: int) -> str:
        try:
            piece: str = self.processor.IdToPiece(index)
        except UnicodeDecodeError as error:
            raise TokenizerError(f"{self.name}: piece {index} is not UTF-8: the model is damaged") from error
        return piece

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a piece, its ``▁`` as a space; nothing for control symbols and UNK."""
        token_id = known_id(token_id, self.vocab_size, name=self.name)
        if token_id in self.special_ids:
            return b""
        piece = self._piece(token_id)
        if piece.startswith("<0x") and self.processor.IsByte(token_id):
            return bytes([int(piece[3:5], 16)])
        return piece.replace(SPACE, " ").encode() if self.normalizer.escape_whitespaces else piece.encode()

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text and the span of each, by one call of the library.

        Spans are in the text before normalisation; the dummy prefix has an empty one.
        """
        import numpy as np

        from tokbench_sentencepiece.spans import read_spans

        texts = plain_texts(texts, name=self.name)
        if not texts:
            return TokenBatch.of([]), np.zeros((0, 2), np.int64)
        try:
            messages = self.processor.Encode(texts, return_type="serialized_proto", num_threads=self.threads)
        except (RuntimeError, TypeError) as error:
            raise refused(self.name, "sentencepiece", texts, error) from error
        ids, spans, limits = read_spans(messages)
        encoded = [text.encode() for text in texts]
        data = np.frombuffer(b"".join(encoded), np.uint8)
        characters = np.append(0, np.cumsum((data & 0xC0) != 0x80))  # that begin before each byte
        first = np.append(0, np.cumsum([len(text) for text in encoded]))[:-1]
        first = np.repeat(first, np.diff(limits))[:, None]
        spans = characters[spans + first] - characters[first]
        self._share_characters(ids, spans, limits)
        return TokenBatch(ids.astype(np.int32), limits), spans

    def _share_characters(
        self, ids: NDArray[np.int64], spans: NDArray[np.int64], limits: NDArray[np.int64]
    ) -> None:
        """Give each byte token the span of its character: the library gives it only to the last byte."""
        import numpy as np

        if not self.trainer.byte_fallback:
            return
        empty = spans[:, 0] == spans[:, 1]
        empty[limits[1:][limits[1:] > 0] - 1] = False  # nothing follows in the same text
        for index in reversed(np.flatnonzero(empty).tolist()):
            both = [int(ids[index]), int(ids[index + 1])]
            # a byte that begins a character is of another that the one before became
            if all(map(self.processor.IsByte, both)) and self.token_bytes(both[1])[0] & 0xC0 == 0x80:
                spans[index] = spans[index + 1]

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> Sequence[int]:
        """One segmentation at random: by `alpha` over the lattice (unigram), or BPE-dropout at that rate."""
        import sentencepiece

        check_generator(rng, name=self.name)
        sentencepiece.SetRandomGeneratorSeed(int(rng.integers(2**31)))
        ids: list[int] = self.processor.EncodeAsIds(
            text, enable_sampling=True, nbest_size=ALL_SEGMENTATIONS, alpha=alpha
        )
        return ids

    def nbest(self, text: str, n: int) -> list[list[int]]:
        """The `n` best segmentations, best first; unigram models only."""
        if self.model_type != "unigram":
            raise TokenizerError(f"{self.name}: n-best needs a unigram model, this is {self.model_type}")
        best: list[list[int]] = self.processor.NBestEncodeAsIds(text, nbest_size=n)
        return best

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the `.model` file; raises `FormatError` for a path that names another format."""
        if Path(path).suffix != ".model":
            raise FormatError(f"{self.name} is written as FILE.model alone, not as {Path(path).name!r}")
        Path(path).write_bytes(self.model)

    def facts(self) -> Mapping[str, Any]:
        """The model's own description."""
        trainer, normalizer = self.trainer, self.normalizer
        pieces = {index: self._piece(index) for index in self.special_ids}
        rules, mapped = str(normalizer.name), bool(normalizer.precompiled_charsmap)  # bytes if it is not UTF-8
        losses = {
            f"text is normalised ({rules or 'custom rules'})": mapped,
            "runs of spaces become one": normalizer.remove_extra_whitespaces,
            "characters outside the vocabulary become UNK": not trainer.byte_fallback,
            "U+2581 comes back as a space": normalizer.escape_whitespaces,
        }
        return {
            "algorithm": self.model_type,
            "normalizer": rules or ("custom" if mapped else None),
            "pre_tokenizer": None,
            "byte_fallback": trainer.byte_fallback,
            "add_dummy_prefix": normalizer.add_dummy_prefix,
            "remove_extra_whitespaces": normalizer.remove_extra_whitespaces,
            "escape_whitespaces": normalizer.escape_whitespaces,
            "treat_whitespace_as_suffix": trainer.treat_whitespace_as_suffix,
            "special_tokens": {piece: index for index, piece in sorted(pieces.items())},
            "lossless": False,
            "why_not_lossless": "; ".join(loss for loss, holds in losses.items() if holds),
        }
