r"""The RWKV vocabulary: greedy longest match over bytes, as the "World" models use it.

A line of the file is ``id literal length``: the literal is a Python string or bytes (``' the'``, ``b'\xe4'``),
the length counts its bytes. Id 0 is the end of a document, and has no line. There is no pre-tokenizer: the
longest entry that matches the beginning of the remaining text is taken.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokbench import LoadContext, Spec, SpecError, TokenBatch, TokenizerError, TokenizerFamily
from tokbench.arguments import known_id, known_ids, plain_text, plain_texts
from tokbench.family import variant_file
from tokbench.tokenizer import text_of

END_OF_DOCUMENT = 0


class RwkvTokenizer:
    """Greedy longest match over byte strings.

    Example:
        >>> entries = {byte + 1: bytes([byte]) for byte in range(256)} | {257: b"th", 258: b"the "}
        >>> RwkvTokenizer(entries, name="demo").encode("the thing")
        [258, 257, 106, 111, 104]
    """

    lossless = True
    decode_joins_bytes = True
    unk_id = None
    special_ids = frozenset({END_OF_DOCUMENT})

    def __init__(self, entries: Mapping[int, bytes], *, name: str) -> None:
        self.name = name
        self.entries = dict(entries)
        self.vocab_size = max(entries) + 1
        self._ids = {token: index for index, token in entries.items()}
        # The lengths of entries by their first two bytes, longest first: few enough to try each.
        lengths: dict[bytes, set[int]] = {}
        for token in self._ids:
            if len(token) > 1:
                lengths.setdefault(token[:2], set()).add(len(token))
        self._lengths = {start: sorted(found, reverse=True) for start, found in lengths.items()}

    def encode(self, text: str) -> Sequence[int]:
        """The ids of the longest matches."""
        data = plain_text(text, name=self.name).encode("utf-8", "surrogatepass")
        ids, lengths, position, end = self._ids, self._lengths, 0, len(data)
        found: list[int] = []
        while position < end:
            for length in lengths.get(data[position : position + 2], ()):
                index = ids.get(data[position : position + length])
                if index is not None and position + length <= end:
                    break
            else:
                length = 1
                index = ids[data[position : position + 1]]
            found.append(index)
            position += length
        return found

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        return TokenBatch.of_lists(map(self.encode, plain_texts(texts, name=self.name)))  # type: ignore[arg-type]

    def decode(self, ids: Sequence[int]) -> str:
        """The text; bytes that are not UTF-8 become U+FFFD."""
        return text_of(b"".join(map(self.token_bytes, known_ids(ids, self.vocab_size, name=self.name))))

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of an entry; nothing for the end of a document and for gaps."""
        return self.entries.get(known_id(token_id, self.vocab_size, name=self.name), b"")

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {
            "algorithm": "greedy longest match",
            "normalizer": None,
            "pre_tokenizer": None,
            "byte_fallback": True,
            "special_tokens": {"end of document": END_OF_DOCUMENT},
            "lossless": True,
        }


def read_vocabulary(path: Path, name: str) -> dict[int, bytes]:
    """Map ids to bytes; raises an error naming the line that is not ``id literal length``."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise TokenizerError(f"{name}: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{name}: {path} is not UTF-8; is this an RWKV vocabulary? ({error})") from error
    entries: dict[int, bytes] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            index, rest = line.split(" ", 1)
            literal, length = rest.rsplit(" ", 1)
            token = ast.literal_eval(literal)
            part = token.encode() if isinstance(token, str) else bytes(token)
            if len(part) != int(length) or not part:
                raise ValueError(f"{literal} is {len(part)} bytes, not {length}")
            entries[int(index)] = part
        except (ValueError, SyntaxError, TypeError) as error:
            why = error.msg if isinstance(error, SyntaxError) else error  # whose place is within the literal
            raise TokenizerError(f"{name}: {path} line {number} is not 'id literal length': {why}") from error
    missing = set(range(256)) - {part[0] for part in entries.values() if len(part) == 1}
    if missing:
        raise TokenizerError(f"{name}: {path} lacks {len(missing)} of the 256 bytes (0x{min(missing):02x} …)")
    return entries


def load(spec: Spec, context: LoadContext) -> RwkvTokenizer:
    """Open a vocabulary file."""
    if not spec.variant:
        raise SpecError("rwkv: name a vocabulary file: rwkv:rwkv_vocab_v20230424.txt")
    return RwkvTokenizer(read_vocabulary(Path(spec.variant).expanduser(), str(spec)), name=str(spec))


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file begins with a line ``id literal length``."""
    return re.match(rb"\d+ b?(['\"]).*\1 \d+\r?\n", head) is not None


RWKV = TokenizerFamily(
    name="rwkv",
    summary="RWKV World vocabularies: greedy longest match over bytes",
    load=load,
    files=variant_file,
    recognises=recognises,
    variant="a vocabulary file of lines 'id literal length'",
    examples=("rwkv:rwkv_vocab_v20230424.txt",),
)
