"""Rounds: the same source subscribed again and again. What repeat and retry have in common, with the stream of answers that
repeat_when and retry_when ask for one more.

Each round has a subscription of its own, and its source is over before the next round begins; a million rounds are a loop and
need neither stack nor memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from rx_core import UNBOUNDED, name_of, user_call
from rx_core.streams import Input, OneAtATime, Unicast, takes_requests
from rx_ops.operators._unicast import unicast_stream

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription

T = TypeVar("T")

#: What a user makes a stream of answers with.
Handler = Callable[[Any], Any]

#: An exception that is raised again and again collects traceback entries; more than so many are cut off between rounds.
_LONG_TRACE: Final = 40


class Rounds(OneAtATime[T]):
    __slots__ = ("rounds", "source")

    discards: ClassVar[bool] = True
    source: Publisher[T]
    #: How many rounds are over.
    rounds: int

    def __init__(self, down: Subscriber[T], source: Publisher[T]) -> None:
        super().__init__(down)
        self.source = source
        self.rounds = 0

    def open(self) -> None:
        self.switch_to(self.source, 0)

    def again(self, demand: int) -> int:
        self.rounds += 1
        return self.switch_to(self.source, demand)


# -- repeat --------------------------------------------------------------------------------------------------------------------


def shorten(error: Exception) -> None:
    """Cut a traceback that grew over many rounds: the one exception that a source fails with each time keeps them all."""
    trace, entries = error.__traceback__, 0
    while trace is not None:
        trace, entries = trace.tb_next, entries + 1
    if entries > _LONG_TRACE:
        error.__traceback__ = None


# -- asking another stream ---------------------------------------------------------------------------------------------


class _Answers(Input[Any]):
    """The handler's stream: an item for one more round. It is asked for one item per question; an Observable cannot be asked for
    one, so it is asked for everything, before the first question."""

    __slots__ = ("count", "more")

    #: Answers that were not looked at: one at most, because it is asked for one at a time.
    count: int
    #: What it is to be asked for next.
    more: int

    def __init__(self, op: Asking[Any]) -> None:
        super().__init__(op)
        self.count = 0
        self.more = 1

    def open(self, source: Any) -> None:
        if not takes_requests(source):
            self.more = UNBOUNDED
        super().open(source)

    def subscribed(self, up: Subscription) -> None:
        self.op.drain()

    def ask(self) -> None:
        more = self.more
        if more and not self.done and not self.closed:
            if more == UNBOUNDED:
                self.more = 0
            self.up.request(more)

    def on_next(self, _item: object, /) -> None:
        self.count = 1
        self.op.drain()


class Asking(Rounds[T]):
    """After each round the handler's stream is told, and its next signal says what comes: an item for one more round, or the end.

    The end of that stream counts at once, also in the middle of a round; so the rounds are gated.
    """

    __slots__ = ("answers", "asked", "asking", "fresh", "handled", "name", "requested", "told")

    opens_sources: ClassVar[bool] = True
    gated: ClassVar[bool] = True

    told: Unicast[Any]
    #: What the user's handler made of it.
    handled: Publisher[Any]
    answers: _Answers
    #: The last question was asked and has no answer yet.
    asked: bool
    #: The handler's stream was asked for the answer.
    requested: bool
    #: It is being asked just now, and the next round waits for that to return.
    asking: bool
    #: The round of a passive source began in the step that runs: in RxJava its ``subscribe`` would be on the stack still.
    fresh: bool

    def __init__(
        self,
        down: Subscriber[T],
        source: Publisher[T],
        handler: Handler,
        face: Callable[[Any], Any],
        name: str,
        of: str,
    ) -> None:
        super().__init__(down, source)
        self.name = name
        self.told, stream = unicast_stream(of, face)
        self.answers = _Answers(self)
        self.asked = False
        self.requested = False
        self.asking = False
        self.fresh = False
        made = user_call(name, handler, stream)
        if not hasattr(made, "subscribe"):
            raise TypeError(
                f"{name}() expected a function returning a stream, but {name_of(handler)} returned {made!r}.\n"
                f"  For example:  .{name}(lambda {of}: {of}.delay(1.0))"
            )
        self.handled = made

    def open(self) -> None:
        self.answers.open(self.handled)
        super().open()
        self.fresh = self.items is not None

    def again(self, demand: int) -> int:
        demand = super().again(demand)
        self.fresh = self.items is not None
        return demand

    def ask(self, question: Any, demand: int) -> int:
        """A round is over: tell the handler's stream."""
        self.asked = True
        self.requested = self.answers.up is not None
        if self.requested:
            self.asking = self.fresh
            self.later.append((self.tell_and_ask, question))
        else:
            self.later.append((self.told.push, question))
        return self.wait(demand)

    def wait(self, demand: int) -> int:
        """A question is open: ask for the answer, or act on it."""
        answers = self.answers
        if answers.up is None:
            return demand
        if not self.requested:
            self.requested = True
            self.asking = self.fresh
            self.later.append((self.ask_for_answer, None))
        if answers.count and not self.asking:
            answers.count = 0
            self.asked = False
            return self.again(demand)
        return demand

    def tell_and_ask(self, question: Any) -> None:
        """Both in one: an Observable answers inside of ``push``, and an action that is to come later would come then."""
        if self.answers.more == UNBOUNDED:
            self.answers.ask()
        self.told.push(question)
        self.ask_for_answer(None)

    def ask_for_answer(self, _nothing: None) -> None:
        """Without the token, behind the question.

        As in RxJava an answer that is given at once starts the next round at once, before the handler's stream goes on; unless it
        is given inside of the ``subscribe`` of the round before. Then it counts when that has returned, so that one that comes
        together with the handler's end starts no further round. For a source that pushes that is what subscribe_later does.
        """
        try:
            self.answers.ask()
        finally:
            self.asking = False
            self.dirty = True  # looked at by drain(), further down this stack

    def step(self, demand: int) -> int:
        answers = self.answers
        if answers.done:
            return self.finish(answers.error)
        if self.asked:
            demand = self.wait(demand)
            if self.asked:
                return demand
        demand = super().step(demand)
        if not self.dirty:
            self.fresh = False
        return demand

    def close(self) -> None:
        super().close()
        self.answers.close()
