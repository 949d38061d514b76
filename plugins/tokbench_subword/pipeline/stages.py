"""What text has become after each stage before the model, by the plain forms: for golden packs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokbench.kernels.utf8 import repaired
from tokbench_subword.files.tokenizer_json import Document
from tokbench_subword.pipeline.added_tokens import AddedTokens
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch


class Stages:
    """The stages of a document; see `tokbench.tokenizer.Staged`.

    Example:
        >>> lower = Document(model={}, normalizer={"type": "Lowercase"}, pre_tokenizer={"type": "Whitespace"})
        >>> Stages(lower)("Ab c")
        {'added tokens': ['Ab c'], 'normalizer': ['ab c'], 'pre-tokenizer': ['ab', 'c']}
    """

    def __init__(self, document: Document, *, match_special: bool = False) -> None:
        self._match = match_special
        self._normalize = normalize = normalizer_of(document.normalizer)
        self._cut = pre_tokenizer_of(document.pre_tokenizer)
        self._raw = AddedTokens(token for token in document.added_tokens if not token.normalized)
        self._normal = AddedTokens(
            (token for token in document.added_tokens if token.normalized),
            normalize=(lambda text: normalize(Stretch(text)).text) if normalize else None,
        )

    def __call__(self, text: str) -> Mapping[str, Sequence[str]]:
        """The pieces of `text` after each stage; an added token is a piece of its own."""
        text = repaired(text)
        found: dict[str, list[str]] = {"added tokens": [], "normalizer": [], "pre-tokenizer": []}
        for piece in self._raw.split(text, match_special=self._match):
            part = text[piece.start : piece.end]
            found["added tokens"].append(part)
            if piece.token is not None:
                found["normalizer"].append(part)
                found["pre-tokenizer"].append(part)
                continue
            # Only the first piece of a text is its beginning, which some rules ask for.
            stretch = Stretch.of(part, start=piece.start, track=False)
            stretch = self._normalize(stretch) if self._normalize else stretch
            for inner in self._normal.split(stretch.text, match_special=self._match):
                cut = stretch.part(inner.start, inner.end)
                found["normalizer"].append(cut.text)
                if inner.token is not None:
                    found["pre-tokenizer"].append(cut.text)
                elif cut.text:
                    found["pre-tokenizer"] += [word.text for word in self._cut(cut) if word.text]
        return found
