"""What random pipelines are drawn from, and the tools around them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.invisible.push import judging, library, sources
from tests.invisible.push.describing import program
from tests.invisible.push.drawing import Drawing
from tests.invisible.push.drawing_table import OPERATORS, SOURCES
from tests.invisible.push.judging import Judge
from tests.invisible.push.library import FUSED, ITERATED, OBSERVABLE, possible_forms, respond
from tests.invisible.push.operator_table import OPERATORS as REFERENCE_OPERATORS
from tests.invisible.push.reading import names
from tests.invisible.push.running import Demanding, refer
from tests.invisible.push.shrinking import shrunk
from tests.invisible.push.source_table import SOURCES as REFERENCE_SOURCES
from tests.recorded.cases import HotSource, Subscriber, Trace

#: Known to the reference for recorded pipelines. An interval is drawn with a take behind it, as ``ticks``.
ONLY_RECORDED: Final = frozenset(("interval", "pick", "defer_throw", "fail"))


def case(source: Any, *operators: Any, hot: tuple[HotSource, ...] = (), subscriber: Subscriber | None = None) -> Trace:
    return Trace(0, source, operators, (subscriber or Subscriber("d0", 0, None, None),), hot, 8_000, {})


def test_every_source_and_operator_of_the_reference_is_drawn() -> None:
    assert REFERENCE_SOURCES.keys() - ONLY_RECORDED == SOURCES.keys() - {"ticks"}
    drawn = {name for table in OPERATORS.values() for name in table}
    assert {name for table in REFERENCE_OPERATORS.values() for name in table} == drawn


def test_the_same_seed_draws_the_same_case() -> None:
    assert [Drawing().case(seed) for seed in range(50)] == [Drawing().case(seed) for seed in range(50)]
    assert len({str(Drawing().case(seed)) for seed in range(50)}) > 45


def test_a_case_has_the_operator_it_is_drawn_for() -> None:
    drawing = Drawing()
    for name in drawing.names():
        made = drawing.case_with(name, 1)
        assert name in names((made.source, made.operators)) or name == "ticks"


def test_nearly_all_cases_are_compared() -> None:
    """Where the answer hinges on how items are fetched nothing is said: that must be rare."""
    judge, drawing = Judge(), Drawing()
    unsaid = [seed for seed in range(300) if judge.expected(drawing.case(seed), FUSED) is None]
    assert len(unsaid) < 6


def test_hot_timed_lossy_and_foreign_sources_come_several_at_once() -> None:
    seen = [names((made.source, made.operators)) for made in map(Drawing().case, range(300))]
    lively = [sum(name in ("hot", "create", "foreign", "paced", "timer", "interval") for name in each) for each in seen]
    assert sum(count >= 2 for count in lively) > 60


def test_long_cases_have_more_items_than_an_operator_asks_for_at_a_time() -> None:
    answers = [refer(Drawing(long=True).case(seed)) for seed in range(100)]
    assert sum(any(len(signals) > 128 for signals in answer.values()) for answer in answers) > 5


def test_what_needs_no_clock_is_compared_in_a_for_loop() -> None:
    judge, untimed = Judge(), [Drawing(untimed=True).case(seed) for seed in range(100)]
    expected = [judge.expected(made, FUSED) for made in untimed]
    looped = [judge.iterated(made, answer) for made, answer in zip(untimed, expected, strict=True) if answer is not None]
    assert sum(answer is not None for answer in looped) > 30


@pytest.mark.parametrize(
    ("source", "because"),
    [
        ({"s": "timer", "ms": 1}, "it would wait for the clock"),
        ({"s": "never"}, "it would wait for ever"),
        ({"s": "hot", "id": "h0"}, "it would wait for the times at which the hot source gives something"),
        ({"s": "create", "script": [["n", item] for item in range(200)], "strategy": "LATEST"}, "a loop asks for 128"),
    ],
)
def test_what_a_for_loop_would_wait_for_or_get_otherwise_is_not_compared(source: Any, because: str) -> None:
    made = case(source, hot=(HotSource("h0", "publish", ((100, "n", 3), (250, "c"))),))
    assert Judge().differences(made, [ITERATED]) == [], because


def test_a_difference_in_a_for_loop_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(made: Trace, form: object) -> Any:
        return {name: got[:100] if form == ITERATED else got for name, got in refer(made).items()}

    monkeypatch.setattr(judging, "respond", forgetful)
    found = Judge().differences(case({"s": "range", "a": 0, "n": 200}))
    assert [str(each.form) for each in found] == ["a for loop"]
    assert Judge().smallest(found[0]).case == case({"s": "range", "a": 0, "n": 100})


def test_a_loop_that_waits_for_ever_is_reported_as_one_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "MOST_SECONDS", 0.05)
    assert respond(case({"s": "never"}), ITERATED) == {"failed": [[0, "it does not end"]]}


def test_a_case_is_a_program_to_be_read() -> None:
    hot = HotSource("h0", "publish", ((100, "n", 3), (250, "c")))
    made = case(
        {"s": "pipe", "src": {"s": "hot", "id": "h0"}, "ops": [{"o": "filter", "p": {"f": "x>2"}}], "probe": "p"},
        {"o": "flat_map", "g": {"s": "timer", "ms": "$*97"}, "maxc": 2, "t": 4},
        hot=(hot,),
        subscriber=Demanding("d0", 5, None, 2, first=1, later=((90, 3),)),
    )
    assert program(made).splitlines() == [
        "    h0 = publish processor; 100 ms: on_next(3), 250 ms: on_complete()",
        "    flow = h0.filter(x>2) (behind a foreign publisher).flat_map(lambda x: timer(x *97), most=2) [fails for 4]",
        "    d0: subscribes at 5 ms, requests 1, 0 with each item, 3 at 90 ms, cancels after 2 items",
    ]


def test_a_case_is_made_as_small_as_it_can_be() -> None:
    large = case(
        {"s": "merge", "xs": [{"s": "range", "a": 0, "n": 5}, {"s": "hot", "id": "h0"}], "probe": "p"},
        {"o": "filter", "p": {"f": "true", "t": 7}},
        {"o": "take", "n": 4},
        {"o": "map", "f": {"f": "x+1"}},
        hot=(HotSource("h0", "replay", ((100, "n", 3), (250, "c"))),),
    )
    small = shrunk(large, lambda each: any("n" in operator for operator in each.operators))
    assert small == case({"s": "empty"}, {"o": "take", "n": 0})


def test_a_small_case_still_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that loses what comes after 1000 ms: the smallest program that shows it."""

    def forgetful(made: Trace, form: object) -> Any:
        return {name: [signal for signal in got if signal[0] < 1_000] for name, got in refer(made).items()}

    monkeypatch.setattr(judging, "respond", forgetful)
    late = case({"s": "timer", "ms": 1_500}, {"o": "map", "f": {"f": "x+1"}}, {"o": "delay", "ms": 100})
    difference = Judge().differences(late, [FUSED])[0]
    small = Judge().smallest(difference)
    assert small.case == case({"s": "timer", "ms": 1_500})
    assert small.expected == {"d0": [[1_500, "next 0"], [1_500, "complete"]]}
    assert "timer(1500)" in str(small)


def test_an_observable_has_no_demand() -> None:
    lossy = case({"s": "range", "a": 0, "n": 2}, {"o": "bp_drop"})
    asking = case({"s": "range", "a": 0, "n": 2}, subscriber=Demanding("d0", 0, None, None, first=1))
    plain = case({"s": "range", "a": 0, "n": 2})
    assert OBSERVABLE not in possible_forms(lossy)
    assert OBSERVABLE not in possible_forms(asking)
    assert OBSERVABLE in possible_forms(plain)


def test_items_that_were_not_requested_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = case({"s": "foreign", "v": [1, 2]}, subscriber=Demanding("d0", 0, None, None, first=1))
    assert refer(asking)["d0"][:1] == [[0, "next 1"]]
    assert respond(asking, FUSED) == refer(asking)

    def send_all(listed: sources.Listed, _n: float) -> None:
        listed.wanted = 9
        listed.gate.run()

    monkeypatch.setattr(sources.Listed, "request", send_all)
    assert [0, "it was not requested"] in refer(asking)["d0"]


def test_subscribers_come_late_leave_early_and_request_little() -> None:
    made = [subscriber for seed in range(100) for subscriber in Drawing(demanding=True).case(seed).subscribers]
    assert all(isinstance(subscriber, Demanding) for subscriber in made)
    assert any(subscriber.at for subscriber in made)
    assert any(subscriber.cancel_at is not None for subscriber in made)
    assert any(subscriber.cancel_after is not None for subscriber in made)
