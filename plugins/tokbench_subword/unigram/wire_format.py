"""Protobuf's wire format, as far as sentencepiece's files use it: read and written without protobuf.

varint          seven bits a byte, low first, high bit set on all but the last
field           varint key = number << 3 | wire type, then a varint (0), 8 bytes (1), bytes (2), 4 bytes (5)
"""

from __future__ import annotations

from tokbench.errors import TokenizerError

Value = int | bytes
Fields = list[tuple[int, int, Value]]


def fields_of(data: bytes, where: str) -> Fields:
    """Every field of a message as (number, wire type, value), in order."""
    fields: Fields = []
    position = 0
    while position < len(data):
        start = position
        key, position = _varint(data, position, where)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise TokenizerError(f"{where}: damaged at byte {start}: a field without a number")
        if wire == 0:
            value, position = _varint(data, position, where)
            fields.append((number, wire, value))
            continue
        if wire == 2:
            size, position = _varint(data, position, where)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise TokenizerError(f"{where}: damaged at byte {start}, or no sentencepiece model")
        if position + size > len(data):
            raise TokenizerError(
                f"{where}: truncated: a field at byte {start} needs {size} bytes of {len(data) - position} left"
            )
        fields.append((number, wire, data[position : position + size]))
        position += size
    return fields


def _varint(data: bytes, position: int, where: str) -> tuple[int, int]:
    value, shift = 0, 0
    while position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise TokenizerError(f"{where}: damaged at byte {position}: a number of more than 64 bits")
    raise TokenizerError(f"{where}: truncated at byte {position}, within a number")


def message_of(value: Value, wire: int, where: str) -> bytes:
    """The bytes of a field that holds a message or text; raises `TokenizerError` for a number."""
    if wire != 2 or not isinstance(value, bytes):
        raise TokenizerError(f"{where}: damaged, or no sentencepiece model: a number where text belongs")
    return value


def integer_of(value: Value, where: str) -> int:
    """The number in a field, negative ones among them; raises `TokenizerError` for bytes."""
    if not isinstance(value, int):
        raise TokenizerError(f"{where}: damaged, or no sentencepiece model: text where a number belongs")
    return value - (1 << 64) if value >> 63 else value


def text_of(data: bytes, where: str) -> str:
    """The text of a field; raises `TokenizerError` where it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{where}: damaged: text that is not UTF-8: {data[:40]!r}") from error


def _encode_varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint_field(number: int, value: int) -> bytes:
    """A field that holds a number."""
    return _encode_varint(number << 3) + _encode_varint(int(value))


def bytes_field(number: int, value: bytes) -> bytes:
    """A field that holds text or a message."""
    return _encode_varint(number << 3 | 2) + _encode_varint(len(value)) + value


def any_field(number: int, wire: int, value: Value) -> bytes:
    """A field as `fields_of` gave it."""
    if isinstance(value, int):
        return varint_field(number, value)
    return bytes_field(number, value) if wire == 2 else _encode_varint(number << 3 | wire) + value
