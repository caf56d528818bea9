"""What the generated families of Observable's methods stand on: what differs from Flowable because nothing is requested.

An Observable is the same description as a Flowable (a head, a shape, arguments), run for an observer that takes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rx_core import (
    UNBOUNDED,
    CallbackObserver,
    Disposable,
    ObservableBase,
    ObservableSource,
    Observer,
    Publisher,
    check_prefetch,
    name_of,
)
from rx_core.streams import Stream
from rx_fusion import Feed, Head, OperatorHead, Pipeline, PublisherHead, Text, ToObserver
from rx_ops import operators
from rx_ops._faces import _core
from rx_ops._faces._core import check_callable
from rx_ops._faces._flowable import Flowable
from rx_ops._faces._lifecycle import looking_on
from rx_ops.operators import BackpressureStrategy, Emitter

if TYPE_CHECKING:
    from rx_fusion._stage import StageFunction
    from rx_ops._faces._results import Observable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ObservableCore(Pipeline[T_co], ObservableBase[T_co]):
    """A pipeline with the protocol of an observable."""

    __slots__ = ()

    _takes_requests: ClassVar[bool] = False

    def subscribe_actual(self, observer: Observer[T_co], /) -> None:
        # callbacks are a subscriber, too, which wants everything
        if isinstance(observer, CallbackObserver):
            self._subscribe_items(observer)
        else:
            self._subscribe_items(ToObserver(observer))

    @classmethod
    def _begun_wrongly(cls, *given: object) -> TypeError:
        return _core.begun_wrongly(cls, "Observable", given, "empty()")

    if TYPE_CHECKING:
        # The same methods, with the face in their types.
        def _then(self, stage: StageFunction, *args: Any) -> Observable[Any]: ...

        def _calling(self, stage: StageFunction, function: Callable[..., Any]) -> Observable[Any]: ...

        def _counting(self, stage: StageFunction, count: int) -> Observable[Any]: ...

        @classmethod
        def _from(cls, head: Head) -> Observable[Any]: ...

        @classmethod
        def _known(cls, name: str, items: Iterable[Any], feed: Feed = Feed.CLEAN) -> Observable[Any]: ...

    def _coordinate(self, function: Callable[..., Any], *args: Any, **options: Any) -> Observable[Any]:
        """This pipeline as the source of a coordinating operator."""
        return self._from(OperatorHead(function, (self,), args, **options))

    def to_flowable(
        self,
        strategy: BackpressureStrategy,
        *,
        capacity: int | None = None,
        on_drop: Callable[[T_co], object] | None = None,
    ) -> Flowable[T_co]:
        """The same items for a subscriber that requests; ``strategy`` decides about an item that was not requested.

        ::  --1-2-3|  -->  --1-----3|      (LATEST; 2 and 3 came before the second request)

        Demand:  none on this stream, which gives everything as it comes. BUFFER: items wait, at most ``capacity`` of them. DROP:
                 they are dropped. LATEST: the newest waits. ERROR: ends the stream. MISSING: they are sent on all the same, for
                 an ``on_backpressure_*`` operator that follows.
        Errors:  pass through, and overtake items that wait; MissingBackpressureError by strategy.
        Memory:  BUFFER: ``capacity`` items, or whatever this stream is ahead; none for a synchronous source without ``capacity``,
                 which is pulled as requested instead. LATEST and DROP: what is requested and not yet taken, and one.
        Thread:  that of the item, or the one that requests; a synchronous source runs on the one that subscribes, under BUFFER
                 without ``capacity`` on the one that requests.
        Fusion:  a queue; what follows runs behind it. BUFFER of a synchronous source: none, all stages stay one loop.
        Source:  RxJava ``toFlowable``. ``on_drop`` is called with each item given up.
        """
        if not isinstance(strategy, BackpressureStrategy):
            raise TypeError(
                f"to_flowable() needs a BackpressureStrategy, got {strategy!r}.\n"
                f"  Right:  .to_flowable(BackpressureStrategy.BUFFER)"
            )
        if capacity is not None:
            check_prefetch("to_flowable", capacity, "capacity")
        if on_drop is not None:
            check_callable("to_flowable", "on_drop", on_drop)
        shown = f"to_flowable({strategy.name}{'' if capacity is None else f', {capacity=}'})"
        if strategy is BackpressureStrategy.MISSING:
            return Flowable._from(OperatorHead(operators.ToFlowableMissing, (self,), shown=shown))
        if strategy is BackpressureStrategy.BUFFER and capacity is None and self._head.feed is not Feed.RUNNING:
            # It gives the same items whenever it is pulled, so those that would wait can stay where they are: a long source
            # is not copied into a buffer, an endless one does not hang the subscriber.
            return self._as(Flowable)
        bound = UNBOUNDED if capacity is None else capacity
        return Flowable._from(OperatorHead(operators.ToFlowable, (self,), (strategy, bound, on_drop), shown=shown))

    def do_on_dispose(self, action: Callable[[], object]) -> Observable[T_co]:
        """Calls ``action`` when downstream disposes, ``take`` for example, before that goes on.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  none; everything is taken as it comes.   Errors: what ``action`` raises goes to the error hook.
        Memory:  none.   Thread: the one that disposes.   Fusion: none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doOnDispose``. Once for each subscription, and not after its end: see also :meth:`do_finally`.
        """
        check_callable("do_on_dispose", "action", action)
        return self._coordinate(operators.DoOnDispose, action)

    def do_on_lifecycle(
        self,
        *,
        on_subscribe: Callable[[Disposable], object] | None = None,
        on_dispose: Callable[[], object] | None = None,
    ) -> Observable[T_co]:
        """:meth:`do_on_subscribe` and :meth:`do_on_dispose`, those of them that are given.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  none; everything is taken as it comes.
        Errors:  what ``on_subscribe`` raises ends the stream; of ``on_dispose`` it goes to the error hook.
        Memory:  none.   Thread: the one that subscribes or disposes.
        Fusion:  none; what comes before and behind meets by the protocol.
        Source:  RxJava ``doOnLifecycle``.
        """
        made: Observable[T_co] = looking_on(self, on_subscribe=on_subscribe, on_dispose=on_dispose)
        return made

    @classmethod
    def _created(cls, source: Callable[[Emitter[T]], object], text: str | None = None) -> Observable[T]:
        """``create``: the run asks for everything, so nothing the emitter is given waits."""
        shown = text or f"create({name_of(source)})"
        return cls._from(operators.CreateHead(shown.partition("(")[0], source, BackpressureStrategy.BUFFER, None, None, shown))


class ObservableHead(PublisherHead):
    """A foreign observable (or a wall: ours, hidden). Nothing it sends is too much.

    The border in front of it stands in for the Subscription that it does not have.
    """

    __slots__ = ("_source",)

    def __init__(
        self,
        name: str,
        source: ObservableSource[Any] | Publisher[Any],
        text: Text,
        upstream: Sequence[Any] = (),
        said: Sequence[str] = (),
    ) -> None:
        publisher: Any = _Hidden(source) if isinstance(source, Stream) else source
        super().__init__(name, publisher, text, upstream, said)
        self._source = source


class _Hidden(Generic[T]):
    """An observable of ours behind a wall: what subscribes to it takes it for a foreign one."""

    __slots__ = ("_source",)

    def __init__(self, source: Any) -> None:
        self._source: ObservableSource[T] = source

    def subscribe(self, observer: Observer[T]) -> None:
        self._source.subscribe(observer)

    def __repr__(self) -> str:
        return repr(self._source)


def check_source(operator: str, source: object, /, argument: str = "") -> None:
    """Raise at assembly when something that has to be a source is none."""
    _core.check_source(operator, source, argument, kind="Observable")


__all__ = ["ObservableCore", "ObservableHead", "check_source"]
