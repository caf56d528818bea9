"""Where operators of other distributions come in, one mixin per reactive type.

The mixins are empty. At run time ``__getattr__`` finds an operator when no method has its name; on CPython 3.11 only until the
program is hot, from then on operators are methods (decision 0017). For type checkers the mypy plugin
(``rx_ops.mypy_plugin``) puts the operators here, and ``python -m rx_ops stubs`` writes a stub of this file. Each mixin is the
last of its type's bases, so that a plugin can add an operator but never replace one.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from rx_core import CompletableBase, FlowableBase, MaybeBase, ObservableBase, OperatorNotFoundError, SingleBase
from rx_fusion._shapes import when_hot
from rx_ops._generated_names_elsewhere import CALLED, WRITTEN

T_co = TypeVar("T_co", covariant=True)


def look_for(stream: object, name: str) -> Any:
    """What ``__getattr__`` does: the plugin's operator of that name, bound to ``stream``, or an error that says what there is."""
    if name.startswith("_"):
        raise AttributeError(name)  # copy, pickle and notebooks probe for these
    from rx_ops._plugins import bind_operator

    return bind_operator(stream, name)


class _CalledElsewhere:
    """The name of an operator in another library: reading it tells ours, of a class as well as of a stream."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, stream: object, kind: type) -> NoReturn:
        from rx_ops._plugins import unknown

        raise OperatorNotFoundError(unknown(kind.__mro__, self._name), name=self._name, obj=stream or kind)


def ours(kind: type, names: Iterable[str]) -> list[str]:
    """Those of the names that are not only what something is called elsewhere."""
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        found.update(vars(base))
    return [name for name in names if not isinstance(found.get(name), _CalledElsewhere)]


class _Listed(ABCMeta):
    """``dir()`` of a type leaves out what operators are called elsewhere.

    A ``__getattr__`` in this place, instead of attributes that raise, would make each call of a classmethod slow on CPython 3.11.
    """

    def __dir__(cls) -> Iterable[str]:
        return ours(cls, super().__dir__())


class _Plugged(metaclass=_Listed):
    """Finds operators of plugins. Hidden from type checkers, so that a misspelt operator stays an error for them."""

    __slots__ = ()

    def __dir__(self) -> Iterable[str]:
        return ours(type(self), super().__dir__())

    if not TYPE_CHECKING:
        __getattr__ = look_for


for _name in (*CALLED, *WRITTEN):
    setattr(_Plugged, _name, _CalledElsewhere(_name))


def _settle() -> None:
    from rx_ops._plugins import settle

    settle(_Plugged)


if sys.version_info < (3, 12):  # later ones read attributes as fast beside a __getattr__
    when_hot.append(_settle)


class FlowablePlugged(FlowableBase[T_co], _Plugged):
    """Operators ``Flowable.*`` of plugins."""

    __slots__ = ()


class ObservablePlugged(ObservableBase[T_co], _Plugged):
    """Operators ``Observable.*`` of plugins."""

    __slots__ = ()


class SinglePlugged(SingleBase[T_co], _Plugged):
    """Operators ``Single.*`` of plugins."""

    __slots__ = ()


class MaybePlugged(MaybeBase[T_co], _Plugged):
    """Operators ``Maybe.*`` of plugins."""

    __slots__ = ()


class CompletablePlugged(CompletableBase, _Plugged):
    """Operators ``Completable.*`` of plugins."""

    __slots__ = ()
