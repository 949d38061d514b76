"""The families `pathpiece`, `greedtok` and `pickybpe`: their options, training and loading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tokbench import LoadContext, Option, Spec, TokenizerError, TokenizerFamily, TrainingCorpus
from tokbench.counts import Counting, WordCounts
from tokbench.family import Progress, variant_file
from tokbench.kernels.threads import THREADS, threads_of
from tokbench.vocabulary_files import names_to_train
from tokbench_subword.bpe.options import named_pattern
from tokbench_subword.files.recognising import model_type_of, refuse_training
from tokbench_subword.sentencepiece import opening as unigram_opening
from tokbench_subword.training.sizes import check_least, check_room, check_size
from tokbench_subword.training.special import first_ids, never_spelled
from tokbench_subword.training.stages import stage

if TYPE_CHECKING:
    from tokbench.tokenizer import Tokenizer
    from tokbench_subword.pipeline.patterns import Pattern

_COUNTING_SHARE = 0.4

_COMMON = (
    Option("vocab_size", "int", 8000, "Training: tokens in all, special tokens and the 256 bytes included."),
    Option(
        "pattern",
        "str",
        "gpt2",
        "Training: how text is cut: gpt2, cl100k, llama3, qwen2, o200k, whitespace, none, or a regular "
        "expression.",
    ),
    Option("special_tokens", "str", "", "Training: special tokens, separated by spaces."),
    THREADS,
)
_MATCH_SPECIAL = Option(
    "match_special",
    "bool",
    False,
    "For a file: encode the text of a special token as that token. Otherwise it is ordinary text.",
)


def _cut(options: Mapping[str, Any]) -> str:
    return f"pattern {named_pattern(options['pattern'])}"


def _counted(
    texts: Iterable[str] | WordCounts,
    options: Mapping[str, Any],
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    from tokbench_subword.training.counting import count_pretokens

    pattern = named_pattern(options["pattern"])
    return count_pretokens(texts, pattern, workers=threads_of(options), progress=progress)


class _TrainingStart(NamedTuple):
    """The input of every training; no token may have the bytes of one of `forbidden`."""

    words: WordCounts
    pattern: Pattern
    special_tokens: dict[str, int]
    forbidden: frozenset[bytes]

    @property
    def around(self) -> dict[str, Any]:
        """The pattern and special tokens, as fields of a `WordwiseModel`; special tokens have the first ids."""
        return {"pattern": self.pattern, "special_tokens": self.special_tokens}


def _begun(
    family: str, corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress
) -> _TrainingStart:
    """Count the words; raises `TokenizerError` if bytes and special tokens have no room."""
    check_size(family, options["vocab_size"])
    if options["match_special"]:
        raise TokenizerError(f"{family}: match_special is for loading a file, not for training")
    special = first_ids(names_to_train(options["special_tokens"], where=family))
    check_room(options["vocab_size"], len(special), 256, "byte")
    forbidden = frozenset(never_spelled(special, [bytes([byte]) for byte in range(256)], "byte"))
    counting = stage(progress, "counting", 0.0, _COUNTING_SHARE, of=corpus.n_bytes)
    words = _counted(corpus.source(_cut(options)), options, counting)
    return _TrainingStart(words, named_pattern(options["pattern"]), special, forbidden)


def _family_of_own_files(name: str, type_of_model: str, **declared: Any) -> TokenizerFamily:
    """A family with a file format of its own, which no other program reads; the suffix is the family's name."""
    ending = f".{name}"

    def load(spec: Spec, context: LoadContext) -> Tokenizer:
        from tokbench_subword.optimal.covering import CoverModel
        from tokbench_subword.optimal.replaying import ReplayModel
        from tokbench_subword.optimal.wordwise import WordwiseTokenizer

        refuse_training(spec, {*spec.options} - {"match_special"})
        path = Path(spec.variant or "").expanduser()
        if not path.is_file():
            raise TokenizerError(
                f"{spec}: there is no file {path}; train one with: tokbench train {name} -d DATASET "
                f"-o FILE{ending}"
            )
        special = bool(spec.get("match_special", False))
        options = {"name": str(spec), "threads": context.threads, "match_special": special}
        kind = CoverModel if type_of_model == CoverModel.kind else ReplayModel
        return cast("Tokenizer", WordwiseTokenizer.from_file(path, kind=kind, **options))

    return TokenizerFamily(
        name=name,
        load=load,
        variant=f"the {ending} file of a training; else trained",
        trained_suffix=ending,
        saved_as=(ending,),
        recognises=lambda path, head: path.is_file() and model_type_of(path) == type_of_model,
        endings=(ending,),
        counting=Counting(_cut, _counted),
        files=variant_file,
        libraries=("numba",),
        **declared,
    )


# --- PathPiece ------------------------------------------------------------------------------------------


def _train_pathpiece(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    from tokbench_subword.optimal.pathpiece import chosen_tokens, first_tokens, tokenizer_of

    size, longest = options["vocab_size"], options["max_token_length"]
    initial = 3 * size if options["initial_size"] is None else options["initial_size"]
    check_least("pathpiece", options, "max_token_length", 2)
    check_least("pathpiece", options, "initial_size", size)
    begun, workers = _begun("pathpiece", corpus, options, progress), threads_of(options)
    progress(_COUNTING_SHARE, "merging pairs to begin with")
    first = first_tokens(begun.words, initial, longest, begun.forbidden, workers)
    kept = chosen_tokens(
        begun.words,
        first,
        size - 256 - len(begun.special_tokens),
        workers=workers,
        progress=stage(progress, "dropping tokens", 0.6, 1.0),
    )
    tokenizer = tokenizer_of(kept, begun.pattern, begun.special_tokens, name=f"pathpiece:vocab_size={size}")
    return cast("Tokenizer", tokenizer)


PATHPIECE = TokenizerFamily(
    name="pathpiece",
    summary="PathPiece (Schmidt et al. 2024): fewest tokens by shortest paths, trained top-down; in-house",
    load=unigram_opening.load,  # the saved `tokenizer.json` is an ordinary Unigram model
    options=(
        *_COMMON,
        Option("initial_size", "int", None, "Training: BPE tokens to start from. Not set: 3 × vocab_size."),
        Option("max_token_length", "int", 16, "Training: no token has more bytes than this."),
        _MATCH_SPECIAL,
    ),
    variant="the tokenizer.json of a training; else trained",
    train=_train_pathpiece,
    saved_as=(".json",),
    recognises=lambda path, head: False,  # its files are Unigram's
    counting=Counting(_cut, _counted),
    files=unigram_opening.files,
    libraries=("numba",),
    examples=("pathpiece:vocab_size=8k",),
)


# --- GreedTok -------------------------------------------------------------------------------------------


def _train_greedtok(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    size = options["vocab_size"]
    return _greedtok_sizes(corpus, options, [size], progress)[size]


def _greedtok_sizes(
    corpus: TrainingCorpus, options: Mapping[str, Any], sizes: Sequence[int], progress: Progress
) -> dict[int, Tokenizer]:
    """Tokenizers of several sizes from one training: a smaller one has the tokens chosen first."""
    from tokbench_subword.optimal.covering import CoverModel
    from tokbench_subword.optimal.greedtok import chosen_tokens
    from tokbench_subword.optimal.wordwise import WordwiseTokenizer
    from tokbench_subword.training.alphabet import byte_order
    from tokbench_subword.training.ties import HF

    check_least("greedtok", options, "max_token_length", 2)
    begun = _begun("greedtok", corpus, {**options, "vocab_size": max(sizes)}, progress)
    least = [*[b""] * len(begun.special_tokens), *(bytes([byte]) for byte in byte_order(HF))]
    progress(_COUNTING_SHARE, "choosing tokens")
    tokens = chosen_tokens(
        begun.words,
        max(sizes) - len(least),
        longest=options["max_token_length"],
        forbidden=begun.forbidden,
        workers=threads_of(options),
        progress=stage(progress, "choosing tokens", 0.5, 1.0),
    )
    found = {}
    for size in sizes:
        if size >= len(least):
            model = CoverModel(vocabulary=(*least, *tokens[: size - len(least)]), **begun.around)
            tokenizer = WordwiseTokenizer.of_model(model, name=f"greedtok:vocab_size={size}")
            found[size] = cast("Tokenizer", tokenizer)
    return found


GREEDTOK = _family_of_own_files(
    "greedtok",
    "GreedTok",
    summary="GreedTok (Lim et al. 2025): repeatedly adds the token that saves most; in-house",
    options=(
        *_COMMON,
        Option("max_token_length", "int", 32, "Training: no token has more bytes than this."),
        _MATCH_SPECIAL,
    ),
    train=_train_greedtok,
    train_sizes=_greedtok_sizes,
    examples=("greedtok:vocab_size=8k", "greedtok:FILE.greedtok"),
)


# --- PickyBPE -------------------------------------------------------------------------------------------


def _train_pickybpe(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    from tokbench_subword.optimal.pickybpe import learn_picky
    from tokbench_subword.optimal.replaying import ReplayModel
    from tokbench_subword.optimal.wordwise import WordwiseTokenizer

    size, ios = options["vocab_size"], options["ios"]
    if not 0 < ios <= 1:
        raise TokenizerError(f"pickybpe: ios must be above 0 and at most 1; it is {ios}")
    check_least("pickybpe", options, "min_frequency", 0)
    begun = _begun("pickybpe", corpus, options, progress)
    merging = stage(progress, "merging", _COUNTING_SHARE, 1.0)
    merging(0.0)
    picked = learn_picky(
        begun.words,
        size - len(begun.special_tokens),
        ios=ios,
        minimum=options["min_frequency"] * begun.words.unit,
        forbidden=begun.forbidden,
        progress=merging,
    )
    model = ReplayModel.of_picked(picked, len(begun.special_tokens), **begun.around)
    return cast("Tokenizer", WordwiseTokenizer.of_model(model, name=f"pickybpe:vocab_size={size}"))


PICKYBPE = _family_of_own_files(
    "pickybpe",
    "PickyBPE",
    summary="PickyBPE (Chizhov et al. 2024): BPE that removes intermediate tokens again; in-house",
    options=(
        *_COMMON,
        Option("ios", "float", 0.9, "Training: a token is removed if a merge uses more than this share of it."),
        Option("min_frequency", "int", 0, "Training: pairs seen less often are not merged."),
        _MATCH_SPECIAL,
    ),
    train=_train_pickybpe,
    examples=("pickybpe:vocab_size=8k,ios=0.9", "pickybpe:FILE.pickybpe"),
)
