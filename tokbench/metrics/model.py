"""What a language model costs, as far as its tokenizer matters: its shape, parameters, work and memory.

Parameters are counted matrix by matrix, as published checkpoints hold them. Work is counted as Kaplan et al. do
(Scaling Laws for Neural Language Models, 2020, table 1): two operations for each parameter of a matrix that a
token is multiplied by, and for attention two products with every earlier token; training is three times the
forward pass. Looking up an embedding costs none; the head multiplies by as many parameters as the vocabulary
times the width. A token attends to half the context on average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tokbench.errors import SpecError, UnknownNameError

PRECISIONS = {"float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
"""Bytes of a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The shape of a decoder: `ffn` is the inner width of its feed-forward layers, `context` in tokens.

    `tied`: the head is the embedding matrix. `gated`: feed-forward layers have a third matrix (SwiGLU).
    `biases` are those of every matrix (and of norms), of queries, keys and values, or none. `positions`: they
    are learned, a row for each place of the context. `precision` is that of weights and of the KV cache.

    Example:
        >>> PRESETS["llama-2-7b"].parameters(32_000)
        6738415616
    """

    layers: int
    width: int
    heads: int
    kv_heads: int
    ffn: int
    context: int
    tied: bool = False
    precision: str = "bfloat16"
    gated: bool = True
    biases: Literal["all", "qkv", "none"] = "none"
    positions: bool = False

    @property
    def key_width(self) -> int:
        """The width of all keys of a token, and of all its values."""
        return self.kv_heads * (self.width // self.heads)

    def embedding(self, vocabulary: int) -> int:
        """Parameters that a vocabulary of so many ids takes: embeddings, and the head where it is not tied."""
        return vocabulary * self.width * (1 if self.tied else 2)

    @property
    def matrices(self) -> int:
        """Parameters of all matrices of the layers."""
        attention = 2 * self.width * self.width + 2 * self.width * self.key_width
        return self.layers * (attention + (3 if self.gated else 2) * self.width * self.ffn)

    @property
    def body(self) -> int:
        """Every parameter but those of embeddings and head."""
        qkv = self.width + 2 * self.key_width
        biases = {"none": 0, "qkv": qkv, "all": qkv + self.width + self.ffn + self.width}[self.biases]
        norm = self.width * (2 if self.biases == "all" else 1)
        positions = self.context * self.width if self.positions else 0
        return self.matrices + self.layers * (biases + 2 * norm) + norm + positions

    def parameters(self, vocabulary: int) -> int:
        """Every parameter of the model with a vocabulary of so many ids."""
        return self.body + self.embedding(vocabulary)

    def serve_flops(self, vocabulary: int) -> float:
        """Operations for one token forward: 2 for each parameter it meets, 4 for each width attended."""
        attended = (self.context + 1) / 2
        return 2 * (self.matrices + vocabulary * self.width) + 4 * self.layers * self.width * attended

    def train_flops(self, vocabulary: int) -> float:
        """Operations for one token of training: forward, and twice as much backward."""
        return 3 * self.serve_flops(vocabulary)

    @property
    def number_bytes(self) -> int:
        """Bytes of a number in the model's precision."""
        return PRECISIONS[self.precision]

    @property
    def kv_bytes(self) -> int:
        """Bytes of the KV cache for one token: a key and a value in every layer."""
        return 2 * self.layers * self.key_width * self.number_bytes


def _gpt2(layers: int, width: int, heads: int) -> Model:
    return Model(
        layers=layers, width=width, heads=heads, kv_heads=heads, ffn=4 * width, context=1024, tied=True,
        precision="float32", gated=False, biases="all", positions=True,
    )  # fmt: skip


PRESETS: Mapping[str, Model] = {
    "gpt2": _gpt2(12, 768, 12),
    "gpt2-medium": _gpt2(24, 1024, 16),
    "gpt2-large": _gpt2(36, 1280, 20),
    "gpt2-xl": _gpt2(48, 1600, 25),
    "llama-2-7b": Model(layers=32, width=4096, heads=32, kv_heads=32, ffn=11008, context=4096),
    "llama-3-8b": Model(layers=32, width=4096, heads=32, kv_heads=8, ffn=14336, context=8192),
    "llama-3.2-1b": Model(layers=16, width=2048, heads=32, kv_heads=8, ffn=8192, context=131072, tied=True),
    "qwen2-7b": Model(layers=28, width=3584, heads=28, kv_heads=4, ffn=18944, context=32768, biases="qkv"),
}
"""Shapes of published models, from their configurations; the vocabulary is that of the tokenizer looked at."""


def model_of(given: Mapping[str, Any]) -> Model:
    """The model of a suite's table: a `preset`, what differs from it, or a whole shape.

    `kv_heads` are the heads, `ffn` four times the width where nobody says. Raises `SpecError` for what is
    missing, and for shapes that cannot be.

    Example:
        >>> model_of({"preset": "llama-3-8b", "context": 4096}).context
        4096
    """
    values = {key: value for key, value in given.items() if value is not None}
    preset = values.pop("preset", None)
    if preset is not None and preset not in PRESETS:
        raise UnknownNameError.of("model preset", preset, PRESETS)
    shape = {**(asdict(PRESETS[preset]) if preset is not None else {}), **values}
    missing = [name for name in ("layers", "width", "heads", "context") if name not in shape]
    if missing:
        raise SpecError(
            f"model: {', '.join(missing)} missing; a preset has all: preset = {' or '.join(PRESETS)}"
        )
    shape.setdefault("kv_heads", shape["heads"])
    shape.setdefault("ffn", 4 * shape["width"])
    model = Model(**shape)
    if model.width % model.heads:
        raise SpecError(f"model: a width of {model.width} is not a multiple of {model.heads} heads")
    if model.heads % model.kv_heads:
        raise SpecError(f"model: {model.heads} heads are not a multiple of {model.kv_heads} kv_heads")
    if model.precision not in PRECISIONS:
        raise UnknownNameError.of("precision", model.precision, PRECISIONS)
    return model


def estimated_vocabulary(model: Model) -> tuple[int, int]:
    """The compute-optimal vocabulary, in ids, by two fits of Tao et al. (Scaling Laws with Vocabulary, 2024).

    Of one matrix of embeddings, from the parameters n beside them. By IsoFLOPs C = (n / e^−2.4847)²,
    e^−1.5890 · C^0.41636; by derivatives 3,145,728 · (n / 33·10⁶)^0.8354; both over the width. Fitted on models
    of 33 million to 3 billion parameters, on English text.

    Example:
        >>> estimated_vocabulary(PRESETS["llama-2-7b"])
        (58376, 63208)
    """
    flops = (model.body / math.exp(-2.4846510161625193)) ** 2
    by_flops = math.exp(-1.589031299255507) * flops**0.4163622634135234
    by_slope = 3_145_728 * (model.body / 33e6) ** 0.8353974035228025
    low, high = sorted((by_flops / model.width, by_slope / model.width))
    return round(low), round(high)
