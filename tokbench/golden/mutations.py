"""Measures how good a golden pack is: changes the tokenizer in one place and sees whether the pack notices.

A change is made in the content of a `tokenizer.json`: a normalizer left out, an alternative of a pattern, a
flag turned over, a merge or token left out, two ids exchanged. The mutation score is the share of the changes
that the pack tells. A change that other, random text does not tell either is taken for one without effect, and
is listed apart: an equivalent mutant (Jia and Harman 2011, "An Analysis and Survey of the Development of
Mutation Testing").
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokbench.errors import TokbenchError
from tokbench.family import Progress
from tokbench.golden.cases import PARTS
from tokbench.golden.changes import mutants
from tokbench.golden.checking import Answer, check
from tokbench.golden.pack import Pack
from tokbench.lint.samples import SENTENCES
from tokbench.tokenizer import Tokenizer, encode_batch


def score(
    pack: Pack,
    content: Mapping[str, Any],
    open_file: Callable[[Path], Tokenizer],
    other_text: Sequence[str],
    *,
    drawn: int,
    tell: Progress = lambda done, word: None,
) -> dict[str, Any] | str:
    """The mutation score of a pack whose tokenizer is `content`, as its manifest has it; a text says why not.

    Beside the score, null where nothing was tried, it holds how many changes with an effect were `told`, of how
    many `tried`, and the names of the others.

    `open_file` loads a `tokenizer.json`, by whatever library; it must agree with the pack to begin with.
    """
    found: dict[str, list[str]] = {outcome: [] for outcome in ("told", "missed", "without", "refused")}
    with TemporaryDirectory(prefix="tokbench-golden-") as folder:
        file = Path(folder) / "tokenizer.json"

        def opened(one: Mapping[str, Any]) -> Tokenizer:
            file.write_text(json.dumps(one, ensure_ascii=False), encoding="utf-8")
            return open_file(file)

        original = opened(content)
        if not agrees(pack, original):
            return "another library gives other ids than the pack to begin with"
        fixed = encode_batch(original, other_text).to_lists()
        for number, (name, one) in enumerate(mutants(content, drawn=drawn), 1):
            tell(1 - 1 / (1 + number / 20), f"change {number}: {name[:40]}")  # how many there are is not known
            try:
                found[_outcome(pack, opened(one), other_text, fixed)].append(name)
            except TokbenchError:
                found["refused"].append(name)
    told, missed = len(found["told"]), found["missed"]
    tried = told + len(missed)
    return {
        "score": round(told / tried, 4) if tried else None,
        "told": told,
        "tried": tried,
        "missed": missed,
        "without_effect_on_other_text": found["without"],
        "refused_by_the_library": found["refused"],
    }


def _outcome(pack: Pack, mutant: Tokenizer, other_text: Sequence[str], fixed: list[list[int]]) -> str:
    """Whether a pack has ``told`` a changed tokenizer or ``missed`` it, or it is one ``without`` effect."""
    if not agrees(pack, mutant):
        return "told"
    return "without" if encode_batch(mutant, other_text).to_lists() == fixed else "missed"


def agrees(pack: Pack, tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer gives the ids of a pack; rows are looked at only where all cases agree."""

    def answers(texts: Sequence[str]) -> Iterator[Answer]:
        return map(Answer, encode_batch(tokenizer, texts).to_lists())

    return next(check(pack, answers), None) is None


def random_text(size: int) -> list[str]:
    """Texts that the pack does not hold, of words and characters drawn at random: `size` texts."""
    rng = random.Random(1)
    words = [word for sentence in SENTENCES.values() for word in sentence.split()]
    found = []
    for _ in range(size):
        parts = rng.choices([*PARTS, *words], k=rng.randint(2, 30))
        found.append(rng.choice(["", " "]).join(parts))
    return found
