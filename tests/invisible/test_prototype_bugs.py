"""The bugs that prototypes had, by name: each in every form."""

from __future__ import annotations

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher, ManualSubscription, TestSubscriber
from tests.invisible.describe import Fn, Op, Pipeline
from tests.invisible.forms import HOT, MODES, Mode, blocking_list, iterate, run, switched
from tests.invisible.judging import Judge
from tests.invisible.recording import ALL, Called, Script, Step

EVERY = pytest.mark.parametrize("mode", MODES, ids=str)


def check(pipeline: Pipeline, mode: Mode, *scripts: Script) -> None:
    for script in scripts:
        Judge(pipeline, mode).check(run(pipeline, mode, script), script)


ONE_BY_ONE = Script((Step(1),) * 8)


@EVERY
@pytest.mark.parametrize("stop", [Op("take", (2,)), Op("take_while", (Fn("while", "small"),)), Op("element_at", (1,))], ids=repr)
def test_a_stop_at_one_stage_runs_the_ends_of_later_stages_only(stop: Op, mode: Mode) -> None:
    """buffer before the stop keeps its rest, buffer behind it gives it; what hears of ends hears of its own."""
    ends = [Op("do_on_complete", (Fn(f"end{at}", "nothing"),)) for at in range(2)]
    pipeline = Pipeline(Op("of", (0, 1, 2, 9, 3)), (ends[0], stop, Op("buffer", (4,)), ends[1]))
    check(pipeline, mode, ALL, ONE_BY_ONE)
    called = [entry.fn for entry in run(pipeline, mode, ALL).log.entries if isinstance(entry, Called)]
    assert "end0" not in called
    assert called.count("end1") == 1
    early = Pipeline(Op("of", (0, 1, 2, 9, 3)), (Op("buffer", (2,)), Op("take", (1,)), Op("scan", (Fn("scan", "total"), 5))))
    check(early, mode, ALL, ONE_BY_ONE)


@EVERY
@pytest.mark.parametrize("count", [1, 2, 3])
def test_take_marks_its_last_item_before_it_gives_it(count: int, mode: Mode) -> None:
    """A publisher that answers from inside request, while it is in on_next, would deliver another one (re-entrant push)."""

    def answer(subscription: ManualSubscription[int], n: object) -> None:
        while subscription.outstanding > 0 and not subscription.cancelled and subscription.sent < 10:
            subscription.next(subscription.sent + 1)

    publisher: ManualPublisher[int] = ManualPublisher(unchecked=True, on_request=answer)
    got = TestSubscriber[int](request=1, request_in_on_next=1)
    with switched(mode):
        Flowable.wrap(publisher).take(count).map(lambda x: x).subscribe(got)
    got.assert_result(*range(1, count + 1))
    assert publisher.cancelled
    # And over a source of ours it ends with its last item, without a further request.
    if mode.marks:
        short = TestSubscriber[int](request=count)
        with switched(mode):
            Flowable.range(10).take(count).map(lambda x: x).subscribe(short)
        short.assert_result(*range(count))


@EVERY
def test_nobody_peeks_at_the_source_behind_a_stage_that_expands(mode: Mode) -> None:
    """Two items for one: when the first was asked for, the source is not asked whether there is more."""
    pipeline = Pipeline(
        Op("logged", ("source", (5, 8, 2), False)),
        (Op("flat_map_iterable", (Fn("expand", "copies"),)), Op("map", (Fn("behind", "next"),))),
    )
    check(pipeline, mode, ONE_BY_ONE, ALL, Script((Step(2), Step(1), Step(1))), Script((Step(1), Step(1)), cancel_in=2))
    if not mode.apart:
        after_one = run(pipeline, mode, Script((Step(1),))).until(1)
        asked = [entry.args for entry in after_one if isinstance(entry, Called) and entry.fn == "source"]
        assert asked == [(0,)]


@EVERY
@pytest.mark.parametrize(
    ("name", "kind", "on"),
    [
        ("map", "next", 4),
        ("filter", "odd", 4),
        ("take_while", "small", 4),
        ("flat_map_iterable", "copies", 4),
        ("scan", "total", 2),
    ],
)
def test_a_stop_iteration_of_a_users_function_is_an_error_and_not_the_end(name: str, kind: str, on: int, mode: Mode) -> None:
    """The builtin map would swallow it."""
    pipeline = Pipeline(Op("of", (1, 2, 4, 3)), (Op(name, (Fn("user", kind, "stop", on),)), Op("to_list")))
    check(pipeline, mode, ALL, ONE_BY_ONE)
    judge = Judge(pipeline, mode, polled=True)
    assert judge.trace[-1].error == ("StopIteration", "user")  # type: ignore[union-attr]  # it is an End
    judge.check_whole(iterate(pipeline, mode))
    judge.check_result(blocking_list(pipeline, mode))


def test_the_forms_are_what_they_are_called() -> None:
    """Else the other tests would compare one form with itself."""
    with switched(HOT):
        assert Flowable.range(1).map(abs)._shape.is_hot(iter(()))
    names = [mode.name for mode in MODES]
    assert names == ["cold", "hot", "stacked", "off", "walls"]
