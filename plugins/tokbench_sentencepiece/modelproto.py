"""What a `.model` file says of itself, read without the protobuf package.

The file is a protocol buffer, `ModelProto` of sentencepiece_model.proto. Its wire format is a list of fields:
a varint holds number and kind of the next one (https://protobuf.dev/programming-guides/encoding). Only the
trainer's and normaliser's settings are read; the pieces are skipped over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


@dataclass(frozen=True, slots=True)
class ProtoSettings:
    """The settings of a model that decide what its ids mean; defaults are those of the format."""

    model_type: str = "unigram"
    byte_fallback: bool = False
    suffix_whitespace: bool = False
    normalizer: str = ""
    has_character_map: bool = False
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    has_denormalizer: bool = False


def read_settings(data: bytes) -> ProtoSettings:
    """The settings in a serialized `ModelProto`; raises `ValueError` where `data` is none.

    Example:
        >>> read_settings(bytes([0x12, 2, 3 << 3, 2])).model_type  # trainer_spec { model_type: BPE }
        'bpe'
    """
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    denormalizer: dict[int, int | bytes] = {}
    for number, value in _fields(data):
        if number == 2 and isinstance(value, bytes):
            trainer.update(_fields(value))
        elif number == 3 and isinstance(value, bytes):
            normalizer.update(_fields(value))
        elif number == 5 and isinstance(value, bytes):
            denormalizer.update(_fields(value))
    kind = trainer.get(3, 1)
    name = normalizer.get(1, b"")
    return ProtoSettings(
        model_type=MODEL_TYPES.get(kind if isinstance(kind, int) else 0, f"type {kind!r}"),
        byte_fallback=bool(trainer.get(35, 0)),
        suffix_whitespace=bool(trainer.get(24, 0)),
        normalizer=name.decode("utf-8", "replace") if isinstance(name, bytes) else "",
        has_character_map=bool(normalizer.get(2, b"")),
        add_dummy_prefix=bool(normalizer.get(3, 1)),
        remove_extra_whitespaces=bool(normalizer.get(4, 1)),
        escape_whitespaces=bool(normalizer.get(5, 1)),
        has_denormalizer=bool(denormalizer.get(2, b"")),
    )


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if kind == BYTES:
            length, position = _varint(data, position)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"a field of kind {kind} at byte {position}")
        if position + length > len(data):
            raise ValueError(f"cut short, or none at all: byte {position} promises {length} more")
        yield number, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("cut short, or none at all: it ends inside a number")
