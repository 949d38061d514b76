"""The normalizers of `tokenizer.json`, by their names there.

Each is a function from a `Stretch` to a `Stretch`, made by `normalizer_of` from its JSON. An unknown normalizer
is an error: silently wrong ids are worse than none.

Results follow the tables of `tokenizers`, which mix several Unicode versions: see `normal_forms`, and `bert`
for BERT's rules. This module is the definition; `compiled_normalizers` compiles it, and tests keep the two
equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from typing import Any, cast

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline import bert, normal_forms, unicode_tables
from tokbench_subword.pipeline.added_tokens import SPACE
from tokbench_subword.pipeline.byte_alphabet import spelled
from tokbench_subword.pipeline.character_map import decoded_charsmap
from tokbench_subword.pipeline.normal_forms import Form
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.precompiled import Precompiled
from tokbench_subword.pipeline.stretch import Span, Stretch

Normalizer = Callable[[Stretch], Stretch]
MOST_GROWTH = 1000
"""By which factor a text may grow; a normal form makes at most 18 characters of one."""


def normalizer_of(config: Mapping[str, Any] | None) -> Normalizer | None:
    """The normalizer of a `tokenizer.json`; raises `TokenizerError` for an unknown one.

    Example:
        >>> normalize = normalizer_of({"type": "Replace", "pattern": {"String": " "}, "content": "_"})
        >>> normalize(Stretch("a b")).text
        'a_b'
    """
    if config is None:
        return None
    kind = str(config.get("type"))
    if kind == "Sequence":
        steps = [step for item in config["normalizers"] if (step := normalizer_of(item))]
        return partial(_in_order, steps) if steps else None
    if kind in ("NFC", "NFD", "NFKC", "NFKD"):
        return partial(_unicode, cast(Form, kind))
    if kind in BY_CHARACTER:
        return partial(_by_character, kind)
    if kind == "Prepend":
        return partial(_prepend, str(config["prepend"]))
    if kind == "Replace":
        return partial(_replace, compile_pattern(config["pattern"]), str(config["content"]))
    if kind == "Strip":
        return partial(_strip, bool(config.get("strip_left")), bool(config.get("strip_right")))
    if kind == "Precompiled":
        return Precompiled(decoded_charsmap(config.get("precompiled_charsmap")))
    if kind == "ByteLevel":
        return spelled_out
    if kind == "BertNormalizer":
        return partial(_in_order, list(_bert(bert.BertRules.from_json(config))))
    raise TokenizerError(
        f"the normalizer {kind!r:.80} is not known to this plugin; load the tokenizer with `transformers:`"
    )


BY_CHARACTER = ("Lowercase", "StripAccents", "Nmt")
"""Normalizers that look at one character at a time, as BERT's rules do."""
SELF = "\ud800"
"""In the result of a rewriting: the character itself. Text never contains surrogates."""
_NMT_DROPPED = [*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F]
_NMT_SPACES = [9, 10, 12, 13, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD]


@cache
def becoming(kind: str) -> Mapping[str, Collection[int]]:
    """For each resulting text, the code points that a normalizer of `BY_CHARACTER`, or a rule of BERT, turns
    into it.

    Letters are lower-cased one by one, since `str.lower` looks at the neighbours of a sigma.
    """
    if kind == "StripAccents":
        return {"": normal_forms.marks()}
    if kind == "clean_text":
        return {" ": [*map(ord, SPACE)], "": normal_forms.points_of(unicode_tables.BERT_CONTROLS)}
    if kind == "handle_chinese_chars":
        return {f" {SELF} ": [*chain(*bert.IDEOGRAPHS)]}
    if kind == "strip_accents":  # after NFD
        return {"": bert.marks()}
    if kind == "Nmt":
        return {"": _NMT_DROPPED, " ": _NMT_SPACES}
    return by_text(normal_forms.lower_case())


def by_text(changes: Mapping[int, str]) -> dict[str, list[int]]:
    """Invert `changes`: for each resulting text, the code points that become it.

    Example:
        >>> by_text({0x41: "a", 0x61: "a"})
        {'a': [65, 97]}
    """
    points: dict[str, list[int]] = {}
    for point, new in changes.items():
        points.setdefault(new, []).append(point)
    return points


def check_growth(before: int, after: int) -> None:
    """Raise `TokenizerError` if steps made a text of `before` characters, or bytes, absurdly long.

    A file of 3 kB can have forty steps that each double a letter, which no memory could hold.
    """
    if after > MOST_GROWTH * before + (1 << 20):
        raise TokenizerError(
            f"the normalizer has made {after:,} characters of {before:,} and is not done; is the file what it "
            "should be? No tokenizer's makes a text a thousand times as long"
        )


def text_normalizer_of(config: Mapping[str, Any] | None) -> Callable[[str], str] | None:
    """The same for text alone, without spans: what encoding uses."""
    normalizer = normalizer_of(config)
    return None if normalizer is None else lambda text: normalizer(Stretch(text)).text


def compile_pattern(pattern: Mapping[str, str]) -> Callable[[str], Iterator[tuple[int, int]]]:
    """The matches, as (start, end), of a pattern as `tokenizer.json` writes it: a string or a regex."""
    if pattern.get("String"):  # by `re`, since decoders search every token, and `regex` takes 2.5 times as long
        literal = re.compile(re.escape(pattern["String"]))
        return lambda text: (match.span() for match in literal.finditer(text))
    return compile_regex(pattern.get("Regex", ""), "oniguruma").spans


def _in_order(steps: Sequence[Normalizer], stretch: Stretch) -> Stretch:
    size = len(stretch.text)
    for step in steps:
        stretch = step(stretch)
        check_growth(size, len(stretch.text))
    return stretch


def _prepend(text: str, stretch: Stretch) -> Stretch:
    if not stretch.text:
        return stretch
    return stretch.edited([(0, 0, text)])


def _replace(spans: Callable[[str], Iterator[tuple[int, int]]], content: str, stretch: Stretch) -> Stretch:
    if not stretch.text:
        return stretch
    return stretch.edited(((start, end, content) for start, end in spans(stretch.text)), as_last=True)


def _strip(left: bool, right: bool, stretch: Stretch) -> Stretch:
    text = stretch.text
    start = len(text) - len(text.lstrip(SPACE)) if left else 0
    end = max(start, len(text.rstrip(SPACE))) if right else len(text)
    return stretch.edited(((0, start, ""), (end, len(text), "")))


def _by_character(kind: str, stretch: Stretch) -> Stretch:
    return _each(_changes(kind), stretch)


@cache
def _changes(kind: str) -> Mapping[int, str]:
    """The result for each code point in `becoming`."""
    return {point: new for new, points in becoming(kind).items() for point in points}


def _each(changes: Mapping[int, str], stretch: Stretch) -> Stretch:
    """Replace each character that changes."""
    changed = ((i, one, changes.get(ord(one), one)) for i, one in enumerate(stretch.text))
    return stretch.edited((i, i + 1, new.replace(SELF, one)) for i, one, new in changed if new != one)


def _unicode(form: Form, stretch: Stretch) -> Stretch:
    """The stretch in a normal form; if it has spans, run by run, since runs do not affect each other."""
    text = stretch.text
    if text.isascii():
        return stretch
    leading = stretch.leading_after(normal_forms.changes(text, form))
    if stretch.origin is None:
        return Stretch(normal_forms.normalized(text, form), None, leading)
    joins = normal_forms.joining(form)
    begins = [at for at, one in enumerate(text) if at == 0 or one not in joins]
    runs = [
        (stretch.part(*ends), normal_forms.normalized(text[slice(*ends)], form))
        for ends in pairwise([*begins, len(text)])
    ]
    origin = [one for run, new in runs for one in _run_origin(run, new, form)]
    return Stretch("".join(new for _, new in runs), origin, leading)


def _run_origin(run: Stretch, new: str, form: Form) -> list[Span]:
    """The spans of the characters that a run became.

    At both ends of the run, parts that kept their place have the span of their own character. The parts between
    have the span of all characters that they come from.
    """
    assert run.origin is not None
    parts = [
        (part, span)
        for one, span in zip(run.text, run.origin, strict=True)
        for part in normal_forms.normalized(one, form)
    ]
    most = min(len(parts), len(new))
    first = next((k for k in range(most) if parts[k][0] != new[k]), most)
    kept = next((k for k in range(most - first) if parts[-1 - k][0] != new[-1 - k]), most - first)
    last, spans = len(parts) - kept, [span for _, span in parts]
    between = [(spans[first][0], spans[last - 1][1])] * (len(new) - first - kept) if first < last else []
    return [*spans[:first], *between, *spans[last:]]


def spelled_out(stretch: Stretch) -> Stretch:
    """The bytes of the text, each as its character of the byte alphabet."""
    return _each({ord(one): spelled(one.encode()) for one in {*stretch.text}}, stretch)


def _bert(rules: bert.BertRules) -> Iterator[Normalizer]:
    for rule in rules.on:
        if rule == "strip_accents":
            yield _bert_decomposed
        yield partial(_by_character, rule)


def _bert_decomposed(stretch: Stretch) -> Stretch:
    """NFD.

    Spans are assigned in the final order, as `tokenizers` does: a part that was the first of its character gets
    the span of the next old character, any other part the same span as the one before it.
    """
    parts = list(normal_forms.decomposed(stretch.text, "NFD"))
    leading = stretch.leading_after(change for _, change in parts)
    origin = stretch.origin
    if origin is not None:
        origin = [origin[count - 1] for count in accumulate(change == 0 for _, change in parts)]
    return Stretch("".join(part for part, _ in parts), origin, leading)
