"""Added tokens: words, special tokens among them, that are matched in the text before the model sees it.

The rules are those of `tokenizer.json` (``added_tokens``). The leftmost, longest match wins. Tokens that are
not `normalized` are matched in the given text; the others are normalized themselves and matched in the
normalized rest. A `single_word` token must not stand beside a letter, digit or underscore; `lstrip` and
`rstrip` extend the match over the white space beside it. This is the plain form; `added_matching` is the
compiled one.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench_subword.pipeline.patterns.regexes import compile_regex


@dataclass(frozen=True, slots=True)
class AddedToken:
    """One added token: its text, its id, and how it is matched."""

    content: str
    id: int
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False


FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
"""How an added token is matched, as files name it."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part ``text[start:end]``: an added token if `token` is set, else text for the model."""

    start: int
    end: int
    token: AddedToken | None = None


class AddedTokens:
    """Added tokens that are matched together: those that are not `normalized`, or those that are.

    With `normalize`, their contents are normalized. Raises `TokenizerError` for a token that normalizes to
    nothing, which `tokenizers` would find everywhere, and for two tokens that normalize to the same text, of
    which `tokenizers` would find either.

    With `match_special` false, the text of a special token is ordinary text, in which no shorter tokens are
    matched either, as in `tokenizers`.

    Example:
        >>> tokens = AddedTokens([AddedToken("<mask>", 7, lstrip=True), AddedToken("<s>", 0, special=True)])
        >>> pieces = tokens.split("a <mask>b<s>", match_special=False)
        >>> [(piece.start, piece.end, piece.token and piece.token.id) for piece in pieces]
        [(0, 1, None), (1, 8, 7), (8, 12, None)]
    """

    def __init__(self, tokens: Iterable[AddedToken], *, normalize: Callable[[str], str] | None = None) -> None:
        self.tokens = tuple(tokens)
        self.by_text: dict[str, AddedToken] = {}
        for token in self.tokens:
            text = normalize(token.content) if normalize else token.content
            if not text and not normalize:
                continue
            other = self.by_text.setdefault(text, token)
            if not text:
                raise TokenizerError(
                    f"the normalizer leaves nothing of the added token {token.content!r}, which `tokenizers` "
                    'then finds between any two characters: give it "normalized": false'
                )
            if other.id != token.id:
                raise TokenizerError(
                    f"the normalizer makes {text!r} of the added tokens {other.content!r} and "
                    f"{token.content!r}: "
                    '`tokenizers` finds the one or the other, as it happens; give one "normalized": false'
                )

    @cached_property
    def _any_of_them(self) -> Any:
        """A pattern for the leftmost, longest of the tokens."""
        import regex

        return regex.compile(r"\L<texts>", texts=self.by_text)

    def split(self, text: str, *, match_special: bool) -> list[TextPart]:
        """`text` as pieces in order, covering it without gaps; no piece is empty."""
        pieces: list[TextPart] = []
        done = 0
        for match in self._any_of_them.finditer(text) if self.by_text else ():
            (start, end), token = match.span(), self.by_text[match.group()]
            if token.special and not match_special:
                continue
            if token.single_word and _within_word(text, start, end):
                continue
            if token.lstrip:
                start = max(done, len(text[:start].rstrip(SPACE)))
            if token.rstrip:
                end = len(text) - len(text[end:].lstrip(SPACE))
            if start >= end:  # only white space, which the token before has taken
                continue
            if start > done:
                pieces.append(TextPart(done, start))
            pieces.append(TextPart(start, end, token))
            done = end
        if done < len(text):
            pieces.append(TextPart(done, len(text)))
        return pieces


SPACE = "".join(map(chr, [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]))
SPACE += "\u2028\u2029\u202f\u205f\u3000"
"""White_Space, which `lstrip` and `rstrip` take along; str.strip alone would also take U+001C-1F."""


def _within_word(text: str, start: int, end: int) -> bool:
    """Whether a word character stands beside ``text[start:end]``."""
    beside = (text[start - 1 : start], text[end : end + 1])
    return any(any(compile_regex(r"\w", "rust").spans(one)) for one in beside)


def numbered(
    added: Iterable[AddedToken], ids: Mapping[str, int], size: int | None = None
) -> Iterator[tuple[AddedToken, int]]:
    """Each token with the id that `tokenizers` gives it beside a vocabulary, whatever the file says.

    A token that is in the vocabulary has its id there. The others are numbered in their order from `size` on,
    the number of entries in the vocabulary: more than its distinct texts if it lists one twice, less than its
    highest id if its ids have holes.

    Example:
        >>> [index for _, index in numbered([AddedToken("<s>", 7), AddedToken("a", 0)], {"a": 0})]
        [1, 0]
    """
    known, following = dict(ids), len(ids) if size is None else size
    for token in added:
        if token.content:
            if token.content not in known:
                known[token.content] = following
                following += 1
            yield token, known[token.content]


def check_numbers(
    added: Iterable[AddedToken], ids: Mapping[str, int], size: int | None = None, *, where: str
) -> None:
    """Raise `TokenizerError` if an added token does not have the id that `tokenizers` gives it."""
    for token, index in numbered(added, ids, size):
        if token.id != index:
            raise TokenizerError(
                f"{where}: the added token {token.content!r} has the id {token.id}; in `tokenizers`, which "
                f"numbers added tokens itself behind the others, it has {index}: correct the file, or see what "
                "`transformers:` makes of it"
            )


def new_tokens(
    contents: str | Iterable[str], known: Container[str], first: int, *, special: bool = False
) -> tuple[AddedToken, ...]:
    """Tokens to be added, with the ids from `first` on.

    Raises `TokenizerError` if one is empty, repeated or already `known`.
    """
    new: dict[str, AddedToken] = {}
    for content in [contents] if isinstance(contents, str) else contents:
        if not content:
            raise TokenizerError("an added token must not be empty")
        if content in new or content in known:
            raise TokenizerError(f"the token {content!r} is in the vocabulary already: it cannot be added")
        new[content] = AddedToken(content, first + len(new), normalized=False, special=special)
    return tuple(new.values())
