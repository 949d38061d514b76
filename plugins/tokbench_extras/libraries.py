"""Shared by adapters: importing an optional library, calling it, its errors, and special tokens."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar

from tokbench import Option, Spec, TokenBatch, TokenizerError
from tokbench.arguments import known_id, known_ids, plain_text, plain_texts, refused

SPECIAL = Option("special", "str", "text", "Text of special tokens.", choices=("text", "match"))


def matches_special(spec: Spec) -> bool:
    """Whether a spec's option `SPECIAL` says that the text of special tokens is matched."""
    return bool(spec.get("special", "text") == "match")


def need(module: str, *, extra: str) -> ModuleType:
    """Import `module`; the error for a missing one names the extra of tokbench that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TokenizerError(
            f"the family {extra!r} needs {error.name or module}, which is not installed: "
            f"pip install 'tokbench[{extra}]'"
        ) from error


def failure(what: str, error: BaseException) -> TokenizerError:
    """The error to raise for a library's `error`, with its first line only, since backtraces follow.

    It accepts Rust panics, which are not an `Exception`; any other such error is raised again unchanged.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error
    return TokenizerError(f"{what}: {first_line(error)}")


def first_line(error: BaseException) -> str:
    r"""The first line of an error's message; the name of its type if the message is empty.

    Example:
        >>> first_line(ValueError("no such file\nbacktrace: …")), first_line(KeyError())
        ('no such file', 'KeyError')
    """
    return next(iter(str(error).splitlines()), "") or type(error).__name__


class LibraryTokenizer:
    """A library's `tokenizer`; arguments are checked first, and errors become one line with its `name`.

    Adapters define `_one` to encode a text, `_many` for several, and `_decoded` for the text of ids or its
    UTF-8.
    """

    library: ClassVar[str]
    unk_id: int | None = None
    name: str
    tokenizer: Any
    vocab_size: int
    _one: Any
    _many: Any
    _decoded: Any

    def encode(self, text: str) -> Sequence[int]:
        """The ids of `text`."""
        plain_text(text, name=self.name)
        try:
            ids: Sequence[int] = self._one(text)
        except (RuntimeError, TypeError, ValueError) as error:
            raise refused(self.name, self.library, [text], error) from error
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        texts = plain_texts(texts, name=self.name)
        try:
            batch: TokenBatch = self._many(texts)
        except (RuntimeError, TypeError, ValueError) as error:
            raise refused(self.name, self.library, texts, error) from error
        return batch

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; bytes that are not UTF-8 become U+FFFD."""
        known = known_ids(ids, self.vocab_size, name=self.name)
        try:
            text: str | bytes = self._decoded(known)
        except BaseException as error:  # for an id that a vocabulary leaves out, Rust may panic
            raise failure(f"{self.name}: {self.library} has no text for {known[:8]}", error) from error
        return text if isinstance(text, str) else text.decode("utf-8", "replace")


class SpelledTokenizer(LibraryTokenizer):
    """A tokenizer whose library returns the bytes of a token: `_bytes`, empty for a gap in the numbering."""

    special_ids: Any
    _bytes: Any

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a token; empty for special tokens and for gaps in the numbering."""
        token_id = known_id(token_id, self.vocab_size, name=self.name)
        return b"" if token_id in self.special_ids else self._bytes(token_id)
