"""`tokbench optimum`: a tokenizer's tokens over the fewest that its vocabulary could spell the text with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tokbench.cli import options as opt
from tokbench.cli.loading import load_trained
from tokbench.cli.progress import documents_done, overwrite
from tokbench.cli.tables import interval, show_table
from tokbench.cli.writing import print_json

if TYPE_CHECKING:
    from tokbench.registry import Registry


@opt.loads_tokenizers
def optimum(
    registry: Registry,
    spec: opt.SpecArgument,
    dataset: Annotated[str, opt.dataset_option("The text.", show_default=False)],
    train_on: opt.TrainOn = None,
    seed: opt.Seed = 0,
    as_json: opt.JsonOutput = False,
) -> None:
    """Compare the number of tokens with the fewest tokens of the vocabulary that spell the same pre-tokens.

    The ratio is 1 at the optimum. Intervals are 95 %, by bootstrap over the documents of each language.
    """
    from tokbench.metrics.optimum import distances

    tokenizer = load_trained(registry, spec, train_on)
    found = distances(tokenizer, registry.dataset(dataset), seed=seed, progress=documents_done)
    overwrite()
    if as_json:
        keys = ("language", "documents", "tokens", "fewest", "ratio", "interval")
        listed = [{key: getattr(each, key) for key in keys} for each in found]
        print_json({"tokenizer": str(registry.tokenizer_spec(spec)), "dataset": dataset, "languages": listed})
        return
    numbers = ("tokens", "fewest", "ratio", "95 %")
    rows = (
        (each.language, f"{each.tokens:,}", f"{each.fewest:,}", f"{each.ratio:.4f}", interval(each.interval))
        for each in found
    )
    show_table(("language", *numbers), rows, right=numbers)
