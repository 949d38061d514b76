"""How counts and messages are said, the same in the terminal and in reports."""

from __future__ import annotations


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
