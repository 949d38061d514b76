r"""The sentencepiece `.model` file: read and written as protobuf wire format, without protobuf.

A `.model` is one `ModelProto` message: the pieces (string, score, type), the trainer's settings, and the
normaliser with its precompiled character map. Fields this module has no use for are kept as they are, so
that reading and writing a file loses nothing. The message is described in sentencepiece's
`sentencepiece_model.proto`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tokbench.errors import TokenizerError
from tokbench_subword.unigram.wire_format import (
    Fields,
    Value,
    any_field,
    bytes_field,
    fields_of,
    integer_of,
    message_of,
    text_of,
    varint_field,
)

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""What a piece is."""

MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
"""What the trainer's `model_type` says."""


class Piece(NamedTuple):
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
    other: tuple[tuple[int, int, Value], ...] = ()


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
    other: tuple[tuple[int, int, Value], ...] = ()

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
    other: Fields = []
    for number, kind, value in fields_of(data, where):
        if number == 1:
            pieces.append(_piece(message_of(value, kind, where), where))
        elif number == 2:
            trainer = _trainer(message_of(value, kind, where), where)
        elif number == 3:
            normalizer = _normalizer(message_of(value, kind, where), where)
        elif number == 5:
            denormalizer = _normalizer(message_of(value, kind, where), where)
        else:
            other.append((number, kind, value))
    if not pieces:
        raise TokenizerError(f"{where}: no sentencepiece model: it holds no pieces")
    return SpmModel(tuple(pieces), trainer, normalizer, denormalizer, tuple(other))


def serialize(model: SpmModel) -> bytes:
    """The bytes of the file that holds `model`."""
    parts = []
    for piece in model.pieces:
        body = bytes_field(1, piece.text.encode()) + b"\x15" + struct.pack("<f", piece.score)
        parts.append(bytes_field(1, body if piece.type == NORMAL else body + varint_field(3, piece.type)))
    parts.append(bytes_field(2, _write_trainer(model.trainer)))
    parts.append(bytes_field(3, _write_normalizer(model.normalizer)))
    if model.denormalizer is not None:
        parts.append(bytes_field(5, _write_normalizer(model.denormalizer)))
    parts += [any_field(*entry) for entry in model.other]
    return b"".join(parts)


# --- messages ----------------------------------------------------------------------------------------


def _piece(data: bytes, where: str) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, wire, value in fields_of(data, where):
        if number == 1:
            text = text_of(message_of(value, wire, where), where)
        elif number == 2:
            if wire != 5 or not isinstance(value, bytes):
                raise TokenizerError(f"{where}: damaged: the score of a piece is not a float")
            (score,) = struct.unpack("<f", value)
        elif number == 3:
            kind = integer_of(value, where)
    if not NORMAL <= kind <= BYTE:
        raise TokenizerError(f"{where}: piece {text!r} is of the unknown type {kind}")
    return Piece(text, score, kind)


def _trainer(data: bytes, where: str) -> TrainerSpec:
    known = {number: (name, kind) for name, (number, kind) in _TRAINER_FIELDS.items()}
    values: dict[str, object] = {}
    other: Fields = []
    for number, wire, value in fields_of(data, where):
        if number == 3:
            code = integer_of(value, where)
            if code not in MODEL_TYPES:
                raise TokenizerError(f"{where}: of the unknown model type {code}")
            values["model_type"] = MODEL_TYPES[code]
        elif number in known:
            name, kind = known[number]
            if kind == "str":
                values[name] = text_of(message_of(value, wire, where), where)
            else:
                values[name] = bool(value) if kind == "bool" else integer_of(value, where)
        else:
            other.append((number, wire, value))
    return TrainerSpec(**values, other=tuple(other))  # type: ignore[arg-type]


def _normalizer(data: bytes, where: str) -> NormalizerSpec:
    spec = NormalizerSpec(name="")
    for number, wire, value in fields_of(data, where):
        if number == 1:
            spec = replace(spec, name=text_of(message_of(value, wire, where), where))
        elif number == 2:
            spec = replace(spec, charsmap=message_of(value, wire, where))
        elif number == 3:
            spec = replace(spec, add_dummy_prefix=bool(value))
        elif number == 4:
            spec = replace(spec, remove_extra_whitespaces=bool(value))
        elif number == 5:
            spec = replace(spec, escape_whitespaces=bool(value))
    return spec


def _write_trainer(spec: TrainerSpec) -> bytes:
    code = {name: number for number, name in MODEL_TYPES.items()}[spec.model_type]
    parts = [varint_field(3, code)]
    defaults = TrainerSpec()
    for name, (number, kind) in _TRAINER_FIELDS.items():
        value = getattr(spec, name)
        if value == getattr(defaults, name) and name != "vocab_size":
            continue  # absent means the default
        parts.append(bytes_field(number, value.encode()) if kind == "str" else varint_field(number, int(value)))
    parts += [any_field(*entry) for entry in spec.other]
    return b"".join(parts)


def _write_normalizer(spec: NormalizerSpec) -> bytes:
    return b"".join(
        (
            bytes_field(1, spec.name.encode()),
            bytes_field(2, spec.charsmap),
            varint_field(3, spec.add_dummy_prefix),
            varint_field(4, spec.remove_extra_whitespaces),
            varint_field(5, spec.escape_whitespaces),
        )
    )


def parse_normalizer(data: bytes, *, where: str = "normalizer") -> NormalizerSpec:
    """The normaliser in a model that may have no pieces."""
    for number, wire, value in fields_of(data, where):
        if number == 3:
            return _normalizer(message_of(value, wire, where), where)
    raise TokenizerError(f"{where}: holds no normaliser")
