"""Checks of a tokenizer's files: contradictions, and what is added around a text. Codes TB4xx."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from tokbench.errors import TokbenchError
from tokbench.lint.check import Bounds, Check, Finding, Outcome
from tokbench.lint.samples import ROUND_TRIPS
from tokbench.lint.subject import Subject, shown, token_text

_ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_PARTS = ("normalizers", "pretokenizers", "processors", "decoders")


def steps(component: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    """The steps of a component of a `tokenizer.json`, sequences opened up.

    Example:
        >>> [step["type"] for step in steps({"type": "Sequence", "normalizers": [{"type": "NFC"}]})]
        ['NFC']
    """
    if not component:
        return
    inner = next((component[name] for name in _PARTS if name in component), None)
    if inner is None:
        yield component
        return
    for part in inner:
        yield from steps(part)


def _known(document: Mapping[str, Any]) -> dict[str, int]:
    """Every token of a `tokenizer.json` with its id, as files spell it."""
    vocabulary = document["model"].get("vocab") or {}
    if isinstance(vocabulary, Mapping):
        known = dict(vocabulary)
    else:
        known = {str(entry[0]): index for index, entry in enumerate(vocabulary)}
    return known | {token["content"]: token["id"] for token in document.get("added_tokens") or []}


def _disagreements(document: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    known = _known(document)
    for role in _ROLES:
        text = token_text(config.get(role))
        if text is not None and text not in known:
            yield f"{role} is {text!r}, which tokenizer.json does not have"
    for index, token in (config.get("added_tokens_decoder") or {}).items():
        text = str(token_text(token))
        if known.get(text) != int(index):
            there = known.get(text, "none")
            yield f"added_tokens_decoder gives {text!r} the id {index}, tokenizer.json {there}"
    lower = [
        step.get("lowercase", True) for step in steps(document.get("normalizer")) if step["type"] in _LOWER
    ]
    stated = config.get("do_lower_case")
    if stated is not None and bool(stated) != any(lower):
        yield f"do_lower_case is {stated}, but tokenizer.json does {'' if any(lower) else 'not '}lower the case"
    prefixes = [
        bool(step.get("add_prefix_space", step.get("prepend_scheme") != "never"))
        for step in steps(document.get("pre_tokenizer"))
        if step["type"] in ("ByteLevel", "Metaspace")
    ]
    stated = config.get("add_prefix_space")
    if stated is not None and prefixes and bool(stated) != any(prefixes):
        yield f"add_prefix_space is {stated}, but tokenizer.json says {any(prefixes)}"
    for role, place in (("bos_token", 0), ("eos_token", -1)):
        stated, text = config.get(f"add_{role}"), token_text(config.get(role))
        added = _template(document, "single")
        if stated is not None and text is not None and bool(stated) != (added[place] == text):
            yield f"add_{role} is {stated}, but the post-processor of tokenizer.json says otherwise"


_LOWER = ("Lowercase", "BertNormalizer")


def _template(document: Mapping[str, Any], kind: str) -> list[str]:
    """The tokens that the post-processor adds around one text, with ``A`` for the text itself."""
    for step in steps(document.get("post_processor")):
        if step["type"] == "TemplateProcessing":
            parts = (next(iter(part.items())) for part in step[kind])
            return [str(value["id"]) for _, value in parts]
        if step["type"] in ("BertProcessing", "RobertaProcessing"):
            return [str(step["cls"][0]), "A", str(step["sep"][0])]
    return ["A"]


@Check.of("TB401", "files-disagree", fail=0)
def agreement(subject: Subject, bounds: Bounds) -> Finding:
    """Settings in which tokenizer_config.json contradicts tokenizer.json.

    Programs differ in which file they follow: one lowers the case, another does not.
    """
    if subject.document is None or subject.config is None:
        return Finding.unchecked("there are not both a tokenizer.json and a tokenizer_config.json")
    wrong = list(_disagreements(subject.document, subject.config))
    return Finding.judged(wrong, bounds, of="statements that disagree")


@Check.of("TB402", "classes-disagree", fail=0)
def classes(subject: Subject, bounds: Bounds) -> Finding:
    """Whether the tokenizer class of transformers gives other ids than tokenizer.json does.

    A loader that chose another class turned 7,140 tokens into 35,921 (InferenceX 937), and months were lost to
    a pattern that two readers of one file understood differently (tokenizers 2109).
    """
    if subject.document is None or subject.config is None or subject.open is None:
        return Finding.unchecked("there are not both a tokenizer.json and a tokenizer_config.json")
    pair = (f"transformers:{subject.folder}", f"transformers:{subject.folder},backend=transformers")
    try:
        here, there = (subject.open(spec) for spec in pair)
        rows = [(text, list(here.encode(text)), list(there.encode(text))) for text in ROUND_TRIPS]
    except TokbenchError as error:
        return Finding.unchecked(f"transformers does not open the folder: {error}")
    wrong = [f"{shown(text)} is {a[:6]}, but {b[:6]} by the class" for text, a, b in rows if a != b]
    said = f"texts of {len(rows)} to which the class that transformers chooses gives other ids"
    return Finding.judged(wrong, bounds, of=said)


@Check.of("TB403", "begin-and-end")
def ends(subject: Subject, bounds: Bounds) -> Finding:
    """Which tokens are added around a text (BOS, EOS), and whether any is added twice.

    A chat template that writes BOS and an encoder that adds it give two, a beginning that the model never saw.
    """
    if subject.document is None:
        return Finding.unchecked("only a tokenizer.json says what is added around a text")
    around = _template(subject.document, "single")
    twice = [one for one, other in pairwise(around) if one == other]
    begin = around[: around.index("A")] if "A" in around else []
    template = subject.chat_template
    if template is not None and begin:
        named = re.search(r"\bbos_token\b", template) is not None
        if begin[0] in template or (named and begin[0] == token_text((subject.config or {}).get("bos_token"))):
            twice.append(begin[0])
    said = "a text is encoded as " + " ".join("TEXT" if one == "A" else one for one in around)
    if twice:
        examples = tuple(f"{one}: by the template and by the encoder" for one in twice)
        return Finding(Outcome.FAIL, f"{said}; {', '.join(twice)} is added twice", len(twice), examples)
    return Finding.passed(said)


@Check.of("TB404", "cut-or-padded", warn=0)
def cut_or_padded(subject: Subject, bounds: Bounds) -> Finding:
    """Truncation or padding stored in tokenizer.json.

    `encode` then shortens or pads every document without saying so.
    """
    if subject.document is None:
        return Finding.unchecked("only a tokenizer.json can hold truncation and padding")
    held = subject.document
    found = [f"{name}: {held[name]}" for name in ("truncation", "padding") if held.get(name)]
    return Finding.judged(found, bounds, of="settings that change the length of what is encoded")


CHECKS = (agreement, classes, ends, cut_or_padded)
