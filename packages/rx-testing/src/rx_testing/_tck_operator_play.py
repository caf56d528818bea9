"""Playing one script over an operator: the sources send, the subscriber requests and cancels, and what was called is judged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from rx_testing._recorded_calls import RuleViolation
from rx_testing._recording_publisher import RecordedSubscription, RecordingPublisher
from rx_testing._subscribers import TestSubscriber
from rx_testing._tck_env import attempt
from rx_testing._tck_operator_scripts import DownstreamScript, OperatorScript, SourceScript

if TYPE_CHECKING:
    from rx_core import Publisher

#: Requests that the subscriber makes, one by one, before it gives up waiting for an end.
_MOST_REQUESTS: Final = 120
#: Signals of the sources in a row: more than any script has.
_MOST_SIGNALS: Final = 5_000
#: How often ``settle()`` is called in a row without a signal of a source: an operator may have a clock that never stops.
_MOST_SETTLED: Final = 24


class PlayedRules(Protocol):
    """What a play asks of the verification that it belongs to: see ``UpstreamRules``."""

    resubscribes: bool
    keeps_sources: bool
    error: Exception
    default_timeout: float

    def settle(self) -> bool: ...

    def subscribe(self, publisher: Publisher[object], downstream: TestSubscriber[object], /) -> None: ...

    def _build(self, play: Play, sources: Sequence[Publisher[int]]) -> Publisher[object]: ...


class Play:
    """One script over one operator."""

    def __init__(self, rules: PlayedRules, script: OperatorScript) -> None:
        self._rules = rules
        self._script = script
        self._found: list[RuleViolation] = []
        self.sources = [self._source(each) for each in script.sources]
        #: What the operator's own functions have made with ``UpstreamRules.inner``.
        self.inner: list[RecordingPublisher[int]] = []
        self._sending = list(self.sources)
        self.down = _Downstream(script.down)

    def _source(self, script: SourceScript) -> RecordingPublisher[int]:
        return RecordingPublisher(
            range(1, script.count + 1),
            error=self._rules.error if script.end == "on_error" else None,
            ends=script.end != "no end",
            pace=script.pace,
            ignores_cancel=script.ignores_cancel,
            surplus=script.surplus,
            resubscribe=self._rules.resubscribes,
        )

    def new_inner(self, items: Sequence[int], error: Exception | None, ends: bool) -> RecordingPublisher[int]:
        pace = self._script.sources[-1].pace
        made = RecordingPublisher(items, error=error, ends=ends, pace=pace, resubscribe=self._rules.resubscribes)
        self.inner.append(made)
        self._sending.append(made)
        return made

    def run(self) -> list[RuleViolation]:
        script = self._script.down
        self.subscribe()
        if script.signals_before_cancel is not None:
            self._settle(script.signals_before_cancel)
            self._cancel()
        self._settle()
        self._ask(script.then)
        if script.cancel:
            self._cancel()
            self._settle()
        self._come_too_late()
        return self._judged()

    def subscribe(self) -> None:
        publisher = self._rules._build(self, self.sources)
        self._calling("1.9", "subscribe()", lambda: self._rules.subscribe(publisher, self.down))

    def _ask(self, requests: tuple[int, ...]) -> None:
        """The requests of the script; the last one again as long as it brings something, and once more."""
        down, idle = self.down, 0
        for number in range(_MOST_REQUESTS if requests else 0):
            if down.is_terminated or idle > 1:
                return
            before = self._signals()
            self._request(requests[min(number, len(requests) - 1)])
            self._settle()
            idle = 0 if self._signals() > before else idle + 1

    def _come_too_late(self) -> None:
        """Requests and cancels after the end, where the stream has ended; a cancel in time, where it has not."""
        for _ in range(2):
            self._request(1)
            self._settle()
            self._cancel()
            self._settle()

    def _signals(self) -> int:
        return len(self.down.values) + sum(each.sent for source in self._recorded for each in source.subscriptions)

    @property
    def _recorded(self) -> list[RecordingPublisher[int]]:
        return [*self.sources, *self.inner]

    def _settle(self, most: int = _MOST_SIGNALS) -> None:
        quiet = 0
        for _ in range(most):
            if self._send():
                quiet = 0
            elif quiet == _MOST_SETTLED or not self._rules.settle():
                return
            else:
                quiet += 1

    def _send(self) -> bool:
        """One signal of each that has one. Inner sources that are over are left out until nothing else has a signal."""
        if True in [source.send() for source in self._sending]:  # a list: each of them sends, not only the first that can
            self._sending = [each for each in self._sending if not each.subscriptions or each.active]
            return True
        if len(self._sending) == len(self.sources) + len(self.inner):
            return False
        self._sending = self._recorded
        return True in [source.send() for source in self._sending]

    def _request(self, n: int) -> None:
        self._calling("3.16", f"request({n})", lambda: self.down.request(n))

    def _cancel(self) -> None:
        self._calling("3.15", "cancel()", self.down.cancel)

    def _calling(self, rule: str, what: str, call: Callable[[], object]) -> None:
        raised = attempt(call)
        if raised is not None:
            self._found.append(RuleViolation(rule, f"{what} raised {raised!r}"))

    # judging ----------------------------------------------------------------------------------------------------------

    def _judged(self) -> list[RuleViolation]:
        found = list(self._found)
        for text in self.down.violations:
            rule, _, what = text.removeprefix("§").partition(": ")
            found.append(RuleViolation(rule, f"downstream: {what}"))
        recorded = self._recorded
        for number, source in enumerate(recorded):
            of = "" if len(recorded) == 1 else f", source {number}" if number < len(self.sources) else ", an inner source"
            found += [RuleViolation(each.rule, each.text + of) for each in source.violations]
            found += [RuleViolation(rule, text + of) for rule, text in self._left(source)]
        return [RuleViolation(each.rule, each.text, str(self._script)) for each in found]

    def _left(self, source: RecordingPublisher[int]) -> Iterator[tuple[str, str]]:
        """What is wrong with subscriptions now that the stream is over, which are let go of."""
        for each in source.subscriptions:
            if each.surplus and not each.cancelled:
                yield "2.5", "the second subscription is not cancelled"
            elif each.surplus and each.requests:
                yield "2.5", f"the second subscription is used: {each!r}"
            elif not each.is_over and not self._rules.keeps_sources:
                yield "2.6", f"the stream is over, and a source goes on: {each!r}"
            each.cancelled = True

    # two threads ------------------------------------------------------------------------------------------------------

    def meet(self) -> list[RuleViolation]:
        """Requests of two threads that meet in the source: one made inside on_next, the other passed on for the subscriber.

        While a request of the operator is inside the source, another thread does what may make the operator request again: it
        requests downstream, or sends the next item. An operator that keeps its requests apart lets that thread return or
        wait. No chance is involved.
        """
        main = threading.get_ident()
        helpers: list[threading.Thread] = []

        def meeting(subscription: RecordedSubscription[int], _n: int) -> None:
            if threading.get_ident() != main or len(helpers) > 5 or any(each.is_alive() for each in helpers):
                return
            request = subscription.phase == "on_next"
            helper = threading.Thread(target=(lambda: self._request(1)) if request else subscription.send, daemon=True)
            helpers.append(helper)
            helper.start()
            helper.join(self._rules.default_timeout / 4)  # it returns unless the operator makes it wait

        self.subscribe()
        for source in self.sources:
            source.on_request = meeting  # not before: nothing may be sent while on_subscribe runs
        for _ in range(4):
            self._request(1)
            self._settle(4)
        for helper in helpers:
            helper.join(self._rules.default_timeout)
        self._cancel()
        return [each for each in self._judged() if each.rule == "2.7"]


class _Downstream(TestSubscriber[object]):
    """The subscriber of the operator under test."""

    def __init__(self, script: DownstreamScript) -> None:
        super().__init__(script.request, request_in_on_next=script.in_on_next, cancel_after=script.cancel_after)
        self._in_the_end = script.in_the_end
        if script.cancel_in_on_subscribe:
            self.cancel()

    def on_complete(self) -> None:
        super().on_complete()
        self._ended()

    def on_error(self, error: Exception, /) -> None:
        super().on_error(error)
        self._ended()

    def _ended(self) -> None:
        if self._in_the_end:
            self.request(1)
            self.cancel()
