"""The family `wordpiece`: its options, and how it is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tokbench import Option, Spec, TokenizerError, TokenizerFamily, TrainingCorpus
from tokbench.counts import Counting, WordCounts
from tokbench.family import Progress
from tokbench.kernels.threads import THREADS, threads_of
from tokbench.vocabulary_files import names_to_train
from tokbench_subword.files import formats
from tokbench_subword.pipeline.bert import RULES, BertRules
from tokbench_subword.training.sizes import check_least, check_size
from tokbench_subword.wordpiece.opening import files, load, recognises
from tokbench_subword.words.cache_size import CACHE, cache_bytes

if TYPE_CHECKING:
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

_OPTIONS = (
    Option("vocab_size", "int", 8000, "Training: tokens in all, special tokens and characters included."),
    Option(
        "lowercase",
        "bool",
        None,
        "Fold case. Not set: as the file or a tokenizer_config.json beside it says; else true, as in BERT's "
        "own code, unless no file states a class and many tokens (at least 1 %, and at least 100) have "
        "capitals.",
    ),
    Option(
        "strip_accents",
        "bool",
        None,
        "Remove accents after NFD. Not set: what the file says; else the same as lowercase.",
    ),
    Option(
        "handle_chinese_chars",
        "bool",
        None,
        "Make every ideograph a word. Not set: as the file says; else true.",
    ),
    Option("clean_text", "bool", None, "Remove control characters. Not set: as the file says; else true."),
    Option(
        "score",
        "str",
        "frequency",
        "Training: merge the most frequent pair, or that with the highest count(ab) / (count(a) * count(b)).",
        choices=("likelihood", "frequency"),
    ),
    Option(
        "unk_token",
        "str",
        None,
        "The token for a word that cannot be built. Not set: [UNK], or as the file says.",
    ),
    Option(
        "prefix", "str", None, "How a token that continues a word begins. Not set: ##, or as the file says."
    ),
    Option(
        "max_input_chars_per_word", "int", None, "A longer word is unknown. Not set: 100, or as the file says."
    ),
    Option("min_frequency", "int", 2, "Training: pairs seen less often are not merged."),
    Option(
        "special_tokens",
        "str",
        "[PAD] [UNK] [CLS] [SEP] [MASK]",
        "Training: the first tokens of the vocabulary, separated by spaces.",
    ),
    Option("limit_alphabet", "int", 1000, "Training: keep at most this many characters, the most frequent."),
    Option(
        "match_special",
        "bool",
        False,
        "Encode the text of a special token as that token. Otherwise it is ordinary text.",
    ),
    CACHE,
    THREADS,
)


def _rules(options: Mapping[str, Any]) -> BertRules:
    return BertRules.of(**{name: options[name] for name in RULES})


def _check(options: Mapping[str, Any]) -> None:
    """Raise `TokenizerError` for options that make training impossible."""
    check_size("wordpiece", options["vocab_size"])
    for name, least in (("max_input_chars_per_word", 1), ("limit_alphabet", 1), ("min_frequency", 0)):
        check_least("wordpiece", options, name, least)
    names = names_to_train(options["special_tokens"], where="wordpiece")
    special = len({options["unk_token"] or "[UNK]", *names})
    if options["vocab_size"] <= special:
        raise TokenizerError(
            f"wordpiece: vocab_size={options['vocab_size']} is less than {special} special tokens and one "
            f"character; ask for at least {special + 1}"
        )


def _cut(options: Mapping[str, Any]) -> str:
    """A name for how text is cut into words for training."""
    rules = _rules(options)
    return "bert " + " ".join(f"{name}={getattr(rules, name)}" for name in RULES)


def _counted(texts: Iterable[str], options: Mapping[str, Any]) -> WordCounts:
    from tokbench_subword.wordpiece.trainer import count_bert_pretokens

    return count_bert_pretokens(texts, _rules(options), workers=threads_of(options))


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> WordPieceTokenizer:
    """Train on the documents of `corpus`, or on its counts."""
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
    from tokbench_subword.wordpiece.trainer import train_wordpiece

    model = train_wordpiece(
        corpus.source(_cut(options)),
        vocab_size=options["vocab_size"],
        rules=_rules(options),
        score=options["score"],
        unk_token=options["unk_token"] or "[UNK]",
        prefix="##" if options["prefix"] is None else options["prefix"],
        max_input_chars_per_word=options["max_input_chars_per_word"] or 100,
        min_frequency=options["min_frequency"],
        special_tokens=tuple(names_to_train(options["special_tokens"], where="wordpiece")),
        limit_alphabet=options["limit_alphabet"],
        workers=threads_of(options),
        n_bytes=corpus.n_bytes,
        progress=progress,
    )
    named = {name: options[name] for name in ("vocab_size", "score")}
    return WordPieceTokenizer(
        str(Spec("wordpiece", options=named)),
        model,
        cache=cache_bytes(options["cache"], where="wordpiece"),
        match_special=options["match_special"],
    )


WORDPIECE = TokenizerFamily(
    name="wordpiece",
    summary="WordPiece with BERT's text rules: greedy longest match, in-house, with its trainers",
    load=load,
    train=train,
    check=_check,
    files=files,
    options=_OPTIONS,
    variant="a vocab.txt, a tokenizer.json, their folder, or a .gguf; none: trained",
    trained_suffix=".json",
    loads_with=("match_special", "cache"),
    recognises=recognises,
    saved_as=formats.WORDPIECE,
    counting=Counting(_cut, _counted),
    libraries=("numba",),
    examples=("wordpiece:vocab_size=8k", "wordpiece:bert-base-uncased/vocab.txt,lowercase=true"),
)
