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

STEP = Form("step")


class StepSubscriber(StepEnd):
    """One call of the fused step per item: an item goes on, None means that a stage dropped it."""

    __slots__ = ("_rules", "_shape", "_step", "asks_all", "reached", "replenish", "stop")

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
        self._rules = request_rules(shape, args)
        #: Whatever a stage can use, the source is asked for everything, see :func:`push`.
        self.asks_all = False
        #: Whether more is asked for when a stage drops an item. A stage with a request rule has asked for what it drops.
        self.replenish = any(stage.drops and stage.request is None for stage in shape.stages)
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
            self.ask(min(self._upstream(1), UNBOUNDED))

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
        try:
            out = self._step(item)
        except BaseException as error:
            self._failed(error)
            self.leave(before)
            return
        if self.last:  # the step has set it
            self.give_last(out)  # type: ignore[unreachable]  # mypy does not see that
        elif out is not None:
            if self._credits is not None:
                self.emitted += 1
            try:
                self.down.on_next(out)
            except BaseException:
                self.cancel()  # RS 2.13
                self.busy = before
                raise
        else:
            self._dropped()
        self.busy = before
        if self.wrong is not None and not before:
            self.answer()

    def _clear_tail(self) -> None:
        """What the stages gave behind the source's last item is not taken any more."""
        self._tail.clear()

    def _dropped(self) -> None:
        """An item was asked for, and a stage has dropped it: the source is asked for what that stage needs for another one."""
        if not self.replenish or self.up is None:
            return
        n = 1
        if self._rules:
            at = self.reached
            if self._rules[at] is not None:
                return
            for rule in reversed(self._rules[:at]):
                if rule is not None:
                    n = rule(n)
        if n > 0:
            self.ask(n)

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
        try:
            out = self._step(item)
        except BaseException as error:
            self._failed(error)
            self.leave(before)
            return True
        if self.last:  # the step has set it
            self.give_last(out)  # type: ignore[unreachable]  # as above
        elif out is None:
            wanted = False
        else:
            if self._credits is not None:
                self.emitted += 1
            conditional: Callable[[Any], bool] | None = getattr(self.down, "try_on_next", None)
            try:
                if conditional is None:
                    self.down.on_next(out)
                else:
                    wanted = conditional(out)
            except BaseException:
                self.cancel()  # as above
                self.busy = before
                raise
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


def request_rules(shape: Shape, args: tuple[Any, ...]) -> list[Rule | None]:
    """From downstream's n to upstream's: the rule of each stage that has one. No list where none has."""
    rules: list[Rule | None] = []
    at = 0
    for stage in shape.stages:
        mine = args[at : at + len(stage.parameters)]
        at += len(stage.parameters)
        if stage.reduces:
            rules.append(_everything)
        else:
            rules.append(None if stage.request is None else stage.request(*mine))
    return rules if any(rules) else []


def _everything(_n: int) -> int:
    """A reduction needs the whole source before it gives anything."""
    return UNBOUNDED
