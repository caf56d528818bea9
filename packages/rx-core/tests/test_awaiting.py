"""Awaiting a Single: who knows the async library that runs is a plugin."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any

import pytest

from rx_core import SingleBase, SingleObserver, hookimpl, hooks, manager


class Untouched(SingleBase[int]):
    def subscribe_actual(self, observer: SingleObserver[int], /) -> None:
        raise AssertionError("nobody subscribes")

    def __repr__(self) -> str:
        return "Untouched()"


class Ready:
    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Generator[object, object, object]:
        yield from ()
        return self._value


class Library:
    def __init__(self, answer: Awaitable[object] | None) -> None:
        self.answer = answer
        self.asked: list[object] = []

    @hookimpl
    def rx_awaitable(self, source: object) -> Awaitable[object] | None:
        self.asked.append(source)
        return self.answer


def result_of(waiting: Generator[object, object, Any]) -> Any:
    with pytest.raises(StopIteration) as stopped:
        next(waiting)
    return stopped.value.value


def test_the_first_plugin_whose_library_runs_is_taken() -> None:
    single = Untouched()
    silent, running = Library(None), Library(Ready(5))
    with manager().enable(running), manager().enable(silent):
        assert result_of(single.__await__()) == 5
    assert silent.asked == [single]
    assert running.asked == [single]


def test_without_a_plugin_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "awaitable", None)
    with pytest.raises(RuntimeError) as raised:
        Untouched().__await__()
    assert str(raised.value) == (
        "Untouched() was awaited, and no plugin for an async library is installed.\n"
        "  In asyncio:     install rx-asyncio, and await it in what asyncio.run(...) runs\n"
        "  In trio:        install rx-trio, and await it in what trio.run(...) runs\n"
        "  Without async:  .blocking_get()"
    )


def test_when_no_library_runs_the_error_says_so() -> None:
    with manager().enable(Library(None)), pytest.raises(RuntimeError, match="no async library that is known runs here"):
        Untouched().__await__()
