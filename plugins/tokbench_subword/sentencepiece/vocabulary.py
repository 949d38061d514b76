"""A sentencepiece vocabulary: checked, looked up both ways, and decoded as sentencepiece does it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench_subword.files import sentencepiece_model as spm
from tokbench_subword.pipeline.decoding_kernel import TokenJoiner
from tokbench_subword.pipeline.document_decoding import DocumentDecoder
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL, Normalizer, compile_normalizer, to_internal
from tokbench_subword.unigram.path_tokens import byte_ids_of

_BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>\Z")
_IN_TEXT = (spm.NORMAL, spm.USER_DEFINED)


class SpmVocabulary:
    """The pieces of an `SpmModel`, with tables made from them; raises `TokenizerError` for contradictions.

    Example:
        >>> from tokbench_subword.files.sentencepiece_model import UNKNOWN, Piece, SpmModel
        >>> words = SpmVocabulary(SpmModel((Piece("<unk>", 0.0, UNKNOWN), Piece("▁a", -1.0))), where="demo")
        >>> words.ids["▁a"], words.decoder.text([1, 1, 0])
        (1, 'a a ⁇ ')
    """

    def __init__(self, model: spm.SpmModel, *, where: str) -> None:
        self.model = model
        self.where = where
        self.escaped = model.normalizer.escape_whitespaces
        self.pieces = [piece.text for piece in model.pieces]
        self.types = np.array([piece.type for piece in model.pieces], np.uint8)
        self.scores = np.array([piece.score for piece in model.pieces], np.float32)
        self.ids = {text: index for index, text in enumerate(self.pieces)}
        self._check()
        unknown = np.flatnonzero(self.types == spm.UNKNOWN)
        self.unk_id: int | None = int(unknown[0]) if len(unknown) else None
        self.byte_ids = byte_ids_of(self.ids if model.trainer.byte_fallback else {}, where=where)
        special = np.isin(self.types, (spm.CONTROL, spm.UNKNOWN))
        self.special_ids = frozenset(np.flatnonzero(special).tolist())

    def __len__(self) -> int:
        return len(self.pieces)

    def _check(self) -> None:
        where = self.where
        if len(self.ids) < len(self.pieces):
            first, text = next(pair for pair in enumerate(self.pieces) if self.ids[pair[1]] != pair[0])
            raise TokenizerError(f"{where}: pieces {first} and {self.ids[text]} are both {text!r}")
        if "" in self.ids:
            raise TokenizerError(f"{where}: piece {self.ids['']} is empty")
        for index in [index for index, text in enumerate(self.pieces) if "\0" in text]:
            if self.types[index] != spm.UNUSED:
                raise TokenizerError(f"{where}: piece {index} ({self.pieces[index]!r}) holds a NUL character")
        for index in np.flatnonzero(~np.isfinite(self.scores)).tolist():
            score = self.model.pieces[index].score
            raise TokenizerError(f"{where}: piece {index} ({self.pieces[index]!r}) has the score {score}")
        for index in np.flatnonzero(self.types == spm.BYTE).tolist():
            text = self.pieces[index]
            if not _BYTE_PIECE.match(text):
                raise TokenizerError(f"{where}: byte piece {index} is {text!r}, not like '<0x0A>'")
        counts = np.bincount(self.types, minlength=spm.BYTE + 1)
        if counts[spm.UNKNOWN] > 1:
            raise TokenizerError(
                f"{where}: {counts[spm.UNKNOWN]} pieces are of the type 'unknown'; there can be one"
            )
        fallback = self.model.trainer.byte_fallback
        if counts[spm.UNKNOWN] == 0 and not fallback:
            raise TokenizerError(f"{where}: no piece is of the type 'unknown', and there is no byte fallback")
        if fallback and counts[spm.BYTE] != 256:
            raise TokenizerError(f"{where}: byte fallback needs 256 byte pieces; there are {counts[spm.BYTE]}")
        if counts[spm.BYTE] and not fallback:
            raise TokenizerError(f"{where}: there are byte pieces, but byte_fallback is off")

    # --- for encoding -----------------------------------------------------------------------------------

    def normalizer(self) -> Normalizer:
        """The compiled normalizer, which does not change user-defined symbols."""
        return compile_normalizer(
            self.model.normalizer,
            suffix=self.model.trainer.treat_whitespace_as_suffix,
            symbols=self.of_type(spm.USER_DEFINED),
            where=self.where,
        )

    def of_type(self, *types: int) -> list[str]:
        """The pieces of some types, by id."""
        return [self.pieces[index] for index in np.flatnonzero(np.isin(self.types, types)).tolist()]

    def in_text(self, types: Iterable[int] = _IN_TEXT) -> dict[bytes, int]:
        """The pieces that can be found in text, in internal form, with their ids.

        If spaces are escaped, a piece with a plain space is left out: no normalized text contains one.
        """
        chosen = np.flatnonzero(np.isin(self.types, tuple(types))).tolist()
        return {
            to_internal(self.pieces[index], self.escaped): index
            for index in chosen
            if not self.escaped or " " not in self.pieces[index]
        }

    # --- ids to text ------------------------------------------------------------------------------------

    @cached_property
    def token_bytes(self) -> list[bytes]:
        """The bytes of each token, with a space for U+2581 if spaces are escaped; empty for special tokens."""
        values = [to_internal(text, self.escaped) for text in self.pieces]
        for index in self.special_ids:
            values[index] = b""
        for index, byte in self._byte_of.items():
            values[index] = bytes([byte])
        return values

    @cached_property
    def decoder(self) -> DocumentDecoder:
        """The decoder: it drops control symbols, joins bytes to characters, and removes the dummy space.

        The first piece loses its leading space, or all leading spaces if the model removes repeated ones.
        """
        spec, surfaces = self.model.normalizer, self._surfaces
        strips = spec.add_dummy_prefix or spec.remove_extra_whitespaces
        controls = self.special_ids - {self.unk_id}
        ends = [
            index
            for index, text in enumerate(self.pieces)
            if strips and text.startswith(SPACE_SYMBOL) and index not in controls
        ]
        begin = list(surfaces)
        for index in {*ends} - self.special_ids:
            begin[index] = surfaces[index][1:]
        joiner = TokenJoiner(
            [text.encode() for text in surfaces],
            [text.encode() for text in begin],
            ends_start=ends if not spec.remove_extra_whitespaces else [],
            bytes_of=self._byte_of,
            finish=self._denormalize,
        )
        return DocumentDecoder(None, {}, len(self), name=self.where, joiner=joiner)

    @cached_property
    def _byte_of(self) -> dict[int, int]:
        return {index: byte for byte, index in enumerate(self.byte_ids.tolist())}

    @cached_property
    def _surfaces(self) -> list[str]:
        """What each piece adds to decoded text (byte pieces apart)."""
        surfaces = [text.replace(SPACE_SYMBOL, " ") for text in self.pieces]
        for index in self.special_ids:
            surfaces[index] = self.model.trainer.unk_surface if index == self.unk_id else ""
        return surfaces

    @cached_property
    def _denormalize(self) -> Normalizer | None:
        spec = self.model.denormalizer
        if spec is None or not self.model.denormalizes:
            return None
        return compile_normalizer(spec, where=self.where)
