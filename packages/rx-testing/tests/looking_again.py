"""What a verification finds in a faulty party, whose fault may need a race."""

from __future__ import annotations

from collections.abc import Callable

#: So often a fault is looked for.
TRIES = 4


def found(verify: Callable[[], set[str]], expected: set[str]) -> set[str]:
    """Return ``expected`` as soon as the verification says so, else what it said last.

    A verification waits a part of a second for what another thread does. On a busy machine that thread may not have run by then:
    the verification of a correct party has nothing to wait for, but the one of a faulty party has to see the fault.
    """
    failed: set[str] = set()
    for _ in range(TRIES):
        failed = verify()
        if failed == expected:
            break
    return failed
