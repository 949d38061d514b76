"""The byte alphabet of GPT-2: each byte as a printable character, so that JSON can contain byte-level tokens.

Bytes that are printable in Latin-1 keep their character; the other 68, in order, get U+0100 onwards. So a space
is ``Ġ`` (U+0120) and a line feed ``Ċ`` (U+010A).
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in set(_PRINTABLE)]

CHARACTER_OF = {byte: chr(byte) for byte in _PRINTABLE} | {
    byte: chr(0x100 + index) for index, byte in enumerate(_OTHERS)
}
"""The character of each byte."""
BYTE_OF = {character: byte for byte, character in CHARACTER_OF.items()}
"""The byte of each character."""


class _Bytes(dict[int, str]):
    """Maps each character of the alphabet to its byte, as a character of Latin-1; others to one beyond that."""

    def __missing__(self, point: int) -> str:
        return "\u0100"


_TO_LATIN_1 = _Bytes({ord(character): chr(byte) for character, byte in BYTE_OF.items()})


def spelled(token: bytes) -> str:
    """Bytes in the byte alphabet.

    Example:
        >>> spelled(b" word")
        'Ġword'
    """
    return token.decode("latin-1").translate(CHARACTER_OF)


def unspelled(text: str) -> bytes | None:
    """The bytes that `text` spells, or None if a character is not in the alphabet.

    Example:
        >>> unspelled("Ġword"), unspelled("▁word")
        (b' word', None)
    """
    try:
        return text.translate(_TO_LATIN_1).encode("latin-1")
    except UnicodeEncodeError:
        return None
