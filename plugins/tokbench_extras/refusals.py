"""What a library in Rust or C++ does not take, said in tokbench's words."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench import TokenizerError
from tokbench.arguments import plain_text


def refused(name: str, library: str, texts: Sequence[str], error: Exception) -> TokenizerError:
    """The error to raise where `library` refused `texts`: almost always for a lone surrogate, named here."""
    for text in texts:
        plain_text(text, name=name)
        try:
            text.encode()
        except UnicodeEncodeError as surrogate:
            return TokenizerError(
                f"{name}: a text holds a lone surrogate at character {surrogate.start}, which {library} does "
                f"not take; replace it first"
            )
    return TokenizerError(f"{name}: {error}")


def first_line(error: BaseException) -> str:
    r"""What an error of a library says, without the lines that follow; its kind where it says nothing.

    Example:
        >>> first_line(ValueError("no such file\nbacktrace: …")), first_line(KeyError())
        ('no such file', 'KeyError')
    """
    return next(iter(str(error).splitlines()), "") or type(error).__name__
