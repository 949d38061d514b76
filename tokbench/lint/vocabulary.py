"""Checks of the vocabulary: which ids can be produced, and what its tokens are. Codes TB2xx."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import replace
from functools import partial

from tokbench.inspection.audit import Status
from tokbench.lint.check import SHOWN, Bounds, Check, Finding, Outcome
from tokbench.lint.subject import Subject, shown
from tokbench.tokenizer import token_bytes
from tokbench.wording import counted

_CONTINUATION = range(0x80, 0xC0)
_NEVER_IN_UTF8 = frozenset([0xC0, 0xC1, *range(0xF5, 0x100)])
_ENOUGH = 20
_MOJIBAKE = re.compile(r"[ÃÂ]{2}|Ã[\x80-\xbf]|â€|Ð[\x80-\xbf]")
_RUN = re.compile(r"([^\s\w])\1{31}|([^\W\d])\2{15}")


def _token(subject: Subject, index: int) -> str:
    text = subject.audit.text(index)
    spelled = f"bytes {subject.audit.tokens[index].hex(' ')}" if text is None else shown(text)
    return f"{spelled} ({index})"


@Check.of("TB201", "unreachable-tokens", warn=0, fail=0.05)
def unreachable(subject: Subject, bounds: Bounds) -> Finding:
    """Tokens that no text tried gives: neither their own, nor it next to other text, nor that of -d.

    Training never changes the embedding of a token that no text gives, and it makes a model misbehave if it
    meets it (Land and Bartolo 2024). The developers of Apertus found 248 such tokens in one vocabulary.
    """
    size, instead = subject.audit.vocab_size, subject.audit.reencoded
    return Finding.judged(
        instead,
        bounds,
        of=f"tokens of {size:,} that no text tried gives",
        total=size,
        shown=lambda index: f"{_token(subject, index)} gives {' '.join(map(str, instead[index])) or 'nothing'}",
    )


def possible_in_utf8(part: bytes) -> bool:
    """Whether bytes can stand in some valid UTF-8, be it with their first and last character cut off.

    Example:
        >>> possible_in_utf8(bytes([0x82, 0xE3])), possible_in_utf8(bytes([0xE3, 0x41]))
        (True, False)
    """
    begin = 0
    while begin < min(3, len(part)) and part[begin] in _CONTINUATION:
        begin += 1
    try:
        codecs.getincrementaldecoder("utf-8")().decode(part[begin:], final=False)
    except UnicodeDecodeError:
        return False
    return True


@Check.of("TB202", "impossible-bytes", warn=0)
def undecodable(subject: Subject, bounds: Bounds) -> Finding:
    """Tokens of several bytes that occur in no valid UTF-8.

    They were learned from bytes that were not text, and cannot occur in any text.
    """
    ids = subject.audit.ids(Status.UNDECODABLE)
    tokens = subject.audit.tokens
    wrong = [index for index in ids if len(tokens[index]) > 1 and not possible_in_utf8(tokens[index])]
    fine = counted(len(ids) - len(wrong), "other part")
    said = f"tokens that occur in no valid UTF-8 (and {fine} of characters, in order)"
    return Finding.judged(wrong, bounds, of=said, shown=partial(_token, subject))


@Check.of("TB203", "duplicate-tokens", warn=0)
def duplicates(subject: Subject, bounds: Bounds) -> Finding:
    """Several ids for the same bytes.

    What a model learns about such a word is split over two embeddings, and two programs may choose different
    ids.
    """
    found = []
    aside = set(subject.audit.in_context)  # ##s and s are told apart by their place in a word
    if aside:
        aside |= subject.audit.reencoded.keys()
    for part, ids in subject.audit.duplicates.items():
        apart = [index for index in ids if index not in aside]
        if len(part) > 1 and len(apart) > 1:
            found.append(f"{shown(part.decode('utf-8', 'replace'))} has the ids {', '.join(map(str, apart))}")
    return Finding.judged(found, bounds, of="byte strings that have several ids")


def is_junk(text: str) -> bool:
    """Whether a token is nothing that people write: damaged encodings, control characters, very long runs.

    Example:
        >>> is_junk("ÃÂÃÂ"), is_junk("-" * 40), is_junk("cat")
        (True, True, False)
    """
    if len(text) < 2:
        return False
    if "\ufffd" in text or _MOJIBAKE.search(text) or _RUN.search(text):
        return True
    return any(unicodedata.category(one) in ("Cc", "Co", "Cn") and one not in "\t\n\r" for one in text)


@Check.of("TB204", "junk-tokens", warn=0.001)
def junk(subject: Subject, bounds: Bounds) -> Finding:
    """Tokens that are mojibake, control characters, or long runs of one character.

    They are embeddings spent on damaged text of a crawl; other text does not use them.
    """
    wrong = [index for index, text in subject.audit.texts() if is_junk(text)]
    said = "tokens that are mojibake, control characters or long runs of one character"
    size = subject.audit.vocab_size
    return Finding.judged(wrong, bounds, of=said, total=size, shown=partial(_token, subject))


@Check.of("TB205", "unseen-tokens", warn=0.5)
def usage(subject: Subject, bounds: Bounds) -> Finding:
    """Tokens that the text of -d never uses; the message counts active, rare and unseen tokens.

    A vocabulary made for other text wastes memory and compresses badly, and models misbehave on tokens that
    they hardly saw in training (Land and Bartolo 2024).
    """
    if not subject.texts:
        return Finding.unchecked("no text was given; name a dataset with -d")
    found = subject.usage
    size, total = subject.audit.vocab_size, found.tokens
    never, up_to_nine = found.rare(0), found.rare(9)
    unseen = [index for index in never.tolist() if index not in subject.special_ids]
    active, rare = size - len(up_to_nine), len(up_to_nine) - len(never)
    counts = f"{active:,} active, {rare:,} rare, {len(unseen):,} unseen in {counted(total, 'token')} of text"
    if total < _ENOUGH * size:
        return Finding(
            Outcome.NOT_CHECKED,
            f"{counts}: too little text to judge {size:,} ids by, which takes {_ENOUGH} tokens for each",
            len(unseen),
        )
    shown = partial(_token, subject)
    finding = Finding.judged(unseen, bounds, of="unseen tokens", total=size, shown=shown)
    return replace(finding, message=counts)


@Check.of("TB206", "missing-bytes", fail=0)
def byte_coverage(subject: Subject, bounds: Bounds) -> Finding:
    """Bytes without a token, in a byte-level vocabulary.

    Text with such a byte loses it silently, or makes the encoder raise in the middle of a run.
    """
    tokens = subject.audit.tokens
    single = {tokens[i][0] for i in range(subject.audit.vocab_size) if len(tokens[i]) == 1}
    single |= {part[0] for index in subject.special_ids if len(part := _bytes(subject, index)) == 1}
    if sum(byte >= 0x80 for byte in single) < 32:
        return Finding.unchecked("the vocabulary is not byte-level; TB302 says which characters it lacks")
    missing = [byte for byte in range(256) if byte not in single and byte not in _NEVER_IN_UTF8]
    return Finding.judged(missing, bounds, of="bytes of UTF-8 without a token", shown="0x{:02X}".format)


def _bytes(subject: Subject, index: int) -> bytes:
    try:
        return token_bytes(subject.tokenizer, index)
    except Exception:  # an id without a token: libraries raise whatever they like
        return b""


@Check.of("TB207", "gaps", warn=0)
def gaps(subject: Subject, bounds: Bounds) -> Finding:
    """Ids below the highest that no token has.

    Decoding raises if a model samples such an id, and converters that number tokens by line give the tokens
    after it other ids.
    """
    missing = subject.audit.ids(Status.UNASSIGNED)
    return Finding.judged(missing, bounds, of="ids below the highest without a token")


@Check.of("TB208", "longest-token", bytes=64)
def longest(subject: Subject, bounds: Bounds) -> Finding:
    """Tokens that are longer than words.

    Long tokens are separators and boilerplate learned by heart; programs with a buffer of fixed size for a
    token cut them.
    """
    lengths = subject.audit.tokens.lengths()
    top = subject.audit.longest(1)
    long = [index for index in subject.audit.longest(1000) if lengths[index] > bounds["bytes"]]
    most = int(lengths[top[0]]) if top else 0
    outcome = Outcome.WARN if long else Outcome.PASS
    said = f"bytes of the longest token: {most}; tokens of more than {bounds['bytes']:g}: {len(long):,}"
    return Finding(outcome, said, len(long), tuple(_token(subject, index) for index in long[:SHOWN]))


@Check.of("TB209", "embedding-rows", multiple=8, spare=1024)
def embedding_rows(subject: Subject, bounds: Bounds) -> Finding:
    """Whether the rows of the model's embeddings (config.json) fit the ids of the tokenizer.

    An id beyond the last row is an index error, or reads other memory on an accelerator that does not check; a
    number of rows that is not a multiple of 8 leaves matrix units partly idle.
    """
    if subject.model_config is None:
        return Finding.unchecked("there is no config.json of a model next to the tokenizer's file")
    inner = subject.model_config.get("text_config") or {}
    rows = subject.model_config.get("vocab_size", inner.get("vocab_size"))
    if not isinstance(rows, int):
        return Finding.unchecked("config.json states no vocab_size")
    ids, multiple = subject.tokenizer.vocab_size, int(bounds["multiple"])
    there = counted(rows, "row")
    if rows < ids:
        return Finding(Outcome.FAIL, f"ids go up to {ids - 1:,}, but the model has {there}", ids - rows)
    if multiple and rows % multiple:
        return Finding(Outcome.WARN, f"{there}, which is not a multiple of {multiple}", rows % multiple)
    if rows - ids > bounds["spare"]:
        return Finding(Outcome.WARN, f"rows of {rows:,} that belong to no id: {rows - ids:,}", rows - ids)
    return Finding.passed(f"{there} for {counted(ids, 'id')}")


CHECKS = (unreachable, undecodable, duplicates, junk, usage, byte_coverage, gaps, longest, embedding_rows)
