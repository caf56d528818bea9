"""Lines of text files as blocks: read by Python, or as bytes by Spark where only Spark can open the files.

Lines end where ``open()`` sees their end. One that cannot be decoded is an error that names its file and place, or a bad record.

Many lines are read and decoded together, which costs less than one by one. Where that fails, they come one by one: those before
the first that cannot be decoded are given.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from itertools import chain
from typing import IO, Any, Final, Protocol

from rx_spark._bad_records import SHOWN
from rx_spark._transport._rounds import Remaining, all_blocks
from rx_spark._workers._blocks import BLOCKS_OF_TASK, partitions_of
from rx_spark._workers._compression import bad_file, open_bytes, packed

#: (path, byte or None, line or None, text, reason) of a line that cannot be decoded.
BadLine = tuple[str, int | None, int | None, str, str]
#: Of each block with such lines how many, and the first of them.
BadLines = dict[int, tuple[int, tuple[BadLine, ...]]]


@dataclass(frozen=True)
class MergeBadLines:
    """How an accumulator of Spark adds up what its tasks tell (``AccumulatorParam``): a block that was read twice, because a task
    ran again, counts once. Memory: ``limit`` lines, and a number for each block with such lines."""

    limit: int

    def zero(self, _: BadLines) -> BadLines:
        return {}

    def addInPlace(self, first: BadLines, second: BadLines) -> BadLines:  # Spark's name
        made: BadLines = {}
        left = self.limit
        for block, (count, lines) in sorted({**first, **second}.items()):
            made[block] = (count, lines[:left])
            left -= len(made[block][1])
        return made


class Tally(Protocol):
    """An accumulator of Spark: what a task adds arrives at the driver when the task has ended well."""

    def add(self, term: BadLines) -> None: ...


@dataclass(slots=True)
class Found:
    """Lines of a block that cannot be decoded. Memory: the first KEPT of them."""

    count: int = 0
    lines: list[BadLine] = field(default_factory=list)


#: Of a block; a source may keep fewer.
KEPT: Final = 1000

#: How many bytes are read at a time.
READ: Final = 64 * 1024


@dataclass(frozen=True)
class Decoder:
    """``tally``: where lines that cannot be decoded are counted; None: they are errors."""

    encoding: str
    errors: str
    tally: Tally | None = None

    @cached_property
    def by_line(self) -> bool:
        """Whether what a line means may depend on where decoding begins: a mark at the start, signs that switch."""
        found = codecs.lookup(self.encoding)
        if found.name in ("utf-8", "ascii", "iso8859-1"):
            return False
        made_by = sys.modules.get(getattr(found.incrementaldecoder, "__module__", ""))
        return not hasattr(made_by, "decoding_table")  # of one byte for each character

    def lists(
        self, data: bytes, found: Found, path: str, at: int | None = None, number: int | None = None
    ) -> Iterator[list[str]]:
        """The lines of ``data``, which ends where a line ends: all at once, or in parts where one that cannot be decoded comes
        between. ``at`` and ``number`` are the place of the first one."""
        together = self.together(data)
        if together is not None:
            yield together
            return
        lines: list[str] = []
        before = 0
        for count, raw in enumerate(BytesIO(data)):
            try:
                line = raw.decode(self.encoding, self.errors)
            except UnicodeDecodeError as error:
                yield lines  # before the error
                lines = []
                place = None if at is None else at + before
                self.undecoded(error, raw, found, path, place, None if number is None else number + count)
            else:
                lines += _several(line) if "\r" in line else (line.removesuffix("\n"),)
            before += len(raw)
        yield lines

    def together(self, data: bytes) -> list[str] | None:
        """The lines of ``data`` if all of it can be decoded, so that it does not matter what becomes of lines that cannot be."""
        if self.by_line:
            return None
        try:
            return _several(data.decode(self.encoding))
        except UnicodeDecodeError:
            return None

    def undecoded(
        self, error: UnicodeDecodeError, raw: bytes, found: Found, path: str, at: int | None = None, number: int | None = None
    ) -> None:
        """Count a line, or raise."""
        if self.tally is None:
            raise _named(error, raw, path, at, number) from None
        found.count += 1
        if len(found.lines) < KEPT:
            text = raw.decode(self.encoding, "backslashreplace").rstrip("\r\n")[:SHOWN]
            found.lines.append((path, at, number, text, f"byte {error.start} of it is no {error.encoding}"))

    def tell(self, block: int, found: Found) -> None:
        """The block was read to its end."""
        if found.count and self.tally is not None:
            self.tally.add({block: (found.count, tuple(found.lines))})


def _several(line: str) -> list[str]:
    """Universal newlines, as open() has them: a carriage return ends a line too, and so does one with a line feed."""
    return line.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


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
                lists = self._unpacked(block, path) if packed(path) else self._lines(block, path, start, end)
                yield block, chain.from_iterable(lists)

    def _lines(self, block: int, path: str, start: int, end: int) -> Iterator[list[str]]:
        found = Found()
        with open(path, "rb") as file:
            at = _first_line(file, start)
            while at < end and (data := file.read(min(READ, end - at))):
                if not data.endswith(b"\n"):
                    data += file.readline()
                yield from self.decoder.lists(data, found, path, at)
                at += len(data)
        self.decoder.tell(block, found)

    def _unpacked(self, block: int, path: str) -> Iterator[list[str]]:
        found, number = Found(), 1
        with open_bytes(path) as file:
            for data in _whole_lines(file, path):
                yield from self.decoder.lists(data, found, path, number=number)
                number += data.count(b"\n")
        self.decoder.tell(block, found)


def _first_line(file: IO[bytes], start: int) -> int:
    """Move to the first line that starts at or after ``start``."""
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())


def _whole_lines(file: IO[bytes], path: str) -> Iterator[bytes]:
    """What is read at a time, cut where a line ends. What comes before damage is given."""
    begun: list[bytes] = []
    while data := _next(file, path):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join((*begun, data[:cut]))
            begun = []
        if cut < len(data):
            begun.append(data[cut:])
    if begun:
        yield b"".join(begun)


def _next(file: Any, path: str) -> bytes:
    try:
        data: bytes = file.read1(READ)
    except Exception as error:
        bad = bad_file(path, error)
        if bad is None:
            raise
        raise bad from error
    return data


@dataclass(frozen=True)
class LineReader:
    """Reads rows of (line as bytes, its file): what Spark reads where only Spark can. Lines are not numbered there."""

    decoder: Decoder

    def blocks(self, batches: Iterable[Any], partition: int) -> Iterator[tuple[int, Iterable[Any]]]:
        for at, batch in enumerate(batches):
            block = (partition << BLOCKS_OF_TASK) + at
            lines = self._lines(block, batch.column(0).to_pylist(), batch.column(1).to_pylist())
            yield block, chain.from_iterable(lines)

    def _lines(self, block: int, lines: list[bytes], paths: list[str]) -> Iterator[list[str]]:
        found = Found()
        together = self.decoder.together(b"\n".join((*lines, b""))) if lines else None  # Spark has taken the line ends off
        if together is not None:
            yield together
        else:
            for raw, path in zip(lines, paths, strict=True):
                yield from self.decoder.lists(raw + b"\n", found, path)
        self.decoder.tell(block, found)
