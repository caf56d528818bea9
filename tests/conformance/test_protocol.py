"""The rules of Reactive Streams for every operator and source.

TestSubscriber checks 1.1, 1.3, 1.7, 1.9, 2.12 and 2.13 in all conformance tests.
"""

from __future__ import annotations

import pytest

from rx_core import UNBOUNDED
from rx_testing import TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import MAIN_KINDS, MAINLY, MODES, Case, bench, check_values
from tests.conformance.table import TABLE

KIND = each("kind", MAIN_KINDS)
MODE = each("mode", MODES)
PAIR = each(("kind", "mode"), MAINLY)
ANY = pytest.mark.parametrize("case", TABLE, ids=str)
ASKED = pytest.mark.parametrize("case", [case for case in TABLE if not (case.has("hot") or case.has("lossy"))], ids=str)


@MODE
@ANY
def test_subscribe_none_raises(case: Case, mode: str) -> None:
    flow = bench(case, "list", mode).flow
    with pytest.raises(TypeError, match=r"RS 1\.9"):
        flow.subscribe(None)  # type: ignore[arg-type]  # the mistake


@PAIR
@ANY
def test_on_subscribe_comes_first_and_once(case: Case, mode: str, kind: str) -> None:
    got = bench(case, kind, mode).subscribe(TestSubscriber(request=0))
    got.assert_subscribed().assert_no_values()


@each("n", [0, -1, "1"])
@PAIR
@ASKED
def test_a_wrong_request_is_signalled(case: Case, mode: str, kind: str, n: object) -> None:
    made = bench(case, kind, mode)
    got = made.subscribe(TestSubscriber(request=0))
    if case.name == "interval":
        pytest.skip("ends without demand")
    made.settle()
    if got.is_terminated:
        return  # an empty stream needs no demand
    got.request(n)  # type: ignore[arg-type]  # the mistake
    made.settle()
    assert len(got.errors) == 1, got
    assert "3.9" in str(got.errors[0])
    got.assert_no_values()
    if made.source.active is not None:
        assert made.source.active() == 0


@PAIR
@ANY
def test_nothing_happens_after_cancel(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode)
    got = made.subscribe(TestSubscriber(request=0))
    ended = got.is_terminated  # an empty stream needs no demand
    got.cancel()
    for n in (1, 0, -1, UNBOUNDED):  # RS 3.6
        got.request(n)
    got.cancel()  # RS 3.7
    made.settle()
    got.assert_no_values()
    assert got.is_terminated == ended
    if made.source.active is not None:
        assert made.source.active() == 0


@PAIR
@ANY
def test_a_subscriber_that_cancels_in_on_subscribe_gets_nothing(case: Case, mode: str, kind: str) -> None:
    got: TestSubscriber[object] = TestSubscriber()
    got.cancel()
    made = bench(case, kind, mode)
    made.run(got)
    got.assert_no_values().assert_not_terminated()
    if made.source.active is not None:
        assert made.source.active() == 0


@PAIR
@ANY
def test_requests_after_the_end_are_ignored(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode)
    got = made.run()
    for n in (1, 0, -1):
        got.request(n)
    got.cancel()
    made.settle()
    got.assert_complete()


@KIND
@ASKED
def test_demand_adds_up_to_unbounded(case: Case, kind: str) -> None:
    made = bench(case, kind)
    got = made.subscribe(TestSubscriber(request=0))
    got.request(UNBOUNDED - 1).request(UNBOUNDED).request(1)  # RS 3.17
    made.settle()
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))


@PAIR
@ANY
def test_what_a_subscriber_throws_is_its_own_and_ends_the_subscription(case: Case, mode: str, kind: str) -> None:
    thrown = LookupError("the subscriber's")

    def throw(_item: object) -> None:
        raise thrown

    made = bench(case, kind, mode)
    got: TestSubscriber[object] = TestSubscriber(on_value=throw)
    caught: list[BaseException] = []
    try:
        made.run(got)
    except LookupError as error:
        caught.append(error)
    assert len(got.values) <= 1
    assert not got.errors
    assert all(error is thrown for error in caught)
