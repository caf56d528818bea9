"""log: the lines of each type, their levels, and what it leaves alone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import hooks
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from rx_testing import ManualPublisher, TestSubscriber


class Lines(logging.Handler):
    """What a logger was told: level and text, without the subscription's number."""

    def __init__(self) -> None:
        super().__init__(0)
        self.numbers: list[int] = []
        self.lines: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        number, text = record.getMessage().split("] ", 1)
        self.numbers.append(int(number.removeprefix("[")))
        self.lines.append((record.levelname, text))

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.lines]


@pytest.fixture
def lines() -> Any:
    logger = logging.getLogger("rx.test.log")
    logger.setLevel(1)
    logger.propagate = False
    handler = Lines()
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


NAME = "rx.test.log"


def test_signals_and_calls_are_lines(lines: Lines) -> None:
    got = TestSubscriber[int](request=2)
    Flowable.range(3).log(NAME).subscribe(got)
    got.request(5)
    assert lines.lines == [
        ("INFO", "on_subscribe(range(3).log())"),
        ("INFO", "request(2)"),
        ("INFO", "on_next(0)"),
        ("INFO", "on_next(1)"),
        ("INFO", "request(5)"),
        ("INFO", "on_next(2)"),
        ("INFO", "on_complete()"),
    ]
    got.assert_result(0, 1, 2)


def test_an_error_is_a_line_at_error(lines: Lines) -> None:
    with pytest.raises(ZeroDivisionError):
        Flowable.of(0).map(lambda n: 1 // n).log(NAME).blocking_list()
    assert lines.lines[-1] == ("ERROR", "on_error(ZeroDivisionError('integer division or modulo by zero'))")


def test_a_cancel_is_a_line_and_what_comes_behind_it_is_none(lines: Lines) -> None:
    source = ManualPublisher[int]()
    got = TestSubscriber[int]()
    Flowable.wrap(source).log(NAME).subscribe(got)
    source.next(1)
    got.cancel()
    got.cancel()
    got.request(1)
    assert lines.texts == ["on_subscribe(wrap(ManualPublisher).log())", "request(unbounded)", "on_next(1)", "cancel()"]


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (Observable.of(1).log(NAME), ["on_next(1)", "on_complete()"]),
        (Single.just(1).log(NAME), ["on_success(1)"]),
        (Maybe.just(1).log(NAME), ["on_success(1)"]),
        (Maybe.empty().log(NAME), ["on_complete()"]),
        (Completable.complete().log(NAME), ["on_complete()"]),
        (Single.error(KeyError("no")).log(NAME), ["on_error(KeyError('no'))"]),
    ],
)
def test_each_type_has_its_signals(stream: Any, expected: list[str], lines: Lines) -> None:
    stream.subscribe(on_error=lambda _error: None)
    assert lines.texts[0].startswith("on_subscribe(")
    assert lines.texts[1:] == expected


@pytest.mark.parametrize("never", [Observable.never(), Single.never(), Maybe.never(), Completable.never()])
def test_where_there_is_no_demand_one_disposes(never: Any, lines: Lines) -> None:
    never.log(NAME).subscribe().dispose()
    assert lines.texts[1:] == ["dispose()"]


def test_levels_are_those_that_were_said(lines: Lines) -> None:
    flow = Flowable.of(1).log(
        NAME, level=logging.DEBUG, levels={"request": None, "on_subscribe": None, "on_next": logging.WARNING}
    )
    flow.blocking_list()
    assert lines.lines == [("WARNING", "on_next(1)"), ("DEBUG", "on_complete()")]


def test_a_logger_may_be_given_and_the_name_is_rx(lines: Lines) -> None:
    Flowable.of(1).log(logging.getLogger(NAME)).blocking_list()
    assert "on_next(1)" in lines.texts
    found = Lines()
    logging.getLogger("rx").addHandler(found)
    try:
        Flowable.of(1).log(level=logging.CRITICAL).blocking_list()
    finally:
        logging.getLogger("rx").removeHandler(found)
    assert ("CRITICAL", "on_next(1)") in found.lines


def test_what_the_logger_does_not_want_is_not_made_into_text(lines: Lines) -> None:
    class Shy:
        def __repr__(self) -> str:
            raise AssertionError("it was shown")

    Flowable.of(Shy()).log("rx.test.log.quiet", level=0).blocking_list()
    assert lines.lines == []


def test_a_number_tells_subscriptions_apart(lines: Lines) -> None:
    flow = Flowable.of(1).log(NAME)
    flow.blocking_list()
    first = set(lines.numbers)
    flow.blocking_list()
    second = set(lines.numbers) - first
    assert len(first) == len(second) == 1


def test_what_a_handler_raises_goes_to_the_error_hook(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: dropped.append(error))

    def broken(_record: logging.LogRecord) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(lines, "emit", broken)
    assert Flowable.of(1, 2).log(NAME).blocking_list() == [1, 2]
    assert {type(error) for error in dropped} == {OSError}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Flowable.of(1).log(3), "a logger or its name"),  # type: ignore[arg-type]  # the mistake
        (lambda: Flowable.of(1).log(level="INFO"), "level of logging"),  # type: ignore[arg-type]  # the mistake
        (lambda: Flowable.of(1).log(levels={"next": 10}), "no 'next', but on_subscribe, request, on_next"),
        (lambda: Single.just(1).log(levels={"request": 10}), "Single has no 'request', but on_subscribe, on_success"),
    ],
)
def test_wrong_arguments_say_what_to_write(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        wrong()
