"""Makes the golden pack of a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from tokbench.capabilities import OffsetEncoder
from tokbench.family import Progress
from tokbench.golden import pack
from tokbench.golden.cases import Case, detailed, rows
from tokbench.golden.checking import by_tokenizer
from tokbench.golden.pack import Golden, VocabularyRow, checksum
from tokbench.inspection.audit import audit
from tokbench.tokenizer import Tokenizer, encode_batch


def golden(tokenizer: Tokenizer, cases: Sequence[Case]) -> list[Golden]:
    """What a tokenizer makes of some texts, with everything that it can tell."""
    found = []
    answers = by_tokenizer(tokenizer)([case.text for case in cases])
    for case, answer in zip(cases, answers, strict=True):
        spans = None
        if isinstance(tokenizer, OffsetEncoder):
            spans = tuple((int(start), int(end)) for start, end in tokenizer.offsets(case.text))
        found.append(Golden(*case, tuple(answer.ids), tuple(answer.bytes or ()), spans, answer.stages))
    return found


def make(
    tokenizer: Tokenizer, *, added: Sequence[str] = (), tell: Progress = lambda done, word: None
) -> tuple[pack.Pack, bytes, bytes]:
    """The pack of `tokenizer`, and the two files that hold it. `added` are strings that it matches whole."""
    tell(0.0, "encoding the cases")
    cases = golden(tokenizer, detailed(added))
    found = audit(tokenizer)
    seen = {index for case in cases for index in case.ids}
    texts = list(rows(tokenizer, found, seen, tell))
    ids = encode_batch(tokenizer, texts).to_lists()
    walk = [VocabularyRow(text, len(row), checksum(row)) for text, row in zip(texts, ids, strict=True)]
    details, packed, kept = pack.fitting(cases, walk)
    covered = {index for case in cases for index in case.ids} | {index for row in ids[:kept] for index in row}
    first = cases[0]
    manifest = {
        "tokenizer": {"spec": tokenizer.name, "vocab_size": tokenizer.vocab_size},
        "stages": list(first.stages) if first.stages is not None else [],
        "cases": len(cases),
        "rows": kept,
        "rows_left_out_for_room": len(walk) - kept,
        "tokens_covered": len(covered),
        "tokens_reachable_known": len(seen),
    }
    tell(1.0, "done")
    return pack.Pack(manifest, cases, walk[:kept]), details, packed
