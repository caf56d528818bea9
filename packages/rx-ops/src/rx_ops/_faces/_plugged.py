"""Where operators of other distributions come in, one mixin per reactive type.

The mixins are empty. At run time ``__getattr__`` finds an operator when no method has its name. For type checkers the mypy
plugin (``rx_ops.mypy_plugin``) puts the operators here, and ``python -m rx_ops stubs`` writes a stub of this file. Each mixin is
the last of its type's bases, so that a plugin can add an operator but never replace one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, FlowableBase, MaybeBase, ObservableBase, SingleBase

T_co = TypeVar("T_co", covariant=True)


class _Plugged:
    """Finds operators of plugins. Hidden from type checkers, so that a misspelt operator stays an error for them."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)  # copy, pickle and notebooks probe for these
            from rx_ops._plugins import bind_operator

            return bind_operator(self, name)


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
