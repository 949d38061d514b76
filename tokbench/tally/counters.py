"""The counters that a tally sums over groups of documents: their names, what each counts, and the sums.

All of them are whole numbers summed over documents, so they add up over shards and machines, in any order.

Each document falls into one of 1,024 groups (`tokbench.tally.grouping`); of the sums by group any ratio gets
its interval (`tokbench.metrics.resampling`). Grouping documents at random leaves the variance of a ratio
estimated without bias, since the residuals of its linear form have mean zero, and costs almost nothing. On
parallel text of up to 1,024 lines it is the Poisson bootstrap over lines itself. Documents of identical text
fall together, so that copies count as the one observation they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tokbench.tally.grammar import installed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.corpus import Dataset
    from tokbench.kernels.pointers import Ints

    Count = int | NDArray[np.float64]

GROUPS = 1024
"""Bootstrap groups."""
BUCKETS = 40
"""Classes of document length: bucket b holds documents of 2^(b-1) to 2^b − 1 bytes, bucket 0 empty ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFacts:
    """The facts of one dataset in one language that decide what is counted.

    `parallel`: documents with the same `line` say the same in every language, so bootstrap groups follow the
    line. `kind` ``"code"`` asks for identifiers, operators and indentation; `language` is then the
    programming language, by which a tree-sitter grammar is chosen. `word_unit` ``"segments"`` ignores
    gold words; by default they are used wherever documents carry them. `grammar` names the installed grammar,
    so that facts tell apart counts made with and without it. `consecutive`: documents follow one another in a
    text, so blocks of them are drawn together.

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


class Counted:
    """A counter as an attribute: `meaning` says what it counts, an object's ``vars`` have its value.

    Of a class it is the counter itself, so that `help` tells the meaning.
    """

    def __init__(self, meaning: str) -> None:
        self.meaning = self.__doc__ = meaning

    def __get__(self, counts: object, owner: type) -> Count:
        if counts is None:
            return self  # type: ignore[return-value]  # for `help`, which is told no type
        raise AttributeError  # an object of which it is not known says so itself, in its `__getattr__`


class TextCounters:
    """What a text has whatever the tokenizer."""

    documents = Counted("documents")
    bytes = Counted("bytes of UTF-8")
    chars = Counted("Unicode code points")
    graphemes = Counted("extended grapheme clusters (UAX #29)")
    lines = Counted("lines, cut at line feeds")
    words = Counted("words: gold where the document has them, else UAX #29 segments with a letter or number")
    gold_words = Counted("words that the corpus marked")
    unspaced_words = Counted("words that begin with a letter of a script written without spaces")
    letters = Counted("code points of category L or M")
    digits = Counted("decimal digits (Nd)")
    spaces = Counted("white space")
    punctuation = Counted("code points of category P or S")
    non_ascii = Counted("code points above U+007F")
    numbers = Counted("runs of decimal digits")
    digit_gold = Counted("boundaries of three-digit groups, from the right, inside numbers that are no years")
    operators = Counted("operators of two or more characters (code)")
    indents = Counted("lines that begin with white space and go on with something else (code)")
    identifiers = Counted("identifiers (code)")
    identifier_gold = Counted("boundaries of camelCase and snake_case parts inside identifiers (code)")
    parsed_documents = Counted("documents that a tree-sitter grammar parsed (code)")
    syntax_gold = Counted("gaps between the parser's own tokens, empty or blank (code)")


class TokenCounters:
    """What a tokenizer made of it."""

    tokens = Counted("tokens")
    aligned_documents = Counted("documents in which every token's place in the text is known")
    aligned_words = Counted("words of those documents")
    aligned_bytes = Counted("bytes of those documents")
    aligned_tokens = Counted("tokens of those documents")
    word_tokens = Counted("tokens that touch a word, summed over words")
    continued_words = Counted("words that more than one token touches")
    boundaries = Counted("boundaries between tokens, in aligned documents")
    cut_chars = Counted("boundaries that fall inside a character's UTF-8")
    cut_graphemes = Counted("boundaries that fall inside a grapheme cluster")
    cross_words = Counted("tokens that touch two or more words")
    split_tokens = Counted("tokens whose bytes are not whole UTF-8 characters")
    round_trips = Counted("documents that decode(encode(x)) gives back unchanged")
    text_lost = Counted("documents whose text does not come back, in whatever form")
    form_lost = Counted("documents whose text comes back in another case or normal form, or without diacritics")
    spaces_lost = Counted("documents whose text comes back with other white space or control characters")
    whitespace_kept = Counted("documents whose white space comes back unchanged")
    lossy_chars = Counted("code points of the documents that do not come back unchanged")
    unk_tokens = Counted("tokens that are the unknown token")
    unk_chars = Counted("code points covered by the unknown token")
    unk_unknown = Counted("documents with an unknown token whose reach could not be found")
    digit_cuts = Counted("token boundaries inside numbers that are no years, inside a digit's bytes too")
    digit_hits = Counted("those of them at a three-digit group")
    digit_reach = Counted("three-digit group boundaries in aligned documents")
    aligned_numbers = Counted("numbers in aligned documents")
    whole_numbers = Counted("numbers that one token covers")
    aligned_operators = Counted("operators in aligned documents")
    whole_operators = Counted("operators that one token covers")
    aligned_indents = Counted("indented lines in aligned documents")
    indent_tokens = Counted("tokens that touch the indentation of a line")
    aligned_identifiers = Counted("identifiers in aligned documents")
    identifier_tokens = Counted("tokens that touch an identifier, summed over identifiers")
    identifier_cuts = Counted("token boundaries inside identifiers")
    identifier_hits = Counted("those of them at a camelCase or snake_case boundary")
    identifier_reach = Counted("camelCase and snake_case boundaries in aligned documents")
    syntax_reach = Counted("the parser's gaps in parsed, aligned documents")
    syntax_hits = Counted("those of them in which a token boundary falls")
    syntax_cuts = Counted("token boundaries in parsed, aligned documents")


def _meanings(counters: type) -> dict[str, str]:
    return {name: each.meaning for name, each in vars(counters).items() if isinstance(each, Counted)}


TEXT_COUNTERS = _meanings(TextCounters)
COUNTERS = {**TEXT_COUNTERS, **_meanings(TokenCounters)}
"""What every counter counts, in the order in which group sums hold them; those of the text come first."""
NAMES = tuple(COUNTERS)


@dataclass(frozen=True, slots=True, eq=False)
class GroupSums:
    """Counter sums of the groups that have any: `rows` names the groups, `columns` the counters.

    `rows` is int16 of shape ``(r,)`` ascending, `columns` int16 of shape ``(k,)`` indices into `NAMES`,
    `values` a whole-number array ``(r, k)`` of the smallest type that holds them.
    """

    rows: NDArray[np.int16]
    columns: NDArray[np.int16]
    values: NDArray[np.integer]

    @classmethod
    def of_dense(cls, dense: Ints) -> GroupSums:
        """The compact form of a ``(GROUPS, len(NAMES))`` array."""
        import numpy as np

        rows = np.flatnonzero(dense.any(axis=1)).astype(np.int16)
        columns = np.flatnonzero(dense.any(axis=0)).astype(np.int16)
        kind = np.min_scalar_type(int(dense.max(initial=0)))
        return cls(rows, columns, np.ascontiguousarray(dense.T[columns].astype(kind)[:, rows].T))

    @classmethod
    def sum(cls, parts: Iterable[GroupSums]) -> GroupSums:
        """All of `parts` together."""
        import numpy as np

        dense = np.zeros((GROUPS, len(NAMES)), np.int64)
        for part in parts:
            dense[np.ix_(part.rows, part.columns)] += part.values.astype(np.int64)  # unsigned, of any size
        return cls.of_dense(dense)

    def dense(self, names: Sequence[str]) -> Ints:
        """The sums of some counters by group, ``(len(names), GROUPS)``.

        Example:
            >>> import numpy as np
            >>> sums = np.arange(GROUPS * len(NAMES)).reshape(GROUPS, -1)
            >>> bool((GroupSums.of_dense(sums).dense(["bytes"])[0] == sums[:, NAMES.index("bytes")]).all())
            True
        """
        import numpy as np

        every = np.zeros((len(NAMES), GROUPS), np.int64)
        every[np.ix_(self.columns, self.rows)] = self.values.T
        return every[[NAMES.index(name) for name in names]]

    def totals(self) -> dict[str, int]:
        """Every counter's sum over all groups."""
        import numpy as np

        sums = self.values.sum(axis=0, dtype=np.int64).tolist()
        seen = zip(self.columns.tolist(), sums, strict=True)
        return dict.fromkeys(NAMES, 0) | {NAMES[column]: value for column, value in seen}
