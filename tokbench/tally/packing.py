"""Named arrays of whole numbers as bytes, small and without pickle: how a tally is kept, and sent.

A header in JSON has the version, and names the arrays with their types and shapes; it and the arrays behind it
are compressed together.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAGIC = b"tokbench tally\n"
DAMAGED = (zlib.error, ValueError, KeyError, TypeError, IndexError)
"""What `unpack`, and reading what it gives, may raise where bytes are not what `pack` wrote."""


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Each array in the smallest type that holds it, behind the header and the names.

    `header` has the ``version``. Equal contents give equal bytes.
    """
    stored = {name: _smallest(array) for name, array in arrays.items()}
    layout = [[name, array.dtype.str, array.shape] for name, array in stored.items()]
    head = json.dumps({**header, "arrays": layout}, separators=(",", ":")).encode()
    body = b"".join([len(head).to_bytes(8, "little"), head, *map(_planes, stored.values())])
    # runs are all there is to find in these planes, and looking for nothing else is several times as fast
    packer = zlib.compressobj(1, strategy=zlib.Z_RLE)
    return _MAGIC + packer.compress(body) + packer.flush()


def unpack(data: bytes, version: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays; raises `ResultsError` for another version, or what was never packed."""
    import numpy as np

    if not data.startswith(_MAGIC):
        raise ResultsError("not the file of a tally: its first bytes are wrong; delete the file to count again")
    body = zlib.decompress(data[len(_MAGIC) :])
    position = 8 + int.from_bytes(body[:8], "little")
    header = json.loads(body[8:position])
    if header["version"] != version:
        raise ResultsError(
            f"a tally of version {header['version']}, where this tokbench reads {version}; recount it"
        )
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape in header["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        width = np.dtype(kind).itemsize
        planes = np.frombuffer(body, np.uint8, count * width, position).reshape(width, count)
        arrays[name] = np.ascontiguousarray(planes.T).view(np.dtype(kind)).reshape(shape)
        position += planes.nbytes
    return header, arrays


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
