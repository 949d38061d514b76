"""The family `hub`: datasets of the Hugging Face hub, streamed by the library `datasets`, which is optional."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from tokbench.corpora.finding import path_of
from tokbench.corpora.naming import UNKNOWN
from tokbench.corpora.records import Fields
from tokbench.corpus import Dataset, Document, Shard
from tokbench.errors import CorpusError, described
from tokbench.spec import LoadContext, Spec

_INSTALL = "it needs the library `datasets`, which tokbench does not install: pip install datasets"
_OFFLINE = (
    "Is this machine offline (HF_HUB_OFFLINE, HF_DATASETS_OFFLINE)? A set that was downloaded before is read "
    "from the cache with streaming=false; files at hand are read with parquet:PATH or jsonl:PATH"
)


@dataclass(frozen=True)
class HubDataset:
    """A split of a hub dataset at a pinned revision, in one language; its parts are the hub's own files."""

    name: str
    repository: str
    config: str | None
    split: str
    revision: str | None
    language: str
    fields: Fields
    rows: int | None = None
    streaming: bool = True
    offline: bool = False
    parallel: bool = False
    kind: str = "text"

    @property
    def languages(self) -> Sequence[str]:
        """The one language."""
        return [self.language]

    def shards(self, language: str) -> Sequence[Shard]:
        """A shard per file of the hub's, or a single one where only the first rows are wanted."""
        if language != self.language:
            raise CorpusError(f"{self.name} has no language {language!r}; it has {self.language}")
        table = self._table  # opened in any case: a name that is wrong is told when a run is planned
        count = 1 if self.rows is not None else max(1, int(getattr(table, "num_shards", 1) or 1))
        return [
            Shard(language, self.repository, index, index, index + 1, stamp=self._commit, extra={"of": count})
            for index in range(count)
        ]

    def read(self, shard: Shard) -> Iterator[Document]:
        """The rows of a part, streamed."""
        table, of = self._table, int(shard.extra.get("of", 1))
        if shard.stamp != self._commit:
            raise CorpusError(
                f"{self.name}: the hub's revision changed during the run; pin it: revision=COMMIT"
            )
        part = table.shard(num_shards=of, index=shard.start) if of > 1 else table
        rows = enumerate(islice(part, self.rows))
        while True:
            try:
                number, row = next(rows)
            except StopIteration:
                return
            except Exception as error:  # whatever the library raises, from timeouts to damaged files
                raise self._failure(error) from error
            text = self.fields.text_of(row, where=f"{self.name}, part {shard.start}, row {number}")
            if text is not None:
                yield Document(text)

    def digest(self, shard: Shard) -> str:
        """SHA-256 of repository, commit, split, part and fields: a commit never changes its content."""
        key = [self.repository, self.config, self.split, shard.stamp, shard.start, shard.extra.get("of", 1)]
        whole = [*key, self.rows, self.language, dict(self.fields.identity())]
        return hashlib.sha256(json.dumps(whole).encode()).hexdigest()

    def facts(self) -> Mapping[str, Any]:
        """Repository, configuration, split and commit."""
        return {
            "origin": f"https://huggingface.co/datasets/{self.repository}",
            "config": self.config,
            "split": self.split,
            "revision": self._commit,
        }

    @cached_property
    def _table(self) -> Any:
        library = _library(self.name)
        if self.offline:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        how = {"split": self.split, "revision": self.revision, "streaming": self.streaming}
        try:
            return library.load_dataset(self.repository, self.config, **how)
        except Exception as error:
            raise self._failure(error) from error

    @cached_property
    def _commit(self) -> str:
        """The commit that the revision stands for; the revision itself where the hub cannot be asked."""
        named = self.revision or "main"
        try:
            from huggingface_hub import HfApi

            return HfApi().dataset_info(self.repository, revision=self.revision, timeout=10).sha or named
        except Exception:  # offline with a filled cache: the name has to do
            return named

    def _failure(self, error: Exception) -> CorpusError:
        hint = f". {_OFFLINE}" if isinstance(error, OSError) else ""  # ConnectionError is one too
        return CorpusError(f"{self.name}: {described(error)}{hint}")


def _library(name: str) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise CorpusError(f"{name}: {_INSTALL}") from error
    if not hasattr(datasets, "load_dataset"):  # a folder of that name on sys.path
        raise CorpusError(f"{name}: {_INSTALL} (what Python found instead: {datasets!r})")
    return datasets


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``hub:NAME``; opened when its shards are asked for."""
    _library(str(spec))
    return HubDataset(
        name=str(spec),
        repository=path_of(spec),
        config=spec.get("config"),
        split=spec.get("split", "train"),
        revision=spec.get("revision"),
        language=spec.get("language", UNKNOWN),
        fields=Fields(spec.get("field", "text"), None, spec.get("missing", "error")),
        rows=spec.get("rows"),
        streaming=bool(spec.get("streaming", True)),
        offline=context.offline,
    )
