"""Items pushed through stages: the subscriber between a foreign source and a subscriber.

It is a Subscription of its own (an intermediate operator never hands on the one it got, RS 3.1), asks for one more item where
a stage dropped one, and completes as soon as a stage says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import UNBOUNDED, SettlesDemand, invalid_request, none_produced
from rx_core.queue_fusion import NONE
from rx_core.streams import LOOK_FIRST, NOT_THERE, give_back
from rx_fusion._forms import Form
from rx_fusion._notes import calls
from rx_fusion._run_names import run_name
from rx_fusion._step_end import StepEnd, nothing
from rx_fusion._transit import SyncSteps, granted

if TYPE_CHECKING:
    from rx_core import Subscriber, Subscription
    from rx_fusion._shapes import Shape
    from rx_fusion._stage import Stage

STEP = Form("step")


class StepSubscriber(StepEnd):
    """One call of the fused step per item: an item goes on, None means that a stage dropped it."""

    __slots__ = (
        *("_rules", "_shape", "_step", "added", "asks_all", "came", "due", "known", "mark", "reached", "replenish"),
        *("stop", "wanted"),
    )

    #: How many items downstream has requested of the source. Written by one thread at a time (RS 2.7), before it requests them.
    wanted: int
    #: And how many were requested in place of dropped ones: by the source's thread, to which the rest belongs as well.
    added: int
    #: See :meth:`tally`: both together as they were when ``mark`` was reckoned; what is to be requested now.
    known: int
    due: int
    #: How many items came, and the next that is to be looked at, where no generated function counts.
    came: int
    mark: int

    def __init__(
        self, down: Subscriber[Any], shape: Shape, args: tuple[Any, ...], origin: object, state: tuple[Any, ...] | None = None
    ) -> None:
        super().__init__(down, origin)
        self._args = args
        self._shape = shape
        #: Read and set by the generated step: the highest stage that completed.
        self.stop = -1
        self.last = False
        self.late = None
        resumed = state is not None
        self._rules = request_rules(shape, args, resumed)
        #: Whatever a stage can use, the source is asked for everything, see :func:`push`.
        self.asks_all = False
        #: Whether more is asked for when a stage drops an item. A stage with a request rule has asked for what it drops.
        self.replenish = any(stage.drops and not _is_ruled(stage, resumed) for stage in shape.stages)
        self.wanted = self.added = self.known = self.due = self.came = self.mark = 0
        self.queue = None
        #: Set by the step where that matters: which stage had the item last.
        self.reached = 0
        self._early = any(stage.gives_one for stage in shape.stages)
        self._credits = deque() if self._early or any(stage.tail_yields for stage in shape.stages) else None
        self.emitted = 0
        self._unfinished = False
        self._tail = {}
        try:
            self._build(shape, args, state)
        except (Exception, GeneratorExit) as error:
            # What comes before a stage's loop: the supplier of collect.
            raise self._noted(error)  # noqa: B904  # it is the same error, or has it as its cause

    @property
    def operator_name(self) -> str:
        """The stages as users wrote them."""
        return calls(self._shape.stages, self._args).lstrip(".")

    @property
    def pipeline_text(self) -> str:
        """What is run, as users wrote it."""
        return f"{self.origin!r}{calls(self._shape.stages, self._args)}"

    @property
    def run_name(self) -> str | None:
        return run_name(self.origin, self._shape, self._args)

    @property
    def one_for_one(self) -> bool:
        """Whether each item gives one, so that what is asked of the stages is what they ask for."""
        return self._shape.one_for_one and not any(stage.drops for stage in self._shape.stages)

    def _build(self, shape: Shape, args: tuple[Any, ...], state: tuple[Any, ...] | None) -> None:
        factory = shape.form(STEP)
        assert factory is not None  # the caller looked at shape.steps
        self._step: Callable[[Any], Any]
        self._step, self._finish = factory(self, args, state)

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self.up is None and self.last and subscription is not None:  # a stage that wants nothing at all: take(0)
            give_back(subscription)
            self.connect(NOT_THERE)
            self._complete()
            return
        first = self.up is None
        super().on_subscribe(subscription)
        if self._early and first and not self.done:
            n = min(self._upstream(1), UNBOUNDED)
            self.wanted += n
            self.ask(n)

    def _upstream(self, n: int) -> int:
        """What a request means to the source."""
        if self.asks_all:
            self.replenish = False
            return UNBOUNDED
        for rule in reversed(self._rules):
            if rule is not None:
                n = rule(n)
        if n >= UNBOUNDED:
            self.replenish = False
        return n

    def on_next(self, item: Any, /) -> None:
        if self.queue is not None:  # there is something to poll
            if not self.done:
                self.down.on_next(None)
            return
        if item is None:
            raise self.refuse(none_produced(repr(self.origin)))
        before = self.busy
        self.busy = True
        if not LOOK_FIRST:
            self.fence()
        if self.done or self.last:
            self.late_item(item)
            self.leave(before)
            return
        down = self.down  # who gets the item also when a function of the stages cancels: see give_last
        step = self._step
        try:
            out = step(item)
        except BaseException as error:
            self._failed(error)
            self.leave(before)
            return
        if self.last:  # the step has set it
            self.give_last(out, down.on_next)  # type: ignore[unreachable]  # mypy does not see that
        elif out is not None:
            if self.replenish:
                came = self.came = self.came + 1
                if came >= self.mark:
                    self.look_at_tally()
            if self._credits is not None:
                self.emitted += 1
            try:
                down.on_next(out)
            except BaseException:
                self.cancel()  # RS 2.13
                self.busy = before
                raise
        elif self.replenish:
            came = self.came = self.came + 1
            mark = self.mark = self.mark - (self.needed() if self._rules else 1)
            if came >= mark:
                self.look_at_tally()
        self.busy = before
        if self.wrong is not None and not before:
            self.answer()

    def _clear_tail(self) -> None:
        """What the stages gave behind the source's last item is not taken any more."""
        self._tail.clear()

    def needed(self) -> int:
        """Where there are rules: a stage has dropped an item, and for another one the source has to send so many."""
        at = self.reached
        if self._rules[at] is not None:
            return 0
        n = 1
        for rule in reversed(self._rules[:at]):
            if rule is not None:
                n = rule(n)
        return n

    def tally(self, came: int, mark: int) -> int:
        """What is needed in place of dropped items is asked for when it is as much as the source may still send: one request is
        made for many, and the source never waits for one (decision 0058).

        ``mark`` is how many items the source was asked for, less what the dropped ones need. Called on the source's thread when
        so many came. Gives the next mark, and sets ``due``, which is requested when the caller has kept the mark, because a
        source may answer with further items.
        """
        if not self.replenish:
            return UNBOUNDED
        fallen = self.known - mark
        asked = self.wanted + self.added
        if fallen and fallen >= asked - came:
            self.due = fallen
            self.added += fallen
            asked += fallen
            fallen = 0
        self.known = asked
        return asked - fallen

    def catch_up(self) -> None:
        """Request what is ``due``. A source that sends items before it has been given its subscriber is not asked (RS 1.9)."""
        due, self.due = self.due, 0
        if self.up is not None:
            self.ask(min(due, UNBOUNDED))

    def look_at_tally(self) -> None:
        """:meth:`tally` and :meth:`catch_up`, where no generated function counts."""
        self.mark = self.tally(self.came, self.mark)
        if self.due:
            self.catch_up()

    def try_on_next(self, item: Any, /) -> bool:
        """As ``on_next``; False: a stage dropped it, and no other one had to be requested."""
        if item is None or self.done or self.last or not self.replenish or self._rules:
            self.on_next(item)
            return True
        before = self.busy
        self.busy = True
        if not LOOK_FIRST:
            self.fence()
        wanted = True
        down, step = self.down, self._step  # as above
        try:
            out = step(item)
        except BaseException as error:
            self._failed(error)
            self.leave(before)
            return True
        if self.last:  # the step has set it
            self.give_last(out, down.on_next)  # type: ignore[unreachable]  # as above
        elif out is None:
            wanted = False
        else:
            if self._credits is not None:
                self.emitted += 1
            conditional: Callable[[Any], bool] | None = getattr(down, "try_on_next", None)
            try:
                if conditional is None:
                    down.on_next(out)
                else:
                    wanted = conditional(out)
            except BaseException:
                self.cancel()  # as above
                self.busy = before
                raise
        if wanted:
            self.came += 1
            if self.came >= self.mark:
                self.look_at_tally()
        self.leave(before)
        return wanted

    def after_answer(self, then: Callable[[], object], /) -> None:
        if not self._early and self._shape.relays_requests(self._args):
            super().after_answer(then)
        else:
            then()

    def rx_serves(self, consumer: object, /) -> bool:
        return consumer is self.down

    def request_fusion(self, mode: int, /) -> int:
        if self._early or self.queue is not None:
            return NONE  # it asks its source itself; or it was asked before
        answer, self.queue = granted(self, self._shape, mode)
        return answer

    def poll(self) -> Any:
        assert self.queue is not None  # a mode was granted
        return self.queue.poll()

    def poll_many(self, n: int, /) -> list[Any]:
        assert self.queue is not None  # as above
        return self.queue.poll_many(n)

    def is_empty(self) -> bool:
        assert self.queue is not None  # as above
        return self.queue.is_empty()

    def clear(self) -> None:
        assert self.queue is not None  # as above
        self.queue.clear()

    def cancel(self) -> None:
        if self.queue is not None:
            self.queue.report_late()
        super().cancel()
        self._step = self.late_item  # the state of the stages lives in it
        self._finish = nothing
        self._clear_tail()
        self._report_late()

    def request(self, n: int, /) -> None:
        if self.up is None or self.done or type(self.queue) is SyncSteps:
            return
        if type(n) is int and n > 0:
            if self._credits is not None:
                self._credits.append(n)
                if self._tail:
                    self._give_tail()
                    return
                if self._early:
                    return
            n = min(self._upstream(n), UNBOUNDED)
            if n < 1:
                return
            self.wanted += n
        elif self._tail.pop(0, None) is not None:
            # The source has ended and does not answer any more, but an item still waits here (RS 3.9).
            self.done = True
            self.down.on_error(invalid_request(n))
            self._report_late()
            return
        else:
            self.reject(n)
            return
        self.ask(n)

    def request_all(self) -> None:
        up = self.up
        if self._rules or self._credits is not None or self.done or not isinstance(up, SettlesDemand):
            self.request(UNBOUNDED)
        else:
            self.replenish = False
            up.request_all()


Rule = Callable[[int], int]


def _is_ruled(stage: Stage, resumed: bool) -> bool:
    """Whether a rule says what a stage asks for. That of one that gives several begins with the first item: a stage that is
    resumed, and goes on with the state that it has, asks for what is requested, and again for each item that gives none."""
    return stage.request is not None and (stage.gives_one or not resumed)


def request_rules(shape: Shape, args: tuple[Any, ...], resumed: bool = False) -> list[Rule | None]:
    """From downstream's n to upstream's: the rule of each stage that has one. No list where none has."""
    rules: list[Rule | None] = []
    at = 0
    for stage in shape.stages:
        mine = args[at : at + len(stage.parameters)]
        at += len(stage.parameters)
        if stage.reduces:
            rules.append(_everything)
        else:
            rules.append(stage.request(*mine) if stage.request is not None and _is_ruled(stage, resumed) else None)
    return rules if any(rules) else []


def _everything(_n: int) -> int:
    """A reduction needs the whole source before it gives anything."""
    return UNBOUNDED
