"""What a source of text lines is for a job: files cut into parts, or a DataFrame where only Spark can open the files."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rx_spark._bad_records import WARNED, BadRecord, told
from rx_spark._columns._frames import rebound
from rx_spark._errors import BadFileError
from rx_spark._jobs._file_checks import check_size, check_sizes
from rx_spark._jobs._file_errors import empty_folder, shown_path
from rx_spark._jobs._job_errors import read_error
from rx_spark._workers._blocks import BLOCKS_PER_PARTITION
from rx_spark._workers._compression import packed
from rx_spark._workers._lines import BadLines, Decoder, MergeBadLines, TextReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from rx_spark._plans._plan import TextSource
    from rx_spark._session._session import Engine

TEXT_BLOCK: Final = 1024 * 1024
SMALL_TEXT_BLOCK: Final = 64 * 1024


def text_reader(source: TextSource, partitions: int, decoder: Decoder | None = None) -> TextReader:
    """Cut the files into parts. Runs on the driver; a missing file is a FileNotFoundError that names it."""
    sizes = []
    for path in _files(source.paths):
        with open(path, "rb"):  # missing, no permission: each says so here, with the name
            sizes.append((path, os.path.getsize(path)))
            check_size(*sizes[-1])
    total = sum(size for _, size in sizes)
    step = max(SMALL_TEXT_BLOCK, min(TEXT_BLOCK, -(-total // (partitions * BLOCKS_PER_PARTITION))))
    parts: list[tuple[str, int, int]] = []
    for path, size in sizes:
        whole = size if packed(path) else step
        parts += [(path, at, min(at + whole, size)) for at in range(0, size, whole or 1)]
    return TextReader(tuple(parts), decoder or Decoder(source.encoding, source.errors), partitions)


def _files(paths: tuple[str, ...]) -> Iterator[str]:
    """The files under some paths: themselves, those of folders and of what is below, those that a glob names; by name."""
    for given in paths:
        path = os.path.abspath(given)
        if glob.has_magic(path) and not os.path.exists(path):
            named = sorted(glob.glob(path, recursive=True))
            if not named:
                raise FileNotFoundError(f"text({given!r}): no file has such a name")
        else:
            named = [path]
        found = [file for each in named for file in (_below(each) if os.path.isdir(each) else [each])]
        if not found:
            raise empty_folder("text", (given,))
        yield from found


def _below(folder: str) -> Iterator[str]:
    """The files of a folder, as Spark sees them: not those whose names say that a job keeps them for itself."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith(("_", ".")):
            continue
        if entry.is_dir():
            yield from _below(entry.path)
        else:
            yield entry.path


def text_frame(source: TextSource, engine: Engine) -> DataFrame:
    """Lines as bytes and their files. Spark's own text would have other characters where bytes are no UTF-8."""
    try:
        frame = engine.application.read.text(list(source.paths))
        check_sizes(frame, "text")
        made = frame.selectExpr("CAST(value AS binary)", "_metadata.file_path")
    except BadFileError:
        raise
    except Exception as error:
        raise read_error(error, source.shown) from error
    return rebound(made, engine.frames)


def decoder_of(source: TextSource, engine: Engine) -> tuple[Decoder, Callable[[], None] | None]:
    """How lines are decoded; and, where those that cannot be are left out, what tells of them when the job was successful."""
    if source.on_bad == "fail":
        return Decoder(source.encoding, source.errors), None
    report = source.report
    merge: Any = MergeBadLines(report.limit if report is not None else WARNED)
    tally: Any = engine.session.sparkContext.accumulator({}, merge)
    return Decoder(source.encoding, source.errors, tally), partial(_settle, source, tally)


def _settle(source: TextSource, tally: Any) -> None:
    blocks: BadLines = tally.value
    count = sum(each for each, _ in blocks.values())
    lines = [line for _, lines in blocks.values() for line in lines]
    records = sorted((BadRecord(shown_path(line[0]), *line[1:]) for line in lines), key=_place)
    told(source.shown, source.on_bad, source.report, count, records)


def _place(record: BadRecord) -> tuple[str, int, int]:
    return record.path, record.position or 0, record.line or 0
