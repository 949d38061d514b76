"""Runs every check on a tokenizer and lists all failures, each with the smallest text and a remedy."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tokbench.errors import described
from tokbench.registry import Registry, build_registry
from tokbench.spec import Spec
from tokbench.testing.capabilities import CAPABILITIES
from tokbench.testing.check import ConformanceCheck, Failure, Trial, begin
from tokbench.testing.conduct import CONDUCT
from tokbench.testing.contract import CONTRACT, ENCODES, ENCODING, PROTOCOL
from tokbench.testing.search import smallest
from tokbench.testing.texts import EDGE_CASES
from tokbench.tokenizer import Tokenizer

TEXT_CHECKS = (*ENCODING, *CAPABILITIES)
"""Tried on many texts, each with the tokenizer."""
WHOLE_CHECKS = (*CONTRACT, *CONDUCT)
"""Tried on the tokenizer as a whole."""


class ConformanceError(AssertionError):
    """A tokenizer fails checks; `failures` holds them all."""

    def __init__(self, name: str, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        listed = "\n".join(f"- {failure}" for failure in failures)
        super().__init__(f"tokenizer {name!r} fails {len(failures)} of the conformance checks:\n{listed}")


def check_tokenizer(
    tokenizer: Tokenizer | str,
    *,
    examples: int = 100,
    extra_texts: Sequence[str] = (),
    skip: Sequence[str] = (),
    plugins: Sequence[str] = (),
    registry: Registry | None = None,
    train_on: str = "stdlib:docs",
) -> None:
    """Raise `ConformanceError` with every check that `tokenizer`, an object or a spec, fails.

    Given a spec, it is also loaded a second time here and once in a new process, and the three must agree.
    The spec may be of a plugin in one of the files `plugins`, or of what `registry` has.
    `examples` texts are drawn for each check (by hypothesis, where it is installed) beside the built-in edge
    cases and `extra_texts`; the smallest failing text that is found is reported. `skip` names checks to leave
    out. A spec that asks for training is trained on the dataset `train_on`, saved, and checked as loaded from
    there.
    """
    failures = failures_of(
        tokenizer,
        examples=examples,
        extra_texts=extra_texts,
        skip=skip,
        plugins=plugins,
        registry=registry,
        train_on=train_on,
    )
    if failures:
        name = tokenizer if isinstance(tokenizer, str) else getattr(tokenizer, "name", type(tokenizer).__name__)
        raise ConformanceError(str(name), failures)


def failures_of(
    tokenizer: Tokenizer | str,
    *,
    examples: int = 100,
    extra_texts: Sequence[str] = (),
    skip: Sequence[str] = (),
    plugins: Sequence[str] = (),
    registry: Registry | None = None,
    train_on: str = "stdlib:docs",
) -> list[Failure]:
    """Every failure of `tokenizer`; see `check_tokenizer`."""
    if not isinstance(tokenizer, str):
        return _failures(tokenizer, examples, extra_texts, skip)
    from tokbench.testing.recipes import recipe_failures

    registry = registry or build_registry(plugin_files=plugins)
    spec = registry.tokenizer_spec(tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        failures = []
        if registry.tokenizers[spec.family].trains(spec):
            from tokbench.runner.training.train import training_corpus
            from tokbench.testing.trained import trained_failures

            corpus = training_corpus(registry, train_on)
            begin("train")
            try:
                failures = trained_failures(registry, spec, corpus, Path(folder))
            except (Exception, SystemExit) as error:
                return [_raised("train", error, "train(corpus, options, progress) must train, save write.")]
            suffix = registry.tokenizers[spec.family].trained_suffix
            spec = Spec(spec.family, str(Path(folder) / f"trained{suffix}"))
            if not Path(str(spec.variant)).exists():
                return failures
        begin("load")
        try:
            loaded = registry.load(spec)
        except (Exception, SystemExit) as error:
            return [*failures, _raised("load", error, "load(spec, context) must return a tokenizer.")]
        failures += _failures(loaded, examples, extra_texts, skip)
        if "recipe" in skip or any(failure.check == ENCODES.name for failure in failures):
            return failures
        return failures + recipe_failures(registry, str(spec), loaded)


HOOKS = {
    "tokenizer": "tokbench_tokenizers",
    "dataset": "tokbench_datasets",
    "metric": "tokbench_metrics",
    "plot": "tokbench_plots",
    "report": "tokbench_report_writers",
    "engine": "tokbench_engines",
}
"""The kinds of thing that the kit checks, each with the hook that offers it."""


def checkable(registry: Registry) -> dict[str, Mapping[str, object]]:
    """What there is to check, by kind and name."""
    return {kind: getattr(registry, hook.removeprefix("tokbench_")) for kind, hook in HOOKS.items()}


def failures_of_other(kind: str, name: str, registry: Registry) -> list[Failure]:
    """Every failure of something `checkable` but a tokenizer: a ``dataset`` by its spec, others by name."""
    from tokbench.runner.counting.dispatch import check_engine
    from tokbench.testing import datasets, engines, metrics, outputs

    if kind == "metric":
        return _of(metrics.METRIC, registry.metric(name))
    if kind == "engine":
        engine = registry.pick(registry.engines, name, "engine")
        check_engine(engine, None, registry)
        return _of(engines.ENGINE, engine)
    if kind == "dataset":
        spec = registry.dataset_spec(name)
        begin("load")
        try:
            dataset = registry.dataset(spec)
        except (Exception, SystemExit) as error:
            return [_raised("load", error, "load(spec, context) must return a dataset.")]
        return _of(datasets.READABLE, dataset) or _of(datasets.READ, dataset)
    checks, checked = (
        (outputs.PLOT, registry.pick(registry.plots, name, "plot"))
        if kind == "plot"
        else (outputs.REPORT, registry.pick(registry.report_writers, name, "report format"))
    )
    with tempfile.TemporaryDirectory() as folder:
        return _of(checks, checked, *outputs.sample_runs(Path(folder), registry.context))


def _raised(check: str, error: BaseException, remedy: str) -> Failure:
    return Failure(check, f"raised {described(error)}", None, remedy)


def _failures(
    tokenizer: Tokenizer, examples: int, extra_texts: Sequence[str], skip: Sequence[str]
) -> list[Failure]:
    """Every failure of a tokenizer at hand."""
    if found := _of([PROTOCOL], tokenizer):
        return found  # nothing else can be said of what is no tokenizer
    failures: list[Failure] = []
    fixed = [*EDGE_CASES, *extra_texts]
    for check in TEXT_CHECKS:
        if check.name in skip:
            continue
        trial = Trial(check, tokenizer)
        text = smallest(trial.fails, fixed, examples)
        if trial.late is not None:
            return [*failures, trial.late]  # the other checks would wait as long
        if text is not None:
            problem = check.problem(tokenizer, text) or "failed once, then passed"
            failures.append(Failure(check.name, problem, text, check.remedy))
            if check is ENCODES:
                return failures  # the other checks all encode
    return failures + _of((check for check in WHOLE_CHECKS if check.name not in skip), tokenizer)


def _of(checks: Iterable[ConformanceCheck], *given: object) -> list[Failure]:
    """The failures of checks that need no text to be looked for."""
    tried = ((check, check.problem(*given)) for check in checks)
    return [Failure(check.name, problem, None, check.remedy) for check, problem in tried if problem]
