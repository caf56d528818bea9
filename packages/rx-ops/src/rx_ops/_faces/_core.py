"""What all families of Flowable's methods stand on."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core import (
    FlowableBase,
    MaybeBase,
    ObservableBase,
    Scheduler,
    SingleBase,
    Subscriber,
    Worker,
    check_callable,
    current_scheduler,
    name_of,
)
from rx_core import scheduler as find_scheduler
from rx_core._advice import right_call
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

    @classmethod
    def _begun_wrongly(cls, *given: object) -> TypeError:
        return begun_wrongly(cls, "Flowable", given, "empty()")

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
    right = f"for example {right_call(operator, name, str(max(least, 3)))}"
    if type(count) is not int:
        return TypeError(f"{operator}({name}={count!r}): a whole number is needed, {right}")
    return ValueError(f"{operator}({name}={count}): at least {least} is needed, {right}")


def check_seconds(operator: str, seconds: object, /, name: str = "seconds") -> None:
    """Raise at assembly when a duration is not a non-negative number of seconds."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        right = right_call(operator, name, "0.5")
        raise TypeError(f"{operator}({name}={seconds!r}): a number of seconds is needed, for example {right}")
    if not seconds >= 0:
        right = right_call(operator, name, "0.5")
        raise ValueError(f"{operator}({name}={seconds}): seconds cannot be negative or NaN, for example {right}")


def check_future(operator: str, future: Any, /, kind: str = "Flowable") -> None:
    """Raise at assembly for what is no future of an executor."""
    if hasattr(future, "get_loop") or hasattr(future, "__aiter__"):
        raise TypeError(
            f"{operator}() expected a concurrent.futures.Future, got {future!r}, which belongs to an event loop.\n"
            f"  Right:  {kind}.wrap(rx_asyncio.{operator}(future))"
        )
    if not hasattr(future, "add_done_callback"):
        raise TypeError(
            f"{operator}() expected a concurrent.futures.Future, got {future!r}.\n"
            f"  Right:  {kind}.{operator}(executor.submit(function))"
        )


def check_source(operator: str, source: object, /, argument: str = "", *, kind: str = "Flowable") -> None:
    """Raise at assembly for what is no source. ``argument`` is its parameter, unless that is the first or takes several."""
    if not hasattr(source, "subscribe"):
        right = _right_source(operator, source, argument, kind)
        raise TypeError(f"{operator}() expected a source with subscribe(), got {source!r}.\n{right}")


@lru_cache(maxsize=256)  # isinstance() costs, for ABCs, as much as all else in wrap
def _kind_of(cls: type) -> str:
    """The name of the reactive type that a class is of; "" for a foreign one."""
    bases = {"Flowable": FlowableBase, "Observable": ObservableBase, "Single": SingleBase, "Maybe": MaybeBase}
    return next((name for name, base in bases.items() if issubclass(cls, base)), "")


def check_one(operator: str, source: object, /, argument: str = "", *, kind: str) -> None:
    """As ``check_source``; and a Single or a Maybe takes none of several items, of which it would give now this one, now that."""
    check_source(operator, source, argument, kind=kind)
    if kind in ("Single", "Maybe"):
        of = _kind_of(type(source))  # type: ignore[arg-type]  # mypy does not know that a class is hashable
        if of in ("Flowable", "Observable"):
            first = "first()" if kind == "Single" else "first_element()"
            raise TypeError(
                f"{operator}() of a {kind} expected a {kind}, got the {of} {source!r}, which may give several items.\n"
                f"  Right:  {right_call(operator, argument, f'source.{first}', face=kind)}"
            )


def check_wrapped(kind: str, source: object, /) -> None:
    """Raise at assembly for what ``wrap`` of ``kind`` cannot take: no source, or one of another number of items."""
    check_source("wrap", source, kind=kind)
    of = _kind_of(type(source))  # type: ignore[arg-type]  # mypy does not know that a class is hashable
    if kind in ("Flowable", "Observable"):
        if of in ("Single", "Maybe"):
            raise TypeError(
                f"{kind}.wrap() expected a stream, got the {of} {source!r}.\n  Right:  {of}.wrap(source).to_{kind.lower()}()"
            )
    elif kind != "Completable" and of in ("Flowable", "Observable"):
        ends = ("single()", "first()") if kind == "Single" else ("single_element()", "first_element()")
        raise TypeError(
            f"{kind}.wrap() expected a {kind}, got the {of} {source!r}, which may give several items.\n"
            f"  Right:  {of}.wrap(source).{ends[0]}\n"
            f"  Or:     {of}.wrap(source).{ends[1]}   # and no more"
        )


def _right_source(operator: str, source: Any, argument: str, kind: str) -> str:
    if isinstance(source, (list, tuple)) and source and all(hasattr(each, "subscribe") for each in source):
        call = right_call(operator, argument, "*sources", face=kind)
        if "*sources" in call and "=" not in call:
            return f"  Right:  {call.replace('..., ', '')}   # each source is an argument"
    if hasattr(source, "__aiter__"):
        return f"  Right:  {right_call(operator, argument, 'rx_asyncio.from_async_iterable(source)')}   # or rx_trio's in trio"
    if callable(source) and operator in ("zip", "combine_latest", "with_latest_from"):
        return f"  Right:  {right_call(operator, 'combiner', name_of(source), face=kind)}"
    begins = "complete()" if kind == "Completable" else f"just({source!r})"
    if kind in ("Flowable", "Observable") and hasattr(source, "__iter__"):
        begins = f"from_iterable({source!r})"
    return f"  Right:  {right_call(operator, argument, f'{kind}.{begins}', face=kind)}"


def check_seeded(operator: str, argument: str, function: object, seed: object, /) -> None:
    """As ``check_callable``, for a function and a seed, which other libraries take in the other order."""
    if not callable(function) and callable(seed):
        raise TypeError(
            f"{operator}() expected a function as {argument}, got {function!r}.\n"
            f"  Right:  .{operator}({name_of(seed)}, {function!r})   # the function first"
        )
    check_callable(operator, argument, function)


#: What makes one item, or the end, of a stream of another type.
_CONVERTED: Final = {
    ("Flowable", "Single"): "first()",
    ("Flowable", "Maybe"): "first_element()",
    ("Flowable", "Completable"): "ignore_elements()",
    ("Single", "Completable"): "ignore_element()",
    ("Maybe", "Completable"): "ignore_element()",
}


def begun_wrongly(cls: type, kind: str, given: tuple[Any, ...], nothing: str) -> TypeError:
    """The error for a type that was called as if it were a constructor. ``nothing`` is what makes one given nothing."""
    text = ", ".join(map(repr, given))
    if cls.__name__ != kind and not given:
        article = "an" if kind == "Observable" else "a"
        return TypeError(
            f"{cls.__name__}(): {article} {kind} stands for a source; one of your own is a class for itself.\n"
            f"  Right:  class {cls.__name__}(rx_core.{kind}Base[int]): ...   # with subscribe_actual(self, subscriber)\n"
            f"  Then:   {kind}.wrap({cls.__name__}())"
        )
    right = _begun_rightly(kind, given, nothing)
    return TypeError(f"{kind}({text}): it is named after where its items come from.\n  Right:  {right}")


def _begun_rightly(kind: str, given: tuple[Any, ...], nothing: str) -> str:
    many = kind in ("Flowable", "Observable")
    ends = kind == "Completable" and not (given and (callable(given[0]) or hasattr(given[0], "subscribe")))
    if ends or not given or given == (None,):
        return f"{kind}.{nothing}"
    first = given[0]
    if hasattr(first, "subscribe"):
        of = _kind_of(type(first))  # type: ignore[arg-type]  # as above
        if many and of in ("Single", "Maybe"):
            return f"source.to_{kind.lower()}()"
        made = _CONVERTED.get((of.replace("Observable", "Flowable"), kind))
        return f"{kind}.wrap(source)" if made is None else f"source.{made}"
    if hasattr(first, "__aiter__"):
        return f"{kind}.wrap(rx_asyncio.from_async_iterable(source))   # or rx_trio's in trio"
    if callable(first):
        return f"{kind}.{'from_action' if kind == 'Completable' else 'from_callable'}({name_of(first)})"
    if many and len(given) > 1:
        return f"{kind}.of({', '.join(map(repr, given))})"
    if many and hasattr(first, "__iter__") and not isinstance(first, (str, bytes)):
        return f"{kind}.from_iterable({first!r})"
    return f"{kind}.just({first!r})"


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


class DefaultScheduler(NamedScheduler):
    """That of time operators: of the event loop on whose thread they are subscribed, else ``computation``.

    Its own clock, of what is kept for several subscribers (replay), is that of ``computation``: they may be of several loops.
    """

    __slots__ = ()

    def create_worker(self) -> Worker:
        current = current_scheduler()
        return super().create_worker() if current is None else current.create_worker()

    def __repr__(self) -> str:
        current = current_scheduler()  # who explains sees what a subscription here would take
        return super().__repr__() if current is None else repr(current)


_DEFAULT = DefaultScheduler("computation")


def default_scheduler(scheduler: Scheduler | None, operator: str = "") -> Scheduler:
    """The scheduler of time operators when none is given, from whichever package provides it."""
    if scheduler is None:
        return _DEFAULT
    check_scheduler(operator, scheduler)
    return scheduler


def check_scheduler(operator: str, scheduler: object, /) -> None:
    """Raise at assembly for what gives no workers: a name, or ``io`` in the place of ``io()``."""
    if not hasattr(scheduler, "create_worker"):
        right = f"rx_core.scheduler({scheduler!r})" if isinstance(scheduler, str) else "rx_schedulers.io()"
        call = right_call(operator, "scheduler", right)
        raise TypeError(f"{operator}() expected a scheduler, got {scheduler!r}.\n  Right:  {call}")


def check_name(name: object, /) -> str:
    """What ``named`` was given, where that is a text. Else raise at assembly."""
    if not isinstance(name, str):
        raise TypeError(f"named() expected a text, got {name!r}.\n  Right:  .named('orders')")
    return name


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
    "begun_wrongly",
    "check_callable",
    "check_count",
    "check_kind",
    "check_name",
    "check_scheduler",
    "check_seconds",
    "check_seeded",
    "check_source",
    "default_scheduler",
    "itself",
    "right_call",
]
