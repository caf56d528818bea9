"""One recorded pipeline on the library, under its virtual clock; what its subscribers got, in the words of the recording."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final

from rx_core import UNBOUNDED, CallbackObserver, hookimpl, manager
from rx_ops import AsyncProcessor, BehaviorProcessor, Flowable, FlowableProcessor, PublishProcessor, ReplayProcessor
from rx_testing import VirtualScheduler
from tests.recorded.building import Builder, Stream
from tests.recorded.cases import Answer, HotSource, Subscriber, Trace
from tests.recorded.operators import OPERATORS
from tests.recorded.signals import AppError, as_text, error_text, milliseconds
from tests.recorded.sources import SOURCES

#: Where an answer tells of a run that did not come to its end; no recorded answer has it.
FAILED: Final = "failed"
#: No recorded pipeline gives as many signals.
MOST_SIGNALS: Final = 3000
#: Of processor time, for a pipeline that takes a millisecond.
MOST_SECONDS: Final = 6.0
#: How long the clock runs on after the horizon.
AFTERWARDS: Final = 20_000

PROCESSORS: Final[dict[str, Callable[[], FlowableProcessor[Any]]]] = {
    "publish": PublishProcessor,
    "behavior": BehaviorProcessor,
    "replay": ReplayProcessor,
    "replay1": lambda: ReplayProcessor(1),
    "async": AsyncProcessor,
}


class Endless(BaseException):
    """Raised inside a pipeline that does not end by itself; not an Exception, so that no operator signals it."""


class Recorder:
    """Writes down each signal with its time."""

    def __init__(self, clock: VirtualScheduler) -> None:
        self.clock = clock
        self.answer: Answer = {}
        self.signals = 0
        self.over = False

    def note(self, name: str, text: str) -> None:
        if self.over:  # a stream may still signal when it is garbage-collected
            return
        if self.signals > MOST_SIGNALS:
            raise Endless("it gives more and more signals")
        self.signals += 1
        self.answer.setdefault(name, []).append([milliseconds(self.clock.now()), text])


class End:
    """A subscriber that requests everything and records what it gets, after it cancelled, too."""

    def __init__(self, recorder: Recorder, plan: Subscriber) -> None:
        self.recorder, self.plan = recorder, plan
        self.upstream: Any = None
        self.items = 0
        self.left = False

    def subscribe_to(self, stream: Any) -> None:
        stream.subscribe(self)

    def on_subscribe(self, upstream: Any, /) -> None:
        self.upstream = upstream
        upstream.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        self.recorder.note(self.plan.name, f"next {as_text(item)}")
        self.items += 1
        if self.items == self.plan.cancel_after:
            self.leave()

    def on_error(self, error: Exception, /) -> None:
        self.recorder.note(self.plan.name, f"error {error_text(error)}")

    def on_complete(self) -> None:
        self.recorder.note(self.plan.name, "complete")

    def leave(self) -> None:
        self.left = True
        if self.upstream is not None:
            self.upstream.cancel()

    def request_again(self) -> None:
        if self.upstream is not None and not self.left:
            self.upstream.request(UNBOUNDED)


class CallbackEnd(End):
    """The same with callbacks."""

    observer: CallbackObserver[Any]

    def subscribe_to(self, stream: Any) -> None:
        self.observer = CallbackObserver(stream, self.on_next, self.on_error, self.on_complete)
        stream.subscribe(self.observer)

    def leave(self) -> None:
        self.observer.dispose()

    def request_again(self) -> None:
        up: Any = self.observer.up
        if up is not None:
            up.request(UNBOUNDED)


class EndOfOne:
    """The observer of a Single, a Maybe or a Completable."""

    def __init__(self, recorder: Recorder, plan: Subscriber) -> None:
        self.recorder, self.plan = recorder, plan
        self.upstream: Any = None

    def subscribe_to(self, stream: Any) -> None:
        stream.subscribe(self)

    def on_subscribe(self, upstream: Any, /) -> None:
        self.upstream = upstream

    def on_success(self, item: Any, /) -> None:
        self.recorder.note(self.plan.name, f"success {as_text(item)}")

    def on_error(self, error: Exception, /) -> None:
        self.recorder.note(self.plan.name, f"error {error_text(error)}")

    def on_complete(self) -> None:
        self.recorder.note(self.plan.name, "complete")

    def leave(self) -> None:
        if self.upstream is not None:
            self.upstream.dispose()

    def request_again(self) -> None:
        """An observer requests nothing."""


class _Ignoring:
    """A plugin that takes errors with nowhere to go."""

    @hookimpl
    def rx_on_error(self, error: Exception, pipeline: object) -> None: ...


_IGNORING: Final = _Ignoring()


def errors_ignored() -> AbstractContextManager[None]:
    """Errors with nowhere to go are not part of an answer. Registering the plugin takes as long as a pipeline runs, but not in a
    block inside another one: put one around many answers."""
    return manager().enable(_IGNORING)


def answer(trace: Trace, *, callbacks: bool = False) -> Answer:
    """What the library signals for a recorded pipeline, to subscribers or to callbacks. Fusion is what the caller made it."""
    recorder = Recorder(VirtualScheduler())
    with errors_ignored():
        try:
            with time_limit(MOST_SECONDS):
                _run(trace, recorder, CallbackEnd if callbacks else End)
        except Endless as endless:
            recorder.answer[FAILED] = [[milliseconds(recorder.clock.now()), str(endless)]]
        except Exception as error:  # it came out of a call that a program would have made
            recorder.answer[FAILED] = [[milliseconds(recorder.clock.now()), f"raised {error_text(error)}"]]
    return recorder.answer


def described(trace: Trace) -> str:
    """The pipeline as the library writes it."""
    try:
        return repr(_build(trace, VirtualScheduler(), _processors(trace)))
    except Exception as error:  # a selector that raises is called when the pipeline is built
        return f"raises {error!r}"


def _build(trace: Trace, clock: VirtualScheduler, hot: dict[str, FlowableProcessor[Any]]) -> Stream:
    return Builder(clock, hot, SOURCES, OPERATORS).pipeline(trace.source, trace.operators)


def _processors(trace: Trace) -> dict[str, FlowableProcessor[Any]]:
    return {each.name: PROCESSORS[each.kind]() for each in trace.hot}


def _run(trace: Trace, recorder: Recorder, of_many: type[End]) -> None:
    clock, hot = recorder.clock, _processors(trace)
    stream = _build(trace, clock, hot)
    kind = of_many if isinstance(stream, Flowable) else EndOfOne
    ends = [kind(recorder, plan) for plan in trace.subscribers]
    for at, act in sorted(_script(trace, stream, hot, ends), key=lambda each: each[0]):  # stable
        clock.advance_to(at / 1000)
        act()
        clock.run_due()
    clock.advance_to(trace.horizon / 1000)
    # The demand is unbounded already, but a request makes operators look at the clock: skip_last(seconds=) emits what is due.
    for end in ends:
        end.request_again()
    clock.run_due()
    clock.advance_to((trace.horizon + AFTERWARDS) / 1000)
    recorder.over = True


def _script(
    trace: Trace, stream: Stream, hot: dict[str, FlowableProcessor[Any]], ends: Sequence[End | EndOfOne]
) -> Iterator[tuple[int, Callable[[], object]]]:
    """What happens to the pipeline from outside. Of what happens at the same time, what is given first comes first."""

    def subscribing(end: Any) -> Callable[[], object]:
        return lambda: end.subscribe_to(stream)

    for end in ends:
        if end.plan.at == 0:
            yield 0, subscribing(end)
    for source in trace.hot:
        yield from _sending(source, hot[source.name])
    for end in ends:
        if end.plan.at:
            yield end.plan.at, subscribing(end)
        if end.plan.cancel_at is not None:
            yield end.plan.cancel_at, end.leave


def _sending(source: HotSource, processor: FlowableProcessor[Any]) -> Iterator[tuple[int, Callable[[], object]]]:
    for at, kind, *value in source.script:
        match kind:
            case "n":
                yield at, partial(processor.on_next, value[0])
            case "e":
                yield at, partial(processor.on_error, AppError(value[0]))
            case _:
                yield at, processor.on_complete


# pytest-timeout has the timer of wall-clock time; and how busy the machine is should not matter.


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`Endless` in the block once it took so many seconds of processor time (main thread, POSIX)."""
    if not hasattr(signal, "SIGVTALRM"):
        yield
        return

    def stop(_signum: int, _frame: object) -> None:
        raise Endless(f"it runs for more than {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
