"""`BpeTokenizer`: a BPE model with its text preparation, as a tokenizer for tokbench with all capabilities."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import check_generator, plain_text, plain_texts
from tokbench.batch import TokenBatch
from tokbench.capabilities import Step
from tokbench.errors import TokenizerError
from tokbench.kernels.calls import travels_with
from tokbench.kernels.copies import Rebuilt, cached_property, forget_made
from tokbench.kernels.joining import list_decoder
from tokbench.kernels.unicode_classes import UNICODE_VERSION
from tokbench.kernels.utf8 import repaired
from tokbench_subword.bpe import pruning, saving, tracing
from tokbench_subword.bpe.dropout import sample_merges
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.offsets import BpeOffsets
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.token_table import TokenLookup
from tokbench_subword.bpe.tokenizer_json import document_of_model, model_of_document
from tokbench_subword.files.tokenizer_json import document_of, read_document
from tokbench_subword.pipeline.added_tokens import numbered
from tokbench_subword.pipeline.byte_alphabet import spelled
from tokbench_subword.pipeline.decoders import joins_bytes
from tokbench_subword.pipeline.decoding_kernel import TokenJoiner
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.pre_tokenizers import keeps_text
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.prepared import PreparedEncoder, PreparedTokenizer

if TYPE_CHECKING:
    from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer


class BpeTokenizer(PreparedTokenizer, TokenLookup, Rebuilt):
    """Encodes and decodes text with a `BpeModel` and a `document` (normalizer, pre-tokenizer, decoder …).

    `encode` returns int32 arrays. The text of special tokens is ordinary text unless `match_special`; other
    added tokens are always matched. A batch uses up to `threads` threads; `cache` is the size limit in bytes of
    each thread's word cache. If `literal` (for tiktoken's ranks), added tokens decode to their text. Otherwise
    an added token of letters of the byte alphabet alone decodes to those bytes, as in `tokenizers`.

    Example:
        >>> model = BpeModel(
        ...     vocabulary=(*(bytes([b]) for b in range(256)), b"ab"), merges=np.array([[97, 98, 256]]))
        >>> tokenizer = BpeTokenizer.of_model(model, name="tiny")
        >>> tokenizer.encode("cab").tolist(), tokenizer.decode([99, 256])
        ([99, 256], 'cab')
    """

    def __init__(
        self,
        model: BpeModel,
        document: TokenizerJson,
        *,
        name: str = "bpe",
        threads: int = 1,
        match_special: bool = False,
        cache: int = CACHE_BYTES,
        source: str = "",
        literal: bool = False,
    ) -> None:
        self.name = name
        self.literal = literal
        self.cache = cache
        self.model = model
        self.threads = threads
        self.source = source
        self._match_special = match_special
        self._surround(document)

    def _surround(self, document: TokenizerJson) -> None:
        forget_made(self)
        self.document = document
        self._preparation = BpePreparation.around(self.model, document, match_special=self.match_special)

    # --- construction -----------------------------------------------------------------------------

    @classmethod
    def of_model(cls, model: BpeModel, **options: Any) -> BpeTokenizer:
        """A tokenizer for a model without a document: trained, or read from ranks or merges."""
        return _kind(model, cls)(model, document_of_model(model), **options)

    @classmethod
    def of_document(cls, document: TokenizerJson, *, where: str, **options: Any) -> BpeTokenizer:
        """The tokenizer of a `tokenizer.json`; raises `TokenizerError` for invalid or unsupported content."""
        model = model_of_document(document, where=where)
        return _kind(model, cls)(model, document.with_model({}), source=where, **options)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> BpeTokenizer:
        """The tokenizer of a `tokenizer.json` file."""
        return cls.of_document(read_document(path), where=str(path), **options)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **options: Any) -> BpeTokenizer:
        """The tokenizer for the output of `to_dict`: the content of a `tokenizer.json`."""
        return cls.of_document(document_of(content, where="from_dict"), where="from_dict", **options)

    # --- encoding ---------------------------------------------------------------------------------

    @cached_property
    def _encoder(self) -> BpeEncoder:
        return self._preparation.encoder(self.model, threads=self.threads, cache=self.cache)

    @cached_property
    def _prepared(self) -> PreparedEncoder:  # type: ignore[override]
        return PreparedEncoder(self._preparation.compiled, self._encoder)

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of documents stored end to end in `data`, followed by `PADDING` readable bytes."""
        return self._prepared.encode_utf8(data, offsets)

    # --- decoding ---------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """The text of `ids`; invalid UTF-8 becomes U+FFFD. Raises `TokenizerError` for an unknown id."""
        self.__dict__["decode"] = self._decode_one
        return self._decode_one(ids)

    @cached_property
    def _decode_one(self) -> Callable[[Sequence[int] | NDArray[Any]], str]:
        function = self._decoder.text
        if self._joiner is not None:
            function = list_decoder(*self._joiner.rows, function)
        travels_with(function, self, "decode")
        return function

    @cached_property
    def _joiner(self) -> TokenJoiner | None:  # type: ignore[override]
        return TokenJoiner(self._decoded_bytes) if self.decode_joins_bytes else None

    # --- offsets, sampling, tracing ---------------------------------------------------------------

    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``, and `limits`: text i has rows ``limits[i]:limits[i + 1]``.

        Tokens that share a character each get its span; a token of inserted text has an empty span.
        """
        return self._offsets.batch(texts)

    @cached_property
    def _offsets(self) -> BpeOffsets:
        letters = self._preparation.spelling  # then the usual encoder may work on bytes instead of letters
        encoder = BpeEncoder(self.model, (), threads=self.threads) if letters else self._encoder
        return BpeOffsets(self.model, self._preparation, encoder)

    def sample(self, text: str, rng: np.random.Generator, alpha: float = 0.1) -> list[int]:
        """The ids of `text` with each merge left out with probability `alpha` (BPE-dropout).

        0 returns ``encode(text)``, 1 the first symbols. Source: Provilkov et al. 2020, "BPE-Dropout".
        """
        if not 0.0 <= alpha <= 1.0:
            raise TokenizerError(f"BPE-dropout leaves out a share of merges between 0 and 1, not {alpha}")
        if not alpha:
            return self._prepared.encode_to_list(text)
        check_generator(rng, name=self.name)
        ids: list[int] = []
        for part in self._preparation.parts(repaired(text)):
            if part.token is not None:
                ids.append(part.token.id)
                continue
            pieces = [piece.text for piece in self._preparation.pre_tokenizer(part.stretch)]
            ids += sample_merges(self.model, pieces, rng, alpha)
        return ids

    def with_dropout(self, dropout: float) -> BpeTokenizer:
        """The same tokenizer, whose `encode` leaves out merges with probability `dropout`, seeded with 0."""
        model = replace(self.model, dropout=dropout)
        return _kind(model, BpeTokenizer)(**{**self._made_of(), "model": model})

    def trace(self, text: str) -> Iterator[Step]:
        """The steps of ``encode(text)``: one `Step` per merge, with rank and pair."""
        return tracing.steps(self, plain_text(text, name=self.name))

    # --- the vocabulary ---------------------------------------------------------------------------

    @cached_property
    def lossless(self) -> bool:
        """Whether ``decode(encode(text)) == text`` for every text without surrogates."""
        return not self._losses

    @cached_property
    def _losses(self) -> list[str]:
        """Reasons why decoding may not restore a text; empty if it always does."""
        document = self.document
        matched = [one for one in document.added_tokens if self.match_special or not one.special]
        reasons = {
            "text is normalised": bool(steps_of(document.normalizer, "normalizers")),
            "pre-tokenization drops or adds text": not keeps_text(
                steps_of(document.pre_tokenizer, "pretokenizers")
            ),
            "not every byte has a token of its own": not self._has_bytes,
            "the decoder does more than join bytes": not joins_bytes(document.decoder),
            "added tokens strip the spaces beside them": any(token.lstrip or token.rstrip for token in matched),
        }
        found = [reason for reason, holds in reasons.items() if holds]
        if not found and any(self.decode([token.id]) != token.content for token in matched):
            found.append("an added token decodes to the bytes that its text spells")
        return found

    @property
    def _has_bytes(self) -> bool:
        """Whether every byte has a token: the byte itself, or its letter in the byte alphabet."""
        model = self.model
        if model.level == "byte":
            return bool((model.byte_ids >= 0).all())
        letters = (spelled(bytes([byte])).encode() for byte in range(256))
        affixes = model.continuing_prefix or model.end_of_word
        return self._preparation.spelling and not affixes and all(letter in model.ids for letter in letters)

    @cached_property
    def decode_joins_bytes(self) -> bool:
        """Whether `decode` only joins the bytes of tokens."""
        return self.model.level == "byte" and joins_bytes(self.document.decoder)

    def fewest_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The smallest number of tokens of the vocabulary that spell each text's pre-tokens."""
        return self._of_equal_scores.encode_batch(texts).lengths()

    @cached_property
    def _of_equal_scores(self) -> JsonUnigramTokenizer:
        """A Unigram model of the same tokens with equal scores: its best path is the shortest one."""
        from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

        if self.model.level != "byte" or (self.model.byte_ids < 0).any():
            raise TokenizerError(
                f"{self.name}: the fewest tokens are known only for byte-level BPE with all 256 bytes"
            )
        tokens = [spelled(token) for token, index in self.model.ids.items() if index not in self.special_ids]
        ids = {token: index for index, token in enumerate(tokens)}
        added = tuple(replace(token, id=index) for token, index in numbered(self.document.added_tokens, ids))
        model = {"type": "Unigram", "vocab": [[token, -1.0] for token in tokens]}
        document = replace(self.document, added_tokens=added).with_model(model)
        return JsonUnigramTokenizer(document, name=self.name, match_special=self.match_special)

    def pruned(self, counts: Sequence[int], vocab_size: int) -> tuple[BpeTokenizer, NDArray[np.int64]]:
        """The tokenizer pruned to `vocab_size` tokens, and the new id of each old one, -1 if removed."""
        model, document, new_ids = pruning.pruned(self.model, self.document, counts, vocab_size, name=self.name)
        return self.changed(model=model, document=document, source=""), new_ids

    # --- saving -----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The tokenizer as the content of a `tokenizer.json`, ready for JSON.

        Raises `TokenizerError` if `tokenizers` would return other ids (see `save`).
        """
        return saving.proved_content(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer: ranks, GGUF, `tokenizer.json`, or a folder of `vocab.json` and `merges.txt`.

        The path selects the format: ``.tiktoken``, ``.gguf``, ``.json``, or no suffix (a folder). Raises
        `TokenizerError` for any other suffix, and if the file would give other ids. `tokenizers` and
        `transformers` return the same ids with the `tokenizer.json`.
        """
        saving.save(self, path)

    @property
    def _encode_of_files(self) -> Callable[[str], Any]:
        """Encodes as a saved file does: without dropout and `match_special`, which no file stores."""
        return (self.changed(match_special=False) if self.match_special else self)._prepared.encode

    def unsaid_in(self, path: str | os.PathLike[str]) -> dict[str, str]:
        """The options needed to open the file `path`: for ranks, `pattern` and `special_tokens`; else none.

        Also empty if options cannot express them: a pattern outside Rust's dialect, or too many special tokens.
        """
        return saving.unsaid_in(Path(path), self.model)

    def facts(self) -> dict[str, Any]:
        """A description of the tokenizer, ready for JSON."""
        model, pattern = self.model, self._preparation.pattern
        return {
            "algorithm": "BPE",
            "level": model.level,
            **self._facts_around(),
            **({"pre_tokenizer": str(pattern)} if pattern else {}),
            "unicode_version": UNICODE_VERSION,
            "byte_fallback": model.byte_fallback,
            "merges": len(model.merges),
            "dropout": model.dropout,
            "lossless": self.lossless,
            "why_not_lossless": "; ".join(self._losses) or None,
            "library": "tokbench (in-house)",
        }

    def __repr__(self) -> str:
        size, merges = self.vocab_size, len(self.model.merges)
        return f"{type(self).__name__}({self.name!r}, vocab_size={size}, merges={merges})"


class DropoutTokenizer(BpeTokenizer):
    """A `BpeTokenizer` that leaves out merges at random: each call of `encode` and `trace` draws anew.

    It has no `offsets`, since they would belong to the tokens of another draw.
    """

    offsets = offsets_batch = None  # type: ignore[assignment]

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng(0)

    def _prepared_encoder(self) -> PreparedEncoder | None:
        return None

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        texts = plain_texts(texts, name=self.name)
        return TokenBatch.of(self.sample(text, self._random, self.model.dropout) for text in texts)

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """See `BpeTokenizer`."""
        whole = data.tobytes()
        return self.encode_batch([whole[start:end].decode() for start, end in pairwise(offsets.tolist())])

    def trace(self, text: str) -> Iterator[Step]:
        """The steps of one random encoding: one `Step` per merge, with rank and pair."""

        def drop() -> bool:
            return bool(self._random.random() < self.model.dropout)

        return tracing.steps(self, plain_text(text, name=self.name), drop=drop)


def _kind(model: BpeModel, usual: type[BpeTokenizer]) -> type[BpeTokenizer]:
    """The class for a tokenizer with this model: `DropoutTokenizer` if it has dropout, else `usual`."""
    return DropoutTokenizer if model.dropout else usual
