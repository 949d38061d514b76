"""Texts as a batch in UTF-8 and back, and characters that are hard on normalizers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from tokbench_subword.pipeline.compiled_normalizers import BatchNormalizer
from tokbench_subword.pipeline.normal_forms import Form
from tokbench_subword.pipeline.segments import Segments

from tokbench.kernels.pointers import PADDING

FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")

# Starters that compose, marks of many classes, jamo, and what Indic scripts compose.
HARD = (
    "aAeEiI\u017f\u00c5\u212b\u01d5\u1ebf\u1e9b\u00e9\u0301\u0302\u0308\u0304\u0323\u0327\u0331\u0334\u0345\u0300"
    "\u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2\uac00\uac01\ud7a3\u3133\uffa1\uffc2\uff76\uff9e\u304b\u3099"
    "\u0995\u09c7\u09be\u09d7\u09cb\u0b92\u0bd7\u0cc6\u0cc2\u0cd5\u0ccb\u0dd9\u0dca\u0dcf\u0928\u093c\u0958"
    "\u0f71\u0f72\u0f73\u0f80\u0344\u0387\ufb1d\u05b4\U0001d15e\ufdfa\u1025\u102e\u1039\u103a\u07eb\u07f2"
    "\U00011099\U000110ba\U00011131\U00011127\u302e\u1b44\ua953 \u3000"
    "\t\n\x00\x85\u200b\ufeff\u4e2d\ufa10\u0130\u03a3\U0001e900\U00016ea0\ua7dc\u1c89\U00011938\u32ff\ua7f2`  "
)


def batch(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(bytearray(b"\xffx" + b"".join(encoded) + b"\xcc" * PADDING), np.uint8)
    offsets = np.cumsum([2, *map(len, encoded)])
    return data[: offsets[-1]], offsets


def applied(normalizer: BatchNormalizer, texts: Sequence[str]) -> list[str]:
    found = normalizer(Segments(*batch(texts)))
    return texts_of(found.data, found.offsets)


def texts_of(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    return [data[start:end].tobytes().decode() for start, end in pairwise(offsets)]
