"""What a dataset says of its text, as far as counting depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tokbench.corpus import Dataset
from tokbench.tally.grammar import installed


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFacts:
    """The facts of one dataset in one language that decide what is counted.

    `parallel`: documents with the same `line` say the same in every language, so bootstrap groups follow the
    line. `kind` ``"code"`` asks for identifiers, operators and indentation; `language` is then the
    programming language, by which a tree-sitter grammar is chosen. `word_unit` ``"segments"`` ignores
    gold words; by default they are used wherever documents carry them. `grammar` names the installed grammar,
    so that facts tell apart counts made with and without it. `consecutive`: documents follow one another in a
    text, so blocks of them are drawn together (see `tokbench.tally.groups`).

    Example:
        >>> CorpusFacts(parallel=True, language="tha_Thai").kind
        'text'
    """

    parallel: bool = False
    word_unit: str | None = None
    kind: Literal["text", "code"] = "text"
    language: str | None = None
    grammar: str = ""
    consecutive: bool = False

    @classmethod
    def of(cls, dataset: Dataset, language: str | None = None) -> CorpusFacts:
        """The facts that `dataset` states, for one of its languages."""
        kind: Literal["text", "code"] = "code" if getattr(dataset, "kind", "text") == "code" else "text"
        named = getattr(dataset, "code_language", None)
        if kind == "code" and callable(named) and language is not None:
            language = str(named(language))
        return cls(
            parallel=bool(dataset.parallel),
            word_unit=getattr(dataset, "word_unit", None),
            kind=kind,
            language=language,
            grammar=installed(language) if kind == "code" else "",
            consecutive=bool(getattr(dataset, "consecutive", False)),
        )
