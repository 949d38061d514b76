"""`JsonUnigramTokenizer`: a `tokenizer.json` of the type Unigram, with ids as `tokenizers` gives them.

T5, ALBERT, XLM-R, mT5 and others have one.

Not the same as the `.model` it was made from: text is normalised otherwise (see `pipeline.precompiled`), words
are segmented one by one, sums are float64, and special tokens are ordinary vocabulary with their own scores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import check_generator, plain_text
from tokbench.batch import TokenBatch
from tokbench.capabilities import SpansFromEncoding, Step
from tokbench.errors import TokenizerError
from tokbench.kernels.copies import Rebuilt, cached_property, forget_made
from tokbench.kernels.text import utf8_of
from tokbench_subword.files import formats
from tokbench_subword.files.tokenizer_json import content_of, document_of, read_document, write_document
from tokbench_subword.pipeline.added_tokens import check_numbers
from tokbench_subword.pipeline.byte_alphabet import spelled, unspelled
from tokbench_subword.pipeline.decoders import decoder_of, joins_bytes, replacements_of
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.document_tokenizer import DocumentTokenizer
from tokbench_subword.pipeline.origins import located
from tokbench_subword.pipeline.pre_tokenizers import keeps_text
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.pipeline.segments import TEXT, Segments
from tokbench_subword.pipeline.splicing import replaced
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.json_vocabulary import JsonVocabulary
from tokbench_subword.unigram.path_tokens import ids_of_paths, tokens_of_path
from tokbench_subword.unigram.searching import DOUBLE
from tokbench_subword.unigram.tracing import word_steps
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.prepared import PreparedEncoder, PreparedTokenizer


class JsonUnigramTokenizer(PreparedTokenizer, SpansFromEncoding, DocumentTokenizer, Rebuilt):
    """A Unigram `tokenizer.json`, with ids equal to those of `tokenizers`.

    Encoding is content only: no template. The text of special tokens is ordinary text unless `match_special`;
    other added tokens are always matched.

    Example:
        >>> vocab = [["<unk>", 0.0], ["ab", -1.0], ["a", -2.0]]
        >>> content = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}
        >>> tokenizer = JsonUnigramTokenizer.from_dict(content)
        >>> tokenizer("abax"), tokenizer.tokenize("aab")
        ([1, 2, 0], ['a', 'ab'])
    """

    def __init__(
        self,
        document: TokenizerJson,
        *,
        name: str,
        threads: int = 1,
        cache: int = CACHE_BYTES,
        match_special: bool = False,
    ):
        self.name = name
        self.threads = threads
        self.cache = cache
        self._match_special = match_special
        self._surround(document)

    def _surround(self, document: TokenizerJson) -> None:
        forget_made(self)
        self.document = document
        self._vocabulary = vocabulary = JsonVocabulary.of(document.model, where=self.name)
        self.unk_id = vocabulary.unk_id
        added = document.added_tokens
        check_numbers(added, vocabulary.ids, len(vocabulary.pieces), where=self.name)
        self._names = dict(enumerate(vocabulary.pieces)) | {token.id: token.content for token in added}
        self._algorithm = vocabulary.algorithm(where=self.name)
        try:
            self._preparation = Preparation(document=document, match_special=self.match_special)
            decoder_of(document.decoder)
        except TokenizerError as error:
            raise TokenizerError(f"{self.name}: {error}") from error
        self._written = self._names | self._preparation.written
        compiled, unknown = self._preparation.compiled, vocabulary.unknown.encode()
        options: dict[str, Any] = {"unknown": unknown, "threads": self.threads, "cache": self.cache}
        self._words = PathEncoder(DOUBLE, self._algorithm.tables, compiled.cutters, **options)
        self._prepared = PreparedEncoder(compiled, self._words)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> JsonUnigramTokenizer:
        """The tokenizer of a file; raises `TokenizerError` naming what is wrong or not known."""
        return cls(read_document(path), **{"name": os.fspath(path), **options})

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, name: str = "unigram") -> JsonUnigramTokenizer:
        """The tokenizer of a `tokenizer.json`'s content."""
        return cls(document_of(content, where=name), name=name)

    # --- text to ids ------------------------------------------------------------------------------------

    def _prepared_encoder(self) -> PreparedEncoder | None:
        return None if self.unk_id is None else self._prepared  # an unknown character is an error

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        return self._known(super().encode_batch(texts))

    def encode_utf8(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> TokenBatch:
        """The ids of documents stored end to end in `data`, followed by `PADDING` readable bytes."""
        return self._known(self._prepared.encode_utf8(data, offsets))

    def _known(self, batch: TokenBatch) -> TokenBatch:
        """Return `batch`; raises `TokenizerError` if a character has no piece and there is no unknown token."""
        if self.unk_id is None and batch.ids.min(initial=0) < 0:
            raise TokenizerError(
                f"{self.name}: a character is not in the vocabulary, and there is no unknown token (as in "
                "`tokenizers`, byte fallback needs one too); name one with unk_id in the file"
            )
        return batch

    def fewest_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The fewest tokens possible for each text, if all bytes are pieces and all pieces score the same.

        Then the best path is the shortest one (PathPiece). Raises `TokenizerError` for any other model.
        """
        if not self.lossless or len(np.unique(self._algorithm.scores)) > 1:
            raise TokenizerError(f"{self.name}: only of byte-level pieces that all score the same")
        return self.encode_batch(texts).lengths()

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text and the spans of all tokens, by one pass over them."""
        found = located(self._preparation.compiled, texts)
        batch, places = self._words.locate(found.data, found.offsets)
        spans, _ = found.spans(places, batch.offsets, self._plain_offsets)
        batch = found.woven(batch)
        if left := found.left:
            others = self.encode_batch([texts[index] for index in left])
            batch = TokenBatch(*replaced(batch.ids, batch.offsets, left, list(others)))
        return self._known(batch), spans

    def _plain_offsets(self, text: str) -> NDArray[np.int64]:
        """The spans of the tokens of one text, by the plain form, which handles any rules word by word."""
        return self._preparation.spans(text, self._words.locate_words)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """One segmentation of each word, drawn with probability proportional to ``P ** alpha`` (Kudo 2018)."""
        if not 0.0 <= alpha < math.inf:
            raise TokenizerError(f"{self.name}: alpha must be a number from 0 up, not {alpha}")
        check_generator(rng, name=self.name)
        compiled = self._preparation.compiled
        words = compiled.segments(Segments(*utf8_of([text]))).cut(compiled.cutters)
        assert words.marks is not None
        data = words.data[: words.offsets[-1]].tobytes()
        rows = self._algorithm.sample_rows(data, rng, alpha, words.offsets)
        ends = np.searchsorted(rows[:, 0], words.offsets[1:]).tolist()
        drawn = zip(words.marks.tolist(), ids_of_paths(self._algorithm, data, rows, ends), strict=True)
        ids = [index for mark, word in drawn for index in (word if mark == TEXT else [mark])]
        return self._known(TokenBatch.of([ids])).ids.tolist()

    def trace(self, text: str) -> Iterator[Step]:
        """The steps of encoding, word by word: the lattice with its scores, and the best path."""
        done: list[bytes] = []
        for part in self._preparation.words(plain_text(text, name=self.name)):
            if part.token is not None:
                done.append(part.token.content.encode())
                yield Step("added", tuple(done), len(done) - 1, f"added token {part.token.content}")
                continue
            data, algorithm = part.stretch.text.encode(), self._algorithm
            yield from word_steps(algorithm, data, done, self._names)
            done += [token.text for token in tokens_of_path(algorithm, data, algorithm.path(data))]

    # --- ids to text ------------------------------------------------------------------------------------

    @property
    def decode_joins_bytes(self) -> bool:
        """Whether decoding only joins the bytes of tokens: each is decoded by itself, and none stripped."""

        def alone(step: Mapping[str, Any]) -> bool:
            if step.get("type") == "Metaspace":
                return str(step.get("prepend_scheme")) == "never"
            pattern = step.get("pattern")
            text = pattern.get("String", "") if isinstance(pattern, Mapping) else ""
            return step.get("type") == "Fuse" or (step.get("type") == "Replace" and len(text) == 1)

        known = self.unk_id is None or self.unk_id in self.special_ids
        if self._of_bytes:
            return known
        steps = steps_of(self.document.decoder, "decoders")
        return known and self.document.decoder is not None and all(map(alone, steps))

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token, its ``▁`` as a space; nothing for special tokens and the unknown one."""
        self.convert_id_to_token(token_id)
        if token_id in self.special_ids or token_id == self.unk_id:
            return b""
        if token_id in self._bytes:
            return bytes([self._bytes[token_id]])
        token = self._written[token_id]
        if self._of_bytes and (spelled_bytes := unspelled(token)) is not None:
            return spelled_bytes
        for old, new in replacements_of(self.document.decoder):
            token = token.replace(old, new)
        return token.encode()

    @cached_property
    def _of_bytes(self) -> bool:
        """Whether pieces are spelled in the byte alphabet, and decoding joins their bytes."""
        cuts = steps_of(self.document.pre_tokenizer, "pretokenizers")
        last = cuts[-1].get("type") if cuts else None
        return last == "ByteLevel" and joins_bytes(self.document.decoder)

    @cached_property
    def lossless(self) -> bool:
        """Whether decoding restores every text: all 256 bytes are pieces, and nothing is normalized."""
        return not self._losses

    @cached_property
    def _losses(self) -> list[str]:
        """Reasons why decoding may not restore a text; empty if it always does."""
        document, pieces = self.document, self._vocabulary.ids
        fallback = bool(len(self._algorithm.byte_ids))
        reasons = {
            "text is normalised": bool(steps_of(document.normalizer, "normalizers")),
            "pre-tokenization drops or adds text": not keeps_text(
                steps_of(document.pre_tokenizer, "pretokenizers")
            ),
            "characters outside the vocabulary become unknown": not self._of_bytes and not fallback,
            "not every byte has a token of its own": self._of_bytes
            and not all(spelled(bytes([byte])) in pieces for byte in range(256)),
            "the decoder does more than join bytes": not self._of_bytes,
            "added tokens strip the spaces beside them": any(
                token.lstrip or token.rstrip for token in document.added_tokens
            ),
        }
        return [reason for reason, holds in reasons.items() if holds]

    @cached_property
    def _bytes(self) -> dict[int, int]:
        return {index: byte for byte, index in enumerate(self._algorithm.byte_ids.tolist())}

    # --- the simple class API ---------------------------------------------------------------------------

    def convert_token_to_id(self, token: str) -> int:
        """The id of a piece or added token, else the unknown id; raises `TokenizerError` without one."""
        index = self._ids.get(token, self.unk_id)
        if index is None:
            raise TokenizerError(f"{self.name}: no piece {token!r}, and no unknown token")
        return index

    def to_dict(self) -> dict[str, Any]:
        """The content of the `tokenizer.json`, ready for JSON."""
        return content_of(self.document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `tokenizer.json`; raises `TokenizerError` if `path` does not end in ``.json``."""
        if Path(path).suffix in formats.UNIGRAM and Path(path).suffix != ".json":
            raise TokenizerError(
                f"{self.name} cannot be written as {Path(path).name!r}; a tokenizer.json can have rules that "
                "this format cannot express; name FILE.json"
            )
        formats.check_ending(self.name, Path(path), [".json"])
        write_document(self.document, path)

    def facts(self) -> Mapping[str, Any]:
        """A description of the tokenizer, ready for JSON."""
        return {
            "algorithm": "Unigram",
            **self._facts_around(),
            "byte_fallback": bool(len(self._algorithm.byte_ids)),
            "lossless": self.lossless,
            "why_not_lossless": "; ".join(self._losses) or None,
        }
