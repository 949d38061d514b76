"""Map model names to encodings without importing tiktoken, so that looking up a name is cheap.

The table is kept equal to tiktoken's own by a test.
"""

from __future__ import annotations

_ENCODINGS = {
    "o200k_base": ("gpt-5", "gpt-4.5", "gpt-4.1", "gpt-4o", "o1", "o3", "o4-mini"),
    "o200k_harmony": ("gpt-oss",),
    "cl100k_base": (
        "gpt-4",
        "gpt-3.5-turbo",
        "gpt-3.5",
        "davinci-002",
        "babbage-002",
        "text-embedding-ada-002",
        "text-embedding-3-small",
        "text-embedding-3-large",
    ),
    "p50k_base": ("text-davinci-003", "text-davinci-002", "code-davinci-002"),
    "r50k_base": ("gpt-3", "text-davinci-001", "davinci"),
    "gpt2": ("gpt-2", "gpt2"),
}
ALIASES = {name: f"tiktoken:{encoding}" for encoding, names in _ENCODINGS.items() for name in names}

# Longer prefixes first, so that "gpt-4o-mini" does not match "gpt-4".
_DATED = sorted(
    (f"{name}-" for name in ALIASES if name.startswith(("gpt-3.5", "gpt-4", "gpt-5", "gpt-oss", "o"))),
    key=len,
    reverse=True,
)


def dated(name: str) -> str | None:
    """The spec for a model name with a date or size suffix; None if it is not a name of OpenAI's.

    Example:
        >>> dated("gpt-4o-2024-05-13"), dated("gpt-4-0314"), dated("llama-2"), dated("gpt-4-o")
        ('tiktoken:o200k_base', 'tiktoken:cl100k_base', None, None)
    """
    for beginning in _DATED:
        if name.startswith(beginning):
            return ALIASES[beginning.removesuffix("-")]
        if name.replace("-", "").startswith(beginning.replace("-", "")):
            return None  # "gpt-4-o" is a misspelt "gpt-4o", and no GPT-4 of any date
    return None
