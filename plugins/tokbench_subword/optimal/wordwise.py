"""Byte-level tokenizers whose encoding of words no `tokenizer.json` can express, and their own file formats.

Everything else is as in BPE: patterns, added tokens, decoding, offsets, the word cache. Only the model differs:
a `WordwiseModel` defines how a new word is encoded, and how the model is saved. The file has the structure of a
`tokenizer.json` with another type of model, and its own suffix.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.tokenizer_json import content_of, write_document
from tokbench_subword.pipeline.byte_alphabet import spelled, unspelled
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.words.encoder import Arrays, WordEncoder
from tokbench_subword.words.searching import Search


@dataclass(frozen=True, kw_only=True, eq=False)
class WordwiseModel(BpeModel, ABC):
    """A byte-level vocabulary with its own algorithm for encoding a word.

    `kind` is the model's type in a file, `ending` the file's suffix, `why` the reason why a `tokenizer.json`
    cannot contain it. `search` encodes a word, with the arrays of `shared`.
    """

    kind: ClassVar[str]
    ending: ClassVar[str]
    why: ClassVar[str]
    search: ClassVar[Search]

    merges: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))

    @abstractmethod
    def shared(self) -> Arrays:
        """The arrays that `search` finds in its block from `words.layout.MODEL` on."""

    def content(self) -> dict[str, Any]:
        """The model as JSON, without its type: at least the tokens by id, in the byte alphabet."""
        return {"tokens": [spelled(token) for token in self.vocabulary]}

    @classmethod
    def of_content(cls, content: Mapping[str, Any], **around: Any) -> Self:
        """The model of `content`; `around` are other fields of `BpeModel`."""
        return cls(vocabulary=tuple(unspelled(token) or b"" for token in content["tokens"]), **around)


class WordwiseTokenizer(BpeTokenizer):
    """A `BpeTokenizer` whose words are encoded by the search of its `WordwiseModel`."""

    model: WordwiseModel
    sample = with_dropout = trace = pruned = None  # type: ignore[assignment]
    """Capabilities that need merges, which this class therefore does not have."""

    @classmethod
    def of_document(  # type: ignore[override]
        cls, document: TokenizerJson, *, where: str, kind: type[WordwiseModel], **options: Any
    ) -> WordwiseTokenizer:
        """The tokenizer of a file; raises `TokenizerError` unless it contains a valid model of this `kind`."""
        found = document.model.get("type")
        if found != kind.kind:
            raise TokenizerError(f"{where}: its model is {found or 'without a type'}, not {kind.kind}")
        special = {token.content: token.id for token in document.added_tokens if token.special}
        pattern = BpePreparation.of(document).pattern or Pattern("none")
        try:
            model = kind.of_content(document.model, pattern=pattern, special_tokens=MappingProxyType(special))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise TokenizerError(f"{where}: the model {kind.kind} is damaged: {error!r}") from error
        missing = next((byte for byte in range(256) if bytes([byte]) not in model.ids), None)
        if missing is not None:
            raise TokenizerError(f"{where}: the model {kind.kind} is damaged: no token is the byte {missing}")
        size = len(model.vocabulary)
        for token in sorted(document.added_tokens, key=lambda token: token.id):
            if token.id == size:
                size += 1
            elif not 0 <= token.id < len(model.vocabulary) or model.vocabulary[token.id]:
                taken = "which another token has" if 0 <= token.id < size else f"and the next free id is {size}"
                raise TokenizerError(
                    f"{where}: the added token {token.content!r} has the id {token.id}, {taken}"
                )
        return cls(model, document.with_model({}), source=where, **options)

    @cached_property
    def _encoder(self) -> WordEncoder:  # type: ignore[override]
        cutters = self._preparation.compiled.cutters
        return WordEncoder(
            self.model.search, self.model.shared(), cutters=cutters, threads=self.threads, cache=self.cache
        )

    def to_dict(self) -> dict[str, Any]:
        """The content of the tokenizer's file, ready for JSON."""
        return content_of(self._complete())

    def _complete(self) -> TokenizerJson:
        return self.document.with_model({"type": self.model.kind, **self.model.content()})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer's own format; raises `TokenizerError` for a path with another suffix."""
        ending = self.model.ending
        if Path(path).suffix != ending:
            raise TokenizerError(
                f"{self.name} cannot be written as {Path(path).name!r}: {self.model.why}, so ids would differ; "
                f"name FILE{ending}"
            )
        write_document(self._complete(), path)

    def facts(self) -> dict[str, Any]:
        """A description of the tokenizer, ready for JSON."""
        return {**super().facts(), "algorithm": self.model.kind}
