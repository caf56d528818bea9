"""Marble diagrams are read and drawn, and say what is wrong with them."""

from __future__ import annotations

import pytest

from rx_testing import Mark, format_marbles, parse_doc_marbles, parse_marbles


def read(text: str, **options: object) -> list[tuple[float, str, object]]:
    return [(mark.at, mark.kind, mark.value) for mark in parse_marbles(text, **options).marks]  # type: ignore[arg-type]


def test_each_column_is_a_second() -> None:
    assert read("--a-b|") == [(2, "next", "a"), (4, "next", "b"), (5, "complete", None)]
    assert parse_marbles("--a-b|").seconds == 5


def test_a_frame_may_last_any_time() -> None:
    assert read("-a--b", frame=0.1) == [(0.1, "next", "a"), (0.4, "next", "b")]


def test_digits_are_numbers_and_values_decide_otherwise() -> None:
    assert read("1a") == [(0, "next", 1), (1, "next", "a")]
    assert read("1a", values={"a": [5]}) == [(0, "next", 1), (1, "next", [5])]
    assert read("1*", values={"*": "star", "1": "one"}) == [(0, "next", "one"), (1, "next", "star")]
    assert read("ab", values=str.upper) == [(0, "next", "A"), (1, "next", "B")]


def test_errors() -> None:
    oops = ValueError("oops")
    assert read("-#", error=oops) == [(1, "error", oops)]
    assert read("-#") == [(1, "error", None)]


def test_a_group_is_one_instant_and_takes_its_columns() -> None:
    assert read("-(ab|)") == [(1, "next", "a"), (1, "next", "b"), (1, "complete", None)]
    assert read("(ab)-c") == [(0, "next", "a"), (0, "next", "b"), (5, "next", "c")]


def test_spaces_take_no_time() -> None:
    assert read("  --a -b |") == read("--a-b|")


def test_time_counts_from_the_subscription() -> None:
    marbles = parse_marbles("-a-^-b-!")
    assert [(mark.at, mark.kind) for mark in marbles.marks] == [(-2, "next"), (0, "subscribe"), (2, "next"), (4, "cancel")]
    assert (marbles.start, marbles.seconds, marbles.cancelled_at) == (-3, 4, 4)
    assert [mark.kind for mark in marbles.signals] == ["next", "next"]


@pytest.mark.parametrize(
    ("text", "why", "column"),
    [
        ("--a|b", "nothing comes after", 4),
        ("-|-#", "nothing comes after", 3),
        ("^-^", "twice", 2),
        ("-!-!", "twice", 3),
        ("--(ab", r"there is no \)", 2),
        ("--ab)", "closed that was not opened", 4),
        ("(a-b)", "cannot be in a group", 2),
        ("(a(b))", "cannot be in a group", 2),
        ("a?b", "means nothing", 1),
    ],
)
def test_what_is_wrong_is_shown(text: str, why: str, column: int) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        parse_marbles(text)
    assert str(caught.value).splitlines()[-1] == " " * (column + 2) + "^"


@pytest.mark.parametrize("text", ["--a-b|", "-(ab|)", "a", "#", "--1-2#", "(ab)c|", "^--!"])
def test_what_was_read_can_be_drawn(text: str) -> None:
    marbles = parse_marbles(text)
    drawn = format_marbles(marbles.marks, seconds=marbles.seconds)
    assert drawn is not None
    assert parse_marbles(drawn).marks == marbles.marks


def test_drawing_uses_the_names_of_values_and_gives_up_where_columns_do_not_do() -> None:
    assert format_marbles((Mark(1, "next", "long"),), values={"a": "long"}, seconds=3) == "-a--"
    assert format_marbles((Mark(1, "next", "long"),)) is None
    assert format_marbles((Mark(0.5, "next", 1),)) is None
    assert format_marbles((Mark(0.5, "next", 1),), frame=0.5) == "-1"
    assert format_marbles((Mark(0, "next", 1), Mark(0, "next", 2), Mark(2, "next", 3))) is None  # inside the brackets


def test_marks_say_what_they_are() -> None:
    assert str(Mark(1.5, "next", 3)) == "1.5 s: on_next(3)"
    assert str(Mark(2, "complete")) == "2 s: on_complete()"
    assert str(Mark(2, "cancel")) == "2 s: cancel()"


# -- in docstrings


def test_a_drawing_has_sources_a_result_and_a_note() -> None:
    drawing = parse_doc_marbles("::  --1-2|  --3-4|  -->  --1-2--3-4|      (one after the other)")
    assert [len(each.marks) for each in drawing.inputs] == [3, 3]
    assert drawing.output == parse_marbles("--1-2--3-4|")
    assert drawing.note == "one after the other"


def test_a_drawing_of_a_source() -> None:
    assert parse_doc_marbles("::  1-2|").output == parse_marbles("1-2|")
    assert parse_doc_marbles("::  --").output == parse_marbles("--")


def test_tuples_lists_and_groups() -> None:
    drawing = parse_doc_marbles("::  --(1,2)--(ab|)  -->  ----[a,b]-|")
    assert [mark.value for mark in drawing.inputs[0].marks] == [(1, 2), "a", "b", None]
    assert drawing.output.marks[0].value == ["a", "b"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("text", "values"), [("1 2 3", (1, 2, 3)), ("[1, 2, 3]", ([1, 2, 3],)), ("3", (3,)), ("'a'", ("a",))])
def test_the_result_of_a_blocking_call(text: str, values: tuple[object, ...]) -> None:
    assert parse_doc_marbles(f"::  --1--2--3|  -->  {text}").output == values


@pytest.mark.parametrize(
    "line",
    [
        "--1--2|",
        "::  --1|  -->  whatever comes",
        "::  -->  --1|",
        "::  --1|  -->",
        "::  --1|  -->  --1|  -->  --1|",
        "::  --1|  --2|",
        "::  --1 --2|  -->  --1|",
        "::  --1|2  -->  --1|",
    ],
)
def test_what_is_no_drawing_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"drawing|values|marbles"):
        parse_doc_marbles(line)
