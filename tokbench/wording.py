"""How counts and messages are worded, in the terminal and in reports alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

COMPILING = "compiling kernels that this machine has not used yet in this version: up to a minute"
"""The note while kernels are compiled."""


def without_name(message: str, name: str) -> str:
    """A message without the name that it begins with, to be shown after that name.

    Example:
        >>> without_name("bpe:x.json: there is no file x.json", "bpe:x.json")
        'there is no file x.json'
    """
    return message.removeprefix(f"{name}: ")


LONGEST_MESSAGE = 2000
"""The most characters of a message that are shown, since an error may quote a whole document."""


def beginning(message: str) -> str:
    """A message, or the beginning of one that is too long to be shown.

    Example:
        >>> beginning("no such word"), beginning("x" * 50_000)[1998:]
        ('no such word', 'xx … (50,000 characters)')
    """
    if len(message) <= LONGEST_MESSAGE:
        return message
    return f"{message[:LONGEST_MESSAGE]} … ({counted(len(message), 'character')})"


def counted(count: int, noun: str) -> str:
    """A number with its noun in the right form.

    Example:
        >>> counted(1, "tokenizer"), counted(12345, "failure"), counted(0, "dataset")
        ('1 tokenizer', '12,345 failures', '0 datasets')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: list[str], word: str = "and") -> str:
    """Names in a sentence, the tail of a long list as a number.

    Example:
        >>> listed(["a", "b", "c"]), listed(list("abcdef")), listed(["a"]), listed([])
        ('a, b and c', 'a, b, c and 3 others', 'a', '')
    """
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} others"]
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def sentences(*said: str) -> str:
    """Join the sentences that are not empty.

    Example:
        >>> sentences("More is better.", "", "Hollow: estimated.")
        'More is better. Hollow: estimated.'
    """
    return " ".join(filter(None, said))


def every(count: int, noun: str, one: str, several: str) -> str:
    """A statement about all things of a kind, in the form for one or for several.

    Example:
        >>> every(1, "text", "comes back", "come back"), every(1200, "text", "comes back", "come back")
        ('the one text comes back', 'all of 1,200 texts come back')
    """
    return f"the one {noun} {one}" if count == 1 else f"all of {counted(count, noun)} {several}"


def all_of_whom(names: list[str], one: str, several: str) -> str:
    """A statement about the named things, in the form for one or for several.

    Example:
        >>> all_of_whom(["a"], "loses text", "lose text"), all_of_whom(["a", "b"], "is fast", "are fast")
        ('a loses text', 'a and b are fast')
    """
    return f"{listed(names)} {one if len(names) == 1 else several}"


def other_than_asked(asked: object, held: int) -> str:
    """The note for a trained vocabulary that does not have the requested size; empty if it has.

    Example:
        >>> other_than_asked("2000", 280), other_than_asked(2000, 2000), other_than_asked(None, 280)
        ('2,000 tokens were asked for; training ended at 280', '', '')
    """
    wanted = int(str(asked)) if str(asked).isdigit() else held
    return "" if held == wanted else f"{wanted:,} tokens were asked for; training ended at {held:,}"


def reason(error: Exception) -> str:
    """The message of an exception; for a system error, without the number and path that Python adds.

    Example:
        >>> reason(FileNotFoundError(2, "No such file or directory", "x")), reason(ValueError("no number"))
        ('No such file or directory', 'no number')
    """
    return getattr(error, "strerror", None) or str(error)


def in_paragraphs(text: str) -> str:
    r"""A docstring with one line for each paragraph, to be wrapped when it is shown.

    Example:
        >>> in_paragraphs("One line.\n\n    Two\n    more.\n    ")
        'One line.\n\nTwo more.'
    """
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


def nothing_at(path: Path) -> str:
    """The message for a path without a file or folder; a broken link is named as such.

    Example:
        >>> nothing_at(Path("nowhere.txt"))
        'no such file or folder'
    """
    if path.is_symlink():
        return f"a link that leads nowhere (to {path.readlink()})"
    return "no such file or folder"


_STEPS = ((1e15, "P", "quadrillion"), (1e12, "T", "trillion"), (1e9, "G", "billion"), (1e6, "M", "million"),
          (1e3, "k", "thousand"))  # fmt: skip


def in_unit(value: float, unit: str, *, least: float = 1e6) -> tuple[float, str]:
    """The divisor that makes figures of the size of `value` readable, and the unit for them.

    Only from `least` on, in powers of 1,000; a figure that would round to 1,000 gets the next unit.

    Example:
        >>> in_unit(3.2e9, "FLOP/byte"), in_unit(9_216_000, "bytes/kB"), in_unit(-38e6, "parameters")
        ((1000000000.0, 'GFLOP/byte'), (1000000.0, 'MB/kB'), (1000000.0, 'million parameters'))
        >>> in_unit(12_345, "bytes"), in_unit(999_999, "bytes", least=1e3)
        ((1.0, 'bytes'), (1000000.0, 'MB'))
    """
    for size, letter, word in _STEPS:
        if size >= least and abs(value) >= 0.9995 * size:
            short = re.sub(r"^bytes\b", "B", unit)
            return size, f"{letter}{short}" if re.match(r"(B|FLOP)\b", short) else f"{word} {unit}".rstrip()
    return 1.0, unit


def percent(share: float, places: int = 0, *, signed: bool = False) -> str:
    """A share in per cent; `signed` for a change, which always has its sign.

    Example:
        >>> percent(0.283), percent(0.0139, 1), percent(-1e-6, 2), percent(0.02, signed=True)
        ('28 %', '1.4 %', '0.00 %', '+2 %')
    """
    said = f"{share:{'+' if signed else ''}z.{places}%}"  # z: no minus before what is rounded to 0
    return said.replace("-", "−").replace("%", " %")


def span(low: float, high: float, said: Callable[[float], str] = str) -> str:
    """A range, each end formatted by `said`; with "to" if a dash would meet a minus sign.

    Example:
        >>> span(2, 4), span(1, 1.25, "{:.2f}".format), span(-1, 3)
        ('2–4', '1.00–1.25', '-1 to 3')
    """
    return f"{said(low)}{' to ' if low < 0 else '–'}{said(high)}"


TELLING = 100
"""An interval whose high end is more than this many times its low end says nothing."""


def too_wide(low: float, high: float) -> bool:
    """Whether an interval is too wide to say anything, as for a speed timed twice on a busy machine."""
    return 0 < TELLING * low < high


def interval(low: float, high: float, said: Callable[[float], str]) -> str:
    """An interval as text, or the remark that it is too wide.

    Example:
        >>> interval(0.25, 0.75, "{:.1f}".format), interval(0.2, 52_551.9, "{:.1f}".format)
        ('0.2–0.8', 'too wide')
    """
    return "too wide" if too_wide(low, high) else span(low, high, said)


def data_size(n_bytes: float) -> str:
    """A number of bytes in a suitable unit, in powers of 1,000.

    Example:
        >>> data_size(819), data_size(81_900), data_size(999_999), data_size(1_500_000), data_size(2e10)
        ('819 bytes', '82 kB', '1 MB', '1.5 MB', '20 GB')
    """
    divisor, unit = in_unit(n_bytes, "bytes", least=1e3)
    number = n_bytes / divisor
    said = f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:.0f}"
    return f"{said} {unit}"


def writable(text: str) -> str:
    """A text that any file and terminal accepts: lone surrogates (from file names, say) are spelt out.

    Example:
        >>> writable("né" + chr(0xDC80)) == "né" + chr(92) + "udc80"
        True
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def in_utf8(text: str) -> str:
    """Text that UTF-8 can encode, of the same length: U+FFFD replaces each lone surrogate.

    Example:
        >>> in_utf8("a" + chr(0xD800)) == "a" + chr(0xFFFD)
        True
    """
    return _SURROGATE.sub("\ufffd", text)


_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def in_xml(text: str) -> str:
    """Text in which U+FFFD replaces each character that XML 1.0 cannot contain.

    Example:
        >>> in_xml("a" + chr(27) + chr(0xFFFE)) == "a" + 2 * chr(0xFFFD)
        True
    """
    return _NOT_IN_XML.sub("\ufffd", text)


def printable(text: str) -> str:
    """Text without control characters, which a name or a message could use to draw on the terminal.

    Example:
        >>> printable("a" + chr(27) + "[31m") == "a" + chr(92) + "x1b[31m"
        True
    """
    return "".join(char if char.isprintable() or char in "\n\t" else _spelt(ord(char)) for char in text)


_DRAWING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def undrawn(text: str) -> str:
    """Text in which characters that control a terminal, or reorder text, are escaped as in JSON.

    Unlike `printable`, it leaves white space and joiners of letters as they are.

    Example:
        >>> undrawn("a" + chr(27) + "[31m" + chr(0xA0)) == "a" + chr(92) + "u001b[31m" + chr(0xA0)
        True
    """
    return _DRAWING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _spelt(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
