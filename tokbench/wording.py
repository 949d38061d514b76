"""How counts and messages are said, the same in the terminal and in reports."""

from __future__ import annotations

from pathlib import Path


def without_name(message: str, name: str) -> str:
    """A message without the name it begins with, for where the name stands before it.

    Example:
        >>> without_name("bpe:x.json: there is no file x.json", "bpe:x.json")
        'there is no file x.json'
    """
    return message.removeprefix(f"{name}: ")


def counted(count: int, noun: str) -> str:
    """A number with its noun in the right form.

    Example:
        >>> counted(1, "tokenizer"), counted(12345, "failure"), counted(0, "dataset")
        ('1 tokenizer', '12,345 failures', '0 datasets')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def nothing_at(path: Path) -> str:
    """What to say of a path that leads to no file or folder; a link is there itself.

    Example:
        >>> nothing_at(Path("nowhere.txt"))
        'no such file or folder'
    """
    if path.is_symlink():
        return f"a link that leads nowhere (to {path.readlink()})"
    return "no such file or folder"


def data_size(n_bytes: float) -> str:
    """A number of bytes in the unit that suits it, of powers of 1,000.

    Example:
        >>> data_size(819), data_size(81_900), data_size(999_900), data_size(1_500_000), data_size(2e9)
        ('819 bytes', '82 kB', '1.0 MB', '1.5 MB', '2,000 MB')
    """
    if n_bytes < 999.5:  # what rounds to a thousand of a unit is told in the next one
        return f"{n_bytes:.0f} bytes"
    number, unit = (n_bytes / 1e6, "MB") if n_bytes >= 999_500 else (n_bytes / 1e3, "kB")
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:,.0f} {unit}"


def writable(text: str) -> str:
    """A text that any file and terminal takes: lone surrogates, as in names that are not UTF-8, are spelt out.

    Example:
        >>> writable("né" + chr(0xDC80)) == "né" + chr(92) + "udc80"
        True
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    """Text without control characters, which a name or a message could use to draw on the terminal.

    Example:
        >>> printable("a" + chr(27) + "[31m") == "a" + chr(92) + "x1b[31m"
        True
    """
    return "".join(char if char.isprintable() or char in "\n\t" else _spelt(ord(char)) for char in text)


def _spelt(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
