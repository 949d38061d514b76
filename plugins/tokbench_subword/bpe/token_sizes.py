"""How much of a pre-token each token of a BPE model stands for, where that is the same wherever it comes up.

It is not for a token that a pre-token may be as it is written, affixes and all, nor where a merge makes what a
character with its affix is, too. Such a token has the size `VARIES`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.bpe.model import BpeModel

VARIES = -1


def bytes_of_tokens(model: BpeModel) -> NDArray[np.int64]:
    """How many bytes each token stands for: int64. It varies for the unknown token."""
    sizes = _sizes(model, len)
    if model.unk is not None:
        sizes[model.unk] = VARIES
    return _agreed(model, sizes)


def symbols_of_tokens(model: BpeModel) -> NDArray[np.int64]:
    """How many first symbols each token is made of: int64. The unknown token is one."""
    sizes = _sizes(
        model, len if model.level == "byte" else lambda text: len(text.decode("utf-8", "surrogatepass"))
    )
    if model.unk is not None:
        sizes[model.unk] = 1
    return _agreed(model, sizes)


def _sizes(model: BpeModel, size: Callable[[bytes], int]) -> list[int]:
    """The size of the text of each token, going by how it is written."""
    if model.level == "byte":
        return [size(token) for token in model.vocabulary]
    texts = [_text(model, token) for token in model.vocabulary]
    return [
        VARIES if model.whole_tokens and text != token else size(text)
        for text, token in zip(texts, model.vocabulary, strict=True)
    ]


def _text(model: BpeModel, token: bytes) -> bytes:
    """A token without its affixes; of one that stands for a byte, something of that size."""
    if model.byte_fallback and len(token) == 6 and token.startswith(b"<0x") and token.endswith(b">"):
        return b"?"
    text = token.removeprefix(model.continuing_prefix.encode()) or token
    return text.removesuffix(model.end_of_word.encode()) or text


def _agreed(model: BpeModel, sizes: list[int]) -> NDArray[np.int64]:
    """The sizes, `VARIES` for tokens that some merge makes of sides which have another size together."""
    for left, right, result in [] if model.level == "byte" and model.unk is None else model.merges.tolist():
        if sizes[left] < 0 or sizes[right] < 0 or sizes[left] + sizes[right] != sizes[result]:
            sizes[result] = VARIES
    return np.array(sizes, np.int64)
