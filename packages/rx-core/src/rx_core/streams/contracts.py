"""What operators and the sources of this library say to each other beyond the Reactive Streams protocol.

This is the one file of internal contracts. A source is *passive* when it is cold and synchronous: nothing happens until it is
asked, and nothing is missed by asking late (iterables, ranges, callables, and stages over them). Only passive sources are pulled;
everything else pushes into what its consumer requested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader, TextIOWrapper
from operator import length_hint
from types import GeneratorType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from rx_core import _hooks
from rx_core._reactive import CompletableBase, MaybeBase, SingleBase

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T_co = TypeVar("T_co", covariant=True)

_WITHOUT_DEMAND: Final = (SingleBase, MaybeBase, CompletableBase)

#: The number of a request. Not int: compiled code would raise for another thing, which is a signal here (RS 3.9).
Amount: TypeAlias = Any


class Stopping(Protocol):
    """What a pulled source looks at between two items: whether its consumer has left."""

    @property
    def stopped(self) -> bool: ...


class Subscribing(Protocol):
    """What can be subscribed to a source of any kind."""

    def open(self, source: Any, /) -> None: ...


class Listening(Protocol):
    """What is subscribed to a source, or will be; to be stopped by any thread."""

    up: Any

    def stop(self) -> None: ...


class Stream(Generic[T_co]):
    """A source of this library. It keeps the protocol, never signals None, and nothing after its end."""

    __slots__ = ()

    #: Whether that is relied on behind a wall, or checked.
    _trusted: ClassVar[bool] = True
    #: See ``takes_requests``.
    _takes_requests: ClassVar[bool] = True
    #: See :func:`without_demand`.
    _without_demand: ClassVar[bool] = False

    @property
    def _run_name(self) -> str | None:
        """What ``named`` calls it, for who looks at its runs."""
        return None

    @property
    def _written(self) -> str:
        """The call of the operator in front of its stages, as far as it can be told: ``flat_map(load)``."""
        return ""

    def _subscribe_items(self, subscriber: Subscriber[Any], /) -> None:
        """Subscribe a subscriber that requests, whatever reactive type this is. No hook is called."""
        raise NotImplementedError

    def _passive_items(self, run: Stopping | None, beneath: list[Any] | None = None, /) -> Iterator[T_co] | None:
        """The items of one run of a passive source; None: the source pushes and has to be subscribed.

        The iterator raises what the source or a stage raises, ends early once ``run.stopped`` is true, and gives no None. Without
        ``run`` it is closed instead, by the thread that iterates it. ``beneath`` gets the iterator that it reads, where the end
        of that is known and is its own (see :func:`is_exhausted`).
        """
        return None

    def _known_item(self) -> T_co | None:
        """The only item of a source that runs no code for it (RxJava ``ScalarSupplier``); None: it is none, or not looked at."""
        return None

    def _passive_into(self, _pump: Any, /) -> bool:
        """As :meth:`_passive_items` for an operator that emits them under demand: sets the iterator of a :class:`Pump`, and how
        the end is known. False: the source pushes."""
        return False

    @property
    def _gives_one(self) -> bool:
        """Whether the items of a passive source are one at most, so that behind the first only the end can follow."""
        return self._without_demand and not isinstance(self, CompletableBase)

    @property
    def _computes(self) -> bool:
        """Whether all that is requested is computed by the thread that requests it: a passive source, perhaps behind walls."""
        return False

    @property
    def _sends(self) -> bool:
        """Whether one of the sources that it is written with may send by itself: its items are missed until it is subscribed."""
        return True

    @property
    def _answers_late(self) -> bool | None:
        """Of a passive source: whether RxJava's sends its items from inside of a request, see SettlesDemand.after_answer.
        None: its Subscription knows."""
        return None

    def _unrelayed(self) -> Stream[T_co]:
        """The same items for a consumer that wants everything: without what only keeps one until it is requested."""
        return self

    def _loop_items(self, run: Stopping | None, /) -> Iterator[T_co] | None:
        """As :meth:`_passive_items` for a consumer that wants everything: an operator over passive sources may be pulled too.

        The iterator raises :class:`Handover` when it meets a source that pushes. None: the source has to be subscribed.
        """
        return None


def without_demand(source: Any) -> bool:
    """Whether nothing is requested of ``source``: a Single, Maybe or Completable is computed when it is subscribed, and its item
    waits until it is wanted."""
    if isinstance(source, Stream):
        return source._without_demand  # to ask for an abstract class costs as much as an operator
    return isinstance(source, _WITHOUT_DEMAND)


def computed_at_once(source: Any) -> bool:
    """Whether the only item of a passive ``source`` is computed as soon as it is subscribed, requested or not: that of a Single,
    of a function that is called, of a reduction. An item that is known needs no computing, and waits."""
    if not isinstance(source, Stream):
        return without_demand(source)
    return source._without_demand or (source._answers_late is False and source._gives_one)


class Handover(BaseException):
    """A source that was pulled goes on as one that pushes: ``rest`` is all that is left of it, to be subscribed once, now.

    It is no Exception, so that stages and user code between let it pass.
    """

    def __init__(self, rest: Any) -> None:
        super().__init__(rest)
        self.rest = rest


class SubscriberFailed(BaseException):
    """The downstream subscriber raised ``error`` (RS 2.13). It is told apart so from what a source raises."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


class NullSubscriber:
    """Takes the place of a subscriber that has left, so that no reference to it is kept (RS 3.13)."""

    __slots__ = ()

    def on_subscribe(self, _subscription: object, /) -> None:
        pass

    def on_next(self, _item: object, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        _hooks.dropped_late(error)

    def on_complete(self) -> None:
        pass


def ignore(_item: object) -> None:
    """Takes the place of ``on_next`` of a subscriber that has left."""


NULL_SUBSCRIBER: Final[Any] = NullSubscriber()

#: Stands in for a queue or an iterator that is not there (yet). Nothing is ever appended to it.
NO_ITEMS: Final[deque[Any]] = deque()

#: Seconds by which sums and differences of floats may miss the instant that is meant (0.1 + 0.2 is more than 0.3).
ROUNDING: Final = 1e-9

_MADE: Final[tuple[Iterable[Any], ...]] = (
    [], (), range(0), range(2**70), "", b"", {}, {}.values(), {}.items(), set(), deque(),
)  # fmt: skip
_WITHOUT_NONE: Final[tuple[Iterable[Any], ...]] = ("", "\xe9", b"", range(0), range(2**70), {}.items())

#: Iterators whose __length_hint__ is the exact number of items left, and whose end runs no user code.
EXACT: Final = frozenset(type(iter(made)) for made in _MADE)

#: Iterators that cannot fail: nothing that they iterate can change meanwhile.
CONSTANT: Final = frozenset(type(iter(made)) for made in _MADE if isinstance(made, (tuple, range)))

#: Iterators that hold something open, and may be closed between two items by the thread that reads them.
CLOSABLE: Final = frozenset({GeneratorType, TextIOWrapper, BufferedReader})

#: Iterators whose items are never None.
NEVER_NONE: Final = frozenset(type(iter(made)) for made in _WITHOUT_NONE)


def is_exhausted(items: object) -> bool:
    """Known to give no further item, without asking for one."""
    return type(items) in EXACT and not length_hint(items)


def left_behind(run: object, item: object) -> None:
    """``run`` was left while the source was giving ``item``, which is not taken: see ``Op.discard``."""
    if item is not None:
        discard: Callable[[Any], object] = getattr(run, "discard", ignore)
        discard(item)


def throw_away(queue: deque[Any], discard: Callable[[Any], object]) -> None:
    """Nothing in ``queue`` is taken any more. Any thread, also several at once: each item is taken out by one of them."""
    if discard is ignore:
        queue.clear()
        return
    while True:
        try:
            item = queue.popleft()
        except IndexError:
            return
        discard(item)


def close_between_items(items: Any) -> None:
    """Close ``items`` if they are :data:`CLOSABLE`. For the thread that reads them: it deals with an item, unless it is inside of
    the generator."""
    if type(items) in CLOSABLE and not getattr(items, "gi_running", False):
        close(items)


def close(items: object) -> None:
    """Close an iterator that can be closed; a failure in a finalizer is reported, not raised (RS 3.15)."""
    if type(items) in EXACT:
        return
    closer = getattr(items, "close", None)
    if closer is not None:
        try:
            closer()
        except Exception as error:
            _hooks.dropped(error, items)
