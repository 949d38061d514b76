"""Small vocabularies, one sound and the others with one fault each, written to folders as models come in."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|stop|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)


def letters() -> dict[int, str]:
    """The character by which each byte is written in byte-level vocabularies."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def sound() -> dict[str, Any]:
    """The files of a sound vocabulary, by name: byte-level BPE with merges for the built-in sentences."""
    vocab = {letter: index for index, letter in enumerate(letters()[byte] for byte in range(256))}
    merges = []
    for left, right in (("t", "h"), ("th", "e"), ("Ġ", "the"), ("i", "n"), ("Ġ", "a"), ("Ġa", "n"), ("c", "a")):
        merges.append([left, right])
        vocab[left + right] = len(vocab)
    size = len(vocab)
    added = [
        {"id": size + i, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i, text in enumerate(("<|end|>", "<|start|>", "<|stop|>"))
    ]  # fmt: skip
    split = {"type": "Split", "pattern": {"Regex": CL100K}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocab, "merges": merges},
    }  # fmt: skip
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|end|>"}
    return {
        "tokenizer.json": document,
        "tokenizer_config.json": config,
        "config.json": {"vocab_size": 272},
        "chat_template.jinja": TEMPLATE,
    }


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write the files of a vocabulary to a folder."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


Fault = Callable[[dict[str, Any]], None]
FAULTS: dict[str, tuple[str, Fault]] = {}

NORMALIZER = ("tokenizer.json", "normalizer")
PATTERN = ("tokenizer.json", "pre_tokenizer", "pretokenizers", 0, "pattern")
WRITTEN: dict[str, tuple[str, tuple[str | int, ...], Any]] = {
    "regex_as_string": ("TB101", PATTERN, {"String": CL100K}),
    "empty_class": ("TB101", PATTERN, {"Regex": r"[^\s\S]+"}),
    "alternative_behind_a_wider_one": ("TB102", PATTERN, {"Regex": CL100K + r"|\p{Lu}+"}),
    "too_few_rows": ("TB209", ("config.json", "vocab_size"), 264),
    "lower_case": ("TB301", NORMALIZER, {"type": "Lowercase"}),
    "space_put_before": (
        "TB303", ("tokenizer.json", "pre_tokenizer"),
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    ),
    "line_ends_lost": ("TB304", NORMALIZER, {"type": "Replace", "pattern": {"String": "\n"}, "content": " "}),
    "not_normalized": ("TB306", NORMALIZER, None),
    "lower_case_stated": ("TB401", ("tokenizer_config.json", "do_lower_case"), True),
    "another_end": ("TB401", ("tokenizer_config.json", "eos_token"), "<|endoftext|>"),
    "cut_at_512": (
        "TB404", ("tokenizer.json", "truncation"),
        {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0},
    ),
    "template_with_a_marker_that_is_none": (
        "TB504", ("chat_template.jinja",), TEMPLATE.replace("<|stop|>", "<|eot|>")
    ),
    "template_that_never_begins_the_answer": (
        "TB504", ("chat_template.jinja",), TEMPLATE.partition("{% if")[0]
    ),
    "template_that_fails": (
        "TB504", ("chat_template.jinja",), "{% for m in messages %}{{ m.role.missing.again }}{% endfor %}"
    ),
}  # fmt: skip
"""Faults that are another value in one place: the code that must tell each, the place and the value."""
ASKED = {"other_text": "TB205", "chinese_by_bytes_only": "TB307", "control_string_is_text": "TB501"}
"""Nothing is wrong in these files: a fault for other text, a lower bound, or special tokens matched in text."""


def fault(code: str) -> Callable[[Fault], Fault]:
    """Register a fault under its function's name, with the code that must tell it."""

    def register(function: Fault) -> Fault:
        FAULTS[function.__name__] = (code, function)
        return function

    return register


def put(files: dict[str, Any], place: tuple[str | int, ...], value: Any) -> None:
    *within, last = place
    reduce(getitem, within, files)[last] = value


FAULTS |= {
    name: (code, partial(put, place=place, value=value)) for name, (code, place, value) in WRITTEN.items()
}
FAULTS |= {name: (code, lambda files: None) for name, code in ASKED.items()}


def broken(name: str) -> dict[str, Any]:
    """The sound files with one fault."""
    files = copy.deepcopy(sound())
    FAULTS[name][1](files)
    return files


def _split(files: dict[str, Any]) -> dict[str, Any]:
    return files["tokenizer.json"]["pre_tokenizer"]["pretokenizers"][0]


def _token(files: dict[str, Any], text: str, *merges: tuple[str, str]) -> int:
    """Add a token to the model, before the special tokens, whose ids move on."""
    document = files["tokenizer.json"]
    vocab = document["model"]["vocab"]
    vocab[text] = index = len(vocab)
    document["model"]["merges"] += [list(pair) for pair in merges]
    for token in document["added_tokens"]:
        token["id"] += 1
    return index


def _added(files: dict[str, Any], text: str, **flags: bool) -> None:
    added = files["tokenizer.json"]["added_tokens"]
    added.append({**added[0], "id": added[-1]["id"] + 1, "content": text, **flags})


@fault("TB001")
def breaks_off(files: dict[str, Any]) -> None:
    files["tokenizer.json"] = json.dumps(files["tokenizer.json"])[:2000]


@fault("TB103")
def merge_forestalled(files: dict[str, Any]) -> None:
    _token(files, "at", ("a", "t"))
    _token(files, "ath", ("at", "h"))  # "th" is joined long before


@fault("TB104")
def merge_twice(files: dict[str, Any]) -> None:
    files["tokenizer.json"]["model"]["merges"].append(["t", "h"])


@fault("TB201")
def tokens_across_words(files: dict[str, Any]) -> None:
    for word in "abcdefghijklmnop":
        _token(files, f"{word}Ġ", (word, "Ġ"))


@fault("TB202")
def impossible_bytes(files: dict[str, Any]) -> None:
    byte = letters()
    _token(files, byte[0xE3] + byte[0x41], (byte[0xE3], byte[0x41]))


@fault("TB203")
def added_token_of_the_same_bytes(files: dict[str, Any]) -> None:
    _added(files, " the", special=False)


@fault("TB204")
def mojibake(files: dict[str, Any]) -> None:
    byte = letters()
    a, b = byte[0xC3], byte[0x83]
    _token(files, a + b, (a, b))
    _token(files, a + b + a + b, (a + b, a + b))


@fault("TB206")
def a_byte_missing(files: dict[str, Any]) -> None:
    vocab = files["tokenizer.json"]["model"]["vocab"]
    vocab["thee"] = vocab.pop(letters()[0xE3])


@fault("TB207")
def gap(files: dict[str, Any]) -> None:
    vocab = files["tokenizer.json"]["model"]["vocab"]
    for token in files["tokenizer.json"]["added_tokens"]:
        token["id"] += 2
        vocab[token["content"]] = token["id"]


@fault("TB208")
def endless_token(files: dict[str, Any]) -> None:
    text = "=-"
    _token(files, text, ("=", "-"))
    while len(text) < 100:
        _token(files, text + text, (text, text))
        text += text


@fault("TB302")
def quote_missing(files: dict[str, Any]) -> None:
    vocab = files["tokenizer.json"]["model"]["vocab"]
    vocab["thee"] = vocab.pop('"')


@fault("TB305")
def digits_from_the_left(files: dict[str, Any]) -> None:
    _split(files)["pattern"]["Regex"] = CL100K.replace(r"\p{N}|", r"\p{N}{1,3}|")
    digits = "0123456789"
    for one in digits:
        for other in digits:
            _token(files, one + other, (one, other))
    for one in digits:
        for other in digits:
            for third in digits:
                _token(files, one + other + third, (one + other, third))


@fault("TB402")
def a_class_with_its_own_pattern(files: dict[str, Any]) -> None:
    _split(files)["pattern"]["Regex"] = r"\p{L}+|\p{N}|[^\p{L}\p{N}]"
    files["tokenizer_config.json"] |= {"tokenizer_class": "Qwen2Tokenizer"}


@fault("TB403")
def begun_twice(files: dict[str, Any]) -> None:
    token = files["tokenizer.json"]["added_tokens"][0]
    files["tokenizer.json"]["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [token["id"]], "tokens": ["<|end|>"]}},
    }
    files["tokenizer_config.json"]["bos_token"] = "<|end|>"
    files["chat_template.jinja"] = "{{ bos_token }}" + TEMPLATE


@fault("TB502")
def marker_not_special(files: dict[str, Any]) -> None:
    _added(files, "<|tool|>", special=False)


@fault("TB503")
def filter_undone(files: dict[str, Any]) -> None:
    files["tokenizer.json"]["normalizer"] = {
        "type": "Replace", "pattern": {"String": "\u200b"}, "content": "",
    }  # fmt: skip
    for token in files["tokenizer.json"]["added_tokens"]:
        token["normalized"] = True
