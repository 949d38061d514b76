"""Open WordPiece files: `vocab.txt` with the configuration files beside it, `tokenizer.json`, GGUF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Spec, TokenizerError
from tokbench.vocabulary_files import read_bytes
from tokbench_subword.files.recognising import expect, file_of, format_of, model_type_of, refuse_training
from tokbench_subword.pipeline.bert import RULES, BertRules
from tokbench_subword.words.cache_size import cache_bytes

if TYPE_CHECKING:
    from tokbench_subword.wordpiece.model import WordPieceModel
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

_TRAINING = ("vocab_size", "score", "min_frequency", "special_tokens", "limit_alphabet", "threads")


def load(spec: Spec, context: LoadContext) -> WordPieceTokenizer:
    """A tokenizer from `vocab.txt`, `tokenizer.json`, GGUF, or a folder with one of the first two."""
    from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer

    refuse_training(spec, _TRAINING)
    path = file_of(spec, _NAMES)
    remedy = f"load it as 'bpe:{path}' or 'unigram:{path}', or with transformers:{path}"
    found = expect(path, "tokenizer.json", "text", "gguf", remedy=remedy)
    if found == "gguf":
        model, notes = _read_gguf(path)
    else:
        model, notes = _read_json(path) if found == "tokenizer.json" else _read_text(spec, path)
    return WordPieceTokenizer(
        str(spec),
        _overridden(model, spec),
        threads=context.threads,
        cache=cache_bytes(spec.get("cache"), where=str(spec)),
        match_special=bool(spec.get("match_special", False)),
        source=str(path),
        notes=notes,
    )


_NAMES = ("tokenizer.json", "vocab.txt")


def _read_json(path: Path) -> tuple[WordPieceModel, dict[str, Any]]:
    from tokbench_subword.files.tokenizer_json import read_document
    from tokbench_subword.wordpiece.tokenizer_json import model_of_document

    return model_of_document(read_document(path), where=str(path)), {"rules_from": path.name}


def _read_text(spec: Spec, path: Path) -> tuple[WordPieceModel, dict[str, Any]]:
    """The model of a `vocab.txt`, with the rules that files beside it state."""
    from tokbench_subword.files.vocab_txt import read_vocabulary
    from tokbench_subword.pipeline.added_tokens import check_numbers

    vocabulary = read_vocabulary(path)
    twice = 1 + max(vocabulary.values()) - len(vocabulary)  # the last line always counts
    notes = {"tokens_listed_twice": twice} if twice else {}
    whole = path.with_name("tokenizer.json")
    if whole.is_file():
        stated, rules_from = _read_json(whole)
        check_numbers(stated.document.added_tokens, vocabulary, where=f"{whole}, beside {path.name}")
        return replace(stated, vocabulary=vocabulary), notes | rules_from
    model, rules_from_class = _by_class(vocabulary, path, spec.get("unk_token"))
    return model, {**notes, "rules_from": rules_from_class}


def _by_class(vocabulary: dict[str, int], path: Path, unk_token: str | None) -> tuple[WordPieceModel, str]:
    """The model that a class of `transformers` makes from a `vocab.txt` (BERT's class if no file states one),
    and where its rules come from, as text.
    """
    from tokbench_subword.files.beside import Beside, token_text
    from tokbench_subword.wordpiece.classes import LOWER_CASED, OF_MODELS, SPECIAL_TOKENS
    from tokbench_subword.wordpiece.model import WordPieceModel, bert_document

    beside, config = Beside.of(path), path.with_name("tokenizer_config.json")
    settings, name = beside.config, beside.class_name("Bert", OF_MODELS)
    usual = SPECIAL_TOKENS.get(name)
    if usual is None:
        raise TokenizerError(f"{beside.class_not_known()}; load the folder with transformers:{path.parent}")
    unk = token_text(unk_token or settings.get("unk_token") or usual["unk_token"]) or "[UNK]"
    source = config.name if config.is_file() else f"defaults of BERT (no {config.name} beside it)"
    lowercase = True if name in LOWER_CASED else settings.get("do_lower_case")
    if not beside.states_class:
        usual = {setting: token for setting, token in usual.items() if token in vocabulary}
        capitals = sum(token != token.lower() for token in vocabulary if not token.startswith("["))
        if lowercase is None and capitals >= max(_CAPITALS, len(vocabulary) // 100):
            lowercase = False
            source += f"; cased, as {capitals:,} of its tokens have capitals"
    rules = BertRules.of(
        handle_chinese_chars=settings.get("tokenize_chinese_chars"),
        strip_accents=settings.get("strip_accents"),
        lowercase=lowercase,
    )
    document = bert_document(rules, added_tokens=beside.tokens(usual, vocabulary))
    try:
        return WordPieceModel(vocabulary=vocabulary, unk_token=str(unk), document=document), source
    except TokenizerError as error:
        raise TokenizerError(f"{path}: {error}") from error


_CAPITALS = 100
"""A vocabulary is cased if at least this many tokens, and 1 %, have capitals: a few may be signs or added."""


def _read_gguf(path: Path) -> tuple[WordPieceModel, dict[str, Any]]:
    """The model ``bert`` of GGUF, which marks tokens that begin a word, and does not limit the length of words.

    llama.cpp prepares text for every such model almost as the uncased BERT does (see docs/formats.md).
    """
    from tokbench_subword.files.gguf import read_gguf
    from tokbench_subword.files.sentencepiece_model import CONTROL, UNKNOWN
    from tokbench_subword.pipeline.added_tokens import AddedToken
    from tokbench_subword.wordpiece.model import WordPieceModel, bert_document

    found = read_gguf(path, "bert", remedy=f"load it as bpe:{path} or unigram:{path}")
    special = {index for index, kind in enumerate(found.types) if kind in (CONTROL, UNKNOWN)}
    vocabulary: dict[str, int] = {}
    for index, token in enumerate(found.tokens):
        begins, whole = token.startswith(_BEGINS_WORD), token[:1] == "[" and token[-1:] == "]"
        text = token if index in special or whole else token[1:] if begins else f"##{token}"
        if vocabulary.setdefault(text, index) != index:
            raise TokenizerError(f"{path}: the tokens {vocabulary[text]} and {index} are both {text!r}")
    unk = "[UNK]" if found.unknown is None else found.tokens[found.unknown]
    added = tuple(
        AddedToken(found.tokens[index], index, normalized=False, special=True) for index in sorted(special)
    )
    model = WordPieceModel(
        vocabulary=vocabulary,
        unk_token=unk,
        max_input_chars_per_word=_NO_LONGEST,
        document=bert_document(added_tokens=added),
    )
    return model, {"rules_from": "GGUF: those of the uncased BERT"}


_BEGINS_WORD = "\u2581"
_NO_LONGEST = 2**31 - 1


def _overridden(model: WordPieceModel, spec: Spec) -> WordPieceModel:
    """The model with the rules that the spec sets."""
    from tokbench_subword.wordpiece.model import bert_steps

    given = {name: spec.get(name) for name in ("unk_token", "prefix", "max_input_chars_per_word")}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    document, decoder, rules = model.document, model.document.decoder or {}, model.rules
    if decoder.get("type") == "WordPiece" and decoder.get("prefix", "##") == model.prefix:
        decoder = {**decoder, "prefix": changes.get("prefix", model.prefix)}
        document = replace(document, decoder=decoder)
    set_here = {name: spec.get(name) for name in RULES if spec.get(name) is not None}
    if set_here and rules is None:
        raise TokenizerError(f"{spec}: the file's normalizer is not BERT's, so {min(set_here)} cannot be set")
    if set_here:
        settings = {name: getattr(rules, name) for name in RULES}
        if "lowercase" in set_here:
            settings["strip_accents"] = None  # follows lowercase unless set
        document = replace(document, **bert_steps(BertRules.of(**settings | set_here)))
    return replace(model, document=document, **changes)


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The files that `load` reads."""
    if not spec.variant:
        return []
    from tokbench_subword.files.beside import files_beside

    path = file_of(spec, _NAMES)
    if path.suffix == ".json":
        return [path]
    whole = path.with_name("tokenizer.json")
    return [path, *([whole] if whole.is_file() else []), *files_beside(path)]


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file is a WordPiece `tokenizer.json`, or a list of tokens that includes an unknown token."""
    if path.is_dir():
        return any((path / name).is_file() and recognises(path / name, b"") for name in _NAMES)
    listed = format_of(path) == "text" and b"[UNK]" in read_bytes(path).split()
    return listed or model_type_of(path) in ("WordPiece", "bert")
