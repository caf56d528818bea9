"""What the conformance tests share: the kit a line of the table builds with, fault injection, and running to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from rx_core import hooks
from rx_fusion import fusion_off
from rx_ops import Flowable
from rx_testing import TestSubscriber, VirtualScheduler
from tests.conformance.sources import KINDS, Source

Function = Callable[..., Any]
Flow = Flowable[Any]

#: Some numbers with repetitions, no order, and none that is falsy.
ITEMS: Final = (3, 1, 4, 1, 5, 9, 2, 6)


@dataclass
class Kit:
    """Handed to each line of the table: it wraps the user functions and brings the clock."""

    clock: VirtualScheduler = field(default_factory=VirtualScheduler)
    #: What becomes of each user function of the operator.
    wrap: Callable[[Function], Function] = field(default=lambda function: function)
    #: How many user functions the operator was built with.
    functions: int = 0

    def f(self, function: Function) -> Function:
        """``function`` as a user's function of the operator under test: the tests make it fail."""
        self.functions += 1
        return self.wrap(function)


Build = Callable[[Flow, Kit], Flow]
Reference = Callable[[list[Any]], list[Any]]

#: Seconds that no test lives to see.
FAR: Final = 100_000.0

MODES: Final = ("fused", "hidden", "off")


#: Kind of source and mode together: all kinds fused, and of the other modes those that run through other code.
EVERYWHERE: Final = (
    *((kind, "fused") for kind in KINDS),
    *((kind, "hidden") for kind in ("list", "foreign", "manual")),
    *((kind, "off") for kind in ("list", "running", "foreign", "manual", "observed")),
)
MAIN_KINDS: Final = ("list", "running", "foreign", "manual", "observed foreign")
MAINLY: Final = (*((kind, "fused") for kind in MAIN_KINDS), ("list", "hidden"), ("list", "off"), ("foreign", "off"))


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    name: str
    build: Build
    #: The obvious computation over a list.
    expected: Reference
    #: What has come when the source fails after these items; None: the same as without a failure.
    before_error: Reference | None = None
    #: Words that say how the operator differs, see the table.
    flags: str = ""
    items: Sequence[Any] = ITEMS

    def has(self, flag: str) -> bool:
        return flag in self.flags.split()

    def until_error(self, items: Sequence[Any]) -> list[Any]:
        return (self.before_error or self.expected)(list(items))

    def __str__(self) -> str:
        return self.name


@dataclass
class Bench:
    """One operator over one source, ready to be subscribed."""

    case: Case
    source: Source
    kit: Kit
    flow: Flow
    mode: str

    def subscribe(self, subscriber: TestSubscriber[Any]) -> TestSubscriber[Any]:
        with switched(self.mode):
            self.flow.subscribe(subscriber)
        return subscriber

    def run(self, subscriber: TestSubscriber[Any] | None = None) -> TestSubscriber[Any]:
        """Subscribe and let everything happen that can happen."""
        made = self.subscribe(TestSubscriber() if subscriber is None else subscriber)
        self.settle()
        return made

    def settle(self) -> None:
        """Let source and clock work until both have nothing to do."""
        with switched(self.mode):  # inner sources are subscribed while it runs
            while self.source.pump() or self.clock_moves():
                pass

    def clock_moves(self) -> bool:
        """Move on to what is due next; what is due in days (an alarm that is not to go off) does not count."""
        clock = self.kit.clock
        due = clock.next_due
        return due is not None and due < FAR and clock.advance_to(max(due, clock.now())) > 0

    def by_ones(self, subscriber: TestSubscriber[Any], window: int = 1, rounds: int = 100) -> None:
        """Request ``window`` at a time until the end."""
        self.settle()
        for _ in range(rounds):
            if subscriber.is_terminated:
                return
            before = len(subscriber.values)
            with switched(self.mode):
                subscriber.request(window)
            self.settle()
            assert len(subscriber.values) <= before + window
        subscriber.fail("no end after many requests")


def bench(
    case: Case,
    kind: str = "list",
    mode: str = "fused",
    *,
    items: Sequence[Any] | None = None,
    error: Exception | None = None,
    wrap: Callable[[Function], Function] | None = None,
) -> Bench:
    kit = Kit()
    if wrap is not None:
        kit.wrap = wrap
    source = KINDS[kind](case.items if items is None else items, error, kit.clock)
    if mode == "hidden":
        flow = case.build(source.flow.hide(), kit).hide()
    else:
        flow = case.build(source.flow, kit)
    return Bench(case, source, kit, flow, mode)


@contextmanager
def switched(mode: str) -> Iterator[None]:
    with fusion_off() if mode == "off" else nullcontext():
        yield


def check_values(case: Case, got: list[Any], wanted: list[Any]) -> None:
    if case.has("unordered"):
        assert sorted(got, key=repr) == sorted(wanted, key=repr)
    else:
        assert got == wanted


# -- functions that fail ---------------------------------------------------------------------------------------------


def failing(make: Callable[[], BaseException], at: int) -> Callable[[Function], Function]:
    """Wraps functions so that the call number ``at`` (of all of them together) raises."""
    calls = 0

    def wrap(function: Function) -> Function:
        def wrapped(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                raise make()
            return function(*args)

        return wrapped

    return wrap


def giving_none(at: int) -> Callable[[Function], Function]:
    """Wraps functions so that the call number ``at`` returns None."""
    calls = 0

    def wrap(function: Function) -> Function:
        def wrapped(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            return None if calls == at else function(*args)

        return wrapped

    return wrap


def counted(calls: list[tuple[Any, ...]]) -> Callable[[Function], Function]:
    """Wraps functions so that ``calls`` has the arguments of each call."""

    def wrap(function: Function) -> Function:
        def wrapped(*args: Any) -> Any:
            calls.append(args)
            return function(*args)

        return wrapped

    return wrap


def text_of(error: BaseException) -> str:
    """Everything an error says: message, notes, and those of the errors in it."""
    parts = [str(error), *getattr(error, "__notes__", ())]
    if isinstance(error, BaseExceptionGroup):
        parts += [text_of(each) for each in error.exceptions]
    return "\n".join(parts)


def parts_of(error: BaseException | None) -> list[BaseException]:
    """The error, or the errors of a group."""
    if isinstance(error, BaseExceptionGroup):
        return list(error.exceptions)
    return [] if error is None else [error]


@contextmanager
def dropped_errors() -> Iterator[list[BaseException]]:
    """Collects what reaches the error hook instead of logging it."""
    errors: list[BaseException] = []
    hooks.ensure_loaded()  # or loading them later would undo the patch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
        yield errors
