"""JSON of one object a line: what Spark's reader loses or changes in silence is a bad record."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rx_spark
from rx_fusion.symbols import it
from rx_spark import BadRecordError, BadRecords, SparkConfig

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


@dataclass(frozen=True)
class Item:
    id: int
    s: str


@dataclass(frozen=True)
class Inner:
    name: str | None


@dataclass(frozen=True)
class Deep:
    id: int
    tags: list[str] | None
    inner: Inner | None
    names: dict[str, str] | None
    at: datetime.datetime | None


NOT_ONE, NO_TEXT = "it is not one JSON object", "it gives no str for s"
HALF = "it has half of a character, an unpaired surrogate"
BAD = [
    ('{"id":1,"s":"a"}{"id":2,"s":"b"}', NOT_ONE),
    ('{"id":1,"s":"a"} {"id":2,"s":"b"}', NOT_ONE),
    ('{"id":1,"s":"a"},{"id":2,"s":"b"}', NOT_ONE),
    ('{"id":3,"s":"c"} garbage', NOT_ONE),
    ('{"id":3,"s":"c"},', NOT_ONE),
    ('{"id":3,"s":"c"}]', NOT_ONE),
    ('{"id":3,"s":"c"}}', NOT_ONE),
    ('{"id":3,"s":"c"}]}', NOT_ONE),
    ('{"id":3,"s":"c"},"x":5', NOT_ONE),
    ('{"id":3,"s":"c"}],"x":[1', NOT_ONE),
    ('[{"id":3,"s":"c"}]', "it gives no int for id, no str for s"),
    ('{"id":4,"s":7}', NO_TEXT),
    ('{"id":4, "s": 7, "t": "7"}', NO_TEXT),
    ('{"id":4,"s":{"s": "7"}}', NO_TEXT),
    ('{"id":5,"s":{"x":1}}', NO_TEXT),
    ('{"id":5,"s":["x"]}', NO_TEXT),
    ('{"id":5,"s":true}', NO_TEXT),
    ('{"id":5,"s":1.50}', NO_TEXT),
    (r'{"id":6,"s":"\ud800"}', HALF),
    (r'{"id":6,"s":"\\\uDC00\ud800"}', HALF),
    (r'{"id":6,"s":"\ud83d x \ude00"}', HALF),
]
GOOD = [
    ('{"id":1,"s":"a"}', "a"),
    ('  {"id":1, "s": "a}"} \t', "a}"),
    ('{"id":1,"s":"7"}', "7"),
    ('{"id":1,"s" : "7", "x": {"s": 5}}', "7"),
    ('{"s":"{}{}","id":1}', "{}{}"),
    (r'{"id":1,"s":"\ud83d\ude00"}', "\U0001f600"),
    (r'{"id":1,"s":"\\ud800"}', r"\ud800"),
    (r'{"id":1,"s":"\u00e4"}', "ä"),
    ("{'id':1,'s':'x'}", "x"),
    ('{"id":1,"s":""}', ""),
]


def test_what_spark_loses_or_changes_is_a_bad_record(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.json"
    lines = [line for pair in zip(BAD, [*GOOD, *GOOD, *GOOD], strict=False) for line in (pair[0][0], pair[1][0], "")]
    path.write_text("\n".join(lines))
    bad = BadRecords()
    flow = rx_spark.json(path, schema=Item, on_bad="collect", bad=bad, config=spark_config)
    expected = sorted([*GOOD, *GOOD, *GOOD][at][1] for at in range(len(BAD)))
    assert sorted(item.s for item in flow.to_list().blocking_get()) == expected
    assert [(record.text, record.reason) for record in bad.records] == BAD
    assert [record.line for record in bad.records] == [1 + 3 * at for at in range(len(BAD))]
    assert flow.filter(it.id == 1).count().blocking_get() == len(BAD)
    assert (bad.count, len(bad.records)) == (2 * len(BAD), 2 * len(BAD))
    with pytest.raises(BadRecordError):
        rx_spark.json(path, schema=Item, config=spark_config).count().blocking_get()


@pytest.mark.parametrize(
    ("rest", "field"),
    [
        ('"tags": ["a", 7]', "list[str] for tags"),
        ('"tags": ["a", {}]', "list[str] for tags"),
        ('"inner": {"name": 5}', "Inner for inner"),
        ('"names": {"a": "b", "c": false}', "dict[str, str] for names"),
        ('"at": 1577836800', "datetime for at"),
    ],
)
def test_inside_values_text_is_text_too(rest: str, field: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.json"
    good = '{"id": 1, "tags": ["7", null], "inner": {"name": "x"}, "names": {"a": "1"}, "at": "2026-01-01T00:00:00Z"}'.replace(
        ", null", ""
    )
    path.write_text(f'{good}\n{{"id": 2, {rest}}}\n{{"id": 3, "inner": {{"name": null}}}}\n')
    bad = BadRecords()
    flow = rx_spark.json(path, schema=Deep, on_bad="collect", bad=bad, config=spark_config)
    at = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    assert sorted(flow.to_list().blocking_get(), key=lambda deep: deep.id) == [
        Deep(1, ["7"], Inner("x"), {"a": "1"}, at),
        Deep(3, None, Inner(None), None, None),
    ]
    assert [(record.line, record.reason) for record in bad.records] == [(2, f"it gives no {field}")]


def test_without_a_class_numbers_may_be_text_but_nothing_is_lost(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.json").write_text(
        '{"id":1,"s":"a"}{"id":2,"s":"b"}\n{"id":3,"s":7}\n{"id":4,"s":"x"} y\n{"id":5,"s":"\\ud800"}\n'
    )
    bad = BadRecords()
    flow: Any = rx_spark.json(tmp_path, on_bad="collect", bad=bad, config=spark_config)
    assert [(row.id, row.s) for row in flow.to_list().blocking_get()] == [(3, "7")]
    assert [record.line for record in bad.records] == [1, 3, 4]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_are_no_part_of_a_record(ending: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + f'{{"id":1,"s":"a"}}{ending}{{"id":2,"s":"b"}}{ending}'.encode())
    flow = rx_spark.json(tmp_path, schema=Item, config=spark_config)
    assert sorted(item.s for item in flow.to_list().blocking_get()) == ["a", "b"]


def test_bytes_that_are_no_ascii_are_told(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.json").write_bytes('{"id":1,"s":"ä"}\n{"id":2,"s":"b"}\n'.encode())
    bad = BadRecords()
    flow = rx_spark.json(tmp_path, schema=Item, encoding="ascii", on_bad="collect", bad=bad, config=spark_config)
    assert flow.to_list().blocking_get() == [Item(2, "b")]
    assert [(record.line, record.reason) for record in bad.records] == [(1, "it has bytes that are no ascii")]
