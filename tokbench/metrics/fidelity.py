"""What survives: round trips, unknown text, white space, and how far a lossy decoding is from the original."""

from __future__ import annotations

from functools import partial
from typing import Any

from tokbench.metrics.metric import catalogued


def _cer(t: Any) -> float | None:
    """Edits per character of the sampled losses, times the share of text in documents that lost something."""
    if not t.lossy_chars:
        return 0.0
    seen = sum(loss.copies * loss.chars for loss in t.losses)
    edits = sum(loss.copies * loss.edits for loss in t.losses)
    return edits / seen * t.lossy_chars / t.chars if seen else None


_of_text = partial(catalogued, group="fidelity")
_of_documents = partial(_of_text, needs=("documents",))
_lost = partial(_of_documents, always=True)

METRICS = (
    _of_documents(
        "round_trip", "share of documents", "higher",
        "Share of documents that decoding restores exactly.",
        r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) = d\}|}{|D|}", lambda t: t.round_trips / t.documents,
        shown=("headline", "terminal"), order=3, heading="round trip", always=True,
        caveat="Long documents have more chances to lose something: compare on the same documents.",
    ),
    _of_text(
        "unk_rate", "share of chars", "lower",
        "Share of the text's characters that became the unknown token.",
        r"\frac{\sum_{t = \mathrm{UNK}} \mathrm{chars}(t)}{\sum_d \mathrm{chars}(d)}",
        lambda t: t.unk_chars / t.chars,
        needs=("chars", "unk_places"), shown=("headline",), order=5, always=True,
        caveat=(
            "Counted in characters, because sentencepiece merges consecutive unknown characters, and WordPiece "
            "gives up whole words. If places are ambiguous, it is the share of the folded text that the other "
            "tokens leave over; a mark or space without a letter (U+00B4, U+2581) at its ends is then missed."
        ),
    ),
    _of_documents(
        "whitespace_fidelity", "share of documents", "higher",
        "Share of documents of which decoding restores every run of white space, in order.",
        r"\frac{|\{d : \mathrm{ws}(\mathrm{decode}(\mathrm{encode}(d))) = \mathrm{ws}(d)\}|}{|D|}",
        lambda t: t.whitespace_kept / t.documents,
        caveat="Only white space is compared, so a tokenizer that lowers the case can still have 1.",
    ),
    _lost(
        "lost_form", "share of documents", "lower",
        "Share of documents that decoding gives in another case or normal form, or without accents.",
        r"\frac{|\{d \in K : \mathrm{form}(d)\}|}{|D|}", lambda t: t.form_lost / t.documents,
        caveat=(
            "K are the documents that change but keep their text. A document loses its form if it still "
            "differs after white space, control and format characters are removed, or if it differs only in "
            "the form of its white space."
        ),
    ),
    _lost(
        "lost_spaces", "share of documents", "lower",
        "Share of documents that decoding gives with other white space, control or format characters.",
        r"\frac{|\{d \in K : \mathrm{spaces}(d)\}|}{|D|}", lambda t: t.spaces_lost / t.documents,
        caveat=(
            "K are the documents that change but keep their text. A document loses spaces if it still differs "
            "after case, diacritics and compatibility forms are removed; it may lose both."
        ),
    ),
    _lost(
        "lost_text", "share of documents", "lower",
        "Share of documents that lose text: it becomes unknown, replacement characters or other text.",
        r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) \neq d\}| - |K|}{|D|}",
        lambda t: t.text_lost / t.documents,
        caveat=(
            "K are those that keep their text. They are equal after removing case, diacritics of letters "
            "(U+0300 to U+036F, U+1AB0 to U+1AFF, U+1DC0 to U+1DFF; vowel signs and points of other scripts "
            "are text), compatibility forms, white space (U+2581 too), control and format characters (Cc, Cf), "
            "and have as many U+FFFD and no unknown token."
        ),
    ),
    _of_text(
        "cer", "edits/char", "lower",
        "Character error rate: Levenshtein distance of decode(encode(x)) to x, per character.",
        (
            r"\frac{\mathrm{edits}(S)}{\mathrm{chars}(S)} "
            r"\cdot \frac{\mathrm{chars}(\text{lossy})}{\mathrm{chars}}"
        ),
        _cer,
        needs=("chars",),
        no_interval="Edits are known only for a sample of the lossy documents.",
        caveat=(
            "S are the 32 different lossy documents with the smallest hash, and all their copies. Of each, "
            "only the first 4,096 characters after the first difference are compared and are in chars(S). An "
            "unknown token is one character, however it is spelled, unless the text spells it, too. 0 if "
            "nothing is lost."
        ),
    ),
)  # fmt: skip
