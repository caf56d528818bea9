"""The end of stages that are pushed to: the item that they give behind the source's last one, and what they fail with."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import dropped_late, tell_interrupted
from rx_core.streams import NOT_THERE
from rx_fusion._notes import note_failure
from rx_fusion._relay import Checked

if TYPE_CHECKING:
    from rx_fusion._transit import PolledSteps


class StepEnd(Checked[Any]):
    """The half of a StepSubscriber that ends its stream.

    An item that comes after the source's last (a partial buffer, a sum) waits in ``_tail`` for a request, if none is open. What a
    stage fails with after the item it gave (``late``) comes behind that item.
    """

    __slots__ = ("_args", "_credits", "_early", "_finish", "_tail", "_unfinished", "emitted", "last", "late", "queue")

    #: The arguments of the stages, which messages show.
    _args: tuple[Any, ...]
    #: What was requested, where an item may have to wait in the tail; and how many went out.
    _credits: deque[int] | None
    emitted: int
    #: The stages give one item, and ask for what that needs at once; the item may wait in the tail.
    _early: bool
    #: Runs the ends of the stages and gives what they give: once.
    _finish: Callable[[], Any]
    _tail: dict[int, Any]
    #: The item in the tail is not what the end of the stages gave.
    _unfinished: bool
    #: Set by the generated step: the item given is the last; and what a stage failed with after the item it had given.
    last: bool
    late: BaseException | None
    #: How a consumer that was granted a mode polls these stages.
    queue: PolledSteps | None

    def give_last(self, out: Any, takes: Callable[[Any], None] | None = None) -> None:
        """Give the item with which the stages end, and end. A function of theirs may have cancelled meanwhile: then it goes to
        ``takes``, which took the items before it, all the same (RS 2.8).
        """
        if self.up is not None:
            self.stop_source()  # before the item goes out: a re-entrant publisher must not send another (take)
            self._forget_source()
        if out is not None:
            if self._early:
                self._unfinished = True
                self._tail[0] = out  # as in _complete
                if sum(self._credits or ()) > self.emitted:
                    self._give_tail()
                return
            self.emitted += 1
            self._give(out, takes or self.down.on_next)
        self._complete()

    def _give(self, out: Any, takes: Callable[[Any], None]) -> None:
        try:
            takes(out)
        except BaseException:
            self.cancel()  # RS 2.13
            raise

    def _forget_source(self) -> None:
        """It is over, the stream perhaps not: nothing goes to the source any more (RS 2.3, 2.4), but it may still be polled."""
        if self.queue is None:
            self.up = NOT_THERE

    def on_complete(self) -> None:
        if not self.last and not self.done and self.enter():
            self._forget_source()
            self._complete()

    def _complete(self) -> None:
        if self.done or self._tail:
            self._report_late()
            return
        if self.late is not None:
            self._end()
            return
        try:
            finish, self._finish = self._finish, nothing
            out = finish()
        except BaseException as error:
            self._failed(error)
            return
        if out is None or self._credits is None:
            self._end()
            return
        self._tail[0] = out  # publish first, look afterwards: a request at the same time sees it or is seen
        if sum(self._credits) > self.emitted:
            self._give_tail()

    def _give_tail(self) -> None:
        out = self._tail.pop(0, None)  # atomic: given once
        if out is not None:
            if not self.done:
                self._give(out, self.down.on_next)
                if self._unfinished:  # it came before the end of its stages
                    self._unfinished = False
                    self._complete()
                else:
                    self._end()
            else:
                self.late_item(out)
            self.leave(False)

    def _end(self) -> None:
        if self.done:  # cancelled meanwhile
            self._report_late()
            return
        self.done = True
        late = self._take_late()
        if late is None:
            self.down.on_complete()
        else:
            self.down.on_error(late)

    def _take_late(self) -> Exception | None:
        late, self.late = self.late, None
        return None if late is None else self._noted(late)

    def _report_late(self) -> None:
        late = self._take_late()
        if late is not None:
            dropped_late(late, self.origin)

    def refuse(self, error: TypeError) -> TypeError:
        ended = self._tail or (self.last and self.up is not None)
        return error if ended else super().refuse(error)

    def _failed(self, error: BaseException) -> None:
        self._pass_interrupt(error)
        self.fail(self._noted(error))

    def _pass_interrupt(self, error: BaseException) -> None:
        """KeyboardInterrupt, SystemExit and their like are not signalled, but a thread that waits must not hang."""
        if not isinstance(error, (Exception, GeneratorExit)):
            down = self.down
            self.cancel()
            tell_interrupted(down, error)
            raise error

    def _noted(self, error: BaseException) -> Exception:
        try:
            note_failure(error.with_traceback(_inner(error)), self.origin, self._args)
        except RuntimeError as instead:  # of a GeneratorExit
            error = instead
        assert isinstance(error, Exception)
        return error


def ignored(_item: object) -> None:
    pass


def nothing() -> None:
    pass


#: What calls generated functions is in this folder: pushing, and polling.
_HERE = __file__.removesuffix("_step_end.py")


def _inner(error: BaseException) -> Any:
    """The traceback from the generated function on, without the frames of the subscriber that called it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace
