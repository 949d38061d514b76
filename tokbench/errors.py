"""Every error a user can cause, with its "did you mean", and what a metric raises that has no value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_MOST = 4000


class TokbenchError(Exception):
    """Something the user asked for cannot be done; the message says what, where and what to do.

    A message that quotes a megabyte of somebody's file is shown without its middle.
    """

    def __str__(self) -> str:
        said = super().__str__()
        return said if len(said) <= _MOST else f"{said[: _MOST // 2]} … {said[-_MOST // 2 :]}"


class SpecError(TokbenchError):
    """A spec string, an option or a suite entry is wrong."""


class UnknownNameError(SpecError):
    """A name that nothing provides.

    Example:
        >>> print(UnknownNameError.of("tokenizer family", "tiktokn", ["tiktoken", "bpe", "bpe"]))
        unknown tokenizer family 'tiktokn'; did you mean 'tiktoken'? There are: bpe, tiktoken
    """

    @classmethod
    def of(
        cls, kind: str, name: object, known: Iterable[str], *, meant: Sequence[str] = (), hint: str = ""
    ) -> UnknownNameError:
        """The error for `name`, with those `meant`, else the nearest `known`; `hint`: what else may explain it.

        A caller from Python may have given what is no text at all.
        """
        names = sorted(set(known))
        near = meant or nearest(str(name), names)
        guess = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        there = f" There are: {', '.join(names)}" if names else " There are none"
        return cls(f"unknown {kind} {name!r}{guess}{there}" + (f". {hint}" if hint else ""))


class PluginError(TokbenchError):
    """A plugin could not be loaded, claims what another has, or failed at its work."""


class PluginFileError(PluginError, SpecError):
    """A plugin's file was named that is not there, or no Python."""


class TokenizerError(TokbenchError):
    """A tokenizer could not be loaded, trained or used."""


class TokenizerFileError(TokenizerError, SpecError):
    """A spec names a tokenizer's file that is not there, or a folder that holds none."""


class FormatError(TokenizerError):
    """A tokenizer has no form in the format that the name of a file asks for."""


class CorpusError(TokbenchError):
    """Text could not be found, read or decoded; says file, line and byte offset where there is one."""


class ResultsError(TokbenchError):
    """A run folder is missing, damaged or of an unknown schema, or has not what is asked of it."""


class StorageError(ResultsError):
    """A result could not be written: the disk is full, read-only or gone. What was written before stands."""


class DiskFullError(StorageError):
    """There is no room for a result; once there is, the same can be asked for again."""


class Undefined(Exception):
    """Raised by a metric's `compute` where it has no value; the message is the reason shown.

    Example:
        >>> def words_a_sentence(t):
        ...     if not t.documents:
        ...         raise Undefined("no sentence was counted")
        ...     return t.words / t.documents
    """


def described(error: BaseException) -> str:
    """An exception in a message: its type and what it says, which a plugin's may fail to say.

    Example:
        >>> described(ValueError("no number")), described(KeyboardInterrupt())
        ('ValueError: no number', 'KeyboardInterrupt')
    """
    try:
        said = str(error)
    except Exception as second:
        said = f"(what it says is not known: its __str__ raises {type(second).__name__})"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three of the `known` names that look like `name`, in whatever case, best first.

    Example:
        >>> nearest("FERTILTY", ["fertility", "gini"])
        ['fertility']
    """
    folded = {one.casefold(): one for one in known}
    return [folded[match] for match in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]
