"""Where streams begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, TypeVar, overload

from rx_core import Publisher, check_prefetch, composite, name_of, none_argument, user_call
from rx_fusion import Feed, IterableHead, OperatorHead, PublisherHead
from rx_ops import operators
from rx_ops._emitters import GenerateEmitter
from rx_ops._faces._core import CHECKED, CONTAINERS, FlowableCore, check_callable, check_wrapped
from rx_ops._faces._text import written_iterable, written_wrap
from rx_ops.operators import BackpressureStrategy, Emitter

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)


class FlowableCreate(FlowableCore[T_co]):
    """Where streams begin."""

    __slots__ = ()

    @classmethod
    def just(cls, item: T) -> Flowable[T]:
        """One item, known now.

        ::  1|

        Demand:  one item.   Errors: TypeError at assembly for None.
        Memory:  the item.   Thread: the one that requests.   Fusion: synchronous source.
        Source:  RxJava ``just``.
        """
        if item is None:
            raise none_argument("just(None)", "item")
        return cls._known("just", (item,))

    @overload
    @classmethod
    def of(cls, i1: T1, i2: T2, /) -> Flowable[T1 | T2]: ...
    @overload
    @classmethod
    def of(cls, i1: T1, i2: T2, i3: T3, /) -> Flowable[T1 | T2 | T3]: ...
    @overload
    @classmethod
    def of(cls, i1: T1, i2: T2, i3: T3, i4: T4, /) -> Flowable[T1 | T2 | T3 | T4]: ...
    @overload
    @classmethod
    def of(cls, *items: T) -> Flowable[T]: ...
    @classmethod
    def of(cls, *items: Any) -> Flowable[Any]:
        """These items, known now.

        ::  1-2-3|

        Demand:  as requested.   Errors: TypeError at assembly for a None among them.
        Memory:  the items.   Thread: the one that requests.   Fusion: synchronous source.
        Source:  RxJava ``fromArray``.
        """
        for item in items:
            if item is None:
                raise none_argument(f"of{items!r}", "an item")
        return cls._known("of", items)

    @classmethod
    def range(cls, start: int, stop: int | None = None, step: int = 1) -> Flowable[int]:
        """Whole numbers, as the builtin ``range`` gives them.

        ::  0-1-2|

        Demand:  as requested.   Errors: what ``range`` raises, at assembly.
        Memory:  none.   Thread: the one that requests.   Fusion: synchronous source, the best there is.
        Source:  builtin ``range``.
        """
        if stop is None and step == 1:
            return cls._known("range", range(start))
        return cls._known("range", range(start, stop, step))  # type: ignore[arg-type]  # a step without an end is its error

    @classmethod
    def from_iterable(cls, items: Iterable[T]) -> Flowable[T]:
        """The items of ``items``, iterated anew for each subscription.

        ::  1-2-3|

        Demand:  pulled as requested.
        Errors:  what iterating raises; TypeError for a None among the items; RuntimeError for a second subscription to something
                 that can be iterated only once (a generator, a file): give a list, or :meth:`defer` with a function that
                 opens it.
        Memory:  none.   Thread: the one that requests.   Fusion: synchronous source. A generator or a file is closed
                 on cancel: at once, if the item that is dealt with is its own.
        Source:  RxJava ``fromIterable``.
        """
        if type(items) in CONTAINERS:  # nothing has to be asked
            return cls._known("from_iterable", items, CHECKED)
        if not hasattr(items, "__iter__"):
            right = f"just({items!r})"
            if hasattr(items, "__aiter__"):
                right = "wrap(rx_asyncio.from_async_iterable(source))   # or rx_trio's in trio"
            raise TypeError(f"from_iterable() needs something to iterate, got {items!r}.\n  Right:  Flowable.{right}")
        if hasattr(items, "__next__"):
            return cls._from(IterableHead("from_iterable", _Once(items), written_iterable(items)))
        return cls._known("from_iterable", items, CHECKED)

    @classmethod
    def from_callable(cls, function: Callable[[], T]) -> Flowable[T]:
        """What ``function`` returns, called for each subscription when an item is requested.

        ::  1|

        Demand:  one item.   Errors: what ``function`` raises; TypeError when it returns None.
        Memory:  none.   Thread: the one that requests.   Fusion: synchronous source.
        Source:  RxJava ``fromCallable``.
        """
        check_callable("from_callable", "function", function)
        name = f"from_callable({name_of(function)})"
        return cls._from(IterableHead("from_callable", _Called(function), name))

    @classmethod
    def generate(
        cls,
        initial: Callable[[], S],
        step: Callable[[S, GenerateEmitter[T]], S],
        *,
        dispose: Callable[[S], object] | None = None,
    ) -> Flowable[T]:
        """A state and a function that makes the next item of it: ``step(state, emitter)`` returns the new state.

        ::  1-2-3|

        Demand:  ``step`` is called once for each item requested. An end that it tells together with an item is seen with the
                 next request.
        Errors:  what the functions raise or pass to ``emitter.on_error``; RuntimeError for a step that sends two items or
                 nothing.
        Memory:  the state.   Thread: the one that requests.   Fusion: synchronous source.
        Source:  RxJava ``generate``; ``dispose`` gets the last state. A plain generator function in :meth:`from_iterable`
                 often reads better.
        """
        check_callable("generate", "initial", initial)
        check_callable("generate", "step", step)
        if dispose is not None:
            check_callable("generate", "dispose", dispose)
        return cls._from(IterableHead("generate", _Generated(initial, step, dispose), f"generate({name_of(step)})"))

    @classmethod
    def defer(cls, supplier: Callable[[], Publisher[T]]) -> Flowable[T]:
        """The source that ``supplier`` makes for each subscription.

        ::  --1--2|

        Demand:  passes through.   Errors: what ``supplier`` raises; TypeError when it returns no source.
        Memory:  none.   Thread: ``supplier`` runs on the one that subscribes.   Fusion: that of the source.
        Source:  RxJava ``defer``.
        """
        check_callable("defer", "supplier", supplier)
        return cls._from(operators.DeferHead(supplier))

    @classmethod
    def create(
        cls,
        source: Callable[[Emitter[T]], object],
        strategy: BackpressureStrategy = BackpressureStrategy.BUFFER,
        *,
        capacity: int | None = None,
        on_drop: Callable[[T], object] | None = None,
    ) -> Flowable[T]:
        """A callback that pushes into an emitter, for listeners and other APIs that cannot be asked.

        ::  --1--2--3|

        Demand:  ``strategy`` decides about an item that was not requested: BUFFER (at most ``capacity``), DROP, LATEST, ERROR.
        Errors:  what ``source`` raises; MissingBackpressureError by strategy; TypeError for None.
        Memory:  ``capacity`` items, or whatever the source is ahead.   Thread: the one that pushes, or the one that requests.
        Fusion:  a wall.
        Source:  RxJava ``create``. ``emitter.set_cancellable`` unregisters a listener.
        """
        check_callable("create", "source", source)
        if not isinstance(strategy, BackpressureStrategy):
            raise TypeError(
                f"create() needs a BackpressureStrategy, got {strategy!r}.\n"
                f"  Right:  Flowable.create(..., strategy=BackpressureStrategy.BUFFER)"
            )
        if capacity is not None:
            check_prefetch("create", capacity, "capacity")
        if on_drop is not None:
            check_callable("create", "on_drop", on_drop)
        text = f"create({name_of(source)}, {strategy.name})"
        return cls._from(operators.CreateHead("create", source, strategy, capacity, on_drop, text))

    @classmethod
    def wrap(cls, publisher: Publisher[T]) -> Flowable[T]:
        """A foreign publisher with our operators; ours as it is.

        ::  --1--2--3|

        Demand:  passes through.   Errors: pass through; TypeError at assembly for something that is no publisher.
        Memory:  none.   Thread: the publisher's.   Fusion: stages are pushed through without a queue.
        Source:  RxJava ``fromPublisher``.
        """
        if type(publisher) is cls:
            return publisher  # type: ignore[return-value]  # it is the Flowable
        check_wrapped("Flowable", publisher)
        return cls._from(PublisherHead("wrap", publisher, written_wrap(publisher)))

    @classmethod
    def empty(cls) -> Flowable[Never]:
        """No items.

        ::  |

        Demand:  none needed.   Errors: none.   Memory: none.   Thread: the one that subscribes.   Fusion: synchronous source.
        Source:  RxJava ``empty``.
        """
        return cls._from(IterableHead("empty", (), "empty()", feed=Feed.CLEAN))

    @classmethod
    def never(cls) -> Flowable[Never]:
        """No items and no end.

        ::  --

        Demand:  ignored.   Errors: none.   Memory: none.   Thread: none.   Fusion: none.
        Source:  RxJava ``never``.
        """
        return cls._from(OperatorHead(operators.Never, ()))

    @classmethod
    def error(cls, error: Exception | Callable[[], Exception]) -> Flowable[Never]:
        """Fails with ``error``, or with what the function makes for each subscription.

        ::  #

        Demand:  none needed.   Errors: this one; TypeError at assembly for something that is neither.
        Memory:  none.   Thread: the one that subscribes.   Fusion: none.
        Source:  RxJava ``error``. An exception object collects tracebacks when it is raised again: give a function for many runs.
        """
        if isinstance(error, Exception):
            supplier: Callable[[], Exception] = _Same(error)
        else:
            check_callable("error", "error", error)
            supplier = error
        return cls._from(OperatorHead(operators.Error, (), (supplier,), shown=f"error({name_of(error)})"))


class _Generated(Generic[S, T]):
    __slots__ = ("_dispose", "_initial", "_step")

    def __init__(
        self,
        initial: Callable[[], S],
        step: Callable[[S, GenerateEmitter[T]], S],
        dispose: Callable[[S], object] | None,
    ) -> None:
        self._initial, self._step, self._dispose = initial, step, dispose

    def __iter__(self) -> Iterator[T]:
        state = user_call("generate", self._initial)
        emitter: GenerateEmitter[T] = GenerateEmitter()
        try:
            while not emitter.done:
                state = user_call("generate", self._step, state, emitter)
                item, emitter.item = emitter.item, None
                if item is not None:
                    yield item
                elif not emitter.done:
                    raise RuntimeError(
                        "generate(): a step sent neither an item nor the end.\n"
                        "  Right:  emitter.on_next(x) or emitter.on_complete()"
                    )
            if emitter.error is not None:
                raise emitter.error
        except Exception as error:
            self._ended(state, error)
            raise
        except BaseException:  # it is closed
            self._ended(state, None)
            raise
        self._ended(state, None)

    def _ended(self, state: S, error: Exception | None) -> None:
        """Give the state back. A failure of that does not hide the stream's own ``error``."""
        if self._dispose is None:
            return
        try:
            self._dispose(state)
        except Exception as failure:
            if error is None:
                raise
            raise composite([error, failure]) from None


class _Once(Generic[T]):
    """Something that can be iterated only once: a second run is told so instead of getting nothing."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T]) -> None:
        self._items = {0: items}

    def __iter__(self) -> Iterator[T]:
        items = self._items.pop(0, None)  # atomic: exactly one run gets it
        if items is None:
            raise RuntimeError(
                "from_iterable(): this iterator was used by an earlier subscription and cannot start again.\n"
                "  For values that fit in memory:  Flowable.from_iterable(list(items))\n"
                "  To open it for each run:        Flowable.defer(lambda: Flowable.from_iterable(open_it()))"
            )
        return iter(items)


class _Called(Generic[T]):
    __slots__ = ("_function",)
    at_most_one: ClassVar[bool] = True

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function

    def __iter__(self) -> Iterator[T]:
        yield user_call("from_callable", self._function)


class _Same:
    """A supplier of one exception, written so that it can be pickled."""

    __slots__ = ("_error",)

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __call__(self) -> Exception:
        return self._error
