"""Runs of at most one item that is there from the start: ``just`` and ``empty``, with stages that give one for one behind them.

Short streams are many: an inner stream for each item, a response for each request. They need no gate.
There is no loop to stop, no demand to count beyond the first request, nothing to close. So the item is computed once, by the
``value`` form, when it is requested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from rx_core import (
    BaseDisposable,
    CallbackObserver,
    as_signal,
    dropped_late,
    invalid_request,
    none_produced,
    tell_interrupted,
)
from rx_core.queue_fusion import BOUNDARY, NONE, SYNC, fusion_enabled
from rx_fusion._forms import Feed
from rx_fusion._shapes import VALUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from rx_core import Subscriber
    from rx_fusion._described import Described

T = TypeVar("T")
_CLEAN: Final = Feed.CLEAN
_new = object.__new__
_POLLED: Final = "polled"


def computed(pipeline: Described) -> T | None:
    """The item, or None when there is none."""
    head, shape = pipeline._head, pipeline._shape
    only: tuple[T, ...] = head._items  # of an IterableHead with at most one
    if not shape.stages:
        if only and only[0] is None:
            raise none_produced(head.name)
        return only[0] if only else None
    function = shape._forms.get(VALUE[head.feed])
    if function is None:
        found: T | None = shape.value(iter(only), head, pipeline._args, head.feed)
        return found
    found = function(only, None, head, pipeline._args)
    return found


def tell(observer: CallbackObserver[T], pipeline: Described) -> None:
    """Such a run for callbacks: they ask for everything at once, so that there is nothing to ask or to cancel between."""
    if observer._done:
        return
    try:
        head = pipeline._head
        function = pipeline._shape.one
        if function is None or head.feed is not _CLEAN:
            item = computed(pipeline)
        else:  # the same, without the call
            item = function(head._items, None, head, pipeline._args)
    except (Exception, GeneratorExit) as error:
        observer.on_error(as_signal(error))
        return
    except BaseException as error:
        tell_interrupted(observer, error)
        raise
    take = observer._on_next
    if item is not None and take is not None and not observer._done:
        try:
            take(item)
        except BaseException as error:
            observer.callback_failed(error)
    observer.on_complete()


class OneItem(BaseDisposable, Generic[T]):
    """The Subscription of such a run, or the queue of it, for who asks."""

    __slots__ = ("_down", "_open", "_requested", "cancelled", "pipeline")

    pipeline: Described
    #: Taken out by the one call that signals, or by a cancel before it (RS 3.13).
    _down: list[Subscriber[T]]
    _open: bool
    #: The first request, whatever was asked; _POLLED, if a mode was granted.
    _requested: Any
    cancelled: bool

    def request(self, n: int, /) -> None:
        if self._requested is None:
            self._requested = n
        if self._open:
            self._run()

    def _run(self) -> None:
        if self._requested is _POLLED:
            return  # the item is computed when it is polled, and nothing is signalled
        try:
            down = self._down.pop()
        except IndexError:
            return
        n = self._requested
        if n is not None and (type(n) is not int or n < 1):
            down.on_error(invalid_request(n))  # RS 3.9
            return
        try:
            pipeline = self.pipeline
            head = pipeline._head
            function = pipeline._shape.one
            if function is None or head.feed is not _CLEAN:
                item = computed(pipeline)
            else:  # the same, without the call
                item = function(head._items, None, head, pipeline._args)
        except (Exception, GeneratorExit) as error:
            failure = as_signal(error)
            if self.cancelled:
                dropped_late(failure, self.pipeline)
            else:
                down.on_error(failure)
            return
        except BaseException as error:
            self.cancelled = True
            tell_interrupted(down, error)
            raise
        if item is not None and not self.cancelled:
            down.on_next(item)
        if not self.cancelled:
            down.on_complete()

    def cancel(self) -> None:
        self.cancelled = True
        self._down.clear()

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return not self._down

    def after_answer(self, then: Callable[[], object], /) -> None:
        """See SettlesDemand."""
        if not self.pipeline._head._items:
            then()  # else the end follows the item, and there is nothing to go on with

    # -- as a queue ----------------------------------------------------------------------------------------------------

    def rx_serves(self, consumer: object, /) -> bool:
        return any(down is consumer for down in self._down)

    def request_fusion(self, mode: int, /) -> int:
        moves = mode & BOUNDARY and any(callable(arg) for arg in self.pipeline._args)
        if not mode & SYNC or moves or self._open or self._requested is _POLLED or not fusion_enabled():
            return NONE
        self._requested = _POLLED
        return SYNC

    def poll(self) -> T | None:
        try:
            self._down.pop()
        except IndexError:
            return None
        try:
            return computed(self.pipeline)
        except (Exception, GeneratorExit) as error:
            failure = as_signal(error)
        raise failure

    def poll_many(self, n: int, /) -> list[T]:
        item = self.poll() if n > 0 else None
        return [] if item is None else [item]

    def is_empty(self) -> bool:
        return not self._down or not self.pipeline._head._items

    def clear(self) -> None:
        self._down.clear()


def start(down: Subscriber[T], pipeline: Described) -> None:
    """Hand out the Subscription, then go as far as was requested. Nothing comes before on_subscribe has returned (RS 1.3)."""
    run: OneItem[T] = _new(OneItem)  # and no __init__: there may be one for each item of another stream
    run.pipeline = pipeline
    run._down = [down]
    run._open = False
    run._requested = None  # by request(), perhaps while on_subscribe runs
    run.cancelled = False
    try:
        down.on_subscribe(run)
    except BaseException:
        run.cancel()  # RS 2.13
        raise
    run._open = True  # publish first, look afterwards: a request from elsewhere sees it or is seen
    if run._requested is not None or not pipeline._head._items:
        run._run()
