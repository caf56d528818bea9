"""Threads feed every coordinating operator, more of them request, and others subscribe and cancel.

``RX_STRESS=20`` makes it twenty times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.storm.operators import CASES, Case
from tests.storm.running import WATCHED, Round, cancel, feed, plan

pytestmark = pytest.mark.stress

EVERY = pytest.mark.parametrize(
    ("case", "face"),
    [pytest.param(case, face, id=f"{case}, {face.__name__}") for case in CASES for face in case.faces],
)


def rounds_of(case: Case, face: Any) -> Iterator[Round]:
    """Three at full speed, and one in which the threads stumble."""
    yield from plan(case, face, 3)
    yield from plan(case, face, 1, watch=WATCHED)


@EVERY
def test_everything_arrives_once_and_in_order(case: Case, face: Any) -> None:
    for how in rounds_of(case, face):
        feed(case, face, how)


@EVERY
def test_a_cancelled_storm_leaves_every_source(case: Case, face: Any) -> None:
    for how in rounds_of(case, face):
        cancel(case, face, how)
