"""What a `.model` file says of itself, read with sentencepiece's own description of it."""

from __future__ import annotations

from dataclasses import dataclass

MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


@dataclass(frozen=True, slots=True)
class ProtoSettings:
    """The settings of a model that decide what its ids mean."""

    model_type: str
    byte_fallback: bool
    suffix_whitespace: bool
    normalizer: str
    has_character_map: bool
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    has_denormalizer: bool


def read_settings(data: bytes) -> ProtoSettings:
    """The settings in a serialized `ModelProto`; raises `ValueError` where `data` is none.

    Example:
        >>> read_settings(bytes([0x12, 2, 3 << 3, 2])).model_type  # trainer_spec { model_type: BPE }
        'bpe'
    """
    from google.protobuf.message import DecodeError
    from sentencepiece import sentencepiece_model_pb2

    try:
        model = sentencepiece_model_pb2.ModelProto.FromString(data)
    except DecodeError as error:
        raise ValueError(error) from error
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    return ProtoSettings(
        model_type=MODEL_TYPES[trainer.model_type],
        byte_fallback=trainer.byte_fallback,
        suffix_whitespace=trainer.treat_whitespace_as_suffix,
        normalizer=str(normalizer.name),  # bytes where it is not UTF-8
        has_character_map=bool(normalizer.precompiled_charsmap),
        add_dummy_prefix=normalizer.add_dummy_prefix,
        remove_extra_whitespaces=normalizer.remove_extra_whitespaces,
        escape_whitespaces=normalizer.escape_whitespaces,
        has_denormalizer=bool(model.denormalizer_spec.precompiled_charsmap),
    )
