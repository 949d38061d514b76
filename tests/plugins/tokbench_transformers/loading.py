"""What the tests of the adapter share: loading without a registry, and hard texts."""

from __future__ import annotations

from pathlib import Path

from tokbench_transformers.family import TRANSFORMERS

from tokbench import LoadContext, Spec
from tokbench.spec import validate


def load(text: str, *, offline: bool = True, allow_remote_code: bool = False):
    spec = validate(Spec.parse(text), TRANSFORMERS.options)
    return TRANSFORMERS.load(spec, LoadContext(Path("unused"), offline, allow_remote_code))


def hostile(test_data: Path) -> list[str]:
    text = (test_data / "corpora" / "naughty-strings" / "blns.txt").read_text(encoding="utf-8")
    return [*text.split("\n"), "<s> </s> [SEP] <|endoftext|> x", "  a  b ▁ ", "漢龘龘x ﬁ", ""]
