"""What the test subscribers share: recording signals, checking the protocol meanwhile, and assertions about both."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from rx_core import none_argument

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

T = TypeVar("T")

_SHOWN = 12
_AWAIT = 5.0


class Recorder(Generic[T]):
    """Records the signals of one stream and notes every broken rule.

    Signals may come from any thread. A broken rule never raises at the sender, where it could change what is being
    tested: it is noted in :attr:`violations`, and every assertion fails as long as there is one. The exception is None, for
    which a subscriber has to raise (RS 2.13): it is noted and raises TypeError.
    """

    __test__ = False  # or pytest would collect the Test... classes that derive from this

    def __init__(self) -> None:
        #: The items, in order of arrival.
        self.values: list[T] = []
        #: What came by on_error; more than one is a violation too.
        self.errors: list[Exception] = []
        #: How often on_complete came.
        self.completions = 0
        #: The name of the thread that delivered each item.
        self.value_threads: list[str] = []
        #: The name of the thread that delivered the terminal signal.
        self.terminal_thread: str | None = None
        #: Broken rules, each text starting with the number of the rule.
        self.violations: list[str] = []
        #: How deep signals were nested in signals on one thread (RS 3.3 wants a bound); 1 is: never.
        self.max_depth = 0
        self._subscribed = 0
        self._cancelled = False
        self._inside: dict[int, int] = {}
        # Re-entrant, because the collector may run a finalizer while it is held, which may call this recorder.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        #: How many threads wait for a signal. Written and read under the lock: most signals have no one to wake.
        self._waiting = 0

    # recording ------------------------------------------------------------------------------------

    def _violated(self, text: str) -> None:
        self.violations.append(text)
        with self._lock:
            self._wake()

    def _wake(self) -> None:
        """Let those look again who wait for what has changed. Under the lock."""
        if self._waiting:
            self._changed.notify_all()

    def _enter(self, signal: str) -> int:
        me = threading.get_ident()
        depth = self._inside.get(me, 0) + 1
        self._inside[me] = depth  # publish first, look afterwards: of two that overlap at least one sees the other
        if len(self._inside) > 1:
            self._violated(
                f"§1.3: {signal} on {threading.current_thread().name!r} while another signal was still being delivered "
                "on another thread"
            )
        if depth > self.max_depth:
            self.max_depth = depth
        return depth

    def _leave(self, depth: int) -> None:
        if depth > 1:
            self._inside[threading.get_ident()] = depth - 1
        else:
            self._inside.pop(threading.get_ident(), None)

    def _subscribe_with(self, handle: object) -> bool:
        """Note on_subscribe; False when ``handle`` is not to be used."""
        if handle is None:
            self._violated("§2.13: on_subscribe(None)")
            raise none_argument("on_subscribe(None)", "subscription")
        self._subscribed += 1
        if self._subscribed > 1:
            self._violated(f"§2.12: on_subscribe was called {self._subscribed} times")
            return False
        if self.is_terminated:
            self._violated("§1.9: on_subscribe after the terminal signal")
        return True

    def _accept(self, signal: str, item: object) -> bool:
        """Note what is wrong with this signal; False when it is not to be recorded as a value."""
        if not self._subscribed:
            self._violated(f"§1.9: {signal}({item!r}) before on_subscribe")
        if item is None:
            self._violated(f"§2.13: {signal}(None)")
            raise none_argument(f"{signal}(None)", "item")
        if self.is_terminated:
            self._violated(f"§1.7: {signal}({item!r}) after the terminal signal ({self._terminal()})")
            return False
        return True

    def _record(self, item: T) -> None:
        thread = threading.current_thread().name
        with self._lock:
            self.value_threads.append(thread)
            self.values.append(item)
            self._wake()

    def on_error(self, error: Exception, /) -> None:
        depth = self._enter("on_error")
        try:
            self._terminate("on_error", error)
        finally:
            self._leave(depth)

    def on_complete(self) -> None:
        depth = self._enter("on_complete")
        try:
            self._terminate("on_complete")
        finally:
            self._leave(depth)

    def _terminate(self, signal: str, error: object = None) -> None:
        if not self._subscribed:
            self._violated(f"§1.9: {signal} before on_subscribe")
        missing = none_argument("on_error(None)", "error") if signal == "on_error" and error is None else None
        if signal == "on_error" and not isinstance(error, Exception):
            self._violated(f"§2.13: on_error({error!r}) where an Exception must be")
            error = missing or TypeError(f"on_error({error!r})")
        with self._lock:
            if self.is_terminated:
                self.violations.append(f"§1.7: {signal}({error or ''!r}) after the terminal signal ({self._terminal()})")
            self.terminal_thread = threading.current_thread().name
            if isinstance(error, Exception):  # last, because is_terminated is read without the lock, too
                self.errors.append(error)
            elif signal == "on_complete":
                self.completions += 1
            self._wake()
        if missing is not None:
            raise missing

    def _terminal(self) -> str:
        return repr(self.errors[0]) if self.errors else "complete"

    # state ----------------------------------------------------------------------------------------

    @property
    def is_subscribed(self) -> bool:
        """Whether on_subscribe came."""
        return self._subscribed > 0

    @property
    def is_terminated(self) -> bool:
        """Whether on_error, on_complete or on_success came."""
        return bool(self.errors or self.completions)

    @property
    def is_cancelled(self) -> bool:
        """Whether :meth:`cancel` was called here."""
        return self._cancelled

    @property
    def error(self) -> Exception | None:
        """The first error, if one came."""
        return self.errors[0] if self.errors else None

    def cancel(self) -> None:
        """Cancel the stream; before on_subscribe: as soon as it comes."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cancel()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._state()}>"

    def _state(self) -> str:
        parts = [f"{len(self.values)} values {_short(self.values)}"]
        if self.errors:
            parts.append("errors " + ", ".join(map(repr, self.errors)))
        if self.completions:
            parts.append("complete" if self.completions == 1 else f"complete {self.completions} times")
        if not self.is_terminated:
            parts.append("not terminated" if self._subscribed else "not subscribed")
        parts.extend(self._details())
        if self._cancelled:
            parts.append("cancelled")
        return "; ".join(parts)

    def _details(self) -> list[str]:
        return []

    # waiting --------------------------------------------------------------------------------------

    def await_terminal(self, seconds: float = _AWAIT) -> Self:
        """Block until the stream has ended. After ``seconds`` cancel it and fail."""
        __tracebackhide__ = True
        return self._await(lambda: self.is_terminated, seconds, "no terminal signal")

    def await_count(self, count: int, seconds: float = _AWAIT) -> Self:
        """Block until ``count`` items have come. Fail if it ends before, or after ``seconds`` (and cancel)."""
        __tracebackhide__ = True
        self._await(lambda: len(self.values) >= count or self.is_terminated, seconds, f"fewer than {count} values")
        if len(self.values) < count:
            self.fail(f"expected at least {count} values, the stream ended with {len(self.values)}")
        return self

    def _await(self, reached: Callable[[], bool], seconds: float, what: str) -> Self:
        __tracebackhide__ = True
        with self._lock:
            self._waiting += 1
            try:
                done = self._changed.wait_for(reached, seconds)
            finally:
                self._waiting -= 1
        if not done:
            self.cancel()  # or the rest of the stream would run into the next test
            self.fail(f"{what} after {seconds} seconds")
        return self

    # assertions -----------------------------------------------------------------------------------

    def fail(self, text: str) -> NoReturn:
        """Raise AssertionError with ``text`` and everything that was recorded."""
        __tracebackhide__ = True
        lines = [text, f"  {self._state()}"]
        lines.extend(f"  violated {violation}" for violation in self.violations[:_SHOWN])
        raise AssertionError("\n".join(lines)) from self.error

    def assert_valid(self) -> Self:
        """No rule of the protocol was broken. Every other assertion contains this one."""
        __tracebackhide__ = True
        if self.violations:
            self.fail(f"{len(self.violations)} violations of the protocol")
        return self

    def assert_subscribed(self) -> Self:
        """on_subscribe came."""
        __tracebackhide__ = True
        self.assert_valid()
        if not self._subscribed:
            self.fail("expected on_subscribe, it did not come")
        return self

    def assert_values(self, *expected: T) -> Self:
        """Exactly these items in this order, whether the stream has ended or not."""
        __tracebackhide__ = True
        return self.assert_value_sequence(expected)

    def assert_value_sequence(self, expected: Iterable[T]) -> Self:
        """Like :meth:`assert_values`, for items that come from an iterable."""
        __tracebackhide__ = True
        self.assert_valid()
        wanted, got = list(expected), list(self.values)
        if got != wanted:
            at = next((i for i, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b), min(len(got), len(wanted)))
            self.fail(
                f"values differ at index {at}: {len(wanted)} expected, {len(got)} came\n"
                f"  expected {_short(wanted, at)}\n"
                f"  but was  {_short(got, at)}"
            )
        return self

    def assert_values_in_any_order(self, *expected: T) -> Self:
        """Exactly these items, each as often as given, in whatever order."""
        __tracebackhide__ = True
        self.assert_valid()
        missing, extra = list(expected), []
        for value in list(self.values):
            if value in missing:
                missing.remove(value)
            else:
                extra.append(value)
        if missing or extra:
            self.fail(f"values differ: missing {_short(missing)}, too many {_short(extra)}")
        return self

    def assert_value_count(self, count: int) -> Self:
        """So many items."""
        __tracebackhide__ = True
        self.assert_valid()
        if len(self.values) != count:
            self.fail(f"expected {count} values, {len(self.values)} came")
        return self

    def assert_no_values(self) -> Self:
        """No item came."""
        __tracebackhide__ = True
        return self.assert_value_count(0)

    def assert_complete(self) -> Self:
        """The stream completed, without an error."""
        __tracebackhide__ = True
        self.assert_no_error()
        if not self.completions:
            self.fail("expected completion, the stream has not ended")
        return self

    def assert_not_complete(self) -> Self:
        """on_complete did not come."""
        __tracebackhide__ = True
        self.assert_valid()
        if self.completions:
            self.fail("expected no completion")
        return self

    def assert_no_error(self) -> Self:
        """on_error did not come."""
        __tracebackhide__ = True
        self.assert_valid()
        if self.errors:
            self.fail(f"expected no error, got {self.errors[0]!r}")
        return self

    def assert_error(self, expected: type[Exception] | Exception, *, match: str | None = None) -> Self:
        """The stream failed with this very exception or with one of this type, whose text matches ``match``."""
        __tracebackhide__ = True
        self.assert_valid()
        if not self.errors:
            self.fail(f"expected {expected!r}, no error came")
        error = self.errors[0]
        if isinstance(expected, type):
            if not isinstance(error, expected):
                self.fail(f"expected {expected.__name__}, got {error!r}")
        elif error is not expected:
            self.fail(f"expected the error {expected!r} itself, got {error!r}")
        if match is not None and not re.search(match, str(error)):
            self.fail(f"the text of the error does not match {match!r}: {error}")
        return self

    def assert_not_terminated(self) -> Self:
        """The stream goes on."""
        __tracebackhide__ = True
        self.assert_valid()
        if self.is_terminated:
            self.fail("expected no terminal signal")
        return self

    def assert_result(self, *expected: T) -> Self:
        """Exactly these items and then completion."""
        __tracebackhide__ = True
        self.assert_no_error()
        return self.assert_values(*expected).assert_complete()

    def assert_failure(self, error: type[Exception] | Exception, *expected: T, match: str | None = None) -> Self:
        """Exactly these items and then this error."""
        __tracebackhide__ = True
        return self.assert_error(error, match=match).assert_values(*expected)

    def assert_empty(self) -> Self:
        """Subscribed, and nothing else so far."""
        __tracebackhide__ = True
        return self.assert_subscribed().assert_no_values().assert_not_terminated()

    def assert_on_thread(self, prefix: str) -> Self:
        """Every item came on a thread whose name starts with ``prefix``."""
        __tracebackhide__ = True
        self.assert_valid()
        others = sorted({name for name in self.value_threads if not name.startswith(prefix)})
        if others:
            self.fail(f"expected threads called {prefix!r}..., items also came on {', '.join(others)}")
        return self


def _short(values: list[T], around: int = 0) -> str:
    """A list as text, cut down to the part around one index."""
    if len(values) <= _SHOWN:
        return repr(values)
    start = max(0, min(around - 3, len(values) - _SHOWN))
    shown = ", ".join(map(repr, values[start : start + _SHOWN]))
    return f"[{f'({start} more), ' if start else ''}{shown}, ({len(values) - start - _SHOWN} more)]"
