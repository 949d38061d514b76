"""The family `conllu`: treebanks in CoNLL-U, a document per sentence, with its gold words.

Format: https://universaldependencies.org/format.html. Words are what stands in the text: of a multiword token
(``3-4 des``) the token counts, not the syntactic words inside it, which have no place of their own; empty nodes
(``5.1``) count for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tokbench.corpora import CONLLU, blocks
from tokbench.corpora.dataset import FileDataset, Format, range_shards
from tokbench.corpora.encodings import Encoded, encoded_by, open_text
from tokbench.corpora.finding import find_files, path_of
from tokbench.corpora.naming import by_language, choose, note_on
from tokbench.corpora.storage import StoredFile
from tokbench.corpus import Dataset, Document, Shard
from tokbench.errors import CorpusError
from tokbench.spec import LoadContext, Spec
from tokbench.wording import counted

_SENTENCE_END = re.compile(rb"\n(?:[ \t\r]*\n)+")
_TEXT_COMMENT = re.compile(r"# ?text ?= ?(.*)")


@dataclass(frozen=True, slots=True)
class Conllu(Encoded, Format):
    """A sentence per document; `punctuation` says whether words tagged PUNCT are among its words."""

    punctuation: bool = True

    def identity(self) -> Mapping[str, Any]:
        """The options."""
        return self.told(format="conllu", punctuation=self.punctuation)

    def shards(self, file: StoredFile, language: str) -> Sequence[Shard]:
        """Byte ranges that end after a sentence."""
        return range_shards(file, language, blocks.BLANK_LINE, self)

    def documents(self, shard: Shard) -> Iterator[Document]:
        """The sentences of a shard."""
        with open_text(shard.source, self, shard.start) as handle:
            for start, block in blocks.blocks(handle, shard.start, shard.stop, blocks.BLANK_LINE):
                ends = (gap.end() for gap in _SENTENCE_END.finditer(block))
                for begin, stop in pairwise([0, *ends, len(block)]):
                    data, offset = block[begin:stop], start + begin
                    text = blocks.decode(data, path=shard.source, offset=offset, errors=self.errors)
                    lines = [line.rstrip("\r") for line in text.split("\n")]
                    if document := self._sentence(lines, shard.source, offset):
                        yield document

    def _sentence(self, lines: Sequence[str], path: str, offset: int) -> Document | None:
        text: str | None = None
        words: list[_TreebankWord] = []
        inside = 0  # last syntactic word that a multiword token covers
        for number, line in enumerate(lines):
            if line.startswith("#"):
                comment = _TEXT_COMMENT.match(line)
                text = comment[1] if comment else text
            elif line.strip():
                columns = line.split("\t")
                name, _, last = columns[0].partition("-")
                wrong = ""
                if len(columns) != 10:
                    wrong = f"{counted(len(columns), 'column')} between tabs, where CoNLL-U has 10"
                elif "-" in columns[0] and not (name + last).isdecimal():
                    wrong = f"{columns[0]!r} is no range of words such as 3-4"
                if wrong:
                    at = blocks.line_number(path, offset, self.encoding) + number
                    raise CorpusError(f"{path}, line {at}: {wrong}")
                if last:
                    inside = int(last)
                elif "." in name or (name.isdecimal() and int(name) <= inside):
                    continue
                spaced = "SpaceAfter=No" not in columns[9].split("|")
                words.append(_TreebankWord(columns[1], columns[3] == "PUNCT", spaced))
        if not words:
            return None
        if text is None:
            text = "".join(word.form + " " * word.spaced for word in words).rstrip(" ")
        return Document(text, None, tuple(self._spans(text, words, path, offset)))

    def _spans(
        self, text: str, words: Sequence[_TreebankWord], path: str, offset: int
    ) -> Iterator[tuple[int, int]]:
        """Where each word stands in the text; words follow one another with nothing but blanks between."""
        position = 0
        for word in words:
            while (
                position < len(text) and text[position].isspace() and not text.startswith(word.form, position)
            ):
                position += 1
            if not text.startswith(word.form, position):
                line = blocks.line_number(path, offset, self.encoding)
                raise CorpusError(
                    f"{path}, line {line}: the word {word.form!r} is not at "
                    f"character {position} of the text, which goes on {text[position : position + 20]!r}"
                )
            if self.punctuation or not word.punctuation:
                yield position, position + len(word.form)
            position += len(word.form)


@dataclass(frozen=True, slots=True)
class _TreebankWord:
    form: str
    punctuation: bool
    spaced: bool


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``conllu:PATH``."""
    files = by_language(find_files(path_of(spec), CONLLU), spec.get("language"))
    return FileDataset(
        name=str(spec),
        files={tag: files[tag] for tag in choose(files, spec.get("languages"), where=str(spec))},
        format=Conllu(bool(spec.get("punctuation", True)), **encoded_by(spec)),
        word_unit="gold",
        note=note_on(files, spec),
    )
