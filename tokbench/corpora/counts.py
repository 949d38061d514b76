"""The family `counts`: text that is counted already, to train on; its languages may be weighted."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.corpora.counted import added_up, read_head, read_parts, words_of
from tokbench.corpora.finding import path_of
from tokbench.corpora.naming import choose
from tokbench.corpus import Dataset, Document, Shard
from tokbench.errors import CorpusError, SpecError, UnknownNameError
from tokbench.spec import LoadContext, Spec

if TYPE_CHECKING:
    from tokbench.counts import WordCounts

UNIT = 1 << 16
"""What one sight of a pre-token counts where languages are weighted, so that counts stay whole numbers."""


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``counts:FILE``."""
    path = Path(path_of(spec)).expanduser()
    head = read_head(path)
    sizes = head.sizes
    wanted = str(spec.get("languages") or "")
    languages = choose(sizes, wanted, where=str(path)) if wanted else list(sizes)
    weights = _weights(spec)
    for language in weights:
        if language not in sizes:
            raise UnknownNameError.of(f"language of {path}", language, sizes)
    chosen = {language: sizes[language] for language in languages}
    factors = language_factors(chosen, spec.get("alpha"), weights, where=str(spec))
    return CountedText(str(spec), path, head.cut, head.wanted, chosen, factors)


def _weights(spec: Spec) -> dict[str, float]:
    found: dict[str, float] = {}
    for entry in filter(None, str(spec.get("weights", "") or "").split("+")):
        language, _, number = entry.partition("=")
        try:
            found[language] = float(number)
        except ValueError:
            found[language] = -1.0
        if not 0 < found[language] < math.inf:
            raise SpecError(
                f"{spec}: weights takes LANGUAGE=NUMBER+LANGUAGE=NUMBER, numbers above 0; not {entry!r}"
            )
    return found


def language_factors(
    sizes: Mapping[str, int], alpha: float | None, weights: Mapping[str, float], *, where: str
) -> dict[str, float]:
    """By how much the counts of each language are multiplied; together the text stays as large as it is.

    With shares p of the bytes, a language gets the share p ** alpha / sum of all p ** alpha (Conneau et al.
    2020, where alpha is 0.3), times its weight, and so that shares add up to 1 again.

    Example:
        >>> found = language_factors({"en": 900, "de": 100}, 0.5, {}, where="demo")
        >>> {language: round(factor, 3) for language, factor in found.items()}
        {'en': 0.833, 'de': 2.5}
    """
    if alpha is not None and not 0 <= alpha <= 1:
        raise SpecError(
            f"{where}: alpha must lie in 0..1 (1: as in the text, 0: all languages alike); it is {alpha}"
        )
    total = sum(sizes.values())
    for language, size in sizes.items():
        if not size:
            raise SpecError(f"{where}: the language {language} has no text in it; leave it out with languages=")
    shares = {language: size / total for language, size in sizes.items()}
    aimed = {
        language: share ** (1.0 if alpha is None else alpha) * weights.get(language, 1.0)
        for language, share in shares.items()
    }
    whole = sum(aimed.values())
    return {language: aimed[language] / whole / shares[language] for language in shares}


@dataclass(frozen=True, slots=True)
class CountedText:
    """Counted pre-tokens of some languages; `factors` are what their counts are multiplied by."""

    name: str
    path: Path
    cut: str
    wanted: str
    sizes: Mapping[str, int]
    factors: Mapping[str, float]
    parallel: bool = False

    @property
    def languages(self) -> Sequence[str]:
        """The languages, in the order in which they were counted."""
        return list(self.sizes)

    def shards(self, language: str) -> Sequence[Shard]:
        """The one shard of a language."""
        return [Shard(language, str(self.path), n_bytes=self.sizes[language])]

    def read(self, shard: Shard) -> Iterator[Document]:
        """Raises `CorpusError`: there is no text."""
        raise CorpusError(
            f"{self.name} holds counts, not text: bpe, wordpiece and unigram can be trained on it, and no more"
        )

    def digest(self, shard: Shard) -> str:
        """A hash of the file, of the language and of its weight."""
        with self.path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        said = f"{content} {shard.language} {self.factors[shard.language]!r}"
        return hashlib.sha256(said.encode()).hexdigest()

    def counts(self, languages: Sequence[str]) -> tuple[WordCounts, dict[str, int]]:
        """The pre-tokens of some languages, weighted, and how many bytes of text each language adds."""
        import pyarrow as pa
        import pyarrow.compute as pc

        weighted = any(abs(self.factors[language] - 1) > 1e-9 for language in languages)
        unit = UNIT if weighted else 1
        whole = {language: max(1, round(self.factors[language] * unit)) for language in languages}
        parts = []
        for part in read_parts(self.path):
            rows = part.filter(pc.is_in(part["language"], pa.array(languages, pa.string())))
            if weighted:
                index = pc.index_in(rows["language"], pa.array(languages, pa.string()))
                times = pc.take(pa.array([whole[language] for language in languages], pa.int64()), index)
                try:
                    counts = pc.multiply_checked(rows["count"], times)
                except pa.ArrowInvalid as error:
                    raise CorpusError(f"{self.name}: weighted counts do not fit 64 bits; weigh less") from error
                rows = rows.set_column(rows.column_names.index("count"), "count", counts)
            parts.append(added_up([rows], ["pretoken"]))
        sizes = {language: round(self.sizes[language] * whole[language] / unit) for language in languages}
        return words_of(pa.concat_tables(parts), unit), sizes
