"""Words with their morpheme boundaries, read from the formats in which researchers publish them.

- MorphScore: CSV with columns ``full_word, pt1, rest``.
- SIGMORPHON 2022 segmentation task: TSV, word, then morphemes separated by `` @@`` (canonical forms).
- MorphyNet: TSV; inflectional (lemma, form, features, ``stem|affix``) and derivational (source, target, two
  parts of speech, affix, ``prefix`` or ``suffix``).
- UniMorph: TSV, lemma, form, features, and since version 4 the segmentation ``stem|affix``.

What is wanted is boundaries in the word as it is written. A row whose morphemes do not spell the word
(canonical forms often do not) is left out and counted in `GoldWords.skipped`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tokbench.errors import CorpusError, UnknownNameError
from tokbench.wording import counted, reason


@dataclass(frozen=True, slots=True)
class GoldWord:
    """A word and the places, in code points, where one morpheme ends and the next begins."""

    word: str
    cuts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GoldWords:
    """The words of a file, those of one morpheme too, and how many of its rows were left out."""

    words: tuple[GoldWord, ...]
    skipped: int = 0


Row = Sequence[str]


def from_morphemes(word: str, morphemes: Sequence[str]) -> GoldWord | None:
    """The word cut into `morphemes`, be it one, or None where they do not spell it.

    Example:
        >>> from_morphemes("lighted", ["light", "ed"]), from_morphemes("cat", ["cat"])
        (GoldWord(word='lighted', cuts=(5,)), GoldWord(word='cat', cuts=()))
    """
    parts = [part for part in morphemes if part]
    if not parts or "".join(parts) != word:
        return None
    return GoldWord(word, tuple(accumulate(map(len, parts[:-1]))))


def _morphscore(row: Row) -> GoldWord | None:
    """A row of two parts: the data has no words of one morpheme, and one that lacks a part is a slip."""
    return from_morphemes(row[0], row[1:3]) if row[1] and row[2] else None


def _sigmorphon(row: Row) -> GoldWord | None:
    return from_morphemes(row[0], row[1].replace("@@", "").split())


def _unimorph(row: Row) -> GoldWord | None:
    lemma, form = row[0], row[1]
    if len(row) > 3 and row[3].strip("-"):
        return from_morphemes(form, row[3].split("|"))
    if form != lemma and form.startswith(lemma):
        return GoldWord(form, (len(lemma),))
    if form != lemma and form.endswith(lemma):
        return GoldWord(form, (len(form) - len(lemma),))
    return None


def _morphynet(row: Row) -> GoldWord | None:
    if len(row) >= 6 and row[5] in ("prefix", "suffix"):
        word, affix = row[1], row[4]
        if row[5] == "prefix" and word.startswith(affix):
            return from_morphemes(word, [affix, word[len(affix) :]])
        if row[5] == "suffix" and word.endswith(affix):
            return from_morphemes(word, [word[: len(word) - len(affix)], affix])
        return None
    return _unimorph(row) if len(row) > 3 else None


_FORMATS: dict[str, tuple[int, Callable[[Row], GoldWord | None]]] = {
    "morphscore": (3, _morphscore),
    "sigmorphon": (2, _sigmorphon),
    "morphynet": (4, _morphynet),
    "unimorph": (3, _unimorph),
}


def read_gold(path: Path, format: str) -> GoldWords:
    """The gold words of a file in one of the formats ``morphscore, sigmorphon, morphynet, unimorph``.

    A word that occurs more than once counts once, with its first segmentation. Raises `CorpusError` with the
    file and line for a row of too few columns.
    """
    if format not in _FORMATS:
        raise UnknownNameError.of("format of gold segmentations", format, _FORMATS)
    fewest, parse = _FORMATS[format]
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"gold segmentations {path}: {reason(error)}") from error
    found: dict[str, GoldWord] = {}
    seen = 0
    for line, row in _rows(text, path, format):
        if len(row) < fewest:
            raise CorpusError(
                f"{path}, line {line}: {counted(len(row), 'column')} where the format {format} has at least "
                f"{fewest}"
            )
        seen += 1
        word = parse(row)
        if word is not None:
            found.setdefault(word.word, word)
    return GoldWords(tuple(found.values()), seen - len(found))


def _rows(text: str, path: Path, format: str) -> Iterator[tuple[int, Row]]:
    if format != "morphscore":
        for line, content in enumerate(text.split("\n"), 1):
            if content.strip():
                yield line, content.rstrip("\r").split("\t")
        return
    reader = csv.reader(io.StringIO(text), strict=True)
    line = 1
    try:
        header = next(reader, [])
        missing = {"full_word", "pt1", "rest"} - set(header)
        if missing:
            raise CorpusError(f"{path}: no column {', '.join(sorted(missing))}; MorphScore files have it")
        places = [header.index(name) for name in ("full_word", "pt1", "rest")]
        line = reader.line_num + 1
        for row in reader:
            if row:
                yield line, [row[place] for place in places if place < len(row)]
            line = reader.line_num + 1
    except csv.Error as error:
        raise CorpusError(f"{path}, line {line}: {error}") from None
