"""Gate: what makes everything in this library serial (RS 1.3), written once.

Operators, processors, serialized subscribers and the concurrency blocks are gates. The rules:

1. *Publish first, then try to take the token.* An event is stored (a queue, a field), then :meth:`Gate.drain` raises ``dirty``
   and tries to take the token. The thread that gets it looks at everything that was published until ``dirty`` stays down. A
   thread that does not get it leaves at once: the holder looks again.
2. *The token carries a number*, for operators the demand. Only its holder knows and changes it.
3. *The holder puts the token back first and reads* ``dirty`` *afterwards.* So of a thread that publishes and a holder that
   leaves, one sees the other.
4. ``later`` *is for what must run without the token*, once it was put back: subscribing and requesting. A source that answers
   on the same thread then finds the gate free, and the stack does not grow (RS 3.3).

No thread waits for another one, and no lock is held while user code runs. A gate whose ``token`` is an empty list from the start
is held until the token is appended: nothing passes before ``on_subscribe`` has returned.

On a path where each nanosecond counts, a subclass may take the token itself, deal with one item, put the token back and call
:meth:`Gate.drain` if ``dirty`` was raised meanwhile; see ``QueueDrain.offer`` and ``MergedInput.on_next``.
"""

from __future__ import annotations

import sys
from typing import Any, Final

__all__ = ["LOOK_FIRST", "Gate"]

#: With the GIL a look at the token is as good as an attempt to take it, and cheaper. Without it only the attempt is a fence
#: between publishing and looking. An input whose items mostly find the gate free spares the look; one that answers requests of
#: the holder looks on every build: an attempt that fails raises, which costs more than an item.
LOOK_FIRST: Final[bool] = getattr(sys, "_is_gil_enabled", lambda: True)()


class Gate:
    """A subclass publishes events, calls :meth:`drain`, and writes :meth:`look`, which deals with them.

    Thread: any for :meth:`drain`; ``look`` runs on one thread at a time. Memory: one list, and what a subclass publishes.
    Relies on: ``list.pop`` and ``list.append`` being atomic, as on every CPython build.
    """

    __slots__ = ("dirty", "later", "token")

    #: Holds a number while no thread is at work. Any: a list, whose pop and append are atomic; see DESIGN on compiling. It is
    #: made with a number inside, also where that is taken out at once: CPython 3.11 then keeps the room for one. A list that was
    #: made empty gives its room back each time the token is taken, and asks for it again each time it is put back.
    token: Any
    #: Something was published that the holder of the token has not looked at.
    dirty: bool
    #: What to do once the token is put back: (function, argument), in order. A gate that puts nothing off has an empty tuple.
    later: Any

    def __init__(self) -> None:
        self.token = [0]
        self.dirty = False
        self.later = ()

    # -- what a subclass writes ----------------------------------------

    def look(self, held: int, /) -> int:
        """Deal with all that was published. Called by the holder of the token; gives back the number that the token carries."""
        raise NotImplementedError

    def look_failed(self, _error: BaseException, /) -> BaseException | None:
        """``look`` raised the error, mostly because a subscriber did (RS 2.13). Called by the holder of the token.

        Gives the error that the publishing thread shall see in its place; None: the same.
        """
        return None

    # -- the gate ----------------------------------------

    def drain(self) -> None:
        """Something was published: have it looked at, by this thread or by the one that holds the token."""
        self.dirty = True
        token = self.token
        while self.dirty:
            if LOOK_FIRST and not token:
                return
            if not self.work(token):
                return

    def work(self, holder: Any) -> bool:
        """Take the token out of ``holder``, which is :attr:`token` or where a subclass keeps it meanwhile. Look until nothing new
        was published, put the token back, then do what was put off. False: there was no token.

        No call stands between taking it out and the ``try``: a RecursionError there would leave a gate that is never free again,
        and the error, which is signalled through it from further down the stack, would reach no subscriber.
        """
        failure: BaseException | None
        try:
            held = holder.pop()
        except IndexError:
            return False
        try:
            while self.dirty:
                self.dirty = False  # before looking: what comes from here on raises it again
                held = self.look(held)
        except BaseException as error:
            try:
                failure = self.look_failed(error)
            finally:
                token = self.token
                token += (0,)  # as append(0), which is a call, and may be one too many
            if self.dirty:
                self.drain()  # what was published meanwhile has no other thread that looks at it
            if failure is None:
                raise
        else:
            self.token.append(held)
            if self.later:
                self.act_later()
            return True
        raise failure  # to the thread that published: no `raise ... from`, it is the subscriber's own error

    def act_later(self) -> None:
        """Without the token: do what was put off, in order."""
        later = self.later
        while later:
            try:
                action, argument = later.pop(0)
            except IndexError:  # taken by another thread
                return
            action(argument)
