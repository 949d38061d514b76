"""A research idea as a tokenizer: numbers in groups of three digits from the right, bytes for the rest.

Models that read numbers in groups counted from the right add better than those that read them from the left
(Singh and Strouse 2024, arXiv 2402.14903). Here 1234567 is 1|234|567, where most vocabularies cut 123|456|7.

    tokbench run --plugin docs/examples/digit_groups.py -t digit-groups -t bytes -d bundled:tricky
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import tokbench
from tokbench import LoadContext, Option, Spec, TokenizerError, TokenizerFamily

BYTES = 256
_DIGITS = re.compile(r"[0-9]+")


class DigitGroups:
    """Ids 0 … 255 are bytes; then come all groups of 1, 2, … `width` digits, zeros kept."""

    lossless = True

    def __init__(self, width: int) -> None:
        self.name = f"digit groups of {width}"
        self.width = width
        self._groups = [f"{n:0{size}d}" for size in range(1, width + 1) for n in range(10**size)]
        self._ids = {group: BYTES + place for place, group in enumerate(self._groups)}
        self.vocab_size = BYTES + len(self._groups)

    def encode(self, text: str) -> Sequence[int]:
        """Groups of digits as one id each, all else as UTF-8 bytes."""
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise TokenizerError(f"text with a lone surrogate at {error.start} is not valid Unicode") from error
        ids: list[int] = []
        end = 0
        for number in _DIGITS.finditer(text):
            ids += text[end : number.start()].encode()
            ids += (self._ids[group] for group in self._from_the_right(number[0]))
            end = number.end()
        return [*ids, *text[end:].encode()]

    def _from_the_right(self, digits: str) -> Iterable[str]:
        head = len(digits) % self.width
        if head:
            yield digits[:head]
        for start in range(head, len(digits), self.width):
            yield digits[start : start + self.width]

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token."""
        return bytes([token_id]) if token_id < BYTES else self._groups[token_id - BYTES].encode()

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; bytes that are not UTF-8 become U+FFFD."""
        return b"".join(self.token_bytes(int(token)) for token in ids).decode("utf-8", "replace")


def load(spec: Spec, context: LoadContext) -> DigitGroups:
    """`digit-groups` or `digit-groups:width=4`."""
    width = spec.get("width", 3)
    if not 1 <= width <= 6:
        raise TokenizerError(f"{spec}: width must be from 1 to 6")
    return DigitGroups(width)


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[TokenizerFamily]:
    """Offer `digit-groups`."""
    return [
        TokenizerFamily(
            name="digit-groups",
            summary="Numbers in groups of digits from the right, bytes for the rest: lossless",
            load=load,
            options=(Option("width", "int", 3, "digits in a group"),),
            examples=("digit-groups", "digit-groups:width=2"),
        )
    ]
