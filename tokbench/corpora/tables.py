"""The families `jsonl`, `csv` and `parquet`: rows with a text field, in one language or several."""

from __future__ import annotations

from collections.abc import Callable

from tokbench.corpora import DELIMITED, JSON_LINES, PARQUET
from tokbench.corpora.dataset import FileDataset
from tokbench.corpora.finding import find_files
from tokbench.corpora.records import Fields, MixedDataset, RecordFormat
from tokbench.corpora.text import by_language, path_of
from tokbench.corpora.transcoding import encoding_of
from tokbench.corpus import Dataset
from tokbench.errors import SpecError
from tokbench.family import LoadContext
from tokbench.spec import Spec


def load_jsonl(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``jsonl:PATH``."""
    from tokbench.corpora.jsonl import JsonLines

    return _load(spec, JsonLines, JSON_LINES)


def load_csv(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``csv:PATH``."""
    from tokbench.corpora.delimited import Delimited

    delimiter = spec.get("delimiter")
    if delimiter and len(delimiter) > 1 and delimiter not in ("tab", "\\t", "semicolon", "comma"):
        raise SpecError(f"{spec}: delimiter is one character, or tab, semicolon, comma; not {delimiter!r}")
    return _load(spec, lambda fields: Delimited(fields, delimiter), DELIMITED)


def load_parquet(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``parquet:PATH``."""
    from tokbench.corpora.parquet import Parquet

    return _load(spec, Parquet, PARQUET)


def _load(spec: Spec, form: Callable[[Fields], RecordFormat], suffixes: tuple[str, ...]) -> Dataset:
    paths = find_files(
        path_of(spec),
        wanted=lambda name: name.lower().endswith(suffixes),
        describe=f"{', '.join(suffixes)} files",
    )
    fields = Fields(
        spec.get("field", "text"),
        spec.get("language_field"),
        spec.get("missing", "error"),
        spec.get("errors", "strict"),
        spec.get("cluster"),
        encoding_of(spec),
    )
    if fields.language:
        if spec.get("language"):
            raise SpecError(f"{spec}: give either language or language_field, not both")
        return MixedDataset(str(spec), paths, form(fields), spec.get("languages"))
    if spec.get("languages"):
        raise SpecError(f"{spec}: languages chooses among those of a language_field; name that field too")
    return FileDataset(str(spec), by_language(paths, spec.get("language")), form(fields))
