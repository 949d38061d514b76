"""The families `parallel` and `flores`: one file per language, line n of each says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from tokbench.corpora import blocks
from tokbench.corpora.dataset import FileDataset, Format, range_shards, text_of
from tokbench.corpora.encodings import Encoded, encoded_by, open_text
from tokbench.corpora.finding import bare_name, find_files, path_of
from tokbench.corpora.naming import UNKNOWN, choose, text_language
from tokbench.corpora.storage import StoredFile, chunks
from tokbench.corpus import Dataset, Document, Shard
from tokbench.errors import CorpusError, SpecError
from tokbench.spec import LoadContext, Spec
from tokbench.wording import all_of_whom, counted


@dataclass(frozen=True, slots=True)
class AlignedLines(Encoded, Format):
    """Every line is a document with its number, from 0; a blank one too, so that languages stay aligned.

    `lines` may be ``even`` or ``odd``: half of the lines, the same in every language, so that one half can
    train what the other half measures.
    """

    lines: str = "all"

    def identity(self) -> Mapping[str, Any]:
        """Aligned lines, which of them, encoding, and the treatment of undecodable bytes."""
        half = {} if self.lines == "all" else {"lines": self.lines}
        return self.told(format="aligned lines", **half)

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """Byte ranges that end after a line, each with the number of its first line."""
        shards, line = [], 0
        for shard in range_shards(file, language, blocks.LINE_END, self):
            shards.append(replace(shard, extra={"line": line}) if line else shard)
            line += self.count_lines(shard)
        return shards

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The lines of a shard, numbered."""
        number = int(shard.extra.get("line", 0))
        for block in text_of(shard, blocks.LINE_END, self):
            for text in block.removesuffix("\n").split("\n"):
                if self.reads(number):
                    yield Document(text.removesuffix("\r"), number)
                number += 1

    def reads(self, number: int) -> bool:
        """Whether line `number`, from 0, is one of those that are read."""
        return number % 2 != {"even": 1, "odd": 0}.get(self.lines)

    def count_lines(self, shard: Shard) -> int:
        """How many lines a shard has; the last one need not end with a line end."""
        lines, last = 0, b"\n"
        with open_text(shard.source, self, shard.start) as handle:
            for chunk in chunks(handle, shard.stop - shard.start if shard.stop >= 0 else None):
                lines += chunk.count(b"\n")
                last = chunk[-1:]
        return lines + (last != b"\n")


@dataclass(frozen=True, slots=True)
class ParallelDataset(FileDataset):
    """One file per language, checked to have equally many lines before a shard of it is handed out."""

    format: AlignedLines = AlignedLines()
    parallel: bool = True
    _lines: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def shards(self, language: str) -> Sequence[Shard]:
        """The shards of one language; raises `CorpusError` if it is not aligned with the first language."""
        shards = FileDataset.shards(self, language)
        first = next(iter(self.files))
        if self._count(language) != self._count(first):
            raise CorpusError(
                f"{self.files[language][0]} has {counted(self._count(language), 'line')}, "
                f"{self.files[first][0]} has {self._count(first):,}: line by line parallel files need equally "
                "many"
            )
        return shards

    def facts(self) -> Mapping[str, Any]:
        """What the manifest says; ``lacks`` tells of lines that are blank in some languages alone."""
        lacks = self._lacks()
        return {**FileDataset.facts(self), **({"lacks": lacks} if lacks else {})}

    def _lacks(self) -> str:
        blank = {language: self._blank(language) for language in self.files}
        somewhere: set[int] = {number for numbers in blank.values() for number in numbers}
        alone = {n for n in somewhere if not all(n in numbers for numbers in blank.values())}
        if not alone:
            return ""
        first = min(alone)
        has = next(language for language, numbers in blank.items() if first in numbers)
        return (
            f"Blank in some languages only: {counted(len(alone), 'line')}, such as line {first + 1} in {has}. "
            "A blank line costs no tokens, so these languages look cheaper than they are (premium, gini); "
            "remove such lines from all files."
        )

    def _blank(self, language: str) -> set[int]:
        with open_text(self.files[language][0], self.format) as handle:
            return {n for n, line in enumerate(handle) if line.isspace() and self.format.reads(n)}

    def _count(self, language: str) -> int:
        if language not in self._lines:
            self._lines[language] = self.format.count_lines(Shard(language, self.files[language][0]))
        return self._lines[language]


def load_parallel(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``parallel:FOLDER``: files named by language tag, as ``eng_Latn.txt``."""
    folder = path_of(spec)
    if Path(folder).expanduser().is_file():
        raise SpecError(
            f"{spec}: {folder} is a file, but parallel takes a folder of files named by language, such as "
            f"eng_Latn.txt; for a single text use text:{folder}"
        )
    paths = find_files(
        folder,
        wanted=lambda name: text_language(name) != UNKNOWN and not name.endswith((".conllu", ".json")),
        describe="files named by language, such as eng_Latn.txt",
    )
    note = "" if spec.get("languages") else _left_alone(folder, paths, spec)
    return ParallelDataset(str(spec), _one_each(paths, spec), aligned(spec), note=note)


def _left_alone(folder: str, paths: Sequence[str], spec: Spec) -> str:
    """What to say of files that end as those that are read, and have no language in their names."""
    endings = tuple({PurePath(bare_name(path)).suffix.lower() for path in paths})
    others = [bare_name(path) for path in find_files(folder, endings) if path not in paths]
    if not others:
        return ""
    whose = "the name" if len(others) == 1 else "each name"
    left = all_of_whom(others, "is", "are")
    return f"{spec}: {left} ignored, because {whose} does not contain a language such as eng_Latn"


def load_flores(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``flores:FOLDER``: FLORES-200's layout, ``dev/eng_Latn.dev`` and ``devtest/…``."""
    folder, split = path_of(spec).rstrip("/"), spec.get("split")
    for candidate in [split] if split else ["dev", "devtest"]:
        ending = f".{candidate}"

        def wanted(name: str, ending: str = ending) -> bool:
            return name.endswith(ending) and text_language(name) != UNKNOWN

        for place in (f"{folder}/{candidate}", folder):
            try:
                paths = find_files(place, wanted=wanted, describe=f"*{ending} files")
            except CorpusError:
                continue
            return ParallelDataset(
                str(spec),
                _one_each([path for path in paths if wanted(bare_name(path))], spec),
                aligned(spec),
                about={"split": candidate},
            )
    raise CorpusError(
        f"{folder}: not a FLORES-200 folder: there is no "
        + (f"{split}/LANG.{split}" if split else "dev/LANG.dev nor devtest/LANG.devtest")
        + " in it. For a folder of LANG.txt files use parallel:FOLDER"
    )


def aligned(spec: Spec) -> AlignedLines:
    """How a spec wants its aligned lines read."""
    return AlignedLines(spec.get("lines", "all"), **encoded_by(spec))


def _one_each(paths: Sequence[str], spec: Spec) -> dict[str, list[str]]:
    files: dict[str, str] = {}
    for path in paths:
        tag = text_language(bare_name(path))
        if tag in files:
            raise SpecError(f"{spec}: two files for the language {tag}: {files[tag]} and {path}")
        files[tag] = path
    return {tag: [files[tag]] for tag in choose(files, spec.get("languages"), where=str(spec))}
