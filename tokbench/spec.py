r"""Specs: one-line names for tokenizers and datasets.

A spec reads ``family[:variant][,option=value…]``. It is split at the first colon; a first part that contains
``=`` is an option, not a variant. A value may be in double quotes, with ``\"`` and ``\\`` inside. Options are
checked against those that the family declares. The canonical form, with typed and sorted options, is the key of
every result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tokbench.errors import PluginError, SpecError, UnknownNameError

OptionValue = str | int | float | bool | None
OptionType = Literal["str", "int", "float", "bool"]

_SUFFIX = {"k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_PART = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+')
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*\Z")
"""The form of a family's name, so that specs can contain it."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option a family declares: its name, type, default and what it does.

    `default=None` means "not set". `choices` are the only values allowed; `least` is the lowest number allowed.
    """

    name: str
    type: OptionType = "str"
    default: OptionValue = None
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None

    def __post_init__(self) -> None:
        if self.type not in _ARTICLE:
            raise PluginError(f"option {self.name!r}: {self.type!r} is no type of {', '.join(_ARTICLE)}")
        if self.default is not None and _typed(self.type, self.default) is None:
            raise PluginError(
                f"option {self.name!r}: the default {self.default!r} is not {_ARTICLE[self.type]}"
            )

    def parse(self, text: OptionValue, *, where: str) -> OptionValue:
        """`text` as this option's type; `where` names the spec in the error.

        Example:
            >>> Option("vocab_size", "int").parse("8k", where="bpe")
            8000
        """
        if text is None:
            return None
        value = _typed(self.type, text)
        if value is None:
            raise SpecError(f"{where}: option {self.name!r} takes {_ARTICLE[self.type]}, not {text!r}")
        if self.choices and value not in self.choices:
            raise UnknownNameError.of(f"value for option {self.name!r} of {where}:", str(value), self.choices)
        if self.least is not None and not float(value) >= self.least:
            raise SpecError(f"{where}: option {self.name!r} takes {self.least:g} or more, not {text!r}")
        return value


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmg])(i?))?b?", re.I)


def parse_size(text: str, name: str, *, where: str) -> int:
    """A number of bytes as people write it: K, M and G are powers of 1,000, Ki, Mi and Gi of 1,024.

    Raises `SpecError` with the `name` of what it is for.

    Example:
        >>> [parse_size(text, "memory_limit", where="the suite") for text in ("300M", "1.5 GB", "2GiB")]
        [300000000, 1500000000, 2147483648]
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise SpecError(f"{where}: {name!r} takes a number of bytes (500M, 2GB or 2GiB), not {text!r}")
    unit = _SUFFIX.get((match[2] or "").lower(), 1)
    if match[3]:
        unit = 1 << {1_000: 10, 1_000_000: 20, 1_000_000_000: 30}[unit]
    return int(float(match[1]) * unit) if "." in match[1] else int(match[1]) * unit


_ARTICLE = {
    "str": "a text",
    "int": "a whole number (8000 or 8k)",
    "float": "a number",
    "bool": "true or false",
}


def _typed(kind: OptionType, value: OptionValue) -> OptionValue:
    """`value` as a `kind`, or None if it is not one."""
    if kind == "str":
        return str(value)
    if kind == "bool":
        if isinstance(value, bool):
            return value
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
            str(value).lower()
        )
    if isinstance(value, bool):
        return None
    if kind == "int":
        if isinstance(value, float):
            return int(value) if value.is_integer() else None
        match = re.fullmatch(r"([+-]?\d+(?:_\d+)*(?:\.\d+)?)([kmg]?)", str(value).strip(), re.I)
        if not match:
            return None
        written = float(match[1]) if "." in match[1] else int(match[1])  # a whole number keeps all its digits
        number = written * _SUFFIX.get(match[2].lower(), 1)
        return int(number) if number % 1 == 0 else None
    try:
        return float(str(value))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed spec. `options` hold text until a family has typed them (see `validate`).

    `asked_as` is the spec to show in names and messages instead, if that is another one: for a tokenizer
    trained on request, the spec that was asked for, not the file that it was saved in.

    Example:
        >>> spec = Spec.parse("bpe:vocab_size=8k,pattern=gpt2")
        >>> spec.family, spec.variant, dict(spec.options)
        ('bpe', None, {'vocab_size': '8k', 'pattern': 'gpt2'})
        >>> str(Spec.parse("bpe:models/mine.json"))
        'bpe:models/mine.json'
    """

    family: str
    variant: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    asked_as: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read ``family[:variant][,option=value…]``; raises `SpecError` saying where it goes wrong."""
        family, colon, rest = text.strip().partition(":")
        if not colon and "," in family:  # "bpe,vocab_size=8k": forgive the missing colon
            family, _, rest = family.partition(",")
        if not NAME.match(family):
            raise SpecError(
                f"{text!r} is not a spec: it must begin with a family name, as in 'tiktoken:o200k_base' "
                "(a tokenizer) or 'text:notes.txt' (a dataset)"
            )
        variant: str | None = None
        options: dict[str, OptionValue] = {}
        parts = _split(rest, text)
        for position, part in enumerate(parts):
            name, equals, value = part.partition("=")
            if not equals or (position == 0 and part.startswith('"')):
                if position:
                    hint = _of_comma(cls(family, variant, options), parts[: position + 1])
                    raise SpecError(f"{text!r}: expected option=value, found {part!r}" + (hint and f". {hint}"))
                variant = _unquote(part)
                continue
            name = name.strip()
            if name in options:
                raise SpecError(f"{text!r}: option {name!r} is given twice")
            options[name] = _unquote(value.strip())
        return cls(family, variant, options)

    def __str__(self) -> str:
        if self.asked_as:
            return self.asked_as
        parts = [] if self.variant is None else [_quote(self.variant, variant=True)]
        parts += [f"{name}={_quote(_text(value))}" for name, value in sorted(self.options.items())]
        return self.family + (":" + ",".join(parts) if parts else "")

    def __hash__(self) -> int:
        return hash((self.family, self.variant))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of option `name`, or `default` if it is not set."""
        value = self.options.get(name)
        return default if value is None else value


@dataclass(frozen=True, slots=True)
class LoadContext:
    """What a family may need for loading: where caches are, what the user allows, and which plugins there are.

    It is small and picklable, so that every process loads the same. `tokbench.registry.registry_of` gives what
    its plugins offer. `plugins` are files, `named_by` tells where the user named each, and `disable` are names.
    `offline_because` completes the error for something that `offline` forbids to download.
    """

    cache_dir: Path
    offline: bool = False
    allow_remote_code: bool = False
    threads: int = 1
    offline_because: str = "tokbench is offline; unset TOKBENCH_OFFLINE and HF_HUB_OFFLINE to download it"
    plugins: tuple[str, ...] = ()
    named_by: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()


def validate(spec: Spec, options: Sequence[Option]) -> Spec:
    """`spec` with its options typed, in canonical order; unknown options raise with the nearest match.

    Defaults are not added (`with_defaults` does that), so that the canonical form stays as short as what was
    typed.

    Example:
        >>> str(validate(Spec.parse("bpe:vocab_size=8k,pattern=gpt2"),
        ...              [Option("pattern"), Option("vocab_size", "int")]))
        'bpe:pattern=gpt2,vocab_size=8000'
    """
    declared = {option.name: option for option in options}
    typed: dict[str, OptionValue] = {}
    for name, value in sorted(spec.options.items()):
        if name not in declared:
            file = f"{name}={value}"
            there = os.path.exists(file)  # noqa: PTH110  (pathlib raises for a path that is too long)
            hint = _in_quotes(spec.family, file) if there else ""
            raise UnknownNameError.of(f"option of {spec.family}:", name, declared, hint=hint)
        typed[name] = declared[name].parse(value, where=spec.family)
    return replace(spec, options=typed)


def with_defaults(options: Iterable[Option], given: Mapping[str, OptionValue]) -> dict[str, Any]:
    """Every declared option with its value: the given one, or the default."""
    return {option.name: given.get(option.name, option.default) for option in options}


def _split(rest: str, text: str) -> list[str]:
    if not rest:
        return []
    parts = _PART.findall(rest)
    if ",".join(parts) != rest:
        raise SpecError(f"{text!r}: an empty part or an unclosed quote near {rest!r}")
    return parts


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value


def _quote(value: str, *, variant: bool = False) -> str:
    if value and not (set(value) & set(',"')) and not (variant and "=" in value) and value == value.strip():
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _of_comma(before: Spec, parts: Sequence[str]) -> str:
    """The hint for the last of `parts`, which is no option but belongs to the value or name before it."""
    whole = ",".join(parts)
    if '"' in whole:
        return ""
    if not before.options or os.path.exists(whole):  # noqa: PTH110  (pathlib raises for a path that is too long)
        return _in_quotes(before.family, whole) if before.variant is not None else ""
    name, value = list(before.options.items())[-1]
    meant = replace(before, options={**before.options, name: f"{value},{parts[-1]}"})
    return f"A value with a comma stands in double quotes: {str(meant)!r}"


def _in_quotes(family: str, name: str) -> str:
    """The hint for a name that was read as options, with outer quotes for the shell."""
    return f"A name with a comma or = stands in double quotes: {f'{family}:{_quote(name, variant=True)}'!r}"


def _text(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
