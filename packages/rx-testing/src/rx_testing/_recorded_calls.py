"""Calls on a Subscription as a source records them, and the rules that one call can break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, final

from rx_core import UNBOUNDED

#: Where a source is when its subscription is called. The names of signals stand for "inside this signal, on the same thread".
Phase = Literal["on_subscribe", "running", "on_next", "on_error", "on_complete", "ended"]

TERMINAL: Final = ("on_error", "on_complete")


@final
@dataclass(frozen=True, slots=True)
class RuleViolation:
    """One broken rule of Reactive Streams: its number, what happened, and in which script of a verification."""

    rule: str
    text: str
    script: str = ""

    def __str__(self) -> str:
        return f"§{self.rule}: {self.text}" + (f" [{self.script}]" if self.script else "")


@final
@dataclass(frozen=True, slots=True)
class SubscriptionCall:
    """One call that a subscriber made on its subscription."""

    method: Literal["request", "cancel"]
    #: The argument of ``request``, as it came; None for ``cancel``.
    n: int | None
    phase: Phase
    #: What other threads were calling on the same subscription when this call came.
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        call = "cancel()" if self.method == "cancel" else f"request({self.n!r})"
        if self.phase == "running":
            return call
        return f"{call} after the end" if self.phase == "ended" else f"{call} inside {self.phase}"


# -- the rules that one call can break, each a function of its own -----------------------------------------------------


def _not_inside_the_end(call: SubscriptionCall) -> str | None:
    return str(call) if call.phase in TERMINAL else None


def _not_after_the_end(call: SubscriptionCall) -> str | None:
    return str(call) if call.phase == "ended" else None


def _serial_requests(call: SubscriptionCall) -> str | None:
    # cancel is thread-safe (RS 3.5), so that only requests have to keep away from each other.
    if call.method == "cancel" or "request" not in call.beside:
        return None
    return f"{call} while another thread was inside request"


def _positive_requests(call: SubscriptionCall) -> str | None:
    valid = call.method == "cancel" or (type(call.n) is int and call.n > 0)
    return None if valid else str(call)


def _requests_within_range(call: SubscriptionCall) -> str | None:
    return str(call) if type(call.n) is int and call.n > UNBOUNDED else None


#: What is asked about each call. A rule that is taken out of here is not verified any more, and nothing else changes.
CALL_RULES: Final[dict[str, Callable[[SubscriptionCall], str | None]]] = {
    "2.3": _not_inside_the_end,
    "2.4": _not_after_the_end,
    "2.7": _serial_requests,
    "3.9": _positive_requests,
    "3.17": _requests_within_range,
}
