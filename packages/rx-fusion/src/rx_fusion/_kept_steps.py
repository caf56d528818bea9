"""One stage in front of ``do_on_discard``, behind a source that pushes: what it leaves out, and what it has when it is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from rx_core.queue_fusion import NONE
from rx_fusion._forms import Form
from rx_fusion._relay import Thrown
from rx_fusion._step_subscriber import STEP, StepSubscriber

if TYPE_CHECKING:
    from rx_core import Subscriber
    from rx_fusion._shapes import Shape

_STEP_THAT_KEEPS = Form("step", keeps=True)


class KeptSteps(StepSubscriber):
    """A stage that *looks* gives the item that came, or it is discarded. One that *keeps* items gives up those that it has at the
    end. Any other has made something of the item when it is through with it.

    The generated functions of a stage that keeps are called by one thread, the source's, and a cancel comes on any. So they are
    behind a token, as an Op is behind its own: who cancels publishes ``done`` and tries to take it; the source's thread puts it
    back and looks at ``done``.
    """

    __slots__ = ("_free", "_left", "gone", "late_item")

    #: Holds one entry while nothing of a stage that keeps items is at work, until it has given up what it had.
    _free: list[bool]
    #: The variables in which it keeps them.
    _left: Callable[[], tuple[Iterable[Any], ...]]

    def __init__(
        self, down: Subscriber[Any], shape: Shape, args: tuple[Any, ...], origin: object, discard: Callable[[Any], object]
    ) -> None:
        self.gone = Thrown(discard)  # type: ignore[misc]  # a slot in place of what the class has
        self.late_item = discard
        self._free = []
        super().__init__(down, shape, args, origin)

    def _build(self, shape: Shape, args: tuple[Any, ...], state: tuple[Any, ...] | None) -> None:
        stage = shape.stages[0]
        factory = shape.form(_STEP_THAT_KEEPS if stage.keeps else STEP)
        assert factory is not None  # the caller looked at shape.steps
        if stage.keeps:
            step, finish, self._left = factory(self, args, state)
            self._free = [True]
            self._step = partial(self._guarded, step)
            self._finish = partial(self._ended, finish)
        else:
            step, self._finish = factory(self, args, state)
            self._step = partial(_looked, step, self.late_item) if stage.looks else step

    def request_fusion(self, mode: int, /) -> int:
        return NONE  # polled, its items would be another thread's

    # -- what is kept ----------------------------------------

    def _guarded(self, step: Callable[[Any], Any], item: Any) -> Any:
        try:
            self._free.pop()
        except IndexError:
            if not self.done:
                return step(item)  # from inside of itself, for an item that a user's function there has asked for
            self.late_item(item)
            return None
        try:
            return step(item)
        finally:
            self._free.append(True)
            if self.done:
                self._give_up()

    def _ended(self, finish: Callable[[], Any]) -> Any:
        """The end of the stage, which may give what it has, or a part of it."""
        try:
            self._free.pop()
        except IndexError:
            return None  # cancelled
        try:
            return finish()
        finally:
            self._throw()

    def _give_up(self) -> None:
        """``done`` was published."""
        try:
            self._free.pop()
        except IndexError:
            return
        self._throw()

    def _throw(self) -> None:
        """Once, because who took the token for it does not put it back."""
        for kept in self._left():
            for item in kept:
                self.late_item(item)

    def _clear_tail(self) -> None:
        out = self._tail.pop(0, None)
        self._tail.clear()
        if out is not None:
            self.late_item(out)

    # -- every way to the end ----------------------------------------

    def on_error(self, error: Exception, /) -> None:
        super().on_error(error)
        self._give_up()

    def fail(self, error: Exception) -> None:
        super().fail(error)
        self._give_up()

    def answer(self) -> None:
        super().answer()
        self._give_up()

    def _complete(self) -> None:
        super()._complete()
        if self.done:  # cancelled meanwhile, when the tail was not there yet
            self._clear_tail()

    def cancel(self) -> None:
        super().cancel()
        self._give_up()


def _looked(step: Callable[[Any], Any], discard: Callable[[Any], object], item: Any) -> Any:
    try:
        out = step(item)
    except BaseException:
        discard(item)
        raise
    if out is None:
        discard(item)
    return out
