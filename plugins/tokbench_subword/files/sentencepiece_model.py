"""The sentencepiece `.model` file, read and written with sentencepiece's own description of it.

A `.model` is one protobuf message, `ModelProto`: the pieces (string, score, type), the trainer's settings, and
the normalizer with its precompiled character map. A model keeps the message it was read from (without the
pieces), so that reading and writing a file loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_bytes

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
"""The types of pieces; GGUF uses the same numbers."""

MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
"""The values of the trainer's `model_type`."""


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
    """The trainer's settings that affect encoding and decoding; `unk_surface` is the unknown token's text."""

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


@dataclass(frozen=True, slots=True)
class SpmModel:
    """A sentencepiece model; `read_from` is the message of its file, without the pieces.

    Example:
        >>> model = SpmModel((Piece("<unk>", 0.0, UNKNOWN), Piece("a", -1.0)))
        >>> parse(serialize(model)) == model
        True
    """

    pieces: tuple[Piece, ...]
    trainer: TrainerSpec = TrainerSpec()
    normalizer: NormalizerSpec = NormalizerSpec()
    denormalizer: NormalizerSpec | None = None
    read_from: bytes = field(default=b"", compare=False)

    @property
    def denormalizes(self) -> bool:
        """Whether decoding applies a character map to the text."""
        return self.denormalizer is not None and bool(self.denormalizer.charsmap)

    def with_pieces(self, pieces: Iterable[Piece]) -> SpmModel:
        """The same model with other pieces; the vocabulary size in the trainer's settings follows."""
        pieces = tuple(pieces)
        return replace(self, pieces=pieces, trainer=replace(self.trainer, vocab_size=len(pieces)))


_CHARSMAP = "precompiled_charsmap"
_NORMALIZER = {**{one.name: one.name for one in fields(NormalizerSpec)}, "charsmap": _CHARSMAP}
_TRAINER = {one.name: one.name for one in fields(TrainerSpec) if one.name != "model_type"}
"""The name of each field here, and its name in the message."""


def read_model(path: str | os.PathLike[str]) -> SpmModel:
    """The model in the file at `path`; raises `TokenizerError` if the file is unreadable or damaged."""
    return parse(read_bytes(path), where=os.fspath(path))


def write_model(model: SpmModel, path: str | os.PathLike[str]) -> None:
    """Write `model` to `path` in sentencepiece's format; raises `TokenizerError` if writing fails."""
    try:
        Path(path).write_bytes(serialize(model))
    except OSError as error:
        raise TokenizerError(f"{os.fspath(path)}: cannot be written ({error.strerror or error})") from error


def parse(data: bytes, *, where: str = "model") -> SpmModel:
    """The model in `data`; raises `TokenizerError` naming the byte from which it cannot be read."""
    message = _parsed(data, where)
    pieces = tuple(Piece(_text(one.piece, where), one.score, one.type) for one in message.pieces)
    if not pieces:
        raise TokenizerError(f"{where}: is not a sentencepiece model: it holds no pieces")
    trainer = message.trainer_spec
    kind = MODEL_TYPES[trainer.model_type]
    settings = TrainerSpec(**_values(trainer, _TRAINER, where), model_type=kind)
    denormalizer = (
        _normalizer(message.denormalizer_spec, where) if message.HasField("denormalizer_spec") else None
    )
    message.ClearField("pieces")
    read_from = message.SerializeToString()
    return SpmModel(pieces, settings, _normalizer(message.normalizer_spec, where), denormalizer, read_from)


def serialize(model: SpmModel) -> bytes:
    """The bytes of a `.model` file."""
    message = _messages().ModelProto.FromString(model.read_from)
    for piece in model.pieces:
        entry = message.pieces.add(piece=piece.text, score=piece.score)
        if piece.type != NORMAL:
            entry.type = piece.type
    _write(model.trainer, message.trainer_spec, _TRAINER)
    kinds = {name: number for number, name in MODEL_TYPES.items()}
    message.trainer_spec.model_type = kinds[model.trainer.model_type]
    _write(model.normalizer, message.normalizer_spec, _NORMALIZER)
    if model.denormalizer is None:
        message.ClearField("denormalizer_spec")
    else:
        _write(model.denormalizer, message.denormalizer_spec, _NORMALIZER)
    data: bytes = message.SerializeToString()
    return data


def normalizer_in(data: bytes) -> NormalizerSpec:
    """The normalizer of a serialized model, which may have no pieces."""
    return _normalizer(_parsed(data, "normalizer").normalizer_spec, "normalizer")


def model_type_in(data: bytes, *, where: str) -> str:
    """The type of a model, as in `TrainerSpec`; raises `TokenizerError` for a damaged model."""
    return MODEL_TYPES[_parsed(data, where).trainer_spec.model_type]


def begins_model(data: bytes) -> bool:
    """Whether `data` begins with a complete and well-formed piece, as a model does.

    Example:
        >>> begins_model(serialize(SpmModel((Piece("a", -1.0),)))), begins_model(b"{}")
        (True, False)
    """
    try:
        _, piece = next(_fields(data))
        parts = list(_fields(piece))
    except (StopIteration, ValueError):
        return False
    return data[:1] == piece[:1] == b"\n" and len(parts) <= 3 and bool(parts[0][1])


# --- messages ----------------------------------------------------------------------------------------


def _messages() -> Any:
    try:
        from sentencepiece import sentencepiece_model_pb2
    except Exception as error:  # not installed, or made for a newer protobuf than the installed one
        raise TokenizerError(
            "sentencepiece's files are read with its description of them, which cannot be imported; install "
            f"sentencepiece, and a protobuf as new as it asks for (pip install -U protobuf): {error}"
        ) from error
    return sentencepiece_model_pb2


def _parsed(data: bytes, where: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return _messages().ModelProto.FromString(data)
    except DecodeError as error:
        whole = 0
        try:
            for end, _ in _fields(data):
                whole = end
        except ValueError:
            pass
        raise TokenizerError(
            f"{where}: is not a sentencepiece model, or truncated or damaged behind byte {whole} of "
            f"{len(data)}; fetch the file again"
        ) from error


def _text(value: Any, where: str) -> str:
    """The text of a field; protobuf returns bytes if it is not UTF-8."""
    if isinstance(value, bytes):
        raise TokenizerError(f"{where}: damaged: text that is not UTF-8: {value[:40]!r}")
    return str(value)


def _values(message: Any, names: dict[str, str], where: str) -> dict[str, Any]:
    """The fields of a message, by their names here."""
    found = {ours: getattr(message, theirs) for ours, theirs in names.items()}
    for ours, value in found.items():
        if isinstance(value, bytes) and names[ours] != _CHARSMAP:
            _text(value, where)
    return found


def _normalizer(message: Any, where: str) -> NormalizerSpec:
    return NormalizerSpec(**_values(message, _NORMALIZER, where))


def _write(spec: Any, message: Any, names: dict[str, str]) -> None:
    """Set the fields whose values in the message, defaults included, differ from `spec`."""
    message.SetInParent()
    for ours, theirs in names.items():
        if getattr(spec, ours) != getattr(message, theirs):
            setattr(message, theirs, getattr(spec, ours))


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Where each field of a message ends, and its bytes; raises `ValueError` if the message is truncated."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            _, end = _varint(data, at)
        elif key & 7 == 2:
            size, at = _varint(data, at)
            end = at + size
        else:
            end = at + {1: 8, 5: 4}.get(key & 7, len(data) + 1)
        if end > len(data):
            raise ValueError(at)
        yield end, data[at:end]
        at = end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(at, min(at + 10, len(data))):
        value |= (data[index] & 0x7F) << 7 * (index - at)
        if data[index] < 0x80:
            return value, index + 1
    raise ValueError(at)
