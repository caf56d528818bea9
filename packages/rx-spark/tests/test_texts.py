"""What is asked of a text as a column, and a row for each part of one: what Python would give, and no Python on the executors."""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rx_spark
from rx_fusion import fusion_off
from rx_fusion.symbols import call, expression_of, it
from rx_ops import Flowable, Row, stages, sym
from rx_spark import SparkConfig
from rx_spark._columns._column import NotAColumn, Rows
from rx_spark._columns._expressions import column_of
from rx_spark._columns._frames import FrameSource, Query, Select
from rx_spark._columns._rows import row_type
from rx_spark._columns._texts import SPACES
from rx_spark._pipelines._relational import taken
from rx_spark._session._session import engine


@dataclass(frozen=True)
class Line:
    n: int
    text: str
    note: str | None
    tags: list[str]


ROW = row_type(Line)
TEXTS = (
    "",
    " ",
    "a",
    "a b",
    " a  b ",
    "a\tb\nc\r\nd\x0b\x0ce",
    "a\x1cb\x1dc\x1ed\x1fe\x85f\xa0g",
    "a\u1680b\u2000c\u200ad\u2028e\u2029f\u202fg\u205fh\u3000i",
    "no\u180espace\u200bhere\ufeff",
    "a.b|c*d+e?f^g$h\\i(j)k[l]m{n}o",
    "ab" * 3,
    "aaaa",
    "ß.ſ",
    "\U0001f600 \U0001f601",
    "\0a\0",
    "--a----b-",
)
SEPARATORS = (
    *(" ", "  ", "a", "ab", "aa", "a b", "--", "-", ".b|", "#", "'", '"', "&&", "ß", "\U0001f600", "\n", "\0"),
    *(".", "|", "*", "+", "?", "^", "$", "\\", "(", ")", "[", "]", "{", "}", "\\E", "\\Q"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of lines."""
    for number, texts in enumerate((TEXTS[:7], TEXTS[7:])):
        columns = {
            "n": list(range(len(texts))),
            "text": list(texts),
            "note": [text or None for text in texts],
            "tags": [[text] for text in texts],
        }
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    return tmp_path


def test_spaces_are_those_of_python() -> None:
    assert "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isspace()) == SPACES


@pytest.mark.spark
def test_each_text_is_split_as_python_does(spark_config: SparkConfig) -> None:
    """All texts at all separators in one job."""
    frame = engine(spark_config).frames.createDataFrame([(text,) for text in TEXTS], "text string")
    made = [it.text.split(), it.text.split(None), *(it.text.split(each) for each in SEPARATORS)]
    columns = [column_of(expression_of(each), Rows(ROW, frozenset(ROW.names))) for each in made]
    found = frame.selectExpr("text", *(f"{column.sql} AS e{at}" for at, column in enumerate(columns))).collect()
    assert len(found) == len(TEXTS)
    for text, *parts in found:
        assert parts == [text.split(), text.split(), *(text.split(each) for each in SEPARATORS)], text


@pytest.mark.spark
def test_each_text_is_cut_as_python_does(spark_config: SparkConfig) -> None:
    """Ends taken off, characters replaced, and what is between two places."""
    frame = engine(spark_config).frames.createDataFrame([(text,) for text in TEXTS], "text string")
    places = (None, 0, 1, 2, 5, 40, -1, -2, -5, -40)
    made: list[Any] = [it.text[start:stop] for start in places for stop in places]
    made += [it.text.strip(), it.text.lstrip(None), it.text.rstrip()]
    for each in SEPARATORS:
        made += [it.text.strip(each), it.text.lstrip(each), it.text.rstrip(each), it.text.replace(each, "")]
        made += [it.text.find(each), it.text.count(each), call(operator.contains, it.text, each)]
        made += [it.text.replace(each, "<&>"), it.text.removeprefix(each), it.text.removesuffix(each)]
    functions = list(map(expression_of, made))
    columns = [column_of(function, Rows(ROW, frozenset(ROW.names))) for function in functions]
    for found in frame.selectExpr("text", *(f"{column.sql} AS e{at}" for at, column in enumerate(columns))).collect():
        text, *parts = found
        for function, part in zip(functions, parts, strict=True):
            assert part == function(Line(0, text, None, [])), f"{function!r} of {text!r}"


@pytest.mark.spark
def test_a_filter_by_what_is_in_a_text_is_told_to_the_scan(folder: Path, spark_config: SparkConfig) -> None:
    lines = rx_spark.parquet(folder, schema=Line, config=spark_config)
    found = lines.filter(call(operator.contains, it.text, "a b"))
    assert "StringContains(text,a b)" in found.explain()
    assert sorted(line.text for line in found.blocking_list()) == sorted(text for text in TEXTS if "a b" in text)
    assert lines.filter(it.text != "").filter(it.text.find("b") == 2).count().blocking_get() == sum(
        text.find("b") == 2 for text in TEXTS
    )


@pytest.mark.spark
def test_parts_of_text_are_keys_and_conditions_without_python(folder: Path, spark_config: SparkConfig) -> None:
    lines = rx_spark.parquet(folder, schema=Line, config=spark_config)
    counted = lines.filter(it.text.strip() != "").map(it.text.strip()[:1]).group_aggregate(it, n=it.count())
    assert "Python" not in counted.explain()
    expected = Counter(text.strip()[:1] for text in TEXTS if text.strip())
    assert counted.to_dict(lambda row: row.key, lambda row: row.n).blocking_get() == expected
    with pytest.raises(IndexError, match="string index out of range"):
        lines.map(it.text[0]).blocking_list()
    assert sorted(lines.filter(it.text != "").map(it.text[0]).blocking_list()) == sorted(text[0] for text in TEXTS if text)
    for build, error, said in (
        (it.note[:1], TypeError, "'NoneType' object is not subscriptable"),
        (it.note.strip(), AttributeError, "'NoneType' object has no attribute 'strip'"),
        (call(operator.contains, it.note, "a"), TypeError, "argument of type 'NoneType' is not iterable"),
        (it.text.index("a"), ValueError, "substring not found"),
    ):
        with pytest.raises(error, match=said):
            lines.map(build).blocking_list()


@pytest.mark.spark
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("symbol", [it.text.split(), it.text.split(" "), it.text.split("a"), it.text.split("ab")])
def test_a_row_for_each_part(symbol: Any, fused: bool, folder: Path, spark_config: SparkConfig) -> None:
    lines = [Line(0, text, None, []) for text in TEXTS]
    expected = Flowable.from_iterable(lines).flat_map_iterable(symbol).blocking_list()
    with nullcontext() if fused else fusion_off():
        words = rx_spark.parquet(folder, schema=Line, config=spark_config).flat_map_iterable(symbol)
        assert sorted(words.blocking_list()) == sorted(expected)
        assert words.count().blocking_get() == len(expected)
        assert sorted(words.distinct().blocking_list()) == sorted(set(expected))
        assert sorted(words.filter(it > "b").map(call(len, it)).blocking_list()) == sorted(len(w) for w in expected if w > "b")
        counted = Counter(expected)
        assert dict(words.group_reduce(lambda word: word, lambda _word: 1, lambda a, b: a + b).blocking_list()) == counted
        assert words.group_aggregate(it, n=it.count()).to_dict(lambda row: row.key, lambda row: row.n).blocking_get() == counted


@pytest.mark.spark
def test_words_are_counted_without_python(folder: Path, spark_config: SparkConfig) -> None:
    lines = rx_spark.parquet(folder, schema=Line, config=spark_config)
    text = lines.filter(it.n > 2).flat_map_iterable(it.text.split()).filter(it != "").group_aggregate(it, n=it.count()).explain()
    assert "· columns: filter(it.n > 2) → flat_map_iterable(it.text.split()) → filter(it != '') → group_aggregate(it" in text
    assert "GreaterThan(n,2)" in text
    assert "ReadSchema: struct<n:bigint,text:string>" in text
    assert "Python" not in text


@pytest.mark.spark
def test_lists_of_parts_are_items_and_fields(folder: Path, spark_config: SparkConfig) -> None:
    lines = rx_spark.parquet(folder, schema=Line, config=spark_config)
    assert sorted(lines.map(it.text.split(" ")).blocking_list()) == sorted(text.split(" ") for text in TEXTS)
    pairs = lines.map(sym(lambda line: (line.text, line.text.split())))
    assert sorted(pairs.blocking_list()) == sorted((text, text.split()) for text in TEXTS)
    made = lines.filter(it.n == 4).map(call(Line, it.n, it.text, it.note, it.text.split("a")))
    assert "Python" not in made.explain()
    assert sorted(line.tags for line in made.blocking_list()) == sorted(text.split("a") for text in (TEXTS[4], TEXTS[11]))


@pytest.mark.spark
@pytest.mark.parametrize(
    "build",
    [
        lambda lines: lines.flat_map_iterable(it.note.split()),
        lambda lines: lines.filter(it.n == 0).flat_map_iterable(it.note.split(" ")).filter(it == "never"),
        lambda lines: lines.map(it.note.split()),
        lambda lines: lines.flat_map_iterable(it.note.split()).count(),
    ],
)
def test_a_null_is_the_error_that_python_raises(build: Callable[[Any], Any], folder: Path, spark_config: SparkConfig) -> None:
    message = "'NoneType' object has no attribute 'split'"
    here = [Line(n, text, text or None, [text]) for n, text in enumerate(TEXTS)]
    for lines in (rx_spark.parquet(folder, schema=Line, config=spark_config), Flowable.from_iterable(here)):
        made = build(lines)
        with pytest.raises(AttributeError, match=message):
            made.blocking_get() if hasattr(made, "blocking_get") else made.blocking_list()


@pytest.mark.spark
def test_rows_without_a_class_and_text_of_a_single_column(folder: Path, spark_config: SparkConfig) -> None:
    lines = rx_spark.parquet(folder, config=spark_config)
    words = lines.filter(it.note != None).map(it.note).flat_map_iterable(it.split())  # noqa: E711  # an expression
    assert "Python" not in words.explain()
    assert sorted(words.blocking_list()) == sorted(word for text in TEXTS for word in text.split())
    often = [Row(key=word, n=n) for word, n in Counter(word for text in TEXTS for word in text.split()).items() if n > 1]
    assert sorted(words.group_aggregate(it, n=it.count()).filter(it.n > 1).blocking_list()) == sorted(often)


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        (it.text.split(" ", 1), "with a limit"),
        (it.text.split(""), "at this separator"),
        (it.text.split(it.note), "at this separator"),
        (it.text.split(1), "at this separator"),
        (it.text.split("\ud800"), "no lone surrogates"),
        (it.tags.split(" "), r"\.split\(\) is evaluated by Python"),
        (it.text.upper(), r"\.upper\(\) is evaluated by Python"),
        (it.text.strip(""), "with these arguments"),
        (it.text.strip(it.note), "with these arguments"),
        (it.text.strip("a", "b"), "with these arguments"),
        (it.text.strip("\ud800"), "no lone surrogates"),
        (it.text.replace("", "-"), "with these arguments"),
        (it.text.replace("a", it.note), "with these arguments"),
        (it.text.replace("a", "b", 1), "with a limit"),
        (it.text.find(""), "with these arguments"),
        (it.text.find("a", 1), "with these arguments"),
        (it.text.count(it.note), "with these arguments"),
        (call(operator.contains, it.tags, "a"), r"contains\(list\[str\], str\) is evaluated by Python"),
        (call(operator.contains, it.text, it.note), r"contains\(str, str \| None\) is evaluated by Python"),
        (it.text.removeprefix(""), "with these arguments"),
        (it.text.startswith(("a", "b")), r"\.startswith\(\) with these arguments|stays in Python"),
        (it.text[::2], "of a text is evaluated by Python"),
        (it.text["a"], "of a text is evaluated by Python"),
        (it.text[: 1 << 40], "between these places"),
        (it.text.split(" ")[0], r"\[0\] of a list\[str\]"),
    ],
)
def test_what_is_left_to_python(symbol: Any, reason: str) -> None:
    with pytest.raises(NotAColumn, match=reason):
        column_of(expression_of(symbol), Rows(ROW))


@dataclass(frozen=True)
class Page:
    first: Line


def test_a_list_inside_a_row_of_a_row_may_hold_a_null_and_is_left_to_python() -> None:
    pages = FrameSource(Query("SELECT"), row_type(Page)).then(Select(()))
    assert taken(stages.flat_map_iterable, (expression_of(it.first.text.split()),), pages).row.form == "value"
    with pytest.raises(NotAColumn, match=r"the items of a list\[str\] are taken by Python"):
        taken(stages.flat_map_iterable, (expression_of(it.first.tags),), pages)


@pytest.mark.spark
def test_what_is_no_split_is_flattened_by_python(folder: Path, spark_config: SparkConfig) -> None:
    lines = rx_spark.parquet(folder, schema=Line, config=spark_config)
    for symbol, reason in ((it.tags, "the items of a list[str] are taken by Python"), (it.text, "the items of a str are taken")):
        made = lines.filter(it.n == 1).flat_map_iterable(symbol)
        assert reason in made.explain()
        function = expression_of(symbol)
        wanted = [Line(1, text, None, [text]) for text in (TEXTS[1], TEXTS[8])]
        assert sorted(made.blocking_list()) == sorted(part for line in wanted for part in function(line))
    with pytest.raises(ValueError, match="empty separator"):
        lines.flat_map_iterable(it.text.split("")).blocking_list()
