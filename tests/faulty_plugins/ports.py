"""Four that claim the vocabulary of the bytes: true, two ids swapped, numbered otherwise, failing on a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tokbench


class Port:
    """Bytes, with `table[byte]` as the id of each."""

    def __init__(self, name: str, table: Sequence[int], fault: str = "") -> None:
        self.name, self.table, self.fault = name, table, fault
        self.back = {index: byte for byte, index in enumerate(table)}
        self.vocab_size = max(table) + 1

    def encode(self, text: str) -> Sequence[int]:
        if self.fault and self.fault in text:
            raise ValueError("no such merge")
        return [self.table[byte] for byte in text.encode()]

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([self.back[token_id]]) if token_id in self.back else b""


def _swapped() -> list[int]:
    table = list(range(256))
    table[ord("w")], table[ord("z")] = ord("z"), ord("w")
    return table


PORTS = {
    "true": Port("true", range(256)),
    "swapped": Port("swapped", _swapped()),
    "renumbered": Port("renumbered", range(3, 259)),
    "faulty": Port("faulty", range(256), "trigger"),
}


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    def load(spec: tokbench.Spec, context: tokbench.LoadContext) -> Port:
        return PORTS[spec.variant or "true"]

    return [tokbench.TokenizerFamily(name="port", summary="at fault", load=load)]
