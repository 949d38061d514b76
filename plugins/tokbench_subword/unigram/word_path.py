"""`WordPath`: from text to words with account of where each byte comes from, in kernels, where rules allow it.

Most such files say: literal replacements, then rules that look at single characters, then `Precompiled`, then
the ends and runs of spaces, perhaps a mark in front, then words. `word_kernels` does that for a whole batch;
documents in which characters depend on their neighbours in other ways than it knows are left to the plain path,
as are files that say more.

Spans of tokens are found this way, and so whatever is counted of such a tokenizer: of T5's and ALBERT's files
in 20 to 70 MB/s, where the plain path, character by character, does 0.1 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce
from tokbench.kernels.pointers import PADDING
from tokbench.kernels.text import utf8_of
from tokbench.kernels.unicode_classes import class_table
from tokbench_subword.files.tokenizer_json import Document, steps_of
from tokbench_subword.pipeline.charsmap_tables import CharsmapTables, charsmap_tables
from tokbench_subword.pipeline.leading import Leading
from tokbench_subword.pipeline.normal_form_tables import JOINS, normal_form_tables
from tokbench_subword.pipeline.normal_forms import Form
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.precompiled import decoded_charsmap
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.pipeline.versions import unsettled_case, unsettled_marks, unsettled_normal_form
from tokbench_subword.unigram import word_kernels as kernels
from tokbench_subword.unigram.json_export import ENDS
from tokbench_subword.unigram.origins import number_characters

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_APART = "\ua000"  # a letter that no rule touches, and that stands by itself in every form
_N_CODE_POINTS = 0x110000
# Where characters are that change or combine: not among ideographs of the higher planes, nor in private use.
_MAPPED_POINTS = [*range(0xD800), *range(0xF900, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200)]
_MARK = "\u2581"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Documents cut into words: word w is ``data[words[w]:words[w + 1]]``, those of document d end before word
    ``documents[d + 1]``. Those at `left` need the plain path. `origins` say where each byte of `data` comes
    from; behind it, `PADDING` bytes may be read.
    """

    data: NDArray[np.uint8]
    words: NDArray[np.int64]
    documents: NDArray[np.int64]
    left: list[int]
    origins: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class WordPath:
    """The compiled rules: literal replacements, tables for the kernels, and what `cut_words` does.

    `leading` tells where a document begins once it is normalized, where only a text that begins there gets a
    mark in front. The kernels put one before every text: others are left to the plain path.
    """

    literals: tuple[tuple[str, str], ...]
    characters: tuple[NDArray[Any], ...] | None
    clusters: CharsmapTables | None
    rules: int
    leading: Leading | None

    @classmethod
    def of(cls, document: Document, *, match_special: bool = False) -> WordPath | None:
        """The path of a document, or None where its rules are not of the kind described above."""
        rules = _word_rules(steps_of(document.pre_tokenizer, "pretokenizers"))
        steps = list(steps_of(document.normalizer, "normalizers"))
        literals = []
        while steps and (pair := _literal(steps[0])) is not None and pair[0] not in (" ", _MARK):
            literals.append(pair)
            del steps[0]
        local = []
        while steps and steps[0].get("type") in (*_FORMS, "Lowercase", "StripAccents", "Nmt"):
            local.append(steps.pop(0))
        charsmap = None
        if steps and steps[0].get("type") == "Precompiled":
            charsmap = decoded_charsmap(steps.pop(0).get("precompiled_charsmap"))
        ends = _space_rules(steps)
        searched = any(
            token.normalized and (match_special or not token.special) for token in document.added_tokens
        )
        if rules is None or ends is None or searched:
            return None
        announce(kernels.cut_words)
        first = str(steps_of(document.pre_tokenizer, "pretokenizers")[-1].get("prepend_scheme")) == "first"
        leading = Leading(document.normalizer) if first and document.normalizer else None
        characters = _characters(tuple(str(step["type"]) for step in local)) if local else None
        clusters = charsmap_tables(charsmap) if charsmap else None
        return cls(tuple(literals), characters, clusters, rules | ends, leading)

    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Normalize and cut texts."""
        data, offsets = utf8_of(texts)
        left = np.zeros(len(texts), np.uint8)
        if self.leading is not None:
            left[:] = (self.leading.of(Segments(data, offsets)) == 0) & (np.diff(offsets) > 0)
        origins = np.empty(int(offsets[-1]), np.int64)
        number_characters(data, offsets, origins)
        changed = False
        for literal in self.literals:
            changed = changed or any(literal[0] in text for text in texts)
            if changed:
                tables = [np.frombuffer(text.encode(), np.uint8) for text in literal]
                data, offsets, origins = _grown(kernels.replace_literal, data, offsets, tables, origins)
        if self.characters is not None:
            tables = [*self.characters, left]
            data, offsets, origins = _grown(kernels.map_characters, data, offsets, tables, origins)
        if self.clusters is not None:
            tables = [self.clusters.block, left]
            data, offsets, origins = _grown(kernels.map_clusters, data, offsets, tables, origins)
        size = int(offsets[-1]) + len(texts)
        out, places = np.empty(3 * size + PADDING, np.uint8), np.empty(3 * size, np.int64)
        words = np.empty(size + 1, np.int64)  # a mark put in front may be a word of its own
        documents = np.empty(len(texts) + 1, np.int64)
        n_words = kernels.cut_words(
            data, offsets, self.rules, class_table(), out, words, documents, origins, places
        )
        return Prepared(out, words[: n_words + 1], documents, np.flatnonzero(left).tolist(), places)


def _grown(
    kernel: Callable[..., int],
    source: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    tables: Iterable[NDArray[Any]],
    origins: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """What a kernel makes of the documents, with as much room as it turns out to need."""
    capacity = int(offsets[-1]) * 5 // 4 + 64
    while True:
        out, ends = np.empty(capacity + PADDING, np.uint8), np.zeros(len(offsets), np.int64)
        carried = np.empty(capacity, np.int64)
        if kernel(source, offsets, *tables, out[:capacity], ends, origins, carried) >= 0:
            return out, ends, carried
        capacity *= 2


# --- what a file says --------------------------------------------------------------------------------


def _literal(step: Mapping[str, Any]) -> tuple[str, str] | None:
    """The strings of a literal replacement."""
    pattern = step.get("pattern")
    text = pattern.get("String") if isinstance(pattern, Mapping) else pattern
    if step.get("type") != "Replace" or not isinstance(text, str) or not text:
        return None
    return text, str(step["content"])


def _space_rules(steps: Sequence[Mapping[str, Any]]) -> int | None:
    """Flags for the normalizers behind the map, or None where there are others: spaces at the ends go, then in
    runs; then a mark comes first, and spaces become marks.
    """
    rules, replaced = 0, False
    for step in steps:
        kind, pattern, content = step.get("type"), step.get("pattern"), step.get("content")
        if _literal(step) == (" ", _MARK):
            replaced = True
        elif kind == "Prepend" and step.get("prepend") == _MARK and not rules & kernels.MARK_FIRST:
            rules |= kernels.MARK_FIRST
        elif replaced or rules & kernels.MARK_FIRST:
            return None
        elif kind == "Replace" and pattern == {"Regex": " {2,}"} and content in (" ", _MARK):
            rules |= kernels.COLLAPSE
        elif rules & kernels.COLLAPSE:
            return None
        elif kind == "Replace" and pattern == {"Regex": ENDS} and content == "":
            rules |= kernels.STRIP_BLANKS
        elif kind == "Strip" and not rules & kernels.STRIP_BLANKS:
            rules |= (kernels.STRIP_LEFT if step.get("strip_left") else 0) | (
                kernels.STRIP_RIGHT if step.get("strip_right") else 0
            )
        else:
            return None
    return rules


def _word_rules(steps: Sequence[Mapping[str, Any]]) -> int | None:
    """Flags for the pre-tokenizers, or None where they are not Metaspace, perhaps behind WhitespaceSplit."""
    if not steps or steps[-1].get("type") != "Metaspace" or steps[-1].get("replacement") != _MARK:
        return None
    last = steps[-1]
    scheme = last.get("prepend_scheme") or ("always" if last.get("add_prefix_space", True) else "never")
    rules = (kernels.PREPEND if scheme != "never" else 0) | (
        kernels.SPLIT_MARK if last.get("split") is not False else 0
    )
    if len(steps) == 1:
        return rules
    if len(steps) == 2 and steps[0].get("type") == "WhitespaceSplit" and scheme != "first":
        return rules | kernels.SPLIT_SPACE
    return None


# --- tables ------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _characters(kinds: tuple[str, ...]) -> tuple[NDArray[Any], ...]:
    """The tables of `map_characters` for some normalizers, from what the plain ones make of each character."""
    entries = np.zeros(_N_CODE_POINTS, np.int32)
    plain = normalizer_of({"type": "Sequence", "normalizers": [{"type": kind} for kind in kinds]})
    assert plain is not None
    context = _context(kinds)
    points = [point for point in _MAPPED_POINTS if point not in context and chr(point) != _APART]
    joined = _APART + _APART.join(map(chr, points)) + _APART
    mapped = bytearray(b"\0")
    for point, new in zip(points, plain(Stretch(joined)).text[1:-1].split(_APART), strict=True):
        if new != chr(point):
            entries[point] = len(mapped) << kernels.SLOT_SHIFT | kernels.REPLACED
            mapped += bytes([len(new.encode())]) + new.encode()
    entries[sorted(context)] = kernels.CONTEXT
    return entries, np.frombuffer(bytes(mapped), np.uint8)


def _context(kinds: tuple[str, ...]) -> set[int]:
    """The characters that cannot be normalized by themselves.

    Those on which Unicode versions differ, which `versions` asks a library about; and for normal forms, those
    that are reordered or composed with what is before them, unless all accents go in the next step.
    """
    unsettled = []
    if "Lowercase" in kinds:
        unsettled.append(unsettled_case())
    if "StripAccents" in kinds:
        unsettled.append(unsettled_marks())
    context: set[int] = set()
    for kind, following in zip(kinds, (*kinds[1:], ""), strict=True):
        if kind in _FORMS:
            unsettled.append(unsettled_normal_form())
            if not (kind in ("NFD", "NFKD") and following == "StripAccents"):
                about = normal_form_tables(cast(Form, kind)).about
                context.update(np.flatnonzero(about & np.uint32(JOINS)).tolist())
    everything = "".join(map(chr, _MAPPED_POINTS))
    return context.union(*(map(ord, one.members(everything)) for one in unsettled))
