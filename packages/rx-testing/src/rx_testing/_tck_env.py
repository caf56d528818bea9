"""What the verifications share: the subscriber and the subscription that record, waiting, and failing with the rule's text."""

from __future__ import annotations

import threading
import weakref
from abc import ABC
from collections.abc import Callable
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import pytest

from rx_testing._tck_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rx_core import Subscription

T = TypeVar("T")

#: Signals after which a probe stops a publisher that does not stop by itself.
OVERRUN = 2_000

#: How often a source that never runs dry (virtual time) is driven while nothing is expected to come.
_SETTLE = 16


class Overrun(BaseException):
    """Raised in on_next after far too many signals: the only way to get a thread back from an endless loop."""


class Verification(ABC):  # noqa: B024  # the parties to verify are made by the subclasses' abstract methods
    """What can be set for every verification, as attributes of the subclass."""

    #: Seconds to wait for something that must come.
    default_timeout: float = 2.0
    #: Seconds of silence that count as "nothing comes".
    no_signals_timeout: float = 0.02
    #: Set it for parties that signal only inside calls of the test (or of :meth:`settle`): nothing is waited for then.
    synchronous: bool = False
    #: The exceptions that may be raised where None is passed.
    none_errors: tuple[type[Exception], ...] = (TypeError,)

    def settle(self) -> bool:
        """Let a party work that has no thread of its own (virtual time, an event loop). True when something happened."""
        return False

    @cached_property
    def env(self) -> Env:
        """What this test uses to wait and to fail. New for each test."""
        return Env(self)

    @pytest.fixture(autouse=True)
    def _rx_tck_cleanup(self) -> Iterator[None]:
        yield
        self.env.close()


def untested(why: str, /) -> NoReturn:
    """Skip: the rule cannot be verified from outside, or allows everything."""
    pytest.skip(f"not verified: {why}")


class Env:
    """Waits for conditions, fails with the text of a rule, and cancels what a test leaves behind."""

    def __init__(self, options: Verification) -> None:
        self.options = options
        self.changed = threading.Condition(threading.RLock())
        self._probes: list[weakref.ref[Probe[Any]]] = []
        self._at_close: list[Callable[[], object]] = []

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()

    def wait_until(self, reached: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until ``reached()``; False after ``seconds`` (default: ``default_timeout``)."""
        if reached():
            return True
        options = self.options
        deadline = monotonic() + (options.default_timeout if seconds is None else seconds)
        while True:
            while options.settle():
                if reached():
                    return True
                if monotonic() >= deadline:
                    return reached()
            left = deadline - monotonic()
            if options.synchronous or left <= 0:
                return reached()
            with self.changed:
                # In slices where the test must drive the party; otherwise the condition wakes us.
                if self.changed.wait_for(reached, min(left, 0.005) if self._driven else left):
                    return True

    @cached_property
    def _driven(self) -> bool:
        return type(self.options).settle is not Verification.settle

    def never(self, happened: Callable[[], bool]) -> bool:
        """Give it the chance to happen; True when it did not."""
        for _ in range(_SETTLE):
            if happened() or not self.options.settle():
                break
        if not self.options.synchronous and not happened():
            with self.changed:
                self.changed.wait_for(happened, self.options.no_signals_timeout)
        return not happened()

    def fail(self, rule: str, expected: str, *parties: object) -> NoReturn:
        """AssertionError with the rule, what was expected, and what each party saw."""
        __tracebackhide__ = True
        head = f"§{rule}: {RULES[rule]}." if rule in RULES else f"{rule}:"
        raise AssertionError("\n".join([head, f"  {expected}", *(f"  {party}" for party in parties)]))

    def watch(self, probe: Probe[Any]) -> None:
        self._probes.append(weakref.ref(probe))

    def at_close(self, action: Callable[[], object]) -> None:
        """Call ``action`` when the test is over; what it raises does not matter any more."""
        self._at_close.append(action)

    def in_thread(self, action: Callable[[], object], seconds: float | None = None) -> bool:
        """Run ``action`` on another thread; whether it has returned within ``seconds`` (default: ``default_timeout``)."""
        thread = threading.Thread(target=action, name="tck-helper", daemon=True)
        thread.start()
        thread.join(self.options.default_timeout if seconds is None else seconds)
        return not thread.is_alive()

    def close(self) -> None:
        """Cancel what is still running, so that it does not disturb the next test."""
        for reference in self._probes:
            probe = reference()
            if probe is not None and not probe.terminated and not probe.cancelled:
                probe.cancel()
        self._probes.clear()
        for action in self._at_close:
            attempt(action)
        self._at_close.clear()


class Probe(Generic[T]):
    """A subscriber that records everything, raises nothing, and lets a test react inside the signals.

    What the publisher's ``request`` and ``cancel`` raise is noted in ``raised`` and goes no further: only the tests of the rules
    about that look at it.
    """

    def __init__(
        self,
        env: Env,
        *,
        on_subscribe: Callable[[Probe[T]], object] | None = None,
        on_next: Callable[[Probe[T]], object] | None = None,
    ) -> None:
        self._env = env
        self._react_subscribe = on_subscribe
        self._react_next = on_next
        self._inside: dict[int, int] = {}
        self._requesting: dict[int, int] = {}
        self.subscription: Subscription | None = None
        #: Each signal as (kind, value), in order of arrival.
        self.signals: list[tuple[str, Any]] = []
        #: The items between on_subscribe and the first terminal signal.
        self.values: list[T] = []
        #: The first terminal signal: "on_complete", "on_error" or None.
        self.terminal: str | None = None
        self.error: Any = None
        #: What calls of the subscription raised, as (call, exception).
        self.raised: list[tuple[str, BaseException]] = []
        self.requested = 0
        self.cancelled = False
        #: Signals that came while another thread was inside one.
        self.overlaps: list[str] = []
        #: How many request() calls made inside signals were on the stack, at most, when an item came.
        self.max_recursion = 0
        env.watch(self)

    # the subscriber ---------------------------------------------------------------------------------------------------

    # Tests on other threads wait for what is published here: ``subscription``, ``values``, ``terminal``. Each is written when
    # everything that belongs to it has been recorded, and the waiters are notified behind it.

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self._enter("on_subscribe", None)
        try:
            if self.subscription is None:
                self.subscription = subscription
            self._env.notify()
            if self._react_subscribe is not None:
                self._react_subscribe(self)
        finally:
            self._leave()

    def on_next(self, item: T, /) -> None:
        self._enter("on_next", item)
        try:
            depth = self._requesting.get(threading.get_ident(), 0)
            self.max_recursion = max(self.max_recursion, depth)
            if self.terminal is None and self.subscription is not None:
                self.values.append(item)
            self._env.notify()
            if self._react_next is not None and self.subscription is not None:
                self._react_next(self)
        finally:
            self._leave()

    def on_error(self, error: Exception, /) -> None:
        self._enter("on_error", error)
        if self.terminal is None:
            self.error = error
            self.terminal = "on_error"
        self._env.notify()
        self._leave()

    def on_complete(self) -> None:
        self._enter("on_complete", None)
        if self.terminal is None:
            self.terminal = "on_complete"
        self._env.notify()
        self._leave()

    def _enter(self, kind: str, value: object) -> None:
        me = threading.get_ident()
        self._inside[me] = self._inside.get(me, 0) + 1  # publish first, look afterwards: one of two sees the other
        if any(other != me for other in list(self._inside)):
            self.overlaps.append(f"{kind} on {threading.current_thread().name!r} while another thread was inside a signal")
        self.signals.append((kind, value))
        if len(self.signals) > OVERRUN:
            self._env.notify()
            self._leave()
            raise Overrun(f"{OVERRUN} signals")

    def _leave(self) -> None:
        me = threading.get_ident()
        depth = self._inside.get(me, 1) - 1
        if depth:
            self._inside[me] = depth
        else:
            self._inside.pop(me, None)

    # what tests do ----------------------------------------------------------------------------------------------------

    def request(self, n: int) -> None:
        """Request ``n``; what that raises is noted."""
        if n > 0:
            self.requested += n
        me = threading.get_ident()
        nested = 1 if me in self._inside else 0
        self._requesting[me] = self._requesting.get(me, 0) + nested
        try:
            self._call(f"request({n})", lambda subscription: subscription.request(n))
        finally:
            self._requesting[me] -= nested

    def cancel(self) -> None:
        """Cancel; what that raises is noted."""
        self.cancelled = True
        self._call("cancel()", lambda subscription: subscription.cancel())

    def _call(self, what: str, call: Callable[[Subscription], object]) -> None:
        subscription = self.subscription
        if subscription is None:
            return
        try:
            call(subscription)
        except (Exception, Overrun) as error:
            self.raised.append((what, error))

    @property
    def terminated(self) -> bool:
        return self.terminal is not None

    def await_values(self, count: int, seconds: float | None = None) -> bool:
        """Wait until ``count`` items have come; False when they do not."""
        self._env.wait_until(lambda: len(self.values) >= count or self.terminated, seconds)
        return len(self.values) >= count

    def await_terminal(self) -> bool:
        """Wait for the end; False when it does not come."""
        return self._env.wait_until(lambda: self.terminated)

    def by_ones(self, most: int) -> None:
        """Request one at a time until the end, ``most`` items, or a request that brings nothing."""
        while not self.terminated and len(self.values) < most:
            before = len(self.values)
            self.request(1)
            if not self._env.wait_until(lambda: len(self.values) > before or self.terminated):  # noqa: B023  # used at once
                return

    def __str__(self) -> str:
        shown = [kind if kind in ("on_subscribe", "on_complete") else f"{kind}({value!r})" for kind, value in self.signals[:12]]
        if len(self.signals) > 12:
            shown.append(f"... {len(self.signals) - 12} more")
        text = f"signals: {', '.join(shown) or 'none'}; requested {self.requested}"
        if self.cancelled:
            text += "; cancelled"
        if self.raised:
            text += "; raised: " + ", ".join(f"{call}: {error!r}" for call, error in self.raised[:3])
        return text


class ProbeSubscription:
    """A subscription that records what the subscriber under test does with it. It sends nothing by itself."""

    def __init__(self, env: Env, dwell: float = 0.0) -> None:
        self._env = env
        self._dwell = dwell
        self._inside: dict[int, None] = {}
        self._signal: dict[int, str] = {}
        self.requests: list[int] = []
        self.cancels = 0
        #: Calls made inside on_complete or on_error, as texts.
        self.forbidden: list[str] = []
        #: Calls that overlapped on two threads.
        self.overlaps: list[str] = []

    def request(self, n: int, /) -> None:
        self._enter(f"request({n})")
        try:
            self.requests.append(n)
            self._env.notify()
        finally:
            self._inside.pop(threading.get_ident(), None)

    def cancel(self) -> None:
        self._enter("cancel()")
        try:
            self.cancels += 1
            self._env.notify()
        finally:
            self._inside.pop(threading.get_ident(), None)

    def _enter(self, call: str) -> None:
        me = threading.get_ident()
        self._inside[me] = None
        if self._dwell:
            threading.Event().wait(self._dwell)  # keeps the door open long enough for a second thread to be seen
        if len(self._inside) > 1:
            self.overlaps.append(f"{call} on {threading.current_thread().name!r} while another thread was calling")
        signal = self._signal.get(me)
        if signal is not None:
            self.forbidden.append(f"{call} inside {signal}")

    def inside(self, signal: str, call: Callable[[], object]) -> Exception | None:
        """Make a terminal signal during which the subscription must not be called; returns what it raised."""
        self._signal[threading.get_ident()] = signal
        try:
            return attempt(call)
        finally:
            self._signal.pop(threading.get_ident(), None)

    @property
    def requested(self) -> int:
        """The sum of the valid requests."""
        return sum(n for n in self.requests if type(n) is int and n > 0)

    def await_request(self, total: int = 1) -> bool:
        """Wait until ``total`` items are requested; False when they are not."""
        return self._env.wait_until(lambda: self.requested >= total)

    def await_cancel(self) -> bool:
        """Wait for cancel(); False when it does not come."""
        return self._env.wait_until(lambda: self.cancels > 0)

    def __str__(self) -> str:
        return f"requests {self.requests}, cancelled {self.cancels} times"


def attempt(call: Callable[[], object]) -> Exception | None:
    """What ``call`` raises, or None."""
    try:
        call()
    except Exception as error:
        return error
    return None
