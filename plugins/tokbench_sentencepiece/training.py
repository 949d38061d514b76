"""sentencepiece's trainer, with its own options, deterministic and quiet."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tokbench import Option, Spec, TokenizerError, TrainingCorpus
from tokbench.family import Progress
from tokbench_sentencepiece.adapter import SentencePieceTokenizer

ONLY_ERRORS = 2
READING = 0.3  # the share of the progress bar that reading gets; the library reports nothing after it

OPTIONS = (
    Option("model_type", "str", "unigram", "Algorithm.", choices=("unigram", "bpe", "char", "word")),
    Option("vocab_size", "int", 8000, "Pieces, control symbols included."),
    Option("character_coverage", "float", 0.9995, "Share of the corpus's characters kept as pieces."),
    Option("byte_fallback", "bool", False, "Spell unknown characters in bytes."),
    Option("normalization_rule_name", "str", "nmt_nfkc", "nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity."),
    Option("add_dummy_prefix", "bool", True, "Put a space before the text."),
    Option("remove_extra_whitespaces", "bool", True, "Trim, and collapse runs of spaces."),
    Option("split_by_whitespace", "bool", True, "Keep pieces within words."),
    Option("split_by_unicode_script", "bool", True, "Keep pieces within one script."),
    Option("split_by_number", "bool", True, "Keep digits and letters apart."),
    Option("split_digits", "bool", False, "Make each digit a piece."),
    Option("max_sentencepiece_length", "int", 16, "Longest piece, in characters."),
    Option("seed_sentencepiece_size", "int", 1_000_000, "Unigram: size of the seed vocabulary."),
    Option("shrinking_factor", "float", 0.75, "Unigram: share kept by each pruning."),
    Option("input_sentence_size", "int", 0, "Lines drawn from the corpus; 0: all."),
    Option("max_sentence_length", "int", 1 << 20, "Longer lines (bytes) are left out; the library's: 4192."),
    Option("hard_vocab_limit", "bool", True, "Fail where vocab_size cannot be reached."),
    Option("user_defined_symbols", "str", None, "Pieces that always match, separated by spaces."),
    Option("num_threads", "int", 1, "Threads; the result of unigram training depends on it."),
)


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> SentencePieceTokenizer:
    """Train a model on the lines of the corpus; raises `TokenizerError` with the library's reason."""
    import sentencepiece

    given = {name: value for name, value in options.items() if value is not None}
    if "user_defined_symbols" in given:
        given["user_defined_symbols"] = str(given["user_defined_symbols"]).split()
    name = str(Spec("sentencepiece", options={key: options[key] for key in ("model_type", "vocab_size")}))
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=_lines(corpus, progress),
            model_writer=model,
            minloglevel=ONLY_ERRORS,
            shuffle_input_sentence=given["input_sentence_size"] > 0,
            **given,
        )
    except (RuntimeError, ValueError, OSError) as error:
        if "KeyboardInterrupt" in str(error):  # as the library tells it
            raise KeyboardInterrupt from error
        raise TokenizerError(f"{name}: training failed: {_reason(str(error))}") from error
    progress(1.0, "done")
    return SentencePieceTokenizer(model.getvalue(), name=name)


def _lines(corpus: TrainingCorpus, progress: Progress) -> Iterator[str]:
    """The corpus line by line, as from files: the trainer takes a sentence a line."""
    for text in corpus.texts_told(progress, "reading", READING):
        for line in text.encode("utf-8", "replace").decode().split("\n"):
            if line.strip("\r"):
                yield line.strip("\r")
    progress(READING, "training")


def _reason(message: str) -> str:
    """The library's message without its source lines and conditions."""
    reason = re.sub(r"^[A-Z_]+: \S+\(\d+\) \[.*?\] (?=[A-Z])", "", message).strip() or message
    if "too high" in reason:
        reason += " Or set hard_vocab_limit=false"
    return reason
