"""Steps of a `tokenizer.json` that do what sentencepiece does: its character map, spaces, and bytes."""

from __future__ import annotations

import base64
from typing import Any

from tokbench_subword.files.sentencepiece_model import NormalizerSpec
from tokbench_subword.pipeline.document import replaced
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL

Steps = list[dict[str, Any]]

ENDS_OFF = replaced({"Regex": r"\A +| +\z"}, "")
MARKED_ENDS_OFF = replaced({"Regex": rf"\A +|[ {SPACE_SYMBOL}]+\z"}, "")
"""The same if no map turns U+2581 into a space: sentencepiece removes U+2581 only at the end of a text."""
ONE_SPACE = replaced({"Regex": " {2,}"}, " ")
SPACES_MARKED = replaced({"String": " "}, SPACE_SYMBOL)
SPACES_BACK = replaced({"String": SPACE_SYMBOL}, " ")
FIRST_OFF = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
"""The decoding step that removes the space before the text."""
JOINED: Steps = [{"type": "Fuse"}]
BYTES_JOINED: Steps = [{"type": "ByteFallback"}, *JOINED]


def map_of(spec: NormalizerSpec) -> Steps:
    """The step that applies a model's character map; no step without a map."""
    charsmap = base64.b64encode(spec.charsmap).decode()
    return [{"type": "Precompiled", "precompiled_charsmap": charsmap}] if charsmap else []


def metaspace(scheme: str, *, mark: str = SPACE_SYMBOL, split: bool = True) -> dict[str, Any]:
    """The step that writes spaces as `mark` and adds one in front by `scheme`; as a decoder it undoes this."""
    return {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme, "split": split}
