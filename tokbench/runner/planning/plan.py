"""The plan: everything a suite names, resolved and checked before any work starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tokbench.errors import CorpusError, SpecError, UnknownNameError
from tokbench.extension import Engine
from tokbench.kernels.threads import usable_cores
from tokbench.languages import same_language
from tokbench.metrics.context import CHEAPEST
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.metric import Metric
from tokbench.registry import Registry
from tokbench.runner.cache import TallyCache
from tokbench.runner.counting.cells import most_workers
from tokbench.runner.counting.dispatch import check_engine
from tokbench.runner.planning.chosen_metrics import check_needs, chosen_metrics
from tokbench.runner.planning.entries import Entry, entries_of
from tokbench.runner.planning.opening import SMALL_RUN, Corpus, opened
from tokbench.runner.planning.prices import open_prices
from tokbench.runner.planning.shown import Names, check_shown, shown, without_replaced
from tokbench.runner.planning.suite_keys import Suite
from tokbench.runner.recipe import DatasetRecipe, TrainingRecipe, key_of
from tokbench.runner.training.train import check_training
from tokbench.spec import Spec
from tokbench.training_corpus import NOT_JOINED, check_cut
from tokbench.workers.calls import Limits


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked suite: nothing in it is unknown any more.

    `absent` are the optional tokenizers that no plugin here offers, as the suite names them, each with why.
    `jobs` are the workers that start: no more than there is work for, but those asked for of a shared engine.
    """

    suite: Suite
    registry: Registry
    entries: tuple[Entry, ...]
    absent: Mapping[str, str]
    corpora: tuple[Corpus, ...]
    metrics: tuple[Metric, ...]
    engine: Engine
    training: TrainingRecipe | None
    prices: PriceTable | None
    jobs: int
    memory_limit: int

    @property
    def limits(self) -> Limits:
        """What a step of a worker may take."""
        return Limits(self.suite.timeout, self.memory_limit)

    @property
    def baseline(self) -> str | None:
        """What the others are compared with, as results name it."""
        spec = self.suite.baseline
        return None if spec is None else key_of(self.registry.tokenizer_spec(spec))

    @property
    def cache(self) -> TallyCache | None:
        """Where tallies and audits are kept, unless nothing is."""
        return TallyCache(self.registry.context.cache_dir / "tallies") if self.suite.cache else None


def make_plan(suite: Suite, registry: Registry) -> Plan:
    """Check a suite against what is loaded; raises a `TokbenchError` for the first thing that is wrong."""
    entries, absent = entries_of(suite, registry)
    asked = [registry.metric(name) for name in suite.metrics]
    metrics = chosen_metrics(asked, registry)
    engine = registry.pick(registry.engines, suite.engine, "engine")
    datasets = _datasets(suite, registry)
    suite = _of_this_run(suite, registry, entries, absent, datasets)
    suite = suite.model_copy(update={"metrics": [metric.name for metric in asked]})  # as rows have them
    _check_compared(suite, registry, entries)
    _check_timed(suite, registry, datasets)
    check_engine(engine, suite.address, registry)
    _check_gold(suite)
    prices = open_prices(suite, registry, entries)
    check_needs(asked, suite, prices, entries)
    jobs = suite.jobs or usable_cores()
    limits = Limits(suite.timeout, memory_limit(suite, jobs))
    training = _training(suite, registry, entries, limits)
    corpora = _corpora(suite, registry, datasets, limits)
    _check_reference(suite, corpora)
    n_bytes = sum(corpus.n_bytes for corpus in corpora)
    if not suite.jobs and training is None and len(entries) * n_bytes < SMALL_RUN:
        jobs = 1
    if not engine.shared and all(corpus.n_bytes for corpus in corpora):  # else how much there is is not known
        jobs = most_workers(jobs, len(entries), n_bytes)
    limit = memory_limit(suite, jobs)
    return Plan(suite, registry, entries, absent, corpora, metrics, engine, training, prices, jobs, limit)


def _of_this_run(
    suite: Suite,
    registry: Registry,
    entries: Sequence[Entry],
    absent: Mapping[str, str],
    datasets: Mapping[str, str],
) -> Suite:
    """The suite without what it says of tokenizers and texts that are not in this run.

    Raises `UnknownNameError` where that is a mistake: a label or a color of what it never named.
    """
    typed = {**{entry.key: entry.typed for entry in entries}, **{text: text for text in absent}}
    names = Names(typed, registry.tokenizer_spec), Names(datasets, registry.dataset_spec)
    there = {"diff": [pair for pair in suite.diff if absent.keys().isdisjoint(pair)]}
    suite = without_replaced(suite, *names).model_copy(update=there)
    check_shown(suite, *names)
    return suite


def _check_compared(suite: Suite, registry: Registry, entries: Sequence[Entry]) -> None:
    """Raise `SpecError` for a baseline, or one of a pair to diff, that is no tokenizer of the run."""
    keys = {entry.key for entry in entries}
    roles = [("baseline", suite.baseline), *(("diff", spec) for pair in suite.diff for spec in pair)]
    for role, spec in roles:
        if spec is not None and _named(role, spec, registry.tokenizer_spec) not in keys:
            same = "".join(
                f", or name {each!r}, of the same file" for each in _of_its_files(spec, entries, registry)
            )
            raise SpecError(
                f"{role} {spec!r} is not among the tokenizers of this run: add it with -t {spec}{same}"
            )
    for a, b in suite.diff:
        if key_of(registry.tokenizer_spec(a)) == key_of(registry.tokenizer_spec(b)):
            raise SpecError(f"diff: {a!r} and {b!r} are one tokenizer, so nothing can differ; name another")


def _check_timed(suite: Suite, registry: Registry, datasets: Mapping[str, str]) -> None:
    """Raise `SpecError` for a text to be timed on that is none of the run's."""
    settings = suite.speed_settings
    for text in settings.datasets if settings else ():
        if _named("[speed] datasets", text, registry.dataset_spec) not in datasets:
            raise SpecError(f"[speed] datasets: {text!r} is not among the datasets of this run")


def _check_gold(suite: Suite) -> None:
    """Read the gold segmentations, so that a wrong file is told before any work; workers read them again."""
    from tokbench.metrics.gold import read_gold

    for gold in suite.morphology.values():
        read_gold(Path(gold.path), gold.format)


def _training(
    suite: Suite, registry: Registry, entries: Sequence[Entry], limits: Limits
) -> TrainingRecipe | None:
    """What is trained on, where anything is; raises for a training that would fail."""
    specs = [registry.dataset_spec(text) for text in suite.train_on or [DEFAULT_TRAINING]]
    if not any(entry.trains for entry in entries):
        return None
    _check_trainings(registry, entries, [opened(registry, spec, limits) for spec in specs])
    return TrainingRecipe(tuple(DatasetRecipe.of(registry, spec) for spec in specs))


def _corpora(
    suite: Suite, registry: Registry, datasets: Mapping[str, str], limits: Limits
) -> tuple[Corpus, ...]:
    """The datasets, opened; raises `CorpusError` for one that cannot be read, `SpecError` for counts."""
    resolve = registry.dataset_spec
    labelled = [(resolve(text), shown(suite.labels, text, key, resolve)) for key, text in datasets.items()]
    corpora = tuple(replace(opened(registry, spec, limits), label=label) for spec, label in labelled)
    for corpus in corpora:
        if corpus.counted is not None:
            raise SpecError(f"{corpus.recipe.key} holds counts, not text: name it with --train-on, not with -d")
    return corpora


def _check_reference(suite: Suite, corpora: Sequence[Corpus]) -> None:
    """Raise `UnknownNameError` for a reference that is no language of the run."""
    languages = {language for corpus in corpora for language in corpus.shards}
    if suite.reference is not None and suite.reference not in (CHEAPEST, *languages):
        hint = f"Name one with --reference LANGUAGE, or --reference {CHEAPEST} for each tokenizer's own"
        meant = same_language(suite.reference, sorted(languages))
        raise UnknownNameError.of("language in reference:", suite.reference, languages, meant=meant, hint=hint)


def _named(role: str, text: str, resolve: Callable[[str], Spec]) -> str:
    """The canonical spec of what a suite names as its `role`, which an error names."""
    try:
        return key_of(resolve(text))
    except SpecError as error:
        raise SpecError(f"{role}: {error}") from None


def _of_its_files(text: str, entries: Sequence[Entry], registry: Registry) -> list[str]:
    """The tokenizers of a run, as somebody typed them, that are read from the files which `text` names."""

    def read(spec: Spec) -> set[Path]:
        files = registry.tokenizers[spec.family].files_of(spec, registry.context)
        return {path.resolve() for path in files}

    files = read(registry.tokenizer_spec(text))
    return [entry.typed for entry in entries if files & read(entry.spec)]


DEFAULT_TRAINING = "stdlib:docs"
"""What tokenizers are trained on where a suite does not say: real text that is on every machine."""


def _check_trainings(registry: Registry, entries: Sequence[Entry], texts: Sequence[Corpus]) -> None:
    """Raise for a training that would fail on any text: for its options, or for counts cut another way."""
    counts = [text for text in texts if text.counted is not None]
    if counts and len(texts) > 1:
        raise CorpusError(f"{counts[0].recipe.key}: {NOT_JOINED}")
    for entry in entries:
        if not entry.trains:
            continue
        options = check_training(registry, entry.spec)
        counting = registry.tokenizers[entry.spec.family].counting
        for text in counts:
            assert text.counted is not None
            if counting is None:
                able = ", ".join(name for name, family in registry.tokenizers.items() if family.counting)
                raise SpecError(f"{entry.key} cannot be trained on {text.recipe.key}: counts are for {able}")
            check_cut(text.recipe.key, *text.counted, counting.cut(options))


def _datasets(suite: Suite, registry: Registry) -> dict[str, str]:
    """The datasets of a suite: canonical specs, each with the spec or name that the suite has for it."""
    if not suite.datasets:
        raise SpecError("no datasets: name some with -d DATASET or the suite's key 'datasets'")
    found: dict[str, str] = {}
    for text in suite.datasets:
        found.setdefault(key_of(registry.dataset_spec(text)), text)
    return found


def memory_limit(suite: Suite, jobs: int) -> int:
    """Bytes one of `jobs` workers may hold: what the suite says, else its part of four fifths of the memory."""
    import psutil

    return suite.memory_limit or int(0.8 * psutil.virtual_memory().total / jobs)
