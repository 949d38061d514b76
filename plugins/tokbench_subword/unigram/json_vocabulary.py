"""The vocabulary of a Unigram `tokenizer.json`: checked, and converted for the kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench_subword.files.json_numbers import as_read
from tokbench_subword.files.tokenizer_json import of_other_type
from tokbench_subword.unigram.path_tokens import byte_ids_of
from tokbench_subword.unigram.unigram_algorithm import UNKNOWN_PENALTY, Unigram


@dataclass(frozen=True, slots=True, eq=False)
class JsonVocabulary:
    """The pieces by id, their scores (float64), the unknown token's id, and the id of each piece.

    Scores are rounded as `tokenizers` reads them. If a piece is listed twice, the last id counts.
    """

    pieces: list[str]
    scores: NDArray[np.float64]
    unk_id: int | None
    ids: dict[str, int]
    byte_fallback: bool

    @classmethod
    def of(cls, model: Mapping[str, Any], *, where: str) -> JsonVocabulary:
        """The vocabulary of a model's JSON; raises `TokenizerError` saying which entry is wrong."""
        listed = isinstance(model.get("vocab"), Sequence)
        if model.get("type", "Unigram" if listed else None) != "Unigram":
            raise of_other_type(where, model.get("type"), "Unigram")
        if not listed:
            raise TokenizerError(f"{where}: the vocabulary must be a list of pieces with their scores")
        pieces, scores = [], []
        for index, entry in enumerate(model["vocab"]):
            if not (isinstance(entry, Sequence) and len(entry) == 2 and isinstance(entry[0], str)):
                raise TokenizerError(
                    f"{where}: entry {index} of the vocabulary is {entry!r:.80}, not [piece, score]"
                )
            if not isinstance(entry[1], int | float) or not math.isfinite(entry[1]):
                raise TokenizerError(f"{where}: piece {index} ({entry[0]!r}) has the score {entry[1]!r}")
            pieces.append(entry[0])
            scores.append(as_read(entry[1]))
        if not pieces:
            raise TokenizerError(f"{where}: the vocabulary is empty")
        unk, falls_back = model.get("unk_id"), model.get("byte_fallback")
        if unk is not None and not (type(unk) is int and 0 <= unk < len(pieces)):
            raise TokenizerError(f"{where}: unk_id {unk!r} is outside the vocabulary of {len(pieces)}")
        if not isinstance(falls_back, bool | None):
            raise TokenizerError(f"{where}: byte_fallback is {falls_back!r:.80}, not true or false")
        ids = {piece: index for index, piece in enumerate(pieces)}
        return cls(pieces, np.array(scores, np.float64), unk, ids, bool(falls_back))

    @property
    def unknown(self) -> str:
        """The text of the unknown token; empty without one."""
        return "" if self.unk_id is None else self.pieces[self.unk_id]

    def algorithm(self, *, where: str) -> Unigram:
        """The algorithm that segments words by the vocabulary; raises `TokenizerError` for contradictions.

        As in `tokenizers`, byte fallback needs an unknown token.
        """
        pieces = {piece.encode(): index for piece, index in self.ids.items() if piece}
        falls_back = self.byte_fallback and self.unk_id is not None
        byte_ids = byte_ids_of(self.ids if falls_back else {}, where=where)
        if self.unk_id is None and not pieces:
            raise TokenizerError(f"{where}: an empty vocabulary without an unknown token")
        algorithm = Unigram(
            pieces,
            self.scores,
            unknown=float(self.scores.min()) - UNKNOWN_PENALTY,
            threshold=math.inf,
            byte_ids=byte_ids,
            unk_id=self.unk_id,
        )
        for piece in self.ids if self.unknown else ():
            if self.unknown in piece and piece != self.unknown and self._is_unknown(algorithm, piece):
                raise TokenizerError(
                    f"{where}: text with the unknown token {self.unknown!r} can form the piece {piece!r}, "
                    "which `tokenizers` then returns: choose an unknown token that occurs in no text"
                )
        return algorithm

    def _is_unknown(self, algorithm: Unigram, text: str) -> bool:
        """Whether nothing but the unknown token is the best path through `text`."""
        return all(node.piece < 0 or node.piece == self.unk_id for node in algorithm.path(text.encode()))
