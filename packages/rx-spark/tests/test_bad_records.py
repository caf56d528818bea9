"""Records that do not fit: told with file and line, left out and counted, or collected; never lost in silence."""

from __future__ import annotations

import bz2
import gzip
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rx_spark
from rx_fusion import fusion_off
from rx_fusion.symbols import it
from rx_ops import Flowable
from rx_spark import BadFileError, BadRecord, BadRecordError, BadRecords, BadRecordWarning, SparkConfig

pytestmark = [pytest.mark.cluster, pytest.mark.spark]


@dataclass(frozen=True)
class Ride:
    id: int
    city: str
    km: float | None


GOOD = [Ride(1, "Ulm", 2.5), Ride(2, "Köln", None), Ride(7, "Ulm", 1.0)]
CSV = "id,city,km\n1,Ulm,2.5\n2,Köln,\nx,Bonn,3\n,Rom,1\n5,Paris\n6,Bern,1,2\n7,Ulm,1\n8,Bonn,y\n"
#: Line, what it says, what is wrong with it.
CSV_BAD = [
    (4, "x,Bonn,3", "it gives no int for id"),
    (5, ",Rom,1", "it gives no int for id"),
    (6, "5,Paris", "it gives no float for km"),
    (7, "6,Bern,1,2", "its values are not as many as the 3 columns"),
    (9, "8,Bonn,y", "it gives no float for km"),
]
JSON = (
    '{"id": 1, "city": "Ulm", "km": 2.5}\n{"id": 2, "city": "Köln"}\n{"id": "x", "city": "Bonn"}\n{"id": 4, "ci\n'
    '{"city": "Rom"}\n[1, 2]\n{"id": 7, "city": "Ulm", "km": 1.0}\n'
)


def places(bad: BadRecords) -> list[tuple[int | None, str, str]]:
    return [(record.line, record.text, record.reason) for record in bad.records]


def in_order(rides: list[Any]) -> list[Any]:
    return sorted(rides, key=repr)


@pytest.fixture
def rides(tmp_path: Path) -> Path:
    path = tmp_path / "a b.csv"  # a path that is another as a URL
    path.write_text(CSV)
    return path


# --- fail -------------------------------------------------------------------------------------------------------------


def test_a_bad_record_fails_the_stream_with_its_file_its_line_and_the_reason(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,city,km\n1,Ulm,2.5\nx,<city> ${x} SQLSTATE: P0001 \\,3\n")
    with pytest.raises(BadRecordError) as caught:
        rx_spark.csv(path, schema=Ride, config=spark_config).to_list().blocking_get()
    text = "x,<city> ${x} SQLSTATE: P0001 \\,3"
    assert caught.value.record == BadRecord(str(path), 21, 3, text, "it gives no int for id")
    assert str(caught.value) == f"{path}, line 3, byte 21: {text!r}: it gives no int for id"
    assert "on_bad='skip'; to see them as well:  on_bad='collect'" in "".join(caught.value.__notes__)


#: Pipelines that do not look at what is wrong, or filter the record away.
BLIND: dict[str, Callable[[Flowable[Ride]], Flowable[Any]]] = {
    "another column": lambda flow: flow.map(it.city),
    "count": lambda flow: flow.count().to_flowable(),
    "filter": lambda flow: flow.filter(it.city == "Ulm"),
    "filter of the bad field": lambda flow: flow.filter(it.id == 1),
    "filter, group": lambda flow: flow.filter(it.city == "Ulm").group_aggregate(it.city, n=it.count()),
    "distinct": lambda flow: flow.map(it.city).distinct(),
    "lambda": lambda flow: flow.map(lambda ride: ride.city),
    "driver": lambda flow: flow.map(it.city).scan(lambda first, second: first + second),
}


@pytest.mark.parametrize("make", BLIND.values(), ids=BLIND)
@pytest.mark.parametrize("line", ["x,Bonn,3", ",Rom,1"])
def test_no_filter_and_no_choice_of_columns_hides_a_bad_record(
    line: str, make: Callable[[Flowable[Ride]], Flowable[Any]], tmp_path: Path, spark_config: SparkConfig
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"id,city,km\n1,Ulm,2.5\n{line}\n")
    with pytest.raises(BadRecordError, match=f"line 3, .*{line}"):
        make(rx_spark.csv(path, schema=Ride, config=spark_config)).to_list().blocking_get()


def test_a_writer_leaves_nothing_behind_a_bad_record(rides: Path, tmp_path: Path, spark_config: SparkConfig) -> None:
    with pytest.raises(BadRecordError):
        rx_spark.csv(rides, schema=Ride, config=spark_config).write_parquet(tmp_path / "out").blocking_get()
    assert not (tmp_path / "out").exists()


# --- skip and collect -------------------------------------------------------------------------------------------------


def test_bad_records_of_csv_are_left_out_counted_and_collected(rides: Path, spark_config: SparkConfig) -> None:
    bad = BadRecords()
    flow = rx_spark.csv(rides, schema=Ride, on_bad="collect", bad=bad, config=spark_config)
    assert in_order(flow.to_list().blocking_get()) == in_order(GOOD)
    assert bad.count == 5
    assert places(bad) == CSV_BAD
    lines = CSV.encode().splitlines(keepends=True)
    assert [record.position for record in bad.records] == [len(b"".join(lines[: line - 1])) for line, _, _ in CSV_BAD]
    assert {record.path for record in bad.records} == {str(rides)}


def test_bad_records_of_json_are_left_out_counted_and_collected(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(JSON.encode() + b'{"id": 9, "city": "K\xff\xf6ln"}\n')
    bad = BadRecords()
    flow = rx_spark.json(path, schema=Ride, on_bad="collect", bad=bad, config=spark_config)
    assert in_order(flow.to_list().blocking_get()) == in_order(GOOD)
    assert bad.count == 5
    assert places(bad) == [
        (3, '{"id": "x", "city": "Bonn"}', "it gives no int for id"),
        (4, '{"id": 4, "ci', "it gives no int for id, no str for city"),
        (5, '{"city": "Rom"}', "it gives no int for id"),
        (6, "[1, 2]", "it gives no int for id, no str for city"),
        (8, '{"id": 9, "city": "K\ufffd\ufffdln"}', "it has bytes that are no utf-8"),
    ]


@pytest.mark.parametrize("make", BLIND.values(), ids=BLIND)
def test_the_count_does_not_depend_on_what_the_pipeline_does(
    make: Callable[[Flowable[Ride]], Flowable[Any]], rides: Path, spark_config: SparkConfig
) -> None:
    bad = BadRecords()
    made = make(rx_spark.csv(rides, schema=Ride, on_bad="skip", bad=bad, config=spark_config))
    local = make(Flowable.from_iterable(GOOD)).to_list().blocking_get()
    assert in_order(made.to_list().blocking_get()) == in_order(local)
    assert (bad.count, bad.records) == (5, ())
    with fusion_off():
        assert in_order(made.to_list().blocking_get()) == in_order(local)
    assert bad.count == 10


@pytest.mark.parametrize(
    "make",
    [
        lambda flow: flow.count().to_flowable().filter(lambda count: count > 0),
        lambda flow: flow.map(it.city).distinct(),
        lambda flow: flow.group_aggregate(it.city, n=it.count()).map(lambda row: row.n),
        lambda flow: flow.map(lambda ride: ride.city).distinct(),
    ],
    ids=["count", "distinct", "group, lambda", "lambda, distinct"],
)
def test_a_job_of_which_nothing_is_left_counts_all_the_same(
    make: Callable[[Flowable[Ride]], Flowable[Any]], rides: Path, spark_config: SparkConfig
) -> None:
    bad = BadRecords()
    flow = rx_spark.csv(rides, schema=Ride, on_bad="skip", bad=bad, config=spark_config)
    assert make(flow.filter(it.id < -5)).to_list().blocking_get() == []
    assert bad.count == 5


def test_where_spark_need_not_read_there_is_nothing_to_count(rides: Path, spark_config: SparkConfig) -> None:
    bad = BadRecords()
    flow = rx_spark.csv(rides, schema=Ride, on_bad="skip", bad=bad, config=spark_config)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BadRecordWarning)
        assert flow.filter(it.id != it.id).to_list().blocking_get() == []
    assert bad.count == 0


def test_a_job_that_is_cancelled_counts_nothing(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\n" + b"eins\n" * 100_000)
    bad = BadRecords()
    lines = rx_spark.text(tmp_path / "a.txt", on_bad="skip", bad=bad, config=spark_config)
    assert lines.take(1).to_list().blocking_get() == ["eins"]
    assert bad.count == 0


def test_a_writer_counts_what_it_leaves_out(rides: Path, tmp_path: Path, spark_config: SparkConfig) -> None:
    bad = BadRecords()
    flow = rx_spark.csv(rides, schema=Ride, on_bad="collect", bad=bad, config=spark_config)
    assert flow.write_parquet(tmp_path / "columns").blocking_get().rows == 3
    assert (bad.count, len(bad.records)) == (5, 5)
    assert flow.map(again).write_parquet(tmp_path / "python").blocking_get().rows == 3
    assert (bad.count, len(bad.records)) == (10, 10)
    flow.foreach_partition(list).blocking_await()
    assert bad.count == 15


def again(ride: Ride) -> Ride:
    return Ride(ride.id, ride.city, ride.km)


def test_what_is_left_out_uncounted_is_told_by_a_warning(rides: Path, spark_config: SparkConfig) -> None:
    flow = rx_spark.csv(rides, schema=Ride, on_bad="skip", config=spark_config)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert flow.count().blocking_get() == 3
    (told,) = [each for each in caught if each.category is BadRecordWarning]
    text = str(told.message)
    assert text.startswith(f"5 records of csv({str(rides)!r}) did not fit and were left out, such as:\n")
    assert text.count(f"\n  {rides}, line ") == 3
    assert "bad=rx_spark.BadRecords()" in text


def test_no_more_records_are_kept_than_were_asked_for(tmp_path: Path, spark_config: SparkConfig) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("id,city,km\n" + "".join(f"x{number:03},Ulm,\n" for number in range(500)))
    bad = BadRecords(limit=7)
    flow = rx_spark.csv(tmp_path, schema=Ride, on_bad="collect", bad=bad, config=spark_config)
    assert flow.to_list().blocking_get() == []
    assert bad.count == 1000
    assert [(record.path, record.line) for record in bad.records] == [(str(tmp_path / "a.csv"), line) for line in range(2, 9)]


def test_equal_bad_records_have_lines_of_their_own(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,city,km\nx,Ulm,\n1,Ulm,\nx,Ulm,\n" + "y" * 5000 + ",Ulm,\n")
    bad = BadRecords()
    rx_spark.csv(path, schema=Ride, on_bad="collect", bad=bad, config=spark_config).count().blocking_get()
    assert [(record.line, record.text) for record in bad.records] == [(2, "x,Ulm,"), (4, "x,Ulm,"), (5, "y" * 200)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gz", "bz2"])
def test_in_a_packed_file_the_line_is_found(
    pack: Callable[[bytes], bytes], request: pytest.FixtureRequest, tmp_path: Path, spark_config: SparkConfig
) -> None:
    path = tmp_path / f"a.csv.{request.node.callspec.id}"
    path.write_bytes(pack(CSV.encode()))
    bad = BadRecords()
    rx_spark.csv(path, schema=Ride, on_bad="collect", bad=bad, config=spark_config).count().blocking_get()
    assert places(bad) == CSV_BAD
    assert {record.position for record in bad.records} == {None}


def test_without_a_class_a_record_is_bad_that_has_another_number_of_values(rides: Path, spark_config: SparkConfig) -> None:
    bad = BadRecords()
    flow = rx_spark.csv(rides, on_bad="collect", bad=bad, config=spark_config)
    assert len(flow.to_list().blocking_get()) == 6
    assert [record.line for record in bad.records] == [6, 7]


def test_without_a_class_a_record_is_bad_that_is_no_json(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.json").write_text(JSON)
    bad = BadRecords()
    flow = rx_spark.json(tmp_path, on_bad="collect", bad=bad, config=spark_config)
    assert sorted(str(row.id) for row in flow.to_list().blocking_get()) == ["1", "2", "7", "None", "x"]
    assert [record.line for record in bad.records] == [4, 6]


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_an_empty_file_has_no_rows(kind: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a").touch()
    for schema in (None, Ride):
        assert getattr(rx_spark, kind)(tmp_path / "a", schema=schema, config=spark_config).to_list().blocking_get() == []


def test_json_of_which_no_record_fits_says_that_a_class_is_needed(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.json").write_text("nope\n[1]\n")
    with pytest.raises(ValueError, match=r"json\('.*'\): not one record says which columns there are"):
        rx_spark.json(tmp_path, on_bad="skip", config=spark_config)
    bad = BadRecords()
    flow = rx_spark.json(tmp_path, schema=Ride, on_bad="collect", bad=bad, config=spark_config)
    assert (flow.to_list().blocking_get(), [record.text for record in bad.records]) == ([], ["nope", "[1]"])


def test_only_folders_that_a_filter_leaves_are_read(tmp_path: Path, spark_config: SparkConfig) -> None:
    for city in ("Ulm", "Bonn"):
        folder = tmp_path / f"city={city}"
        folder.mkdir()
        (folder / "a.csv").write_text("id,km\n1,2.5\nx,1\n")
    bad = BadRecords()
    flow = rx_spark.csv(tmp_path, schema=Ride, on_bad="collect", bad=bad, config=spark_config)
    assert in_order(flow.to_list().blocking_get()) == [Ride(1, "Bonn", 2.5), Ride(1, "Ulm", 2.5)]
    assert bad.count == 2
    ulm = flow.filter(it.city == "Ulm")
    assert ulm.to_list().blocking_get() == [Ride(1, "Ulm", 2.5)]
    assert bad.count == 3
    assert bad.records[-1].path == str(tmp_path / "city=Ulm" / "a.csv")


def test_the_plan_stays_columns_and_says_what_becomes_of_bad_records(rides: Path, spark_config: SparkConfig) -> None:
    flow = rx_spark.csv(rides, schema=Ride, config=spark_config).filter(it.id > 1).map(it.city)
    text = flow.explain()
    assert "· each record is looked at, with all of its columns: a bad one fails the stream" in text
    assert "· columns: filter(it.id > 1) → map(it.city)" in text
    assert "ReadSchema: struct<id:bigint,city:string,km:double," in text
    assert "all of its columns, as each record is looked at" in str(rx_spark.check(flow))
    lines = rx_spark.text("a.txt", on_bad="skip", config=spark_config)
    assert "· a line that cannot be decoded is left out and counted" in lines.explain()


# --- encodings --------------------------------------------------------------------------------------------------------


def test_bytes_that_are_not_of_the_encoding_make_a_record_bad(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,city,km\n1,K\xf6ln,1\n2,Ulm,\n")
    with pytest.raises(BadRecordError, match=r"line 2, byte 11: '1,K\ufffdln,1': it has bytes that are no utf-8"):
        rx_spark.csv(path, schema=Ride, config=spark_config).map(it.id).to_list().blocking_get()
    replaced = rx_spark.csv(path, schema=Ride, errors="replace", config=spark_config)
    assert sorted(replaced.map(it.city).to_list().blocking_get()) == ["K\ufffdln", "Ulm"]
    told = rx_spark.csv(path, schema=Ride, encoding="latin-1", config=spark_config)
    assert sorted(told.map(it.city).to_list().blocking_get()) == ["Köln", "Ulm"]
    json = tmp_path / "a.json"
    json.write_bytes(b'{"id": 1, "city": "K\xf6ln"}\n')
    with pytest.raises(BadRecordError, match=r"a\.json, line 1"):
        rx_spark.json(json, schema=Ride, config=spark_config).to_list().blocking_get()
    latin = rx_spark.json(json, schema=Ride, encoding="latin-1", config=spark_config)
    assert latin.to_list().blocking_get() == [Ride(1, "Köln", None)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_encodings_of_several_bytes_are_read_a_file_at_a_time(encoding: str, tmp_path: Path, spark_config: SparkConfig) -> None:
    whole = {"multiLine": "true"}
    (tmp_path / "a.csv").write_bytes("id,city,km\n1,Köln,\n2,Ulm,\n".encode(encoding))
    csv = rx_spark.csv(tmp_path / "a.csv", schema=Ride, encoding=encoding, options=whole, config=spark_config)
    assert sorted(csv.map(it.city).to_list().blocking_get()) == ["Köln", "Ulm"]
    (tmp_path / "a.json").write_bytes('[{"id": 1, "city": "Köln"}, {"id": 2, "city": "Ulm"}]'.encode(encoding))
    json = rx_spark.json(tmp_path / "a.json", schema=Ride, encoding=encoding, options=whole, config=spark_config)
    assert sorted(json.map(it.city).to_list().blocking_get()) == ["Köln", "Ulm"]


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path, spark_config: SparkConfig) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfid,city,km\n1,Ulm,\n")
    for schema in (Ride, None):
        flow: Flowable[Any] = rx_spark.csv(tmp_path, schema=schema, config=spark_config)
        assert [row.city for row in flow.to_list().blocking_get()] == ["Ulm"]


# --- lines of text ----------------------------------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"eins\nzwei\nf\xfcnf\nsechs\n")
    (folder / "b.txt.gz").write_bytes(gzip.compress("zwölf\n".encode() + b"elf\nf\xfcnfzehn\r\n" * 2))
    return folder


TEXT = ["eins", "zwei", "sechs", "zwölf", "elf", "elf"]


def test_lines_that_cannot_be_decoded_are_left_out_counted_and_collected(lines: Path, spark_config: SparkConfig) -> None:
    bad = BadRecords()
    flow = rx_spark.text(lines, on_bad="collect", bad=bad, config=spark_config)
    assert flow.to_list().blocking_get() == TEXT  # in order
    assert bad.count == 3
    packed, said = str(lines / "b.txt.gz"), "byte 1 of it is no utf-8"
    assert list(bad.records) == [
        BadRecord(str(lines / "a.txt"), 10, None, "f\\xfcnf", said),
        BadRecord(packed, None, 3, "f\\xfcnfzehn", said),
        BadRecord(packed, None, 5, "f\\xfcnfzehn", said),
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda flow: flow.count().to_flowable(),
        lambda flow: flow.distinct().map(len),
        lambda flow: flow.scan(lambda first, second: first + second),
    ],
    ids=["count", "shuffle", "driver"],
)
def test_lines_are_counted_before_the_stream_completes(
    make: Callable[[Flowable[str]], Flowable[Any]], lines: Path, spark_config: SparkConfig
) -> None:
    bad = BadRecords()
    seen: list[int] = []
    flow = make(rx_spark.text(lines, on_bad="skip", bad=bad, config=spark_config))
    local = make(Flowable.from_iterable(TEXT)).to_list().blocking_get()
    found = flow.do_on_complete(lambda: seen.append(bad.count)).to_list().blocking_get()
    assert in_order(found) == in_order(local)
    assert seen == [3]
    assert bad.records == ()


def test_lines_left_out_uncounted_are_told_by_a_warning(lines: Path, spark_config: SparkConfig) -> None:
    with pytest.warns(BadRecordWarning, match=r"3 records of text\(.*such as:\n  .*a\.txt, byte 10: "):
        assert rx_spark.text(lines, on_bad="skip", config=spark_config).to_list().blocking_get() == TEXT


def test_a_warning_that_is_an_error_fails_the_stream(lines: Path, spark_config: SparkConfig) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BadRecordWarning)
        flow = rx_spark.text(lines, on_bad="skip", config=spark_config)
        with pytest.raises(BadRecordWarning):
            flow.to_list().blocking_get()


def test_urls_are_read_by_spark_with_the_same_policy(lines: Path, spark_config: SparkConfig) -> None:
    bad = BadRecords()
    flow = rx_spark.text(f"file://{lines}", on_bad="collect", bad=bad, config=spark_config)
    assert "streams back: in any order" in flow.explain()
    assert in_order(flow.to_list().blocking_get()) == in_order(TEXT)
    assert (bad.count, {record.path for record in bad.records}) == (3, {str(lines / "a.txt"), str(lines / "b.txt.gz")})
    with pytest.raises(UnicodeDecodeError, match=r"in .*lines/(a\.txt|b\.txt\.gz)\)"):
        rx_spark.text(f"file://{lines}", config=spark_config).count().blocking_get()
    latin = rx_spark.text(f"file://{lines}/a.txt", encoding="latin-1", config=spark_config)
    assert sorted(latin.to_list().blocking_get()) == ["eins", "fünf", "sechs", "zwei"]
    with pytest.raises(FileNotFoundError, match=r"text\('file:///no/such'\): \[PATH_NOT_FOUND\]"):
        rx_spark.text("file:///no/such", config=spark_config).count().blocking_get()


def test_a_truncated_gzip_file_of_lines_is_named(tmp_path: Path, spark_config: SparkConfig) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"".join(b"%d\n" % number for number in range(10_000)))[:-50])
    for given in (path, f"file://{path}"):
        with pytest.raises(BadFileError, match=r"a\.gz cannot be read: ") as caught:
            rx_spark.text(given, config=spark_config).count().blocking_get()
        assert caught.value.path == str(path)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["mode", "columnNameOfCorruptRecord", "badRecordsPath", "ENCODING"])
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_options_that_would_hide_bad_records_are_refused(kind: str, option: str, rides: Path, spark_config: SparkConfig) -> None:
    with pytest.raises(ValueError, match=rf"{kind}\(options={{'{option}': 'x'}}\): .*(on_bad|encoding)="):
        getattr(rx_spark, kind)(rides, options={option: "x"}, config=spark_config)


def test_policies_that_say_too_little_or_too_much_are_refused(rides: Path, spark_config: SparkConfig) -> None:
    with pytest.raises(ValueError, match=r"csv\(on_bad='drop'\): one of 'fail', 'skip', 'collect'"):
        rx_spark.csv(rides, on_bad="drop", config=spark_config)  # type: ignore[call-overload]  # on purpose
    with pytest.raises(TypeError, match=r"csv\(on_bad='collect'\): where .*\n  Right:  bad = rx_spark.BadRecords\(\)"):
        rx_spark.csv(rides, on_bad="collect", config=spark_config)
    with pytest.raises(TypeError, match=r"csv\(bad=\.\.\.\) counts what is left out"):
        rx_spark.csv(rides, bad=BadRecords(), config=spark_config)
    with pytest.raises(TypeError, match=r"json\(bad=\[\]\): a BadRecords is needed"):
        rx_spark.json(rides, on_bad="skip", bad=[], config=spark_config)  # type: ignore[call-overload]  # on purpose
    with pytest.raises(ValueError, match=r"BadRecords\(0\)"):
        BadRecords(0)
    with pytest.raises(LookupError, match="unknown encoding: klingon"):
        rx_spark.csv(rides, encoding="klingon", config=spark_config)
    for encoding in ("cp1252", "utf-16"):
        with pytest.raises(
            LookupError, match=rf"csv\(encoding='{encoding}'\): Spark reads utf-8, latin-1 and ascii line by line"
        ):
            rx_spark.csv(rides, encoding=encoding, config=spark_config)
    skipping = rx_spark.csv(rides, schema=Ride, on_bad="skip", config=spark_config)
    with pytest.raises(TypeError, match=r"to_dataframe\(\): Spark runs it, and nothing here hears"):
        rx_spark.to_dataframe(skipping)
