"""Single, Maybe and Completable: streams of at most one item.

They are the same descriptions as Flowable (a head, a shape, arguments) whose run gives at most one item, so they fuse with what
they were made of, and one machinery runs all three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, overload

from rx_core import (
    UNBOUNDED,
    CompletableBase,
    CompletableObserver,
    EmptyStreamError,
    MaybeBase,
    MaybeObserver,
    Publisher,
    SingleBase,
    SingleObserver,
    name_of,
    none_argument,
    user_call,
)
from rx_core.streams import Waiting
from rx_fusion import Feed, Head, IterableHead, OperatorHead, Pipeline, ToCompletable, ToMaybe, ToSingle
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._core import check_callable, check_scheduler, check_seconds, check_source
from rx_ops._faces._create import _Called, _Same
from rx_ops._faces._one_item_around import CompletableAround, MaybeAround, SingleAround
from rx_ops._faces._one_item_asked import CompletableAsked, MaybeAsked, SingleAsked
from rx_ops._faces._one_item_inner import MaybeInner, SingleInner
from rx_ops._faces._one_item_late import CompletableLate, MaybeLate, SingleLate
from rx_ops._faces._one_item_optional import MaybeOptional, SingleOptional
from rx_ops._faces._one_item_repeat import CompletableRepeat, MaybeRepeat, SingleRepeat
from rx_ops._faces._one_item_share import CompletableShare, MaybeShare, SingleShare
from rx_ops._faces._one_item_time import CompletableTime, MaybeTime, SingleTime
from rx_ops._faces._plugged import CompletablePlugged, MaybePlugged, SinglePlugged
from rx_ops._faces._threads import observed_on, subscribed_on

if TYPE_CHECKING:
    from rx_core import Scheduler
    from rx_fusion._stages import StageFunction
    from rx_ops._faces._results import Flowable, Observable

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class _OneItem(Pipeline[T_co]):
    """What the types of at most one item share."""

    __slots__ = ()

    def _blocking(self, seconds: float | None) -> Any:
        if seconds is not None:
            check_seconds("blocking_get", seconds)
        return self._first(seconds)

    def _coordinate(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return self._from(OperatorHead(function, (self,), args, **options))


class Single(
    _OneItem[T_co],
    SingleInner[T_co],
    SingleOptional[T_co],
    SingleAsked[T_co],
    SingleRepeat[T_co],
    SingleAround[T_co],
    SingleShare[T_co],
    SingleTime[T_co],
    SingleLate[T_co],
    SinglePlugged[T_co],
):
    """Exactly one item, or an error."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _then(self, stage: StageFunction, *args: Any) -> Single[Any]: ...

        def _calling(self, stage: StageFunction, function: Callable[..., Any]) -> Single[Any]: ...

        @classmethod
        def _from(cls, head: Head) -> Single[Any]: ...

        @classmethod
        def _known(cls, name: str, items: Iterable[Any], feed: Feed = Feed.CLEAN) -> Single[Any]: ...

    def subscribe_actual(self, observer: SingleObserver[T_co], /) -> None:
        self._subscribe_items(ToSingle(observer, self))

    # -- where it begins ---------------------------------------------------------------------------------------------

    @classmethod
    def just(cls, item: T, /) -> Single[T]:
        """One item, known now. TypeError for None."""
        if item is None:
            raise none_argument("just(None)", "item")
        return cls._known("just", (item,))

    @classmethod
    def from_callable(cls, function: Callable[[], T], /) -> Single[T]:
        """What ``function`` returns, called for each subscription; TypeError is signalled when it returns None."""
        check_callable("from_callable", "function", function)
        return cls._from(IterableHead("from_callable", _Called(function), f"from_callable({name_of(function)})"))

    @classmethod
    def defer(cls, supplier: Callable[[], SingleBase[T]], /) -> Single[T]:
        """The Single that ``supplier`` makes for each subscription."""
        check_callable("defer", "supplier", supplier)
        return cls._from(operators.DeferHead(supplier))

    @classmethod
    def error(cls, error: Exception | Callable[[], Exception], /) -> Single[Any]:
        """Fails with ``error``, or with what the function makes for each subscription."""
        return cls._from(_error_head(error))

    @classmethod
    def never(cls) -> Single[Any]:
        """No signal at all."""
        return cls._from(OperatorHead(operators.Never, ()))

    @classmethod
    def wrap(cls, single: SingleBase[T], /) -> Single[T]:
        """Anybody's Single with our operators; ours as it is."""
        if isinstance(single, Single):
            return single
        check_source("wrap", single)
        return cls._from(_foreign(single))

    @overload
    @classmethod
    def zip(cls, s1: SingleBase[T1], s2: SingleBase[T2], combiner: Callable[[T1, T2], R], /) -> Single[R]: ...
    @overload
    @classmethod
    def zip(cls, s1: SingleBase[T1], s2: SingleBase[T2], /) -> Single[tuple[T1, T2]]: ...
    @classmethod
    def zip(cls, s1: SingleBase[Any], s2: SingleBase[Any], combiner: Any = None, /) -> Single[Any]:
        """Both items as a tuple, or what ``combiner`` makes of them; both are subscribed together."""
        return cls._from(_zipped(s1, s2, combiner))

    # -- operators -----------------------------------------------------------------------------------------------------

    def map(self, mapper: Callable[[T_co], R], /) -> Single[R]:
        """The item through ``mapper``. Errors: what it raises, with a note; TypeError when it returns None."""
        return self._calling(stages.map_, mapper)

    def flat_map(self, mapper: Callable[[T_co], SingleBase[R]], /) -> Single[R]:
        """The item of the Single that ``mapper`` makes of this one's. TypeError when it returns no source."""
        check_callable("flat_map", "mapper", mapper)
        return cast("Single[R]", self._coordinate(operators.ConcatMap, mapper))

    def flat_map_publisher(self, mapper: Callable[[T_co], Publisher[R]], /) -> Flowable[R]:
        """The items of the stream that ``mapper`` makes of this item."""
        check_callable("flat_map_publisher", "mapper", mapper)
        return _results.Flowable._from(OperatorHead(operators.ConcatMap, (self,), (mapper,)))

    def filter(self, predicate: Callable[[T_co], object], /) -> Maybe[T_co]:
        """The item if ``predicate`` is true for it, else nothing."""
        return self._calling_into(Maybe, stages.filter_, predicate)

    def zip_with(self, other: SingleBase[T2], combiner: Callable[[T_co, T2], R], /) -> Single[R]:
        """What ``combiner`` makes of both items."""
        return self._from(_zipped(self, other, combiner, "zip_with"))

    def do_on_success(self, action: Callable[[T_co], object], /) -> Single[T_co]:
        """Calls ``action`` with the item before it goes on."""
        check_callable("do_on_success", "action", action)
        return self._then(stages.do_on_next, action)

    def do_on_error(self, action: Callable[[Exception], object], /) -> Single[T_co]:
        """Calls ``action`` with the error before it goes on."""
        check_callable("do_on_error", "action", action)
        return cast("Single[T_co]", self._coordinate(operators.DoOnError, action))

    def do_finally(self, action: Callable[[], object], /) -> Single[T_co]:
        """Calls ``action`` exactly once after the end or a cancel."""
        check_callable("do_finally", "action", action)
        return cast("Single[T_co]", self._coordinate(operators.DoFinally, action))

    def on_error_return(self: SingleBase[T], handler: Callable[[Exception], T], /) -> Single[T]:
        """After an error the item that ``handler`` makes of it."""
        check_callable("on_error_return", "handler", handler)
        return cast("Single[T]", cast("Single[Any]", self)._coordinate(operators.OnErrorReturn, handler))

    def on_error_resume_next(self: SingleBase[T], handler: Callable[[Exception], SingleBase[T]], /) -> Single[T]:
        """After an error the Single that ``handler`` makes of it."""
        check_callable("on_error_resume_next", "handler", handler)
        return cast("Single[T]", cast("Single[Any]", self)._coordinate(operators.OnErrorResumeNext, handler))

    def observe_on(self, scheduler: Scheduler, /) -> Single[T_co]:
        """Signals on a worker of ``scheduler``."""
        check_scheduler("observe_on", scheduler)
        return self._from(observed_on(self, scheduler, 1))

    def subscribe_on(self, scheduler: Scheduler, /) -> Single[T_co]:
        """Subscribes on a worker of ``scheduler``."""
        check_scheduler("subscribe_on", scheduler)
        return self._from(subscribed_on(self, scheduler))

    def hide(self) -> Single[T_co]:
        """The same behind a wall: nothing fuses across it."""
        return self._from(_hidden(self))

    # -- ends and conversions ------------------------------------------------------------------------------------------

    def blocking_get(self, *, seconds: float | None = None) -> T_co:
        """The item, computed on this thread. Errors are raised; TimeoutError after ``seconds``; EmptyStreamError when a source
        that had to give an item gave none."""
        item = self._blocking(seconds)
        if item is None:
            raise EmptyStreamError(f"{self!r}.blocking_get()")
        return cast("T_co", item)

    def to_flowable(self) -> Flowable[T_co]:
        """A stream of this one item; the item is given when it is requested."""
        return self._as(_results.Flowable)

    def to_observable(self) -> Observable[T_co]:
        """A stream of this one item, for observers."""
        return self._as(_results.Observable)

    def to_maybe(self) -> Maybe[T_co]:
        """The same as a Maybe."""
        return self._as(Maybe)

    def ignore_element(self) -> Completable:
        """Only the end."""
        return self._as(Completable)


class Maybe(
    _OneItem[T_co],
    MaybeInner[T_co],
    MaybeOptional[T_co],
    MaybeAsked[T_co],
    MaybeRepeat[T_co],
    MaybeAround[T_co],
    MaybeShare[T_co],
    MaybeTime[T_co],
    MaybeLate[T_co],
    MaybePlugged[T_co],
):
    """One item or none, or an error."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _then(self, stage: StageFunction, *args: Any) -> Maybe[Any]: ...

        def _calling(self, stage: StageFunction, function: Callable[..., Any]) -> Maybe[Any]: ...

        @classmethod
        def _from(cls, head: Head) -> Maybe[Any]: ...

        @classmethod
        def _known(cls, name: str, items: Iterable[Any], feed: Feed = Feed.CLEAN) -> Maybe[Any]: ...

    def subscribe_actual(self, observer: MaybeObserver[T_co], /) -> None:
        self._subscribe_items(ToMaybe(observer))

    @classmethod
    def just(cls, item: T, /) -> Maybe[T]:
        """One item, known now. TypeError for None."""
        if item is None:
            raise none_argument("just(None)", "item")
        return cls._known("just", (item,))

    @classmethod
    def empty(cls) -> Maybe[Any]:
        """No item."""
        return cls._from(IterableHead("empty", (), "empty()", feed=Feed.CLEAN))

    @classmethod
    def from_callable(cls, function: Callable[[], T | None], /) -> Maybe[T]:
        """What ``function`` returns, called for each subscription; None means no item."""
        check_callable("from_callable", "function", function)
        return cls._from(IterableHead("from_callable", _MaybeCalled(function), f"from_callable({name_of(function)})"))

    @classmethod
    def defer(cls, supplier: Callable[[], MaybeBase[T]], /) -> Maybe[T]:
        """The Maybe that ``supplier`` makes for each subscription."""
        check_callable("defer", "supplier", supplier)
        return cls._from(operators.DeferHead(supplier))

    @classmethod
    def error(cls, error: Exception | Callable[[], Exception], /) -> Maybe[Any]:
        """Fails with ``error``, or with what the function makes for each subscription."""
        return cls._from(_error_head(error))

    @classmethod
    def never(cls) -> Maybe[Any]:
        """No signal at all."""
        return cls._from(OperatorHead(operators.Never, ()))

    @classmethod
    def wrap(cls, maybe: MaybeBase[T], /) -> Maybe[T]:
        """Anybody's Maybe with our operators; ours as it is."""
        if isinstance(maybe, Maybe):
            return maybe
        check_source("wrap", maybe)
        return cls._from(_foreign(maybe))

    @overload
    @classmethod
    def zip(cls: type[MaybeBase[R]], s1: MaybeBase[T1], s2: MaybeBase[T2], combiner: Callable[[T1, T2], R], /) -> Maybe[R]: ...
    @overload
    @classmethod
    def zip(cls, s1: MaybeBase[T1], s2: MaybeBase[T2], /) -> Maybe[tuple[T1, T2]]: ...
    @classmethod
    def zip(cls, s1: MaybeBase[Any], s2: MaybeBase[Any], combiner: Any = None, /) -> Maybe[Any]:
        """Both items as a tuple, or what ``combiner`` makes of them; nothing when one of them has none."""
        return cls._from(_zipped(s1, s2, combiner))

    def map(self, mapper: Callable[[T_co], R], /) -> Maybe[R]:
        """The item through ``mapper``. Errors: what it raises, with a note; TypeError when it returns None."""
        return self._calling(stages.map_, mapper)

    def flat_map(self, mapper: Callable[[T_co], MaybeBase[R]], /) -> Maybe[R]:
        """The item, if any, of the Maybe that ``mapper`` makes of this one's."""
        check_callable("flat_map", "mapper", mapper)
        return cast("Maybe[R]", self._coordinate(operators.ConcatMap, mapper))

    def flat_map_publisher(self, mapper: Callable[[T_co], Publisher[R]], /) -> Flowable[R]:
        """The items of the stream that ``mapper`` makes of this item; none when there is no item."""
        check_callable("flat_map_publisher", "mapper", mapper)
        return _results.Flowable._from(OperatorHead(operators.ConcatMap, (self,), (mapper,)))

    def filter(self, predicate: Callable[[T_co], object], /) -> Maybe[T_co]:
        """The item if there is one and ``predicate`` is true for it."""
        return self._calling(stages.filter_, predicate)

    def default_if_empty(self: MaybeBase[T], item: T, /) -> Single[T]:
        """The item, or ``item`` when there is none."""
        if item is None:
            raise none_argument("default_if_empty(None)", "item")
        return cast("Maybe[Any]", self)._into(Single, stages.first_or, item)

    def do_on_error(self, action: Callable[[Exception], object], /) -> Maybe[T_co]:
        """Calls ``action`` with the error before it goes on."""
        check_callable("do_on_error", "action", action)
        return cast("Maybe[T_co]", self._coordinate(operators.DoOnError, action))

    def do_finally(self, action: Callable[[], object], /) -> Maybe[T_co]:
        """Calls ``action`` exactly once after the end or a cancel."""
        check_callable("do_finally", "action", action)
        return cast("Maybe[T_co]", self._coordinate(operators.DoFinally, action))

    def on_error_return(self: MaybeBase[T], handler: Callable[[Exception], T], /) -> Maybe[T]:
        """After an error the item that ``handler`` makes of it."""
        check_callable("on_error_return", "handler", handler)
        return cast("Maybe[T]", cast("Maybe[Any]", self)._coordinate(operators.OnErrorReturn, handler))

    def observe_on(self, scheduler: Scheduler, /) -> Maybe[T_co]:
        """Signals on a worker of ``scheduler``."""
        check_scheduler("observe_on", scheduler)
        return self._from(observed_on(self, scheduler, 1))

    def subscribe_on(self, scheduler: Scheduler, /) -> Maybe[T_co]:
        """Subscribes on a worker of ``scheduler``."""
        check_scheduler("subscribe_on", scheduler)
        return self._from(subscribed_on(self, scheduler))

    def hide(self) -> Maybe[T_co]:
        """The same behind a wall: nothing fuses across it."""
        return self._from(_hidden(self))

    def blocking_get(self, *, seconds: float | None = None) -> T_co | None:
        """The item, computed on this thread, or None. Errors are raised; TimeoutError after ``seconds``."""
        return cast("T_co | None", self._blocking(seconds))

    def to_flowable(self) -> Flowable[T_co]:
        """A stream of this item, if there is one."""
        return self._as(_results.Flowable)

    def to_observable(self) -> Observable[T_co]:
        """A stream of this item, if there is one, for observers."""
        return self._as(_results.Observable)

    def to_single(self) -> Single[T_co]:
        """The same as a Single: EmptyStreamError when there is no item."""
        return self._into(Single, stages.to_single)

    def ignore_element(self) -> Completable:
        """Only the end."""
        return self._as(Completable)


class Completable(
    _OneItem[Any],
    CompletableAsked,
    CompletableRepeat,
    CompletableAround,
    CompletableShare,
    CompletableTime,
    CompletableLate,
    CompletablePlugged,
):
    """No item, only the end."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def _from(cls, head: Head) -> Completable: ...

    def subscribe_actual(self, observer: CompletableObserver, /) -> None:
        self._subscribe_items(ToCompletable(observer))

    @classmethod
    def complete(cls) -> Completable:
        """Completes at once."""
        return cls._from(IterableHead("complete", (), "complete()", feed=Feed.CLEAN))

    @classmethod
    def from_action(cls, action: Callable[[], object], /) -> Completable:
        """Calls ``action`` for each subscription, then completes; what it returns is dropped."""
        check_callable("from_action", "action", action)
        return cls._from(IterableHead("from_action", _Acted(action), f"from_action({name_of(action)})"))

    @classmethod
    def error(cls, error: Exception | Callable[[], Exception], /) -> Completable:
        """Fails with ``error``, or with what the function makes for each subscription."""
        return cls._from(_error_head(error))

    @classmethod
    def never(cls) -> Completable:
        """No signal at all."""
        return cls._from(OperatorHead(operators.Never, ()))

    @classmethod
    def defer(cls, supplier: Callable[[], CompletableBase], /) -> Completable:
        """The Completable that ``supplier`` makes for each subscription."""
        check_callable("defer", "supplier", supplier)
        return cls._from(operators.DeferHead(supplier))

    @classmethod
    def wrap(cls, completable: CompletableBase, /) -> Completable:
        """Anybody's Completable with our operators; ours as it is."""
        if isinstance(completable, Completable):
            return completable
        check_source("wrap", completable)
        return cls._from(_foreign(completable))

    @overload
    def and_then(self, other: Completable, /) -> Completable: ...
    @overload
    def and_then(self, other: Single[T], /) -> Single[T]: ...
    @overload
    def and_then(self, other: Maybe[T], /) -> Maybe[T]: ...
    @overload
    def and_then(self, other: Flowable[T], /) -> Flowable[T]: ...
    def and_then(self, other: Any, /) -> Any:
        """``other`` after this is complete; an error skips it."""
        check_source("and_then", other)
        silent = Completable._from(_silent(self))  # not of the other's type: a Single without an item is an error
        return type(other)._from(OperatorHead(operators.Concat, (silent, other), many=True))

    def do_on_complete(self, action: Callable[[], object], /) -> Completable:
        """Calls ``action`` before the completion goes on."""
        check_callable("do_on_complete", "action", action)
        return cast("Completable", self._then(stages.do_on_complete, action))

    def do_on_error(self, action: Callable[[Exception], object], /) -> Completable:
        """Calls ``action`` with the error before it goes on."""
        check_callable("do_on_error", "action", action)
        return cast("Completable", self._coordinate(operators.DoOnError, action))

    def do_finally(self, action: Callable[[], object], /) -> Completable:
        """Calls ``action`` exactly once after the end or a cancel."""
        check_callable("do_finally", "action", action)
        return cast("Completable", self._coordinate(operators.DoFinally, action))

    def observe_on(self, scheduler: Scheduler, /) -> Completable:
        """Signals on a worker of ``scheduler``."""
        check_scheduler("observe_on", scheduler)
        return self._from(observed_on(self, scheduler, 1))

    def subscribe_on(self, scheduler: Scheduler, /) -> Completable:
        """Subscribes on a worker of ``scheduler``."""
        check_scheduler("subscribe_on", scheduler)
        return self._from(subscribed_on(self, scheduler))

    def blocking_await(self, *, seconds: float | None = None) -> None:
        """Returns when this is complete. Errors are raised; TimeoutError after ``seconds``."""
        self._gathered(_exhaust, self._all(seconds))

    def _all(self, seconds: float | None) -> Any:
        if seconds is None:
            return self._iterate()
        check_seconds("blocking_await", seconds)
        return Waiting[Any](UNBOUNDED, self, seconds=seconds).items(self)

    def to_single_default(self, item: T, /) -> Single[T]:
        """``item`` when this is complete."""
        return self.and_then(Single.just(item))

    def to_flowable(self) -> Flowable[Any]:
        """A stream without items."""
        return _results.Flowable._from(_silent(self))

    def to_observable(self) -> Observable[Any]:
        """A stream without items, for observers."""
        return _results.Observable._from(_silent(self))


def _exhaust(items: Iterable[object]) -> object:
    return deque(items, maxlen=0)


class _MaybeCalled:
    __slots__ = ("_function",)
    at_most_one: ClassVar[bool] = True

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def __iter__(self) -> Generator[Any, None, None]:
        value = user_call("from_callable", self._function)
        if value is not None:
            yield value


class _Acted:
    __slots__ = ("_action",)

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action

    def __iter__(self) -> Generator[Any, None, None]:
        user_call("from_action", self._action)
        yield from ()


def _error_head(error: Exception | Callable[[], Exception]) -> Head:
    if isinstance(error, Exception):
        return OperatorHead(operators.Error, (), (_Same(error),), shown=f"error({error!r})")
    check_callable("error", "error", error)
    return OperatorHead(operators.Error, (), (error,))


def _foreign(source: Any) -> Head:
    """Somebody else's source of at most one item: it has no demand, so it is polled behind an inbox."""
    return OperatorHead(operators.Wrap, (source,), shown=f"wrap({type(source).__name__})")


def _hidden(source: Any) -> Head:
    return OperatorHead(operators.Hide, (source,))


def _silent(source: Any) -> Head:
    return OperatorHead(operators.IgnoreElements, (source,), shown="ignore_elements()")


def _zipped(s1: Any, s2: Any, combiner: Any, operator: str = "zip") -> Head:
    check_source(operator, s1)
    check_source(operator, s2)
    if combiner is not None:
        check_callable(operator, "combiner", combiner)
    return OperatorHead(operators.Zip, (s1, s2), (combiner or operators.row_of, 2), many=True, shown="zip()")
