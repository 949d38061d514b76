"""Whether what serves models knows how a vocabulary cuts text. TB105."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tokbench import Check, Finding
from tokbench_subword.files.llama_cpp import CHECKED_TEXT, KNOWN, pre_tokenizer_hash


@Check.of(
    "TB105",
    "llama-cpp-pre-tokenizer",
    harm="A converter that does not know a hash refuses, and one that was told a wrong name cuts text "
    "otherwise than the model was trained with (llama.cpp 22700, 27277, 23384).",
)
def known_to_llama_cpp(subject: Any, bounds: Mapping[str, float]) -> Finding:
    """The pre-tokenizer hash of llama.cpp's converter, and the name it goes by there."""
    document = subject.document
    if document is None or document["model"].get("type", "BPE") != "BPE":
        return Finding.unchecked("llama.cpp's hash is of the BPE in a tokenizer.json")
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(document))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        found = pre_tokenizer_hash(tokenizer.encode(CHECKED_TEXT).ids)
    except Exception as error:  # the library raises bare Exception
        return Finding.unchecked(f"tokenizers cannot open it: {error}")
    if found in KNOWN:
        return Finding.passed(f"llama.cpp knows its pre-tokenizer as {KNOWN[found]!r} (hash {found})")
    return Finding.unchecked(f"the hash {found} is not among the {len(KNOWN)} that are known here")


CHECKS = (known_to_llama_cpp,)
