"""How an ordinary program is run: written once for this library and once for reactivex, fed the same items, ended the same way.

A program is described by what it makes of its sources. The sources are those that Rx programs have: ``create`` with a function
that calls ``on_next``, a subject (here a ``PublishProcessor``) into which the program pushes, and ``range``. At the end stand
callbacks for all three signals. What they were called with is the result; both libraries have to give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench._by_hand import ByHand, EmitterByHand
from bench._common import reactivex
from bench._measure import Case, Way, absent, at_most, faster
from rx_ops import Emitter, Flowable, PublishProcessor, Single

#: The names of the cases start with it: ``--only "against reactivex"`` runs them all.
PREFIX: Final = "against reactivex: "

#: The way of a program that :mod:`bench._by_hand` has.
BY_HAND: Final = "by hand"

#: How many times faster than reactivex a program has to be, unless it names a reason.
TIMES: Final = 3.0
#: So many programs may have a reason.
EXCEPTIONS: Final = 5

_END: Final = "the end"

#: What a program makes of its sources: ours or theirs.
Ours = Callable[..., Flowable[Any] | Single[Any]]
Theirs = Callable[..., Any]
Result = list[object]


@dataclass(frozen=True, slots=True)
class Program:
    """One program in both libraries, each a function of the number of items."""

    name: str
    ours: Callable[[int], Result]
    theirs: Callable[[int], Result]
    #: The same written by hand, for the programs over ``create`` that are not three times faster.
    by_hand: Callable[[int], Result] | None = None
    #: It takes microseconds per item, so fewer items do.
    heavy: bool = False
    #: Why it is not three times faster than reactivex. At most five programs have such a reason.
    reason: str = ""
    #: The goal is at most this share of reactivex's time, where the program names one.
    share: tuple[float, float] | None = None


def created(name: str, ours: Ours, theirs: Theirs, *, by_hand: ByHand | None = None, sources: int = 1) -> Program:
    """A program over ``create``, or over several of them, which share the items evenly."""

    def run_ours(size: int) -> Result:
        emit = emitting(size // sources)
        return _ended_ours(ours(*(Flowable.create(emit) for _ in range(sources))), [])

    def run_theirs(size: int) -> Result:
        emit = emitting_theirs(size // sources)
        return _ended_theirs(theirs(*(reactivex.create(emit) for _ in range(sources))), [])

    def run_by_hand(size: int) -> Result:
        emit, got = emitting(size // sources), Result()
        assert by_hand is not None
        for left in reversed(range(sources)):
            emit(by_hand(got.append, got.append, _nothing if left else lambda: got.append(_END)))
        return got

    return Program(name, run_ours, run_theirs, run_by_hand if by_hand else None)


def pushed(name: str, ours: Ours, theirs: Theirs, *, sources: int = 1, heavy: bool = False) -> Program:
    """A program over subjects: it subscribes first, and then pushes an item into each of them in turn."""

    def run_ours(size: int) -> Result:
        processors = [PublishProcessor[int]() for _ in range(sources)]
        return _ended_ours(ours(*processors), [], lambda: _push_ours(processors, size))

    def run_theirs(size: int) -> Result:
        subjects = [reactivex.Subject() for _ in range(sources)]
        return _ended_theirs(theirs(*subjects), [], lambda: _push_theirs(subjects, size))

    return Program(name, run_ours, run_theirs, heavy=heavy)


def ranged(name: str, ours: Ours, theirs: Theirs) -> Program:
    """A program over ``range``."""

    def run_ours(size: int) -> Result:
        return _ended_ours(ours(Flowable.range(size)), [])

    def run_theirs(size: int) -> Result:
        return _ended_theirs(theirs(reactivex.range(size)), [])

    return Program(name, run_ours, run_theirs)


def emitting(size: int) -> Callable[[Emitter[int] | EmitterByHand], None]:
    """What is passed to ``create``: it emits the numbers and completes."""

    def emit(emitter: Emitter[int] | EmitterByHand) -> None:
        for item in range(size):
            emitter.on_next(item)
        emitter.on_complete()

    return emit


def emitting_theirs(size: int) -> Callable[[Any, Any], None]:
    def emit(observer: Any, _scheduler: Any) -> None:
        for item in range(size):
            observer.on_next(item)
        observer.on_completed()

    return emit


def _push_ours(processors: Sequence[PublishProcessor[int]], size: int) -> None:
    _push(processors, size)
    for processor in processors:
        processor.on_complete()


def _push_theirs(subjects: Sequence[Any], size: int) -> None:
    _push(subjects, size)
    for subject in subjects:
        subject.on_completed()


def _push(subjects: Sequence[Any], size: int) -> None:
    """Written as a program with one subject, or with two, is: a loop over them for each item would be measured with it."""
    if len(subjects) == 1:
        (only,) = subjects
        for item in range(size):
            only.on_next(item)
    else:
        one, other = subjects
        for item in range(size // 2):
            one.on_next(item)
            other.on_next(item)


def _nothing() -> None:
    pass


def _ended_ours(flow: Flowable[Any] | Single[Any], got: Result, then: Callable[[], None] = _nothing) -> Result:
    if isinstance(flow, Single):
        flow.subscribe(lambda item: got.extend((item, _END)), on_error=got.append)
    else:
        flow.subscribe(got.append, on_error=got.append, on_complete=lambda: got.append(_END))
    then()
    assert got[-1:] == [_END], f"the stream did not complete: {got[-1:]}"
    return got


def _ended_theirs(stream: Any, got: Result, then: Callable[[], None] = _nothing) -> Result:
    stream.subscribe(got.append, got.append, lambda: got.append(_END))
    then()
    assert got[-1:] == [_END], f"the stream of reactivex did not complete: {got[-1:]}"
    return got


def case_of(program: Program, size: int) -> Case:
    """The case of one program: never slower than reactivex, three times faster if it can be."""
    items = size // 5 if program.heavy else size
    ways = {
        "rx": Way(lambda: program.ours(items)),
        "reactivex": absent("reactivex") if reactivex is None else Way(lambda: program.theirs(items)),
    }
    by_hand = program.by_hand
    if by_hand is not None:
        ways[BY_HAND] = Way(lambda: by_hand(items))
    goal = faster("rx", 1, TIMES, than="reactivex") if program.share is None else at_most("rx", *program.share, of="reactivex")
    return Case(PREFIX + program.name, items, ways, [goal], note=program.reason, fastest=True)
