"""What an operator is put through: scripts of its sources and of its subscriber, and which of them are played together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal

from rx_core import UNBOUNDED
from rx_testing._recording_publisher import Pace


@dataclass(frozen=True)
class SourceScript:
    """What one source sends: the numbers from 1 to ``count``, then its end."""

    count: int = 4
    end: Literal["on_complete", "on_error", "no end"] = "on_complete"
    pace: Pace = "at once"
    ignores_cancel: bool = False
    surplus: bool = False

    def __str__(self) -> str:
        extras = ("goes on after cancel", self.ignores_cancel), ("two subscriptions", self.surplus)
        return ", ".join([f"{self.count} then {self.end}", self.pace, *(text for text, so in extras if so)])


@dataclass(frozen=True)
class DownstreamScript:
    """What the subscriber of the operator does."""

    name: str
    #: Requested in on_subscribe.
    request: int = UNBOUNDED
    #: Requested in each on_next.
    in_on_next: int = 0
    #: Requested one after the other, each when nothing happens any more; the last one again and again until the end.
    then: tuple[int, ...] = ()
    cancel_in_on_subscribe: bool = False
    #: Cancels in the on_next of that item.
    cancel_after: int | None = None
    #: Cancels when nothing happens any more; in a script "by hand" after so many signals of the sources.
    cancel: bool = False
    signals_before_cancel: int | None = None
    #: Requests and cancels inside its on_complete or on_error, as a callback does that disposes its own handle.
    in_the_end: bool = False

    @property
    def unbounded(self) -> bool:
        """Whether it can be played by an ending that requests everything by itself."""
        return self.request == UNBOUNDED and not self.then

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class OperatorScript:
    """One script of everybody."""

    sources: tuple[SourceScript, ...]
    down: DownstreamScript

    def __str__(self) -> str:
        return f"{' / '.join(map(str, self.sources))}; downstream: {self.down}"


# -- the subscriber ----------------------------------------------------------------------------------------------------

EVERYTHING: Final = DownstreamScript("unbounded")
BY_ONES: Final = DownstreamScript("none, then one by one", request=0, then=(1,))
REENTRANT: Final = DownstreamScript("one in each on_next", request=1, in_on_next=1)
LOUD_END: Final = DownstreamScript("requests and cancels inside the end", in_the_end=True)
CANCEL_FIRST: Final = DownstreamScript("cancels in on_subscribe", cancel_in_on_subscribe=True)
CANCEL_INSIDE: Final = DownstreamScript("cancels in the first on_next", cancel_after=1)
CANCEL_REENTRANT: Final = DownstreamScript("one in each on_next, cancels in the second", request=1, in_on_next=1, cancel_after=2)
CANCEL_EARLY: Final = DownstreamScript("cancels between signals of the source", signals_before_cancel=2)
ONE_THEN_CANCEL: Final = DownstreamScript("one, then cancels", request=1, cancel=True)
NONE_THEN_CANCEL: Final = DownstreamScript("none, then cancels", request=0, cancel=True)
ONE_THEN_WRONG: Final = DownstreamScript("one, then request(0)", request=1, then=(0,))
WRONG: Final = DownstreamScript("request(-1)", request=0, then=(-1,))

DEMANDS: Final = (EVERYTHING, BY_ONES, REENTRANT)
CANCELS: Final = (CANCEL_FIRST, CANCEL_INSIDE, CANCEL_REENTRANT, CANCEL_EARLY, ONE_THEN_CANCEL, NONE_THEN_CANCEL)
WHOLE: Final = (*DEMANDS, LOUD_END, *CANCELS, ONE_THEN_WRONG, WRONG)

# -- one source --------------------------------------------------------------------------------------------------------

_COMPLETES: Final = SourceScript()
_FAILS: Final = SourceScript(end="on_error")
_EMPTY: Final = SourceScript(0)
_FAILS_AT_ONCE: Final = SourceScript(0, "on_error")
_NO_END: Final = SourceScript(end="no end")
_ENDS: Final = (_COMPLETES, _FAILS, _EMPTY, _FAILS_AT_ONCE)

#: Long enough for the windows of operators to be replenished: at three quarters of 128 a request meets the end.
_AT_THE_WINDOW: Final = (SourceScript(96), SourceScript(96, "on_error"))
_BEHIND_IT: Final = (SourceScript(97), SourceScript(97, "on_error"))
_LONG: Final = (SourceScript(200),)


def _at(pace: Pace, *scripts: SourceScript) -> tuple[SourceScript, ...]:
    return tuple(replace(script, pace=pace) for script in scripts)


def one_source_scripts() -> Iterator[OperatorScript]:
    """For operators with one source."""
    for source, down in (
        *product((*_at("at once", *_ENDS, _NO_END), *_at("by hand", *_ENDS, _NO_END)), WHOLE),
        *product(_at("after on_subscribe", *_ENDS), (*DEMANDS, LOUD_END, CANCEL_INSIDE)),
        *product((*_AT_THE_WINDOW, *_at("by hand", *_AT_THE_WINDOW)), DEMANDS),
        *product((*_BEHIND_IT, *_LONG, *_at("by hand", *_BEHIND_IT, *_LONG)), (EVERYTHING,)),
        *product(_BEHIND_IT, (ONE_THEN_CANCEL,)),
        *product((replace(each, ignores_cancel=True) for each in (*_ENDS[:2], *_at("by hand", *_ENDS))), CANCELS),
        *product((replace(_COMPLETES, pace=pace, surplus=True) for pace in _QUIET), (EVERYTHING, BY_ONES, ONE_THEN_CANCEL)),
    ):
        yield OperatorScript((source,), down)


#: The paces that leave room for a second on_subscribe before the first item.
_QUIET: Final[tuple[Pace, ...]] = ("after on_subscribe", "by hand")

# -- two sources -------------------------------------------------------------------------------------------------------

_PAIRS: Final = (
    (_COMPLETES, _COMPLETES),
    (SourceScript(2), _NO_END),
    (_NO_END, SourceScript(2)),
    (SourceScript(2, "on_error"), _NO_END),
    (_NO_END, SourceScript(2, "on_error")),
    (_EMPTY, _COMPLETES),
    (_COMPLETES, _EMPTY),
    (_COMPLETES, _FAILS_AT_ONCE),
    (_FAILS_AT_ONCE, _COMPLETES),
    (_COMPLETES, _FAILS),
    (_FAILS, _COMPLETES),
    (_NO_END, _NO_END),
    (SourceScript(97), SourceScript(97, "on_error")),
)
_FOR_PAIRS: Final = (EVERYTHING, BY_ONES, LOUD_END, CANCEL_INSIDE, CANCEL_EARLY, ONE_THEN_CANCEL, ONE_THEN_WRONG)


def two_source_scripts() -> Iterator[OperatorScript]:
    """For operators with two sources."""
    paces: tuple[Pace, ...] = ("at once", "by hand")
    for pace, (first, second), down in product(paces, _PAIRS, _FOR_PAIRS):
        yield OperatorScript(_at(pace, first, second), down)
    for (first, second), down in product(_PAIRS[:5], (EVERYTHING, REENTRANT, ONE_THEN_CANCEL)):
        yield OperatorScript((replace(first, pace="by hand"), second), down)
        yield OperatorScript((first, replace(second, pace="by hand")), down)


# -- two threads -------------------------------------------------------------------------------------------------------


def meeting_script(sources: int) -> OperatorScript:
    """For requests of two threads: nothing comes but by hand, and the demand is small."""
    script = SourceScript(12, pace="by hand")
    return OperatorScript((script,) * sources, DownstreamScript("its requests meet those made inside on_next", request=2))
