"""After a first text no batch waits for compiled code to be read from the disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LETTERS = "Ġabcdefghijklmnopqrstuvwxyz0123456789"
NFC = {"type": "NFC"}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True}
ADDED = {
    **{"id": 38, "content": "日本", "single_word": False, "lstrip": True, "rstrip": False},
    **{"normalized": False, "special": False},
}
NUMBERED = {"<unk>": 0, **{letter: index for index, letter in enumerate(LETTERS, 1)}}
DOCUMENTS: list[tuple[str, dict[str, Any]]] = [
    ("bpe", {"normalizer": NFC, "pre_tokenizer": BYTE_LEVEL}),
    ("bpe", {"normalizer": NFC, "pre_tokenizer": METASPACE}),
    ("bpe", {"normalizer": NFC}),
    ("wordpiece", {"normalizer": BERT, "pre_tokenizer": {"type": "BertPreTokenizer"}}),
    ("unigram", {"normalizer": {"type": "NFKC"}, "pre_tokenizer": METASPACE}),
    ("bpe", {"normalizer": NFC, "pre_tokenizer": BYTE_LEVEL, "added_tokens": [ADDED]}),
    ("bpe", {"normalizer": NFC, "pre_tokenizer": METASPACE, "added_tokens": [ADDED | {"normalized": True}]}),
]
MODELS = {
    "bpe": {"type": "BPE", "vocab": NUMBERED, "merges": [], "unk_token": "<unk>"},
    "wordpiece": {
        "type": "WordPiece",
        "vocab": NUMBERED,
        "unk_token": "<unk>",
        "max_input_chars_per_word": 100,
    },
    "unigram": {"type": "Unigram", "vocab": [[token, -1.0] for token in NUMBERED], "unk_id": 0},
}
READ_LATE = """
import gc, sys, tokbench
from numba.core.dispatcher import Dispatcher
def read():
    kernels = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return sorted(one.__name__ for one in kernels for _ in one.overloads)
for spec in sys.argv[1:]:
    tokenizer = tokbench.load(spec)
    tokenizer.encode("a")
    before = read()
    tokenizer.encode_batch(["a b1 é e\\u0301 日本 " * 50 + str(number) for number in range(3000)])
    print(spec, len(before) > 0, [name for name in read() if name not in before])
"""


def test_what_a_large_batch_needs_is_read_with_the_first_text(tmp_path: Path) -> None:
    specs = []
    for number, (family, steps) in enumerate(DOCUMENTS):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({"version": "1.0", "added_tokens": [], **steps, "model": MODELS[family]}))
        specs.append(f"{family}:{path}")
    command = [sys.executable, "-c", READ_LATE, *specs]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{spec} True []" for spec in specs]
