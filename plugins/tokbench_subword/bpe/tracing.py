"""The steps of BPE, merge by merge, for `tokbench trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tokbench.capabilities import Step
from tokbench_subword.bpe.plain import Symbol, first_symbols, merges
from tokbench_subword.bpe.token_table import TokenLookup


def steps(tokens: TokenLookup, text: str, *, drop: Callable[[], bool] | None = None) -> Iterator[Step]:
    """The steps of encoding `text`: the cutting ("split"), each merge ("merge"), the result ("done") …

    `drop` leaves merges out, as in `plain.merges`; then a pre-token that is a token is merged like any other.

    The tokens of each step cover the whole text: finished tokens, then the symbols being merged, then the
    remaining pre-tokens.
    """
    model = tokens.model
    parts = list(tokens._preparation.words(text))
    raw = [part.token.content if part.token else part.stretch.text for part in parts]
    waiting = [piece.encode() for piece in raw]
    yield Step("split", tuple(waiting), None, _counted(parts, "pre-token"), {"pattern": str(model.pattern)})
    done: list[bytes] = []
    ids: list[int] = []
    for index, part in enumerate(parts):
        piece, data, rest = raw[index], waiting[index], waiting[index + 1 :]
        if part.token is not None:
            done.append(data)
            ids.append(part.token.id)
            note = f"added token {piece!r}"
            yield Step("added", (*done, *rest), len(done) - 1, note, {"id": part.token.id})
            continue
        whole = model.ids.get(data) if model.whole_tokens and drop is None else None
        if whole is not None:
            symbols = [Symbol(whole, 0, len(data))]
            note = f"{piece!r} is a token"
            yield Step("whole", (*done, data, *rest), len(done), note, {"id": whole})
        else:
            symbols = first_symbols(model, piece)
            pieces = _pieces(data, symbols)
            yield Step("symbols", (*done, *pieces, *rest), None, f"{piece!r}: {_counted(pieces, 'symbol')}")
            before = list(symbols)
            for merge in merges(model, symbols, drop=drop):
                left, right = before[merge.at].id, before[merge.at + 1].id
                pieces = _pieces(data, symbols)
                names = [_named(tokens, token) for token in (left, right, symbols[merge.at].id)]
                note = f"merge {names[0]} + {names[1]} → {names[2]} (rank {merge.rank})"
                detail = {"rank": merge.rank, "pair": [left, right], "result": symbols[merge.at].id}
                yield Step("merge", (*done, *pieces, *rest), len(done) + merge.at, note, detail)
                before = list(symbols)
        done += _pieces(data, symbols)
        ids += [symbol.id for symbol in symbols]
    unknown = ids.count(model.unk) if model.unk is not None else 0
    note = _counted(ids, "token") + (f", of them unknown: {unknown}" if unknown else "")
    yield Step("done", tuple(done), None, note, {"ids": ids})


def _named(tokens: TokenLookup, token: int) -> str:
    """A token for notes: its text in quotes, or its bytes; at character level, its spelling in files."""
    if tokens.model.level == "char":
        text = tokens.convert_id_to_token(token)
        return text if text.isprintable() else repr(text)
    data = tokens.model.vocabulary[token]
    try:
        return repr(data.decode())
    except UnicodeDecodeError:
        return f"⟨{data.hex(' ').upper()}⟩"  # as the terminal shows the bytes of steps


def _counted(things: Sequence[object], name: str) -> str:
    """The number of things with their name: ``1 token``, ``2 tokens``."""
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


def _pieces(data: bytes, symbols: list[Symbol]) -> list[bytes]:
    """The bytes of the pre-token that each symbol covers."""
    return [data[symbol.start : symbol.end] for symbol in symbols]
