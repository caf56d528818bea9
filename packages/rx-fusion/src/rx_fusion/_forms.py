"""Which function the compiler is to write: what everybody says to it, without the compiler and the syntax trees it works with."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

#: How many stages are written into one function, or stacked where that does not pay. Each is written from inside of the one
#: before it, in three frames, and stacked each is a frame of its own: CPython gives a thousand, of which the caller has some.
MAX_STAGES: Final = 100


#: The types of builtin numbers: what is computed of these is one of these, or raises.
NUMBERS: Final = frozenset((int, float, complex, bool))


class Feed(Enum):
    """What a source can give besides items."""

    CLEAN = "clean"  #: items only, known to be no None (range)
    CHECKED = "checked"  #: a user's iterable: a None is an error, and it may have to be closed
    RUNNING = "running"  #: a source that pushes, or may have to wait: items are sent to the function, and END behind the last one

    __hash__ = object.__hash__  # forms are looked up at each subscription, and Enum's own is slow


class Form(NamedTuple):
    """Which function to write."""

    kind: str  # "pull" | "emit" | "value" | "step" | "push"
    feed: Feed = Feed.CLEAN
    #: Look at ``root.cancelled`` once per source item.
    cancel: bool = False
    #: Set ``run.last`` before yielding an item that is known to be the last.
    mark_last: bool = False
    #: Keep the iterators that an item of the source is expanded to in ``run.inner``, for who would look ahead in them.
    shows_inner: bool = False
    #: What is pushed to is a user's function, and what that raises is told to ``run``.
    callback: bool = False
    #: A user's code calls it, which may send None and go on after the end.
    guarded: bool = False
    #: The source may hand over (see _loops): then the state of the stages goes with what is left of it.
    resumes: bool = False
    #: ``emit`` for a consumer that does not want everything; ``push`` where a source is not asked for everything, and a stage
    #: drops items, see StepSubscriber.tally.
    counts: bool = False
    #: The items of the source, and the constants of the expressions that are written in, are builtin numbers. What is computed
    #: of numbers alone is no None, and is not looked at.
    numbers: bool = False
    #: A third function gives the variables in which the stages keep items.
    keeps: bool = False
