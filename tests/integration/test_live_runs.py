"""What runs() says of subscriptions that are under way: found without preparation, and counted where that is switched on."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from rx_core import UNBOUNDED, hookimpl, manager, print_runs, runs, scheduler
from rx_core.live import LiveRun, counts_of, dump_runs_on, watch
from rx_core.live._runs import MOST_PARTS
from rx_core.live.stacks import others_can_be_read
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, Single
from rx_schedulers import SingleScheduler
from rx_testing import TestSubscriber

SECONDS = 10.0


def only(name: str) -> LiveRun:
    """The run of this name; other tests may have left some."""
    found = [run for run in runs() if run.name == name]
    assert len(found) == 1, [run.pipeline for run in runs()]
    return found[0]


def names() -> set[str | None]:
    gc.collect()
    return {run.name for run in runs()}


def test_a_run_waits_for_the_source_that_is_to_send() -> None:
    subject = PublishProcessor[int]()
    handle = subject.map(str).named("to send").subscribe(print)
    run = only("to send")
    assert run.pipeline == "PublishProcessor().map(str).named('to send')"
    assert run.waits == "PublishProcessor() waits for an item to be sent to it"
    assert (run.age, run.thread, run.place, run.items) == (None, None, None, None)
    handle.dispose()
    assert "to send" not in names()


def test_a_run_that_has_ended_is_over() -> None:
    subject = PublishProcessor[int]()
    handle = subject.named("ended").subscribe(print)
    assert "ended" in names()
    subject.on_complete()
    assert "ended" not in names()
    assert handle.is_disposed


def test_a_subscriber_that_asks_for_no_more_is_what_a_run_waits_for() -> None:
    subject = PublishProcessor[int]()
    subscriber = TestSubscriber[int](request=1)
    subject.on_backpressure_buffer().named("slow").subscribe(subscriber)
    for item in range(6):
        subject.on_next(item)
    run = only("slow")
    assert run.waits == (
        "on_backpressure_buffer waits for demand: its subscriber has taken all that it asked for, and 5 items wait"
    )
    part = next(part for part in run.parts if part.name == "on_backpressure_buffer")
    assert (part.queued, part.room, part.demand) == (5, UNBOUNDED, 0)
    subscriber.cancel()


def test_zip_tells_which_source_is_missing() -> None:
    first, second = PublishProcessor[int](), Flowable.never().named("missing")
    handle = Flowable.zip(first, second).named("pairs").subscribe(print)
    first.on_next(1)
    run = only("pairs")
    assert run.waits == "never waits for a signal that it never gives"
    assert next(part for part in run.parts if part.name == "zip").queued == 1
    handle.dispose()


@pytest.fixture(params=[True, False], ids=["with the GIL", "without"])
def others_are_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the frames of other threads are read. Where they can be, both."""
    wanted: bool = request.param
    if wanted and not others_can_be_read():
        pytest.skip("CPython would crash")
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: wanted, raising=False)
    return wanted


def test_an_operator_waits_for_its_turn_on_a_worker_that_is_busy(others_are_read: bool) -> None:
    begun, go_on = threading.Event(), threading.Event()
    busy, subject = SingleScheduler(), PublishProcessor[int]()

    def occupy() -> None:
        begun.set()
        go_on.wait(SECONDS)

    busy.schedule_direct(occupy)
    assert begun.wait(SECONDS)
    handle = subject.observe_on(busy).named("in turn").subscribe(print)
    subject.on_next(1)
    waits = only("in turn").waits
    go_on.set()
    handle.dispose()
    assert busy.shutdown(SECONDS)
    assert waits.startswith("observe_on waits for its turn on ")
    assert waits.endswith(", and 1 item waits")


def test_the_thread_that_is_at_work_is_named_with_the_line_that_it_is_at(others_are_read: bool) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(_item: int) -> None:
        begun.set()
        go_on.wait(SECONDS)

    handle = Flowable.range(3).observe_on(scheduler("io")).named("busy").subscribe(slow)
    assert begun.wait(SECONDS)
    run = only("busy")
    go_on.set()
    line = slow.__code__.co_firstlineno + 2
    if others_are_read:
        assert " is at work on rx-io-" in run.waits
        assert run.waits.endswith(f", in slow ({__file__}:{line})")
    else:
        assert run.waits == "observe_on is at work on a thread"
    assert handle.wait(SECONDS)


def test_a_thread_that_waits_for_items_is_named() -> None:
    subject = PublishProcessor[int]()
    stream = subject.named("waited for")
    thread = threading.Thread(target=lambda: stream.blocking_last(), name="reader")
    thread.start()
    who = "reader, in <lambda>" if others_can_be_read() else "PublishProcessor() waits"
    deadline = monotonic() + SECONDS
    while "waited for" not in names() or not only("waited for").waits.startswith(who):
        assert monotonic() < deadline  # the thread is on its way to its sleep
    assert only("waited for").waits.endswith("PublishProcessor() waits for an item to be sent to it")
    subject.on_next(1)
    subject.on_complete()
    thread.join(SECONDS)


def test_groups_lead_to_the_source_of_group_by() -> None:
    subject = PublishProcessor[int]()
    handle = subject.group_by(lambda n: n % 2).flat_map(lambda group: group.map(str)).named("groups").subscribe(lambda _: None)
    subject.on_next(1)
    parts = [(part.depth, part.name) for part in only("groups").parts]
    assert parts[:4] == [(0, "named('groups')"), (1, "flat_map"), (2, "group_by"), (3, "PublishProcessor()")]
    handle.dispose()


def test_subscribers_of_a_shared_stream_lead_to_its_source() -> None:
    subject = PublishProcessor[int]()
    shared = subject.share()
    first, second = shared.named("first").subscribe(print), shared.named("second").subscribe(print)
    for name in ("first", "second"):
        assert only(name).waits == "PublishProcessor() waits for an item to be sent to it"
    first.dispose()
    second.dispose()


def test_of_a_thousand_inner_streams_the_first_are_told() -> None:
    handle = Flowable.range(1000).flat_map(lambda _n: Flowable.never(), max_concurrency=1000).named("many").subscribe(print)
    run = only("many")
    assert len(run.parts) == MOST_PARTS
    assert run.more > 900
    out = io.StringIO()
    print_runs(out)
    assert "never: 128 wanted (48 of them)\n      and 949 more" in out.getvalue()
    handle.dispose()


@pytest.mark.parametrize(
    "of_one",
    [
        lambda subject: Observable.wrap(subject.to_observable()).named("typed"),
        lambda subject: subject.first_element().named("typed"),
        lambda subject: subject.first().named("typed"),
        lambda subject: subject.ignore_elements().named("typed"),
    ],
    ids=["Observable", "Maybe", "Single", "Completable"],
)
def test_runs_of_the_other_types_lead_to_their_source(of_one: Callable[[Any], Any]) -> None:
    subject = PublishProcessor[int]()
    handle = of_one(subject).subscribe()
    assert only("typed").waits == "PublishProcessor() waits for an item to be sent to it"
    handle.dispose()


def test_a_foreign_source_is_told_with_what_it_was_asked_for() -> None:
    class Silent:
        def subscribe(self, subscriber: Any) -> None:
            class Kept:
                def request(self, n: int) -> None:
                    pass

                def cancel(self) -> None:
                    pass

            subscriber.on_subscribe(Kept())

        def __repr__(self) -> str:
            return "Silent()"

    subscriber = TestSubscriber[int](request=3)
    Flowable.wrap(Silent()).named("foreign").subscribe(subscriber)
    run = only("foreign")
    assert run.waits.endswith("is to signal; it was asked for 3 items")
    assert "Silent()" in run.waits
    subscriber.cancel()


def test_a_repr_that_fails_hides_no_run() -> None:
    class Broken:
        def __call__(self, item: int) -> int:
            return item

        def __repr__(self) -> str:
            raise ValueError("no text")

    subject = PublishProcessor[int]()
    handle = subject.map(Broken()).named("broken").subscribe(print)
    run = only("broken")
    assert "its repr failed: ValueError('no text')" in run.pipeline or "Broken" in run.pipeline
    handle.dispose()


# -- counted -------------------------------------------------------------------------------------------------------------


def test_a_watched_run_tells_its_age_its_line_and_its_items() -> None:
    subject = PublishProcessor[int]()
    subscriber = TestSubscriber[int](request=2)
    with watch():
        subject.on_backpressure_buffer().named("watched").subscribe(subscriber)
        line = sys._getframe().f_lineno - 1
    for item in range(5):
        subject.on_next(item)
    run = only("watched")
    assert run.age is not None
    assert run.idle is not None
    assert 0 <= run.idle <= run.age < SECONDS
    assert (run.thread, run.place, run.items) == (threading.current_thread().name, (__file__, line), 2)
    assert "has asked for 2 and taken 2, and 3 items wait" in run.waits
    subscriber.cancel()


def test_what_is_watched_answers_as_before_on_all_types() -> None:
    with watch():
        assert Flowable.range(5).flat_map(lambda n: Flowable.of(n, n)).filter(lambda n: n > 2).to_list().blocking_get() == [
            3,
            3,
            4,
            4,
        ]
        assert Observable.range(3).map(str).to_list().blocking_get() == ["0", "1", "2"]
        assert Single.just(1).map(lambda n: n + 1).blocking_get() == 2
        assert Maybe.empty().default_if_empty(3).blocking_get() == 3
        Completable.complete().blocking_await()
        with pytest.raises(ZeroDivisionError):
            Flowable.of(1, 0).map(lambda n: 1 // n).flat_map(Flowable.just).to_list().blocking_get()


def test_a_source_is_counted_in_all_of_its_runs() -> None:
    subject = PublishProcessor[int]()
    stream = subject.map(lambda n: 6 // n)
    assert counts_of(stream) is None
    with watch():
        first = stream.subscribe(lambda _: None)
        stream.subscribe(lambda _: None, lambda _: None)
        stream.subscribe(lambda _: None, lambda _: None)
    subject.on_next(2)
    first.dispose()
    subject.on_next(0)
    counts = counts_of(stream)
    assert counts is not None
    assert (counts.runs, counts.items, counts.failed, counts.cancelled, counts.live) == (3, 3, 2, 1, 0)
    assert str(counts) == "3 items in 3 runs: 2 failed, 1 cancelled"


def test_nothing_is_counted_behind_the_block() -> None:
    stream = Flowable.range(3).map(str)
    with watch(), watch():
        pass
    assert stream.to_list().blocking_get() == ["0", "1", "2"]
    assert counts_of(stream) is None


def test_a_hook_of_a_plugin_is_called_in_front_of_the_counting() -> None:
    seen: list[object] = []

    class Plugin:
        @hookimpl
        def rx_on_subscribe(self, source: object, subscriber: object) -> object:
            seen.append(source)
            return None

    plugin = Plugin()
    manager().register(plugin, "watching-test")
    try:
        stream = PublishProcessor[int]().named("hooked")
        with watch():
            handle = stream.subscribe(print)
        assert seen[0] is stream
        assert only("hooked").items == 0
        handle.dispose()
    finally:
        manager().unregister(plugin)
    before = len(seen)
    with watch():
        stream.subscribe(print).dispose()
    assert len(seen) == before


def test_the_plan_shows_the_counts_of_each_part() -> None:
    stream = Flowable.range(4).hide().flat_map(lambda n: Flowable.of(n, n)).observe_on(scheduler("io"))
    before = stream.explain()
    with watch():
        assert stream.subscribe(lambda _: None).wait(SECONDS)
    lines = stream.explain().splitlines()
    assert [line for line in lines if "counted" not in line] == before.splitlines()
    assert sum("counted: 8 items in 1 run: 1 completed" in line for line in lines) == 2
    assert sum("counted: 4 items in 1 run: 1 completed" in line for line in lines) == 2  # range and hide


# -- shown ----------------------------------------------------------------------------------------------------------------


def test_the_text_has_a_paragraph_for_each_run() -> None:
    subject = PublishProcessor[int]()
    with watch():
        handle = subject.flat_map(lambda n: Flowable.just(n).concat_with(Flowable.never())).named("told").subscribe(print)
    out = io.StringIO()
    print_runs(out)
    text = out.getvalue()
    assert "- 'told': PublishProcessor().flat_map(<lambda line " in text
    assert " by MainThread at " in text
    assert "; 0 items out, none yet\n    PublishProcessor() waits for an item to be sent to it\n" in text
    handle.dispose()


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """A handler that was there before."""
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _frame: seen.append(number))
    yield seen
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_has_the_runs_written_to_standard_error(handled: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    subject = PublishProcessor[int]()
    handle = subject.named("dumped").subscribe(print)
    dump_runs_on(signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert "- 'dumped': PublishProcessor().named('dumped')" in capsys.readouterr().err
    assert handled == [signal.SIGUSR1]
    handle.dispose()


def test_the_environment_switches_counting_on() -> None:
    program = (
        "from rx_ops import PublishProcessor\nfrom rx_core import runs\n"
        "p = PublishProcessor()\nh = p.subscribe(print)\np.on_next(1)\nrun, = runs()\nprint(run.items, run.place[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "RX_WATCH": "on"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["1", "1", "4"]


def test_looking_holds_nothing_that_another_thread_is_making(monkeypatch: pytest.MonkeyPatch) -> None:
    """``tuple(iterator)`` fails with a SystemError when something else refers to the tuple that it fills."""
    began, looking, made = threading.Event(), threading.Event(), threading.Event()
    got: list[tuple[int, ...]] = []

    def numbers() -> Iterator[int]:
        yield 1
        began.set()
        assert looking.wait(SECONDS)
        yield 2

    def make() -> None:
        try:
            got.append(tuple(numbers()))
        finally:
            made.set()

    def is_at_work(part: object) -> bool:
        looking.set()
        made_in_time.append(made.wait(SECONDS))
        return False

    made_in_time: list[bool] = []
    monkeypatch.setattr("rx_core.live._graph.is_at_work", is_at_work)
    thread = threading.Thread(target=make)
    with Flowable.never().subscribe():
        thread.start()
        assert began.wait(SECONDS)
        assert runs() == []
    thread.join(SECONDS)
    assert got == [(1, 2)]
    assert made_in_time
    assert all(made_in_time)


@pytest.mark.slow
def test_looking_disturbs_no_thread_that_signals() -> None:
    """Races with whatever the threads do: subscribing, inner streams that come and go, ends."""
    started, stop = threading.Barrier(4), threading.Event()
    failures: list[BaseException] = []

    def check() -> None:
        got = Flowable.range(20).hide().flat_map(lambda n: Flowable.of(n, n).hide()).group_by(lambda n: n % 3)
        assert len(got.flat_map(lambda group: group.to_list().to_flowable()).to_list().blocking_get()) == 3

    def work() -> None:
        try:
            check()  # what is compiled once is compiled
            started.wait(SECONDS)
            while not stop.is_set():
                check()
        except BaseException as failure:
            failures.append(failure)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)  # of the ordinary 5 ms a thread's pipelines need one or two: looks would meet few of them
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        started.wait(SECONDS)
        met, deadline = 0, monotonic() + 4 * SECONDS  # one second alone; other tests may take the cores
        while met < 30 and monotonic() < deadline:
            found = runs()
            met += bool(found)
            for run in found:
                assert run.waits
    finally:
        stop.set()
        for thread in threads:
            thread.join(SECONDS)
        sys.setswitchinterval(before)
    assert not failures
    assert met == 30


def looking(how: str, seconds: float) -> int:
    """The exit code of a process that looks at its threads."""
    script = Path(__file__).with_name("looking.py")
    return subprocess.run([sys.executable, script, how, str(seconds)], check=False, capture_output=True, timeout=60).returncode


@pytest.mark.slow
def test_looking_leaves_the_frames_of_threads_as_they_are() -> None:
    assert looking("ours", 1.0) == 0


@pytest.mark.nightly
@pytest.mark.skipif(sys.version_info >= (3, 12) and others_can_be_read(), reason="later versions of CPython stand it")
def test_control_reading_the_frames_one_after_the_other_crashes() -> None:
    assert looking("by_hand", 20.0) != 0
