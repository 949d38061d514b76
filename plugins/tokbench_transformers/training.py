"""The trainers of `tokenizers`, each with the usual pipeline of its models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tokbench import Option, Spec, TokenizerError, TrainingCorpus
from tokbench.family import Progress
from tokbench_transformers.fast import FastTokenizer, settle

if TYPE_CHECKING:
    import tokenizers

READING = 0.6  # the share of the progress bar that reading gets; the library reports nothing after it

OPTIONS = (
    Option("model_type", "str", "bpe", "Algorithm.", choices=("bpe", "wordpiece", "unigram", "wordlevel")),
    Option("vocab_size", "int", 8000, "Entries, special tokens included."),
    Option("min_frequency", "int", 0, "Pairs or words seen less often are left out (not for unigram)."),
    Option("special_tokens", "str", None, "Added first, after UNK; separated by spaces."),
    Option("lowercase", "bool", False, "WordPiece: BERT's lower-casing, which also strips accents."),
    Option("pattern", "str", None, "BPE: a regex (in the dialect of tokenizers) instead of GPT-2's."),
    Option("max_token_length", "int", None, "BPE: longest token; unigram: longest piece (16)."),
    Option("limit_alphabet", "int", None, "BPE and WordPiece: most characters in the alphabet."),
)


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> FastTokenizer:
    """Train one of the library's models; its WordPiece and Unigram trainers differ slightly from run to run."""
    settle(1)
    kind: str = options["model_type"]
    tokenizer, trainer = _BUILDERS[kind](options)
    name = str(Spec("transformers", options={key: options[key] for key in ("model_type", "vocab_size")}))
    try:
        tokenizer.train_from_iterator(_texts(corpus, progress), trainer=trainer)
    except Exception as error:  # the library raises bare Exception
        raise TokenizerError(f"{name}: training failed: {error}") from error
    progress(1.0, "done")
    return FastTokenizer(tokenizer, name=name)


def _texts(corpus: TrainingCorpus, progress: Progress) -> Iterator[str]:
    for text in corpus.texts_told(progress, "reading", READING):
        yield text.encode("utf-8", "replace").decode()
    progress(READING, "training")


def _given(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The trainer's keywords for those options that are set."""
    return {name: options[name] for name in names if options[name] is not None}


def _special(options: Mapping[str, Any], *unknown: str) -> list[str]:
    return [*unknown, *str(options["special_tokens"] or "").split()]


def _bpe(options: Mapping[str, Any]) -> tuple[tokenizers.Tokenizer, Any]:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    if options["pattern"]:
        try:
            split = pre_tokenizers.Split(Regex(options["pattern"]), "isolated")
        except Exception as error:  # the library raises bare Exception
            raise TokenizerError(f"transformers: pattern {options['pattern']!r}: {error}") from error
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
        )
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        special_tokens=_special(options),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **_given(options, "vocab_size", "min_frequency", "max_token_length", "limit_alphabet"),
    )
    return tokenizer, trainer


def _wordpiece(options: Mapping[str, Any]) -> tuple[tokenizers.Tokenizer, Any]:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=options["lowercase"])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    trainer = trainers.WordPieceTrainer(
        special_tokens=_special(options, "[UNK]"),
        continuing_subword_prefix="##",
        show_progress=False,
        **_given(options, "vocab_size", "min_frequency", "limit_alphabet"),
    )
    return tokenizer, trainer


def _unigram(options: Mapping[str, Any]) -> tuple[tokenizers.Tokenizer, Any]:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    longest = options["max_token_length"]
    trainer = trainers.UnigramTrainer(
        special_tokens=_special(options, "<unk>"),
        unk_token="<unk>",
        show_progress=False,
        **({} if longest is None else {"max_piece_length": longest}),
        **_given(options, "vocab_size"),
    )
    return tokenizer, trainer


def _wordlevel(options: Mapping[str, Any]) -> tuple[tokenizers.Tokenizer, Any]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        special_tokens=_special(options, "[UNK]"),
        show_progress=False,
        **_given(options, "vocab_size", "min_frequency"),
    )
    return tokenizer, trainer


_BUILDERS = {"bpe": _bpe, "wordpiece": _wordpiece, "unigram": _unigram, "wordlevel": _wordlevel}
