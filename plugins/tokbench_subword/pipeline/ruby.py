r"""Patterns for tiktoken (Rust) rewritten for `tokenizers` (Oniguruma, in Ruby's syntax)."""

from __future__ import annotations

from tokbench_subword.pipeline.translating import Translator, quoted

_ANCHORS = {r"\A": r"\A", r"\Z": r"\z"}
"""Ends of the text as Oniguruma writes them."""


def in_ruby(source: str) -> str:
    r"""A pattern for tiktoken as `tokenizers`, which runs Oniguruma, must be told it.

    What means something else there is spelled out: a possessive ``{1,3}+`` becomes ``(?>…{1,3})``, ``^`` and
    ``$`` the ends of the text, ``\w`` and ``\b`` the characters that Rust counts as words. Raises
    `TokenizerError` where that cannot be.

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
        if numbered := self._numbered():
            letter, self.at = numbered
            return quoted(letter)
        translated = super()._escape(in_class=in_class)
        return _ANCHORS.get(translated, translated)

    def _quantified(self, atom: str) -> str:
        begin = self.at
        end = self._interval() if self.source.startswith("{", begin) else 0
        if end and self.source.startswith("+", end):
            self.at = end + 1
            return super()._quantified(f"(?>{atom}{self.source[begin:end]})")
        return super()._quantified(atom)

    @property
    def flags(self) -> str:
        """Only what Oniguruma reads the same way."""
        return "i"

    def _set_text(self, head: str, parts: list[str]) -> str:
        wrong = next((one for one in parts[1::2] if one != "&&"), None)
        if wrong:
            raise self._refused(f"{wrong} between sets")
        return super()._set_text(head, parts)
