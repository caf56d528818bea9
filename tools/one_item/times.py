"""Time and threads."""

from __future__ import annotations

from typing import Final

from tools.one_item.rows import Part

PART: Final = Part()

#: Of operators that let the item wait: it is not the request for the result that asks for it.
AT_ONCE: Final = "none; the source is asked for its item at once, when this is subscribed."

PART.row(
    "timer",
    "SMC",
    "0 after ``seconds``.",
    "-----0|",
    demand="none; the item comes when the time is there.",
    errors="ValueError or TypeError at assembly for a bad duration.",
    C={
        "says": "Completes after ``seconds``.",
        "marble": "-----|",
        "signature": "(cls, seconds: float, *, scheduler: Scheduler | None = None) -> Type",
        "body": "return _results.Flowable.timer(seconds, scheduler=scheduler).ignore_elements()",
        "demand": "none; there are no items.",
    },
)
PART.row(
    "take_until",
    "SMC",
    "The item, if it comes before ``other`` gives an item or completes.",
    "----1|  --x|  -->  --|",
    signature="(self, other: AnySource) -> Type[T_co]",
    body="return self._from(ended(self, other))",
    errors="of both end it, at once. TypeError at assembly for something that is no source.",
    S={
        "says": "The item, if it comes before ``other`` gives an item or completes; else ``concurrent.futures.CancelledError``.",
        "marble": "----1|  --x|  -->  --#",
        "body": "return self._from(ended(self, other, cancelled))",
        "demand": AT_ONCE,
    },
    M={"says": "The item, if it comes before ``other`` gives an item or completes; else nothing.", "demand": AT_ONCE},
    C={"says": "Completes with this, or when ``other`` gives an item or completes.", "marble": "----|  --x|  -->  --|"},
)
PART.row(
    "timestamp",
    "SM",
    "The item with the time at which it came, as ``Timed(value, seconds)`` on the clock of ``scheduler``.",
    "-a|  -->  -x|      (x = Timed(a, 1.0))",
    M={"says": "The item, if there is one, with the time at which it came, as ``Timed(value, seconds)``."},
)
PART.row(
    "time_interval",
    "SM",
    "The item with the seconds since the subscription, as ``Timed(value, seconds)``.",
    "-a|  -->  -x|      (x = Timed(a, 1.0))",
)
DELAYS: Final = (
    "(self, seconds: float, *, scheduler: Scheduler | None = None, delay_error: bool = False) -> Type[T_co]",
    "(self, *, selector: Callable[[T_co], AnySource]) -> Type[T_co]",
    "(self, seconds: float | None = None, *, selector: Callable[[T_co], AnySource] | None = None, "
    "scheduler: Scheduler | None = None, delay_error: bool = False) -> Type[T_co]",
)
PART.row(
    "delay",
    "SMC",
    "The item ``seconds`` later, or once the source that ``selector`` makes of it signals.\n\n"
    "An error comes at once, unless ``delay_error``.",
    "--1|  -->  -----1|",
    signatures=DELAYS,
    body=(
        "if selector is not None:\n    return self._from(delayed_by(self, seconds, selector, scheduler, delay_error))\n"
        "return self._from(delayed(self, seconds, scheduler, delay_error))"
    ),
    errors="as said; those of ``selector`` and of its source at once. ValueError or TypeError at assembly for a bad duration.",
    memory="the item.",
    fusion="coordinating; the item is scheduled when it comes.",
    S={"demand": AT_ONCE},
    M={
        "says": "The item, or the end without one, ``seconds`` later, or when the source that ``selector`` makes signals."
        "\n\nAn error comes at once, unless ``delay_error``.",
        "demand": AT_ONCE,
    },
    C={
        "says": "The end ``seconds`` later; an error at once, unless ``delay_error``.",
        "marble": "--|  -->  -----|",
        "signatures": DELAYS[:1],
        "body": "return self._from(delayed(self._from(only_end(self)), seconds, scheduler, delay_error))",
        "errors": "as said. ValueError or TypeError at assembly for a bad duration.",
        "memory": "none.",
        "thread": "a worker of ``scheduler`` (default: the running loop's, or computation).",
        "fusion": "coordinating; the end is scheduled when it comes.",
    },
)
PART.row(
    "delay_subscription",
    "SMC",
    "Subscribes ``seconds`` later, or when ``until`` gives an item or completes.",
    "--1|  -->  -------1|",
    fusion="coordinating; the item passes on without a queue.",
    C={"marble": "--|  -->  -------|", "fusion": "coordinating."},
)


def _timeouts(fallback: str, result: str) -> tuple[str, ...]:
    return (
        f"(self, seconds: float, *, fallback: {fallback}, scheduler: Scheduler | None = None) -> {result}",
        f"(self, *, first: AnySource, fallback: {fallback}) -> {result}",
    )


PART.row(
    "timeout",
    "SMC",
    "TimeoutError, or ``fallback``, when this has not ended after ``seconds``, or when ``first`` signals an item or ends.",
    "--------1|  -->  ----#",
    signatures=(
        *_timeouts("None = None", "Type[T_co]"),
        *_timeouts("Base[R] | None", "Type[T_co | R]"),
        "(self: Any, seconds: float | None = None, *, first: AnySource | None = None, fallback: Any = None, "
        "scheduler: Scheduler | None = None) -> Any",
    ),
    body='return self._from(limited(self, seconds, first, fallback, scheduler, "{Type}"))',
    errors="TimeoutError; those of ``first``. ValueError or TypeError at assembly for a bad duration.",
    fusion="coordinating; the item passes on without a queue. What a synchronous source computes is not interrupted.",
    S={
        "says": (
            "TimeoutError, or ``fallback``, when there is no item after ``seconds``, or when ``first`` signals an item or ends."
        ),
        "demand": AT_ONCE,
    },
    M={"demand": AT_ONCE},
    C={
        "marble": "--------|  -->  ----#",
        "signatures": (
            *_timeouts("Base | None = None", "Type"),
            "(self, seconds: float | None = None, *, first: AnySource | None = None, fallback: Base | None = None, "
            "scheduler: Scheduler | None = None) -> Type",
        ),
        "body": 'return self._from(limited(self._from(only_end(self)), seconds, first, fallback, scheduler, "{Type}"))',
        "fusion": "coordinating. What a synchronous source computes is not interrupted.",
    },
)
PART.row("subscribe_on", "SMC", "Subscribes on a worker of ``scheduler``.", "--1|  -->  --1|", C={"marble": "--|  -->  --|"})
PART.row(
    "unsubscribe_on",
    "SMC",
    "Disposes its source on a worker of ``scheduler``, where that blocks or belongs to a thread.",
    "--1|  -->  --1|",
    errors="pass through; when the scheduler was shut down, the thread that disposes does it.",
    thread="a dispose goes on on a worker; the item passes on the thread of the source.",
    source="RxJava ``unsubscribeOn``. Nothing more is signalled from the dispose on, whenever the worker gets to it.",
    C={"marble": "--|  -->  --|", "thread": "a dispose goes on on a worker; the end passes on the thread of the source."},
)
PART.row(
    "observe_on",
    "SMC",
    "Signals on a worker of ``scheduler``.",
    "--1|  -->  --1|",
    signature="(self, scheduler: Scheduler) -> Type[T_co]",
    body='check_scheduler("observe_on", scheduler)\nreturn self._from(observed_on(self, scheduler, 1))',
    errors="pass through, on the worker; RuntimeError when the scheduler is shut down.",
    memory="the item.",
    C={
        "marble": "--|  -->  --|",
        "body": 'check_scheduler("observe_on", scheduler)\nreturn self._from(observed_on(silent(self), scheduler, 1))',
        "memory": "none.",
    },
)
PART.row(
    "cache",
    "SMC",
    "The result of the first subscription for all who subscribe, an error too. Who leaves does not stop the run.",
    "--1|  -->  --1|",
    body="return self._from(kept(self))",
    errors="pass through, to late observers too.",
    memory="the item, as long as this pipeline is referenced.",
    thread="that of the source, or the one that subscribes.",
    C={
        "says": "The end of the first subscription for all who subscribe, an error too. Who leaves does not stop the run.",
        "marble": "--|  -->  --|",
        "memory": "none.",
    },
)
PART.row(
    "cache_ttl",
    "SMC",
    "One result for all who subscribe until it is ``seconds`` old; then the next one starts another run.\n\n"
    "All who subscribe while it runs share it, whatever it takes: there is never a second one at the same time. ``seconds`` may "
    "be a function of the item, as for an answer that says how long it holds. An error reaches those who are there, and is not "
    "kept; with ``errors=True`` it is, or for the seconds that a function of the error gives. Who leaves does not stop the run.",
    "--1|  -->  --1|     (later: 1|, and when that is stale: --2|)",
    body="return self._from(refreshed_head(self, self._as(PlainFlow), seconds, errors, None, scheduler))",
    errors="pass through; with ``errors`` to late observers too. What a function raises, or TypeError or ValueError for what it "
    "returns, is signalled in place of the result, and not kept.",
    memory="the item, also a stale one, until the next one has come; no timer waits for the time.",
    thread="that of the source, or the one that subscribes. ``seconds`` are those of ``scheduler`` (default: computation).",
    source="Reactor ``Mono.cache(Duration)``, ``cache(ttlForValue, ttlForError, ttlForEmpty)``.",
    S={
        "signature": "(self, seconds: float | Callable[[T_co], float], *, errors: bool | Callable[[Exception], float] = False, "
        "scheduler: Scheduler | None = None) -> Type[T_co]",
    },
    M={
        "says": "One result for all who subscribe until it is ``seconds`` old; then the next one starts another run.\n\n"
        "All who subscribe while it runs share it, whatever it takes: there is never a second one at the same time. ``seconds`` "
        "may be a function of the item, as for an answer that says how long it holds; without an item it is ``empty`` (as "
        "``seconds``; nothing where that is a function). An error reaches those who are there, and is not kept; with "
        "``errors=True`` it is, or for the seconds that a function of the error gives. Who leaves does not stop the run.",
        "body": "return self._from(refreshed_head(self, self._as(PlainFlow), seconds, errors, empty, scheduler))",
    },
    C={
        "says": "One end for all who subscribe until it is ``seconds`` old; then the next one starts another run.\n\n"
        "All who subscribe while it runs share it, whatever it takes. An error reaches those who are there, and is "
        "not kept; with ``errors=True`` it is, or for the seconds that a function of the error gives. Who leaves does not stop "
        "the run.",
        "signature": "(self, seconds: float, *, errors: bool | Callable[[Exception], float] = False, "
        "scheduler: Scheduler | None = None) -> Type",
        "marble": "--|  -->  --|     (later: |, and when that is stale: --|)",
        "memory": "none.",
        "source": "Reactor ``Mono.cache(Duration)``.",
    },
)
PART.row(
    "hide",
    "SMC",
    "The same behind a wall: nothing fuses across it and no operator sees what is behind it.",
    "--1|  -->  --1|",
    body="return self._from(hidden(self))",
    C={"marble": "--|  -->  --|"},
)
