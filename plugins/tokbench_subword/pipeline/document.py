"""`TokenizerJson`: the content of a `tokenizer.json`, part by part; `files.tokenizer_json` reads and writes
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokbench_subword.pipeline.added_tokens import AddedToken


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerJson:
    """The parts of a `tokenizer.json`, each as its JSON."""

    model: Mapping[str, Any]
    normalizer: Mapping[str, Any] | None = None
    pre_tokenizer: Mapping[str, Any] | None = None
    post_processor: Mapping[str, Any] | None = None
    decoder: Mapping[str, Any] | None = None
    added_tokens: tuple[AddedToken, ...] = ()

    def with_model(self, model: Mapping[str, Any]) -> TokenizerJson:
        """The same parts with another model."""
        return replace(self, model=model)


def steps_of(config: Mapping[str, Any] | None, key: str) -> Sequence[Mapping[str, Any]]:
    """The steps of a component: those of a ``Sequence`` (under `key`), flattened, or the component itself."""
    if config is None:
        return []
    if config.get("type") == "Sequence":
        return [step for item in config[key] for step in steps_of(item, key)]
    return [config]


def sequence_of(key: str, steps: list[Any]) -> dict[str, Any] | None:
    """Steps as one component, a ``Sequence`` (under `key`); None if there are none."""
    return {"type": "Sequence", key: steps} if steps else None


def replaced(pattern: Mapping[str, str], content: str) -> dict[str, Any]:
    """The step that replaces the matches of a pattern, a ``String`` or a ``Regex``, by `content`."""
    return {"type": "Replace", "pattern": {**pattern}, "content": content}
