"""An item of ``buffer`` or ``window`` that comes while another thread cancels: the one that had the token looks."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_ops import Flowable
from rx_ops.operators._pieces import Pieces
from rx_testing import ManualPublisher


class Token(list[int]):
    """Another thread cancels just when it was taken."""

    def __init__(self, op: Pieces) -> None:
        super().__init__(op.token)
        self.op = op
        self.taken = False

    def pop(self, _at: Any = -1) -> int:
        demand = super().pop()
        if not self.taken:
            self.taken = True
            self.op.cancel()
        return demand


class End:
    def __init__(self) -> None:
        self.up: Any = None

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        up.request(UNBOUNDED)

    def on_next(self, item: Any, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        raise AssertionError("it was cancelled")


@pytest.mark.parametrize("operator", ["buffer", "window"])
def test_a_cancel_that_finds_the_token_taken_by_an_item_gives_all_sources_back(operator: str) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    boundary: ManualPublisher[int] = ManualPublisher()
    end = End()
    getattr(Flowable.wrap(source), operator)(boundary=Flowable.wrap(boundary)).subscribe(end)
    assert isinstance(end.up, Pieces)
    source.next(1)
    end.up.token = Token(end.up)
    source.next(2)
    assert end.up.token.taken
    if operator == "buffer":
        assert source.subscriptions[0].cancelled
        assert end.up.live == []
    assert boundary.subscriptions[0].cancelled
