"""Renders chat templates as transformers does, in a sandbox because they are code, and counts their tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tokbench.errors import TokenizerError, described
from tokbench.lint.subject import Subject, token_text

_ROLES = ("bos_token", "eos_token", "unk_token", "pad_token")


def render(subject: Subject, messages: Sequence[Mapping[str, str]], **options: Any) -> str:
    """The text of a conversation; raises `TokenizerError` if the template fails, or there is none."""
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    if subject.chat_template is None:
        raise TokenizerError(f"{subject.spec} has no chat template")
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals |= {"raise_exception": _refuse, "strftime_now": lambda form: "2024-01-01"}
    names = {role: token_text((subject.config or {}).get(role)) for role in _ROLES}
    try:
        template = environment.from_string(subject.chat_template)
        return template.render(messages=messages, **{**names, "add_generation_prompt": False, **options})
    except (TemplateError, TypeError, KeyError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise TokenizerError(f"the chat template fails: {described(error)}") from error


def _refuse(message: str) -> None:
    raise TokenizerError(f"the chat template refuses the conversation: {message}")


class Overhead(NamedTuple):
    """How many tokens a conversation costs in addition to its text.

    `first` is the cost of the first message (with any system prompt that the template adds), `exchange` that of
    each answer and question after it, and `reply` that of beginning the model's turn.
    """

    first: int
    exchange: int
    reply: int


def overhead(subject: Subject) -> Overhead | None:
    """What a conversation costs in addition to its text; None if special tokens cannot be matched.

    Raises `TokenizerError` if the template fails.
    """
    if subject.matching is None:
        return None
    matching, content = subject.matching, subject.tokenizer
    question, answer = "What is the capital of France?", "The capital of France is Paris."
    talk = [("user", question), ("assistant", answer), ("user", question)]
    messages = [{"role": role, "content": text} for role, text in talk]

    def tokens(count: int, **options: Any) -> int:
        return len(matching.encode(render(subject, messages[:count], **options)))

    one, three = tokens(1), tokens(3)
    asked, answered = len(content.encode(question)), len(content.encode(answer))
    reply = tokens(3, add_generation_prompt=True) - three
    return Overhead(one - asked, three - one - asked - answered, reply)
