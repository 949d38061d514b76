"""What a tokenizer costs a model of a given shape: memory, work and room, per byte of text."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import catalogued

_KAPLAN = "Kaplan et al., Scaling Laws for Neural Language Models, 2020, table 1"
_SHAZEER = "Shazeer, Fast Transformer Decoding: One Write-Head is All You Need, 2019"
_OF_MODEL = "T is the model's own context length, whatever --context-length says."
_EXACT = "It follows from the shape of the model and the size of the vocabulary: nothing is estimated."
_TIED = "The term tied is 1 where the head is the embedding matrix, else 0."
_ALIKE = "Per byte of this text: compare tokenizers on one text, languages on parallel text only."

_PER_BYTE = r"\frac{\mathrm{tokens}}{\mathrm{bytes}} \cdot "
_FORWARD = r"(2 (N_{\mathrm{matrices}} + V d) + 2 L d (T + 1))"

_of_text = partial(catalogued, group="model")
_work = partial(_of_text, source=_KAPLAN, needs=("model", "vocab_size", "tokens"))
_of_vocabulary = partial(
    catalogued, no_interval=_EXACT, level="vocabulary", needs=("model", "vocab_size"), group="model"
)

METRICS = (
    _work(
        "train_flops", "FLOP/byte", "lower",
        "Floating-point operations to train the given model on a byte of this text, head included.",
        rf"{_PER_BYTE}3 \,{_FORWARD}", lambda t: t.model.train_flops(t.vocab_size) * t.tokens / t.bytes,
        caveat=f"Without norms, biases and lookups, and without recomputation. {_OF_MODEL} {_ALIKE}",
    ),
    _work(
        "serve_flops", "FLOP/byte", "lower",
        "Floating-point operations of the given model per byte of this text read or written, head included.",
        _PER_BYTE + _FORWARD, lambda t: t.model.serve_flops(t.vocab_size) * t.tokens / t.bytes,
        caveat=(
            "Assumes a context that is half full on average. Reading a prompt may skip the head; writing is "
            f"often limited by memory, not by operations. {_OF_MODEL} {_ALIKE}"
        ),
    ),
    _of_text(
        "kv_cache", "bytes/kB", "lower",
        "Size in bytes of the given model's KV cache for 1,000 bytes of this text.",
        r"1000 \cdot \frac{\mathrm{tokens}}{\mathrm{bytes}} \cdot 2 L d_{kv} b",
        lambda t: 1000 * t.model.kv_bytes * t.tokens / t.bytes,
        needs=("model", "tokens"), source=_SHAZEER,
        caveat=f"A key and a value of every layer in the model's precision, uncompressed. {_ALIKE}",
    ),
    _of_text(
        "longest_document", "bytes", "higher",
        "Bytes of this text that fit in the context.",
        r"T \cdot \frac{\mathrm{bytes}}{\mathrm{tokens}}", lambda t: t.context_length * t.bytes / t.tokens,
        needs=("context_length", "tokens"), group="cost",
        caveat=(
            "An average over the text; no room is set aside for prompts and answers. T is --context-length. "
            f"{_ALIKE}"
        ),
    ),
    _of_vocabulary(
        "embedding_parameters", "parameters", "lower",
        "Parameters of the given model's embeddings and head with this vocabulary.",
        r"(2 - \mathrm{tied}) \, V d", lambda t: t.model.embedding(t.vocab_size),
        caveat=_TIED,
    ),
    _of_vocabulary(
        "embedding_memory", "bytes", "lower",
        "Memory of the given model's embeddings and head with this vocabulary, in its precision.",
        r"(2 - \mathrm{tied}) \, b V d", lambda t: t.model.embedding(t.vocab_size) * t.model.number_bytes,
        caveat=_TIED,
    ),
    _of_vocabulary(
        "embedding_share", "share of parameters", "lower",
        "Share of the given model's parameters that are embeddings and head.",
        r"\frac{N_{\mathrm{embedding}}}{N}",
        lambda t: t.model.embedding(t.vocab_size) / t.model.parameters(t.vocab_size),
    ),
    _of_vocabulary(
        "model_parameters", "parameters", "none",
        "Parameters of the given model with this vocabulary.",
        r"N_{\mathrm{body}} + N_{\mathrm{embedding}}", lambda t: t.model.parameters(t.vocab_size),
    ),
)  # fmt: skip
