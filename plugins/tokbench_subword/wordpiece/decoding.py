"""Tokens back to text: continuations joined, words separated, and the spaces before punctuation taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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


def written(tokens: Iterable[str], *, prefix: str, cleanup: bool) -> list[str]:
    """What each of `tokens` adds to the text.

    With `cleanup`, each token is cleaned with the space before it, as the WordPiece decoder of `tokenizers`
    does.

    Example:
        >>> written(["un", "##do", "it", "!"], prefix="##", cleanup=True)
        ['un', 'do', ' it', '!']
    """
    return [_written(token, index == 0, prefix, cleanup) for index, token in enumerate(tokens)]


def _written(token: str, first: bool, prefix: str, cleanup: bool) -> str:
    """What one token adds to the text; nothing about the others matters but whether there is one before it."""
    if not first:
        token = token[len(prefix) :] if token.startswith(prefix) else " " + token
    if cleanup:
        for found, clean in _CLEANUP:
            token = token.replace(found, clean)
    return token


class WordPieceDecoder(dict[int, str]):
    """Ids to text: the mapping of ids to what they add behind another token, filled as they are met.

    Example:
        >>> tokens = ["un", "##do", "it", "!"]
        >>> WordPieceDecoder(tokens.__getitem__, prefix="##", cleanup=True).text([0, 1, 2, 3])
        'undo it!'
    """

    def __init__(self, token_of: Callable[[int], str], *, prefix: str, cleanup: bool) -> None:
        super().__init__()
        self._token_of, self._prefix, self._cleanup = token_of, prefix, cleanup

    def text(self, ids: Sequence[int]) -> str:
        """The text of `ids`."""
        if len(ids) == 0:
            return ""
        first, *rest = ids
        begin = _written(self._token_of(first), True, self._prefix, self._cleanup)
        return begin + "".join(map(self.__getitem__, rest))

    def __missing__(self, token_id: int) -> str:
        self[token_id] = text = _written(self._token_of(token_id), False, self._prefix, self._cleanup)
        return text
