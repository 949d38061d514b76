"""`tools/fuzz_ids.py`: a few random tokenizers of every family, and what it says where something differs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "fuzz_ids.py"


def run(*options: str, code: str = "") -> tuple[int, str]:
    """The tool's exit status and output; `code` runs before it in the same process."""
    start = f"{code}\nimport runpy; runpy.run_path({str(TOOL)!r}, run_name='__main__')"
    program = f"import sys; sys.path.insert(0, {str(TOOL.parent)!r}); sys.argv[1:] = {list(options)!r}\n{start}"
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "RUST_BACKTRACE": "0"},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("family", ["bpe", "wordpiece", "unigram", "model", "ranks"])
def test_a_few_random_tokenizers_of_each_family_are_equal(family: str) -> None:
    pytest.importorskip("tokenizers")
    status, said = run("--cases", "4", "--seed", "100", "--family", family)
    assert status == 0, said
    assert "\n0 cases differ" in said
    assert " ids\n" in said


def test_a_difference_is_shown_with_what_repeats_it(tmp_path: Path) -> None:
    """One id too many in every text: the tool must see it, say how to see it again, and keep the file."""
    wrong = (
        "from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer as W\n"
        "encode = W.encode\n"
        "W.encode = lambda self, text: [*encode(self, text), 0]"
    )
    options = ("--cases", "1", "--seed", "3", "--family", "wordpiece", "--keep", str(tmp_path))
    status, said = run(*options, code=wrong)
    assert status == 1, said
    assert "wordpiece, --seed 3 --cases 1: {" in said
    assert "  ids: " in said
    assert (tmp_path / "wordpiece-3.json").is_file()
