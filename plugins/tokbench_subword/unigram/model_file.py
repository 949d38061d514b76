r"""The sentencepiece `.model` file: read and written as protobuf wire format, without protobuf.

A `.model` is one `ModelProto` message: the pieces (string, score, type), the trainer's settings, and the
normaliser with its precompiled character map. Fields this module has no use for are kept as they are, so
that reading and writing a file loses nothing. The message is described in sentencepiece's
`sentencepiece_model.proto`.

    varint          seven bits a byte, low first, high bit set on all but the last
    field           varint key = number << 3 | wire type, then a varint (0), 8 bytes (1), bytes (2), 4 bytes (5)
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tokbench.errors import TokenizerError

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""What a piece is."""

MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
"""What the trainer's `model_type` says."""

_Value = int | bytes
_Fields = list[tuple[int, int, _Value]]


@dataclass(frozen=True, slots=True)
class Piece:
    """One entry of the vocabulary; its id is its position. `score` is a log probability (float32)."""

    text: str
    score: float
    type: int = NORMAL


@dataclass(frozen=True, slots=True)
class NormalizerSpec:
    """How text is prepared: the rule's name, its compiled map (may be empty), and the rules for spaces."""

    name: str = "identity"
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


@dataclass(frozen=True, slots=True)
class TrainerSpec:
    """The trainer's settings that change what a model does; `other` keeps the rest of the message.

    `unk_surface` is what an unknown token is decoded to.
    """

    model_type: str = "unigram"
    vocab_size: int = 0
    byte_fallback: bool = False
    treat_whitespace_as_suffix: bool = False
    unk_surface: str = " \u2047 "
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    other: tuple[tuple[int, int, _Value], ...] = ()


@dataclass(frozen=True, slots=True)
class SpmModel:
    """A sentencepiece model as its file describes it.

    Example:
        >>> model = SpmModel((Piece("<unk>", 0.0, UNKNOWN), Piece("a", -1.0)))
        >>> parse(serialize(model)) == model
        True
    """

    pieces: tuple[Piece, ...]
    trainer: TrainerSpec = field(default_factory=TrainerSpec)
    normalizer: NormalizerSpec = field(default_factory=NormalizerSpec)
    denormalizer: NormalizerSpec | None = None
    other: tuple[tuple[int, int, _Value], ...] = ()

    def with_pieces(self, pieces: Iterable[Piece]) -> SpmModel:
        """The same model with other pieces; the vocabulary size in the trainer's settings follows."""
        pieces = tuple(pieces)
        return replace(self, pieces=pieces, trainer=replace(self.trainer, vocab_size=len(pieces)))


_TRAINER_FIELDS: Mapping[str, tuple[int, str]] = {
    "vocab_size": (4, "int"),
    "byte_fallback": (35, "bool"),
    "treat_whitespace_as_suffix": (24, "bool"),
    "unk_surface": (44, "str"),
    "unk_piece": (45, "str"),
    "bos_piece": (46, "str"),
    "eos_piece": (47, "str"),
    "pad_piece": (48, "str"),
    "unk_id": (40, "int"),
    "bos_id": (41, "int"),
    "eos_id": (42, "int"),
    "pad_id": (43, "int"),
}


def read_model(path: str | os.PathLike[str]) -> SpmModel:
    """The model in the file at `path`; raises `TokenizerError` where it cannot be read or is damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TokenizerError(f"{os.fspath(path)}: cannot be read ({error.strerror or error})") from error
    return parse(data, where=os.fspath(path))


def write_model(model: SpmModel, path: str | os.PathLike[str]) -> None:
    """Write `model` to `path`, as sentencepiece reads it; raises `TokenizerError` where it cannot."""
    try:
        Path(path).write_bytes(serialize(model))
    except OSError as error:
        raise TokenizerError(f"{os.fspath(path)}: cannot be written ({error.strerror or error})") from error


def parse(data: bytes, *, where: str = "model") -> SpmModel:
    """The model that `data` holds; raises `TokenizerError` saying at which byte it stops making sense."""
    pieces: list[Piece] = []
    trainer, normalizer, denormalizer = TrainerSpec(), NormalizerSpec(), None
    other: _Fields = []
    for number, kind, value in _fields(data, where):
        if number == 1:
            pieces.append(_piece(_message(value, kind, where), where))
        elif number == 2:
            trainer = _trainer(_message(value, kind, where), where)
        elif number == 3:
            normalizer = _normalizer(_message(value, kind, where), where)
        elif number == 5:
            denormalizer = _normalizer(_message(value, kind, where), where)
        else:
            other.append((number, kind, value))
    if not pieces:
        raise TokenizerError(f"{where}: no sentencepiece model: it holds no pieces")
    return SpmModel(tuple(pieces), trainer, normalizer, denormalizer, tuple(other))


def serialize(model: SpmModel) -> bytes:
    """The bytes of the file that holds `model`."""
    parts = []
    for piece in model.pieces:
        body = _bytes(1, piece.text.encode()) + b"\x15" + struct.pack("<f", piece.score)
        parts.append(_bytes(1, body if piece.type == NORMAL else body + _varint_field(3, piece.type)))
    parts.append(_bytes(2, _write_trainer(model.trainer)))
    parts.append(_bytes(3, _write_normalizer(model.normalizer)))
    if model.denormalizer is not None:
        parts.append(_bytes(5, _write_normalizer(model.denormalizer)))
    parts += [_field(*entry) for entry in model.other]
    return b"".join(parts)


# --- messages ----------------------------------------------------------------------------------------


def _piece(data: bytes, where: str) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, wire, value in _fields(data, where):
        if number == 1:
            text = _text(_message(value, wire, where), where)
        elif number == 2:
            if wire != 5 or not isinstance(value, bytes):
                raise TokenizerError(f"{where}: damaged: the score of a piece is not a float")
            (score,) = struct.unpack("<f", value)
        elif number == 3:
            kind = _integer(value, where)
    if not NORMAL <= kind <= BYTE:
        raise TokenizerError(f"{where}: piece {text!r} is of the unknown type {kind}")
    return Piece(text, score, kind)


def _trainer(data: bytes, where: str) -> TrainerSpec:
    known = {number: (name, kind) for name, (number, kind) in _TRAINER_FIELDS.items()}
    values: dict[str, object] = {}
    other: _Fields = []
    for number, wire, value in _fields(data, where):
        if number == 3:
            code = _integer(value, where)
            if code not in MODEL_TYPES:
                raise TokenizerError(f"{where}: of the unknown model type {code}")
            values["model_type"] = MODEL_TYPES[code]
        elif number in known:
            name, kind = known[number]
            if kind == "str":
                values[name] = _text(_message(value, wire, where), where)
            else:
                values[name] = bool(value) if kind == "bool" else _integer(value, where)
        else:
            other.append((number, wire, value))
    return TrainerSpec(**values, other=tuple(other))  # type: ignore[arg-type]


def _normalizer(data: bytes, where: str) -> NormalizerSpec:
    spec = NormalizerSpec(name="")
    for number, wire, value in _fields(data, where):
        if number == 1:
            spec = replace(spec, name=_text(_message(value, wire, where), where))
        elif number == 2:
            spec = replace(spec, charsmap=_message(value, wire, where))
        elif number == 3:
            spec = replace(spec, add_dummy_prefix=bool(value))
        elif number == 4:
            spec = replace(spec, remove_extra_whitespaces=bool(value))
        elif number == 5:
            spec = replace(spec, escape_whitespaces=bool(value))
    return spec


def _write_trainer(spec: TrainerSpec) -> bytes:
    code = {name: number for number, name in MODEL_TYPES.items()}[spec.model_type]
    parts = [_varint_field(3, code)]
    defaults = TrainerSpec()
    for name, (number, kind) in _TRAINER_FIELDS.items():
        value = getattr(spec, name)
        if value == getattr(defaults, name) and name != "vocab_size":
            continue  # absent means the default
        parts.append(_bytes(number, value.encode()) if kind == "str" else _varint_field(number, int(value)))
    parts += [_field(*entry) for entry in spec.other]
    return b"".join(parts)


def _write_normalizer(spec: NormalizerSpec) -> bytes:
    return b"".join(
        (
            _bytes(1, spec.name.encode()),
            _bytes(2, spec.charsmap),
            _varint_field(3, spec.add_dummy_prefix),
            _varint_field(4, spec.remove_extra_whitespaces),
            _varint_field(5, spec.escape_whitespaces),
        )
    )


# --- wire format -------------------------------------------------------------------------------------


def _fields(data: bytes, where: str) -> _Fields:
    """Every field of a message as (number, wire type, value), in order."""
    fields: _Fields = []
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


def _message(value: _Value, wire: int, where: str) -> bytes:
    if wire != 2 or not isinstance(value, bytes):
        raise TokenizerError(f"{where}: damaged, or no sentencepiece model: a number where text belongs")
    return value


def _integer(value: _Value, where: str) -> int:
    if not isinstance(value, int):
        raise TokenizerError(f"{where}: damaged, or no sentencepiece model: text where a number belongs")
    return value - (1 << 64) if value >> 63 else value


def _text(data: bytes, where: str) -> str:
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


def _varint_field(number: int, value: int) -> bytes:
    return _encode_varint(number << 3) + _encode_varint(int(value))


def _bytes(number: int, value: bytes) -> bytes:
    return _encode_varint(number << 3 | 2) + _encode_varint(len(value)) + value


def _field(number: int, wire: int, value: _Value) -> bytes:
    if isinstance(value, int):
        return _varint_field(number, value)
    return _bytes(number, value) if wire == 2 else _encode_varint(number << 3 | wire) + value


def parse_normalizer(data: bytes, *, where: str = "normalizer") -> NormalizerSpec:
    """The normaliser in a model that may have no pieces."""
    for number, wire, value in _fields(data, where):
        if number == 3:
            return _normalizer(_message(value, wire, where), where)
    raise TokenizerError(f"{where}: holds no normaliser")
