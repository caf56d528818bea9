"""An inbox for sources that cannot be asked, and what becomes of the items that nobody has asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core._demand import DEMAND, UNBOUNDED
from rx_core._errors import MissingBackpressureError, none_produced
from rx_core._inbox import Inbox

if TYPE_CHECKING:
    from rx_core._run import Run

T = TypeVar("T")


class PolicyInbox(Inbox[T]):
    """An inbox for sources that cannot be asked: it requests everything, and a policy decides what may wait.

    ``policy`` is one of the functions below; ``on_drop`` is called with each item given up, on the pushing thread.
    """

    __slots__ = ("_on_drop", "_policy", "capacity")
    _at_once: ClassVar[bool] = True
    _takes_back: ClassVar[bool] = True

    def __init__(
        self,
        run: Run,
        policy: Callable[[PolicyInbox[T], T], None],
        *,
        capacity: int = UNBOUNDED,
        on_drop: Callable[[T], object] | None = None,
        eager_error: bool = False,
    ) -> None:
        super().__init__(run, DEMAND, eager_error=eager_error)
        self._policy = policy
        self._on_drop = on_drop
        #: The most items that may wait.
        self.capacity = capacity

    _rx_feed = None  # type: ignore[assignment]  # the policy is asked for each item

    def on_next(self, item: T, /) -> None:
        if item is None:
            raise self._refused(none_produced("a source"))
        if self._done or self._cancelled:
            return
        try:
            if self._keeps is not False:
                self._keep(item)
            self._policy(self, item)
        except Exception as error:  # the user's on_drop, or a policy that refuses
            self._refuse(error)
            return
        if len(self._queue) > self.peak:
            self.peak = len(self._queue)
        self._run.wake()

    def _ask(self) -> None:
        if not self._outstanding:
            self._outstanding = UNBOUNDED
            self._request(UNBOUNDED)

    def _negotiate(self, queue: Any) -> None:
        pass  # a policy is for what nobody asked for; who polls a source gets nothing of that kind

    def give_up(self, item: T) -> None:
        if self._keeps:
            item._rx_taken()  # type: ignore[attr-defined]  # it has it when it has _rx_keep
        if self._on_drop is not None:
            self._on_drop(item)

    # -- policies ----------------------------------------------------------------------------------------------------

    def keep(self, item: T) -> None:
        """Up to ``capacity`` items wait; one more is an error."""
        if len(self._queue) >= self.capacity:
            self.give_up(item)
            raise MissingBackpressureError(f"the buffer is full: {self.capacity} items wait and nobody takes them")
        self._queue.append(item)

    def keep_newest(self, item: T) -> None:
        """Up to ``capacity`` items wait; the oldest makes room."""
        self._queue.append(item)
        while len(self._queue) > self.capacity:
            try:
                oldest = self._queue.popleft()
            except IndexError:  # taken by the polling side meanwhile
                break
            self.give_up(oldest)

    def keep_oldest(self, item: T) -> None:
        """Up to ``capacity`` items wait; what comes later is dropped."""
        if len(self._queue) >= self.capacity:
            self.give_up(item)
        else:
            self._queue.append(item)

    def drop(self, item: T) -> None:
        """Only what is wanted now is taken."""
        if len(self._queue) >= self._run.outstanding:
            self.give_up(item)
        else:
            self._queue.append(item)

    def latest(self, item: T) -> None:
        """What is wanted now is taken; beyond that only the newest waits."""
        self.capacity = max(1, self._run.outstanding)
        self.keep_newest(item)

    def error(self, item: T) -> None:
        """An item that nobody wants is an error."""
        if len(self._queue) >= self._run.outstanding:
            self.give_up(item)
            raise MissingBackpressureError("a source sent an element that nobody had requested")
        self._queue.append(item)
