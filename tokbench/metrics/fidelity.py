"""What survives: round trips, unknown text, white space, and how far a lossy decoding is from the original."""

from __future__ import annotations

from typing import Any

from tokbench.metrics.metric import Metric


def _cer(t: Any) -> Any:
    """Edits per character of the sampled losses, times the share of text in documents that lost something."""
    if not t.lossy_chars:
        return 0.0
    seen = sum(loss.chars for loss in t.losses)
    edits = sum(loss.edits for loss in t.losses)
    return edits / seen * t.lossy_chars / t.chars if seen else None


METRICS = (
    Metric(
        name="round_trip",
        unit="share of documents",
        better="higher",
        summary="Share of documents that decoding gives back exactly.",
        formula=r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) = d\}|}{|D|}",
        caveat="Long documents have more chances to lose something: compare on the same documents.",
        compute=lambda t: t.round_trips / t.documents,
        needs=("documents",),
        group="fidelity",
    ),
    Metric(
        name="unk_rate",
        unit="share of chars",
        better="lower",
        summary="Share of the text's characters that the unknown token stands for.",
        formula=r"\frac{\sum_{t = \mathrm{UNK}} \mathrm{chars}(t)}{\sum_d \mathrm{chars}(d)}",
        caveat=(
            "Characters, not tokens: sentencepiece merges consecutive unknowns, and WordPiece gives up whole "
            "words. Where places are ambiguous it is the share of folded text that the other tokens leave "
            "over."
        ),
        compute=lambda t: t.unk_chars / t.chars,
        needs=("chars", "unk_places"),
        group="fidelity",
    ),
    Metric(
        name="whitespace_fidelity",
        unit="share of documents",
        better="higher",
        summary="Share of documents whose runs of white space all come back unchanged and in order.",
        formula=r"\frac{|\{d : \mathrm{ws}(\mathrm{decode}(\mathrm{encode}(d))) = \mathrm{ws}(d)\}|}{|D|}",
        caveat="Looks at white space only, so a tokenizer that lower-cases can still have 1.",
        compute=lambda t: t.whitespace_kept / t.documents,
        needs=("documents",),
        group="fidelity",
    ),
    Metric(
        name="cer",
        unit="edits/char",
        better="lower",
        summary="Character error rate: Levenshtein distance of decode(encode(x)) to x, per character.",
        formula=(
            r"\frac{\mathrm{edits}(S)}{\mathrm{chars}(S)} "
            r"\cdot \frac{\mathrm{chars}(\text{lossy})}{\mathrm{chars}}"
        ),
        caveat=(
            "The edits are of S, the 32 lossy documents of smallest hash (the first 4,096 characters from "
            "the first difference on); 0 where nothing is lost."
        ),
        no_interval="Edits are known of a sample of the lossy documents only.",
        compute=_cer,
        needs=("chars",),
        group="fidelity",
    ),
)
