"""What tests need that interrupt a job many times: where to do it, and what comes out in the end."""

from __future__ import annotations

import os
import random
from collections import Counter
from threading import Event
from typing import Any, Final

import pytest

from rx_ops import Flowable

KILLS: Final = int(os.environ.get("RX_KILLS", "2"))
PATIENCE: Final = 120.0
NUMBERS: Final = 60_000

every_trial = pytest.mark.parametrize("trial", range(KILLS))


def place(trial: int, count: int, name: str) -> int:
    """The item at which a trial kills: at 10, 50 and 90 % first, then anywhere."""
    part = (0.5, 0.9, 0.1)[trial] if trial < 3 else random.Random(f"{name} {trial}").random()
    return int(part * (count - 1))


class Answer:
    """What a pipeline gives, in the end."""

    def __init__(self, flow: Flowable[Any]) -> None:
        self._over = Event()
        self._items: list[Any] = []
        self._error: BaseException | None = None
        flow.subscribe(self._items.append, on_error=self._fail, on_complete=self._over.set)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._over.set()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def get(self) -> Counter[Any]:
        return Counter(self.in_order())

    def in_order(self) -> list[Any]:
        assert self._over.wait(PATIENCE), "no answer"
        if self._error is not None:
            raise self._error
        return self._items
