"""Heads: where the items of a pipeline come from.

A pipeline is a head, a shape and arguments. The head is a *description*: it holds no run state, and each ``open`` starts clean.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, ParamSpec, TypeVar

from rx_core import Publisher
from rx_fusion._forms import Feed

if TYPE_CHECKING:
    from rx_core import Scheduler, Subscriber
    from rx_fusion._shapes import Shape

P = ParamSpec("P")
R = TypeVar("R")

#: What is to run.
Resolved = tuple["Head", "Shape", tuple[Any, ...]]


class Head:
    """Where items come from. Immutable; ``open`` makes the state of one run."""

    __slots__ = ()

    #: The operator's name, for messages and plans.
    name: str
    feed: Feed = Feed.RUNNING
    #: Pipelines this one reads from, for plans and for rules that look upstream.
    upstream: Sequence[Any] = ()
    #: The scheduler on whose worker this pipeline emits, where it has one of its own.
    scheduler: Scheduler | None = None
    #: The publisher itself, where items are pushed.
    publisher: Publisher[Any] | None = None
    #: Whether what is subscribed is this head, which keeps the protocol then and never signals None.
    _trusted: ClassVar[bool] = False
    #: Whether its items are sent by a user through an emitter, which may take the ``on_next`` of stages for its own.
    emitted: ClassVar[bool] = False
    #: Whether it runs stages itself, see :meth:`absorb`.
    absorbs: ClassVar[bool] = False

    def open(self) -> Iterator[Any]:
        """The items of one run of a passive source. Called when the pipeline is subscribed, or iterated."""
        raise TypeError(f"{self.name} is no passive source: it is subscribed")

    def absorb(self, shape: Shape, args: tuple[Any, ...], /) -> tuple[Head, Shape, tuple[Any, ...]]:
        """Take as many of the following stages into the source as it can run itself; the rest comes back."""
        return self, shape, args

    def notes(self) -> Sequence[str]:
        """What a plan says of this source besides its name."""
        return ()

    def notes_before(self, consumer: Head, /) -> Sequence[str]:
        """The same where another head reads from it, with no stage between: what keeps that one from being a part of it."""
        return self.notes()


#: How a head writes itself, or what makes that when it is wanted: assembling a pipeline must not format users' data. Picklable.
Text = str | Callable[[], str]


def as_text(text: Text) -> str:
    return text if isinstance(text, str) else text()


def after(source: object, call: str) -> Text:
    """``<source>.call``, written when it is needed."""
    return partial(_after, source, call)


def _after(source: object, call: str) -> str:
    return f"{source!r}.{call}"


#: Of more sources than this a text shows the first and the last.
_SHOWN: Final = 10


def shortened(sources: Sequence[Any], each: Callable[[Any], R], more: Callable[[int], R]) -> list[R]:
    """``each`` of ``sources``; of very many only the first and the last, and between them ``more`` of how many are left out."""
    if len(sources) <= _SHOWN:
        return [each(source) for source in sources]
    left_out = len(sources) - _SHOWN + 1
    return [*(each(source) for source in islice(sources, _SHOWN - 2)), more(left_out), each(sources[-1])]


def others(count: int) -> str:
    return f"... {count:,} more ..."


class IterableHead(Head):
    """Items of something that can be iterated anew for each run: the source that fuses best."""

    __slots__ = ("_items", "_text", "feed", "name")

    def __init__(self, name: str, items: Iterable[Any], text: Text | None = None, *, feed: Feed = Feed.CHECKED) -> None:
        self.name = name
        self._items = items
        self._text = text
        self.feed = feed

    def open(self) -> Iterator[Any]:
        return iter(self._items)

    @property
    def only(self) -> tuple[Any, ...] | None:
        """The items, where it is known that there are at most one."""
        items = self._items
        return items if type(items) is tuple and len(items) < 2 else None

    @property
    def at_most_one(self) -> bool:
        """Whether there is never more than one item: known already, or the iterable says so (``at_most_one``)."""
        return self.only is not None or getattr(self._items, "at_most_one", False)

    def is_one_of(self, kinds: Collection[type]) -> bool:
        """Whether the items come from exactly one of these types, not from a user's subclass."""
        return type(self._items) in kinds

    def __repr__(self) -> str:
        text = self._text
        return _written(self.name, self._items, self.feed) if text is None else as_text(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _iterable_head, (self.name, self._items, self._text, self.feed)


def _written(name: str, items: Iterable[Any], feed: Feed) -> str:
    """A source that has no text of its own: items that are arguments, or something to iterate; kept short, whatever it is."""
    if type(items) is range:
        steps = (items.start, items.stop, items.step)
        return f"{name}({', '.join(map(str, steps if items.step != 1 else steps[:2] if items.start else steps[1:2]))})"
    if feed is Feed.CLEAN and isinstance(items, tuple):
        return f"{name}({', '.join(map(reprlib.repr, items[:3]))}{', ...' if len(items) > 3 else ''})"
    if isinstance(items, (list, tuple, set, frozenset, dict, str, bytes)) and len(items) <= 3:
        return f"{name}({reprlib.repr(items)})"
    return f"{name}(<{type(items).__name__}>)"


def _iterable_head(name: str, items: Iterable[Any], text: Text | None, feed: Feed) -> IterableHead:
    return IterableHead(name, items, text, feed=feed)


class PublisherHead(Head):
    """A foreign publisher (or a wall: ours, hidden). ``said`` is what a plan says of it."""

    __slots__ = ("_said", "_text", "name", "publisher", "upstream")

    def __init__(
        self, name: str, publisher: Publisher[Any], text: Text, upstream: Sequence[Any] = (), said: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.publisher = publisher
        self._text = text
        self.upstream = upstream
        self._said = said

    def notes(self) -> Sequence[str]:
        if self._said:
            return self._said
        return ("wall: not fused with what comes before",) if self.upstream else ("not ours: through its protocol",)

    def __repr__(self) -> str:
        return as_text(self._text)


class PushHead(Head):
    """A source of ours that pushes into what is requested: a subclass writes :meth:`subscribe`."""

    __slots__ = ()

    _trusted: ClassVar[bool] = True

    @property
    def publisher(self) -> Any:  # type: ignore[override]  # it is its own publisher
        return self

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        """Hand out a Subscription, then send what is requested."""
        raise NotImplementedError

    def subscribe_for(self, subscriber: Subscriber[Any], _origin: object, /) -> None:
        """The same on behalf of a pipeline, which messages show."""
        self.subscribe(subscriber)

    #: The same in front of do_on_discard, ``(subscriber, origin, discard)``, for a source that keeps what was not requested.
    subscribe_discarding: Callable[[Subscriber[Any], object, Callable[[Any], object]], object] | None = None


class SourceHead(PushHead):
    """A source of ours that has subscribers of its own accord: what feeds a processor's, what shares one run of a stream.

    ``source`` keeps the protocol, gives no None and nothing after a cancel. ``said`` is what a plan says of it.
    """

    __slots__ = ("_said", "_text", "name", "source", "upstream")

    def __init__(
        self, name: str, source: Publisher[Any], text: Text, upstream: Sequence[Any] = (), said: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.source = source
        self._text = text
        self.upstream = upstream
        self._said = said

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.source.subscribe(subscriber)

    def notes(self) -> Sequence[str]:
        return self._said

    def __repr__(self) -> str:
        return as_text(self._text)
