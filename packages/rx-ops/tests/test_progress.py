"""A progress bar counts what passes, says how it ended, and disturbs nothing."""

from __future__ import annotations

import builtins
import io
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from rx_core import hookimpl, manager
from rx_ops import Flowable, Observable, PublishProcessor
from rx_ops._progress_bars import DISPLAY, MOST_ENDED

SECONDS = 10.0


@pytest.fixture
def bar() -> Iterator[Progress]:
    with Progress(console=Console(file=io.StringIO(), width=120), auto_refresh=False) as bar:
        yield bar


def shown(bar: Progress) -> list[tuple[str, float, float | None]]:
    return [(task.description, task.completed, task.total) for task in bar.tasks]


def test_it_counts_what_passes(bar: Progress) -> None:
    assert Flowable.range(5).progress(5, description="numbers", bar=bar).blocking_list() == [0, 1, 2, 3, 4]
    assert shown(bar) == [("numbers", 5, 5)]


def test_each_subscription_has_its_line(bar: Progress) -> None:
    numbers = Observable.range(3).named("numbers").progress(bar=bar)
    numbers.subscribe(lambda _: None)
    numbers.take(2).subscribe(lambda _: None)
    assert shown(bar) == [("numbers", 3, 3), ("numbers, cancelled", 2, None)]


def test_without_a_total_it_has_one_when_it_completes(bar: Progress) -> None:
    source = PublishProcessor[int]()
    source.progress(bar=bar).subscribe(lambda _: None)
    source.on_next(1)
    assert shown(bar) == [("items", 1, None)]
    source.on_complete()
    assert shown(bar) == [("items", 1, 1)]


def test_a_failure_is_told_and_passes(bar: Progress) -> None:
    with pytest.raises(ZeroDivisionError):
        Flowable.of(2, 1, 0).map(lambda n: 2 // n).progress(3, description="[red] and [/nothing]", bar=bar).blocking_list()
    [(description, completed, total)] = shown(bar)
    assert (completed, total) == (2, 3)
    bar.refresh()  # square brackets are text, and no markup that nothing opens
    assert "ZeroDivisionError" in description


def test_a_cancel_is_told(bar: Progress) -> None:
    with PublishProcessor[int]().progress(4, description="orders", bar=bar).subscribe(print):
        pass
    assert shown(bar) == [("orders, cancelled", 0, 4)]


def test_the_display_of_the_process_begins_with_the_first_run_and_stops_with_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = PublishProcessor[int](), PublishProcessor[int]()
    first.progress(2, description="first").subscribe(lambda _: None)
    bar = DISPLAY.bar
    assert bar is not None
    second.progress(description="second").subscribe(lambda _: None, lambda _: None)
    assert DISPLAY.bar is bar
    for number in range(2):
        first.on_next(number)
    DISPLAY.refresh()  # which rich's thread does ten times a second
    assert shown(bar) == [("first", 2, 2), ("second", 0, None)]
    first.on_complete()
    assert DISPLAY.bar is bar
    second.on_error(ValueError("broken"))
    assert DISPLAY.lines == ()
    written = capsys.readouterr().err
    assert "first" in written
    assert "2/2" in written
    assert "second, failed: ValueError" in written
    drawing = [thread for thread in threading.enumerate() if "refresh" in type(thread).__name__.lower()]
    for thread in drawing:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in drawing)  # it was stopped


def test_lines_of_many_short_runs_do_not_pile_up() -> None:
    with PublishProcessor[int]().progress(description="long").subscribe(print):
        bar = DISPLAY.bar
        assert bar is not None
        Flowable.range(10 * MOST_ENDED).flat_map(lambda n: Flowable.just(n).progress()).blocking_list()
        assert len(bar.tasks) == MOST_ENDED + 1


def test_runs_may_begin_and_end_on_any_threads() -> None:
    """The display of rich takes its locks and asks for numbers inside: nothing may wait for each other."""
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(60):
                assert Flowable.range(30).progress(30).take(20).count().blocking_get() == 20
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures
    assert (DISPLAY.bar, DISPLAY.lines, DISPLAY.ended) == (None, (), [])


def test_what_the_display_raises_goes_to_the_error_hook(bar: Progress) -> None:
    seen: list[Exception] = []

    class Hook:
        @hookimpl
        def rx_on_error(self, error: Exception) -> None:
            seen.append(error)

    def broken(*_arguments: Any, **_options: Any) -> None:
        raise OSError("the terminal is gone")

    bar.update = broken  # type: ignore[method-assign]  # as a closed terminal does
    with manager().enable(Hook()):
        assert Flowable.range(3).progress(bar=bar).blocking_list() == [0, 1, 2]
    assert [str(error) for error in seen] == ["the terminal is gone"] * len(seen)
    assert seen


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"total": 2.5}, "total=2.5"),
        ({"total": -1}, "total=-1"),
        ({"total": True}, "total=True"),
        ({"description": 3}, "expected a text, got description=3"),
        ({"bar": "bar"}, "expected a rich.progress.Progress, got bar='bar'"),
    ],
)
def test_wrong_arguments_say_what_is_right(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match="Right:") as failure:
        Flowable.range(3).progress(**arguments)
    assert said in str(failure.value)


def test_without_rich_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.partition(".")[0] == "rich":
            raise ModuleNotFoundError("No module named 'rich'", name="rich")
        return real(name, *arguments)

    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'rx-ops\[rich\]'"):
        Flowable.range(3).progress()
