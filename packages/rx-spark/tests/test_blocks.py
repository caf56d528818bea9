from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import pytest

from rx_spark._plans._plan import RangeSource, TextSource
from rx_spark._workers import _blocks
from rx_spark._workers._blocks import Reader, TextReader, range_reader, text_reader


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
    assert range_reader(RangeSource(0, 10**9), 2).size == _blocks.RANGE_BLOCK


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
        assert in_order(TextReader(parts, "utf-8", "strict", 2), 2) == [line.removesuffix("\n") for line in lines]


def test_files_come_in_the_order_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_blocks, "SMALL_TEXT_BLOCK", 16)
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


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"not-there"):
        text_reader(TextSource((str(tmp_path / "not-there"),)), 1)
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        text_reader(TextSource((str(tmp_path),)), 1)
