"""Heads: where the items of a pipeline come from.

A pipeline is a head, a shape and arguments. The head is a *description*: it holds no run state, and each ``open`` starts clean.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, ParamSpec, TypeVar, cast, overload

from rx_core import DEMAND, OPERATOR_CODES, Publisher, as_signal, dropped
from rx_core.streams import Failing, GeneratorOp, Op, PassThrough, Stopping
from rx_fusion._forms import Feed
from rx_fusion._notes import call
from rx_fusion.symbols._expression import without_symbols
from rx_fusion.symbols._symbol import Symbol

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

    def open(self) -> Iterator[Any]:
        """The items of one run of a passive source. Called when the pipeline is subscribed, or iterated."""
        raise TypeError(f"{self.name} is no passive source: it is subscribed")

    def absorb(self, shape: Shape, args: tuple[Any, ...], /) -> tuple[Head, Shape, tuple[Any, ...]]:
        """Take as many of the following stages into the source as it can run itself; the rest comes back."""
        return self, shape, args

    def notes(self) -> Sequence[str]:
        """What a plan says of this source besides its name."""
        return ()


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


class Loop(NamedTuple):
    """How an operator is pulled."""

    #: The items of its outer source; or its own, where it opens none.
    items: Iterator[Any]
    #: The items of the inner source of one of them. It raises Handover, or :class:`RestOf`.
    opener: Callable[[Any], Iterable[Any]] | None
    #: What is left of the operator when the inner source opened last goes on as the one given.
    rest: Callable[[Any], Any] | None


class Operator(NamedTuple):
    """What is known of a coordinating operator."""

    function: OperatorFunction
    name: str
    #: Which sources are subscribed together with the operator; the others when it iterates them.
    eager: Literal["first", "all", "none"]
    #: How it is pulled by a consumer that wants everything, see rx_fusion._loops; None: not at all, with these arguments.
    loop: Callable[[Any, Stopping | None], Loop | None] | None = None
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
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def operator(
    function: Callable[P, R] | None = None,
    /,
    *,
    eager: Literal["first", "all", "none"] = "first",
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Register ``(run, *sources, *arguments)`` as a coordinating operator and return it unchanged.

    It is a generator function that yields items, and None for "nothing now, I will be woken", or a plain function that returns
    such an iterator (then its body runs at subscription). ``eager`` says which of its sources are subscribed with it: the first
    (concat, retry), all (merge, zip) or none. It runs in a :class:`~rx_core.streams.GeneratorOp`.
    """

    def register(decorated: Callable[P, R]) -> Callable[P, R]:
        if not isinstance(decorated, FunctionType):
            raise TypeError(f"@operator needs a function (run, source, ...), got {decorated!r}")
        plain = cast("OperatorFunction", decorated)
        _OPERATORS[plain] = Operator(plain, decorated.__name__.rstrip("_"), eager)
        OPERATOR_CODES.add(decorated.__code__)
        return decorated

    return register if function is None else register(function)


OpT = TypeVar("OpT", bound=type[Op[Any]] | type[PassThrough[Any]])


def op(
    name: str,
    *,
    loop: Callable[[Any, Stopping | None], Loop | None] | None = None,
    unstarted: Callable[..., object] | None = None,
) -> Callable[[OpT], OpT]:
    """Register an Op, or a PassThrough, as a coordinating operator: a class called for each subscriber as
    ``(subscriber, *sources, *arguments)``.

    ``name`` is what users write, messages and plans show it. ``loop`` pulls it where it can be pulled. ``unstarted`` is called
    with the arguments when the subscriber of an operator behind it leaves while it is given its Subscription, so that this one
    is never made.
    """

    def register(kind: OpT) -> OpT:
        _OPERATORS[kind] = Operator(kind, name, "none", loop=loop, unstarted=unstarted, makes_op=True)
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
    def name(self) -> str:  # type: ignore[override]  # a head is never given another name
        return self.operator.name

    @property
    def function(self) -> OperatorFunction:
        return self.operator.function

    _trusted: ClassVar[bool] = True

    @property
    def publisher(self) -> Any:  # type: ignore[override]  # as above
        return self

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        """Make an Op for ``subscriber`` and start it. What its constructor raises is signalled (RS 1.9)."""
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        """The same on behalf of the pipeline ``origin``, which messages show."""
        options = self.options
        operator = self.operator
        made: Any
        try:
            if operator.makes_op:
                sources = (self.upstream,) if options.many else self.upstream
                made = operator.function(subscriber, *sources, *self.args)
            else:
                primed = {"none": 0, "first": 1, "all": len(self.upstream)}[operator.eager]
                made = GeneratorOp(
                    subscriber,
                    operator.function,
                    self.upstream,
                    self.args,
                    window=self.window,
                    primed=primed,
                    many=options.many,
                    eager_error=options.eager_error,
                )
        except (Exception, GeneratorExit) as error:
            made = Failing(subscriber, as_signal(error))
        made.origin = origin
        if not made.start():
            left_unstarted(self)

    def notes(self) -> Sequence[str]:
        return self.options.said

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
