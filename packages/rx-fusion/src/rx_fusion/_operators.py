"""Coordinating operators: what is known of each, and the head that one with its sources and arguments is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, ParamSpec, TypeVar, cast, overload

from rx_core import DEMAND, OPERATOR_CODES, as_signal, dropped
from rx_core.streams import Failing, GeneratorOp, Op, PassThrough, Stopping, takes_requests
from rx_fusion._forms import Feed
from rx_fusion._heads import Head, Text, as_text, others, shortened
from rx_fusion._notes import call
from rx_fusion.symbols._expression import without_symbols
from rx_fusion.symbols._symbol import Symbol

if TYPE_CHECKING:
    from rx_core import Scheduler, Subscriber

P = ParamSpec("P")
R = TypeVar("R")
_new = object.__new__

_RUNNING: Final = Feed.RUNNING

#: A generator function, or a class of Ops.
OperatorFunction = Callable[..., Any]


#: How an operator is pulled, which is asked for each of its runs, so that a plain tuple pays: the items of its outer source, or
#: its own where it opens none; what opens the inner source of one of them, and raises Handover or :class:`RestOf`; and what makes
#: all that is left of the operator when the inner source opened last goes on as the one given.
Loop = tuple[Iterator[Any], Callable[[Any], Iterable[Any]] | None, Callable[[Any], Any] | None]


class Operator(NamedTuple):
    """What is known of a coordinating operator."""

    function: OperatorFunction
    name: str
    #: Which sources are subscribed together with the operator; the others when it iterates them.
    eager: Literal["first", "all", "none"]
    #: How it is pulled by a consumer that wants everything, see rx_fusion._loops; None: not at all, with these arguments.
    loop: Callable[[Any, Stopping | None], Loop | None] | None = None
    #: The operator that pulls this one with itself, in its own loop, where it stands directly behind.
    in_loop_of: str = ""
    #: What is made for a subscriber in its place, see :func:`op`.
    instead: Callable[[Any, Subscriber[Any]], Op[Any] | None] | None = None
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
    in_loop_of: str = "",
    instead: Callable[[Any, Subscriber[Any]], Op[Any] | None] | None = None,
    unstarted: Callable[..., object] | None = None,
) -> Callable[[OpT], OpT]:
    """Register an Op, or a PassThrough, as a coordinating operator: a class called for each subscriber as
    ``(subscriber, *sources, *arguments)``.

    ``name`` is what users write, messages and plans show it. ``loop`` pulls it where it can be pulled; where it is a part of the
    loop of the operator directly behind it, ``in_loop_of`` names that. ``instead`` is called with the head and a subscriber where
    such an operator is in front of it, and may give an Op that is made for both. ``unstarted`` is called with the arguments when
    the subscriber of an operator behind it leaves while it is given its Subscription, so that this one is never made.
    """

    def register(kind: OpT) -> OpT:
        kind.operator_name = name
        _OPERATORS[kind] = Operator(kind, name, "none", loop, in_loop_of, instead, unstarted, makes_op=True)
        return kind

    return register


def operator_of(function: OperatorFunction, /) -> Operator:
    """What is known of a registered coordinating operator. Raises TypeError for one that was not registered."""
    found = _OPERATORS.get(function)
    if found is None:
        raise TypeError(f"{function!r} is not a coordinating operator.\n  Write:  @operator above its definition")
    return found


def is_observed(head: Head) -> bool:
    """Whether this is an operator over an Observable, which asks that for everything whatever is requested."""
    upstream = head.upstream
    return hasattr(upstream, "__len__") and len(upstream) > 0 and not takes_requests(upstream[0])


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

    __slots__ = ("args", "name", "operator", "options", "scheduler", "upstream", "window")
    feed: ClassVar[Feed] = Feed.RUNNING  # type: ignore[misc]  # fixed for this kind of head
    #: Pulled, it is its source.
    relays: ClassVar[bool] = False

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
        self.name = known.name
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
    def function(self) -> OperatorFunction:
        return self.operator.function

    @property
    def opens_sources(self) -> bool:
        """Whether it runs streams that a function makes, see :class:`~rx_core.streams.Op`."""
        return getattr(self.operator.function, "opens_sources", False)

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
            made = self._joined(operator.instead, subscriber) if operator.instead is not None else None
            if made is not None:
                pass
            elif operator.makes_op:
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

    def _joined(self, instead: Callable[[Any, Subscriber[Any]], Op[Any] | None], subscriber: Subscriber[Any]) -> Op[Any] | None:
        """The Op for this operator and the one in front of it."""
        before = getattr(self.upstream[0], "_head", None)
        if not isinstance(before, OperatorHead) or before.operator.in_loop_of != self.name:
            return None
        return instead(self, subscriber)

    def pulled(self) -> tuple[object] | None:
        """What the innermost source iterates, where this is an operator all of whose own sources can be pulled. Of inner ones
        nothing is known yet."""
        if self.operator.loop is None:
            return None
        items: object = None
        left: list[OperatorHead] = [self]
        while left:  # no recursion: chains are long
            behind = left.pop()
            upstream = behind.upstream
            if not hasattr(upstream, "__len__"):
                return None  # what a loop has left over, which is iterated once
            for source in upstream:
                before = getattr(source, "_head", None)
                if before is None:
                    return None
                if before.feed is not _RUNNING:
                    items = getattr(before, "_items", None)
                    continue
                operator = before.operator if isinstance(before, OperatorHead) else None
                if operator is None or (operator.loop is None and (operator.in_loop_of != behind.name or source._shape)):
                    return None
                left.append(before)
        return (items,)

    def notes(self) -> Sequence[str]:
        return self.options.said

    @property
    def shown(self) -> str:
        """The call as a user wrote it, as far as it can be told."""
        shown = self.options.shown
        if shown is None or isinstance(shown, int):
            return call(self.name, self.args[:shown])
        return as_text(shown)

    @property
    def _written(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        shown = self.shown
        if not hasattr(self.upstream, "__len__"):  # what a loop has left of its sources, which can be looked at once
            return f"{self.name}(...)"
        if self.options.many or not self.upstream:
            return f"{self.name}({', '.join(shortened(self.upstream, repr, others))})" if self.options.many else shown
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
    made.name = known.name
    made.upstream = upstream
    made.args = without_symbols(args) if args and type(args[0]) is Symbol else args
    made.window = window
    made.scheduler = None
    made.options = options
    return made
