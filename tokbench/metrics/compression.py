"""How much text a token holds, and what the text is made of."""

from __future__ import annotations

from functools import partial

from tokbench.metrics.metric import catalogued

_DAGAN = (
    "Dagan, Synnaeve and Rozière, Getting the most out of your tokenizer for pre-training and domain "
    "adaptation, ICML 2024"
)
_LENGTHS = "Lengths of tokens are counted over the whole text, not by document."


_of_tokens = partial(catalogued, needs=("tokens",), group="compression")
_length = partial(_of_tokens, no_interval=_LENGTHS, needs=("tokens", "token_bytes"))
_of_text = partial(catalogued, group="text")
_size = partial(
    _of_text,
    no_interval="The size of what was measured; nothing is estimated.",
    needs=("documents",),
    always=True,
)
_ALIKE = "A property of the text: the same for every tokenizer."

METRICS = (
    _of_tokens(
        "compression_ratio", "bytes/token", "higher",
        "Average number of UTF-8 bytes per token.",
        r"\frac{\sum_d \mathrm{bytes}(d)}{\sum_d \mathrm{tokens}(d)}", lambda t: t.bytes / t.tokens,
        shown=("headline", "terminal", "languages", "differences"), order=20, heading="bytes/token",
        caveat=(
            "Scripts differ in bytes per character (Latin 1, Cyrillic 2, Devanagari 3), so compare "
            "tokenizers on one language, not languages under one tokenizer. A tokenizer that drops text "
            "looks better than it is: read it together with round_trip."
        ),
    ),
    _of_tokens(
        "compression_ratio_macro", "bytes/token", "higher",
        "Average number of UTF-8 bytes per token, as the mean over the languages with equal weights.",
        r"\frac{1}{|L|} \sum_{\ell \in L} \frac{\mathrm{bytes}(\ell)}{\mathrm{tokens}(\ell)}",
        lambda g: (g.bytes / g.tokens).mean(axis=0),
        level="languages", needs=("several",), shown=("headline", "terminal", "differences"), order=10,
        heading="mean bytes/token of languages",
        caveat=(
            "compression_ratio pools the text instead, so that a language weighs by its bytes, and scripts of "
            "three bytes per character weigh three times as much as Latin. The two can rank tokenizers "
            "differently."
        ),
    ),
    _of_tokens(
        "chars_per_token", "chars/token", "higher",
        "Average number of Unicode code points per token.",
        r"\frac{\sum_d \mathrm{chars}(d)}{\sum_d \mathrm{tokens}(d)}", lambda t: t.chars / t.tokens,
        shown=("languages",), order=50,
        caveat="Not comparable across scripts: a Chinese character says more than a Latin letter.",
    ),
    _of_tokens(
        "tokens_per_document", "tokens/document", "lower",
        "Average number of tokens per document.",
        r"\frac{\sum_d \mathrm{tokens}(d)}{|D|}", lambda t: t.tokens / t.documents,
        needs=("documents",),
        caveat="Compare tokenizers on the same documents, and languages only on parallel text.",
    ),
    _of_tokens(
        "tokens_per_line", "tokens/line", "lower",
        "Average number of tokens per line; on parallel text, the figure to compare languages by.",
        r"\frac{\sum_d \mathrm{tokens}(d)}{\sum_d \mathrm{lines}(d)}", lambda t: t.tokens / t.lines,
        needs=("lines",), shown=("headline", "languages", "differences"), order=30,
        caveat="Lines are cut at line feeds; an empty document has none.",
    ),
    _length(
        "token_length", "bytes", "none",
        "Average length in bytes of the tokens of the text, as the vocabulary spells them.",
        r"\frac{\sum_i n_i\,\mathrm{len}(i)}{\sum_i n_i}", lambda t: t.token_bytes.mean(),
        caveat=(
            "Differs from compression_ratio if the tokenizer rewrites its input: the length is that of the "
            "tokens, not of the text that they replace. An unknown token has no bytes and counts as length 0."
        ),
    ),
    *(
        _length(
            f"token_length_p{percent}", "bytes", "none",
            f"The length that {percent} % of the tokens of the text do not exceed.",
            rf"Q_{{0.{percent}}}(\mathrm{{len}})", lambda t, share=percent / 100: t.token_bytes.quantile(share),
        )
        for percent in (50, 95, 99)
    ),
    _of_tokens(
        "nsl", "ratio", "lower",
        "Normalised sequence length: tokens divided by the baseline tokenizer's on the same text.",
        r"\frac{\sum_d \mathrm{tokens}(d)}{\sum_d \mathrm{tokens}_{\mathrm{baseline}}(d)}",
        lambda t, base: t.tokens / base.tokens,
        level="tokenizers", needs=("baseline", "tokens"), source=_DAGAN,
        caveat="A ratio of sums, not the mean of each document's ratio, so long documents weigh more.",
    ),
    *(
        _of_text(
            name, "share of chars", "none",
            f"Share of the text's code points that are {what}.",
            rf"\frac{{\mathrm{{{symbol}}}}}{{\mathrm{{chars}}}}", compute,
            needs=("chars",),
            caveat=_ALIKE,
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
        "text_bytes", "bytes", "none",
        "UTF-8 bytes that were read and encoded.",
        r"\sum_d \mathrm{bytes}(d)", lambda t: t.bytes,
        caveat=_ALIKE,
    ),
    _size(
        "tokens", "tokens", "none",
        "Tokens that the text was encoded to.",
        r"\sum_d \mathrm{tokens}(d)", lambda t: t.tokens,
        caveat="The N of all figures that are averages over tokens.",
    ),
    _size(
        "clusters", "clusters", "none",
        "Groups of documents that the bootstrap draws, each as one observation.",
        r"|G|", lambda t: t.clusters,
        caveat="The N of intervals. Up to some hundreds, the documents themselves; never more than 1,024.",
    ),
)  # fmt: skip
