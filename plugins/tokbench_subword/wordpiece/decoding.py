"""Tokens back to text: continuations joined, words separated, and the spaces before punctuation taken out."""

from __future__ import annotations

from collections.abc import Iterable

_CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)
# "do not" is contracted as well: an old slip of the reference decoders, kept so that decoded text is equal. It
# looks at one token at a time, so it can act only on a token that contains the two words.


def decoded(tokens: Iterable[str], *, prefix: str, cleanup: bool) -> str:
    """The text of `tokens`.

    With `cleanup`, each token is cleaned with the space before it, as the WordPiece decoder of `tokenizers`
    does.

    Example:
        >>> decoded(["un", "##do", "it", "!"], prefix="##", cleanup=True)
        'undo it!'
    """
    parts: list[str] = []
    for token in tokens:
        if parts:
            token = token[len(prefix) :] if token.startswith(prefix) else " " + token
        if cleanup:
            for written, clean in _CLEANUP:
                token = token.replace(written, clean)
        parts.append(token)
    return "".join(parts)
