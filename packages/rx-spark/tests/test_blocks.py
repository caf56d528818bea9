from __future__ import annotations

import bz2
import codecs
import gzip
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rx_spark import BadFileError
from rx_spark._jobs import _text_input
from rx_spark._jobs._text_input import text_reader
from rx_spark._plans._plan import RangeSource, TextSource
from rx_spark._workers import _lines
from rx_spark._workers._blocks import RANGE_BLOCK, Reader, range_reader
from rx_spark._workers._lines import BadLines, Decoder, LineReader, MergeBadLines, TextReader


class _Batch:
    """The one thing a reader of ours asks of an Arrow batch: the number of its partition."""

    num_rows = 1

    def __init__(self, partition: int) -> None:
        self._partition = partition

    def column(self, at: int) -> _Batch:
        return self

    def to_pylist(self) -> list[int]:
        return [self._partition]


def in_order(reader: Reader, partitions: int) -> list[Any]:
    blocks = {}
    for partition in range(partitions):
        before = -1
        for number, items in reader.blocks([_Batch(partition)], 0):
            assert number > before
            before = number
            blocks[number] = list(items)
    return [item for number in sorted(blocks) for item in blocks[number]]


@pytest.mark.parametrize("partitions", [1, 2, 5])
@pytest.mark.parametrize("bounds", [(0, 0, 1), (0, 1, 1), (0, 100_000, 1), (10, -50, -7), (5, 5, 2), (-3, 40, 4)])
def test_the_blocks_of_a_range_put_together_are_the_range(partitions: int, bounds: tuple[int, int, int]) -> None:
    assert in_order(range_reader(RangeSource(*bounds), partitions), partitions) == list(range(*bounds))


def test_short_sources_are_cut_so_that_every_task_has_work() -> None:
    assert range_reader(RangeSource(0, 16), 2).total == 16
    assert range_reader(RangeSource(0, 10**9), 2).size == RANGE_BLOCK


TEXTS = [
    "",
    "\n",
    "a",
    "a\n",
    "a\r\nb\r\n",
    "a\rb\r",
    "\r\n\n\r",
    "ä\nöü\n\n日本\r\nx",
    "one\ntwo\nthree\n" * 9,
    "\n" * 7,
    "a\r\r\nb",
]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("text", TEXTS)
def test_lines_equal_those_of_open_wherever_the_file_is_cut(tmp_path: Path, text: str, step: int) -> None:
    file = tmp_path / "text"
    file.write_bytes(text.encode())
    size = file.stat().st_size
    parts = tuple((str(file), at, min(at + step, size)) for at in range(0, size, step))
    with open(file, encoding="utf-8") as lines:
        assert in_order(TextReader(parts, Decoder("utf-8", "strict"), 2), 2) == [line.removesuffix("\n") for line in lines]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "shift_jis"])
@pytest.mark.parametrize("read", [1, 2, 5])
@pytest.mark.parametrize("pack", [None, gzip.compress, bz2.compress])
@pytest.mark.parametrize("text", [text for text in TEXTS if text.isascii()])
def test_lines_equal_those_of_open_however_much_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, pack: Callable[[bytes], bytes] | None, read: int, encoding: str
) -> None:
    monkeypatch.setattr(_lines, "READ", read)
    file = tmp_path / ("text" if pack is None else "text.gz" if pack is gzip.compress else "text.bz2")
    file.write_bytes(text.encode() if pack is None else pack(text.encode()))
    parts = ((str(file), 0, file.stat().st_size),) if text else ()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").splitlines()
    assert in_order(TextReader(parts, Decoder(encoding, "strict"), 1), 1) == lines


@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_the_lines_before_one_that_cannot_be_decoded_are_given(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    data = b"one\ntwo\r\n\xff\nfour\n"
    file.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    ((_, items),) = text_reader(TextSource((str(file),)), 1).blocks([_Batch(0)], 0)
    given = iter(items)
    assert list(islice(given, 2)) == ["one", "two"]
    with pytest.raises(UnicodeDecodeError, match="byte 9" if name == "text" else "line 3"):
        next(given)


def test_what_comes_before_damage_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lines, "READ", 100)
    file = tmp_path / "text.gz"
    lines = [f"{number * 7919 % 10007}" for number in range(1000)]
    file.write_bytes(gzip.compress("\n".join(lines).encode())[:-500])
    ((_, items),) = text_reader(TextSource((str(file),)), 1).blocks([_Batch(0)], 0)
    given: list[str] = []
    with pytest.raises(BadFileError, match=r"text\.gz cannot be read"):
        given.extend(items)
    assert 300 < len(given) < 1000
    assert given == lines[: len(given)]


def test_a_mark_at_the_start_of_a_line_is_taken_off_wherever_the_line_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"".join(codecs.BOM_UTF8 + b"%d\n" % number for number in range(9)))
    reader = TextReader(((str(file), 0, 1000),), Decoder("utf-8-sig", "strict"), 1)
    for read in (1, 1 << 16):
        monkeypatch.setattr(_lines, "READ", read)
        assert in_order(reader, 1) == list("012345678")


def test_which_encodings_are_decoded_many_lines_at_a_time() -> None:
    together = ["utf-8", "UTF8", "ascii", "latin-1", "cp1252", "mac-roman", "koi8-r", "iso8859-15", "cp437"]
    by_line = ["utf-8-sig", "shift_jis", "gbk", "iso2022_jp", "utf-7", "big5"]
    assert [name for name in [*together, *by_line] if Decoder(name, "strict").by_line] == by_line


@pytest.mark.parametrize("errors", ["replace", "surrogateescape"])
def test_other_lines_do_not_change_what_becomes_of_one_that_cannot_be_decoded(tmp_path: Path, errors: str) -> None:
    file = tmp_path / "text"
    file.write_bytes(data := b"a\xe2\x82\nb\n\xff\n")
    reader = TextReader(((str(file), 0, len(data)),), Decoder("utf-8", errors), 1)
    assert in_order(reader, 1) == [line.decode("utf-8", errors) for line in data.split(b"\n")[:-1]]


@pytest.mark.parametrize("lines", [[], [b""], [b"a", b""], [b"", b"a"], ["ä".encode(), b"\xff", b"c"]])
def test_lines_that_spark_reads_are_given_one_for_one(lines: list[bytes]) -> None:
    batch = pa.RecordBatch.from_pydict({"value": pa.array(lines, pa.binary()), "path": ["p"] * len(lines)})
    ((_, items),) = LineReader(Decoder("utf-8", "replace")).blocks([batch], 0)
    assert list(items) == [line.decode("utf-8", "replace") for line in lines]


def test_files_come_in_the_order_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_text_input, "SMALL_TEXT_BLOCK", 16)
    paths = []
    for number in range(4):
        path = tmp_path / f"{number}"
        path.write_text("".join(f"{number} {line}\n" for line in range(10 * (4 - number))))
        paths.append(str(path))
    reader = text_reader(TextSource(tuple(paths)), 3)
    assert len(reader.parts) > len(paths)
    assert in_order(reader, 3) == [line for path in paths for line in Path(path).read_text().splitlines()]


def test_undecodable_bytes_are_an_error_that_names_the_file_and_the_place(tmp_path: Path) -> None:
    file = tmp_path / "latin"
    file.write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(UnicodeDecodeError, match=r"latin, byte 7") as caught:
        in_order(text_reader(TextSource((str(file),)), 1), 1)
    assert "errors='replace'" in caught.value.__notes__[0]
    replaced = text_reader(TextSource((str(file),), errors="replace"), 1)
    assert in_order(replaced, 1) == ["fine", "na\ufffdve"]
    latin = text_reader(TextSource((str(file),), encoding=codecs.lookup("latin-1").name), 1)
    assert in_order(latin, 1) == ["fine", "naïve"]


def test_missing_files_and_folders_without_any_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"not-there"):
        text_reader(TextSource((str(tmp_path / "not-there"),)), 1)
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(FileNotFoundError, match=rf"text\('{tmp_path}'\): there is no data file"):
        text_reader(TextSource((str(tmp_path),)), 1)
    with pytest.raises(FileNotFoundError, match=r"text\('.*/\*\.txt'\): no file has such a name"):
        text_reader(TextSource((str(tmp_path / "*.txt"),)), 1)


def test_a_folder_is_its_files_by_name_and_a_glob_those_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "day=2").mkdir()
    for name in ("b.txt", "a.txt", "day=2/c.txt", "_SUCCESS", ".a.txt.crc", "d[1].txt"):
        (tmp_path / name).write_text(f"{name}\n")
    assert in_order(text_reader(TextSource((str(tmp_path),)), 2), 2) == ["a.txt", "b.txt", "d[1].txt", "day=2/c.txt"]
    assert in_order(text_reader(TextSource((str(tmp_path / "[ab].txt"),)), 2), 2) == ["a.txt", "b.txt"]
    assert in_order(text_reader(TextSource((str(tmp_path / "**" / "c.txt"),)), 2), 2) == ["day=2/c.txt"]
    assert in_order(text_reader(TextSource((str(tmp_path / "d[1].txt"),)), 2), 2) == ["d[1].txt"]


def pack_zstd(data: bytes) -> bytes:
    made: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return made


@pytest.mark.parametrize(("end", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", pack_zstd)])
@pytest.mark.parametrize("text", TEXTS)
def test_packed_files_have_the_lines_that_were_packed(
    tmp_path: Path, text: str, end: str, pack: Callable[[bytes], bytes]
) -> None:
    plain, file = tmp_path / "text", tmp_path / f"text.{end}"
    plain.write_bytes(text.encode())
    file.write_bytes(pack(text.encode()))
    with open(plain, encoding="utf-8") as lines:
        assert in_order(text_reader(TextSource((str(file),)), 2), 2) == [line.removesuffix("\n") for line in lines]


@pytest.mark.parametrize(("end", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("zst", pack_zstd)])
def test_a_truncated_packed_file_is_named(tmp_path: Path, end: str, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / f"text.{end}"
    file.write_bytes(pack(b"".join(b"line %d\n" % number for number in range(10_000)))[:-20])
    with pytest.raises(BadFileError, match=rf"text\.{end} cannot be read: .*\n  It is cut off or damaged") as caught:
        in_order(text_reader(TextSource((str(file),)), 1), 1)
    assert caught.value.path == str(file)


def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path: Path) -> None:
    for end in ("gz", "bz2", "zst"):
        file = tmp_path / f"text.{end}"
        file.write_bytes(b"plain text\n")
        with pytest.raises(BadFileError, match=rf"text\.{end} cannot be read"):
            in_order(text_reader(TextSource((str(file),)), 1), 1)


class _Tally:
    """An accumulator of Spark, in one process."""

    def __init__(self, merge: MergeBadLines) -> None:
        self._merge, self.value = merge, merge.zero({})

    def add(self, term: BadLines) -> None:
        self.value = self._merge.addInPlace(self.value, term)


def test_a_block_that_is_read_twice_counts_its_bad_lines_once_and_one_that_is_not_read_whole_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"a\n\xff\n" * 4)
    parts = ((str(file), 0, 8), (str(file), 8, 16))
    tally = _Tally(MergeBadLines(3))
    reader = TextReader(parts, Decoder("utf-8", "strict", tally), 1)
    ((_, first), *_) = reader.blocks([_Batch(0)], 0)
    assert next(iter(first)) == "a"
    assert tally.value == {}
    for _ in range(2):
        assert in_order(reader, 1) == ["a"] * 4
        assert {block: (count, len(lines)) for block, (count, lines) in tally.value.items()} == {0: (2, 2), 1: (2, 1)}
    assert [line[:2] for _, lines in tally.value.values() for line in lines] == [(str(file), at) for at in (2, 6, 10)]


def test_undecodable_bytes_in_a_packed_file_have_a_line(tmp_path: Path) -> None:
    file = tmp_path / "latin.gz"
    file.write_bytes(gzip.compress(b"fine\nna\xefve\n"))
    with pytest.raises(UnicodeDecodeError, match=r"latin\.gz, line 2"):
        in_order(text_reader(TextSource((str(file),)), 1), 1)
