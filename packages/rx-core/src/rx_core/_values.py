"""Immutable values with fields, for modules that everybody imports.

Frozen dataclasses with slots in all but the decorator: importing ``dataclasses`` brings ``inspect`` and costs 3 ms, each class
that it decorates 0.3 ms more, because it writes the methods as text and compiles them.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, Final, NoReturn, dataclass_transform

#: Sets a field in ``__init__``; no other method may.
put: Final = object.__setattr__


@dataclass_transform(frozen_default=True)
class Value:
    """Compares, hashes, prints, pickles and matches by its fields, which are the names with an annotation, in their order.

    A subclass writes its ``__slots__`` and its ``__init__``, with :func:`put`. ``compared`` names those that count,
    where not all do.
    """

    __slots__ = ()

    _names: ClassVar[tuple[str, ...]] = ()
    _compared: ClassVar[Callable[[Any], Any]] = staticmethod(lambda _self: ())

    def __init_subclass__(cls, *, compared: tuple[str, ...] = ()) -> None:
        super().__init_subclass__()
        names = tuple(cls.__annotations__)
        cls.__match_args__ = cls._names = names  # type: ignore[attr-defined,misc]  # type checkers know it from the decorator
        if names:
            cls._compared = attrgetter(*(compared or names))

    def __eq__(self, other: object, /) -> bool:
        fields = type(self)._compared
        return fields(self) == fields(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(type(self)._compared(self))

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._names)})"

    def __setattr__(self, name: str, _value: object, /) -> NoReturn:
        raise AttributeError(f"cannot assign to field {name!r}: {type(self).__name__} is immutable")

    def __delattr__(self, name: str, /) -> NoReturn:
        raise AttributeError(f"cannot delete field {name!r}: {type(self).__name__} is immutable")

    def __reduce__(self) -> tuple[type[Any], tuple[Any, ...]]:
        return type(self), tuple([getattr(self, name) for name in self._names])
