"""`SpmTokenizer`: a tokenizer from a sentencepiece model, Unigram or BPE."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.arguments import check_generator, known_id, plain_text, plain_texts
from tokbench.batch import TokenBatch, batched
from tokbench.capabilities import SpansFromEncoding, Step
from tokbench.errors import TokenizerError
from tokbench.kernels.copies import Rebuilt, forget_made
from tokbench_subword.files import formats
from tokbench_subword.files import sentencepiece_model as spm
from tokbench_subword.pipeline.added_tokens import new_tokens
from tokbench_subword.pipeline.origins import located
from tokbench_subword.sentencepiece.algorithms import algorithm_of, spans_of_path
from tokbench_subword.sentencepiece.json_export import save_json
from tokbench_subword.sentencepiece.served import save_gguf
from tokbench_subword.sentencepiece.tracing import steps
from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary
from tokbench_subword.unigram.path_tokens import ids_of_paths, tokens_of_path
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.prepared import PreparedEncoder, PreparedTokenizer


class SpmTokenizer(PreparedTokenizer, SpansFromEncoding, Rebuilt):
    """A sentencepiece model, with ids equal to sentencepiece's (0.2.3).

    `model_type` decides the algorithm. Encoding is content only: control symbols never match in text,
    user-defined symbols always do. Not lossless: at least U+2581 comes back as a space.

    Example:
        >>> from tokbench_subword.files.sentencepiece_model import UNKNOWN, Piece, SpmModel
        >>> pieces = (Piece("<unk>", 0.0, UNKNOWN), Piece("▁a", -1.0), Piece("▁", -3.0), Piece("b", -2.0))
        >>> tokenizer = SpmTokenizer("demo", SpmModel(pieces))
        >>> tokenizer("a  b"), tokenizer.decode([1, 2, 3]), tokenizer.tokenize("ab")
        ([1, 2, 3], 'a b', ['▁a', 'b'])
    """

    lossless = False

    def __init__(self, name: str, model: spm.SpmModel, *, threads: int = 1, cache: int = CACHE_BYTES) -> None:
        self.name, self.threads, self.cache = name, threads, cache
        self._build(model)

    def _build(self, model: spm.SpmModel) -> None:
        forget_made(self)
        self.model = model
        self.vocabulary = SpmVocabulary(model, where=self.name)
        self.vocab_size = len(self.vocabulary)
        self.unk_id = self.vocabulary.unk_id
        self.special_ids = self.vocabulary.special_ids
        self.algorithm = algorithm_of(self.vocabulary)
        self._encoder = self.algorithm.encoder(threads=self.threads, cache=self.cache)
        self._prepared = PreparedEncoder(self.algorithm.normalizer, self._encoder)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], model_type: str, *, name: str = "", **options: Any
    ) -> SpmTokenizer:
        """The tokenizer of a `.model` of the type ``unigram`` or ``bpe``.

        `options` are ``threads`` and ``cache``. Raises `TokenizerError` for another type, naming the family for
        it.
        """
        where = os.fspath(path)
        model = spm.read_model(path)
        kind = model.trainer.model_type
        if kind != model_type:
            family = kind if kind in ("unigram", "bpe") else "sentencepiece"
            raise TokenizerError(
                f"{name or where}: a sentencepiece model of the type {kind!r}, not {model_type!r}; "
                f"load it as '{family}:{where}'"
            )
        return cls(name or where, model, **options)

    # --- text to ids ------------------------------------------------------------------------------------

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        if not self.algorithm.plain:
            return super().encode_batch(texts)
        internal = [self.algorithm.normalizer.internal(text) for text in plain_texts(texts, name=self.name)]
        paths = [tokens_of_path(self.vocabulary, data, self.algorithm.path(data)) for data in internal]
        return TokenBatch.of([[token.id for token in path] for path in paths])

    def _prepared_encoder(self) -> PreparedEncoder | None:
        return None if self.algorithm.plain else self._prepared

    def tokenize(self, text: str) -> list[str]:
        """The pieces of `text`, as the vocabulary writes them."""
        return [self.vocabulary.pieces[index] for index in self(text)]

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """One random segmentation: Unigram from the lattice with ``P ** alpha``, BPE with dropout `alpha`."""
        if not 0.0 <= alpha < float("inf"):
            raise TokenizerError(f"{self.name}: alpha must be a number from 0 up, not {alpha}")
        check_generator(rng, name=self.name)
        data = self.algorithm.normalizer.internal(text)
        rows = self.algorithm.sample_rows(data, rng, alpha)
        return ids_of_paths(self.vocabulary, data, rows, [len(rows)])[0]

    def nbest(self, text: str, n: int) -> list[list[int]]:
        """The `n` best segmentations, best first (Unigram only)."""
        return [ids for ids, _ in self.nbest_scored(text, n)]

    def nbest_scored(self, text: str, n: int) -> list[tuple[list[int], float]]:
        """The `n` best segmentations with their scores (log probabilities), best first."""
        if n < 1:
            raise TokenizerError(f"{self.name}: n must be at least 1, not {n}")
        data = self.algorithm.normalizer.internal(text)
        rows, ends, scores = self.algorithm.best(data, n)
        return list(zip(ids_of_paths(self.vocabulary, data, rows, ends), scores, strict=True))

    def encode_with_offsets(self, texts: Sequence[str]) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text and the spans of all tokens, from one compiled call, on `threads` threads.

        Text that the normalizer put in front has an empty span; each byte of a character has the whole span.
        """
        texts = plain_texts(texts, name=self.name)
        if self.algorithm.plain:
            found = [spans_of_path(self.vocabulary, self.algorithm, text) for text in texts]
            return self.encode_batch(texts), np.concatenate([np.zeros((0, 2), np.int64), *found])
        prepared = located(self.algorithm.normalizer, texts, up_to_next=True)
        batch, places = self._encoder.locate(prepared.data, prepared.offsets)
        return batch, prepared.spans(places, batch.offsets)[0]

    def trace(self, text: str) -> Iterator[Step]:
        """The steps of encoding: the normalized text, then each step towards the tokens."""
        return steps(
            self.vocabulary,
            self.algorithm,
            self.algorithm.normalizer.internal(plain_text(text, name=self.name)),
        )

    # --- ids to text ------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """The text of `ids`, as sentencepiece decodes it."""
        return self.vocabulary.decoder.text(ids)

    def decode_batch(self, batch: TokenBatch) -> list[str]:
        """The text of every document, in one compiled call."""
        return self.vocabulary.decoder.texts(batched(batch, name=self.name))

    @property
    def decode_joins_bytes(self) -> bool:
        """Whether decoding only joins the bytes of tokens: nothing is stripped, repaired or denormalized."""
        spec = self.model.normalizer
        strips = spec.add_dummy_prefix or spec.remove_extra_whitespaces
        changed = self.model.denormalizes or self.model.trainer.byte_fallback
        return spec.escape_whitespaces and not (strips or changed)

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token, its ``▁`` as a space; nothing for control symbols and UNK."""
        return self.vocabulary.token_bytes[known_id(token_id, self.vocab_size, name=self.name)]

    # --- the simple class API ---------------------------------------------------------------------------

    def normalize(self, text: str) -> str:
        """`text` as the model sees it."""
        return self.algorithm.normalizer(text)

    def pre_tokenize(self, text: str) -> list[str]:
        """`text`, cut before each space, so that a space belongs to the word after it.

        sentencepiece itself has no pre-tokenizer: some pieces of a vocabulary may cross these cuts.
        """
        normalized = self.normalize(text)
        mark = "\u2581" if self.vocabulary.escaped else " "
        parts = normalized.split(mark)
        return ([parts[0]] if parts[0] else []) + [mark + part for part in parts[1:]]

    def convert_token_to_id(self, token: str) -> int:
        """The id of a piece, else the unknown id; raises `TokenizerError` if the model has neither."""
        index = self.vocabulary.ids.get(token, self.unk_id)
        if index is None:
            raise TokenizerError(f"{self.name}: no piece {token!r}, and no unknown token")
        return index

    def convert_id_to_token(self, token_id: int) -> str:
        """The piece of an id; raises `TokenizerError` for an id outside the vocabulary."""
        return self.vocabulary.pieces[known_id(token_id, self.vocab_size, name=self.name)]

    def add_tokens(self, tokens: str | Iterable[str]) -> list[int]:
        """Add user-defined symbols, which are never split nor normalized; returns their new ids.

        Raises `TokenizerError` if one is in the vocabulary already.
        """
        new = new_tokens(tokens, self.vocabulary.ids, self.vocab_size)
        symbols = (spm.Piece(token.content, 0.0, spm.USER_DEFINED) for token in new)
        self._build(self.model.with_pieces((*self.model.pieces, *symbols)))
        return [token.id for token in new]

    def to_dict(self) -> dict[str, Any]:
        """The whole model, ready for JSON: its file in base 64."""
        return {"format": "sentencepiece", "model": base64.b64encode(spm.serialize(self.model)).decode()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, name: str = "sentencepiece") -> SpmTokenizer:
        """The tokenizer from a result of `to_dict`."""
        if content.get("format") != "sentencepiece" or not isinstance(content.get("model"), str):
            raise TokenizerError(f"{name}: not the description of a sentencepiece model")
        try:
            data = base64.b64decode(content["model"], validate=True)
        except ValueError as error:
            raise TokenizerError(f"{name}: the model is not base 64: {error}") from error
        return cls(name, spm.parse(data, where=name))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.model`, or, proved to give the same ids, a `tokenizer.json` or GGUF, as the ending says.

        Raises `TokenizerError` for any other ending, and if ids would change.
        """
        formats.check_ending(self.name, Path(path), formats.UNIGRAM)
        if Path(path).suffix == ".json":
            save_json(self.vocabulary, self.algorithm, path, self.encode)
        elif Path(path).suffix == ".gguf":
            save_gguf(self.vocabulary, self.algorithm, Path(path), self.encode)
        else:
            spm.write_model(self.model, path)

    def facts(self) -> Mapping[str, Any]:
        """What it is, ready for JSON."""
        spec, trainer = self.model.normalizer, self.model.trainer
        losses = {
            f"text is normalised ({spec.name or 'custom rules'})": bool(spec.charsmap),
            "runs of spaces become one": spec.remove_extra_whitespaces,
            "characters outside the vocabulary become unknown": not trainer.byte_fallback,
            "U+2581 comes back as a space": spec.escape_whitespaces,
        }
        return {
            "algorithm": self.algorithm.name,
            "normalizer": spec.name or ("custom" if spec.charsmap else None),
            "pre_tokenizer": None,
            "byte_fallback": trainer.byte_fallback,
            "word_cache_bytes": self.cache,
            "add_dummy_prefix": spec.add_dummy_prefix,
            "remove_extra_whitespaces": spec.remove_extra_whitespaces,
            "escape_whitespaces": spec.escape_whitespaces,
            "treat_whitespace_as_suffix": trainer.treat_whitespace_as_suffix,
            "special_tokens": {self.vocabulary.pieces[index]: index for index in sorted(self.special_ids)},
            "user_defined_symbols": self.vocabulary.of_type(spm.USER_DEFINED),
            "lossless": False,
            "why_not_lossless": "; ".join(loss for loss, holds in losses.items() if holds),
        }
