"""Heads: where the items of a pipeline come from.

A pipeline is a head, a shape and arguments. The head is a *description*: it holds no run state, and each ``open`` starts clean.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, ParamSpec, TypeVar, cast, overload

from rx_core import DEMAND, OPERATOR_CODES, Drain, Items, Publisher, Run, Source, as_signal, dropped
from rx_core.streams import Failing, Op, PassThrough, Stopping
from rx_fusion._forms import Feed
from rx_fusion._notes import call
from rx_fusion.symbols._expression import without_symbols
from rx_fusion.symbols._symbol import Symbol

if TYPE_CHECKING:
    from rx_core import Scheduler, Subscriber, Through
    from rx_fusion._shapes import Shape

P = ParamSpec("P")
R = TypeVar("R")


class Head(ABC):
    """Where items come from. Immutable; ``open`` makes the state of one run."""

    __slots__ = ()

    #: The operator's name, for messages and plans.
    name: str
    feed: Feed = Feed.RUNNING
    #: Pipelines this one reads from, for plans and for rules that look upstream.
    upstream: Sequence[Any] = ()
    #: The scheduler on whose worker this pipeline emits, where it has one of its own.
    scheduler: Scheduler | None = None
    #: The publisher itself, where items are pushed by somebody who is not ours.
    publisher: Publisher[Any] | None = None
    #: Whether it gives the items of its only source as they are, so that what follows may iterate those.
    relays: bool = False

    @property
    def pushes(self) -> bool:
        """Whether it may send for as long as it likes while it is being subscribed, whatever was requested."""
        return any(getattr(source, "_rx_pushes", False) for source in self.upstream)

    @property
    def on_worker(self) -> bool:
        """Whether its items come on a worker, whoever asks for them: its own, or that of its source."""
        return self.scheduler is not None or (bool(self.upstream) and _on_worker(self.upstream[0]))

    def hold(self) -> Callable[[], object] | None:
        """Somebody will subscribe in a moment. What is to be called then, if it matters."""
        for source in self.upstream:
            hold: Callable[[], Callable[[], object] | None] | None = getattr(source, "_rx_hold", None)
            return None if hold is None else hold()  # an operator's first source is the one it goes on with
        return None

    @abstractmethod
    def open(self, run: Run, window: int, /) -> Items[Any]:
        """Start one run of the source: its items, and None while there is nothing. Called when the pipeline is subscribed."""

    def open_straight(self, run: Run, window: int, gate: Drain[Any], through: Through | None = None, /) -> Items[Any] | None:
        """As :meth:`open`, for an operator that gives the items on to ``gate`` as they come, ``through`` the stages that follow
        here; None: there is no shorter way."""
        return None

    def absorb(self, shape: Shape, args: tuple[Any, ...], /) -> tuple[Head, Shape, tuple[Any, ...]]:
        """Take as many of the following stages into the source as it can run itself; the rest comes back."""
        return self, shape, args

    def notes(self) -> Sequence[str]:
        """What a plan says of this source besides its name."""
        return ()


def _on_worker(source: object) -> bool:
    return getattr(source, "_rx_on_worker", False)


#: How a head writes itself, or what makes it when somebody asks: assembling a pipeline must not format anybody's data. Picklable.
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


def _more(count: int) -> str:
    return f"... {count:,} more ..."


class IterableHead(Head):
    """Items of something that can be iterated anew for each run: the source that fuses best."""

    __slots__ = ("_items", "_text", "feed", "name")

    def __init__(self, name: str, items: Iterable[Any], text: Text | None = None, *, feed: Feed = Feed.CHECKED) -> None:
        self.name = name
        self._items = items
        self._text = text
        self.feed = feed

    def open(self, _run: Run | None, _window: int, /) -> Iterator[Any]:
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
        """Whether the items come from exactly one of these types, not from somebody's subclass."""
        return type(self._items) in kinds

    def __repr__(self) -> str:
        text = self._text
        return _written(self.name, self._items, self.feed) if text is None else as_text(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _iterable_head, (self.name, self._items, self._text, self.feed)


_new = object.__new__


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
    """Somebody else's publisher (or a wall: ours, hidden). ``said`` is what a plan says of it."""

    __slots__ = ("_said", "_text", "name", "publisher", "upstream")

    def __init__(
        self, name: str, publisher: Publisher[Any], text: Text, upstream: Sequence[Any] = (), said: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.publisher = publisher
        self._text = text
        self.upstream = upstream
        self._said = said

    @property
    def pushes(self) -> bool:
        return getattr(self.publisher, "_rx_pushes", False)

    @property
    def on_worker(self) -> bool:
        return _on_worker(self.publisher)

    def open(self, run: Run, window: int, /) -> Items[Any]:
        assert self.publisher is not None
        return run.open_queued(self.publisher, window, wall=bool(self.upstream))

    def open_straight(self, run: Run, window: int, gate: Drain[Any], through: Through | None = None, /) -> Items[Any] | None:
        if self.publisher is None or self.upstream:
            return None
        return run.open_queued(self.publisher, window, gate=gate, through=through)

    def notes(self) -> Sequence[str]:
        if self._said:
            return self._said
        return ("wall: not fused with what comes before",) if self.upstream else ("not ours: through its protocol",)

    def __repr__(self) -> str:
        return as_text(self._text)


class PushHead(Head):
    """A source of ours that pushes into what is requested: a subclass writes :meth:`subscribe`."""

    __slots__ = ()

    #: What is subscribed keeps the protocol and never signals None.
    _rx_trusted: ClassVar[bool] = True

    @property
    def publisher(self) -> Any:  # type: ignore[override]  # it is its own publisher
        return self

    @abstractmethod
    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        """Hand out a Subscription, then send what is requested."""

    def subscribe_for(self, subscriber: Subscriber[Any], _origin: object, /) -> None:
        """The same on behalf of a pipeline, which messages show."""
        self.subscribe(subscriber)

    def open(self, run: Run, window: int, /) -> Items[Any]:
        return run.open_queued(self, window, wall=True)


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


#: A generator function, or a class of Ops.
OperatorFunction = Callable[..., Any]


class Operator(NamedTuple):
    """What is known of a coordinating operator."""

    function: OperatorFunction
    name: str
    #: Which sources are subscribed together with the operator; the others when it iterates them.
    eager: Literal["first", "all", "none"]
    #: Whether it asks its source for everything when it is subscribed; see Head.pushes.
    pushes: bool = False
    #: Whether it only gives its source's items, see Head.relays.
    relays: bool = False
    #: Whether it gives the items of its inner sources on as they come, and asks ``run.straight()`` when it starts.
    passes: bool = False
    #: How it is pulled by a consumer that wants everything, see rx_fusion._loops; None: not at all, with these arguments.
    loop: Callable[[Any, Stopping | None], Iterator[Any] | None] | None = None
    #: What is to be done, with its arguments, when its stream is cancelled before anything was started.
    unstarted: Callable[..., object] | None = None
    #: Whether the function makes an Op: ``(subscriber, *sources, *arguments)``.
    makes_op: bool = False

    def __reduce__(self) -> tuple[Callable[..., Operator], tuple[OperatorFunction]]:
        return operator_of, (self.function,)  # known on the other side too, where its module is imported


_OPERATORS: Final[dict[OperatorFunction, Operator]] = {}


@overload
def operator(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def operator(
    *,
    eager: Literal["first", "all", "none"] = "first",
    pushes: bool = False,
    relays: bool = False,
    passes: bool = False,
    unstarted: Callable[..., object] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def operator(
    function: Callable[P, R] | None = None,
    /,
    *,
    eager: Literal["first", "all", "none"] = "first",
    pushes: bool = False,
    relays: bool = False,
    passes: bool = False,
    unstarted: Callable[..., object] | None = None,
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Register ``(run, *sources, *arguments)`` as a coordinating operator and return it unchanged.

    It is a generator function that yields items, and None for "nothing now, I will be woken", or a plain function that returns
    such an iterator (then its body runs at subscription). ``eager`` says which of its sources are subscribed with it: the first
    (concat, retry), all (merge, zip) or none. One that ``pushes`` asks a source for everything, wanted or not. One that
    ``relays`` gives its only source's items and nothing else. One that ``passes`` gives the items of its inner sources on as they
    come, and asks ``run.straight()`` first of all. ``unstarted`` is called with the arguments when the subscriber cancels
    while it is given its Subscription: then the function does not run, and has nothing registered with the run.
    """

    def register(decorated: Callable[P, R]) -> Callable[P, R]:
        if not isinstance(decorated, FunctionType):
            raise TypeError(f"@operator needs a function (run, source, ...), got {decorated!r}")
        plain = cast("OperatorFunction", decorated)
        _OPERATORS[plain] = Operator(plain, decorated.__name__.rstrip("_"), eager, pushes, relays, passes, unstarted=unstarted)
        OPERATOR_CODES.add(decorated.__code__)
        return decorated

    return register if function is None else register(function)


OpT = TypeVar("OpT", bound=type[Op[Any]] | type[PassThrough[Any]])


def op(
    name: str,
    *,
    pushes: bool = False,
    loop: Callable[[Any, Stopping | None], Iterator[Any] | None] | None = None,
    unstarted: Callable[..., object] | None = None,
) -> Callable[[OpT], OpT]:
    """Register an Op, or a PassThrough, as a coordinating operator: a class called for each subscriber as
    ``(subscriber, *sources, *arguments)``.

    ``name`` is what users write, messages and plans show it. One that ``pushes`` asks its source for everything, wanted or not.
    ``loop`` pulls it where it can be pulled. ``unstarted`` is called with the arguments when the subscriber of an operator behind
    it leaves while it is given its Subscription, so that this one is never made.
    """

    def register(kind: OpT) -> OpT:
        _OPERATORS[kind] = Operator(kind, name, "none", pushes, loop=loop, unstarted=unstarted, makes_op=True)
        return kind

    return register


def operator_of(function: OperatorFunction, /) -> Operator:
    """What is known of a registered coordinating operator. Raises TypeError for one that was not registered."""
    found = _OPERATORS.get(function)
    if found is None:
        raise TypeError(f"{function!r} is not a coordinating operator.\n  Right:  decorate it with @operator")
    return found


def left_unstarted(last: Head) -> None:
    """The stream was cancelled before it was opened: tell the operators on its way that have to know, the last one first."""
    head: Head | None = last
    while head is not None:
        if isinstance(head, OperatorHead) and head.operator.unstarted is not None:
            try:
                head.operator.unstarted(*head.args)
            except Exception as error:  # RS 3.15: to cancel returns normally
                dropped(error, head)
        upstream = head.upstream
        single = hasattr(upstream, "__len__") and len(upstream) == 1  # sources that a loop has left over have no length
        head = getattr(upstream[0], "_head", None) if single else None


class Options(NamedTuple):
    """What most operators have no need of, see :class:`OperatorHead`."""

    many: bool = False
    eager_error: bool = False
    shown: Text | int | None = None
    said: Sequence[str] = ()


class OperatorHead(Head):
    """A coordinating operator with its sources and arguments.

    ``window`` is what waits at most per source that needs a queue; ``many`` hands the sources over as one tuple; ``scheduler``
    makes the operator run (and poll its sources) on a worker of its own; ``shown`` is how the call reads, or how many of its
    arguments are; ``said`` is what a plan says of it.
    """

    __slots__ = ("args", "operator", "options", "scheduler", "upstream", "window")
    feed: ClassVar[Feed] = Feed.RUNNING  # type: ignore[misc]  # fixed for this kind of head

    def __init__(
        self,
        function: OperatorFunction,
        upstream: Sequence[Any],
        args: tuple[Any, ...] = (),
        *,
        window: int = DEMAND,
        many: bool = False,
        scheduler: Scheduler | None = None,
        eager_error: bool = False,
        shown: Text | int | None = None,
        said: Sequence[str] = (),
    ) -> None:
        known = _OPERATORS.get(function)
        if known is None:
            known = operator_of(function)  # which raises
        self.operator = known
        self.upstream = upstream
        for arg in args:
            if type(arg) is Symbol:
                args = without_symbols(args)
                break
        self.args = args
        self.window = window
        self.scheduler = scheduler
        self.options = Options(many, eager_error, shown, said)

    @property
    def name(self) -> str:  # type: ignore[override]  # nobody gives a head another name
        return self.operator.name

    @property
    def function(self) -> OperatorFunction:
        return self.operator.function

    #: What is subscribed keeps the protocol and never signals None.
    _rx_trusted: ClassVar[bool] = True

    @property
    def publisher(self) -> Any:  # type: ignore[override]  # as above
        return self if self.operator.makes_op else None

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        """Make an Op for ``subscriber`` and start it. What its constructor raises is signalled (RS 1.9)."""
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        """The same on behalf of the pipeline ``origin``, which messages show."""
        sources = (self.upstream,) if self.options.many else self.upstream
        try:
            made = self.operator.function(subscriber, *sources, *self.args)
        except (Exception, GeneratorExit) as error:
            made = Failing(subscriber, as_signal(error))
        made.origin = origin
        if not made.start():
            left_unstarted(self)

    @property
    def relays(self) -> bool:  # type: ignore[override]  # as above
        return self.operator.relays

    def notes(self) -> Sequence[str]:
        return self.options.said

    @property
    def pushes(self) -> bool:
        return self.operator.pushes or super().pushes

    @property
    def on_worker(self) -> bool:
        if self.options.many:  # peers: one that is computed where it is asked for is to be computed there
            return self.scheduler is not None or (bool(self.upstream) and all(map(_on_worker, self.upstream)))
        return super().on_worker

    def open(self, run: Run, window: int, /) -> Items[Any]:
        if self.operator.makes_op:
            return run.open_queued(self, window, wall=True)
        window = self.window or window  # an operator that only relays passes on what its consumer takes
        if len(self.upstream) == 1 and self.operator.eager == "first" and not self.options.many:  # what most are
            single: Source[Any] = Source(run, self.upstream[0], window, eager_error=self.options.eager_error)
            single.prime()
            if run.passing is self and isinstance(run, Drain):
                run.passing = True  # now, not for the operators in its source: they may be in the same run
            return self.operator.function(run, single, *self.args)  # type: ignore[no-any-return]  # a generator function here
        sources: list[Source[Any]] = [
            Source(run, publisher, window, eager_error=self.options.eager_error) for publisher in self.upstream
        ]
        eager = self.operator.eager
        if eager == "all":
            for source in sources:
                source.prime()
        elif eager == "first" and sources:
            sources[0].prime()
        if run.passing is self and isinstance(run, Drain):  # as above
            run.passing = True
        if self.options.many:
            return self.operator.function(run, tuple(sources), *self.args)  # type: ignore[no-any-return]  # a generator function here
        return self.operator.function(run, *sources, *self.args)  # type: ignore[no-any-return]  # a generator function here

    @property
    def shown(self) -> str:
        """The call as a user wrote it, as far as it can be told."""
        shown = self.options.shown
        if shown is None or isinstance(shown, int):
            return call(self.name, self.args[:shown])
        return as_text(shown)

    def __repr__(self) -> str:
        shown = self.shown
        if self.options.many or not self.upstream:
            return f"{self.name}({', '.join(shortened(self.upstream, repr, _more))})" if self.options.many else shown
        return f"{self.upstream[0]!r}.{shown}"


#: Of an operator with one source and a function, and of one with many sources.
ONE_FUNCTION: Final = Options(shown=1)
MANY_SOURCES: Final = Options(many=True)

OperatorHeadT = TypeVar("OperatorHeadT", bound=OperatorHead)


def operator_head(
    kind: type[OperatorHeadT], known: Operator, upstream: Sequence[Any], args: tuple[Any, ...], window: int, options: Options
) -> OperatorHeadT:
    """A head of this kind without a call of ``__init__``, for operators that inner streams are made with in the thousands."""
    made = _new(kind)
    made.operator = known
    made.upstream = upstream
    made.args = without_symbols(args) if args and type(args[0]) is Symbol else args
    made.window = window
    made.scheduler = None
    made.options = options
    return made
