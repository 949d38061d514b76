"""How a count is said in a sentence, the same in the terminal and in reports."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number with its noun in the right form.

    Example:
        >>> counted(1, "tokenizer"), counted(12345, "failure"), counted(0, "dataset")
        ('1 tokenizer', '12,345 failures', '0 datasets')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
