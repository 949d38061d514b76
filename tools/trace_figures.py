"""Draw the figures of docs/algorithms.md: each in-house algorithm at work, with vocabularies of 600 tokens.

    python tools/trace_figures.py

The vocabularies are trained on the English half of the bundled prose, so that anybody draws the same figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tokbench
from tokbench.inspection.steps import svg_figure

TRAINING = "bundled:prose,languages=eng_Latn"
FIGURES = {"bpe": "counted stairs", "wordpiece": "counted stairs", "unigram": "counted"}
FOLDER = Path(__file__).parents[1] / "docs" / "figures"


def figure(family: str, text: str) -> str:
    """The figure of one family's steps on `text`, as SVG."""
    tokenizer = tokbench.load(f"{family}:vocab_size=600", train_on=TRAINING)
    return svg_figure(family, text, list(tokenizer.trace(text)))  # type: ignore[attr-defined]


def main() -> int:
    """Draw them all."""
    FOLDER.mkdir(exist_ok=True)
    for family, text in FIGURES.items():
        (FOLDER / f"{family}.svg").write_text(figure(family, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
