"""Subscribing through stages without a queue, and the subscriber between a source of this library and a subscriber."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from rx_core import (
    UNBOUNDED,
    CallbackObserver,
    as_signal,
    dropped_late,
    request_all,
)
from rx_core.queue_fusion import NONE
from rx_core.streams import LOOK_FIRST, NOT_THERE, Failing, Stream
from rx_fusion._forms import Form
from rx_fusion._heads import Head
from rx_fusion._notes import note_failure
from rx_fusion._relay import Checked, Link, Relay
from rx_fusion._step_end import ignored, nothing
from rx_fusion._step_subscriber import StepSubscriber

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_fusion._shapes import Shape


class ClosureSteps(StepSubscriber):
    """The same behind one of ours, from which no None comes and nothing after the end: ``on_next`` is the generated function.

    It refers to this and is referred to by it, until the end or a cancel parts them. Callbacks it calls itself.
    """

    __slots__ = ("closed", "on_next", "settled")

    #: Whether a user's code calls ``on_next``: that may send None, and go on after the end.
    guarded: ClassVar[bool] = False
    #: No item is taken any more.
    closed: bool

    on_next: Callable[[Any], None]
    #: Downstream wants everything, for good: see SettlesDemand.
    settled: bool
    #: Behind a wall nothing is negotiated.
    try_on_next = None  # type: ignore[assignment]  # not there

    def _build(self, shape: Shape, args: tuple[Any, ...], state: tuple[Any, ...] | None) -> None:
        self.settled = False
        self.closed = False
        down = self.down
        callback = type(down) is CallbackObserver and down.function is not None
        counts = self.replenish and not (callback and not self._rules)  # a function wants everything, and a rule may say less
        factory = shape.form(Form("push", callback=callback, guarded=self.guarded, counts=counts))
        assert factory is not None  # the caller looked at shape.steps
        if callback:
            takes, raised = down.function, down.callback_failed
        else:
            takes, raised = down.on_next, self._refused if self.guarded else None
        self.on_next, self._finish = factory(self, args, state, takes, raised)

    def request_fusion(self, mode: int, /) -> int:
        return NONE

    def on_subscribe(self, subscription: Subscription, /) -> None:
        if self.up is not None:
            subscription.cancel()  # RS 2.5
            return
        if self.last:  # a stage that wants nothing at all: take(0)
            subscription.cancel()
            self.up = NOT_THERE
            self.down.on_subscribe(self)
            self._complete()
            return
        self.up = subscription
        self.down.on_subscribe(self)
        if self._early and not self.done:
            n = self._upstream(1)
            if n < UNBOUNDED:
                self.wanted += n
                subscription.request(n)
            else:
                request_all(subscription)  # what downstream requests, right or wrong, does not get there

    def request_all(self) -> None:
        self.settled = True
        if self._rules or self._credits is not None:
            self.request(UNBOUNDED)
        elif not self.done:
            self.replenish = False
            request_all(self.up)

    def on_complete(self) -> None:
        if not self.last and not self.done and (not self._early or self.enter()):
            self._let_go()
            self._forget_source()
            self._complete()

    def on_error(self, error: Exception, /) -> None:
        self._let_go()
        self._finish = nothing
        if self.done:
            dropped_late(error, self.origin)
            return
        self.done = True
        self.down.on_error(error)

    def give_last(self, out: Any, takes: Callable[[Any], None] | None = None) -> None:
        self._let_go()
        before = self.busy
        self.busy = True
        if not LOOK_FIRST:
            self.fence()
        super().give_last(out, takes)
        self.leave(before)

    def ask(self, n: int) -> None:
        if self.settled and n >= UNBOUNDED:
            request_all(self.up)
        else:
            self.up.request(n)

    def reject(self, n: object) -> None:
        if self._early:
            super().reject(n)
        else:
            self.up.request(n)  # the source answers, serially with its other signals

    def cancel(self) -> None:
        self._let_go()
        super().cancel()

    def _let_go(self) -> None:
        """No item comes any more: part from the generated function."""
        self.on_next = ignored
        self.closed = True

    def _refused(self, error: BaseException) -> None:
        """For the generated function: downstream has raised, which counts as a cancel (RS 2.13)."""
        self.cancel()
        raise error

    def unwanted(self, item: Any) -> None:
        """For the generated function: None, or what comes after the end."""
        if item is None and not self.closed:
            self.up.sent_none()

    def failed_here(self, error: BaseException) -> None:
        """For the generated function: a stage has failed."""
        self._let_go()
        self._finish = nothing
        self._pass_interrupt(error)
        try:
            note_failure(error, self.origin, self._args)
        except RuntimeError as instead:  # of a GeneratorExit
            error = instead
        assert isinstance(error, Exception)
        self.fail(error)


class EmittedSteps(ClosureSteps):
    """The same behind an emitter, whose ``on_next`` is that of this subscriber then."""

    __slots__ = ()
    guarded = True


def push(
    publisher: Publisher[Any],
    shape: Shape,
    args: tuple[Any, ...],
    down: Subscriber[Any],
    origin: object,
    *,
    wall: bool,
    observed: bool = False,
) -> None:
    """Subscribe ``down`` to ``publisher`` through the stages of ``shape``, without a queue.

    A ``wall`` is not to be polled through. One that is trusted keeps to the protocol, which need not be checked then. There is
    nothing to ask of what is ``observed``: it is asked for everything, however little a stage can use.
    """
    subscriber: Any
    unpolled = wall or not isinstance(publisher, Stream)
    trusted = unpolled and isinstance(publisher, (Head, Stream)) and publisher._trusted
    try:
        if shape:
            kind: type[StepSubscriber] = StepSubscriber
            if trusted:
                kind = EmittedSteps if isinstance(publisher, Head) and publisher.emitted else ClosureSteps
            subscriber = kind(down, shape, args, origin)
            subscriber.asks_all = observed
        elif wall:
            subscriber = (Relay if trusted else Checked)(down, origin)
        else:
            subscriber = Link(down, origin)
    except Exception as error:
        Failing(down, error, origin).start()  # RS 1.9: subscribe() returns, the failure is signalled
        return
    try:
        publisher.subscribe(subscriber)
    except (Exception, GeneratorExit) as error:
        if error is getattr(subscriber, "refused", None):
            return  # ours, on its way through a source that signalled None
        if trusted or subscriber.done:
            raise  # the subscriber's (RS 2.13)
        subscriber.fail(as_signal(error))  # RS 1.9
