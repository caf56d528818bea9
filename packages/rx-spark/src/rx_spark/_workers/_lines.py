"""Lines of text files as blocks: read by Python, or as bytes by Spark where only Spark can open the files.

Lines end where ``open()`` sees their end. One that cannot be decoded is an error that names its file and place, or a bad record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final, Protocol

from rx_spark._bad_records import SHOWN
from rx_spark._transport._rounds import Remaining, all_blocks
from rx_spark._workers._blocks import BLOCKS_OF_TASK, partitions_of
from rx_spark._workers._compression import bad_file, open_bytes, packed

#: (path, byte or None, line or None, text, reason) of a line that cannot be decoded.
BadLine = tuple[str, int | None, int | None, str, str]
#: How many, and the first of them.
BadLines = tuple[int, tuple[BadLine, ...]]
NO_LINES: Final[BadLines] = (0, ())


@dataclass(frozen=True)
class MergeBadLines:
    """How an accumulator of Spark adds up what its tasks tell (``AccumulatorParam``). Memory: ``limit`` lines."""

    limit: int

    def zero(self, _: BadLines) -> BadLines:
        return NO_LINES

    def addInPlace(self, first: BadLines, second: BadLines) -> BadLines:  # Spark's name
        return first[0] + second[0], (*first[1], *second[1])[: self.limit]


class Tally(Protocol):
    """An accumulator of Spark: what a task adds arrives at the driver when the task has ended well."""

    def add(self, term: BadLines) -> None: ...


@dataclass(frozen=True)
class Decoder:
    """``tally``: where lines that cannot be decoded are counted; None: they are errors."""

    encoding: str
    errors: str
    tally: Tally | None = None

    def lines(self, raw: bytes, path: str, at: int | None = None, number: int | None = None) -> Iterable[str]:
        """What is in ``raw``, which ends at a line end: one line, or several with other ends."""
        try:
            line = raw.decode(self.encoding, self.errors)
        except UnicodeDecodeError as error:
            if self.tally is not None:
                text = raw.decode(self.encoding, "backslashreplace").rstrip("\r\n")[:SHOWN]
                self.tally.add((1, ((path, at, number, text, f"byte {error.start} of it is no {error.encoding}"),)))
                return ()
            raise _named(error, raw, path, at, number) from None
        if "\r" in line:  # universal newlines, as open() has them: "\r\n" and a lone "\r" end a line too
            line = line.replace("\r\n", "\n").replace("\r", "\n")
            return line.removesuffix("\n").split("\n")
        return (line.removesuffix("\n"),)


def _named(error: UnicodeDecodeError, raw: bytes, path: str, at: int | None, number: int | None) -> UnicodeDecodeError:
    byte = "" if at is None else f", byte {at + error.start}"
    where = path + (byte if number is None else f", line {number}")
    named = UnicodeDecodeError(error.encoding, raw, error.start, error.end, f"{error.reason} (in {where})")
    named.add_note(f"To go on with replacement characters:  text({path!r}, errors='replace')")
    named.add_note("To go on without such lines:  on_bad='skip', or on_bad='collect', bad=rx_spark.BadRecords() to see them")
    return named


@dataclass(frozen=True)
class TextReader:
    """``parts`` are (path, first byte, byte after the last); a line belongs to the part in which it starts. A packed file is one
    part, whose bytes are not counted."""

    parts: tuple[tuple[str, int, int], ...]
    decoder: Decoder
    partitions: int
    #: What earlier rounds have left; None: everything.
    left: Remaining | None = None

    @property
    def total(self) -> int:
        return len(self.parts)

    def blocks(self, batches: Iterable[Any], _partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        left = self.left or all_blocks(self.total)
        for partition in partitions_of(batches):
            for block in left.of_task(partition, self.partitions):
                path, start, end = self.parts[block]
                yield block, self._unpacked(path) if packed(path) else self._lines(path, start, end)

    def _lines(self, path: str, start: int, end: int) -> Iterator[str]:
        with open(path, "rb") as file:
            at = _first_line(file, start)
            while at < end and (raw := file.readline()):
                yield from self.decoder.lines(raw, path, at)
                at += len(raw)

    def _unpacked(self, path: str) -> Iterator[str]:
        number = 1
        with open_bytes(path) as file:
            while raw := _next_line(file, path):
                yield from self.decoder.lines(raw, path, None, number)
                number += 1


def _first_line(file: IO[bytes], start: int) -> int:
    """Move to the first line that starts at or after ``start``."""
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())


def _next_line(file: IO[bytes], path: str) -> bytes:
    try:
        return file.readline()
    except Exception as error:
        bad = bad_file(path, error)
        if bad is None:
            raise
        raise bad from error


@dataclass(frozen=True)
class LineReader:
    """Reads rows of (line as bytes, its file): what Spark reads where only Spark can. Lines are not numbered there."""

    decoder: Decoder

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for at, batch in enumerate(batches):
            yield (partition << BLOCKS_OF_TASK) + at, self._lines(batch.column(0).to_pylist(), batch.column(1).to_pylist())

    def _lines(self, lines: list[bytes], paths: list[str]) -> Iterator[str]:
        for raw, path in zip(lines, paths, strict=True):
            yield from self.decoder.lines(raw, path)
