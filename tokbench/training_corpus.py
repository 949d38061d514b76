"""What a tokenizer is trained on: the text of some datasets in a row, or their words, counted already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tokbench.corpus import CountedDataset, Dataset, Document, Shard
from tokbench.counts import WordCounts
from tokbench.errors import CorpusError
from tokbench.wording import percent

NOT_JOINED = (
    "counts cannot be joined while training; add files of counts up first, with tokbench count --merge FILE "
    "--merge FILE -o FILE"
)


def check_cut(name: str, counted: str, wanted: str, cut: str) -> None:
    """Raise `CorpusError` unless text was `counted` by the `cut` of the training that is to use it."""
    if counted != cut:
        raise CorpusError(
            f"{name} was counted for {wanted}, cut by [{counted}]; this training cuts by [{cut}]: count anew "
            "with --for and the spec that is to be trained"
        )


@dataclass(frozen=True, slots=True)
class TrainingCorpus:
    """The text a tokenizer is trained on: restartable, streamed, with its languages in a fixed order.

    `sizes` tells, once it was read, how many bytes of UTF-8 each language had in it.

    Example:
        >>> corpus = TrainingCorpus.of_texts(["ab", "ba"])
        >>> list(corpus.texts()), corpus.sizes
        (['ab', 'ba'], {'und': 4})
    """

    dataset: Dataset
    languages: tuple[str, ...]
    sizes: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> TrainingCorpus:
        """A corpus of texts in memory; raises `CorpusError` where there are none, or for what is no text."""
        if not texts:
            raise CorpusError("no texts to train on: the list is empty")
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise CorpusError(
                    f"texts to train on: number {number} is of type {type(text).__name__}, not str"
                )
        if not any(texts):
            raise CorpusError("no text to train on: every one is empty")
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        return cls(_Memory(tuple(texts), size), ("und",))

    @classmethod
    def of(cls, *datasets: Dataset) -> TrainingCorpus:
        """All languages of a dataset, or of several in a row, as `joined` has them.

        Example:
            >>> import tokbench
            >>> TrainingCorpus.of(tokbench.load_dataset("bundled:code")).languages[:2]
            ('c', 'cpp')
        """
        return cls.joined([cls(dataset, tuple(dataset.languages)) for dataset in datasets])

    @classmethod
    def joined(cls, parts: Sequence[TrainingCorpus]) -> TrainingCorpus:
        """Several corpora as one, in that order. Raises `CorpusError` where one of several is counts.

        Example:
            >>> parts = [TrainingCorpus.of_texts(["a"]), TrainingCorpus.of_texts(["b", "c"])]
            >>> list(TrainingCorpus.joined(parts).texts())
            ['a', 'b', 'c']
        """
        if len(parts) == 1:
            return parts[0]
        for part in parts:
            if part.counted:
                raise CorpusError(f"{part.dataset.name}: {NOT_JOINED}")
        return cls(_Joined(tuple(parts)), ("mul",))

    def shards(self) -> Iterator[Shard]:
        """Every shard, language by language."""
        for language in self.languages:
            yield from self.dataset.shards(language)

    def texts(self) -> Iterator[str]:
        """Every document's text, streamed, always in the same order."""
        self.sizes.clear()
        yield from self._texts(self.shards())

    def texts_told(self, progress: Callable[[float, str], None], doing: str, share: float) -> Iterator[str]:
        """The same, with `progress` told how much has been read, up to a `share` of the whole training."""
        total, seen = max(self.n_bytes, 1), 0
        for text in self.texts():
            yield text
            seen += len(text.encode("utf-8", "surrogatepass"))
            progress(share * min(seen / total, 1.0), doing)

    def _texts(self, shards: Iterable[Shard]) -> Iterator[str]:
        for shard in shards:
            size = self.sizes.get(shard.language, 0)
            try:
                for text in self._texts_of(shard):
                    size += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
                    yield text
            finally:  # also where whoever reads has had enough
                if size:
                    self.sizes[shard.language] = size

    def _texts_of(self, shard: Shard) -> Iterable[str]:
        if isinstance(self.dataset, _Memory):  # a `Document` for each takes as long as counting its words
            return self.dataset.rows[shard.start : shard.stop]
        return (document.text for document in self.dataset.read(shard))

    def by_language(self, cut: str) -> Iterator[tuple[str, Iterator[str] | WordCounts]]:
        """Each language with its texts or counts (see `source`), in order; to be read one after the other."""
        if self.counted:
            self.source(cut)  # refuses what was cut otherwise
            for language in self.languages:
                yield language, replace(self, languages=(language,), sizes={}).source(cut)
            return
        self.sizes.clear()
        shards = list(self.shards())
        for language in dict.fromkeys(shard.language for shard in shards):
            yield language, self._texts(shard for shard in shards if shard.language == language)

    @property
    def counted(self) -> bool:
        """Whether it is counts, of which there is no text."""
        return isinstance(self.dataset, CountedDataset)

    def source(self, cut: str) -> Iterator[str] | WordCounts:
        """What to train on: the texts, or their pre-tokens where they are counted already.

        Raises `CorpusError` where they were cut otherwise than by `cut`, the family's name for how it cuts.
        """
        if not isinstance(self.dataset, CountedDataset):
            return self.texts()
        check_cut(self.dataset.name, self.dataset.cut, self.dataset.wanted, cut)
        words, sizes = self.dataset.counts(self.languages)
        self.sizes.clear()
        self.sizes.update(sizes)
        return words

    @property
    def n_bytes(self) -> int:
        """The expected size in bytes of UTF-8, for progress."""
        return sum(shard.n_bytes for shard in self.shards())


def shares(sizes: Mapping[str, int], most: int | None = None) -> str:
    """Bytes of languages in words, with the share of each, the largest first; of more than `most`, in a number.

    Example:
        >>> shares({"deu_Latn": 250, "eng_Latn": 750})
        '1,000 bytes: eng_Latn 75.0 %, deu_Latn 25.0 %'
        >>> shares({"deu_Latn": 250, "eng_Latn": 750}, most=1)
        '1,000 bytes of 2 languages'
    """
    total = sum(sizes.values())
    if most is not None and len(sizes) > most:
        return f"{total:,} bytes of {len(sizes)} languages"
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{language} {percent(size / max(1, total), 1)}" for language, size in largest)
    return f"{total:,} bytes: {told}" if sizes else ""


@dataclass(frozen=True, slots=True)
class _Joined:
    """Several corpora as one dataset; each shard remembers which of them reads it."""

    parts: tuple[TrainingCorpus, ...]
    languages: Sequence[str] = ("mul",)
    parallel: bool = False

    @property
    def name(self) -> str:
        return " + ".join(part.dataset.name for part in self.parts)

    def shards(self, language: str) -> Sequence[Shard]:
        return [
            replace(shard, extra={"part": number, "of": shard.extra})
            for number, part in enumerate(self.parts)
            for shard in part.shards()
        ]

    def read(self, shard: Shard) -> Iterator[Document]:
        return self._dataset(shard).read(replace(shard, extra=shard.extra["of"]))

    def digest(self, shard: Shard) -> str:
        return self._dataset(shard).digest(replace(shard, extra=shard.extra["of"]))

    def _dataset(self, shard: Shard) -> Dataset:
        number: int = shard.extra["part"]
        return self.parts[number].dataset


@dataclass(frozen=True, slots=True)
class _Memory:
    """A dataset of texts in memory, for tests, notebooks and `tokbench.load(..., train_on=[...])`."""

    rows: tuple[str, ...]
    n_bytes: int
    name: str = "memory"
    languages: Sequence[str] = ("und",)
    parallel: bool = False

    def shards(self, language: str) -> Sequence[Shard]:
        return [Shard(language, "memory", stop=len(self.rows), n_bytes=self.n_bytes)]

    def read(self, shard: Shard) -> Iterator[Document]:
        return (Document(text) for text in self.rows[shard.start : shard.stop])

    def digest(self, shard: Shard) -> str:
        import hashlib

        rows = self.rows[shard.start : shard.stop]
        joined = b"\0".join(text.encode("utf-8", "surrogatepass") for text in rows)
        return hashlib.sha256(joined).hexdigest()
