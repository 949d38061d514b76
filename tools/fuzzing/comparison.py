"""One case: a random tokenizer in tokbench and in the library that is its reference, text by text."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import tokbench
from fuzzing.documents import Made
from fuzzing.forms import compare_forms, ids_of
from fuzzing.models import MAKERS
from fuzzing.references import Reference, Spans, reference_of
from fuzzing.texts import long_word, mixtures, samples

_N_TEXTS, _N_OWN = 50, 25
_LONG = 0.05  # of the cases have a long text, too
_TIE = 1e-3


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, on which text, and how."""

    what: str
    text: str
    expected: object
    found: object


@dataclass(slots=True)
class Outcome:
    """What one case came to: what was compared how often, and what differed."""

    description: str = ""
    differences: list[Difference] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def compare(self, what: str, text: str, expected: object, found: object) -> bool:
        """Whether the two are equal; noted where not."""
        self.counts[what] += 1
        if expected != found:
            self.differences.append(Difference(what, text, expected, found))
        return expected == found


def run_case(family: str, seed: int, *, keep: Path | None = None) -> Outcome:
    """Make a tokenizer of a family from a seed, and compare; keep its file in `keep` where anything differs."""
    rng = random.Random(f"{family} {seed}")
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = MAKERS[family](rng, Path(folder))
            reference = reference_of(made)
        except BaseException as error:  # the libraries' panics are no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome.counts[f"the library cannot make or open it: {_short(error)}"] += 1
            return outcome
        outcome.description = made.description
        try:
            ours = _opened(made)
            texts = samples(rng, _N_TEXTS) + mixtures(rng, _own_words(ours, reference, rng, made), _N_OWN)
            if rng.random() < _LONG:
                texts.append(long_word(rng))
            _compare_all(outcome, ours, reference, texts, rng, Path(folder), made)
        except tokbench.TokenizerError as error:
            outcome.counts[f"refused: {_short(error)}"] += 1
        except Exception:
            outcome.differences.append(
                Difference("crash", "", "ids or a TokenizerError", traceback.format_exc())
            )
        if outcome.differences and keep:
            shutil.copy(made.path, keep / f"{family}-{seed}{made.path.suffix}")
    return outcome


def _short(error: BaseException) -> str:
    """The message without what is different in each case."""
    first = str(error).split("\n")[0].rpartition("tokenizer.json: ")[2]
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", first)[:110]


def _opened(made: Made) -> Any:
    """Our tokenizer of the file."""
    if made.family != "ranks":
        return tokbench.load(f"{made.family}:{made.path}" + ",match_special=true" * made.match_special)
    from tokbench_subword.bpe.ranks import model_of_ranks
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.pipeline.patterns import Pattern

    from tokbench.vocabulary_files import read_ranks

    pattern = Pattern.of(made.pattern, dialect="rust", keep_gaps=False)
    ranks = read_ranks(made.path)
    model = model_of_ranks(ranks, pattern=pattern, special_tokens={"<|end|>": len(ranks)})
    return BpeTokenizer.of_model(model, name="ranks")


def _own_words(ours: Any, reference: Reference, rng: random.Random, made: Made) -> list[str]:
    """The texts of added tokens and of some others."""
    words = 3 * list(made.added)
    for _ in range(40 if ours.vocab_size else 0):
        try:
            words.append(reference.decode([rng.randrange(ours.vocab_size)]) or "")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
    return words


def _compare_all(
    outcome: Outcome,
    ours: Any,
    reference: Reference,
    texts: list[str],
    rng: random.Random,
    folder: Path,
    made: Made,
) -> None:
    known: dict[str, list[int]] = {}
    for text in texts:
        try:
            expected, spans = reference.encode(text)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            refused = (
                "texts that both refuse"
                if ids_of(ours, text) == "refused"
                else "texts that only the library refuses"
            )
            outcome.counts[refused] += 1
            continue
        found = ids_of(ours, text)
        if found != expected and isinstance(found, list) and _tied(reference, expected, found):
            outcome.counts["texts with other ids of equal score"] += 1
            continue
        if not outcome.compare("ids", text, expected, found):
            continue
        known[text] = expected
        _compare_decoding(outcome, ours, reference, text, expected)
        _compare_places(outcome, ours, text, len(expected), spans)
    again = [list(map(int, ids)) for ids in ours.encode_batch(list(known))]
    for (text, expected), found in zip(known.items(), again, strict=True):
        outcome.compare("ids in a batch", text, expected, found)
    _compare_utf8(outcome, ours, known)
    for _ in range(30 if ours.vocab_size else 0):
        most = rng.choice((ours.vocab_size, min(ours.vocab_size, 260)))  # the first are bytes, often
        ids = [rng.randrange(most) for _ in range(rng.randrange(1, 9))]
        _compare_decoding(outcome, ours, reference, f"ids {ids}", ids)
    compare_forms(outcome.compare, ours, known, rng)
    _compare_saved(outcome, ours, reference, known, folder, made)


def _tied(reference: Reference, expected: list[int], found: list[int]) -> bool:
    scores = reference.score(expected), reference.score(found)
    return scores[0] is not None and scores[1] is not None and abs(scores[0] - scores[1]) < _TIE


def _compare_decoding(outcome: Outcome, ours: Any, reference: Reference, text: str, ids: list[int]) -> None:
    try:
        expected = reference.decode(ids)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome.counts["ids the library cannot decode"] += 1
        return
    if expected is None:
        return
    outcome.compare("decoded text", text, expected, ours.decode(ids))


def _compare_places(outcome: Outcome, ours: Any, text: str, n_tokens: int, spans: Spans | None) -> None:
    found = [(int(start), int(end)) for start, end in ours.offsets(text)]
    inside = len(found) == n_tokens and all(0 <= start <= end <= len(text) for start, end in found)
    if outcome.compare("offsets lie in the text", text, True, inside) and spans is not None:
        shown = [span and at for span, at in zip(spans, found, strict=True)]
        outcome.compare("offsets", text, spans, shown)


def _compare_utf8(outcome: Outcome, ours: Any, known: dict[str, list[int]]) -> None:
    if hasattr(ours, "encode_utf8"):
        parts = [text.encode() for text in known]
        offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        batch = ours.encode_utf8(np.frombuffer(b"".join(parts), np.uint8), offsets)
        for (text, expected), ids in zip(known.items(), batch, strict=True):
            outcome.compare("ids of UTF-8", text, expected, list(map(int, ids)))


def _compare_saved(
    outcome: Outcome, ours: Any, reference: Reference, known: dict[str, list[int]], folder: Path, made: Made
) -> None:
    """What is saved gives the same ids, here and in the library."""
    (folder / "saved").mkdir()
    path = folder / "saved" / made.path.name
    ours.save(path)
    saved = replace(made, path=path)
    try:
        again = _opened(saved)
    except tokbench.TokenizerError as error:
        outcome.compare("what was saved opens", "", "", str(error))
        return
    library = reference_of(saved)
    for text, expected in known.items():
        outcome.compare("ids after saving", text, expected, ids_of(again, text))
        outcome.compare("ids of what was saved in the library", text, expected, library.encode(text)[0])
        if (surrounded := reference.surrounded(text)) is not None:
            outcome.compare("saved, with what is put around", text, surrounded, library.surrounded(text))
