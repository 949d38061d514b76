"""`tokbench convert` and `prune`: a tokenizer in another format, or without the tokens a text uses least."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tokbench.capabilities import Prunable
from tokbench.cli import options as opt
from tokbench.cli.loading import files_read
from tokbench.cli.progress import bar
from tokbench.cli.writing import check_apart, check_target, elsewhere, other_openers, save, use_of
from tokbench.corpus import Dataset
from tokbench.errors import CorpusError, FormatError, SpecError
from tokbench.family import Progress, TokenizerFamily
from tokbench.spec import Option
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus
from tokbench.wording import counted, percent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.registry import Registry

_ABLE = "the families bpe, wordpiece and unigram write what they open"


@opt.loads_tokenizers
def convert(
    registry: Registry,
    spec: opt.SpecArgument,
    output: Annotated[Path, opt.argument("The file to write; its ending selects the format.", "FILE")],
    force: opt.Force = False,
) -> None:
    """Write a tokenizer in another format: tokenizer.json, .tiktoken, vocab.txt, .model, GGUF, Tekken, folder.

    The in-house families read the published formats and write them; `tokbench diff` shows that the ids are the
    same. A folder gets `vocab.json` and `merges.txt`; a .json with `tekken` in its name is written as Tekken. A
    path without a family is opened by a family that can write the new file.
    """
    check_target(output, force=force, read=files_read(registry, [spec]), may_be_folder=True)
    try:
        family, tokenizer = _written(registry, spec, output)
    except FormatError:
        able = [other for other, why in other_openers(registry, spec).items() if not why]
        if not able or not Path(spec).exists():  # a family that is named is meant
            raise
        family, tokenizer = _written(registry, able[0], output)
    use = use_of(registry, f"{family.name}:{output}", tokenizer)
    print(f"{output}: {counted(tokenizer.vocab_size, 'token')}; {use}")


def _written(registry: Registry, spec: str, output: Path) -> tuple[TokenizerFamily, Tokenizer]:
    """The family and the tokenizer that a spec names, which is written."""
    tokenizer, family = registry.load(spec), registry.tokenizers[registry.tokenizer_spec(spec).family]
    save(registry, tokenizer, family, output, lambda: elsewhere(registry, spec, able=_ABLE))
    return family, tokenizer


@opt.loads_tokenizers
def prune(
    registry: Registry,
    spec: opt.SpecArgument,
    dataset: Annotated[list[str], opt.dataset_option("The text whose use of tokens decides. Repeatable.")],
    output: Annotated[Path, opt.output_option("Where it goes.", show_default=False)],
    vocab_size: Annotated[str, opt.option("Tokens to keep, as in 32k.", "N")],
    id_map: Annotated[
        Path | None, opt.option("A JSON file for the new id of each old one.", "FILE", "--map")
    ] = None,
    force: opt.Force = False,
) -> None:
    """Remove the tokens that text uses least, those that no merge builds on first, and renumber the rest.

    Text without the removed tokens is encoded as before. The map is a list with the new id of each old one,
    null for removed tokens.
    """
    from tokbench.results.atomic import write_json

    check_apart({"--output": output, "--map": id_map})
    for target in (output, id_map):
        if target is not None:
            read = files_read(registry, [spec], dataset)
            check_target(target, force=force, read=read, may_be_folder=target is output)
    size = Option("vocab-size", "int").parse(vocab_size, where="tokbench prune")
    assert isinstance(size, int)
    tokenizer = registry.load(spec)
    if not isinstance(tokenizer, Prunable):
        can = "an in-house BPE of merges, such as bpe:tokenizer.json"
        raise SpecError(f"{spec} cannot be pruned; only {can} can")
    if not 0 < size < tokenizer.vocab_size:
        raise SpecError(f"{spec} has {counted(tokenizer.vocab_size, 'token')}; prune to fewer, not to {size:,}")
    with bar(f"counting the tokens of {spec}") as progress:
        counts = _used(tokenizer, [registry.dataset(text) for text in dataset], progress)
    smaller, new_ids = tokenizer.pruned(counts.tolist(), size)
    family = registry.tokenizers[registry.tokenizer_spec(spec).family]
    save(registry, smaller, family, output, lambda: elsewhere(registry, spec, able=_ABLE))
    if id_map is not None:
        write_json(id_map, [None if index < 0 else index for index in new_ids.tolist()])
    gone, used = new_ids < 0, int(counts.sum())
    share = int(counts[gone].sum()) / max(used, 1)
    moved = int(((new_ids >= 0) & (new_ids != range(len(new_ids)))).sum())
    kept = f"{counted(int((~gone).sum()), 'token')} kept, {moved:,} of them with another id"
    print(f"{output}: {kept}, {int(gone.sum()):,} gone; {use_of(registry, f'{family.name}:{output}', smaller)}")
    text = f"{counted(used, 'token')} of the text"
    print(f"what is gone was {percent(share, 2)} of {text}; the rest of it is encoded as before")


def _used(tokenizer: Tokenizer, datasets: list[Dataset], progress: Progress) -> NDArray[np.int64]:
    """How often each id was used."""
    from tokbench.inspection.usage import usage

    texts = TrainingCorpus.of(*datasets).texts_told(progress, "counting", 1.0)
    counts = usage(tokenizer, texts).counts
    if not counts.any():
        names = ", ".join(dataset.name for dataset in datasets)
        raise CorpusError(f"{names}: no text in it that could say which tokens are used")
    return counts
