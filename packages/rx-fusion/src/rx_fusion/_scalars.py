"""Sources of at most one item, for operators that are not ours: whether a publisher is one, ours or foreign.

What a pipeline is made of is known to us from its parts. A foreign operator asks with these two functions, and gets the
same answer for our ``just`` and for a class of a third party that has the methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from rx_core.queue_fusion import CallableSource, ScalarCallable, fusion_enabled
from rx_fusion._heads import IterableHead
from rx_fusion._pipeline import Pipeline

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


class _Called(Generic[T]):
    """One of our pipelines, called instead of subscribed."""

    __slots__ = ("_flow",)

    def __init__(self, flow: Pipeline[T]) -> None:
        self._flow = flow

    def subscribe(self, subscriber: Subscriber[T], /) -> object:
        return cast("Publisher[T]", self._flow).subscribe(subscriber)

    def rx_call(self) -> T | None:
        return cast("T | None", self._flow._first())

    def __repr__(self) -> str:
        return repr(self._flow)


class _Known(_Called[T]):
    """The same, where no code has to run for the item."""

    __slots__ = ("_item",)

    def __init__(self, flow: Pipeline[T], item: T | None) -> None:
        super().__init__(flow)
        self._item = item

    def rx_call(self) -> T | None:
        return self._item

    def rx_scalar(self) -> T | None:
        return self._item


def as_callable_source(source: Publisher[T]) -> CallableSource[T] | None:
    """``source`` as something to call, when it gives at most one item and can compute it on the spot; else None.

    For use when it is subscribed: calling runs what subscribing would run, on this thread, and raises what it would signal.
    With fusion switched off nothing is one.
    """
    if not fusion_enabled():
        return None
    if hasattr(source, "rx_call"):
        return cast("CallableSource[T]", source)
    if not isinstance(source, Pipeline):
        return None
    head, shape, _args = source._head, source._shape, source._args
    if not isinstance(head, IterableHead) or not head.at_most_one:
        return None
    if not all(stage.one_to_at_most_one for stage in shape.stages):
        return None
    return as_scalar(source) or _Called(source)


def as_scalar(source: Publisher[T]) -> ScalarCallable[T] | None:
    """``source`` as a constant, when it gives at most one item that is known already; else None. For use at assembly."""
    if not fusion_enabled():
        return None
    if hasattr(source, "rx_scalar"):
        return cast("ScalarCallable[T]", source)
    if not isinstance(source, Pipeline) or source._shape:
        return None
    head: Any = source._head
    only = head.only if isinstance(head, IterableHead) else None
    return None if only is None else _Known(source, only[0] if only else None)
