"""Compiled shapes: what the generated code does that its stages alone do not show."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rx_fusion import Feed, Form, IterableHead, PlainFlow, PublisherHead, shape_of, stage
from rx_fusion._notes import GENERATED
from rx_fusion._stage_writer import _TAKEN
from rx_testing import ManualPublisher, ManualSubscription, TestSubscriber

CLEAN = Form("pull", Feed.CLEAN)
ORIGIN = IterableHead("test", (), "test()")


@stage
def each(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        yield function(item)


@stage
def first(source: Iterable[Any], count: int) -> Iterator[Any]:
    taken = 0
    for item in source:
        taken += 1  # noqa: SIM113  # the form of a stage
        yield item
        if taken == count:
            return


@stage
def ending(source: Iterable[Any], end: Any) -> Iterator[Any]:
    for item in source:  # noqa: UP028  # the form of a stage
        yield item
    yield end


@stage
def double(source: Iterable[Any]) -> Iterator[Any]:
    for item in source:
        yield item
        yield item


@stage
def counted(source: Iterable[Any]) -> Iterator[Any]:
    total = 0
    for _item in source:
        total += 1
    yield total


def pull(items: Iterable[Any], *stages: tuple[Any, ...]) -> list[Any]:
    shape = shape_of([function for function, *_ in stages])
    function = shape.form(CLEAN)
    assert function is not None
    return list(function(iter(items), None, ORIGIN, tuple(arg for _, *args in stages for arg in args)))


def marks(items: Iterable[Any], *stages: tuple[Any, ...]) -> list[bool]:
    shape = shape_of([function for function, *_ in stages])
    function = shape.form(Form("pull", Feed.CLEAN, cancel=True, mark_last=True))
    assert function is not None
    run = SimpleNamespace(stopped=False, last=False)
    args = tuple(arg for _, *args in stages for arg in args)
    return [run.last for _ in function(iter(items), run, ORIGIN, args)]


def test_a_stage_that_stops_lets_only_later_stages_run_their_ends() -> None:
    assert pull("abcd", (ending, "before"), (first, 2), (ending, "after")) == ["a", "b", "after"]
    assert pull("a", (ending, "before"), (first, 2), (ending, "after")) == ["a", "before", "after"]
    assert pull("abcd", (first, 2), (ending, "after"), (first, 1)) == ["a"]


def test_the_last_item_is_marked_before_it_is_given() -> None:
    assert marks("abc", (first, 2)) == [False, True]
    assert marks("abc", (first, 2), (each, str)) == [False, True]


def test_nothing_is_marked_in_front_of_stages_that_may_give_more() -> None:
    assert marks("abc", (first, 2), (double,)) == [False] * 4
    assert marks("abc", (first, 2), (ending, "x")) == [False] * 3


def test_take_is_over_before_its_last_item_is_pushed() -> None:
    # A publisher that answers a cancel from inside on_next with one more element is within its rights (RS 2.8).
    source: ManualPublisher[int] = ManualPublisher(unchecked=True)
    got: TestSubscriber[int] = TestSubscriber(on_value=lambda item: source.next(item + 1))
    PlainFlow[int](PublisherHead("wrap", source, "wrap()"), shape_of([first]), (2,)).subscribe(got)
    source.next(1)
    got.assert_result(1, 2)
    assert source.cancelled


def test_the_value_form_returns_the_first_item_and_reads_no_further() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for item in range(9):
            read.append(item)
            yield item

    function = shape_of([each]).form(Form("value", Feed.CHECKED))
    assert function is not None
    assert function(items(), None, ORIGIN, (str,)) == "0"
    assert read == [0]


def in_module(folder: Path, name: str, constant: int) -> Any:
    """A stage called ``same`` with a global, a local and an argument that other modules have too."""
    path = folder / f"{name}.py"
    text = (
        f"FACTOR = {constant}\n\n\ndef helper(x):\n    return x * FACTOR\n\n\ndef same(source, extra):\n    state = FACTOR\n"
        "    for item in source:\n        state += 1\n        yield helper(item) + extra + state\n"
    )
    path.write_text(text, encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), namespace)
    return stage(namespace["same"])


def test_stages_with_the_same_names_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    one, two = in_module(tmp_path, "one", 10), in_module(tmp_path, "two", 100)
    stacked = list(two(one([1, 2, 3], 1), 2))
    assert pull([1, 2, 3], (one, 1), (two, 2)) == stacked
    assert pull([1, 2, 3], (two, 1), (one, 2), (two, 3)) == list(two(one(two([1, 2, 3], 1), 2), 3))


def calling(folder: Path, name: str) -> Any:
    """A stage that calls a function of its module by this name, with a state and an end."""
    text = (
        f"def {name}(x):\n    return x + 1\n\n\ndef adds(given):\n    seen = 0\n"
        f"    for item in given:\n        seen += 1\n        if item > 2:\n            return\n        yield {name}(item)\n"
        f"    yield {name}(seen)\n"
    )
    path = folder / f"module_{name}.py"
    path.write_text(text, encoding="utf-8")
    namespace: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), namespace)
    return stage(namespace["adds"])


@pytest.mark.parametrize("name", [*sorted(_TAKEN), "item_0", "seen_1", "iter", "Exception", "_close"])
def test_a_function_of_a_stages_module_may_be_called_as_what_is_written_around_the_stage(tmp_path: Path, name: str) -> None:
    made = calling(tmp_path, name)
    assert pull([1, 2, 3, 4], (made,)) == [2, 3]
    assert pull([1, 2], (each, int), (made,)) == [2, 3, 3]
    assert shape_of([made]).form(Form("value", Feed.CHECKED))(iter([1]), None, ORIGIN, ()) == 2  # type: ignore[misc]  # it compiles
    for feed in Feed:
        got: TestSubscriber[int] = TestSubscriber()
        source = ManualPublisher[int]()
        head = (
            PublisherHead("wrap", source, "wrap()") if feed is Feed.RUNNING else IterableHead("of", range(5), "of()", feed=feed)
        )
        PlainFlow[int](head, shape_of([made]), ()).subscribe(got)
        if feed is Feed.RUNNING:
            for item in range(5):
                source.next(item)
        got.assert_result(1, 2, 3)


def test_the_same_stage_twice_keeps_two_states() -> None:
    assert pull("abcdef", (first, 4), (first, 2)) == ["a", "b"]
    assert pull("abc", (counted,), (counted,)) == [1]


def fail_at_b(item: object) -> object:
    if item == "b":
        raise ZeroDivisionError
    return item


def test_generated_code_can_be_read_where_it_fails() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        pull("ab", (each, str), (each, fail_at_b))
    frames = traceback.extract_tb(caught.value.__traceback__)
    frame = next(entry for entry in frames if entry.filename.startswith("<rx "))
    assert "each·each" in frame.filename
    assert "function_1(" in (frame.line or "")
    linecache.checkcache()
    assert linecache.getline(frame.filename, frame.lineno or 0)
    assert [stage.name for stage in GENERATED[frame.filename]] == ["each", "each"]


def test_a_note_names_the_stage_that_failed_and_the_pipeline() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        pull("ab", (each, str), (each, fail_at_b), (each, repr))
    assert caught.value.__notes__ == ["in each(fail_at_b) of test().each(str).each(fail_at_b).each(repr)"]


def test_an_error_of_the_source_gets_no_note() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("disk")

    with pytest.raises(OSError, match="disk") as caught:
        pull(items(), (each, str))
    assert not hasattr(caught.value, "__notes__")


def test_too_many_expanding_stages_are_stacked_instead() -> None:
    shape = shape_of([double] * 12)
    assert shape.form(CLEAN) is None
    flow: PlainFlow[int] = PlainFlow(IterableHead("range", range(1), "range(1)", feed=Feed.CLEAN), shape, ())
    got: TestSubscriber[int] = TestSubscriber()
    flow.subscribe(got)
    got.assert_value_count(2**12).assert_complete()


def without_text() -> Any:
    namespace: dict[str, Any] = {}
    exec("def typed(source, n):\n    for item in source:\n        yield item * n\n", namespace)
    return stage(namespace["typed"])


def test_a_stage_without_source_text_runs_over_what_can_be_iterated() -> None:
    shape = shape_of([without_text()])
    flow: PlainFlow[int] = PlainFlow(IterableHead("range", range(3), "range(3)", feed=Feed.CLEAN), shape, (2,))
    got: TestSubscriber[int] = TestSubscriber(request=1, request_in_on_next=1)
    flow.subscribe(got)
    got.assert_result(0, 2, 4)


def test_a_stage_without_source_text_says_so_over_what_may_have_to_wait() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    PlainFlow[int](PublisherHead("wrap", source, "wrap()"), shape_of([without_text()]), (2,)).subscribe(got)
    got.assert_error(TypeError, match=r"typed has no source text(.|\n)*Define the stage in a module file")
    assert not source.subscriptions


@stage
def annotated(source: Iterable[Any], limit: int) -> Iterator[Any]:
    total: int = 0
    for item in source:
        before: int = total
        after: int
        after = total + item
        total = after
        if before >= limit:
            yield total
            return
    yield -total


def sending(items: range) -> Callable[[ManualSubscription[int], int], object]:
    return lambda subscription, _n: subscription.next(*items)


def test_a_stage_may_annotate_its_variables_in_every_form() -> None:
    for items, limit, expected in ((range(9), 4, 10), (range(3), 4, -3)):
        head = IterableHead("range", items, "range()", feed=Feed.CLEAN)
        flow: PlainFlow[int] = PlainFlow(head, shape_of([annotated]), (limit,))
        source: ManualPublisher[int] = ManualPublisher(on_request=sending(items))
        pushed: PlainFlow[int] = PlainFlow(PublisherHead("wrap", source, "wrap()"), shape_of([annotated]), (limit,))
        got: TestSubscriber[int] = TestSubscriber()
        flow.subscribe(got)
        got.assert_result(expected)
        got = TestSubscriber()
        pushed.subscribe(got)
        if not got.is_terminated:
            source.complete()
        got.assert_result(expected)


@stage
def anything(source: Iterable[Any]) -> Iterator[bool]:
    for item in source:
        if item:
            yield True
            return
    yield False


def test_an_item_before_a_return_is_the_last_and_the_end_comes_with_it() -> None:
    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            yield from (0, 1, 2)
        finally:
            closed.append(True)

    flow: PlainFlow[bool] = PlainFlow(IterableHead("items", items(), "items()", feed=Feed.CHECKED), shape_of([anything]), ())
    got: TestSubscriber[bool] = TestSubscriber(request=1)
    flow.subscribe(got)
    got.assert_result(True)
    assert closed


def around(amount: int) -> Any:
    @stage
    def added(source: Any) -> Any:
        for item in source:
            yield item + amount

    return added


def test_a_stage_that_uses_a_variable_around_it_says_so_over_what_may_have_to_wait() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[int] = TestSubscriber()
    PlainFlow[int](PublisherHead("wrap", source, "wrap()"), shape_of([around(2)])).subscribe(got)
    got.assert_error(TypeError, match=r"added uses amount of the function around it(.|\n)*Make amount an argument of the stage")
    assert "no source text" not in str(got.error)
