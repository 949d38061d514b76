"""Checks of the ids and texts that callers pass to a tokenizer.

For all tokenizers, ours and plugins': an invalid id is always an error, never another token.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence, Set
from operator import index
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokenizerError, described

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def flat_ids(ids: Any, *, name: str) -> NDArray[np.int64]:
    """Ids as int64 of shape ``(n,)``, from any flat sequence of whole numbers of any type.

    Raises `TokenizerError`, with the tokenizer's `name`, for anything else: floats, bytes, texts, nested lists.

    Example:
        >>> flat_ids([3, 1], name="demo").tolist()
        [3, 1]
    """
    import numpy as np

    if isinstance(ids, np.ndarray):
        if ids.ndim == 1 and (ids.dtype.kind in "iu" or not len(ids)):
            return ids.astype(np.int64, copy=False)
    elif not isinstance(ids, str | bytes | bytearray | memoryview | Mapping | Set):
        some: list[Any] = []
        try:  # by `array`, which is many times as fast as numpy here
            some = ids if type(ids) is list else list(ids)
            numbers = array("q", some)
            found = np.frombuffer(numbers, np.int64) if numbers else np.zeros(0, np.int64)
            if (len(some) > 100 and found.min() > 1) or not holds_truth(some):
                return found
        except TypeError:
            pass
        except OverflowError:
            wrong = next(one for one in some if not -(2**63) <= one < 2**63)
            raise TokenizerError(f"{name}: there is no token {wrong}; it is beyond 64 bits") from None
    raise TokenizerError(f"{name}: ids must be a flat sequence of whole numbers, not {kind_of(ids)}")


_TRUTHS = frozenset((False, True))


def holds_truth(numbers: Sequence[Any]) -> bool:
    """Whether some ids are True or False, which Python counts as 1 and 0 but nobody means as ids.

    Example:
        >>> holds_truth([0, 1, 2]), holds_truth([2, True])
        (False, True)
    """
    return not _TRUTHS.isdisjoint(numbers) and bool in {*map(type, numbers)}


def known_ids(ids: Any, size: int, *, name: str) -> list[int]:
    """`flat_ids` as a list; raises `TokenizerError` for an id outside 0 to `size` - 1.

    Example:
        >>> known_ids([3, 1], 4, name="demo")
        [3, 1]
    """
    numbers: list[int] = flat_ids(ids, name=name).tolist()
    if numbers and not 0 <= min(numbers) <= max(numbers) < size:
        raise _unknown(next(one for one in numbers if not 0 <= one < size), size, name)
    return numbers


def check_ids(ids: NDArray[np.integer[Any]], size: int, *, name: str) -> None:
    """Raise `TokenizerError` if an array, such as that of a batch, has an id outside 0 to `size` - 1."""
    if len(ids) and not 0 <= ids.min() <= ids.max() < size:
        known_ids(ids, size, name=name)


def known_id(token_id: Any, size: int, *, name: str) -> int:
    """An id as an int; raises `TokenizerError` unless it is a whole number from 0 to `size` - 1.

    Example:
        >>> known_id(3, 4, name="demo")
        3
    """
    try:
        number = index(token_id)
    except TypeError:
        number = None
    if number is None or isinstance(token_id, bool):
        raise TokenizerError(f"{name}: an id must be a whole number, not {kind_of(token_id)}")
    if not 0 <= number < size:
        raise _unknown(number, size, name)
    return number


def _unknown(token_id: int, size: int, name: str) -> TokenizerError:
    return TokenizerError(f"{name}: there is no token {token_id}; it is outside 0..{size - 1}")


def listed(texts: Sequence[str], *, name: str) -> list[str]:
    """Texts as a list, unchecked; raises `TokenizerError` for a single text, or anything but a sequence."""
    if isinstance(texts, str):
        raise TokenizerError(f"{name}: encode_batch takes a list of texts; for one use encode, or [text]")
    try:
        return texts if type(texts) is list else list(texts)
    except TypeError:
        raise TokenizerError(f"{name}: encode_batch takes a list of texts, not {kind_of(texts)}") from None


def plain_texts(texts: Sequence[str], *, name: str) -> list[str]:
    """Texts as a list; raises `TokenizerError` for a single text, or if one of them is not a str.

    Example:
        >>> plain_texts(("a", "b"), name="demo")
        ['a', 'b']
    """
    found = listed(texts, name=name)
    if not {*map(type, found)} <= {str}:
        for text in found:
            plain_text(text, name=name)
    return found


def plain_text(text: Any, *, name: str) -> str:
    """`text`; raises `TokenizerError` if it is not a str."""
    if not isinstance(text, str):
        raise TokenizerError(f"{name}: a text must be a str, not {kind_of(text)}")
    return text


def refused(name: str, library: str, texts: Sequence[str], error: Exception) -> TokenizerError:
    r"""The error to raise if a `library` raised on `texts`; names the lone surrogate that is mostly the cause.

    Example:
        >>> str(refused("demo", "tokenizers", ["fine", "ab\ud800"], TypeError())).partition(" (")[0]
        'demo: text 1 holds a lone surrogate at character 2'
    """
    for number, text in enumerate(texts):
        plain_text(text, name=name)
        try:
            text.encode()
        except UnicodeEncodeError as surrogate:
            which = f"text {number}" if len(texts) > 1 else "a text"
            return TokenizerError(
                f"{name}: {which} holds a lone surrogate at character {surrogate.start} ({text[:40]!r}), which "
                f"{library} does not take; replace it, or read the file with errors='replace'"
            )
    return TokenizerError(f"{name}: {library}: {described(error)}")


def check_generator(rng: Any, *, name: str) -> None:
    """Raise `TokenizerError` if `sample` did not get a generator of numpy, but a seed, say."""
    import numpy as np

    if not isinstance(rng, np.random.Generator):
        raise TokenizerError(
            f"{name}: sample draws from a numpy.random.Generator, as numpy.random.default_rng(seed) gives, "
            f"not from {kind_of(rng)}"
        )


def kind_of(value: Any) -> str:
    """What kind of value this is, for an error message.

    Example:
        >>> kind_of(None), kind_of(b"ab")
        ('NoneType (None)', "bytes (b'ab')")
    """
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    shown = repr(value)
    return f"{type(value).__name__} ({shown[:40]}{'…' if len(shown) > 40 else ''})"
