"""A pulled source at work for callbacks.

They want everything at once, so that more than a passive source can be pulled for them: an operator over passive sources, too,
in the loop that a thread which waits would iterate (see :mod:`rx_fusion._loops`). And the source calls their function itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from rx_core import UNBOUNDED, CallbackObserver
from rx_core.streams import NULL_SUBSCRIBER, Failed, Pump, SubscriberFailed, without_this_frame
from rx_fusion._forms import Feed
from rx_fusion._loops import open_loop
from rx_fusion._shapes import EMIT_ALL
from rx_fusion._source_run import failing, open_items

if TYPE_CHECKING:
    from rx_fusion._described import Described
    from rx_fusion._heads import Resolved

T = TypeVar("T")

_RUNNING: Final = Feed.RUNNING


@final
class CallbackRun(Pump[T]):
    """Gives callbacks the items of a passive source, or those of a loop. Where the loop meets a source that pushes, they are
    subscribed to the rest."""

    __slots__ = ("plan",)

    down: CallbackObserver[T]
    origin: Described
    plan: Resolved

    def __init__(self, down: CallbackObserver[T], plan: Resolved, origin: Described) -> None:
        super().__init__(down, origin)
        self.emit = down.function or _ignore
        self.plan = plan

    def start(self) -> bool:
        """This thread holds the token until the end: all that others publish meanwhile are a cancel, or a request of a subscriber
        that has requested everything."""
        try:
            self.down.on_subscribe(self)
        except BaseException:
            self.abandon()  # RS 2.13
            raise
        opened = not self.stopped
        if opened:
            self.open()
        self.dirty = True
        self.work([UNBOUNDED])
        return opened

    def request_all(self) -> None:
        self.settled = True  # it is known already

    def open(self) -> None:
        plan = self.plan
        if plan[0].feed is not _RUNNING:
            open_items(self, plan, EMIT_ALL)
            return
        try:
            if not open_loop(self, plan):  # with these arguments there is none
                self.leave_to(self.origin, plan)
        except (Exception, GeneratorExit) as error:  # of a plugin's rule for what the loop is made of; RS 1.9: it is signalled
            self.items = failing(without_this_frame(error))

    def step(self, demand: int) -> int:
        if self.down is NULL_SUBSCRIBER:
            return 0  # it was left to another source
        demand, outcome = self.give(self.items, demand)
        if outcome is False:
            return 0 if self.stopped else demand
        if outcome is True:
            return 0 if self.stopped else self.finish()
        if isinstance(outcome, Failed):
            return self.finish(outcome.take())  # also of a run that was cancelled meanwhile, whose error comes too late
        rest: Any = outcome
        self.leave_to(rest, (rest._head, rest._shape, rest._args))  # made of what the rules made already
        return 0

    def emit_failed(self, error: BaseException) -> None:
        try:
            self.down.callback_failed(error)
        except BaseException as fatal:
            raise SubscriberFailed(fatal) from fatal

    def leave_to(self, origin: Described, plan: Resolved) -> None:
        """Callbacks have one source at a time, so they may have another one: nothing stands between them and what it sends. This
        run is not stopped by it: outer items that are left are iterated for as long as it is not cancelled."""
        down = self.down
        self.close()
        self.down = NULL_SUBSCRIBER
        self.emit = self.discard
        self.later.append((_subscribe, (down, origin, plan)))


def _ignore(_item: object) -> None:
    """For a stream that is run for its side effects."""


def _subscribe(call: tuple[CallbackObserver[Any], Described, Resolved]) -> None:
    """Without the token: a source may send at once."""
    down, origin, plan = call
    down.source_changes()
    origin._subscribe_many(down, plan)
