"""The library signals what the naive reference says: random pipelines of hot, timed, lossy and foreign sources, on virtual time.

Compared are all signals of all subscribers, with their virtual times: as the library fuses, without fusion, with walls between
all operators, with Observables for Flowables, and in a for loop where nothing needs a clock; where a pipeline becomes a Single, a
Maybe or a Completable that is compared.
Not compared is what hinges on how far an operator reads ahead: where the reference itself answers otherwise when its operators
prefetch, or fetch items at hand, in another way (see ``judging.py``).

The normal run takes the same pipelines each time. ``RX_NIGHTLY=50000`` draws that many at random; ``RX_SEED`` repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest

from tests.invisible.nightly import NIGHTLY, SEED
from tests.invisible.push.drawing import Drawing
from tests.invisible.push.judging import Judge
from tests.recorded.cases import Trace
from tests.recorded.running import errors_ignored

#: Pipelines with each source and operator.
EACH: Final = 2
#: Random ones, and with subscribers that do not request everything.
RANDOM: Final = NIGHTLY or 100
DEMANDING: Final = (NIGHTLY or 600) // 4
#: Of each kind of long ones, and of those without a clock.
OTHERS: Final = (NIGHTLY or 160) // 8
PARTS: Final = 10 if NIGHTLY else 2
#: So many differences are made small and shown.
MOST_SHOWN: Final = 5

DRAWING: Final = Drawing()
DEMANDING_DRAWING: Final = Drawing(demanding=True)
#: Several hundred items: more than an operator asks for at a time.
OTHER_DRAWINGS: Final = {
    "long": Drawing(long=True),
    "long, little is requested": Drawing(long=True, demanding=True),
    "long, without a clock": Drawing(long=True, untimed=True),
    "without a clock": Drawing(untimed=True),
}
BEGINNING: Final = f"{SEED}/" if NIGHTLY else ""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(24 * 3600 if NIGHTLY else 120)]


def check(cases: Iterable[Trace]) -> None:
    judge = Judge()
    count = 0
    shown: list[str] = []
    with errors_ignored():
        for case in cases:
            differences = judge.differences(case)
            count += bool(differences)
            if differences and len(shown) < MOST_SHOWN:
                shown.append(str(judge.smallest(differences[0])))
    assert not shown, "\n\n".join((f"{count} pipelines differ, among them:", *shown))


@pytest.mark.parametrize("name", DRAWING.names())
def test_a_pipeline_with_it_signals_what_the_reference_says(name: str) -> None:
    check(DRAWING.case_with(name, f"{BEGINNING}{number}") for number in range(EACH))


@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_pipeline_signals_what_the_reference_says(part: int) -> None:
    check(DRAWING.case(f"{BEGINNING}{number}") for number in range(part, RANDOM, PARTS))


@pytest.mark.parametrize("part", range(PARTS))
def test_a_subscriber_that_requests_little_gets_what_the_reference_says(part: int) -> None:
    check(DEMANDING_DRAWING.case(f"{BEGINNING}{number}") for number in range(part, DEMANDING, PARTS))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", OTHER_DRAWINGS)
def test_of_many_items_and_in_a_loop_a_pipeline_signals_what_the_reference_says(kind: str, part: int) -> None:
    check(OTHER_DRAWINGS[kind].case(f"{BEGINNING}{number}") for number in range(part, OTHERS, PARTS))
