"""What all families of Flowable's methods stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core import FlowableBase, Scheduler, Subscriber, Worker, check_callable
from rx_core import scheduler as find_scheduler
from rx_fusion import Feed, Head, OperatorHead, Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rx_fusion._stage import StageFunction
    from rx_ops._faces._results import Flowable

T_co = TypeVar("T_co", covariant=True)

#: What can be iterated again and again, and need not be asked whether it can.
CONTAINERS: Final = frozenset((list, tuple, str, dict, set, frozenset, range, type({}.items()), type({}.values()), bytes))
CHECKED: Final = Feed.CHECKED


class FlowableCore(Pipeline[T_co], FlowableBase[T_co]):
    """A pipeline with the protocol of a publisher."""

    __slots__ = ()

    if TYPE_CHECKING:

        def subscribe_actual(self, subscriber: Subscriber[T_co], /) -> None: ...

    else:
        subscribe_actual = Pipeline._subscribe_items  # itself: one call less for each of many short streams

    if TYPE_CHECKING:
        # The same methods, with the face in their types.
        def _then(self, stage: StageFunction, *args: Any) -> Flowable[Any]: ...

        def _calling(self, stage: StageFunction, function: Callable[..., Any]) -> Flowable[Any]: ...

        def _counting(self, stage: StageFunction, count: int) -> Flowable[Any]: ...

        @classmethod
        def _from(cls, head: Head) -> Flowable[Any]: ...

        @classmethod
        def _known(cls, name: str, items: Iterable[Any], feed: Feed = Feed.CLEAN) -> Flowable[Any]: ...

    def _coordinate(self, function: Callable[..., Any], *args: Any, **options: Any) -> Flowable[Any]:
        """This pipeline as the source of a coordinating operator."""
        return self._from(OperatorHead(function, (self,), args, **options))


def check_count(operator: str, count: object, /, least: int = 0, name: str = "count") -> None:
    """Raise at assembly when a number of items is not a whole number of at least ``least``."""
    if type(count) is not int or count < least:
        raise bad_count(operator, count, least, name)


def bad_count(operator: str, count: object, /, least: int = 0, name: str = "count") -> TypeError | ValueError:
    """The error for something that is not a whole number of at least ``least``."""
    right = f"for example {operator}({max(least, 3)})"
    if type(count) is not int:
        return TypeError(f"{operator}({name}={count!r}): a whole number is needed, {right}")
    return ValueError(f"{operator}({name}={count}): at least {least} is needed, {right}")


def check_seconds(operator: str, seconds: object, /, name: str = "seconds") -> None:
    """Raise at assembly when a duration is not a non-negative number of seconds."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{operator}({name}={seconds!r}): a number of seconds is needed, for example {operator}(0.5)")
    if not seconds >= 0:
        raise ValueError(f"{operator}({name}={seconds}): seconds cannot be negative or NaN, for example {operator}(0.5)")


def check_source(operator: str, source: object, /, kind: str = "Flowable") -> None:
    """Raise at assembly when something that has to be a source is none."""
    if not hasattr(source, "subscribe"):
        hint = f"{kind}.from_iterable({source!r})" if hasattr(source, "__iter__") else f"{kind}.just({source!r})"
        raise TypeError(f"{operator}() expected a source with subscribe(), got {source!r}.\n  Right:  {operator}(..., {hint})")


class NamedScheduler(Scheduler):
    """A scheduler by name, found when a run starts and not when the pipeline is built: the clock belongs to the run."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def create_worker(self) -> Worker:
        return find_scheduler(self.name).create_worker()

    def now(self) -> float:
        return find_scheduler(self.name).now()

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return find_scheduler(self.name).shutdown(timeout)

    def __repr__(self) -> str:
        return f"{self.name}()"


_COMPUTATION = NamedScheduler("computation")


def default_scheduler(scheduler: Scheduler | None, operator: str = "") -> Scheduler:
    """The scheduler of time operators when none is given: ``computation``, from whichever package provides it."""
    if scheduler is None:
        return _COMPUTATION
    check_scheduler(operator, scheduler, "..., scheduler=")
    return scheduler


def check_scheduler(operator: str, scheduler: object, /, before: str = "") -> None:
    """Raise at assembly for what gives no workers: a name, or ``io`` in the place of ``io()``."""
    if not hasattr(scheduler, "create_worker"):
        right = f"rx_core.scheduler({scheduler!r})" if isinstance(scheduler, str) else "rx_schedulers.io()"
        raise TypeError(f"{operator}() expected a scheduler, got {scheduler!r}.\n  Right:  .{operator}({before}{right})")


def itself(item: Any) -> Any:
    """The key of an item that is compared by itself."""
    return item


def check_kind(operator: str, kind: Any, /) -> None:
    """Raise at assembly for what isinstance() cannot ask for."""
    try:
        isinstance(None, kind)
    except TypeError as error:
        raise TypeError(f"{operator}() expected a class, got {kind!r} ({error}).\n  Right:  .{operator}(int)") from None


__all__ = [
    "CHECKED",
    "CONTAINERS",
    "FlowableCore",
    "NamedScheduler",
    "bad_count",
    "check_callable",
    "check_count",
    "check_kind",
    "check_scheduler",
    "check_seconds",
    "check_source",
    "default_scheduler",
    "itself",
]
