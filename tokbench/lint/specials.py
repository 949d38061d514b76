"""Checks of special tokens: whether plain text produces them, and the chat template. Codes TB5xx."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tokbench.errors import TokbenchError
from tokbench.lint.chat import overhead, render
from tokbench.lint.check import SHOWN, Bounds, Check, Finding, Outcome
from tokbench.lint.injection import AS_IT_IS, CHAT, ENCODE, MATCHING, Injection, injections
from tokbench.lint.subject import Subject, shown

_CONTROL = re.compile(
    r"<\|[^|<>]+\|>|</?s>|<(?:pad|unk|bos|eos|mask|sep|cls)>|\[(?:PAD|UNK|CLS|SEP|MASK|BOS|EOS|/?INST)\]"
    r"|<(?:start|end)_of_(?:turn|image|text)>|<</?SYS>>|<｜[^｜]+｜>"
)
_TALK = (
    {"role": "user", "content": "What is  2 + 2?\n(Zwölf ≠ 4.)"},
    {"role": "assistant", "content": "It is 4."},
    {"role": "user", "content": "Thanks!"},
)
_ANSWER = "You are welcome."


def _told(one: Injection) -> str:
    return f"{shown(one.control)} {one.variant}: {' '.join(map(str, one.became))}"


def _by_control(found: Iterable[Injection]) -> list[Injection]:
    """The first injection of each control string that became control ids."""
    first: dict[str, Injection] = {}
    for one in found:
        if one.became:
            first.setdefault(one.control, one)
    return [*first.values()]


@Check.of("TB501", "specials-from-text", fail=0)
def as_text(subject: Subject, bounds: Bounds) -> Finding:
    """Special tokens that plain text produces if the tokenizer is loaded as the spec says.

    A document that quotes a control string can end the context or speak as the system (OWASP AISVS 930,
    transformers 29279).
    """
    if not subject.controls:
        return Finding.passed("there are no special tokens")
    wrong = _by_control(one for one in injections(subject) if one.entry == ENCODE)
    if subject.facts.get("special_token_text") == "match":
        return Finding(Outcome.FAIL, "the spec asks for special tokens to be matched in text", len(wrong))
    said = f"control strings of {len(subject.controls):,} in plain text that become control ids"
    return Finding.judged(wrong, bounds, of=said, shown=_told)


@Check.of("TB502", "control-look-alikes", warn=0)
def look_alikes(subject: Subject, bounds: Bounds) -> Finding:
    """Ordinary tokens that look like control strings.

    Any text that contains a marker added without special=true produces it, and users see it, because decoding
    leaves out special tokens only.
    """
    found = [
        f"{shown(text)} ({index})"
        for index, text in subject.audit.texts()
        if _CONTROL.fullmatch(text.strip()) and index not in subject.special_ids
    ]
    return Finding.judged(found, bounds, of="ordinary tokens that look like control strings")


@Check.of("TB503", "special-variants", fail=0)
def variants(subject: Subject, bounds: Bounds) -> Finding:
    """Variants of a control string (other case, zero-width characters, other forms) that become its id.

    Filters look for the exact string, and a normalizer that runs after them restores it.
    """
    if not subject.controls:
        return Finding.passed("there are no special tokens")
    if subject.matching is None:
        return Finding.unchecked("the family does not offer to match special tokens in text")
    tried = [one for one in injections(subject) if one.entry == MATCHING and one.variant not in AS_IT_IS]
    # Only the own id counts: <S> may be the exact text of another token, or contain another token.
    wrong = [one for one in tried if one.id in one.became]
    return Finding.judged(wrong, bounds, of="variants of control strings that become control ids", shown=_told)


@Check.of("TB504", "chat-template")
def chat(subject: Subject, bounds: Bounds) -> Finding:
    """Whether the chat template runs, keeps all messages and uses tokens that exist; and what it costs.

    If the vocabulary lacks a marker of the template, the marker is encoded as several tokens, which the model
    never saw as a marker.
    """
    if subject.chat_template is None:
        return Finding.unchecked("there is no chat template")
    try:
        text = render(subject, _TALK)
        prompt = render(subject, _TALK, add_generation_prompt=True)
    except TokbenchError as error:
        return Finding(Outcome.FAIL, str(error))
    lost = [part["content"] for part in _TALK if part["content"].strip() not in text]
    if lost:
        said = "the template leaves out messages"
        return Finding(Outcome.FAIL, said, len(lost), tuple(map(shown, lost[:SHOWN])))
    tokenizer = subject.matching or subject.tokenizer
    if subject.matching is not None:
        plain = [
            mark
            for mark in subject.controls
            if mark in text and subject.controls[mark] not in set(map(int, tokenizer.encode(text)))
        ]
        if plain:
            said = "control strings of the template are encoded as text"
            return Finding(Outcome.FAIL, said, len(plain), tuple(plain))
    marks = {one for one in _CONTROL.findall(text) if one not in subject.controls}
    if marks:
        said = "control strings of the template that are not special tokens"
        return Finding(Outcome.FAIL, said, len(marks), tuple(sorted(marks))[:SHOWN])
    if prompt == text and not _answer_goes_on(subject, text):
        return Finding(
            Outcome.WARN, "add_generation_prompt changes nothing, so the model has to begin its own turn"
        )
    said = "a conversation runs, all messages are kept, and its control strings are special tokens"
    cost = overhead(subject)
    if cost is not None:
        said += (
            f"; tokens beyond its text: {cost.first} for the first message, {cost.exchange} for each exchange "
            f"after it, {cost.reply} to begin a reply"
        )
    return Finding.passed(said)


def _answer_goes_on(subject: Subject, text: str) -> bool:
    """Whether an answer follows the rendered conversation at once, as after ``[/INST]``."""
    try:
        answered = render(subject, (*_TALK, {"role": "assistant", "content": _ANSWER}))
    except TokbenchError:
        return False
    return answered.partition(_ANSWER)[0].rstrip() == text.rstrip()


@Check.of("TB505", "chat-injection", warn=0)
def chat_injection(subject: Subject, bounds: Bounds) -> Finding:
    """Control strings in a user's message that become control ids through the chat template.

    A user's message can close its own turn and open one of the system, which the model then obeys (vllm 31735);
    escaping is left to each server.
    """
    if subject.chat_template is None:
        return Finding.unchecked("there is no chat template")
    if subject.matching is None:
        return Finding.unchecked("the family does not offer to match special tokens in text")
    wrong = _by_control(one for one in injections(subject) if one.entry == CHAT)
    said = f"control strings of {len(subject.controls):,} in a user's message that become control ids"
    return Finding.judged(wrong, bounds, of=said, shown=_told)


CHECKS = (as_text, look_alikes, variants, chat, chat_injection)
