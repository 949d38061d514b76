"""`tokbench audit` and `overlap`: what the ids of vocabularies are, and what they share; `show`: facts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from tokbench.cli import options as opt
from tokbench.cli.loading import documents_of
from tokbench.cli.progress import progress
from tokbench.cli.tables import plain_console, show_facts, show_table
from tokbench.cli.writing import print_json
from tokbench.errors import SpecError, TokenizerError
from tokbench.tokenizer import Tokenizer, whole_text
from tokbench.wording import counted, percent

if TYPE_CHECKING:
    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.inspection.usage import Usage
    from tokbench.registry import Registry

_MOST_TOKENS = 12
"""Special tokens that `show` names."""
Limit = Annotated[int, opt.option("Examples of each kind.", "N", "--limit", min=0)]


@opt.loads_tokenizers
def show(registry: Registry, spec: opt.SpecArgument, as_json: opt.JsonOutput = False) -> None:
    """Show the facts of a tokenizer: algorithm, library, files, normaliser, special tokens, lossless or not."""
    from tokbench.inspection.facts import facts

    parsed = registry.tokenizer_spec(spec)
    tokenizer = registry.load(parsed)
    found = facts(tokenizer, registry.tokenizers[parsed.family], parsed, registry.context)
    try:
        json.dumps(found)
    except (TypeError, ValueError) as error:
        raise TokenizerError(f"{spec}: what its facts() gives is not ready for JSON: {error}") from error
    if as_json:
        print_json(found)
        return
    if told := found.get("estimated"):
        found["estimated"] = f"{told['from']}; reported / estimated {told['low']:.3f}–{told['high']:.3f}"
    shown = {
        str(key).replace("_", " "): _fact(value) for key, value in found.items() if value not in (None, [], {})
    }
    show_facts(shown.pop("name"), shown)


@opt.loads_tokenizers
def audit(
    registry: Registry,
    spec: opt.SpecArgument,
    dataset: Annotated[
        opt.Several, opt.dataset_option("Also show which ids this text never uses. Repeatable.")
    ] = None,
    rare: Annotated[
        int, opt.option("With -d: N uses or less are rare.", "N", min=1), opt.OnlyWith("dataset")
    ] = 10,
    limit: Limit = 12,
    as_json: opt.JsonOutput = False,
) -> None:
    """Classify every id of a vocabulary: OK, UNDECODABLE, UNREACHABLE, SPECIAL or UNASSIGNED.

    UNREACHABLE: neither the token's own text gives the id, nor that text next to other text (some 135 are
    tried), nor the text of -d. With -d the ids are listed too that this text never or rarely uses.
    """
    from tokbench.inspection.audit import audit as look_through
    from tokbench.inspection.usage import usage

    tokenizer = registry.load(spec)
    found = look_through(tokenizer, progress)
    texts = (text for _, text in documents_of(registry, dataset or ()))
    used = usage(tokenizer, texts) if dataset else None
    if used is not None:
        if not used.tokens:
            raise SpecError(f"{', '.join(dataset or ())}: no tokens in it, so no use of ids can be counted")
        found = found.with_used(used.counts)
    if as_json:
        print_json(_report(found) | ({} if used is None else {"usage": _usage(used, rare)}))
        return
    plain_console().print(f"{tokenizer.name}: {counted(found.vocab_size, 'id')}", style="bold")
    _show_counts(found)
    _show_examples(found, limit)
    if found.reencoded:
        _show_unreachable(found, limit)
    if used is not None:
        _show_use(found, used, rare, limit)


@opt.loads_tokenizers
def overlap(
    registry: Registry,
    specs: Annotated[list[str], opt.argument("Tokenizers.", "SPEC SPEC…")],
    dataset: Annotated[
        opt.Several, opt.dataset_option("Also weigh tokens by their use in this text. Repeatable.")
    ] = None,
    limit: Limit = 12,
    as_json: opt.JsonOutput = False,
) -> None:
    """Compare vocabularies: Jaccard overlap of every pair, and what each has that another lacks.

    The tokens themselves are shown for two vocabularies; for more, only their numbers. With -d also the overlap
    weighted by use: each token weighs as its share of the tokens of that text.
    """
    from tokbench.inspection.audit import audit as look_through
    from tokbench.inspection.overlap import lacking_matrix, overlap_matrix, surplus

    if len(specs) < 2:
        raise SpecError("overlap compares at least two tokenizers: tokbench overlap SPEC SPEC")
    tokenizers = [registry.load(spec) for spec in specs]
    audits = [look_through(tokenizer, progress) for tokenizer in tokenizers]
    matrix = overlap_matrix(audits)
    weighted = _weighted(registry, tokenizers, audits, dataset) if dataset else None
    if as_json:
        pairs = ((a, b) for a in audits for b in audits if a is not b)
        print_json(
            {
                "tokenizers": [found.tokenizer for found in audits],
                "jaccard": matrix.tolist(),
                **({} if weighted is None else {"weighted_jaccard": weighted}),
                "surplus": [surplus(a, b).as_json(limit) for a, b in pairs],  # one pair's tokens at a time
            }
        )
        return
    console = plain_console()

    def print_rows(title: str, rows: Iterable[Iterable[str]]) -> None:
        numbers = [str(number + 1) for number in range(len(audits))]
        named = zip(numbers, audits, rows, strict=True)
        show_table((title, *numbers), ((f"{number} {found.tokenizer}", *row) for number, found, row in named))

    for title, values in (("Jaccard", matrix.tolist()), ("Jaccard weighted by use", weighted)):
        if values is not None:
            print_rows(title, ([f"{value:.3f}" for value in row] for row in values))
    if len(audits) > 2:
        lacking = enumerate(lacking_matrix(audits))
        print_rows(
            "has, and lacks", (["" if a == b else f"{n:,}" for b, n in enumerate(row)] for a, row in lacking)
        )
        console.print("A row's tokens that the column lacks. Which they are: name two tokenizers, or --json.")
        return
    for one in (surplus(*audits), surplus(*reversed(audits))):
        most = list(one.by_script.items())[:8]
        scripts = ", ".join(f"{script.replace('_', ' ')} {count:,}" for script, count in most)
        lengths = ", ".join(f"{length}: {count:,}" for length, count in list(one.by_length.items())[:10])
        console.print(f"\n{one.a} has {counted(len(one.tokens), 'token')} that {one.b} lacks", style="bold")
        if one.tokens:
            console.print(f"  by script: {scripts}\n  by length in bytes: {lengths}")
            console.print("  longest: " + " ".join(_shown(token) for token in one.tokens[:limit]))


def _fact(value: Any) -> str:
    from tokbench.inspection.pieces import visible

    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        shown = [f"{key} {item}" if item is not None else key for key, item in value.items()][:_MOST_TOKENS]
        more = f" … {len(value)} in all" if len(value) > _MOST_TOKENS else ""
        return visible(", ".join(shown)).replace("·", " ") + more
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "\n".join(f"{item['path']}  {item['bytes']:,} bytes  sha256 {item['sha256']}" for item in value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return visible(str(value)).replace("·", " ")


def _weighted(
    registry: Registry, tokenizers: Sequence[Tokenizer], audits: Sequence[VocabularyAudit], dataset: list[str]
) -> list[list[float]]:
    """The overlap of every pair weighted by use on some text."""
    from tokbench.inspection.overlap import used_tokens, weighted_jaccard
    from tokbench.inspection.usage import usage

    used = []
    for tokenizer, found in zip(tokenizers, audits, strict=True):
        texts = (text for _, text in documents_of(registry, dataset))
        used.append(used_tokens(found, usage(tokenizer, texts).counts))
        if not used[-1]:
            raise SpecError(f"{', '.join(dataset)}: no tokens in it: no overlap can be weighted by it")
    return [[weighted_jaccard(a, b) for b in used] for a in used]


def _report(found: VocabularyAudit) -> dict[str, object]:
    """An audit in JSON's types, with all ids of each kind."""
    from tokbench.inspection.audit import Status

    def entries(ids: Iterable[int]) -> list[dict[str, object]]:
        return [{"id": index, "text": found.text(index), "bytes": found.tokens[index].hex()} for index in ids]

    return {
        "tokenizer": found.tokenizer,
        "vocab_size": found.vocab_size,
        "counts": found.counts,
        "scripts": found.scripts,
        "ok_only_within_words": len(found.in_context),
        "unreachable": [
            entry | {"reencoded": list(ids)}
            for entry, ids in zip(entries(found.reencoded), found.reencoded.values(), strict=True)
        ],
        "undecodable": entries(found.ids(Status.UNDECODABLE)),
        "special": found.ids(Status.SPECIAL),
        "unassigned": found.ids(Status.UNASSIGNED),
        "duplicates": [{"bytes": part.hex(), "ids": list(ids)} for part, ids in found.duplicates.items()],
        "longest": entries(found.longest(20)),
        "whitespace": entries(found.whitespace),
        "digits": entries(found.digits),
    }


def _show_counts(found: VocabularyAudit) -> None:
    """How many ids are of each status, and of each script."""
    rows = [(name, f"{count:,}", percent(found.share(name), 2)) for name, count in found.counts.items()]
    if found.in_context:
        rows.append(("  (OK only next to other text)", f"{len(found.in_context):,}", ""))
    _show_table(("status", "ids", "share"), rows)
    scripts, most = found.scripts.items(), 16
    rows = [(name.replace("_", " "), f"{n:,}", percent(n / found.vocab_size, 2)) for name, n in scripts]
    more = [(f"… {len(rows) - most} more", "", "")] if len(rows) > most else []
    _show_table(("script", "tokens", "share"), [*rows[:most], *more])


def _show_examples(found: VocabularyAudit, limit: int) -> None:
    kinds = {
        "longest first": found.longest(limit),
        "white space": found.whitespace,
        "digits": found.digits,
        "same bytes as another id": [ids[0] for ids in found.duplicates.values()],
    }
    rows = ((kind, f"{len(ids):,}", _tokens(found, ids[:limit])) for kind, ids in kinds.items())
    _show_table(("kind", "ids", "examples"), rows)


def _show_unreachable(found: VocabularyAudit, limit: int) -> None:
    rows = []
    for index, ids in list(found.reencoded.items())[:limit]:
        instead = " ".join(f"{_shown(found.tokens[other])}({other})" for other in ids) or "nothing"
        rows.append((str(index), _shown(found.tokens[index]), instead))
    if len(found.reencoded) > limit:
        rows.append((f"… {len(found.reencoded) - limit:,} more", "(--limit, --json)", ""))
    show_table(("unreachable id", "token", "its text gives instead"), rows)


def _usage(used: Usage, rare: int) -> dict[str, object]:
    """How much of a vocabulary some text uses, in JSON's types."""
    return {
        "documents": used.documents,
        "tokens": used.tokens,
        "never": used.rare(0).tolist(),
        "rare": [int(index) for index in used.rare(rare) if used.counts[index]],
        "rare_up_to": rare,
    }


def _show_use(found: VocabularyAudit, used: Usage, rare: int, limit: int) -> None:
    rows, seldom = [], used.rare(rare)
    kinds = {
        "never used": used.rare(0),
        f"used {counted(rare, 'time')} or less": seldom[used.counts[seldom] > 0],
    }
    for kind, ids in kinds.items():
        longest = sorted(ids.tolist(), key=lambda index: -len(found.tokens[index]))[:limit]
        share = percent(len(ids) / found.vocab_size, 2)
        rows.append((kind, f"{len(ids):,}", share, _tokens(found, longest)))
    _show_table((f"in {counted(used.tokens, 'token')}", "ids", "share", "the longest"), rows)


def _tokens(found: VocabularyAudit, ids: Iterable[int]) -> str:
    return " ".join(_shown(found.tokens[index]) for index in ids)


def _shown(token: bytes) -> str:
    from tokbench.inspection.pieces import visible

    whole = whole_text(token)
    if whole is None:
        return token.hex(" ")
    text = visible(whole)
    return text if len(text) <= 40 else f"{text[:36]}…({counted(len(token), 'byte')})"


_show_table = partial(show_table, right=("ids", "tokens", "share"))
