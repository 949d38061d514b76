"""BERT's text rules, written to be read: the normalizer, then the pre-tokenizer, character by character.

This is the definition. `table` compiles it into what the kernel runs, tests hold the two together, and tracing,
`pre_tokenize` and the rare text that needs canonical reordering use it as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokbench_subword.wordpiece import characters


@dataclass(frozen=True, slots=True, kw_only=True)
class BertRules:
    """Which of BERT's four normalizations apply, in this order: clean, space ideographs, strip accents, lower.

    `strip_accents` is settled here; in configuration files "not set" means "as `lowercase`".
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool = True
    lowercase: bool = True

    @classmethod
    def of(
        cls,
        *,
        clean_text: bool | None = None,
        handle_chinese_chars: bool | None = None,
        strip_accents: bool | None = None,
        lowercase: bool | None = None,
    ) -> BertRules:
        """Rules from settings where None means "BERT's default".

        Example:
            >>> BertRules.of(lowercase=False).strip_accents
            False
        """
        lower = True if lowercase is None else lowercase
        return cls(
            clean_text=True if clean_text is None else clean_text,
            handle_chinese_chars=True if handle_chinese_chars is None else handle_chinese_chars,
            strip_accents=lower if strip_accents is None else strip_accents,
            lowercase=lower,
        )

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> BertRules:
        """The rules of a ``BertNormalizer`` in `tokenizer.json`."""
        return cls.of(**{name: config.get(name) for name in RULES})


RULES = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
"""The names of the rules, as `tokenizer.json` has them."""

NO_RULES = BertRules(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
"""Nothing is normalized: for text that has been, and for pipelines without a normalizer."""


@dataclass(frozen=True, slots=True)
class NormalizedWord:
    """A pre-token: its normalized text, and for each of its characters the (start, end) in the text it came
    from.
    """

    text: str
    spans: tuple[tuple[int, int], ...]


Traced = list[tuple[str, int]]  # characters, each with the index of the character of the input it came from


def normalize(text: str, rules: BertRules) -> str:
    r"""`text` as BERT's normalizer leaves it.

    Example:
        >>> normalize("Héllo 你\u200b", BertRules())
        'hello  你 '
    """
    return "".join(character for character, _ in normalized(text, rules))


def words(text: str, rules: BertRules) -> Iterator[NormalizedWord]:
    """The pre-tokens of `text`: split at white space, every punctuation character on its own.

    Example:
        >>> [word.text for word in words("Don't stop!", BertRules())]
        ['don', "'", 't', 'stop', '!']
    """
    punctuation = characters.punctuation()
    open_word: Traced = []
    for character, origin in normalized(text, rules):
        point = ord(character)
        alone = point in punctuation
        if open_word and (alone or point in characters.WHITESPACE):
            yield _word(open_word)
            open_word = []
        if alone:
            yield NormalizedWord(character, ((origin, origin + 1),))
        elif point not in characters.WHITESPACE:
            open_word.append((character, origin))
    if open_word:
        yield _word(open_word)


def _word(traced: Traced) -> NormalizedWord:
    return NormalizedWord(
        "".join(character for character, _ in traced), tuple((origin, origin + 1) for _, origin in traced)
    )


def normalized(text: str, rules: BertRules) -> Traced:
    """`text` normalized, each character with the index of the one it came from."""
    traced = [(character, index) for index, character in enumerate(text)]
    if rules.clean_text:
        traced = _clean(traced)
    if rules.handle_chinese_chars:
        traced = _space_ideographs(traced)
    if rules.strip_accents:
        traced = _strip_accents(traced)
    if rules.lowercase:
        traced = [(lower, index) for character, index in traced for lower in characters.lowered(character)]
    return traced


def _clean(traced: Traced) -> Traced:
    controls = characters.controls()
    return [
        (" " if ord(character) in characters.WHITESPACE else character, index)
        for character, index in traced
        if ord(character) not in controls
    ]


def _space_ideographs(traced: Traced) -> Traced:
    spaced: Traced = []
    for character, index in traced:
        alone = characters.is_cjk(ord(character))
        spaced += [(" ", index), (character, index), (" ", index)] if alone else [(character, index)]
    return spaced


def _strip_accents(traced: Traced) -> Traced:
    """NFD, then without nonspacing marks."""
    marks = characters.marks()
    return [(character, index) for character, index in _decomposed(traced) if ord(character) not in marks]


def _decomposed(traced: Traced) -> Traced:
    """The characters taken apart, each run of combining ones sorted by class, stably.

    Where they come from is read off the order that came out, as `tokenizers` does: one that was the first part
    of its character comes from the next of the old characters, any other from the same as the one before it.
    """
    parts = [
        (part, number > 0)
        for character, _ in traced
        for number, part in enumerate(characters.decomposed(character))
    ]
    classes = [characters.combining_class(part) for part, _ in parts]
    start = 0
    while start < len(parts):
        stop = start + 1
        if classes[start]:
            while stop < len(parts) and classes[stop]:
                stop += 1
            order = sorted(range(start, stop), key=classes.__getitem__)
            parts[start:stop] = [parts[index] for index in order]
        start = stop
    at = -1
    placed: Traced = []
    for part, follows in parts:
        at += not follows
        placed.append((part, traced[at][1]))
    return placed
