"""What survives: round trips, unknown text, white space, and how far a lossy decoding is from the original."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import Metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def _cer(t: Counts) -> float | NDArray[np.float64] | None:
    """Edits per character of the sampled losses, times the share of text in documents that lost something."""
    if not t.lossy_chars:
        return 0.0
    seen = sum(loss.chars for loss in t.losses)
    edits = sum(loss.edits for loss in t.losses)
    return edits / seen * t.lossy_chars / t.chars if seen else None


FORM = frozenset({"case", "accents", "normal form"})
SPACES = frozenset({"white space", "control characters"})
TEXT = frozenset({"unknown token", "replacement character", "other"})
"""Kinds of loss, as `tokbench.tally.loss` names them: of how text is written, of spaces, of the text itself."""


def _lost(kinds: frozenset[str]) -> Callable[[Counts], float | None]:
    """The share of documents that lost something of `kinds`, estimated from the sample of lossy ones."""

    def compute(t: Counts) -> float | None:
        lossy = float(1 - t.round_trips / t.documents)
        if not lossy:
            return 0.0
        seen = len(t.losses)
        return lossy * sum(not kinds.isdisjoint(loss.kinds) for loss in t.losses) / seen if seen else None

    return compute


_of_documents = partial(Metric, needs=("documents",), group="fidelity")

METRICS = (
    _of_documents(
        name="round_trip",
        unit="share of documents",
        better="higher",
        summary="Share of documents that decoding gives back exactly.",
        formula=r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) = d\}|}{|D|}",
        caveat="Long documents have more chances to lose something: compare on the same documents.",
        compute=lambda t: t.round_trips / t.documents,
        shown=("headline", "terminal"),
        order=3,
        heading="round trip",
        always=True,
    ),
    _of_documents(
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
        shown=("headline",),
        order=5,
        always=True,
    ),
    _of_documents(
        name="whitespace_fidelity",
        unit="share of documents",
        better="higher",
        summary="Share of documents whose runs of white space all come back unchanged and in order.",
        formula=r"\frac{|\{d : \mathrm{ws}(\mathrm{decode}(\mathrm{encode}(d))) = \mathrm{ws}(d)\}|}{|D|}",
        caveat="Looks at white space only, so a tokenizer that lower-cases can still have 1.",
        compute=lambda t: t.whitespace_kept / t.documents,
    ),
    *(
        _of_documents(
            name=name,
            unit="share of documents",
            better="lower",
            summary=f"Share of documents that lose {what}.",
            formula=r"\frac{|\{d : \mathrm{decode}(\mathrm{encode}(d)) \neq d\}|}{|D|} \cdot \frac{|S_k|}{|S|}",
            caveat=(
                "S are the 32 lossy documents of smallest hash, copies once, S_k those of them with this "
                "kind of loss; a document may lose several."
            ),
            no_interval="The kind of loss is known of a sample of the lossy documents only.",
            compute=_lost(kinds),
            always=True,
        )
        for name, what, kinds in (
            ("lost_form", "case, accents or a normal form", FORM),
            ("lost_spaces", "white space or control characters", SPACES),
            ("lost_text", "text: to unknown tokens, to replacement characters, or to other text", TEXT),
        )
    ),
    _of_documents(
        name="cer",
        unit="edits/char",
        better="lower",
        summary="Character error rate: Levenshtein distance of decode(encode(x)) to x, per character.",
        formula=(
            r"\frac{\mathrm{edits}(S)}{\mathrm{chars}(S)} "
            r"\cdot \frac{\mathrm{chars}(\text{lossy})}{\mathrm{chars}}"
        ),
        caveat=(
            "The edits are of S, the 32 lossy documents of smallest hash, copies once (the first 4,096 "
            "characters from the first difference on); an unknown token is one character, however it is "
            "spelled, unless the text spells it too; 0 where nothing is lost."
        ),
        no_interval="Edits are known of a sample of the lossy documents only.",
        compute=_cer,
        needs=("chars",),
    ),
)
