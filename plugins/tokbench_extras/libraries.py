"""What adapters share: a library that may be absent, what it raises, and special tokens in text."""

from __future__ import annotations

import importlib
from types import ModuleType

from tokbench import Option, Spec, TokenizerError

SPECIAL = Option("special", "str", "text", "Text of special tokens.", choices=("text", "match"))


def matches_special(spec: Spec) -> bool:
    """Whether a spec asks for the text of special tokens to be matched, by the option `SPECIAL`."""
    return bool(spec.get("special", "text") == "match")


def need(module: str, *, extra: str) -> ModuleType:
    """Import `module`, or say which extra of tokbench brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TokenizerError(
            f"the family {extra!r} needs {error.name or module}, which is not installed: "
            f"pip install 'tokbench[{extra}]'"
        ) from error


def failure(what: str, error: BaseException) -> TokenizerError:
    """The error to raise where a library raised `error`: its first line, since backtraces follow.

    Panics of Rust, which are no `Exception`, are among them; any other of that sort is raised as it is.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return TokenizerError(f"{what}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    r"""What an error of a library says, without the lines that follow; its kind where it says nothing.

    Example:
        >>> first_line(ValueError("no such file\nbacktrace: …")), first_line(KeyError())
        ('no such file', 'KeyError')
    """
    return next(iter(str(error).splitlines()), "") or type(error).__name__
