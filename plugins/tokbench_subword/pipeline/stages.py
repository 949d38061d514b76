"""What text has become after each stage before the model, by the plain forms: for golden packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokbench.kernels.utf8 import repaired
from tokbench_subword.files.tokenizer_json import TokenizerJson
from tokbench_subword.pipeline.preparation import Preparation


class Stages:
    """The stages of a document; see `tokbench.tokenizer.Staged`.

    Example:
        >>> steps = {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}}
        >>> lower = TokenizerJson(model={}, **steps)
        >>> Stages(lower)("Ab c")
        {'added tokens': ['Ab c'], 'normalizer': ['ab c'], 'pre-tokenizer': ['ab', 'c']}
    """

    def __init__(self, document: TokenizerJson, *, match_special: bool = False) -> None:
        self._preparation = Preparation(document=document, match_special=match_special, spelling=False)

    def __call__(self, text: str) -> Mapping[str, Sequence[str]]:
        """The pieces of `text` after each stage; an added token is a piece of its own."""
        text, preparation = repaired(text), self._preparation
        found: dict[str, list[str]] = {"added tokens": [], "normalizer": [], "pre-tokenizer": []}
        for piece in preparation.raw_tokens.split(text, match_special=preparation.match_special):
            found["added tokens"].append(text[piece.start : piece.end])
        for part in preparation.parts(text):
            found["normalizer"].append(part.stretch.text)
            if part.token is not None:
                found["pre-tokenizer"].append(part.stretch.text)
            elif part.stretch.text:
                words = preparation.pre_tokenizer(part.stretch)
                found["pre-tokenizer"] += [word.text for word in words if word.text]
        return found
