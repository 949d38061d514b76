"""The family `sentencepiece`: its options, and how its specs are loaded."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from tokbench import LoadContext, Spec, SpecError, TokenizerError, TokenizerFamily
from tokbench.family import HEAD_BYTES
from tokbench.vocabulary_files import GZIP, read_bytes
from tokbench_sentencepiece.adapter import SentencePieceTokenizer
from tokbench_sentencepiece.training import OPTIONS, train


def load(spec: Spec, context: LoadContext) -> SentencePieceTokenizer:
    """Open a `.model` file."""
    if not spec.variant:
        raise SpecError("sentencepiece: name a .model file: sentencepiece:PATH")
    path = _path(spec)
    model = read_bytes(path)
    if not model:
        raise TokenizerError(f"{spec}: {path} is empty")
    return SentencePieceTokenizer(model, name=str(spec), threads=context.threads)


def _path(spec: Spec) -> Path:
    """The file that a spec names; for a folder, the one model in it."""
    path = Path(spec.variant or "").expanduser()
    if path.is_dir():
        models = _models(path)
        if len(models) != 1:
            found = ", ".join(model.name for model in models) or "none"
            raise TokenizerError(f"{spec}: {path} is a folder; name one .model file in it (there is: {found})")
        return models[0]
    return path


def _models(folder: Path) -> list[Path]:
    return sorted(path for path in {*folder.glob("*.model"), *folder.glob("*.model.v[0-9]*")} if path.is_file())


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The model file, for checksums."""
    return [_path(spec)] if spec.variant else []


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file, or the one model in a folder, is sentencepiece's.

    Such a file is a protobuf message that begins with a piece or the trainer's settings.
    """
    if path.is_dir():
        models = _models(path)
        if len(models) != 1:
            return False
        with models[0].open("rb") as model:
            head = model.read(HEAD_BYTES)
    if head.startswith(GZIP):
        head = zlib.decompressobj(wbits=31).decompress(head, 1 << 16)
    return head[:1] in (b"\n", b"\x12") and b"\0" in head


SENTENCEPIECE = TokenizerFamily(
    name="sentencepiece",
    summary="Any sentencepiece .model, or one trained here: unigram, bpe, char, word",
    load=load,
    train=train,
    trained_suffix=".model",
    saved_as=(".model",),
    files=files,
    recognises=recognises,
    endings=(".model",),
    options=OPTIONS,
    variant="a .model file; none: trained",
    libraries=("sentencepiece",),
    examples=("sentencepiece:spiece.model", "sentencepiece:model_type=unigram,vocab_size=8k"),
)
