"""Entropies in bits of what was counted: as counted, and with two corrections for what was not seen.

Counting sees too few of the rare kinds, so the entropy of a sample is below that of what it was drawn from, by
more the fewer tokens there are for each kind. The corrections are for independent draws; the tokens of a text
are not, so they too grow with the text, but far less.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints

_DENSE = 8
"""If the largest count is at most so many times the number of kinds, a table is quicker than a sort."""


class Spectrum(NamedTuple):
    """The distinct counts above zero, ascending, and how many kinds have each, int64.

    Entropies depend on these alone, and there are a hundred times fewer of them than kinds.
    """

    sizes: Ints
    kinds: Ints

    @classmethod
    def of(cls, counts: Ints | Spectrum) -> Spectrum:
        """The spectrum of some counts.

        Example:
            >>> import numpy as np
            >>> [each.tolist() for each in Spectrum.of(np.array([3, 1, 0, 1]))]
            [[1, 3], [2, 1]]
        """
        import numpy as np

        if isinstance(counts, Spectrum):
            return counts
        if counts.max(initial=0) > _DENSE * (len(counts) + 64):
            sizes, kinds = np.unique(counts[counts > 0], return_counts=True)
            return cls(sizes, kinds)
        kinds = np.bincount(counts, minlength=1)
        kinds[0] = 0
        sizes = np.flatnonzero(kinds)
        return cls(sizes, kinds[sizes])


def renyi_entropy(counts: Ints | Spectrum, alpha: float) -> float:
    """Rényi entropy in bits of the distribution with these counts; Shannon's at α = 1.

    Example:
        >>> import numpy as np
        >>> renyi_entropy(np.array([1, 1, 1, 1]), 2.5), renyi_entropy(np.array([1, 1]), 1)
        (2.0, 1.0)
    """
    import numpy as np

    sizes, kinds = Spectrum.of(counts)
    shares = sizes / (sizes @ kinds)
    if alpha == 1:
        return float(-(kinds @ (shares * np.log2(shares)))) + 0.0
    if math.isinf(alpha):
        return float(-np.log2(shares.max())) + 0.0
    largest = shares.max()  # shares relative to it, since all powers of shares underflow at a high order
    relative = np.log2(kinds @ (shares / largest) ** alpha) / (1 - alpha)
    return float(alpha / (1 - alpha) * np.log2(largest) + relative) + 0.0


def miller_madow(counts: Ints | Spectrum) -> float:
    """Shannon entropy in bits with the first-order correction of its bias: (kinds − 1) / 2N nats.

    For samples in which most kinds were seen often. Source: Miller, Note on the bias of information estimates,
    1955.

    Example:
        >>> import numpy as np
        >>> round(miller_madow(np.array([2, 2])) - 1, 4)  # 1/8 nats above the one bit that was counted
        0.1803
    """
    sizes, kinds = spectrum = Spectrum.of(counts)
    return renyi_entropy(spectrum, 1) + (int(kinds.sum()) - 1) / (2 * int(sizes @ kinds) * math.log(2))


def chao_shen(counts: Ints | Spectrum) -> float:
    """Shannon entropy in bits, corrected for kinds not seen: for samples full of kinds that occur once.

    The share of the seen kinds, 1 − (kinds seen once) / N, shrinks their probabilities, and each weighs by the
    chance that a kind of its probability is seen at all. Where every kind occurs once that share is taken as
    1 / N. Source: Chao and Shen, Nonparametric estimation of Shannon's index of diversity when there are unseen
    species in sample, Environmental and Ecological Statistics 10, 2003.

    Example:
        >>> import numpy as np
        >>> round(chao_shen(np.array([50, 50])), 6), chao_shen(np.array([2, 1, 1])) > 1.5
        (1.0, True)
    """
    import numpy as np

    sizes, kinds = Spectrum.of(counts)
    n = int(sizes @ kinds)
    once = min(int(kinds[sizes == 1].sum()), n - 1)
    shares = (1 - once / n) * sizes / n
    if not shares[0] < 1:  # one kind only
        return 0.0
    return float(kinds @ (-shares * np.log2(shares) / -np.expm1(n * np.log1p(-shares))))
