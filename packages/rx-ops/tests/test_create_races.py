"""create: an item is put behind those that wait without the token. What another thread does in that instant is not missed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any
from unittest.mock import ANY

import pytest

from rx_core.streams import LOOK_FIRST
from rx_ops import Emitter, Flowable
from rx_ops.operators import _emitter
from rx_testing import TestSubscriber

pytestmark = pytest.mark.skipif(not LOOK_FIRST, reason="without the GIL each item takes the token")


class _Overtaken(deque[Any]):
    """A queue that another thread is faster at than the one that appends: ``meanwhile`` runs before the third item is in it."""

    meanwhile: Callable[[], object]

    def append(self, item: Any) -> None:
        if item == 3:
            self.meanwhile()
        super().append(item)


def _two_waiting(gone: Callable[[Any], object]) -> tuple[Emitter[Any], TestSubscriber[Any], _Overtaken]:
    emitters: list[Emitter[Any]] = []
    got: TestSubscriber[Any] = TestSubscriber(0)
    Flowable.create(emitters.append).do_on_discard(gone).subscribe(got)
    emitter = emitters[0]
    queue = emitter._input.queue = _Overtaken()
    emitter.on_next(1)
    emitter.on_next(2)
    got.assert_values()
    return emitter, got, queue


@pytest.mark.parametrize("looks", [True, False])
def test_a_request_that_takes_what_waits_gets_the_item_that_is_just_put_there(
    monkeypatch: pytest.MonkeyPatch, looks: bool
) -> None:
    if not looks:  # the control: an emitter that does not look afterwards leaves the item where no request sees it
        monkeypatch.setattr(_emitter, "_NOTHING_WANTED", ANY)
    emitter, got, queue = _two_waiting(print)
    queue.meanwhile = lambda: got.request(5)
    emitter.on_next(3)
    got.assert_values(*([1, 2, 3] if looks else [1, 2]))
    emitter.on_complete()
    got.assert_values(1, 2, 3).assert_complete()


def test_a_cancel_that_discards_what_waits_does_not_miss_the_item_that_is_just_put_there() -> None:
    gone: list[Any] = []
    emitter, got, queue = _two_waiting(gone.append)
    queue.meanwhile = got.cancel
    emitter.on_next(3)
    assert gone == [1, 2, 3]
    assert not queue
    got.assert_values()
