"""How much text a token holds, and what the text is made of."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import Metric

_DAGAN = (
    "Dagan, Synnaeve and Rozière, Getting the most out of your tokenizer for pre-training and domain "
    "adaptation, ICML 2024"
)
_LENGTHS = "Lengths of tokens are counted of the text as a whole, not by document."


_of_tokens = partial(Metric, needs=("tokens",), group="compression")
_length = partial(
    _of_tokens, unit="bytes", better="none", no_interval=_LENGTHS, needs=("tokens", "token_bytes")
)
_of_text = partial(Metric, better="none", group="text")
_size = partial(
    _of_text,
    no_interval="It is the size of what was measured: nothing is estimated.",
    needs=("documents",),
    always=True,
)
_ALIKE = "Of the text, not of the tokenizer: the same for all."

METRICS = (
    _of_tokens(
        name="compression_ratio",
        unit="bytes/token",
        better="higher",
        summary="Bytes of UTF-8 that a token stands for, on average.",
        formula=r"\frac{\sum_d \mathrm{bytes}(d)}{\sum_d \mathrm{tokens}(d)}",
        caveat=(
            "Scripts differ in bytes per character (Latin 1, Cyrillic 2, Devanagari 3), so compare "
            "tokenizers on one language, not languages under one tokenizer. A tokenizer that drops text "
            "compresses for nothing: read it beside round_trip."
        ),
        compute=lambda t: t.bytes / t.tokens,
        shown=("headline", "terminal", "languages", "differences"),
        order=20,
        heading="bytes/token",
    ),
    _of_tokens(
        name="compression_ratio_macro",
        unit="bytes/token",
        better="higher",
        summary="Bytes of UTF-8 that a token stands for, averaged over the languages, each counting alike.",
        formula=r"\frac{1}{|L|} \sum_{\ell \in L} \frac{\mathrm{bytes}(\ell)}{\mathrm{tokens}(\ell)}",
        caveat=(
            "compression_ratio pools: there a language weighs by its bytes, so that scripts of three bytes a "
            "character weigh three times as much as Latin. The two can rank tokenizers differently."
        ),
        compute=lambda g: (g.bytes / g.tokens).mean(axis=0),
        level="languages",
        needs=("several",),
        shown=("headline", "terminal", "differences"),
        order=10,
        heading="mean of languages",
    ),
    _of_tokens(
        name="chars_per_token",
        unit="chars/token",
        better="higher",
        summary="Unicode code points that a token stands for, on average.",
        formula=r"\frac{\sum_d \mathrm{chars}(d)}{\sum_d \mathrm{tokens}(d)}",
        caveat="Not comparable across scripts: a Chinese character says more than a Latin letter.",
        compute=lambda t: t.chars / t.tokens,
        shown=("languages",),
        order=50,
    ),
    _of_tokens(
        name="tokens_per_document",
        unit="tokens/document",
        better="lower",
        summary="Tokens of a document, on average.",
        formula=r"\frac{\sum_d \mathrm{tokens}(d)}{|D|}",
        caveat="Compares tokenizers on the same documents; languages only on parallel text.",
        compute=lambda t: t.tokens / t.documents,
        needs=("documents",),
    ),
    _of_tokens(
        name="tokens_per_line",
        unit="tokens/line",
        better="lower",
        summary="Tokens of a line, on average; the figure to compare languages by, on parallel text.",
        formula=r"\frac{\sum_d \mathrm{tokens}(d)}{\sum_d \mathrm{lines}(d)}",
        caveat="Lines are cut at line feeds; an empty document has none.",
        compute=lambda t: t.tokens / t.lines,
        needs=("lines",),
        shown=("headline", "languages", "differences"),
        order=30,
    ),
    _length(
        name="token_length",
        summary="Bytes of a token as it stands in the vocabulary, averaged over the tokens of the text.",
        formula=r"\frac{\sum_i n_i\,\mathrm{len}(i)}{\sum_i n_i}",
        caveat=(
            "Differs from compression_ratio where the tokenizer rewrites its input: it is of the tokens, not "
            "of the text they replace. The unknown token has none."
        ),
        compute=lambda t: t.token_bytes.mean(),
    ),
    *(
        _length(
            name=f"token_length_p{percent}",
            summary=f"The length that {percent} % of the tokens of the text do not exceed.",
            formula=rf"Q_{{0.{percent}}}(\mathrm{{len}})",
            compute=lambda t, share=percent / 100: t.token_bytes.quantile(share),
        )
        for percent in (50, 95, 99)
    ),
    _of_tokens(
        name="nsl",
        unit="ratio",
        better="lower",
        summary="Normalised sequence length: tokens over those of the baseline tokenizer on the same text.",
        formula=r"\frac{\sum_d \mathrm{tokens}(d)}{\sum_d \mathrm{tokens}_{\mathrm{baseline}}(d)}",
        source=_DAGAN,
        caveat="Of sums, not the mean of each document's ratio, so that long documents count by their length.",
        compute=lambda t, base: t.tokens / base.tokens,
        level="tokenizers",
        needs=("baseline", "tokens"),
    ),
    *(
        _of_text(
            name=name,
            unit="share of chars",
            summary=f"Share of the text's code points that are {what}.",
            formula=rf"\frac{{\mathrm{{{symbol}}}}}{{\mathrm{{chars}}}}",
            caveat=_ALIKE,
            compute=compute,
            needs=("chars",),
        )
        for name, what, symbol, compute in (
            ("text_letters", "letters or marks", "letters", lambda t: t.letters / t.chars),
            ("text_digits", "decimal digits", "digits", lambda t: t.digits / t.chars),
            ("text_spaces", "white space", "spaces", lambda t: t.spaces / t.chars),
            ("text_punctuation", "punctuation or symbols", "punctuation", lambda t: t.punctuation / t.chars),
            ("text_non_ascii", "outside ASCII", "non\\ ASCII", lambda t: t.non_ascii / t.chars),
        )
    ),
    _size(
        name="text_bytes",
        unit="bytes",
        summary="Bytes of UTF-8 that were read and encoded.",
        formula=r"\sum_d \mathrm{bytes}(d)",
        caveat=_ALIKE,
        compute=lambda t: t.bytes,
    ),
    _size(
        name="tokens",
        unit="tokens",
        summary="Tokens that the text came to.",
        formula=r"\sum_d \mathrm{tokens}(d)",
        caveat="The N of figures over tokens.",
        compute=lambda t: t.tokens,
    ),
    _size(
        name="clusters",
        unit="clusters",
        summary="Groups of documents that the bootstrap draws, each as one observation.",
        formula=r"|G|",
        caveat="The N of intervals: the documents themselves up to some hundreds of them, 1,024 at most.",
        compute=lambda t: t.clusters,
    ),
)
