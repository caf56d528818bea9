"""Where operators of other distributions come in, one mixin per reactive type.

The mixins are empty. At run time ``__getattr__`` finds an operator when no method has its name; on CPython 3.11 only until the
program is hot, from then on operators are methods (decision 0017). For type checkers the mypy plugin
(``rx_ops.mypy_plugin``) puts the operators here, and ``python -m rx_ops stubs`` writes a stub of this file. Each mixin is the
last of its type's bases, so that a plugin can add an operator but never replace one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, FlowableBase, MaybeBase, ObservableBase, SingleBase
from rx_fusion._shapes import when_hot

T_co = TypeVar("T_co", covariant=True)


def look_for(stream: object, name: str) -> Any:
    """What ``__getattr__`` does: the plugin's operator of that name, bound to ``stream``, or an error that says what there is."""
    if name.startswith("_"):
        raise AttributeError(name)  # copy, pickle and notebooks probe for these
    from rx_ops._plugins import bind_operator

    return bind_operator(stream, name)


class _Plugged:
    """Finds operators of plugins. Hidden from type checkers, so that a misspelt operator stays an error for them."""

    __slots__ = ()

    if not TYPE_CHECKING:
        __getattr__ = look_for


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
