"""Vocabularies that cut nothing, such as Llama-2's: their text is cut in front of spaces all the same.

That is exact wherever no token goes on behind a character with a space: no merge could have joined the two. So
words come from the word cache, where a whole line is one pre-token to the model and hardly comes twice.
A first pass of Llama-2's `tokenizer.json` over English takes 0.75 to 0.85 of the time, a later one over long
texts 0.6 (English, code); `continuing.learn_superwords` encodes its text in two thirds of it.
"""

from __future__ import annotations

import re

from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.pipeline.patterns.cutters import Cutter, cutter_of

_MARKS = (" ", "\u2581")
"""A space, and what stands for one in vocabularies after sentencepiece."""


def word_cutters(model: BpeModel) -> tuple[Cutter, ...]:
    """What cuts text into words, where that changes no ids; nothing where tokens hold several words.

    `model` is one whose pre-tokens may be cut wherever no token joins (`layout.CUT` is 1).
    """
    mark = max(_MARKS, key=lambda one: sum(token.startswith(one.encode()) for token in model.vocabulary))
    joined = _joined(model, mark.encode())
    if model.whole_tokens or any(byte >= 0x80 or chr(byte).isalnum() for byte in joined):
        return ()
    if not joined:
        return (cutter_of(f"{mark}*[^{mark}]+|{mark}+", "oniguruma"),)
    some = "".join(rf"\x{{{byte:x}}}" for byte in sorted(joined))
    return (cutter_of(f"{mark}*(?:[{some}]{mark}*|[^{mark}{some}])+|{mark}+", "oniguruma"),)


def _joined(model: BpeModel, mark: bytes) -> set[int]:
    """The last byte of every character, other than a space, that some token has in front of a space."""
    before = re.compile(rb"(?s)(.)(?<!%b)(?=%b)" % (mark, mark))
    return {found[0] for token in model.vocabulary if token.rfind(mark) > 0 for found in before.findall(token)}
