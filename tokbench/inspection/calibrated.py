"""`calibrated:FILE`: a closed tokenizer, estimated by the fit that `tokbench calibrate -o FILE` wrote.

It estimates how many tokens a text has, from those of the local tokenizer that was fitted, but not which
tokens. The overhead of a request is left out, because all figures of tokenizers are of content; `tokbench
calibrate --fit` adds it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.capabilities import TokenEstimator
from tokbench.errors import SpecError, TokenizerError
from tokbench.family import LoadContext, TokenizerFamily
from tokbench.inspection.calibration import FORMAT, Calibration
from tokbench.spec import Option, Spec
from tokbench.tokenizer import Tokenizer, encode_batch
from tokbench.wording import percent, reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.registry import Registry


class CalibratedTokenizer:
    """Estimates token counts, for one kind of text; there are no ids, so `vocab_size` is 0."""

    vocab_size = 0

    def __init__(self, name: str, fit: Calibration, kind: str, local: Tokenizer) -> None:
        self.name, self._fit, self._kind, self._local = name, fit, kind, local

    @property
    def estimated(self) -> str:
        """The local tokenizer that it is estimated from, and the error."""
        return f"estimated from {self._fit.spec} ({percent(self._fit.error, 1)} off on held-out requests)"

    @property
    def bounds(self) -> tuple[float, float]:
        """The 95 % interval of reported over estimated tokens: (low, high)."""
        return self._fit.low, self._fit.high

    def count_tokens(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The estimated tokens of each text, rounded up or down at random, so that sums are right.

        The random choice depends only on the text: the same text always gets the same number.
        """
        import numpy as np

        counts = encode_batch(self._local, texts).lengths()
        exact = np.array([self._fit.estimate(int(count), self._kind, requests=0) for count in counts])
        drawn = np.array([zlib.crc32(text.encode("utf-8", "surrogatepass")) / 2**32 for text in texts])
        rounded: NDArray[np.int64] = np.floor(exact + drawn).astype(np.int64)
        return rounded

    def encode(self, text: str) -> Sequence[int]:
        """Raises `TokenizerError`: the tokens of a text are not known, only their number."""
        raise TokenizerError(
            f"{self.name}: which tokens a text has is not known, only how many, and that is estimated; "
            f"tokbench run -t {self.name} compares by these numbers"
        )

    def decode(self, ids: Sequence[int]) -> str:
        """Raises `TokenizerError`: there are no ids."""
        raise TokenizerError(f"{self.name}: it has no ids to decode, only estimated numbers of tokens")

    def facts(self) -> Mapping[str, Any]:
        """A description of the tokenizer, ready for JSON."""
        return {"algorithm": f"{self.estimated}, kind {self._kind}"}


def read_fit(path: Path) -> Calibration:
    """The fit in a file that `tokbench calibrate -o` wrote; raises `SpecError` for any other."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError(f"{path}: cannot be read: {reason(error)}") from error
    return Calibration.of_json(content, where=str(path))


def load(spec: Spec, context: LoadContext) -> CalibratedTokenizer:
    """Load a fit and the local tokenizer that it was made with."""
    fit = read_fit(_path(spec))
    try:
        kind = fit.kind_of(spec.get("kind"))
    except SpecError as error:
        raise SpecError(f"{spec}: {error}") from error
    local = _registry(context).load(local_spec(spec, context))
    if isinstance(local, TokenEstimator):
        raise SpecError(_FITTED_TO_ESTIMATE.format(spec=spec, local=fit.spec))
    return CalibratedTokenizer(str(spec), fit, kind, local)


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The file of the fit and the files of the local tokenizer."""
    local = local_spec(spec, context)
    return [_path(spec), *_registry(context).tokenizers[local.family].files_of(local, context)]


def local_spec(spec: Spec, context: LoadContext) -> Spec:
    """The local tokenizer that the fit was made with; raises `SpecError` if that is itself a fit."""
    local = _registry(context).tokenizer_spec(read_fit(_path(spec)).spec)
    if local.family == spec.family:
        raise SpecError(_FITTED_TO_ESTIMATE.format(spec=spec, local=local))
    return local


_FITTED_TO_ESTIMATE = "{spec}: it was fitted to {local}, an estimate itself; fit a tokenizer that is at hand"


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file is a fit, by its beginning."""
    return head.lstrip()[:1] == b"{" and FORMAT.encode() in head[:200]


def _path(spec: Spec) -> Path:
    if spec.variant is None:
        raise SpecError(f"{spec}: name the fit, as in calibrated:FILE; tokbench calibrate -o FILE keeps one")
    return Path(spec.variant).expanduser()


def _registry(context: LoadContext) -> Registry:
    from tokbench.registry import registry_of  # imported here, because the registry imports this family

    return registry_of(context)


CALIBRATED = TokenizerFamily(
    name="calibrated",
    summary="A closed tokenizer, its numbers of tokens estimated by a fit of tokbench calibrate",
    load=load,
    files=files,
    recognises=recognises,
    endings=(".json",),
    options=(Option("kind", help="Which kind of text that was observed (default: text, or the only one)"),),
    variant="a file that tokbench calibrate -o wrote",
    libraries=("tiktoken", "sentencepiece", "tokenizers", "transformers"),
    builds_on=local_spec,
    examples=("calibrated:fit.json",),
)
