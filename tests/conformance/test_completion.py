"""After the last element on_complete comes without a further request, wherever it can be known (decisions/0006).

Nothing is pulled to find out: the lists below say for which lines of the table the end can only be seen with another request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import MODES, Case, Flow, bench
from tests.conformance.sources import Foreign
from tests.conformance.table import TABLE

#: Their number of elements depends on when something is requested, or they have no end.
LEFT_OUT: Final = ("source", "hot", "lossy", "endless")

#: Elements of theirs wait in a queue and are left out when somebody asks for more: nobody knows before.
DROPS_WHAT_WAITS: Final = ("flat_map_iterable",)

#: Its source gives one notification more than there were elements, and that has to be requested.
SAID_BY_AN_ELEMENT: Final = ("dematerialize",)


@each("kind", ["manual", "foreign"])
@each("mode", MODES)
@pytest.mark.parametrize("case", [case for case in TABLE if not any(map(case.has, LEFT_OUT))], ids=str)
def test_the_end_needs_no_request_when_nothing_is_left(case: Case, mode: str, kind: str) -> None:
    wanted = len(case.expected(list(case.items)))
    made = bench(case, kind, mode)
    got = made.run(TestSubscriber(request=wanted))
    assert len(got.values) == wanted
    if not got.is_terminated:
        # Allowed where elements of the source follow that nobody has asked for, or nothing was requested at all.
        waits = not wanted or case.name in DROPS_WHAT_WAITS or case.name in SAID_BY_AN_ELEMENT
        assert waits or made.source.active is None or made.source.active(), "the source has ended, and nobody says so"
        got.request(1)
        made.settle()
        assert len(got.values) == wanted
    got.assert_valid().assert_complete()


EMPTY: Final[dict[str, Callable[[], Flow]]] = {
    "empty": Flowable.empty,
    "of": Flowable.of,
    "list": lambda: Flowable.from_iterable([]),
    "hidden": lambda: Flowable.empty().hide(),
    "deferred": lambda: Flowable.defer(Flowable.empty),
    "concat": lambda: Flowable.concat(Flowable.empty(), Flowable.empty()),
    "completed": lambda: Flowable.wrap(Foreign([])),
}


#: What follows, goes before or stands beside the source is empty.
WITH_EMPTIES: Final[dict[str, Callable[[Flow, Callable[[], Flow]], Flow]]] = {
    "concat": lambda s, e: Flowable.concat(s, e()),
    "concat before": lambda s, e: Flowable.concat(e(), s),
    "concat around": lambda s, e: Flowable.concat(e(), s, e(), e()),
    "concat_with": lambda s, e: s.concat_with(e()),
    "merge": lambda s, e: Flowable.merge(e(), s, e()),
    "merge_with": lambda s, e: s.merge_with(e()),
    "merge late": lambda s, e: Flowable.merge(s, e(), delay_error=True),
    "merge nested": lambda s, e: s.merge_with(e()).merge_with(e()),
    "switch_if_empty both": lambda s, e: e().switch_if_empty(e()).concat_with(s),
    "switch_if_empty other": lambda s, e: e().switch_if_empty(s),
    "default_if_empty": lambda s, e: s.concat_with(e()).default_if_empty(7),
    "flat_map": lambda s, e: s.flat_map(lambda x: Flowable.concat(Flowable.just(x), e())),
    "concat_map": lambda s, e: s.concat_map(lambda x: Flowable.concat(e(), Flowable.just(x))),
    "concat_eager": lambda s, e: Flowable.concat_eager(e(), s, e()),
    "concat_eager late": lambda s, e: Flowable.concat_eager(e(), s, e(), delay_error=True),
    "concat_map_eager": lambda s, e: s.concat_map_eager(lambda x: Flowable.concat(e(), Flowable.just(x))),
    "exhaust_map": lambda s, e: s.concat_with(e()).exhaust_map(Flowable.just),
    "merge_ordered": lambda s, e: Flowable.merge_ordered(e(), s, e()),
    "merge_priority": lambda s, e: Flowable.merge_priority(e(), s, e()),
    "switch_on_first": lambda s, e: s.concat_with(e()).switch_on_first(lambda first, whole: whole.merge_with(e())),
    "group_by": lambda s, e: s.merge_with(e()).group_by(lambda x: x % 2).flat_map(lambda group: group),
    "on_error_resume_next": lambda s, e: s.concat_with(Flowable.error(OSError())).on_error_resume_next(lambda error: e()),
    "timeout": lambda s, e: s.concat_with(e()).timeout(1e6),
    "repeat": lambda s, e: s.concat_with(e()).repeat(1),
}


@pytest.mark.parametrize("make", EMPTY.values(), ids=list(EMPTY))
@pytest.mark.parametrize("build", WITH_EMPTIES.values(), ids=list(WITH_EMPTIES))
def test_empties_need_no_request(build: Callable[[Flow, Callable[[], Flow]], Flow], make: Callable[[], Flow]) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=3)
    build(Flowable.wrap(source), make).subscribe(got)
    source.next(1, 2, 3)
    got.assert_values(1, 2, 3).assert_not_terminated()
    source.complete()
    got.assert_result(1, 2, 3)


@pytest.mark.parametrize("make", EMPTY.values(), ids=list(EMPTY))
@pytest.mark.parametrize("build", WITH_EMPTIES.values(), ids=list(WITH_EMPTIES))
def test_nothing_but_empties_needs_no_request_at_all(
    build: Callable[[Flow, Callable[[], Flow]], Flow], make: Callable[[], Flow]
) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber(request=0)
    build(Flowable.wrap(source), make).subscribe(got)
    if source.subscriptions:
        source.complete()
    if build is WITH_EMPTIES["default_if_empty"]:
        got.assert_empty().request(1).assert_result(7)
    else:
        got.assert_result()


class Reading:
    """An iterable that says which of its elements were computed."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __iter__(self) -> Any:
        for number in range(3):
            self.read.append(number)
            yield number


@pytest.mark.parametrize("name", ["concat", "merge", "zip", "flat_map", "switch_if_empty"])
def test_nobody_computes_an_element_to_find_out(name: str) -> None:
    reading, source = Reading(), ManualPublisher[int]()
    items, given = Flowable.from_iterable(reading), Flowable.wrap(source)
    flow: Flow = {
        "concat": Flowable.concat(Flowable.empty(), given, items),
        "merge": Flowable.merge(Flowable.empty(), given, items),
        "zip": Flowable.zip(items, given, Flowable.of(1, 2)),
        "flat_map": given.flat_map(lambda _x: items),
        "switch_if_empty": given.switch_if_empty(items),
    }[name]
    got: TestSubscriber[Any] = TestSubscriber(request=0)
    flow.subscribe(got)
    if name == "flat_map":
        source.next(1)
    source.complete()
    assert not reading.read
    got.assert_valid()
