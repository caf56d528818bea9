"""Items pushed through stages: the subscriber between a foreign source and a subscriber.

It is a Subscription of its own (an intermediate operator never hands on the one it got, RS 3.1), asks for one more item where
a stage dropped one, and completes as soon as a stage says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import (
    UNBOUNDED,
    SettlesDemand,
    dropped,
    invalid_request,
    none_produced,
    tell_interrupted,
)
from rx_core.queue_fusion import NONE
from rx_core.streams import LOOK_FIRST, NOT_THERE, give_back
from rx_fusion._forms import Form
from rx_fusion._notes import note_failure
from rx_fusion._relay import Checked
from rx_fusion._transit import PolledSteps, SyncSteps, granted

if TYPE_CHECKING:
    from rx_core import Subscriber, Subscription
    from rx_fusion._shapes import Shape

T = TypeVar("T")

STEP = Form("step")


class StepSubscriber(Checked[Any]):
    """One call of the fused step per item: an item goes on, None means that a stage dropped it.

    An item that comes after the source's last (a partial buffer, a sum) waits in ``_tail`` for a request, if none is open.
    """

    __slots__ = (
        "_args",
        "_credits",
        "_early",
        "_finish",
        "_rules",
        "_shape",
        "_step",
        "_tail",
        "_unfinished",
        "asks_all",
        "emitted",
        "last",
        "late",
        "queue",
        "reached",
        "replenish",
        "stop",
    )

    def __init__(
        self, down: Subscriber[Any], shape: Shape, args: tuple[Any, ...], origin: object, state: tuple[Any, ...] | None = None
    ) -> None:
        super().__init__(down, origin)
        self._args = args
        self._shape = shape
        #: Read and set by the generated step: the highest stage that completed, and whether the item given is the last.
        self.stop = -1
        self.last = False
        #: Set by it as well: what a stage failed with after the item it had given.
        self.late: BaseException | None = None
        self._rules = _request_rules(shape, args)
        #: Whatever a stage can use, the source is asked for everything, see :func:`push`.
        self.asks_all = False
        #: Whether more is asked for when a stage drops an item. A stage with a request rule has asked for what it drops.
        self.replenish = any(stage.drops and stage.request is None for stage in shape.stages)
        #: How a consumer that was granted a mode polls these stages.
        self.queue: PolledSteps | None = None
        #: Set by the step where that matters: which stage had the item last.
        self.reached = 0
        #: It gives one item, and asks for what that needs at once; the item may wait in the tail.
        self._early = any(stage.gives_one for stage in shape.stages)
        self._credits: deque[int] | None = deque() if self._early or any(stage.tail_yields for stage in shape.stages) else None
        self.emitted = 0
        #: The item in the tail is not what the end of the stages gave.
        self._unfinished = False
        self._tail: dict[int, Any] = {}
        try:
            self._build(shape, args, state)
        except (Exception, GeneratorExit) as error:
            # What comes before a stage's loop: the supplier of collect.
            raise self._noted(error)  # noqa: B904  # it is the same error, or has it as its cause

    def _build(self, shape: Shape, args: tuple[Any, ...], state: tuple[Any, ...] | None) -> None:
        factory = shape.form(STEP)
        assert factory is not None  # the caller looked at shape.steps
        self._step: Callable[[Any], Any]
        self._finish: Callable[[], Any]
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

    def give_last(self, out: Any) -> None:
        if self.up is not None:
            self.stop_source()  # before the item goes out: a re-entrant publisher must not send another (take)
            self._forget_source()
        if out is not None:
            if self._early:
                self._unfinished = True
                self._tail[0] = out  # as in _complete
                if sum(self._credits or ()) > self.emitted:
                    self._give_tail()
                return
            self.emitted += 1
            self._give(out)
        self._complete()

    def _give(self, out: Any) -> None:
        try:
            self.down.on_next(out)
        except BaseException:
            self.cancel()  # as above
            raise

    def _forget_source(self) -> None:
        """It is over, the stream perhaps not: nothing goes to the source any more (RS 2.3, 2.4), but it may still be polled."""
        if self.queue is None:
            self.up = NOT_THERE

    @property
    def answers_late(self) -> bool:
        return not self._early and self._shape.relays_requests(self._args) and super().answers_late

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

    def on_complete(self) -> None:
        if not self.last and not self.done and self.enter():
            self._forget_source()
            self._complete()

    def _complete(self) -> None:
        if self.done or self._tail:
            self._report_late()
            return
        if self.late is not None:
            self._end()
            return
        try:
            finish, self._finish = self._finish, nothing
            out = finish()
        except BaseException as error:
            self._failed(error)
            return
        if out is None or self._credits is None:
            self._end()
            return
        self._tail[0] = out  # publish first, look afterwards: a request at the same time sees it or is seen
        if sum(self._credits) > self.emitted:
            self._give_tail()

    def _give_tail(self) -> None:
        out = self._tail.pop(0, None)  # atomic: given once
        if out is not None:
            if not self.done:
                self._give(out)
                if self._unfinished:  # it came before the end of its stages
                    self._unfinished = False
                    self._complete()
                else:
                    self._end()
            self.leave(False)

    def _end(self) -> None:
        if self.done:  # cancelled meanwhile
            self._report_late()
            return
        self.done = True
        late = self._take_late()
        if late is None:
            self.down.on_complete()
        else:
            self.down.on_error(late)

    def _take_late(self) -> Exception | None:
        late, self.late = self.late, None
        return None if late is None else self._noted(late)

    def _report_late(self) -> None:
        late = self._take_late()
        if late is not None:
            dropped(late, self.origin)

    def cancel(self) -> None:
        if self.queue is not None:
            self.queue.report_late()
        super().cancel()
        self._step = ignored  # the state of the stages lives in it
        self._finish = nothing
        self._tail.clear()
        self._report_late()

    def refuse(self, error: TypeError) -> TypeError:
        ended = self._tail or (self.last and self.up is not None)
        return error if ended else super().refuse(error)

    def _failed(self, error: BaseException) -> None:
        self._pass_interrupt(error)
        self.fail(self._noted(error))

    def _pass_interrupt(self, error: BaseException) -> None:
        """KeyboardInterrupt, SystemExit and their like are not signalled, but a thread that waits must not hang."""
        if not isinstance(error, (Exception, GeneratorExit)):
            down = self.down
            self.cancel()
            tell_interrupted(down, error)
            raise error

    def _noted(self, error: BaseException) -> Exception:
        try:
            note_failure(error.with_traceback(_inner(error)), self.origin, self._args)
        except RuntimeError as instead:  # of a GeneratorExit
            error = instead
        assert isinstance(error, Exception)
        return error

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


def ignored(_item: object) -> None:
    pass


def nothing() -> None:
    pass


#: What calls generated functions is in this folder: pushing, and polling.
_HERE = __file__.removesuffix("_step_subscriber.py")


def _inner(error: BaseException) -> Any:
    """The traceback from the generated function on, without the frames of the subscriber that called it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace


Rule = Callable[[int], int]


def _request_rules(shape: Shape, args: tuple[Any, ...]) -> list[Rule | None]:
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
