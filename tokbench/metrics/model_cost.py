"""What a tokenizer costs a model of a given shape: memory, work and room, per byte of text."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import Metric

_KAPLAN = "Kaplan et al., Scaling Laws for Neural Language Models, 2020, table 1"
_SHAZEER = "Shazeer, Fast Transformer Decoding: One Write-Head is All You Need, 2019"
_EXACT = "It follows from the shape of the model and the size of the vocabulary: nothing is estimated."
_TIED = "The term tied is 1 where the head is the embedding matrix, else 0."
_ALIKE = "Per byte of this text: compare tokenizers on one text, languages on parallel text only."

_PER_BYTE = r"\frac{\mathrm{tokens}}{\mathrm{bytes}} \cdot "
_FORWARD = r"(2 (N_{\mathrm{matrices}} + V d) + 2 L d (T + 1))"

_of_text = partial(Metric, group="model")
_work = partial(
    _of_text, unit="FLOP/byte", better="lower", source=_KAPLAN, needs=("model", "vocab_size", "tokens")
)
_of_vocabulary = partial(
    Metric, no_interval=_EXACT, level="vocabulary", needs=("model", "vocab_size"), group="model"
)

METRICS = (
    _work(
        name="train_flops",
        summary="Operations of training the given model on a byte of this text, head included.",
        formula=rf"{_PER_BYTE}3 \,{_FORWARD}",
        caveat=f"Norms, biases and lookups are left out, and nothing is recomputed. {_ALIKE}",
        compute=lambda t: t.model.train_flops(t.vocab_size) * t.tokens / t.bytes,
    ),
    _work(
        name="serve_flops",
        summary="Operations of the given model to read or write a byte of this text, head included.",
        formula=_PER_BYTE + _FORWARD,
        caveat=(
            "In a context half full on average. Reading a prompt may skip the head; writing is often bound by "
            f"memory and not by operations. {_ALIKE}"
        ),
        compute=lambda t: t.model.serve_flops(t.vocab_size) * t.tokens / t.bytes,
    ),
    _of_text(
        name="kv_cache",
        unit="bytes/kB",
        better="lower",
        summary="Bytes of the given model's KV cache for 1,000 bytes of this text.",
        formula=r"1000 \cdot \frac{\mathrm{tokens}}{\mathrm{bytes}} \cdot 2 L d_{kv} b",
        source=_SHAZEER,
        caveat=f"A key and a value of every layer in the model's precision, none compressed. {_ALIKE}",
        compute=lambda t: 1000 * t.model.kv_bytes * t.tokens / t.bytes,
        needs=("model", "tokens"),
    ),
    _of_text(
        name="longest_document",
        unit="bytes",
        better="higher",
        summary="Bytes of this text that fit in the context.",
        formula=r"T \cdot \frac{\mathrm{bytes}}{\mathrm{tokens}}",
        caveat=f"On average over the text; nothing is set aside for prompts and answers. {_ALIKE}",
        compute=lambda t: t.context_length * t.bytes / t.tokens,
        needs=("context_length", "tokens"),
        group="cost",
    ),
    _of_vocabulary(
        name="embedding_parameters",
        unit="parameters",
        better="lower",
        summary="Parameters of the given model's embeddings and head with this vocabulary.",
        formula=r"(2 - \mathrm{tied}) \, V d",
        caveat=_TIED,
        compute=lambda t: t.model.embedding(t.vocab_size),
    ),
    _of_vocabulary(
        name="embedding_memory",
        unit="bytes",
        better="lower",
        summary="Memory of the given model's embeddings and head with this vocabulary, in its precision.",
        formula=r"(2 - \mathrm{tied}) \, b V d",
        caveat=_TIED,
        compute=lambda t: t.model.embedding(t.vocab_size) * t.model.number_bytes,
    ),
    _of_vocabulary(
        name="embedding_share",
        unit="share of parameters",
        better="lower",
        summary="Share of the given model's parameters that are embeddings and head.",
        formula=r"\frac{N_{\mathrm{embedding}}}{N}",
        compute=lambda t: t.model.embedding(t.vocab_size) / t.model.parameters(t.vocab_size),
    ),
    _of_vocabulary(
        name="model_parameters",
        unit="parameters",
        better="none",
        summary="Parameters of the given model with this vocabulary.",
        formula=r"N_{\mathrm{body}} + N_{\mathrm{embedding}}",
        compute=lambda t: t.model.parameters(t.vocab_size),
    ),
)
