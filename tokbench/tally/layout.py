"""Tallies as bytes: a header in JSON that names the arrays, then the arrays, compressed together."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError
from tokbench.tally.groups import NAMES, GroupSums
from tokbench.tally.histogram import Histogram, NGrams
from tokbench.tally.loss import Loss
from tokbench.tally.own import OwnSums
from tokbench.tally.tally import TALLY_VERSION, Tally
from tokbench.tally.wordsample import WordSample

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAGIC = b"tokbench tally\n"
_HISTOGRAMS = ("ids", "word_tokens", "document_tokens", "token_bytes")


def write(tally: Tally, *, packed: bool = True) -> bytes:
    """The bytes of a tally; `read` takes either kind."""
    arrays: dict[str, NDArray[Any]] = {
        "groups.rows": tally.groups.rows,
        "groups.columns": tally.groups.columns,
        "groups.values": tally.groups.values,
        "lengths": tally.lengths,
        "ngrams.sampled": tally.ngrams.sampled,
        "word_sample.hashes": tally.word_sample.hashes,
        "word_sample.tokens": tally.word_sample.tokens,
    }
    tables = {name: getattr(tally, name) for name in _HISTOGRAMS}
    tables |= {f"bigrams.{level}": table for level, table in sorted(tally.ngrams.bigrams.items())}
    tables |= {f"trigrams.{level}": table for level, table in sorted(tally.ngrams.trigrams.items())}
    for name, table in tables.items():
        arrays |= {f"{name}.keys": _deltas(table.keys), f"{name}.counts": table.counts}
    arrays |= {f"own.{name}": own for name, own in tally.own.sums.items()}
    stored = {name: _smallest(array) for name, array in arrays.items()}
    header = {
        "version": TALLY_VERSION,
        "counters": [NAMES[column] for column in tally.groups.columns.tolist()],
        "losses": [
            [loss.key, loss.chars, loss.edits, loss.kinds, loss.text, loss.decoded] for loss in tally.losses
        ],
        "arrays": [[name, array.dtype.str, array.shape] for name, array in stored.items()],
    }
    if tally.own.faults:
        header["faults"] = tally.own.faults
    head = json.dumps(header, separators=(",", ":")).encode()
    body = b"".join([len(head).to_bytes(8, "little"), head, *map(_planes, stored.values())])
    # runs are all there is to find in these planes, and looking for nothing else is several times as fast
    packer = zlib.compressobj(1, strategy=zlib.Z_RLE) if packed else zlib.compressobj(0)
    return _MAGIC + packer.compress(body) + packer.flush()


def read(data: bytes) -> Tally:
    """The tally that `write` wrote; raises `ResultsError` for anything else."""
    import numpy as np

    if not data.startswith(_MAGIC):
        raise ResultsError("not a tally: it does not begin with the mark of one; delete the file to recount")
    try:
        body = zlib.decompress(data[len(_MAGIC) :])
        size = int.from_bytes(body[:8], "little")
        header = json.loads(body[8 : 8 + size])
        if header["version"] != TALLY_VERSION:
            raise ResultsError(
                f"a tally of version {header['version']}, where this tokbench reads {TALLY_VERSION}; recount it"
            )
        position = 8 + size
        arrays: dict[str, NDArray[Any]] = {}
        for name, kind, shape in header["arrays"]:
            count = int(np.prod(shape, dtype=np.int64))
            width = np.dtype(kind).itemsize
            planes = np.frombuffer(body, np.uint8, count * width, position).reshape(width, count)
            arrays[name] = np.ascontiguousarray(planes.T).view(np.dtype(kind)).reshape(shape)
            position += planes.nbytes
        return _built(header, arrays)
    except (zlib.error, ValueError, KeyError, TypeError, IndexError) as error:
        raise ResultsError(f"a damaged tally ({error}); delete it and run again to recount") from error


def _built(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Tally:
    import numpy as np

    def table(name: str) -> Histogram:
        keys = np.cumsum(arrays[f"{name}.keys"], dtype=np.int64)
        return Histogram(keys, arrays[f"{name}.counts"].astype(np.int64))

    def levels(order: str) -> dict[int, Histogram]:
        names = [name for name in arrays if name.startswith(f"{order}.") and name.endswith(".keys")]
        return {int(name.split(".")[1]): table(name.removesuffix(".keys")) for name in names}

    return Tally(
        groups=GroupSums(
            arrays["groups.rows"].astype(np.int16),
            arrays["groups.columns"].astype(np.int16),
            arrays["groups.values"],
        ),
        **{name: table(name) for name in _HISTOGRAMS},
        lengths=arrays["lengths"].astype(np.int64),
        ngrams=NGrams(arrays["ngrams.sampled"].astype(np.int64), levels("bigrams"), levels("trigrams")),
        word_sample=WordSample(arrays["word_sample.hashes"], arrays["word_sample.tokens"].astype(np.int32)),
        losses=tuple(
            Loss(key, chars, edits, tuple(kinds), text, decoded)
            for key, chars, edits, kinds, text, decoded in header["losses"]
        ),
        own=OwnSums(
            {name[4:]: own.astype(np.int64) for name, own in arrays.items() if name.startswith("own.")},
            header.get("faults", {}),
        ),
    )


def _deltas(keys: NDArray[Any]) -> NDArray[Any]:
    """Ascending keys as differences, which are small."""
    import numpy as np

    return np.diff(keys, prepend=np.int64(0))


def _planes(array: NDArray[Any]) -> bytes:
    """All lowest bytes, then all next ones …: the high ones are mostly zero and compress to nothing."""
    import numpy as np

    width = array.dtype.itemsize
    return np.ascontiguousarray(array.reshape(-1, 1).view(np.uint8).reshape(-1, width).T).tobytes()


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    """The array in the smallest little-endian whole-number type that holds it."""
    import numpy as np

    if array.dtype == np.uint64:
        return np.ascontiguousarray(array, "<u8")
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    kind = np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high))
    if kind.kind == "f":
        kind = np.dtype(np.int64)
    return np.ascontiguousarray(array.astype(kind.newbyteorder("<")))
