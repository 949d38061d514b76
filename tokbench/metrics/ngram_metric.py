"""`ngram_bpb`: bits per byte of a small n-gram model over a tokenizer's ids, as a metric with an interval.

The model is trained in the worker that counts, on text that the run names, once for each tokenizer. Documents
of the training text are not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tokbench.batch import TokenBatch
from tokbench.errors import CorpusError
from tokbench.family import LoadContext
from tokbench.metrics.metric import catalogued
from tokbench.spec import Option, Spec, validate
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints
    from tokbench.metrics.ngram import TrainedNgrams

NO_QUALITY = (
    "No paper validates n-gram bits per byte as a measure of a tokenizer's quality; how well a tokenizer "
    "compresses, or how evenly it uses its ids, did not reliably predict how well a model learns with it "
    "(Schmidt et al. 2024, Cognetta et al. 2024, Lotz et al. 2025)."
)
MICRO = 1_000_000
"""Counts are whole numbers: millionths of bits."""


class _Last(NamedTuple):
    """The model of a tokenizer on the text of some options."""

    tokenizer: Tokenizer
    options: dict[str, Any]
    trained: TrainedNgrams


_last: list[_Last] = []
"""The last model trained in this process, for the next batch of the same tokenizer."""


def training_text(spec: str) -> TrainingCorpus:
    """The text that a model is trained on, from one of tokbench's own dataset families."""
    from pathlib import Path

    from tokbench.corpora import FAMILIES

    wanted = Spec.parse(spec)
    family = next((family for family in FAMILIES if family.name == wanted.family), None)
    if family is None:
        names = ", ".join(family.name for family in FAMILIES)
        raise CorpusError(
            f"train_on={spec} names no dataset; there are {names}. A path has its family first, as in text:PATH"
        )
    dataset = family.load(validate(wanted, family.options), LoadContext(Path()))
    return TrainingCorpus(dataset, tuple(dataset.languages))


def _check(options: Mapping[str, Any]) -> None:
    if options["train_on"] is None:
        raise CorpusError("name the text that the model is trained on: -m ngram_bpb:train_on=DATASET")
    if training_text(options["train_on"]).counted:
        raise CorpusError("the training data are counts, which do not tell the order of ids; name a text")


def _trained(tokenizer: Tokenizer, options: Mapping[str, Any]) -> TrainedNgrams:
    from tokbench.metrics.ngram import trained_ngrams

    if not _last or _last[0].tokenizer is not tokenizer or _last[0].options != options:
        _last.clear()
        texts = training_text(options["train_on"]).texts()
        trained = trained_ngrams(tokenizer.name, tokenizer, texts, order=options["order"])
        _last.append(_Last(tokenizer, dict(options), trained))
    return _last[0].trained


def _count(
    texts: Sequence[str], batch: TokenBatch, tokenizer: Tokenizer, options: Mapping[str, Any]
) -> dict[str, Ints]:
    """The bits and the bytes of each document; 0 for those trained on, or without text."""
    import numpy as np

    from tokbench.metrics.ngram import digest, utf8_of

    microbits, n_bytes = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    if options["train_on"] is not None and len(texts):
        trained = _trained(tokenizer, options)
        bits = trained.document_bits(batch, tokenizer.name)
        encoded = [utf8_of(text) for text in texts]
        fresh = [at for at, data in enumerate(encoded) if data and digest(data) not in trained.seen]
        microbits[fresh] = np.rint(bits[fresh] * MICRO)
        n_bytes[fresh] = [len(encoded[at]) for at in fresh]
    return {"microbits": microbits, "read_bytes": n_bytes}


METRICS = (
    catalogued(
        "ngram_bpb", "bits/byte", "none",
        "Bits per byte that a small n-gram model needs, trained on the ids of other text.",
        r"\frac{-\sum_i \log_2 P(t_i \mid \text{ids before})}{|\text{bytes}|}",
        lambda t: t.microbits / MICRO / t.read_bytes,
        counters={
            "microbits": "millionths of bits of the ids and the ends of documents that are not trained on",
            "read_bytes": "bytes of text that is not in the training text: name that with train_on=DATASET",
        },
        count=_count, needs=("read_bytes",), check=_check, group="information", on_request=True,
        options=(
            Option("train_on", "str", None, "The dataset that the n-gram model is trained on."),
            Option("order", "int", 3, "Ids seen at once, the predicted one too.", least=1),
        ),
        source="Chen and Goodman 1999 (interpolated modified Kneser-Ney); the ends of documents are predicted",
        caveat=(
            f"{NO_QUALITY} Name the training text: -m ngram_bpb:train_on=DATASET. Documents that occur in it "
            "are left out. A tokenizer that loses text needs fewer bits for that reason."
        ),
    ),
)  # fmt: skip
