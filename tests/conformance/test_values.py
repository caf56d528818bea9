"""What comes out: each operator over each kind of source, in each mode, under each pattern of demand."""

from __future__ import annotations

import pytest

from rx_testing import TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import EVERYWHERE, ITEMS, MODES, Case, bench, check_values
from tests.conformance.sources import KINDS, WATCHED, SourceError
from tests.conformance.table import TABLE

KIND = each("kind", KINDS)
MODE = each("mode", MODES)
PAIR = each(("kind", "mode"), EVERYWHERE)
ANY = pytest.mark.parametrize("case", TABLE, ids=str)
OVER_A_SOURCE = pytest.mark.parametrize("case", [case for case in TABLE if not case.has("source")], ids=str)
ASKED = pytest.mark.parametrize("case", [case for case in TABLE if not (case.has("hot") or case.has("lossy"))], ids=str)


@PAIR
@ANY
def test_the_values_are_those_of_the_reference(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode)
    got = made.run()
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))
    assert not made.source.active or not made.source.active()


@each("kind", ["clean", "list", "generated", "running", "foreign", "manual", "observed"])
@MODE
@OVER_A_SOURCE
def test_an_empty_source(case: Case, mode: str, kind: str) -> None:
    if case.has("endless"):
        pytest.skip("waits for items that do not come")
    got = bench(case, kind, mode, items=()).run()
    got.assert_complete()
    check_values(case, got.values, case.expected([]))


@PAIR
@OVER_A_SOURCE
def test_an_error_of_the_source_comes_after_its_items(case: Case, mode: str, kind: str) -> None:
    if case.has("recovers"):
        pytest.skip("its line is about an error")
    error = SourceError("end")
    got = bench(case, kind, mode, error=error).run()
    if case.has("hasty"):  # an error of a source that pushes ends the stream at once, whatever waits in its queue
        wanted = case.expected(list(case.items))
        assert got.values == wanted[: len(got.values)]
        if not case.has("early") or got.errors:
            got.assert_error(error)
        return
    if case.has("early"):
        got.assert_complete()
        check_values(case, got.values, case.expected(list(case.items)))
        return
    got.assert_error(error)
    if case.has("unordered"):  # an error overtakes what other sources still have
        wanted = case.expected(list(case.items))
        assert all(wanted.count(value) >= got.values.count(value) for value in got.values)
    else:
        assert got.values == case.until_error(case.items)


@PAIR
@ASKED
def test_one_by_one(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode)
    got = made.run(TestSubscriber(request=0))
    got.assert_no_values()
    made.by_ones(got)
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))


@each("window", [2, 3, 5])
@each("kind", ["list", "running", "foreign", "manual", "observed foreign"])
@ASKED
def test_windows(case: Case, kind: str, window: int) -> None:
    made = bench(case, kind)
    got = made.run(TestSubscriber(request=0))
    made.by_ones(got, window)
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))


@KIND
@ASKED
def test_requests_from_on_next(case: Case, kind: str) -> None:
    got = bench(case, kind).run(TestSubscriber(request=1, request_in_on_next=1))
    got.assert_complete()
    check_values(case, got.values, case.expected(list(case.items)))
    assert got.max_depth <= 3  # RS 3.3


@each("mode", ["fused", "off"])
@each("kind", ["list", "running", "foreign", "manual", "observed"])
@ANY
def test_a_second_subscription_starts_clean(case: Case, kind: str, mode: str) -> None:
    made = bench(case, kind, mode)
    first = made.run(TestSubscriber(cancel_after=1))
    for _ in range(2):
        again = made.run()
        again.assert_complete()
        check_values(case, again.values, case.expected(list(case.items)))
    assert len(first.values) <= 1


@PAIR
@ANY
def test_nothing_comes_after_cancel_from_on_next(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode)
    got = made.run(TestSubscriber(cancel_after=2))
    wanted = case.expected(list(case.items))
    assert len(got.values) == min(2, len(wanted))
    if len(wanted) > 2:
        got.assert_not_terminated()
    if kind in WATCHED and made.source.active is not None:
        assert made.source.active() == 0


@PAIR
@ANY
def test_cancel_between_signals_reaches_the_source(case: Case, mode: str, kind: str) -> None:
    made = bench(case, kind, mode)
    got = made.subscribe(TestSubscriber(request=1))
    made.source.pump()
    made.kit.clock.run_due()
    had, ended = len(got.values), got.is_terminated
    got.cancel()
    made.settle()
    assert len(got.values) == had
    assert got.is_terminated == ended
    got.assert_valid()
    if made.source.active is not None:
        assert made.source.active() == 0


def test_the_standard_items_exercise_the_operators() -> None:
    # A table whose expectations are all the same would not notice much.
    assert len({repr(case.expected(list(ITEMS))) for case in TABLE}) > 45
