"""Pieces that are cut by the clock or by other sources: what buffer and window have in common.

All that happens (an item, a cut, the end) is dealt with one after the other by the holder of the token, so a piece has exactly
the items between its cuts, whatever thread they come on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rx_core import UNBOUNDED
from rx_core.streams import LOOK_FIRST, Input, Op

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening


class Cutter:
    """What says where pieces begin and end, in one run. It is called while the operator holds its token, but for ``open``,
    ``subscribed`` and ``asked``; what it hears itself, on whatever thread, it cues."""

    __slots__ = ("op",)

    #: Whether an item may be in several pieces.
    overlaps: ClassVar[bool] = False

    def __init__(self, op: Pieces) -> None:
        self.op = op

    def open(self, main: CutInput, source: Publisher[Any]) -> None:
        """Subscribe to the source, and to others before or afterwards."""
        main.open(source)

    def subscribed(self) -> None:
        """The source is there, and not asked yet."""

    def asked(self) -> None:
        """The source was asked for everything; its ``subscribe`` has not returned."""

    def full(self) -> None:
        """The open piece is full."""

    def left(self) -> None:
        """No further pieces are wanted; the open ones still end."""

    def close(self) -> None:
        """Give everything back."""

    def next_piece(self, _cause: object = None) -> Any:
        """End the open piece, and begin the next one."""
        op = self.op
        if op.live:
            op.end(op.live[0])
        return None if op.over else op.begin()


class Cue:
    """Something that a cutter has to do, in line with the items."""

    __slots__ = ("argument", "function")

    def __init__(self, function: Callable[[Any], object], argument: Any) -> None:
        self.function = function
        self.argument = argument


class Pieces(Op[Any]):
    """A source cut into pieces by a :class:`Cutter`. A subclass says what a piece is.

    Everything below ``cue`` is called while the token is held.
    """

    __slots__ = ("cutter", "events", "live", "main", "over", "size", "source", "wanted")

    #: Items and cues in the order in which they came.
    events: deque[Any]
    #: Open pieces, in the order in which they began.
    live: list[Any]
    #: The account of demand while the token is held.
    wanted: int
    #: Nothing that comes counts any more.
    over: bool

    def __init__(
        self, down: Subscriber[Any], source: Publisher[Any], size: int | None, cutter: Callable[..., Cutter], *args: Any
    ) -> None:
        super().__init__(down)
        self.source = source
        self.size = size
        self.events = deque()
        self.live = []
        self.wanted = 0
        self.over = False
        self.main = CutInput(self)
        self.cutter = cutter(self, *args)

    def open(self) -> None:
        self.cutter.open(self.main, self.source)

    def open_inputs(self) -> Iterable[Listening]:
        return (self.main,)

    def cue(self, function: Callable[[Any], object], argument: Any = None) -> None:
        """Have ``function(argument)`` called after all that has come, before all that is to come. Any thread."""
        self.events.append(Cue(function, argument))
        self.drain()

    def end_with(self, error: Exception) -> None:
        """As in Op; the open pieces end with it, too, behind the items that have come."""
        if not self.over:
            self.cue(self.source_ended, error)

    # -- what a subclass writes ----------------------------------------

    def put(self, item: Any) -> None:
        """Put ``item`` into the open pieces."""
        raise NotImplementedError

    def may_begin(self) -> bool:
        """Whether a new piece may be given away now. Where it may not be that can be an error, and everything has ended."""
        return not self.stopped

    def begin(self) -> Any:
        """A new piece; None when no further ones are wanted."""
        raise NotImplementedError

    def end(self, piece: Any) -> None:
        """End ``piece`` and take it out of ``live``; nothing if it is not there."""
        raise NotImplementedError

    def source_ended(self, error: Exception | None) -> None:
        """The end of everything: end the open pieces, then the stream."""
        raise NotImplementedError

    def is_live(self, piece: Any) -> bool:
        """Whether ``piece`` was not ended by a cut."""
        return any(piece is each for each in self.live)

    def is_open(self, piece: Any) -> bool:
        """Whether ``piece`` still takes items."""
        return True

    # -- the holder of the token ----------------------------------------

    def step(self, demand: int) -> int:
        self.wanted = demand
        self.deal()
        return self.wanted

    def deal(self) -> None:
        events, main = self.events, self.main
        while not self.over:
            done = main.done  # before the events: what came before the end is there
            if events:
                event = events.popleft()
                if type(event) is Cue:
                    event.function(event.argument)
                else:
                    self.put(event)
            elif done:
                self.source_ended(main.error)
                break
            else:
                return
        self.forget_events()

    def forget_events(self) -> None:
        """Nothing that comes counts any more. Holds the token; more may be appended still."""
        events = self.events
        while events:
            event = events.popleft()
            if type(event) is not Cue:
                self.discard(event)

    def has_demand(self) -> bool:
        """Whether a piece is wanted. What was requested from inside of the ``on_next`` of the one before counts."""
        requests = self.requests
        while not self.wanted and requests:
            n = requests[0]
            if type(n) is not int or n < 1:
                return False  # look() answers it
            requests.pop(0)  # only the holder of the token takes out
            self.wanted = min(n, UNBOUNDED)
        return self.wanted > 0

    def stop(self) -> None:
        """Give the source and the cutter back."""
        self.over = True
        self.main.close()
        cutter, self.cutter = self.cutter, NO_CUTTER
        cutter.close()


#: Takes the place of a cutter that was given back, so that the two do not refer to each other any more.
NO_CUTTER: Final[Any] = Cutter(None)  # type: ignore[arg-type]  # it does nothing


class CutInput(Input[Any]):
    """The source that is cut, asked for everything."""

    __slots__ = ()

    op: Pieces

    def subscribed(self, up: Subscription) -> None:
        cutter = self.op.cutter
        cutter.subscribed()
        if not self.closed:
            up.request(UNBOUNDED)
            cutter.asked()

    def on_next(self, item: Any, /) -> None:
        op = self.op  # first, then look: close() does it the other way round
        token = op.token
        if not (LOOK_FIRST and not token):
            try:
                demand = token.pop()
            except IndexError:
                pass
            else:
                if not (op.events or op.dirty or op.over):
                    op.wanted = demand
                    try:
                        op.put(item)
                    except BaseException as error:
                        try:
                            op.emit_raised(error)
                        finally:
                            token += (0,)
                        raise
                    token.append(op.wanted)
                    if op.dirty:
                        op.drain()  # type: ignore[unreachable]  # set meanwhile
                    return
                token.append(demand)
        if self.closed:
            op.discard(item)
        else:
            op.events.append(item)
        op.drain()  # also when closed: a thread that found the token taken here relies on this one to look
