"""Stages between two queues: a fused step at the exit of a foreign queue, for a consumer that polls.

A :class:`~rx_fusion._step_subscriber.StepSubscriber` that is asked for fusion passes the question on to its source, and is polled
through one of these when that grants a mode. It refuses across threads, where its functions would move to the one that polls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_core import dropped_late
from rx_core.queue_fusion import ASYNC, BOUNDARY, NONE, SYNC, ask
from rx_core.streams import NULL_SUBSCRIBER

if TYPE_CHECKING:
    from rx_fusion._shapes import Shape


def granted(steps: Any, shape: Shape, mode: int) -> tuple[int, PolledSteps | None]:
    """Negotiate with the source of ``steps`` on behalf of that subscriber: what was granted, and how it is polled then."""
    if mode & BOUNDARY or steps.last:
        return NONE, None
    if any(stage.stops or stage.epilogue or stage.head_yields or stage.request is not None for stage in shape.stages):
        mode &= ~ASYNC  # it has a beginning or an end of its own, and that of the source may come before its last item is polled
    answer = ask(steps.up, steps, mode)
    if answer == SYNC:
        return answer, SyncSteps(steps)
    return answer, AsyncSteps(steps) if answer == ASYNC else None


class PolledSteps:
    """The queue that stages are to their consumer, over the queue that their source is.

    An error that comes behind an item waits in the tail of ``steps``, under the key 1.
    """

    __slots__ = ("steps",)

    #: The subscriber that has the state of the stages.
    steps: Any

    def __init__(self, steps: Any) -> None:
        self.steps = steps

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
                self.steps._tail[1] = error  # behind the items that came before it
                break
            if item is None:
                break
            batch.append(item)
        return batch

    def is_empty(self) -> bool:
        steps = self.steps
        return not steps._tail and bool(steps.up.is_empty())

    def clear(self) -> None:
        self.steps.up.clear()

    def report_late(self) -> None:
        """The consumer has cancelled."""
        late = self.steps._tail.pop(1, None)
        if late is not None:
            dropped_late(late, self.steps.origin)

    def checked(self) -> None:
        late = self.steps._tail.pop(1, None)
        if late is not None:
            self.steps.done = True
            raise late

    def stepped(self, item: Any) -> Any:
        steps = self.steps
        try:
            return steps._step(item)
        except (Exception, GeneratorExit) as error:
            failure: Exception = steps._noted(error)
        finally:
            self.keep_late()
        steps.done = True
        raise failure

    def keep_late(self) -> None:
        late = self.steps._take_late()
        if late is not None:
            self.steps._tail[1] = late  # behind the item that was given before


class SyncSteps(PolledSteps):
    """Polled until the source is complete or a stage has enough; then what comes behind the last item."""

    __slots__ = ()

    def poll(self) -> Any:
        steps = self.steps
        up = steps.up
        self.checked()
        out = None
        while out is None and steps.down is not NULL_SUBSCRIBER:
            if steps.done:
                return None
            item = None if steps.last else up.poll()
            if item is None:
                return self.finished()
            out = self.stepped(item)
            if steps.last:
                up.cancel()
        return out

    def is_empty(self) -> bool:
        steps = self.steps
        if steps._tail:
            return False
        if steps.done:
            return True
        # what a stage gives at its end is not known before
        return steps._credits is None and (steps.last or super().is_empty())

    def finished(self) -> Any:
        steps = self.steps
        steps.done = True
        try:
            return steps._finish()
        except (Exception, GeneratorExit) as error:
            failure: Exception = steps._noted(error)
        finally:
            self.keep_late()
        raise failure


class AsyncSteps(PolledSteps):
    """The source tells that there is something, and the stages tell it on."""

    __slots__ = ()

    def poll(self) -> Any:
        steps = self.steps
        up = steps.up
        self.checked()
        while steps.down is not NULL_SUBSCRIBER:  # an end that was signalled already comes behind what waits
            item = up.poll()
            if item is None:
                return None
            out = self.stepped(item)
            if out is not None:
                return out
            steps.ask(1)  # for the one that was dropped
        return None
