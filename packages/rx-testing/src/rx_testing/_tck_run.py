"""Running a verification without pytest's collection: in one test, in a loop, or to verify the TCK itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from rx_core.live.stacks import seen_at

if TYPE_CHECKING:
    from rx_testing._tck_env import Verification


@dataclass(frozen=True)
class TckResult:
    """What became of each test of a verification."""

    passed: tuple[str, ...]
    failed: Mapping[str, BaseException]
    #: The reasons.
    skipped: Mapping[str, str]

    def assert_passed(self) -> None:
        """Raise AssertionError when a test failed."""
        __tracebackhide__ = True
        if self.failed:
            raise AssertionError("\n".join([str(self), *(f"{name}: {error}" for name, error in self.failed.items())]))

    def __str__(self) -> str:
        return f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def rule_tests(kind: type[Verification], /) -> list[str]:
    """The names of the tests of a verification."""
    return [name for name in dir(kind) if name.startswith("test_")]


def verify(make: Callable[[], Verification], /, *, seconds: float = 20.0) -> TckResult:
    """Run all tests, each on a new ``make()`` and on a thread of its own; one that takes ``seconds`` counts as failed.

    ::

        verify(TestNumbers).assert_passed()
    """
    passed: list[str] = []
    failed: dict[str, BaseException] = {}
    skipped: dict[str, str] = {}
    for name in rule_tests(type(make())):
        error = _guarded(make, name, seconds)
        if error is None:
            passed.append(name)
        elif isinstance(error, pytest.skip.Exception):
            skipped[name] = str(error)
        else:
            failed[name] = error
    return TckResult(tuple(passed), failed, skipped)


def _guarded(make: Callable[[], Verification], name: str, seconds: float) -> BaseException | None:
    outcome: list[BaseException | None] = []

    def run() -> None:
        verification = make()
        try:
            getattr(verification, name)()
            outcome.append(None)
        except BaseException as error:  # skips are BaseExceptions
            outcome.append(error)
        finally:
            verification.env.close()

    thread = threading.Thread(target=run, name=f"tck-{name}", daemon=True)
    thread.start()
    thread.join(seconds)
    if outcome:
        return outcome[0]
    return TimeoutError(f"{name} did not end within {seconds} seconds; it is at\n{seen_at(thread.ident or 0, 6)}")
