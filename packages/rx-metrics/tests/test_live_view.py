"""A table of live runs in a terminal."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest
from rich.console import Console

import rx_metrics
from rx_core.live import counts_of
from rx_ops import Flowable, PublishProcessor

SECONDS = 10.0


class Screen(io.StringIO):
    """A terminal that says when it shows something."""

    def __init__(self) -> None:
        super().__init__()
        self.awaited: list[str] = []
        self.shown = threading.Event()

    def write(self, text: str, /) -> int:
        written = super().write(text)
        if all(word in text for word in self.awaited):
            self.shown.set()
        return written

    def wait_for(self, *words: str) -> None:
        self.shown.clear()
        self.awaited = list(words)
        assert self.shown.wait(SECONDS), self.getvalue()[-3000:]


def test_it_draws_every_live_run_with_its_items_and_what_it_waits_for() -> None:
    screen = Screen()
    console = Console(file=screen, force_terminal=True, width=200)
    source = PublishProcessor[int]()
    with rx_metrics.live_view(console=console, seconds=0.02):
        screen.wait_for("live run")
        with source.map(str).named("orders [new]").subscribe(lambda _: None):
            source.on_next(1)
            source.on_next(2)
            screen.wait_for("orders [new]", " 2 ", "waits for an item to be sent to it")
            for number in range(20):
                source.on_next(number)
            screen.wait_for("orders [new]", " 22 ")


def test_uncounted_it_leaves_subscriptions_alone() -> None:
    screen = Screen()
    flow = Flowable.range(3).hide()
    with rx_metrics.live_view(console=Console(file=screen, force_terminal=True, width=200), seconds=0.02, counted=False):
        flow.subscribe(lambda _: None)
        screen.wait_for("live run")
    assert counts_of(flow) is None


@pytest.mark.parametrize(("seconds", "kind"), [(0, ValueError), (-1.0, ValueError), ("1", TypeError), (True, TypeError)])
def test_wrong_arguments_say_what_is_right(seconds: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"live_view\(seconds=0.5\)"), rx_metrics.live_view(seconds=seconds):
        pass
