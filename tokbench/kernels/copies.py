"""How objects that hold addresses are pickled and copied: they are made again from what they were made of.

Kernels find tables by their addresses, which mean nothing in another process. So a tokenizer is pickled as the
arguments it was made with, and its tables are made again from them (`Rebuilt`). An object that holds addresses
and cannot be made again so refuses to be pickled (`Stays`).

A fork copies the memory of a process, its addresses still right, but only one of its threads: a lock that
another was holding is never given back. `cached_property` therefore works without one.
"""

from __future__ import annotations

import sys
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """`functools.cached_property` as it is from Python 3.12 on: without a lock."""

        def __init__(self, function: Any) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


__all__ = ["Rebuilt", "Stays", "cached_property", "forget_made"]


def forget_made(owner: Any) -> None:
    """Drop what an object made when first asked: attributes that stand before one of its class.

    Such are the values of cached properties, and compiled functions in the place of methods.

    Example:
        >>> class Text:
        ...     words = cached_property(lambda self: self.text.split())
        >>> one = Text(); one.text = "a b"; _ = one.words; one.text = "c"; forget_made(one)
        >>> one.words
        ['c']
    """
    for name in [name for name in vars(owner) if hasattr(type(owner), name)]:
        del owner.__dict__[name]


class Rebuilt:
    """An object that is pickled and copied as the arguments of its ``__init__``: attributes of the same names.

    Whatever else it holds is made again.

    Example:
        >>> import copy
        >>> class Squares(Rebuilt):
        ...     def __init__(self, count):
        ...         self.count, self.table = count, [number * number for number in range(count)]
        >>> copy.deepcopy(Squares(3)).table, Squares(3).changed(count=2).table
        ([0, 1, 4], [0, 1])
    """

    __slots__ = ()

    def changed(self, **other: Any) -> Self:
        """One made of the same but for these arguments."""
        return type(self)(**{**self._made_of(), **other})

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), {name: _as_dict(value) for name, value in self._made_of().items()})

    def _made_of(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


class Stays:
    """An object that cannot be pickled or copied, since it holds addresses of this process."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"{type(self).__name__} holds addresses of this process: it can be made again, but not copied"
        )


def _rebuilt(kind: Any, made_of: dict[str, Any]) -> Any:
    return kind(**made_of)


def _as_dict(value: Any) -> Any:
    """A mapping that cannot be written to as one that can be pickled; anything else as it is."""
    return dict(value) if isinstance(value, MappingProxyType) else value
