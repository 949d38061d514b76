"""`tokbench train` and `count`: tokenizers trained on text and saved, and counts to train them from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tokbench.capabilities import Savable
from tokbench.cli import options as opt
from tokbench.cli.loading import files_read
from tokbench.cli.progress import bar
from tokbench.cli.writing import check_target, save, use_of
from tokbench.errors import CorpusError, SpecError, TokenizerError, UnknownNameError
from tokbench.languages import same_language
from tokbench.spec import Spec, validate
from tokbench.training_corpus import TrainingCorpus, shares
from tokbench.wording import counted, other_than_asked

if TYPE_CHECKING:
    from tokbench.registry import Registry


@opt.with_registry
def train(
    registry: Registry,
    family: Annotated[str, opt.argument("What to train.", "FAMILY")],
    dataset: Annotated[
        list[str], opt.dataset_option("The text, or counts:FILE. Repeatable.", show_default=False)
    ],
    output: Annotated[Path, opt.output_option("Where it goes.", show_default=False)],
    vocab_size: Annotated[
        str | None, opt.option("Tokens in all, as in 8000 or 8k.", "N", show_default="the family's")
    ] = None,
    option: Annotated[
        opt.Several, opt.option("An option of the family. Repeatable.", "NAME=VALUE", "--option")
    ] = None,
    language: opt.Languages = None,
    force: opt.Force = False,
) -> None:
    """Train a tokenizer on a dataset and save it; `tokbench list tokenizers FAMILY` shows its options."""
    from tokbench.runner.training.train import check_training, naming

    spec = _spec(registry, family, vocab_size, option or [])
    chosen = registry.tokenizers[spec.family]
    read = files_read(registry, [str(spec)], dataset)
    check_target(output, force=force, read=read, may_be_folder=True)
    if why := chosen.unwritable(output, trained=True):
        raise SpecError(f"{chosen.name} {why}")
    options = check_training(registry, spec)
    corpora = [_corpus(registry, one, language or []) for one in dataset]
    corpus = TrainingCorpus.joined(corpora)
    assert chosen.train is not None
    with naming(spec), bar(str(spec)) as progress:
        tokenizer = chosen.train(corpus, options, progress)
    if not isinstance(tokenizer, Savable):
        raise TokenizerError(f"{spec}: what training returned has no save(path)")
    remedy = f"its family saves what it trains as FILE{chosen.trained_suffix}"
    save(registry, tokenizer, chosen, output, lambda: remedy)
    if other := other_than_asked(spec.options.get("vocab_size"), tokenizer.vocab_size):
        print(f"warning: {other}", file=sys.stderr)
    use = use_of(registry, f"{chosen.name}:{output}", tokenizer)
    print(f"{output}: {counted(tokenizer.vocab_size, 'token')}; {use}")
    print(f"trained on {shares(corpus.sizes)}")


@opt.with_registry
def count(
    registry: Registry,
    output: Annotated[Path, opt.output_option("Where the counts go.", show_default=False)],
    dataset: Annotated[opt.Several, opt.dataset_option("The text. Repeatable.")] = None,
    wanted: Annotated[
        str,
        opt.option("The tokenizer to be trained, which decides how text is cut.", "SPEC", "--for"),
        opt.OnlyWith("dataset"),
    ] = "bpe",
    merge: Annotated[
        list[Path] | None, opt.option("Add up files of counts instead. Repeatable.", "FILE", "--merge")
    ] = None,
    language: Annotated[opt.Languages, opt.OnlyWith("dataset")] = None,
    jobs: Annotated[opt.Jobs, opt.OnlyWith("dataset")] = None,
    engine: Annotated[
        str, opt.option("Where shards are counted: local, dask, ray.", "NAME"), opt.OnlyWith("dataset")
    ] = "local",
    address: Annotated[opt.Address, opt.OnlyWith("dataset")] = None,
    force: opt.Force = False,
) -> None:
    """Count the distinct pre-tokens of text, per language and source, to train from: counts:FILE.

    Memory is bounded, whatever the text. Counts of parts add up: --merge.
    """
    from tokbench.kernels.threads import usable_cores
    from tokbench.runner.training.pretokens import count_pretokens, merge_counts

    if bool(dataset) == bool(merge):
        raise SpecError("name what to count with -d DATASET, or files to add up with --merge FILE: one of both")
    check_target(output, force=force, read=merge or files_read(registry, [], dataset or ()))
    if merge:
        head, rows = merge_counts(merge, output)
    else:
        with bar(f"counting for {wanted}") as progress:
            head, rows = count_pretokens(
                registry,
                wanted,
                dataset or [],
                output,
                languages=language or (),
                engine=engine,
                address=address,
                jobs=jobs or usable_cores(),
                progress=progress,
            )
    print(f"text of {shares(head.sizes)}")
    print(f"{output}: {counted(rows, 'row')}; train from it as counts:{output}")


def _spec(registry: Registry, family: str, vocab_size: str | None, options: list[str]) -> Spec:
    """The validated spec that the arguments make up; raises `SpecError` for a family that cannot be trained."""
    given: dict[str, str | int | float | bool | None] = {}
    for entry in [*options, *([] if vocab_size is None else [f"vocab_size={vocab_size}"])]:
        name, equals, value = entry.partition("=")
        if not equals:
            raise SpecError(f"--option takes NAME=VALUE, not {entry!r}")
        if name in given:
            raise SpecError(f"the option {name!r} is given twice")
        given[name] = value
    if ":" in family:
        only, asked = family.split(":", 1)
        raise SpecError(
            f"{family!r} is a spec, but train takes only the family, {only!r}: give {asked!r} as options, "
            "--vocab-size N and --option NAME=VALUE"
        )
    found = registry.pick(registry.tokenizers, family, "tokenizer family")
    if found.train is None:
        able = sorted(name for name, other in registry.tokenizers.items() if other.trainable)
        raise SpecError(f"{family} cannot be trained; these can: {', '.join(able)}")
    return validate(Spec(family, None, given), found.options)


def _corpus(registry: Registry, text: str, languages: list[str]) -> TrainingCorpus:
    """Some languages of a dataset, or all; raises `CorpusError` where there is no document in them."""
    dataset = registry.dataset(text)
    for language in languages:
        if language not in dataset.languages:
            meant = same_language(language, dataset.languages)
            raise UnknownNameError.of(f"language of {text}", language, dataset.languages, meant=meant)
    corpus = TrainingCorpus(dataset, tuple(languages or dataset.languages))
    if not corpus.counted and next(corpus.texts(), None) is None:
        raise CorpusError(f"{text}: no text in it, so there is nothing to train on")
    return corpus
