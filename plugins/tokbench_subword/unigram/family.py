"""The family `unigram`: its options, the files it opens, and how it is trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tokbench import LoadContext, Option, Spec, Tokenizer, TokenizerError, TokenizerFamily, TrainingCorpus
from tokbench.counts import Counting, WordCounts
from tokbench.family import Progress
from tokbench.kernels.threads import THREADS, usable_cores
from tokbench_subword.files import formats
from tokbench_subword.files.gguf import gguf_model
from tokbench_subword.files.recognising import expect, format_of, json_model_type, only_file
from tokbench_subword.files.special_tokens import names_to_train
from tokbench_subword.words.cache_size import CACHE, cache_bytes

if TYPE_CHECKING:
    from tokbench_subword.unigram.trainer import TrainingOptions

_OPTIONS = (
    Option("vocab_size", "int", 8000, "Training: pieces in all, special ones and characters included."),
    Option(
        "normalizer",
        "str",
        "nmt_nfkc",
        "Training: the rule by which text is normalised.",
        choices=("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"),
    ),
    Option("add_dummy_prefix", "bool", True, "Training: put a space before every text."),
    Option("remove_extra_whitespaces", "bool", True, "Training: make runs of spaces one, and trim the ends."),
    Option("byte_fallback", "bool", False, "Training: spell unknown characters in bytes (256 pieces)."),
    Option("character_coverage", "float", 0.9995, "Training: the share of characters that get a piece."),
    Option("max_piece_length", "int", 16, "Training: the longest piece, in characters."),
    Option("seed_size", "int", 1_000_000, "Training: substrings to begin with."),
    Option("shrinking_factor", "float", 0.75, "Training: the share of pieces kept at each pruning."),
    Option("sub_iterations", "int", 2, "Training: turns of EM between prunings."),
    Option("split_by_script", "bool", True, "Training: no piece mixes scripts, or letters with digits."),
    Option("unk_token", "str", "<unk>", "Training: the unknown token, id 0."),
    Option("bos_token", "str", "<s>", "Training: the token for beginnings; empty for none."),
    Option("eos_token", "str", "</s>", "Training: the token for ends; empty for none."),
    Option("special_tokens", "str", "", "Training: further control symbols, separated by spaces."),
    Option("user_symbols", "str", "", "Training: symbols that are never split, separated by spaces."),
    Option(
        "match_special",
        "bool",
        False,
        "Of a tokenizer.json: encode the text of a special token as that token. Otherwise it is ordinary text.",
    ),
    CACHE,
    THREADS,
)
_FILES = ("spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "tokenizer.json")


def load(spec: Spec, context: LoadContext) -> Tokenizer:
    """A tokenizer from a sentencepiece `.model`, a `tokenizer.json`, GGUF, or a folder with one of them."""
    given = sorted({*spec.options} - {"match_special", "cache"})
    if given:
        raise TokenizerError(f"{spec}: {given[0]} is for training; {spec.variant} is trained already")
    path = _file(spec)
    cache = cache_bytes(spec.get("cache"), where=str(spec))
    options: dict[str, Any] = {"threads": context.threads, "cache": cache}
    notes = {"files": [str(path)]}
    remedy = f"load it as 'bpe:{path}', ranks with pattern=…, or with transformers:{path}"
    found = expect(path, "sentencepiece", "tokenizer.json", "gguf", remedy=remedy)
    if found == "tokenizer.json":
        from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

        options |= {"name": str(spec), "notes": notes, "match_special": bool(spec.get("match_special", False))}
        return cast(Tokenizer, JsonUnigramTokenizer.from_file(path, **options))
    if "match_special" in spec.options:
        raise TokenizerError(
            f"{spec}: match_special does not apply to a sentencepiece model, which never finds its control "
            "symbols in text; leave it out"
        )
    if found == "gguf":
        from tokbench_subword.unigram.served import of_gguf

        other = f"load it as bpe:{path} or wordpiece:{path}"
        return of_gguf(path, "t5", name=str(spec), remedy=other, **options)
    from tokbench_subword.unigram.tokenizer import SpmTokenizer

    return cast(Tokenizer, SpmTokenizer.from_file(path, "unigram", name=str(spec), **options))


def _file(spec: Spec) -> Path:
    path = Path(spec.variant or "").expanduser()
    if path.is_dir():
        for name in _FILES:
            if (path / name).is_file():
                return path / name
        return only_file(path, "sentencepiece", where=str(spec), also=" or ".join(_FILES))
    if not path.is_file():
        raise TokenizerError(
            f"{spec}: no such file: {path}; name a sentencepiece .model, a tokenizer.json or their folder, "
            "or train one with: tokbench train unigram -d DATASET --vocab-size 8k -o FILE.model"
        )
    return path


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The file that `load` reads."""
    return [_file(spec)] if spec.variant is not None else []


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file, or one in a folder, is a Unigram model: sentencepiece's or a `tokenizer.json`."""
    if path.is_dir():
        return any((path / name).is_file() and recognises(path / name, b"") for name in _FILES)
    return format_of(path) == "sentencepiece" or json_model_type(path) == "Unigram" or gguf_model(path) == "t5"


def _settings(options: Mapping[str, Any]) -> TrainingOptions:
    from tokbench_subword.unigram.trainer import TrainingOptions

    names = names_to_train(options["special_tokens"], where="unigram")
    lists = {"special_tokens": tuple(names), "user_symbols": tuple(options["user_symbols"].split())}
    chosen = {**options, **lists, "threads": options["threads"] or usable_cores()}
    if chosen.pop("match_special", False):
        raise TokenizerError("unigram: match_special is for loading a tokenizer.json, not for training")
    chosen.pop("cache", None)  # of encoding
    settings = TrainingOptions(**chosen)
    settings.check()
    return settings


def _check(options: Mapping[str, Any]) -> None:
    """Raise `TokenizerError` for options with which no text can be trained on."""
    settings = _settings(options)
    least = len(settings.meta_pieces()) + 1
    if settings.vocab_size < least:
        raise TokenizerError(
            f"unigram: vocab_size={settings.vocab_size} is less than {least - 1} pieces that are given and "
            f"one character; ask for at least {least}"
        )


def _cut(options: Mapping[str, Any]) -> str:
    from tokbench_subword.unigram.trainer import cut_of

    return cut_of(_settings(options))


def _counted(texts: Iterable[str], options: Mapping[str, Any]) -> WordCounts:
    from tokbench_subword.unigram.trainer import counted

    return counted(texts, _settings(options))


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> Tokenizer:
    """Train on the documents of `corpus`, or on its counts."""
    from tokbench_subword.unigram.tokenizer import SpmTokenizer
    from tokbench_subword.unigram.trainer import train_unigram

    settings = _settings(options)
    model = train_unigram(corpus.source(_cut(options)), settings, progress, corpus.n_bytes)
    cache = cache_bytes(options["cache"], where="unigram")
    return cast(Tokenizer, SpmTokenizer(f"unigram:vocab_size={settings.vocab_size}", model, cache=cache))


UNIGRAM = TokenizerFamily(
    name="unigram",
    summary="Unigram language model, in-house: sentencepiece .model, tokenizer.json, sampling, training",
    load=load,
    options=_OPTIONS,
    variant="a sentencepiece .model, a tokenizer.json of the type Unigram, a .gguf, or a folder with one",
    train=train,
    check=_check,
    trained_suffix=".model",
    recognises=recognises,
    saved_as=formats.UNIGRAM,
    counting=Counting(_cut, _counted),
    files=files,
    libraries=("numba", "numpy", "sentencepiece"),
    examples=("unigram:vocab_size=8k", "unigram:spiece.model", "unigram:tokenizer.json"),
)
