"""Stages between two queues: a fused step at the exit of a foreign queue, for a consumer that polls.

A :class:`~rx_fusion._push.StepSubscriber` that is asked for fusion passes the question on to its source, and becomes one of these
when that grants a mode. It refuses across threads, where its functions would move to the one that polls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_core import dropped
from rx_core.queue_fusion import ASYNC, BOUNDARY, NONE, SYNC, ask
from rx_core.streams import NULL_SUBSCRIBER
from rx_fusion._push import StepSubscriber
from rx_fusion._relay import Link

if TYPE_CHECKING:
    from rx_fusion._shapes import Shape


def grant(steps: StepSubscriber, shape: Shape, upstream: Any, mode: int) -> int:
    """Negotiate with ``upstream`` on behalf of ``steps``. What was granted."""
    if mode & BOUNDARY or steps.last:
        return NONE
    if any(stage.stops or stage.epilogue or stage.head_yields or stage.request is not None for stage in shape.stages):
        mode &= ~ASYNC  # it has a beginning or an end of its own, and that of the source may come before its last item is polled
    granted = ask(upstream, steps, mode)
    if granted == SYNC:
        steps.__class__ = SyncSteps
    elif granted == ASYNC:
        steps.__class__ = AsyncSteps
    return granted


def link(relay: Link[Any], upstream: Any, mode: int) -> int:
    """The same where there are no stages: nothing of ours runs in a poll, so threads are the source's business."""
    granted = ask(upstream, relay, mode)
    if granted != NONE:
        relay.__class__ = PolledLink
    return granted


class PolledLink(Link[Any]):
    """The source's queue, as it is."""

    __slots__ = ()

    @property
    def _queue(self) -> Any:
        return self.up

    def request_fusion(self, mode: int, /) -> int:
        return NONE

    def on_next(self, item: Any, /) -> None:
        if not self.done:
            self.down.on_next(item)

    def poll(self) -> Any:
        return self._queue.poll()

    def poll_many(self, n: int, /) -> list[Any]:
        batch: list[Any] = self._queue.poll_many(n)
        return batch

    def is_empty(self) -> bool:
        return bool(self._queue.is_empty())

    def clear(self) -> None:
        self._queue.clear()


class _PolledSteps(StepSubscriber):
    __slots__ = ()

    def _forget_source(self) -> None:
        """What waits may still be polled."""

    def request_fusion(self, mode: int, /) -> int:
        return NONE

    def poll(self) -> Any:
        raise NotImplementedError

    def poll_many(self, n: int, /) -> list[Any]:
        batch: list[Any] = []
        while len(batch) < n:
            try:
                item = self.poll()
            except Exception as error:
                if not batch:
                    raise
                self._tail[1] = error  # behind the items that came before it
                break
            if item is None:
                break
            batch.append(item)
        return batch

    def is_empty(self) -> bool:
        up: Any = self.up
        return not self._tail and bool(up.is_empty())

    def clear(self) -> None:
        up: Any = self.up
        up.clear()

    def cancel(self) -> None:
        late = self._tail.pop(1, None)
        super().cancel()
        if late is not None:
            dropped(late, self.origin)

    def _checked(self) -> None:
        late = self._tail.pop(1, None)
        if late is not None:
            self.done = True
            raise late

    def _stepped(self, item: Any) -> Any:
        try:
            return self._step(item)
        except (Exception, GeneratorExit) as error:
            failure = self._noted(error)
        finally:
            self._keep_late()
        self.done = True
        raise failure

    def _keep_late(self) -> None:
        late = self._take_late()
        if late is not None:
            self._tail[1] = late  # behind the item that was given before


class SyncSteps(_PolledSteps):
    """Polled until the source is complete or a stage has enough; then what comes behind the last item."""

    __slots__ = ()

    def poll(self) -> Any:
        up: Any = self.up
        self._checked()
        out = None
        while out is None and self.down is not NULL_SUBSCRIBER:
            if self.done:
                return None
            item = None if self.last else up.poll()
            if item is None:
                return self._finished()
            out = self._stepped(item)
            if self.last:
                up.cancel()
        return out

    def is_empty(self) -> bool:
        if self._tail:
            return False
        if self.done:
            return True
        # what a stage gives at its end is not known before
        return self._credits is None and (self.last or super().is_empty())

    def request(self, n: int, /) -> None:
        """Not to be called in this mode; there is nothing to do."""

    def _finished(self) -> Any:
        self.done = True
        try:
            return self._finish()
        except (Exception, GeneratorExit) as error:
            failure = self._noted(error)
        finally:
            self._keep_late()
        raise failure


class AsyncSteps(_PolledSteps):
    """Told by the source that there is something, and telling it on."""

    __slots__ = ()

    def on_next(self, _signal: object, /) -> None:
        if not self.done:
            self.down.on_next(None)

    def poll(self) -> Any:
        up: Any = self.up
        self._checked()
        while self.down is not NULL_SUBSCRIBER:  # an end that was signalled already comes behind what waits
            item = up.poll()
            if item is None:
                return None
            out = self._stepped(item)
            if out is not None:
                return out
            self.ask(1)  # for the one that was dropped
        return None
