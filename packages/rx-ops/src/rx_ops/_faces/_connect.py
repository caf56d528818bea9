"""What ``publish`` and ``replay`` have in common: one run of a stream for many subscribers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import name_of
from rx_fusion import OperatorHead, SourceHead
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from rx_ops._faces._results import ConnectableFlowable, Flowable
    from rx_ops.operators import Connectable, Within

T_co = TypeVar("T_co", covariant=True)


class FlowableConnect(FlowableCore[T_co]):
    """What ``publish`` and ``replay`` have in common: one run of a stream for many subscribers."""

    __slots__ = ()

    def _connectable(self, name: str, connectable: Connectable[Any]) -> ConnectableFlowable[Any]:
        said = ("runs when connected, once for all subscribers",)
        return _results.ConnectableFlowable(SourceHead(name, connectable, connectable.text, (self,), said), connectable)

    def _selected(
        self, within: type[Within], name: str, make: Callable[[Any], Connectable[Any]], selector: Callable[[Any], Any]
    ) -> Flowable[Any]:
        def face(connectable: Connectable[Any]) -> Flowable[Any]:
            return self._from(SourceHead(name, connectable, connectable.text))

        return self._from(OperatorHead(within, (self,), (name, make, selector, face), shown=f"{name}({name_of(selector)})"))
