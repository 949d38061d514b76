"""The plan: everything a suite names, resolved and checked before any work starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tokbench.errors import CorpusError, SpecError, TokbenchError, UnknownNameError, described
from tokbench.extension import Engine
from tokbench.kernels.threads import usable_cores
from tokbench.languages import same_language
from tokbench.manager import PATIENCE, within
from tokbench.metrics.context import CHEAPEST
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.metric import Metric
from tokbench.registry import Registry
from tokbench.resolving import not_there
from tokbench.runner.cache import TallyCache
from tokbench.runner.cells import most_workers
from tokbench.runner.engines import check_address
from tokbench.runner.needed import check_needs
from tokbench.runner.opening import SMALL_RUN, Corpus, opened
from tokbench.runner.prices import open_prices
from tokbench.runner.recipe import DatasetRecipe, TrainingRecipe, key_of
from tokbench.runner.shown import Names, check_shown, shown, without_replaced
from tokbench.runner.suite import Suite
from tokbench.runner.training import check_training
from tokbench.spec import NAME, Spec
from tokbench.training_corpus import NOT_JOINED, check_cut
from tokbench.workers.calls import Limits


@dataclass(frozen=True, slots=True)
class Entry:
    """One tokenizer of the suite: its canonical spec; whether it is trained here, and may be absent.

    `typed` is the spec or name that the suite has for it, `also` are others that it has for the same one;
    `label` and `color` are how it is to be shown, if said.
    """

    spec: Spec
    trains: bool
    optional: bool
    typed: str = ""
    also: tuple[str, ...] = ()
    label: str = ""
    color: str = ""

    @property
    def key(self) -> str:
        """The canonical spec, under which its results stand."""
        return key_of(self.spec)


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
    from tokbench.metrics.gold import read_gold

    entries, absent = _entries(suite, registry)
    asked = [registry.metric(name) for name in suite.metrics]
    metrics = _metrics(asked, registry)
    engine = registry.pick(registry.engines, suite.engine, "engine")
    datasets = _datasets(suite, registry)
    known = {entry.key: entry.typed for entry in entries}
    named = {**known, **{text: text for text in absent}}
    names = Names(named, registry.tokenizer_spec), Names(datasets, registry.dataset_spec)
    there = {
        "metrics": [metric.name for metric in asked],  # as rows have them, however typed
        "diff": [pair for pair in suite.diff if absent.keys().isdisjoint(pair)],
    }
    suite = without_replaced(suite, *names).model_copy(update=there)
    check_shown(suite, *names)
    roles = [("baseline", suite.baseline), *(("diff", spec) for pair in suite.diff for spec in pair)]
    for role, spec in roles:
        if spec is not None and _named(role, spec, registry.tokenizer_spec) not in known:
            same = "".join(
                f", or name {each!r}, of the same file" for each in _of_its_files(spec, entries, registry)
            )
            raise SpecError(
                f"{role} {spec!r} is not among the tokenizers of this run: add it with -t {spec}{same}"
            )
    for a, b in suite.diff:
        if key_of(registry.tokenizer_spec(a)) == key_of(registry.tokenizer_spec(b)):
            raise SpecError(f"diff: {a!r} and {b!r} are one tokenizer, so nothing can differ; name another")
    settings = suite.speed_settings
    for text in settings.datasets if settings else ():
        if _named("[speed] datasets", text, registry.dataset_spec) not in datasets:
            raise SpecError(f"[speed] datasets: {text!r} is not among the datasets of this run")
    check_address(engine, suite.address, registry)
    for gold in suite.morphology.values():  # workers read them; a wrong one is told before any work
        read_gold(Path(gold.path), gold.format)
    prices = open_prices(suite, registry, entries)
    check_needs(asked, suite, prices, entries)
    jobs = suite.jobs or usable_cores()
    limits = Limits(suite.timeout, memory_limit(suite, jobs))
    training = None
    specs = [registry.dataset_spec(text) for text in suite.train_on or [DEFAULT_TRAINING]]
    if any(entry.trains for entry in entries):
        training = TrainingRecipe(tuple(DatasetRecipe.of(registry, spec) for spec in specs))
        _check_trainings(registry, entries, [opened(registry, spec, limits) for spec in specs])
    resolve = registry.dataset_spec
    labelled = [(resolve(text), shown(suite.labels, text, key, resolve)) for key, text in datasets.items()]
    corpora = tuple(replace(opened(registry, spec, limits), label=label) for spec, label in labelled)
    for corpus in corpora:
        if corpus.counted is not None:
            raise SpecError(f"{corpus.recipe.key} holds counts, not text: name it with --train-on, not with -d")
    languages = {language for corpus in corpora for language in corpus.shards}
    if suite.reference is not None and suite.reference not in (CHEAPEST, *languages):
        hint = f"Name one with --reference LANGUAGE, or --reference {CHEAPEST} for each tokenizer's own"
        meant = same_language(suite.reference, sorted(languages))
        raise UnknownNameError.of("language in reference:", suite.reference, languages, meant=meant, hint=hint)
    n_bytes = sum(corpus.n_bytes for corpus in corpora)
    if not suite.jobs and training is None and len(entries) * n_bytes < SMALL_RUN:
        jobs = 1
    if not engine.shared and all(corpus.n_bytes for corpus in corpora):  # else how much there is is not known
        jobs = most_workers(jobs, len(entries), n_bytes)
    limit = memory_limit(suite, jobs)
    return Plan(suite, registry, entries, absent, corpora, metrics, engine, training, prices, jobs, limit)


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


def _entries(suite: Suite, registry: Registry) -> tuple[tuple[Entry, ...], dict[str, str]]:
    """The tokenizers of a suite, and why there are none of those optional ones that no plugin here offers."""
    found: dict[str, Entry] = {}
    absent: dict[str, str] = {}
    endings = (".txt", *{ending for family in registry.tokenizers.values() for ending in family.endings})
    for text, optional in [*((t, False) for t in suite.tokenizers), *((t, True) for t in suite.optional)]:
        try:
            spec = registry.tokenizer_spec(text)
        except SpecError as error:
            if not optional or not _another_may_offer(text, registry):
                raise
            absent[text] = str(error)
            continue
        trains = registry.tokenizers[spec.family].trains(spec)
        if not optional:
            _check_file(registry, spec, endings)
        named = (suite.labels, suite.colors)
        label, color = (shown(said, text, key_of(spec), registry.tokenizer_spec) for said in named)
        known = found.setdefault(str(spec), Entry(spec, trains, optional, text, (), label, color))
        if text not in (known.typed, *known.also):
            found[str(spec)] = replace(known, also=(*known.also, text))
    if not found:
        why = "".join(f"; {text}: {said}" for text, said in absent.items())
        raise SpecError(f"no tokenizers: name some with -t SPEC or the suite's key 'tokenizers'{why}")
    return tuple(found.values()), absent


def _another_may_offer(text: str, registry: Registry) -> bool:
    """Whether what `text` names is no family here, so that a plugin or a file may be all that it takes."""
    head = text.partition(":")[0].partition(",")[0]
    return head not in registry.tokenizers and (bool(NAME.match(head)) or "/" in head or "\\" in head)


def _check_file(registry: Registry, spec: Spec, endings: tuple[str, ...]) -> None:
    """Raise `SpecError` for a missing file, or for a name that the family has not.

    A spec names a file if it begins as a path or ends as a file does, or if its family reads what it names.
    """
    path = Path(spec.variant or "").expanduser()
    if path.is_file():
        return
    named = path.is_absolute() or re.match(r"\.{1,2}[/\\]", spec.variant or "") is not None
    named = named or path.name.lower().endswith(endings)
    if path.exists() or not named:
        named = path in _files_at_hand(registry, spec)
    if named and not path.exists():
        raise SpecError(f"{spec}: {not_there(path)}")


def _files_at_hand(registry: Registry, spec: Spec) -> list[Path]:
    """What a tokenizer of tokbench's own reads, without a download; raises `SpecError` for a wrong name.

    A library or a download that is missing is told where it is loaded, and the rest of the run goes on.
    """
    if not registry.in_house(spec.family, "tokbench_tokenizers"):
        return []
    try:
        return registry.tokenizers[spec.family].files_of(spec, replace(registry.context, offline=True))
    except SpecError:
        raise
    except (TokbenchError, OSError, ImportError):
        return []


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


def _metrics(asked: Sequence[Metric], registry: Registry) -> tuple[Metric, ...]:
    """The metrics asked for, or all but those on request; and what is always measured, as losses are."""
    chosen = {metric.name: metric for metric in asked}
    for metric in chosen.values():
        _check_settings(metric)
    always = {name: metric for name, metric in registry.metrics.items() if metric.always}
    unasked = {name: metric for name, metric in registry.metrics.items() if not metric.on_request}
    return tuple(({**chosen, **always} if chosen else unasked).values())


def _check_settings(metric: Metric) -> None:
    if metric.check is not None:
        try:
            with within(PATIENCE):
                metric.check(metric.settings)
        except Exception as error:
            what = str(error) if isinstance(error, TokbenchError) else described(error)
            raise SpecError(f"{metric.name}: {what}") from error


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
