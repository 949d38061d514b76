"""The family `bundled`: the corpora that come with tokbench, each a folder with its card."""

from __future__ import annotations

from tokbench.corpora.cards import READERS, read_card
from tokbench.corpora.dataset import FileDataset
from tokbench.corpora.naming import choose
from tokbench.corpora.parallel import AlignedLines, ParallelDataset, aligned
from tokbench.corpora.plain import LineFormat
from tokbench.corpus import Dataset
from tokbench.errors import SpecError
from tokbench.family import LoadContext
from tokbench.spec import Spec


def load(spec: Spec, context: LoadContext) -> Dataset:
    """The dataset of ``bundled:NAME``."""
    card = read_card(spec.variant or "")
    languages = choose(card.paths, spec.get("languages"), where=str(spec))
    files = {language: card.paths[language] for language in languages}
    about = card.about(languages)
    form = READERS[card.reader]
    if isinstance(form, AlignedLines):
        single = {language: paths[0] for language, paths in files.items()}
        return ParallelDataset(str(spec), single, aligned(spec), about=about)
    if spec.get("lines"):
        raise SpecError(f"{spec}: lines=even and lines=odd are for parallel text; {card.name!r} is not")
    consecutive = isinstance(form, LineFormat)
    return FileDataset(str(spec), files, form, kind=card.kind, about=about, consecutive=consecutive)
