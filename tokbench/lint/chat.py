"""A chat template run as transformers runs it, in a sandbox: it is code from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.lint.subject import Subject

_ROLES = ("bos_token", "eos_token", "unk_token", "pad_token")


def render(subject: Subject, messages: Sequence[Mapping[str, str]], **options: Any) -> str:
    """The text of a conversation; raises `TokenizerError` where the template fails, or there is none."""
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    if subject.chat_template is None:
        raise TokenizerError(f"{subject.spec} has no chat template")
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals |= {"raise_exception": _refuse, "strftime_now": lambda form: "2024-01-01"}
    names = {role: (subject.config or {}).get(role) for role in _ROLES}
    names = {role: text.get("content") if isinstance(text, Mapping) else text for role, text in names.items()}
    try:
        template = environment.from_string(subject.chat_template)
        return template.render(messages=messages, **{**names, "add_generation_prompt": False, **options})
    except (TemplateError, TypeError, KeyError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise TokenizerError(f"the chat template fails: {type(error).__name__}: {error}") from error


def _refuse(message: str) -> None:
    raise TokenizerError(f"the chat template refuses the conversation: {message}")
