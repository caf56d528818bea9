"""A passive source with its stages at work for one subscriber; or for one that polls it (micro-fusion)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core import OPERATOR_CODES, UNBOUNDED, as_signal
from rx_core.queue_fusion import ANY, BOUNDARY, NONE, SYNC, fusion_enabled
from rx_core.streams import CLOSABLE, CONSTANT, EXACT, Failed, Outcome, Pump, close, without_this_frame
from rx_fusion._forms import Feed, Form
from rx_fusion._heads import Head, IterableHead
from rx_fusion._operators import OperatorHead
from rx_fusion._shapes import EMIT, EMIT_ALL, PULL_DRAINED

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_core.streams import Stream
    from rx_fusion._shapes import Shape

T = TypeVar("T")

_END: Final[Any] = object()

#: Iterables that run no user code.
_PLAIN: Final = frozenset({range, list, tuple, str, bytes, bytearray, dict, set, frozenset})


def open_items(pump: Pump[Any], plan: tuple[Head, Shape, tuple[Any, ...]], forms: dict[Feed, Form] = PULL_DRAINED) -> None:
    """Let ``pump`` give the items of a passive source with its stages, pulled or emitted. A source that cannot be opened is one
    that fails."""
    head, shape, args = plan
    try:
        items: Any = iter(head._items) if type(head) is IterableHead else head.open()  # a call is dear here
        if type(items) in EXACT and (shape.ends_with_source or (shape.ends_behind_head and items.__length_hint__())):
            pump.hint = items.__length_hint__
            if not shape and head.feed is Feed.CLEAN and type(items) in CONSTANT:
                pump.items = items  # there is nothing to check, and nothing to add
                return
        elif isinstance(head, IterableHead) and head.at_most_one and shape.one_of_one:
            items = AtMostOne(items)
            pump.hint = items.__length_hint__
        if shape.gives_one:
            pump.items = only = AtMostOne(shape.pull(items, pump, head, args, PULL_DRAINED[head.feed]))
            pump.hint = only.__length_hint__
            return
        pump.items = shape.pull(items, pump, head, args, forms[head.feed])
        if forms is not PULL_DRAINED:
            pump.emits = True
            if type(items) in CLOSABLE:
                pump.beneath = (items,)
    except (Exception, GeneratorExit) as error:
        pump.items = failing(without_this_frame(error))
        pump.hint = None


def answers_late(head: Head, shape: Shape, args: tuple[Any, ...]) -> bool:
    """See Stream, of a passive source. In RxJava what is known to be empty completes without a request, and a function is
    called without one."""
    if not shape.relays_requests(args):
        return False
    if not isinstance(head, IterableHead):
        return True
    return bool(head._items) if head.is_one_of(_PLAIN) else not head.at_most_one


class AtMostOne:
    """The iterator of a source that gives one item at most: the end behind that needs no demand."""

    __slots__ = ("items", "left")

    items: Iterator[Any]
    left: int

    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items
        self.left = 1

    def __iter__(self) -> AtMostOne:
        return self

    def __next__(self) -> Any:
        self.left = 0
        return next(self.items)

    def __length_hint__(self) -> int:
        return self.left

    def close(self) -> None:
        close(self.items)


class SourceRun(Pump[T]):
    """Opens the source of a plan, and offers itself as a queue where that moves no function to another thread."""

    __slots__ = ("args", "head", "polls", "shape")

    head: Head
    shape: Shape
    args: tuple[Any, ...]
    origin: Stream[T]
    #: None, until SYNC was granted. Then one entry, taken out by the thread that polls or closes.
    polls: Any

    def __init__(self, down: Subscriber[T], plan: tuple[Head, Shape, tuple[Any, ...]], origin: Stream[T]) -> None:
        super().__init__(down, origin)
        self.head, self.shape, self.args = plan
        self.polls = None

    def open(self) -> None:
        if self.polls is not None:
            return
        open_items(self, (self.head, self.shape, self.args), EMIT_ALL if self.wants_all else EMIT)

    def after_answer(self, then: Callable[[], object], /) -> None:
        if self.origin._answers_late:  # not what a rule has made of it, which is asked in another way: merge(just, just)
            super().after_answer(then)
        else:
            then()

    # -- as a queue ----------------------------------------

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self.down

    def request_fusion(self, mode: int, /) -> int:
        if self.token or self.polls is not None or not fusion_enabled():
            return NONE  # it is too late: the Subscription was given out and things flow
        offer = offered_modes(self.head, self.args)[0]
        if not mode & offer & ANY or (mode & BOUNDARY and not offer & BOUNDARY):
            return NONE
        open_items(self, (self.head, self.shape, self.args))  # now: it may be polled before on_subscribe has returned
        self.polls = [True]
        return SYNC

    def step(self, demand: int) -> int:
        return demand if self.polls is not None else super().step(demand)

    def close(self) -> None:
        polls = self.polls
        if polls is not None:
            try:
                polls.pop()
            except IndexError:
                return  # a thread polls just now, and closes afterwards; or it is closed
        super().close()

    def poll(self) -> T | None:
        polls = self.polls
        try:
            polls.pop()
        except IndexError:
            return None  # cancelled, or complete
        item: Any = _END
        try:
            if not self.stopped:
                item = next(self.items, _END)
        except (Exception, GeneratorExit) as error:
            failure = as_signal(error)
        except BaseException:
            self.stopped = True  # KeyboardInterrupt and its like: a dead generator is not a completed one
            self.end_polling()
            raise
        else:
            if item is _END or self.stopped:
                self.end_polling()
                return None if item is _END else item
            polls.append(True)
            if self.stopped:  # cancelled meanwhile: publish first, look afterwards
                self.close()  # type: ignore[unreachable]  # set by another thread
            return item  # type: ignore[no-any-return]  # what the source gives
        self.end_polling()
        raise failure

    def end_polling(self) -> None:
        self.stopped = True
        super().close()

    def poll_many(self, n: int, /) -> list[T]:
        batch: list[T] = []
        try:
            while len(batch) < n and (item := self.poll()) is not None:
                batch.append(item)
        except Exception as error:
            if not batch:
                raise
            self.stopped = False
            self.items = failing(error)  # behind the items that came before it
            self.polls.append(True)
        return batch

    def is_empty(self) -> bool:
        return self.stopped or self.last or (self.hint is not None and not self.hint())

    def clear(self) -> None:
        """Nothing waits here; cancelling closes the source."""


class ConditionalSourceRun(SourceRun[T]):
    """For a subscriber that says whether it wanted an item: one that it dropped does not count as requested."""

    __slots__ = ()

    def open(self) -> None:
        if self.polls is None:
            open_items(self, (self.head, self.shape, self.args))

    def give(self, items: Iterator[Any], demand: int) -> tuple[int, Outcome]:
        wanted: Callable[[Any], bool] = self.down.try_on_next
        try:
            while demand:
                item = next(items, _END)
                if item is _END:
                    return demand, True
                try:
                    counts = wanted(item)
                except BaseException as error:
                    self.emit_failed(error)
                if counts and demand != UNBOUNDED:
                    demand -= 1
                if self.dirty:
                    break
        except (Exception, GeneratorExit) as error:
            return demand, Failed(without_this_frame(error))
        return demand, type(items) in EXACT and not items.__length_hint__()  # type: ignore[attr-defined]  # these have it


def subscribe_source(down: Subscriber[Any], plan: tuple[Head, Shape, tuple[Any, ...]], origin: Stream[Any]) -> None:
    """Run a passive source for ``down``."""
    conditional = getattr(down, "try_on_next", None) is not None and fusion_enabled()
    (ConditionalSourceRun if conditional else SourceRun)(down, plan, origin).start()


def offered(head: Head, shape: Shape, args: tuple[Any, ...]) -> tuple[int, str]:
    """What a run of this plan grants a consumer that polls, as modes (BOUNDARY: across threads as well), and why not more."""
    if head.scheduler is not None:
        return NONE, f"runs on a worker of {head.scheduler!r}, and polling would take it elsewhere"
    if head.feed is not Feed.RUNNING:
        return offered_modes(head, args)
    if isinstance(head, OperatorHead):
        return NONE, f"{head.name} pushes what is requested"
    if head.upstream:
        return NONE, f"{head.name} is a wall"
    if not shape.steps:
        return NONE, "it has a queue of its own"
    return ANY, "where its source does; not across threads if there are functions"


def offered_modes(head: Head, args: tuple[Any, ...]) -> tuple[int, str]:
    """What a run of a passive source grants a consumer that polls, and why not more.

    Fusion must not move a function to another thread. Un-fused, the functions of a passive source run on the thread that
    requests; polled, on the one that polls. Where these may differ (BOUNDARY), SYNC is granted only if there is no function.
    """
    if not (isinstance(head, IterableHead) and head.is_one_of(_PLAIN)):
        return SYNC, f"not across threads: {head.name} may run user code"
    if any(callable(arg) for arg in args):
        return SYNC, "not across threads: its functions would move"
    return SYNC | BOUNDARY, ""


def failing(error: Exception) -> Iterator[Any]:
    """A source that cannot be started is one that fails."""
    yield from ()
    raise error


OPERATOR_CODES.add(failing.__code__)
