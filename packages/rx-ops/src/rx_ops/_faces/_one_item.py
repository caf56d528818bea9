"""What Single, Maybe and Completable stand on; their operators are generated (see ``tools/one_item``).

They are the same descriptions as Flowable (a head, a shape, arguments) whose run gives at most one item, so they fuse with what
they were made of, and one machinery runs all three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import (
    DEMAND,
    UNBOUNDED,
    CompletableBase,
    MaybeBase,
    Publisher,
    Scheduler,
    SingleBase,
    name_of,
    user_call,
)
from rx_core.streams import Waiting
from rx_fusion import Feed, Head, Operator, OperatorHead, Options, Pipeline, PlainFlow, SourceHead, operator_head, operator_of
from rx_ops import operators, stages
from rx_ops._faces import _results
from rx_ops._faces._conditional import equal_head
from rx_ops._faces._core import check_callable, check_future, check_one, check_seconds, check_source, default_scheduler

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rx_ops._faces._results import Flowable, Single
    from rx_ops.operators import CompletableEmitter, MaybeEmitter, SingleEmitter

    AnyEmitter = SingleEmitter[Any] | MaybeEmitter[Any] | CompletableEmitter

T_co = TypeVar("T_co", covariant=True)
PipelineT = TypeVar("PipelineT", bound=Pipeline[Any])

#: What may say when: a stream, or a source of at most one item.
AnySource = Publisher[object] | SingleBase[object] | MaybeBase[object] | CompletableBase


class OneItem(Pipeline[T_co]):
    """What the types of at most one item share."""

    __slots__ = ()

    _without_demand: ClassVar[bool] = True

    def _coordinate(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """This pipeline as the source of a coordinating operator."""
        return self._from(OperatorHead(function, (self,), args, **options))

    def _coordinate_into(self, face: type[PipelineT], function: Callable[..., Any], *args: Any, **options: Any) -> PipelineT:
        """The same, as another reactive type."""
        made: PipelineT = face._from(OperatorHead(function, (self,), args, **options))
        return made

    def _blocking(self, seconds: float | None) -> T_co | None:
        if seconds is not None:
            check_seconds("blocking_get", seconds)
        item: T_co | None = self._first(seconds)
        return item

    def _wait_for_the_end(self, seconds: float | None) -> None:
        self._gathered(_exhaust, self._all(seconds))

    def _all(self, seconds: float | None) -> Any:
        if seconds is None:
            return self._iterate()
        check_seconds("blocking_await", seconds)
        return Waiting[Any](UNBOUNDED, self, seconds=seconds).items(self)


def _exhaust(items: Iterable[object]) -> object:
    return deque(items, maxlen=0)


# -- sources -----------------------------------------------------------------------------------------------------------


class MaybeCalled:
    """``Maybe.from_callable``: what the function returns, unless it is None."""

    __slots__ = ("_function",)
    at_most_one: ClassVar[bool] = True

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def __iter__(self) -> Generator[Any, None, None]:
        value = user_call("from_callable", self._function)
        if value is not None:
            yield value


class Acted:
    """``Completable.from_action``: no item."""

    __slots__ = ("_action",)

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action

    def __iter__(self) -> Generator[Any, None, None]:
        user_call("from_action", self._action)
        yield from ()


def foreign(source: Any) -> Head:
    """A foreign source of at most one item."""
    return OperatorHead(operators.Wrap, (source,), shown=f"wrap({type(source).__name__})")


def from_future(future: object, give: Callable[[Any, Any], object], emitter: type[AnyEmitter], kind: str) -> Head:
    check_future("from_future", future, kind)
    return operators.CreateOneHead("from_future", operators.FutureSource(future, give), emitter, "from_future()")


def future_of(source: Any) -> Future[Any]:
    """``to_future``."""
    from rx_ops import _stream_future

    return _stream_future.future_of(source)


def hidden(source: Any) -> Head:
    return OperatorHead(operators.Hide, (source,))


class ItemHead(OperatorHead):
    """``to_flowable``."""

    __slots__ = ()
    relays: ClassVar[bool] = True


_WAITING: Final = Options(shown="to_flowable()")


def waiting(source: Any) -> Any:
    """``to_flowable``: the item is computed at once, and waits until it is requested."""
    shape = source._shape
    if source._head.absorbs and shape.stages and shape.stages[-1].gives_one:
        return source._as(_results.Flowable)  # it computes the item elsewhere, and what follows may be computed there too
    return _results.Flowable._from(operator_head(ItemHead, _to_flowable(), (source,), (), DEMAND, _WAITING))


@cache
def _to_flowable() -> Operator:
    return operator_of(operators.ToFlowableOne)


def only_end(source: object) -> OperatorHead:
    """A Completable may be a stream whose items are not looked at: without them."""
    return OperatorHead(operators.IgnoreElements, (source,), shown="ignore_elements()")


def silent(source: Any) -> Any:
    """The same Completable without items. A passive source may keep them: it has no queue in which they would wait."""
    return source if source._head.feed is not Feed.RUNNING else source._from(only_end(source))


def kept(source: Any) -> SourceHead:
    """``cache``."""
    text = f"{source!r}.cache()"
    shared = operators.cached(source._as(PlainFlow), default_scheduler(None), text)
    return SourceHead("cache", shared, text, (source,), ("one run for all, its result kept",))


# -- several of them ---------------------------------------------------------------------------------------------------


def zipped(
    sources: tuple[Any, ...], combiner: Any = None, delay_error: bool = False, operator: str = "zip", *, kind: str
) -> Head:
    """A row of the items of all. The combiner may stand behind the sources, as in RxJava."""
    if combiner is None and sources and callable(sources[-1]) and not hasattr(sources[-1], "subscribe"):
        *others, combiner = sources
        sources = tuple(others)
    for source in sources:
        check_one(operator, source, kind=kind)
    if combiner is not None:
        check_callable(operator, "combiner", combiner, kind)
    if combiner is None:
        combiner = operators.row_of
    if delay_error:
        return OperatorHead(operators.ZipLate, sources, (combiner,), many=True, shown="zip()")
    return OperatorHead(operators.Zip, sources, (combiner, 2), many=True, shown="zip()")


def items_of(kind: str, operator: str, sources: tuple[object, ...], **options: Any) -> Flowable[Any]:
    """A stream of the items of ``sources``, by an operator of Flowable."""
    for source in sources:
        check_source(operator, source, kind=kind)
    made: Flowable[Any] = getattr(_results.Flowable, operator)(*sources, **options)
    return made


def all_ended(face: Any, operator: str, sources: tuple[object, ...], delay_error: bool) -> OperatorHead:
    """The end of several Completables: ``concat``, ``merge``."""
    for source in sources:
        check_source(operator, source, kind=face.__name__)
    quiet = tuple([face._from(only_end(source)) for source in sources])
    if operator == "concat":
        return OperatorHead(operators.Concat, quiet, (delay_error,), many=True, shown="concat()")
    return OperatorHead(operators.Merge, quiet, (1, delay_error), window=1, many=True, shown="merge()")


def raced(*sources: object, operator: str = "amb", kind: str = "Flowable") -> OperatorHead:
    for source in sources:
        check_one(operator, source, kind=kind)
    return OperatorHead(operators.Amb if operator == "amb" else operators.FirstWithValue, sources, many=True)


def alike(sources: tuple[object, ...], comparer: Callable[[Any, Any], object] | None = None) -> Single[bool]:
    return _results.Single._from(equal_head(sources, comparer))


def ended(source: object, other: object, lost: Callable[[], Exception] | None = None) -> OperatorHead:
    check_source("take_until", other)
    return OperatorHead(operators.TakeUntil, (source, other), (lost, True), shown=f"take_until({other!r})")


def cancelled() -> Exception:
    from concurrent.futures import CancelledError

    return CancelledError("take_until(): the other source signalled before there was an item")


# -- the item and its time ---------------------------------------------------------------------------------------------


def mapped(name: str, source: Any, mapper: Callable[[Any], Any], kind: str = "") -> OperatorHead:
    """``kind``: "Single" or "Maybe" where the mapper has to make one."""
    check_callable(name, "mapper", mapper)
    called = operators.NamedOne(name, mapper, kind) if kind else operators.Named(name, mapper)
    return OperatorHead(operators.ConcatMap, (source,), (called,), shown=partial(_called, name, mapper))


def _called(name: str, function: Callable[..., Any]) -> str:
    return f"{name}({name_of(function)})"


def told(source: object) -> Single[Any]:
    """``materialize``."""
    made: Single[Any] = _results.Single._from(OperatorHead(operators.Materialize, (source,)))
    return made._then(stages.first_or_error)


def delayed(source: Any, seconds: float | None, scheduler: Scheduler | None, delay_error: bool) -> OperatorHead:
    check_seconds("delay", seconds)
    args = (float(seconds or 0), delay_error, default_scheduler(scheduler, "delay"), True)
    return OperatorHead(operators.Delay, (source,), args, shown=f"delay({seconds})")


def delayed_by(source: Any, seconds: float | None, selector: Callable[[Any], AnySource], *others: object) -> OperatorHead:
    if seconds is not None or any(others):
        raise TypeError("delay() takes seconds or selector=..., not both")
    check_callable("delay", "selector", selector)
    return OperatorHead(operators.DelayBy, (source,), (selector, 1), shown=f"delay({name_of(selector)})")


def limited(
    source: Any, seconds: float | None, until: AnySource | None, fallback: object | None, scheduler: Scheduler | None, kind: str
) -> OperatorHead:
    """``timeout``."""
    if fallback is not None:
        check_one("timeout", fallback, "fallback", kind=kind)
    if until is not None:
        if seconds is not None or scheduler is not None:
            raise TypeError("timeout() takes seconds or first=..., not both")
        check_source("timeout", until, "first")
        return OperatorHead(operators.TimeoutBy, (source,), (until, None, fallback, True), shown="timeout(first)")
    check_seconds("timeout", seconds)
    args = (float(seconds or 0), default_scheduler(scheduler, "timeout"), fallback, True)
    return OperatorHead(operators.Timeout, (source,), args, shown=f"timeout({seconds})")
