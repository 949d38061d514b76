"""What the families `jsonl`, `csv` and `parquet` share: rows with a text field, in one language or several."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tokbench.corpora.dataset import FileDataset, Format, grouped
from tokbench.corpora.encodings import Encoded, encoded_by
from tokbench.corpora.finding import find_files, path_of
from tokbench.corpora.naming import by_language, choose, note_on
from tokbench.corpora.storage import StoredFile, is_remote, stat
from tokbench.corpus import Dataset, Document, Shard
from tokbench.errors import CorpusError, SpecError
from tokbench.spec import Spec


@dataclass(frozen=True, slots=True)
class Fields(Encoded):
    """Which field is the text, and which, if any, the language and the cluster; what to do without a text."""

    text: str = "text"
    language: str | None = None
    missing: str = "error"
    cluster: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """The fields that are read, by the option that names each."""
        others = {"language_field": self.language, "cluster": self.cluster}
        return {"field": self.text, **{option: name for option, name in others.items() if name}}

    def identity(self) -> Mapping[str, Any]:
        """The options, ready for JSON."""
        cluster = {"cluster": self.cluster} if self.cluster else {}
        return self.told(field=self.text, language_field=self.language, missing=self.missing, **cluster)

    def text_of(self, row: Mapping[str, Any], *, where: object) -> str | None:
        """The text of a row; None for a row to pass over; raises `CorpusError` for a row without one."""
        value = row.get(self.text)
        if isinstance(value, str):
            return value or None
        if self.missing == "skip" and value is None:
            return None
        if self.text not in row:
            known = ", ".join(map(str, list(row)[:20])) or "none"
            raise CorpusError(
                f"{where}: no field {self.text!r}; the row has: {known}. Name the text with field=NAME, "
                f"or pass over such rows with missing=skip"
            )
        found = "null" if value is None else type(value).__name__
        skip = " (missing=skip passes over it)" if value is None else ""
        raise CorpusError(f"{where}: field {self.text!r} is {found}, not a text{skip}")

    def row_of(self, row: Mapping[str, Any], *, where: object) -> Row | None:
        """What is read of a row; None for one to pass over; raises `CorpusError` for what it lacks."""
        text = self.text_of(row, where=where)
        if text is None:
            return None
        tag = row.get(self.language) if self.language else None
        for option, name in self.named.items():
            if name not in row:
                known = ", ".join(map(str, list(row)[:20]))
                raise CorpusError(
                    f"{where}: no field {name!r}; the row has: {known}. Name another with {option}=NAME"
                )
        if self.language and not (isinstance(tag, str) and tag):
            found = "null" if tag is None else repr(tag)
            raise CorpusError(f"{where}: field {self.language!r} is {found}, not a language tag, as eng_Latn")
        cluster = row.get(self.cluster) if self.cluster else None
        if self.cluster and (cluster is None or isinstance(cluster, (dict, list))):
            found = "null" if cluster is None else repr(cluster)
            raise CorpusError(f"{where}: field {self.cluster!r} is {found}, not a text or a number")
        return tag, text, None if cluster is None else str(cluster)


Row = tuple[str | None, str, str | None]
"""The language where rows say it, the text, and the cluster where rows have one."""


@dataclass(frozen=True, slots=True)
class RecordFormat(Format):
    """A format whose rows may be of several languages: what follows from its `fields` and `records`."""

    fields: Fields

    @abstractmethod
    def records(self, shard: Shard) -> Iterator[tuple[object, Mapping[str, Any]]]:
        """Each row as it is stored, and where that is, for errors."""

    def rows(self, shard: Shard) -> Iterator[Row]:
        """Each row that has a text."""
        for where, record in self.records(shard):
            row = self.fields.row_of(record, where=where)
            if row is not None:
                yield row

    def begun(self, file: StoredFile, shards: Sequence[Shard]) -> Sequence[Shard]:
        """The shards of a file; raises `CorpusError`, before any work, for what is wrong with its first row."""
        if shards and not is_remote(file.path):
            next(self.rows(shards[0]), None)
        return shards

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The texts of a shard in its language."""
        for tag, text, cluster in self.rows(shard):
            if tag is None or tag == shard.language:
                yield Document(text, cluster=cluster)

    def languages(self, shard: Shard) -> Mapping[str, int]:
        """The bytes of text per language in a shard."""
        sizes: Counter[str] = Counter()
        for tag, text, _ in self.rows(shard):
            sizes[tag or ""] += len(text.encode("utf-8", "surrogatepass"))
        return sizes


@dataclass(frozen=True, slots=True)
class MixedDataset(FileDataset):
    """A dataset whose rows say their language; reading through all of it is how its languages are found.

    That is done once, where the run is planned; workers only read. A shard is read once for each language
    that occurs in it, so that files of one language each are cheaper where there are many.
    """

    format: RecordFormat
    wanted: str | None = None
    _plan: dict[str, list[Shard]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def languages(self) -> Sequence[str]:
        """The languages found in the rows, sorted, or those asked for."""
        return choose(self._planned(), self.wanted, where=self.name)

    def shards(self, language: str) -> Sequence[Shard]:
        """The shards in which the language occurs."""
        if language not in self._planned():
            raise CorpusError(f"{self.name} has no language {language!r}; it has {', '.join(self._planned())}")
        return grouped(self._planned()[language])

    @property
    def _paths(self) -> Sequence[str]:
        """The files, whose languages are not known before they are read."""
        [paths] = self.files.values()
        return paths

    def _planned(self) -> Mapping[str, list[Shard]]:
        if not self._plan:
            for path in self._paths:
                stored = stat(path)
                for shard in self.format.shards(stored, "") if stored.size else ():
                    for language, size in sorted(self.format.languages(shard).items()):
                        own = replace(shard, language=language, n_bytes=size)
                        self._plan.setdefault(language, []).append(own)
            if not self._plan:
                raise CorpusError(f"{self.name}: no row holds a text")
        return self._plan

    def facts(self) -> Mapping[str, Any]:
        """What the manifest says."""
        return {"format": dict(self.format.identity()), "files": list(self._paths)[:1000]}


def load_rows(spec: Spec, form: Callable[[Fields], RecordFormat], suffixes: tuple[str, ...]) -> Dataset:
    """The dataset of a spec whose files hold rows, in the format that `form` makes of the fields."""
    paths = find_files(path_of(spec), suffixes)
    fields = Fields(
        spec.get("field", "text"),
        spec.get("language_field"),
        spec.get("missing", "error"),
        spec.get("cluster"),
        **encoded_by(spec),
    )
    if fields.language:
        if spec.get("language"):
            raise SpecError(f"{spec}: give either language or language_field, not both")
        return MixedDataset(str(spec), {"": paths}, form(fields), wanted=spec.get("languages"))
    if spec.get("languages"):
        raise SpecError(f"{spec}: languages chooses among those of a language_field; name that field too")
    files = by_language(paths, spec.get("language"))
    return FileDataset(str(spec), files, form(fields), note=note_on(files, spec))
