"""The TCK over every line of the conformance table, so that a new operator runs under it without a line of its own here.

How many elements a line makes of how many is asked of its obvious computation. The source is somebody else's publisher, so each
operator meets the protocol on both sides.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_testing import PublisherVerification, VirtualScheduler
from rx_testing.tck import verify
from tests.conformance.harness import Case, Kit
from tests.conformance.table import TABLE
from tests.tck.cases import Foreign, moves

#: Sources longer than this are not tried.
LONGEST: Final = 120

#: Lines whose number of elements depends on when something is requested.
LEFT_OUT: Final = ("hot", "lossy", "endless")


def sizes_of(case: Case) -> dict[int, int]:
    """For each number of elements the line can make, how many its source needs; without gaps from the smallest on."""
    found: dict[int, int] = {}
    for size in range(LONGEST + 1):
        found.setdefault(len(case.expected(list(range(1, size + 1)))), size)
    most = 0
    while most + 1 in found:
        most += 1
    return {made: size for made, size in found.items() if made <= most}


@pytest.mark.parametrize("case", [case for case in TABLE if not any(map(case.has, LEFT_OUT))], ids=str)
def test_operator(case: Case) -> None:
    sizes = sizes_of(case)
    if not sizes:
        pytest.skip("makes several elements or none")

    class Verification(PublisherVerification[Any]):
        synchronous = True
        max_elements_from_publisher = max(sizes, default=0)

        def setup(self) -> VirtualScheduler:
            self.__dict__.setdefault("clock", VirtualScheduler())
            return self.__dict__["clock"]  # type: ignore[no-any-return]

        def settle(self) -> bool:
            return moves(self.setup())

        def create_publisher(self, elements: int, /) -> Any:
            if elements not in sizes:
                raise ValueError(f"{case} does not make {elements} elements")
            source = Flowable.wrap(Foreign(range(1, sizes[elements] + 1)))
            return case.build(source, Kit(self.setup()))

    verify(Verification).assert_passed()
