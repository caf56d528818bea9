"""Parts: streams that an operator gives away, such as groups and windows. Each is the queue of its items and a head."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from rx_core import Items, Run
from rx_fusion import Head

T = TypeVar("T")


class Part(Head, Generic[T]):
    """One part. It allows one subscriber, and its operator abandons it when nobody subscribes in time."""

    __slots__ = ("abandoned", "done", "error", "kept", "queue", "run", "subscribed")

    def __init__(self) -> None:
        self.queue: deque[T] = deque()
        self.run: Run | None = None
        self.subscribed = False
        #: One mark per queue that holds this part for somebody: a queue is not its consumer.
        self.kept: deque[None] = deque()
        self.abandoned = False
        self.done = False
        self.error: Exception | None = None

    @property
    def left_alone(self) -> bool:
        """Neither subscribed to nor waiting in a queue."""
        return not (self.subscribed or self.kept)

    def keep(self) -> None:
        self.kept.append(None)

    def hold(self) -> Callable[[], object] | None:
        self.keep()
        return self.taken

    def taken(self) -> None:
        self.kept.pop()
        if self.left_alone:
            self.put_back()

    @abstractmethod
    def put_back(self) -> None:
        """A queue let go of it and nobody has subscribed: say so to the operator. Any thread."""

    def open(self, run: Run, _window: int, /) -> Items[T]:
        if self.subscribed:
            return run.failing(RuntimeError(f"{self!r} allows one subscriber; share its items if more need them"))
        self.subscribed = True
        self.run = run
        return self.begin(run)

    @abstractmethod
    def begin(self, run: Run) -> Items[T]:
        """The items, for the one subscriber."""
