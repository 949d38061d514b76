"""`BpeEncoder`: a `BpeModel` compiled into tables, behind the word cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from tokbench_subword.bpe.layout import CUT, SETTINGS
from tokbench_subword.bpe.merging import scratch
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.model_arrays import shared_arrays
from tokbench_subword.bpe.spaces import word_cutters
from tokbench_subword.bpe.words import encode_new
from tokbench_subword.pipeline.cutters import Cutter
from tokbench_subword.words.cache import CACHE_BYTES
from tokbench_subword.words.encoder import WordEncoder
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.parts import part_space


class BpeEncoder(WordEncoder):
    """Encodes text with a `BpeModel`.

    `cutters` are by default those of the model's pattern; where there are none, see `spaces`. `spelled` says
    that the model works on letters of the byte alphabet, but text is given as it is. The others are those of
    `WordEncoder`.

    Example:
        >>> import numpy as np
        >>> model = BpeModel(
        ...     vocabulary=(*(bytes([b]) for b in range(256)), b"ab"), merges=np.array([[97, 98, 256]]))
        >>> BpeEncoder(model).encode("abc").tolist()
        [256, 99]
    """

    def __init__(
        self,
        model: BpeModel,
        cutters: Sequence[Cutter] | None = None,
        *,
        threads: int = 1,
        cache: int = CACHE_BYTES,
        spelled: bool = False,
    ) -> None:
        cutters = model.pattern.cutters if cutters is None else cutters
        self.model = model
        arrays = shared_arrays(model, spelled=spelled)
        if not cutters and not spelled and arrays[SETTINGS - MODEL][CUT] == 1:
            cutters = word_cutters(model)
        super().__init__(encode_new, arrays, _own, cutters=cutters, threads=threads, cache=cache)


def _own() -> list[NDArray[Any]]:
    """What each thread has of its own."""
    return [*scratch(), *part_space()]
