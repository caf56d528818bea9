"""Sources that are called back: listeners, and values that change."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import UNBOUNDED, MissingBackpressureError, hooks
from rx_ops import BackpressureStrategy, Flowable, Observable
from rx_testing import TestObserver, TestSubscriber

OOPS = ValueError("oops")


class Button:
    """An API with listeners."""

    def __init__(self) -> None:
        self.handlers: list[Callable[..., None]] = []

    def add(self, handler: Callable[..., None]) -> None:
        self.handlers.append(handler)

    def remove(self, handler: Callable[..., None]) -> None:
        self.handlers.remove(handler)

    def press(self, *what: Any) -> None:
        for handler in list(self.handlers):
            handler(*what)


class Setting(Button):
    """A value that only says that it changed."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def read(self) -> Any:
        return self.value

    def change(self, value: Any) -> None:
        self.value = value
        self.press()


def watch(flow: Flowable[Any], request: int = UNBOUNDED, **options: Any) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    flow.subscribe(got)
    return got


# -- from_listener -------------------------------------------------------------------------------------------------------


def test_a_listener_is_added_for_each_subscription_and_removed_with_it() -> None:
    button = Button()
    clicks = Flowable.from_listener(button.add, button.remove)
    assert not button.handlers
    first, second = watch(clicks), watch(clicks.take(1))
    assert len(button.handlers) == 2
    button.press(1)
    assert len(button.handlers) == 1
    button.press(2)
    first.assert_values(1, 2)
    second.assert_values(1).assert_complete()
    first.cancel()
    assert not button.handlers


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (BackpressureStrategy.BUFFER, [1, 2, 3]),
        (BackpressureStrategy.LATEST, [1, 3]),
        (BackpressureStrategy.DROP, [1]),
    ],
)
def test_the_strategy_decides_about_what_nobody_requested(strategy: BackpressureStrategy, expected: list[int]) -> None:
    button = Button()
    dropped: list[int] = []
    got = watch(Flowable.from_listener(button.add, button.remove, strategy, on_drop=dropped.append), 1)
    for item in (1, 2, 3):
        button.press(item)
    got.request(10)
    assert got.values == expected
    assert sorted(dropped + got.values) == [1, 2, 3]


def test_the_error_strategy_and_a_full_buffer_end_the_stream_and_remove_the_listener() -> None:
    button = Button()
    strict = watch(Flowable.from_listener(button.add, button.remove, BackpressureStrategy.ERROR), 0)
    bounded = watch(Flowable.from_listener(button.add, button.remove, BackpressureStrategy.BUFFER, capacity=1), 0)
    button.press(1)
    button.press(2)
    strict.assert_error(MissingBackpressureError)
    bounded.request(5)
    bounded.assert_values(1).assert_error(MissingBackpressureError)
    assert not button.handlers


def test_what_add_raises_ends_the_stream_and_names_the_operator() -> None:
    def add(_handler: object) -> None:
        raise OOPS

    got = watch(Flowable.from_listener(add, lambda _handler: None))
    got.assert_error(OOPS)
    assert "in from_listener(" in "".join(OOPS.__notes__)


def test_what_remove_raises_goes_to_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[BaseException] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))

    def remove(_handler: object) -> None:
        raise OOPS

    watch(Flowable.from_listener(Button().add, remove)).cancel()
    assert errors == [OOPS]


def test_a_handler_called_with_none_ends_the_stream() -> None:
    button = Button()
    got = watch(Flowable.from_listener(button.add, button.remove))
    button.press(None)
    got.assert_error(TypeError, match="from_listener")


def test_who_has_cancelled_before_is_not_added() -> None:
    button = Button()
    got: TestSubscriber[Any] = TestSubscriber()
    got.cancel()
    Flowable.from_listener(button.add, button.remove).subscribe(got)
    assert not button.handlers


def test_a_listener_that_calls_while_it_is_added_and_ends_the_stream_is_removed() -> None:
    removed: list[object] = []

    def add(handler: Callable[[int], None]) -> None:
        handler(1)

    got = watch(Flowable.from_listener(add, removed.append).take(1))
    got.assert_values(1).assert_complete()
    assert len(removed) == 1


def test_observables_of_listeners() -> None:
    button = Button()
    got: TestObserver[Any] = TestObserver()
    clicks: Observable[int] = Observable.from_listener(button.add, button.remove)
    clicks.map(str).take(2).subscribe(got)
    for item in (1, 2, 3):
        button.press(item)
    got.assert_values("1", "2").assert_complete()
    assert not button.handlers
    assert repr(clicks).startswith("from_listener(")


def test_eight_threads_call_one_handler() -> None:
    before = sys.getswitchinterval()
    try:
        for interval in (1e-6, 1e-5, 1e-4, 1e-3, 5e-3) * 4:
            sys.setswitchinterval(interval)
            button = Button()
            got = watch(Flowable.from_listener(button.add, button.remove))
            start = threading.Barrier(8)

            def work(number: int, button: Button = button, start: threading.Barrier = start) -> None:
                start.wait(10)
                for item in range(20):
                    button.press(number * 20 + item)

            threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
            assert sorted(got.values) == list(range(160))
            got.assert_valid()
    finally:
        sys.setswitchinterval(before)


# -- from_value ----------------------------------------------------------------------------------------------------------


def test_a_value_is_sent_now_and_after_each_change() -> None:
    setting = Setting(1)
    got = watch(Flowable.from_value(setting.read, setting.add, setting.remove))
    setting.change(2)
    setting.change(3)
    got.assert_values(1, 2, 3)
    got.cancel()
    assert not setting.handlers


def test_who_is_slow_gets_the_newest() -> None:
    setting = Setting(1)
    got = watch(Flowable.from_value(setting.read, setting.add, setting.remove), 1)
    for value in (2, 3, 4):
        setting.change(value)
    got.request(1)
    got.assert_values(1, 4)


def test_with_buffer_every_change_is_kept() -> None:
    setting = Setting(1)
    got = watch(Flowable.from_value(setting.read, setting.add, setting.remove, BackpressureStrategy.BUFFER), 1)
    for value in (2, 3, 4):
        setting.change(value)
    got.request(10)
    got.assert_values(1, 2, 3, 4)


def test_a_change_while_the_listener_is_added_is_not_lost() -> None:
    setting = Setting(1)

    def add(handler: Callable[..., None]) -> None:
        setting.value = 2  # between what somebody may have read and the registration
        setting.add(handler)

    watch(Flowable.from_value(setting.read, add, setting.remove)).assert_values(2)


def test_a_change_while_a_value_is_read_is_read_again() -> None:
    setting = Setting(1)

    def read() -> int:
        value: int = setting.value
        if value == 1:
            setting.change(2)  # signalled while this read goes on, which still gives the old value
        return value

    watch(Flowable.from_value(read, setting.add, setting.remove)).assert_values(1, 2)


def test_the_last_value_arrives_however_many_threads_change_it() -> None:
    before = sys.getswitchinterval()
    try:
        for interval in (1e-6, 1e-5, 1e-4, 1e-3, 5e-3) * 6:
            sys.setswitchinterval(interval)
            setting = Setting(0)
            got = watch(Flowable.from_value(setting.read, setting.add, setting.remove))
            start = threading.Barrier(4)

            def work(number: int, setting: Setting = setting, start: threading.Barrier = start) -> None:
                start.wait(10)
                for step in range(20):
                    setting.change(number * 100 + step)

            threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(1, 5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(10)
            assert got.values[-1] == setting.value
            got.assert_valid()
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("broken", ["raises", "none"])
def test_what_read_does_wrong_ends_the_stream_and_removes_the_listener(broken: str) -> None:
    setting = Setting(1)

    def read() -> Any:
        if broken == "raises":
            raise OOPS
        return None

    got = watch(Flowable.from_value(read, setting.add, setting.remove))
    got.assert_error(OOPS if broken == "raises" else TypeError)
    assert not setting.handlers


def test_observables_of_values() -> None:
    setting = Setting(1)
    got: TestObserver[Any] = TestObserver()
    Observable.from_value(setting.read, setting.add, setting.remove).subscribe(got)
    setting.change(2)
    got.assert_values(1, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Flowable.from_listener(7, print),  # type: ignore[call-overload]
        lambda: Flowable.from_listener(print, 7),  # type: ignore[call-overload]
        lambda: Flowable.from_listener(print, print, 7),  # type: ignore[call-overload]
        lambda: Flowable.from_value(7, print, print),  # type: ignore[arg-type]
        lambda: Flowable.generate_async(7, print),  # type: ignore[arg-type]
        lambda: Flowable.generate_async(list, 7),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_raise_when_the_pipeline_is_built(wrong: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        wrong()


# -- several arguments ---------------------------------------------------------------------------------------------------------


class Chat:
    """Calls its listeners with two arguments and a name."""

    def __init__(self) -> None:
        self.listeners: list[Callable[..., None]] = []

    def say(self, who: str, what: str) -> None:
        for listener in list(self.listeners):
            listener(who, what, loud=what.isupper())


@pytest.mark.parametrize("face", [Flowable, Observable])
def test_a_mapper_takes_what_the_handler_is_called_with(face: Any) -> None:
    chat = Chat()
    said: list[str] = []

    def line(who: str, what: str, *, loud: bool) -> str:
        return f"{who}: {what}{'!' if loud else ''}"

    handle = face.from_listener(chat.listeners.append, chat.listeners.remove, mapper=line).subscribe(said.append)
    chat.say("ann", "hello")
    chat.say("bob", "HELLO")
    handle.dispose()
    chat.say("ann", "gone")
    assert said == ["ann: hello", "bob: HELLO!"]
    assert chat.listeners == []


@pytest.mark.parametrize("face", [Flowable, Observable])
@pytest.mark.parametrize("broken", ["raises", "none"])
def test_a_mapper_that_fails_ends_the_stream_and_not_the_one_that_calls(face: Any, broken: str) -> None:
    def mapper(_who: str, _what: str, loud: bool) -> int | None:
        return 1 // 0 if broken == "raises" else None

    chat = Chat()
    errors: list[Exception] = []
    face.from_listener(chat.listeners.append, chat.listeners.remove, mapper=mapper).subscribe(on_error=errors.append)
    chat.say("ann", "hello")
    assert [type(error) for error in errors] == [ZeroDivisionError if broken == "raises" else TypeError]
    assert chat.listeners == []
