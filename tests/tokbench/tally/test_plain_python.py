"""The kernels that count run as plain Python where numba is told not to compile."""

from __future__ import annotations

from collections.abc import Callable

PROGRAM = """
import hashlib
import tokbench
from tokbench.tally.collect import collect
texts = ["It's 1,234,567 words,\\r\\n_and_ 3.14 more " * 3, ""]
texts += ["L'\\u00e9t\\u00e9 \\u5317\\u4eac \\u0e01\\u0e33 \\u00e9"]
texts += ["\\U0001f469\\u200d\\U0001f680 \\ud800", "supercalifragilisticexpialidocious " * 2, "a"]
texts += ["\\u00abNa\\u00efve\\u00bb \\u201cdon\\u2019t\\u201d \\u2013 " * 9, "\\u5317\\u4eac\\u5317"]
class Lowering:
    name, vocab_size, unk_id = "lowering", 257, 256
    def encode(self, text):
        return [256 if each > "\\u00ff" else ord(each) for each in text.lower()]
    def decode(self, ids):
        return "".join(map(chr, ids))
for tokenizer in (tokbench.load("bytes"), tokbench.load("chars"), Lowering()):
    tally = collect(tokenizer, [tokbench.Document(text) for text in texts])
    print(tally.totals, hashlib.sha256(tally.to_bytes()).hexdigest())
"""


def test_plain_python_gives_the_same(compiled_and_plain: Callable[[str], tuple[str, str]]) -> None:
    compiled, plain = compiled_and_plain(PROGRAM)
    assert compiled == plain
    assert compiled.count("\n") == 3
