"""Bytes and code points: the tokenizers that need no vocabulary and lose nothing.

Their ids are the bytes of UTF-8 (256 of them) and the code points themselves (1,114,112). A lone surrogate,
which UTF-8 cannot carry, is kept in the three bytes that ``surrogatepass`` gives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, SpecError, TokenBatch, TokenizerFamily
from tokbench.arguments import known_id, known_ids, plain_text, plain_texts
from tokbench.tokenizer import text_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CODE_POINTS = 0x110000


class ByteTokenizer:
    """The bytes of UTF-8.

    Example:
        >>> ByteTokenizer().encode("é")
        [195, 169]
    """

    name = "bytes"
    vocab_size = 256
    lossless = True
    decode_joins_bytes = True

    def encode(self, text: str) -> Sequence[int]:
        """The bytes of `text`."""
        return list(plain_text(text, name=self.name).encode("utf-8", "surrogatepass"))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some bytes; bytes that are not UTF-8 become U+FFFD."""
        return text_of(bytes(known_ids(ids, self.vocab_size, name=self.name)))

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The bytes of every text, without a Python object for each byte."""
        import numpy as np

        texts = plain_texts(texts, name=self.name)
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        ids = np.frombuffer(b"".join(parts), np.uint8).astype(np.int32)
        return TokenBatch(ids, np.cumsum([0, *map(len, parts)], dtype=np.int64))

    def token_bytes(self, token_id: int) -> bytes:
        """The byte itself."""
        return bytes([known_id(token_id, self.vocab_size, name=self.name)])

    def offsets(self, text: str) -> NDArray[np.int64]:
        """For each byte the span of the character it belongs to."""
        import numpy as np

        widths = [len(char.encode("utf-8", "surrogatepass")) for char in text]
        starts = np.repeat(np.arange(len(text), dtype=np.int64), widths)
        return np.stack([starts, starts + 1], axis=1)

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {"algorithm": "bytes", "normalizer": None, "pre_tokenizer": None, "lossless": True}


class CharTokenizer:
    """Unicode code points, each its own id.

    Example:
        >>> CharTokenizer().encode("é")
        [233]
    """

    name = "chars"
    vocab_size = CODE_POINTS
    lossless = True
    decode_joins_bytes = True

    def encode(self, text: str) -> Sequence[int]:
        """The code points of `text`."""
        return list(map(ord, plain_text(text, name=self.name)))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some code points."""
        return "".join(map(chr, known_ids(ids, self.vocab_size, name=self.name)))

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The code points of every text, by way of UTF-32."""
        import numpy as np

        texts = plain_texts(texts, name=self.name)
        data = "".join(texts).encode("utf-32-le", "surrogatepass")
        ids = np.frombuffer(data, "<i4").astype(np.int32)
        return TokenBatch(ids, np.cumsum([0, *map(len, texts)], dtype=np.int64))

    def token_bytes(self, token_id: int) -> bytes:
        """The UTF-8 of the code point."""
        return chr(known_id(token_id, self.vocab_size, name=self.name)).encode("utf-8", "surrogatepass")

    def offsets(self, text: str) -> NDArray[np.int64]:
        """One character a token."""
        import numpy as np

        starts = np.arange(len(text), dtype=np.int64)
        return np.stack([starts, starts + 1], axis=1)

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {"algorithm": "code points", "normalizer": None, "pre_tokenizer": None, "lossless": True}


def load(
    kind: type[ByteTokenizer | CharTokenizer], spec: Spec, context: LoadContext
) -> ByteTokenizer | CharTokenizer:
    """The one tokenizer of a kind."""
    no_files(spec, context)
    return kind()


def no_files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """No files; raises `SpecError` for a variant, of which there are none."""
    if spec.variant is not None:
        raise SpecError(f"{spec}: {spec.family!r} has no variants; write just {spec.family!r}")
    return []


BYTES = TokenizerFamily(
    name="bytes",
    summary="UTF-8 bytes: 256 ids, lossless",
    load=partial(load, ByteTokenizer),
    files=no_files,
    examples=("bytes",),
)
CHARS = TokenizerFamily(
    name="chars",
    summary="Unicode code points, each its own id: lossless",
    load=partial(load, CharTokenizer),
    files=no_files,
    examples=("chars",),
)
