"""wordchipper: OpenAI's encodings in Rust, for a fair speed table.

The library finds encodings by name in its own cache and downloads missing ones. If a download fails, it leaves
an empty file, and then and later reads that as a vocabulary of the 256 bytes (version 0.9.2). Here it gets
tiktoken's cached file in a temporary folder, so that it downloads nothing, and the size of its vocabulary is
checked.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from tokbench import LoadContext, Spec, SpecError, TokenBatch, TokenizerError, TokenizerFamily, UnknownNameError
from tokbench_extras.libraries import SPECIAL, SpelledTokenizer, failure, matches_special, need
from tokbench_extras.published import cached, required

ENCODINGS = {name: name for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")} | {
    "p50k_edit": "p50k_base",
    "o200k_harmony": "o200k_base",
}
"""The ranks file of each encoding."""
_CACHE = "WORDCHIPPER_CACHE_DIR"
_environment = threading.Lock()


class WordchipperTokenizer(SpelledTokenizer):
    """A tokenizer of wordchipper; the text of special tokens is ordinary text unless `match`."""

    library = "wordchipper"
    lossless = True
    decode_joins_bytes = True

    def __init__(self, tokenizer: Any, *, name: str, match: bool) -> None:
        kinds = need("wordchipper", extra="wordchipper").SpecialFilter
        self.name = name
        self.tokenizer = tokenizer
        self.special_ids = frozenset(tokenizer.specials.values())
        self.vocab_size: int = 1 + max(tokenizer.max_token, *self.special_ids)
        self._match = match
        self._filter = kinds.include_all() if match else kinds.include_none()
        self._decoded = tokenizer.decode_bytes

    def _one(self, text: str) -> Any:
        return self.tokenizer.encode(text, self._filter)

    def _many(self, texts: list[str]) -> TokenBatch:
        return TokenBatch.of_lists(self.tokenizer.encode_batch(texts, self._filter))

    @cached_property
    def _vocabulary(self) -> Any:
        return self.tokenizer.vocab

    def _bytes(self, token_id: int) -> bytes:
        part: bytes | None = self._vocabulary.id_to_token_bytes(token_id)
        return part or b""

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        specials = sorted(self.tokenizer.specials.items(), key=lambda item: item[1])
        return {
            "algorithm": "BPE",
            "normalizer": None,
            "byte_fallback": False,
            "byte_level": True,
            "special_tokens": dict(specials),
            "special_token_text": "match" if self._match else "text",
            "lossless": True,
        }


def load(spec: Spec, context: LoadContext) -> WordchipperTokenizer:
    """Load one of OpenAI's encodings from tiktoken's cached ranks."""
    encoding = _encoding(spec)
    library = need("wordchipper", extra="wordchipper")
    path = required(ENCODINGS[encoding], spec)
    tokenizer = _from_file(library, encoding, path, spec, parallel=context.threads > 1)
    expected = sum(1 for line in path.read_bytes().splitlines() if line)
    if tokenizer.vocab_size != expected:
        raise TokenizerError(
            f"{spec}: wordchipper read {tokenizer.vocab_size} tokens of the {expected} in {path}"
        )
    return WordchipperTokenizer(tokenizer, name=str(spec), match=matches_special(spec))


def _from_file(library: ModuleType, encoding: str, path: Path, spec: Spec, *, parallel: bool) -> Any:
    options = library.TokenizerOptions.default()
    options.set_parallel(parallel)
    ranks = ENCODINGS[encoding]
    with tempfile.TemporaryDirectory() as folder, _environment:
        place = Path(folder, "openai", ranks, f"{ranks}.tiktoken")
        place.parent.mkdir(parents=True)
        shutil.copyfile(path, place)
        before = os.environ.get(_CACHE)
        os.environ[_CACHE] = folder
        try:
            return library.Tokenizer.from_pretrained(encoding, options)
        except BaseException as error:  # what Rust panics with is no Exception
            raise failure(f"{spec}: wordchipper cannot load {path}", error) from error
        finally:
            if before is None:
                del os.environ[_CACHE]
            else:
                os.environ[_CACHE] = before


def _encoding(spec: Spec) -> str:
    if not spec.variant:
        raise SpecError(f"wordchipper: name an encoding: {', '.join(ENCODINGS)}")
    if spec.variant not in ENCODINGS:
        raise UnknownNameError.of("wordchipper encoding", spec.variant, ENCODINGS)
    return spec.variant


WORDCHIPPER = TokenizerFamily(
    name="wordchipper",
    summary="Fast BPE in Rust: OpenAI's encodings",
    load=load,
    files=lambda spec, context: [cached(ENCODINGS[_encoding(spec)])],
    options=(SPECIAL,),
    variant="r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base or o200k_harmony",
    libraries=("wordchipper",),
    examples=("wordchipper:o200k_base",),
)
