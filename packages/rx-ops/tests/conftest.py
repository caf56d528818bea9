"""Lets the tests here import the parties they share, and what several of them watch."""

import sys
from pathlib import Path
from typing import Any

import pytest

from rx_core import Inbox

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The items that took the long way, through a queue."""
    items: list[Any] = []
    plain = Inbox.on_next

    def noted(inbox: Inbox[Any], item: Any, /) -> None:
        items.append(item)
        plain(inbox, item)

    monkeypatch.setattr(Inbox, "on_next", noted)
    return items
