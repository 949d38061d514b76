"""Check that `tokenizers` would load the parts of a `tokenizer.json` around its model.

`tokenizers` refuses a file if a part lacks a field or has one of the wrong type. So does tokbench, naming the
place. In normalizers and pre-tokenizers, fields that have a default may be missing. Unknown types pass here:
the code that reads them reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline.patterns.behaviors import BEHAVIORS

Check = Callable[[Any], bool]


def _is(kind: type) -> Check:
    return lambda value: isinstance(value, kind)


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _character(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1


def _one_of(*names: str) -> Check:
    return lambda value: value in names


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _with(**checks: Check) -> Check:
    """A check for an object with these fields, and possibly others."""
    return lambda value: (
        isinstance(value, Mapping) and all(check(value.get(name)) for name, check in checks.items())
    )


def _either(**checks: Check) -> Check:
    """A check for an object with exactly one of these fields."""
    return lambda value: (
        isinstance(value, Mapping)
        and any([*value] == [name] and check(value[name]) for name, check in checks.items())
    )


def _strategy(value: Any) -> bool:
    return value == "BatchLongest" or _either(Fixed=_count)(value)


def _token(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _text(value[0]) and _count(value[1])


def _special_tokens(value: Any) -> bool:
    each = _with(id=_text, ids=_list_of(_count), tokens=_list_of(_text))
    return isinstance(value, Mapping) and all(map(each, value.values()))


_text, _flag = _is(str), _is(bool)
_pattern = _either(String=_text, Regex=_text)
_template = _list_of(
    _either(SpecialToken=_with(id=_text, type_id=_count), Sequence=_with(id=_one_of("A", "B"), type_id=_count))
)

Fields = Mapping[str, Check]
"""The fields of each type, with their checks; fields that end in ``?`` are optional."""
_TRUNCATION: Fields = {
    "max_length": _count,
    "strategy": _one_of("LongestFirst", "OnlyFirst", "OnlySecond"),
    "stride": _count,
    "direction?": _one_of("Left", "Right"),
}
_PADDING: Fields = {
    "strategy": _strategy,
    "direction": _one_of("Left", "Right"),
    "pad_to_multiple_of?": _or_null(_count),
    "pad_id": _count,
    "pad_type_id": _count,
    "pad_token": _text,
}
_BYTE_LEVEL: Fields = {"add_prefix_space": _flag, "trim_offsets": _flag, "use_regex?": _flag}
_POST_PROCESSORS: Mapping[str, Fields] = {
    "BertProcessing": {"sep": _token, "cls": _token},
    "RobertaProcessing": {"sep": _token, "cls": _token},
    "ByteLevel": _BYTE_LEVEL,
    "TemplateProcessing": {"single": _template, "pair": _template, "special_tokens": _special_tokens},
}
_REPLACE: Fields = {"pattern": _pattern, "content": _text}
_METASPACE: Fields = {
    "replacement": _character,
    "add_prefix_space?": _or_null(_flag),
    "prepend_scheme?": _one_of("always", "never", "first"),
    "split?": _or_null(_flag),
    "str_rep?": _or_null(_text),
}
_NORMALIZERS: Mapping[str, Fields] = {
    "BertNormalizer": {
        "clean_text?": _flag,
        "handle_chinese_chars?": _flag,
        "strip_accents?": _or_null(_flag),
        "lowercase?": _flag,
    },
    "Prepend": {"prepend": _text},
    "Replace": _REPLACE,
    "Strip": {"strip_left?": _flag, "strip_right?": _flag},
}
_PRE_TOKENIZERS: Mapping[str, Fields] = {
    "ByteLevel": {"add_prefix_space?": _flag, "trim_offsets?": _flag, "use_regex?": _flag},
    "CharDelimiterSplit": {"delimiter": _character},
    "Digits": {"individual_digits?": _flag},
    "FixedLength": {"length?": _count},
    "Metaspace": _METASPACE,
    "Punctuation": {"behavior?": _one_of(*BEHAVIORS)},
    "Split": {"pattern": _pattern, "behavior": _one_of(*BEHAVIORS), "invert?": _flag},
}
_DECODERS: Mapping[str, Fields] = {
    "BPEDecoder": {"suffix": _text},
    "ByteLevel": _BYTE_LEVEL,
    "WordPiece": {"prefix": _text, "cleanup": _flag},
    "Metaspace": _METASPACE,
    "CTC": {"pad_token": _text, "word_delimiter_token": _text, "cleanup": _flag},
    "Replace": _REPLACE,
    "Strip": {"content": _character, "start": _count, "stop": _count},
    "Fuse": {},
    "ByteFallback": {},
}


def check_parts(content: Mapping[str, Any], where: str) -> None:
    """Raise `TokenizerError`, naming the place, for a malformed part of a `tokenizer.json`."""
    for name, fields in (("truncation", _TRUNCATION), ("padding", _PADDING)):
        part = content.get(name)
        if part is not None:
            _check_fields(part, fields, f"{where}: {name}")
    for name, types, inner in (
        ("normalizer", _NORMALIZERS, "normalizers"),
        ("pre_tokenizer", _PRE_TOKENIZERS, "pretokenizers"),
        ("post_processor", _POST_PROCESSORS, "processors"),
        ("decoder", _DECODERS, "decoders"),
    ):
        if content.get(name) is not None:
            _check_typed(content[name], types, inner, f"{where}: {name}")


def _check_typed(part: Any, types: Mapping[str, Fields], inner: str, place: str) -> None:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str):
        raise TokenizerError(f"{place}: is not an object with a type: {part!r:.80}")
    if kind == "Sequence":
        steps = part.get(inner)
        if not isinstance(steps, list):
            raise TokenizerError(f"{place}.{inner}: is not a list: {steps!r:.80}")
        for number, step in enumerate(steps):
            _check_typed(step, types, inner, f"{place}.{inner}[{number}]")
    elif kind in types:  # unknown types are reported by the code that reads them
        _check_fields(part, types[kind], place)
        if (
            kind == "Metaspace"
            and part.get("add_prefix_space") is False
            and part.get("prepend_scheme", "never") != "never"
        ):
            raise TokenizerError(
                f"{place}.add_prefix_space: is false, but prepend_scheme is not 'never'; tokenizers refuses it "
                "too: set only one of them"
            )


def _check_fields(part: Any, fields: Fields, place: str) -> None:
    if not isinstance(part, Mapping):
        raise TokenizerError(f"{place}: is not an object: {part!r:.80}")
    for name, check in fields.items():
        key = name.removesuffix("?")
        if key not in part and key == name:
            raise TokenizerError(f"{place}.{key}: is missing; tokenizers refuses the file too")
        if key in part and not check(part[key]):
            raise TokenizerError(
                f"{place}.{key}: {part[key]!r:.80} is not a valid value; tokenizers refuses it too"
            )
