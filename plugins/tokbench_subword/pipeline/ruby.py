r"""Patterns of Rust's engine rewritten for Oniguruma, which `tokenizers` runs and a `tokenizer.json` holds.

What means something else there is spelled out: a possessive ``{1,3}+`` becomes ``(?>…{1,3})``, ``^`` and ``$``
the ends of the text, ``\w`` and ``\b`` the characters that Rust counts as words.
"""

from __future__ import annotations

from tokbench_subword.pipeline.regexes import Translator

_ANCHORS = {r"\A": r"\A", r"\Z": r"\z"}


def in_ruby(source: str) -> str:
    r"""A pattern for tiktoken as `tokenizers` must be told it; raises `TokenizerError` where it cannot be.

    Example:
        >>> in_ruby(r"\p{N}{1,3}+|\S+$")
        '(?>\\p{N}{1,3})|\\S+\\z'
    """
    return _ToRuby(source, "rust", exact=False).run()


class _ToRuby(Translator):
    """The same pass as the one towards `regex`, with what Oniguruma does not share written out."""

    def _plain(self, text: str) -> str:
        return super()._plain(_ANCHORS.get(text, text))

    def _escape(self, *, in_class: bool) -> str:
        begin, letter = self.at, self.source[self.at + 1 : self.at + 2]
        translated = super()._escape(in_class=in_class)
        return translated if letter in "wWbB" else self.source[begin : self.at]

    def _quantified(self, atom: str) -> str:
        begin = self.at
        end = self._interval() if self.source.startswith("{", begin) else 0
        if end and self.source.startswith("+", end):
            self.at = end + 1
            return super()._quantified(f"(?>{atom}{self.source[begin:end]})")
        return super()._quantified(atom)

    def _group(self) -> None:
        begin = self.at
        super()._group()
        flags = (
            self.source[begin + 2 : self.at - 1].replace("-", "") if self.source.startswith("(?", begin) else ""
        )
        if flags.isalpha() and set(flags) - {"i"}:
            raise self._refused(f"the flags {flags!r}")
