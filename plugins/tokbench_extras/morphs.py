"""Morfessor: morphs found without supervision, as a tokenizer (Creutz and Lagus; Virpioja et al. 2013).

Morfessor Baseline segments words. The tokenizer cuts text into runs of letters and runs of other characters.
The model segments each word, and the first morph includes the space before the word. Anything outside the
vocabulary is spelled in bytes, so nothing is lost. The vocabulary consists of the morphs of the training words:
its size follows from the corpus and `corpus_weight` (more weight, fewer splits), and cannot be set.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from math import log2
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Option, Spec, TokenizerError, TokenizerFamily, TrainingCorpus
from tokbench.family import Progress, opening, read_saved, variant_file, write_saved
from tokbench.pieces import PieceTokenizer, count_words
from tokbench_extras.libraries import need

if TYPE_CHECKING:
    import regex

FORMAT = "tokbench-morfessor"
DAMPENING = {"none": lambda count: count, "log": lambda count: round(log2(count + 1)), "ones": lambda _: 1}
_random = threading.Lock()


@cache
def _pattern() -> regex.Pattern[str]:
    import regex

    return regex.compile(r" ?[\p{L}\p{M}]+| ?[^\s\p{L}\p{M}]+|\s+?(?= ?\S)|\s+")


class MorfessorTokenizer(PieceTokenizer):
    """Morphs with byte fallback: ids 0–255 are bytes, then the morphs by frequency.

    `segmentations` are the (count, parts) of the training words: Morfessor's model is rebuilt from them.
    """

    algorithm = "Morfessor Baseline"

    def __init__(
        self, name: str, *, segmentations: Sequence[tuple[int, Sequence[str]]], morphs: Sequence[str]
    ) -> None:
        library = need("morfessor", extra="morfessor")
        super().__init__(name, pieces=morphs, pattern=_pattern())
        self.segmentations = segmentations
        self.model = library.BaselineModel()
        self.model.load_segmentations((count, "".join(parts), tuple(parts)) for count, parts in segmentations)

    def cut(self, word: str) -> Sequence[str]:
        """The morphs of a word."""
        return segment(self.model, word)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write vocabulary and segmentations as JSON (the library's own model file is a pickle)."""
        write_saved(path, FORMAT, morphs=self.pieces, segmentations=self.segmentations)


def segment(model: Any, word: str) -> list[str]:
    """The morphs of a word, the first one with the space before it; anything but letters is not segmented."""
    space = " " if word.startswith(" ") else ""
    letters = word[len(space) :]
    if not letters or not (letters[0].isalpha()):
        return [word]
    parts, _ = model.viterbi_segment(letters)
    return [space + parts[0], *parts[1:]]


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> MorfessorTokenizer:
    """Train Morfessor Baseline on the words of the corpus; the same corpus gives the same model."""
    library = need("morfessor", extra="morfessor")
    words = count_words(corpus, _pattern(), progress, share=0.3)
    letters: Counter[str] = Counter()
    for word, count in words.items():
        bare = word.removeprefix(" ")
        if bare and bare[0].isalpha():
            letters[bare] += count
    if not letters:
        raise TokenizerError("morfessor: the training corpus holds no words")
    model = library.BaselineModel(corpusweight=options["corpus_weight"])
    model.load_data(
        [(count, word) for word, count in sorted(letters.items())],
        freqthreshold=options["min_frequency"],
        count_modifier=DAMPENING[options["dampening"]],
    )
    progress(0.4, "training")
    _train(library, model, options["max_epochs"])
    segmentations = [(count, list(parts)) for count, _, parts in model.get_segmentations()]
    used: Counter[str] = Counter()
    for word, count in words.items():
        for part in segment(model, word):
            used[part] += count
    ranked = sorted((-count, part) for part, count in used.items() if len(part) > 1 or not part.isascii())
    progress(1.0, "done")
    name = str(Spec("morfessor", options={"corpus_weight": options["corpus_weight"]}))
    kept = [part for count, part in ranked if -count >= options["min_frequency"]]
    return MorfessorTokenizer(name, segmentations=segmentations, morphs=kept)


def _train(library: Any, model: Any, epochs: int) -> None:
    """Train; hides that the library shuffles words with Python's global generator, and prints dots."""
    from morfessor import utils

    with _random:
        state, shown = random.getstate(), utils.show_progress_bar
        utils.show_progress_bar = False
        random.seed(0)
        try:
            model.train_batch(max_epochs=epochs)
        finally:
            random.setstate(state)
            utils.show_progress_bar = shown


def load(spec: Spec, context: LoadContext) -> MorfessorTokenizer:
    """Open what `save` wrote."""
    with opening(spec, "a model saved by morfessor of tokbench") as path:
        content = read_saved(path, FORMAT)
        return MorfessorTokenizer(str(spec), segmentations=content["segmentations"], morphs=content["morphs"])


MORFESSOR = TokenizerFamily(
    name="morfessor",
    summary="Morphs by Morfessor Baseline, trained here; bytes for the rest: lossless",
    load=load,
    train=train,
    files=variant_file,
    saved_as=(".json",),
    options=(
        Option("corpus_weight", "float", 1.0, "Weight of the corpus in the cost: more weight, fewer splits."),
        Option("dampening", "str", "log", "Of word counts.", choices=tuple(DAMPENING)),
        Option("min_frequency", "int", 1, "Words and morphs seen less often are left out."),
        Option("max_epochs", "int", 10, "Passes over the words at most."),
    ),
    variant="a saved model (.json); none: trained",
    libraries=("Morfessor",),
    examples=("morfessor:corpus_weight=1.0",),
)
