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
        "Share of documents that decoding gives back exactly.",
        r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) = d\}|}{|D|}", lambda t: t.round_trips / t.documents,
        shown=("headline", "terminal"), order=3, heading="round trip", always=True,
        caveat="Long documents have more chances to lose something: compare on the same documents.",
    ),
    _of_text(
        "unk_rate", "share of chars", "lower",
        "Share of the text's characters that the unknown token stands for.",
        r"\frac{\sum_{t = \mathrm{UNK}} \mathrm{chars}(t)}{\sum_d \mathrm{chars}(d)}",
        lambda t: t.unk_chars / t.chars,
        needs=("chars", "unk_places"), shown=("headline",), order=5, always=True,
        caveat=(
            "Characters, not tokens: sentencepiece merges consecutive unknowns, and WordPiece gives up whole "
            "words. Where places are ambiguous it is the share of folded text that the other tokens leave "
            "over; there a mark or a space without a letter (U+00B4, U+2581) is not seen at its ends."
        ),
    ),
    _of_documents(
        "whitespace_fidelity", "share of documents", "higher",
        "Share of documents whose runs of white space all come back unchanged and in order.",
        r"\frac{|\{d : \mathrm{ws}(\mathrm{decode}(\mathrm{encode}(d))) = \mathrm{ws}(d)\}|}{|D|}",
        lambda t: t.whitespace_kept / t.documents,
        caveat="Looks at white space only, so a tokenizer that lower-cases can still have 1.",
    ),
    _lost(
        "lost_form", "share of documents", "lower",
        "Share of documents whose text comes back in another case or normal form or without accents.",
        r"\frac{|\{d \in K : \mathrm{form}(d)\}|}{|D|}", lambda t: t.form_lost / t.documents,
        caveat=(
            "K are the documents that do not come back but keep their text; a form is lost where a document "
            "differs without white space and control or format characters, or in a white space of another form "
            "alone."
        ),
    ),
    _lost(
        "lost_spaces", "share of documents", "lower",
        "Share of documents whose text comes back with other white space, control or format characters.",
        r"\frac{|\{d \in K : \mathrm{spaces}(d)\}|}{|D|}", lambda t: t.spaces_lost / t.documents,
        caveat=(
            "K are the documents that do not come back but keep their text; spaces are lost where a document "
            "differs without case, diacritics and compatibility forms; one may lose both."
        ),
    ),
    _lost(
        "lost_text", "share of documents", "lower",
        "Share of documents that lose text: to unknown tokens, replacement characters, other text.",
        r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) \neq d\}| - |K|}{|D|}",
        lambda t: t.text_lost / t.documents,
        caveat=(
            "K are those that keep their text: the same without case, diacritics of letters (U+0300 to U+036F, "
            "U+1AB0 to U+1AFF, U+1DC0 to U+1DFF; vowel signs and points of other scripts are text), "
            "compatibility forms, white space (U+2581 too), control and format characters (Cc, Cf), and with "
            "as many U+FFFD and no unknown token."
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
        no_interval="Edits are known of a sample of the lossy documents only.",
        caveat=(
            "The edits are of S, the 32 different lossy documents of smallest hash, with all their copies (the "
            "first 4,096 characters from the first difference on; what follows is not in chars(S)); an unknown "
            "token is one character, however it is spelled, unless the text spells it too; 0 where nothing is "
            "lost."
        ),
    ),
)  # fmt: skip
