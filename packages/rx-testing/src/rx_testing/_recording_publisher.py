"""A foreign publisher that records every call its subscribers make, with the moment of the call, and judges it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar, final

from rx_core import add_cap
from rx_testing._leaks import opened
from rx_testing._recorded_calls import CALL_RULES, TERMINAL, Phase, RuleViolation, SubscriptionCall

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")

#: When a source answers a request: before ``request`` returns, the same but never inside on_subscribe, or in ``send()`` alone.
Pace = Literal["at once", "after on_subscribe", "by hand"]

#: More subscriptions than any operator needs here: the way out of an operator that resubscribes for ever.
_MOST_SUBSCRIPTIONS: Final = 500


class EndlessResubscription(BaseException):
    """Raised by ``RecordingPublisher.subscribe`` to get the thread back from an operator that never stops subscribing."""


@final
class RecordedSubscription(Generic[T]):
    """One subscriber of a :class:`RecordingPublisher`: the calls it made, and the signals it gets."""

    def __init__(
        self, publisher: RecordingPublisher[T], subscriber: Subscriber[T], number: int, *, surplus: bool = False
    ) -> None:
        self._publisher = publisher
        self._down: Subscriber[T] | None = subscriber
        self._granted: deque[int] = deque()
        self._token: dict[int, bool] = {}  # taken until on_subscribe has been called
        self._allowed = 0
        self._wrong: int | None = None
        self._greeted = False
        self._calling: dict[int, str] = {}
        self._signals: dict[int, list[Phase]] = {}
        #: Its place in ``publisher.subscriptions``.
        self.number = number
        #: Whether it was given to a subscriber that had one already, which has to cancel it (RS 2.5).
        self.surplus = surplus
        #: Every call, in order.
        self.calls: list[SubscriptionCall] = []
        #: How many items were sent.
        self.sent = 0
        #: The terminal signal, once it has returned.
        self.terminal: Phase | None = None
        self.cancelled = False

    @property
    def requests(self) -> list[int]:
        """What was requested, request by request, wrong ones too."""
        return [call.n for call in self.calls if call.n is not None]

    @property
    def is_over(self) -> bool:
        """Whether the source has ended or was cancelled."""
        return self.terminal is not None or self.cancelled

    @property
    def phase(self) -> Phase:
        """Where the source is, as the calling thread sees it."""
        inside = self._signals.get(threading.get_ident())
        if inside and inside[-1] in TERMINAL:
            return inside[-1]
        if self.terminal is not None:
            return "ended"
        if inside:
            return inside[-1]
        return "running" if self._greeted else "on_subscribe"

    def __repr__(self) -> str:
        state = self.terminal or ("cancelled" if self.cancelled else "neither cancelled nor ended")
        calls = ", ".join(map(str, self.calls[-6:])) or "nothing"
        return f"subscription {self.number} of a RecordingPublisher: was sent {calls}; sent {self.sent} items; {state}"

    # the subscriber's side --------------------------------------------------------------------------------------------

    def request(self, n: int, /) -> None:
        me = threading.get_ident()
        self._called(me, "request", n)
        try:
            on_request = self._publisher.on_request
            if on_request is not None:
                on_request(self, n)
        finally:
            self._calling.pop(me, None)
        # Outside: the items sent from here may make another thread request legitimately before this call returns.
        self._granted.append(n)
        if self._publisher.pace != "by hand":
            self._drain()

    def cancel(self) -> None:
        me = threading.get_ident()
        self._called(me, "cancel", None)
        self.cancelled = True
        self._calling.pop(me, None)
        if not self._publisher.ignores_cancel:
            self._down = None  # RS 3.13

    def _called(self, me: int, method: Literal["request", "cancel"], n: int | None) -> None:
        """Record and judge a call, which counts as running until the caller takes it out of ``_calling``."""
        calling = self._calling
        calling[me] = method  # publish first, look afterwards: of two that overlap at least one sees the other
        beside = tuple(calling.get(thread, "") for thread in list(calling) if thread != me) if len(calling) > 1 else ()
        call = SubscriptionCall(method, n, self.phase, beside)
        self.calls.append(call)
        for rule, broken in CALL_RULES.items():
            text = broken(call)
            if text is not None:
                self._publisher.note(rule, text, self)

    # the source's side ------------------------------------------------------------------------------------------------

    def send(self) -> bool:
        """Send one signal that is due: a requested item, or the end. False when none is."""
        if not self._due() or not self._token.pop(0, False):
            return False
        try:
            return self._step()
        finally:
            self._token[0] = True

    def _greet(self) -> None:
        if self._publisher.pace == "at once":
            self._token[0] = True
        down = self._down
        if down is not None:
            self._signal("on_subscribe", down.on_subscribe, self)
        self._greeted = True

    def _open(self) -> None:
        self._token[0] = True
        if self._publisher.pace != "by hand":
            self._drain()

    def _drain(self) -> None:
        # Publish first, look afterwards: the holder of the token sees what was requested, or this thread gets the token.
        while self._due() and self._token.pop(0, False):
            try:
                while self._step():
                    pass
            finally:
                self._token[0] = True

    def _due(self) -> bool:
        if self.surplus or self.terminal is not None or self._down is None:
            return False
        if self._granted or self._wrong is not None:
            return True
        publisher = self._publisher
        if self.sent < len(publisher.items):
            return self.sent < self._allowed
        return publisher.ends

    def _step(self) -> bool:
        while self._granted:
            n = self._granted.popleft()
            if type(n) is int and n > 0:
                self._allowed = add_cap(self._allowed, n)
            else:
                self._wrong = n
        down, publisher = self._down, self._publisher
        if down is None or not self._due():
            return False
        if self._wrong is not None:
            self._signal("on_error", down.on_error, ValueError(f"§3.9: request({self._wrong!r})"))
        elif self.sent < len(publisher.items):
            item = publisher.items[self.sent]
            self.sent += 1
            self._signal("on_next", down.on_next, item)
        elif publisher.error is not None:
            self._signal("on_error", down.on_error, publisher.error)
        else:
            self._signal("on_complete", down.on_complete)
        return True

    def _signal(self, name: Phase, method: Callable[..., object], *argument: object) -> None:
        inside = self._signals.setdefault(threading.get_ident(), [])
        inside.append(name)
        late = self.cancelled
        try:
            method(*argument)
        except Exception as error:
            rule, when = ("2.8", " after cancel()") if late else ("2.13", "")
            self._publisher.note(rule, f"{name}{when} raised {error!r}", self)
            self._down = None  # RS 2.13: the subscription counts as cancelled
            self.cancelled = True
        finally:
            inside.pop()
            if name in TERMINAL:
                self.terminal = name
                self._down = None


@final
class RecordingPublisher(Generic[T]):
    """A correct foreign publisher of ``items``, then ``error`` or completion, that records what its subscribers call.

    ::

        source = RecordingPublisher([1, 2, 3])
        Flowable.wrap(source).take(2).subscribe(subscriber)
        assert source.violations == []
        assert source.subscriptions[0].cancelled

    Each call is judged when it comes: no call inside the source's own on_complete or on_error (§2.3) or after it (§2.4), no
    overlapping requests (§2.7), no request of less than one item (§3.9) or of more than 2**63 - 1 (§3.17), no subscriber
    that subscribes twice (§2.12), and no signal that raises (§2.13, §2.8). ``pace`` says when it answers requests; with
    ``"by hand"`` nothing comes but by :meth:`send`. With ``ends`` False neither ``error`` nor completion comes.

    Two things a correct subscriber has to stand as well: ``ignores_cancel`` lets the source go on after ``cancel`` with what was
    requested before (§2.8), and ``surplus`` gives each subscriber a second subscription, which it has to cancel (§2.5).
    ``resubscribe`` allows that its end makes the subscriber subscribe to it again, as ``repeat`` and ``retry`` do; strictly §2.3
    forbids that, too.
    """

    def __init__(
        self,
        items: Sequence[T] = (),
        *,
        error: Exception | None = None,
        ends: bool = True,
        pace: Pace = "at once",
        ignores_cancel: bool = False,
        surplus: bool = False,
        resubscribe: bool = False,
        on_request: Callable[[RecordedSubscription[T], int], object] | None = None,
    ) -> None:
        self.items = items
        self.error = error
        self.ends = ends
        self.pace: Pace = pace
        self.ignores_cancel = ignores_cancel
        self.surplus = surplus
        self.resubscribe = resubscribe
        #: Called inside each request, which counts as running meanwhile.
        self.on_request = on_request
        #: All subscriptions, also those that are over; a surplus one stands behind the one it was given beside.
        self.subscriptions: list[RecordedSubscription[T]] = []
        #: The rules that its subscribers broke, in order.
        self.violations: list[RuleViolation] = []
        self._sending: list[RecordedSubscription[T]] = []

    def subscribe(self, subscriber: Subscriber[T], /) -> None:
        if subscriber is None:
            raise TypeError("subscribe(None): a subscriber is needed (RS 1.9)")
        if len(self.subscriptions) >= _MOST_SUBSCRIPTIONS:
            raise EndlessResubscription(f"{_MOST_SUBSCRIPTIONS} subscriptions")
        if not self.resubscribe:
            for each in self.subscriptions:
                if each.phase in TERMINAL:
                    self.note("2.3", f"subscribe() inside {each.phase}", each)
        if any(each._down is subscriber for each in self.subscriptions):
            self.note("2.12", f"{subscriber!r} is subscribed again while its first subscription goes on")
        made = self._subscription(subscriber)
        made._greet()
        if self.surplus and not made.is_over:
            self._subscription(subscriber, surplus=True)._greet()
        made._open()

    def _subscription(self, subscriber: Subscriber[T], *, surplus: bool = False) -> RecordedSubscription[T]:
        made = RecordedSubscription(self, subscriber, len(self.subscriptions), surplus=surplus)
        self.subscriptions.append(made)
        self._sending.append(made)
        opened(made)
        return made

    def send(self) -> bool:
        """Send each subscriber one signal that is due. False when none was."""
        sending = self._sending
        sent = True in [each.send() for each in tuple(sending)]  # a list: each of them sends, not only the first that can
        if sent:
            sending[:] = [each for each in sending if each._down is not None]
        return sent

    @property
    def active(self) -> int:
        """How many subscriptions have neither ended nor been cancelled."""
        return sum(not each.is_over for each in self._sending)  # the others have ended

    def note(self, rule: str, text: str, subscription: RecordedSubscription[T] | None = None) -> None:
        """Add to ``violations``."""
        several = subscription is not None and len(self.subscriptions) > 1
        where = f", subscription {subscription.number}" if several and subscription is not None else ""
        self.violations.append(RuleViolation(rule, text + where))

    def __repr__(self) -> str:
        end = "no end" if not self.ends else "on_complete" if self.error is None else repr(self.error)
        return f"RecordingPublisher({len(self.items)} items, then {end}; {self.pace})"
