"""Sources of items: numbers, items of the driver, lines of text; and what a program may ask of Spark before it has one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import length_hint
from typing import Any, Generic, TypeVar

from rx_core import hooks, name_of, none_argument
from rx_fusion import register_rules
from rx_ops import Flowable
from rx_spark._bad_records import BadRecords, OnBad, check_policy
from rx_spark._jobs._stats import JobStats, check_stats
from rx_spark._pipelines._async_calls import ASYNC_CALLS
from rx_spark._pipelines._head import SparkHead
from rx_spark._pipelines._rules import REDUCED_GROUPS
from rx_spark._plans._plan import IterableSource, Plan, RangeSource, Source, TextSource
from rx_spark._session._session import SparkConfig, engine

T = TypeVar("T")
Path = str | os.PathLike[str]

register_rules(REDUCED_GROUPS, ASYNC_CALLS, first=True)  # with the sources: a program without them is not asked about them


def range(
    start: int,
    stop: int | None = None,
    step: int = 1,
    /,
    *,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[int]:
    """Whole numbers, as the builtin ``range`` gives them, made on the executors.

    ::  0-1-2|

    Demand:  decides how far the job runs.   Errors: what ``range`` raises, at assembly; those of Spark.
    Memory:  two chunks of at most 1,024 items per task.   Thread: the one that requests, or the job's own.
    Fusion:  absorbs what Spark can run.
    """
    source = RangeSource(0, start) if stop is None else RangeSource(start, stop, step)
    shown = f"{start}" if stop is None else f"{start}, {stop}" + (f", {step}" if step != 1 else "")
    return _source("range", f"range({shown})", source, _config("range", config, master, parallelism), stats)


def from_iterable(
    items: Iterable[T],
    /,
    *,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[T]:
    """The items of ``items``, iterated anew for each subscription, spread over the executors.

    ::  --1--2--3|

    Spark needs to know where the work is before it starts: the iterable is read whole, by the job's thread, when the
    first item is requested. For items that come over time use ``Flowable.from_iterable``.

    Demand:  decides how far the job runs, once the iterable was read.
    Errors:  what iterating raises; TypeError for a None among the items; NotPortableError for one that cannot be
             pickled; ValueError for more than 1 GiB of them, and at assembly for what has no end (``itertools.count``);
             RuntimeError for a second subscription to something that can be iterated only once.
    Memory:  all items, pickled.   Thread: the one that requests, or the job's own.   Fusion: absorbs what Spark can run.
    """
    if not hasattr(items, "__iter__"):
        raise TypeError(
            f"from_iterable() needs something to iterate, got {items!r}.\n  For one item:  from_iterable([{items!r}])"
        )
    if isinstance(items, itertools.count | itertools.cycle) or _repeats_for_ever(items):
        raise ValueError(
            f"from_iterable({items!r}) has no end, and Spark gets its items before it starts.\n"
            f"  The first n of them:   from_iterable(itertools.islice(items, n))\n"
            f"  Without Spark:         Flowable.from_iterable(items)"
        )
    source = IterableSource(_Once(items) if hasattr(items, "__next__") else items)
    shown = f"from_iterable({_shown(items)})"
    return _source("from_iterable", shown, source, _config("from_iterable", config, master, parallelism), stats)


def text(
    paths: Path | Iterable[Path],
    /,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    on_bad: OnBad = "fail",
    bad: BadRecords | None = None,
    config: SparkConfig | None = None,
    master: str | None = None,
    parallelism: int | None = None,
    stats: JobStats | None = None,
) -> Flowable[str]:
    """The lines of text files, file after file, without their line ends, read on the executors.

    ::  --'one'--'two'--'three'|

    A path is a file, a folder (with what is below it, by name), or a glob. Files whose names end in ``.gz``, ``.bz2`` or ``.zst``
    are unpacked, each by one task. If one of the paths is a URL (``s3a://...``), Spark reads all of them, in any order.

    A line that cannot be decoded is an error; ``errors`` is that of ``open``. With ``on_bad="skip"`` such lines are left out and
    counted, in ``bad`` or with a warning; with ``"collect"`` the first of them are in ``bad`` as well.

    Demand:  decides how far the files are read.
    Errors:  what ``open`` raises, with the file's name; UnicodeDecodeError with file and position; BadFileError for a packed file
             that is cut off; FileNotFoundError for an empty folder; ValueError at assembly for an encoding in which lines cannot
             be found.
    Memory:  two chunks of at most 1,024 lines per task, and those of the 64 KiB that it reads at a time.
    Thread:  the one that requests, or the job's own.
    Fusion:  absorbs what Spark can run. The files must have the same path on every executor.
    """
    if paths is None:
        raise none_argument("text(None)", "paths")
    if isinstance(paths, bytes):
        raise TypeError(f"text({paths!r}): a path is text.\n  Right:  text({os.fsdecode(paths)!r})")
    check_policy("text", on_bad, bad)
    several = (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)
    source = TextSource(tuple(os.fspath(path) for path in several), encoding, errors, on_bad, bad)
    return _source("text", source.shown, source, _config("text", config, master, parallelism), stats)


def start(*, config: SparkConfig | None = None, master: str | None = None, parallelism: int | None = None) -> None:
    """Make the Spark session now (about 4 s) instead of with the first job. Blocks; does nothing when there is one.

    Raises JavaNotFoundError, ConnectionError for a master that does not answer, and RuntimeError when a session with another
    master runs in this process.
    """
    engine(_config("start", config, master, parallelism))


def check_portable(flow: Flowable[Any], /) -> None:
    """Raise NotPortableError if a function of ``flow`` that would run on executors cannot be sent there.

    Subscribing checks the same before it does anything else; this does it without running. Any pipeline will do: its
    sources are looked at too. Needs neither Java nor a session.
    """
    hooks.ensure_loaded()
    head, _, _ = flow._resolve()
    if isinstance(head, SparkHead):
        head.check_portable()
    for source in head.upstream:
        if hasattr(source, "_resolve"):
            check_portable(source)


def _source(name: str, shown: str, source: Source, config: SparkConfig, stats: JobStats | None) -> Flowable[Any]:
    check_stats(name, stats)
    return Flowable._from(SparkHead(name, f"rx_spark.{shown}", Plan(source), config, stats))


def _config(name: str, config: SparkConfig | None, master: str | None, parallelism: int | None) -> SparkConfig:
    if parallelism is not None and (type(parallelism) is not int or parallelism < 1):
        raise ValueError(f"{name}(parallelism={parallelism!r}): a whole number of tasks, at least 1")
    if config is not None and master is not None and config.master != master:
        raise ValueError(f"{name}(config=..., master={master!r}): the config says {config.master!r} already; give one of the two")
    made = SparkConfig(master=master) if config is None else config
    return made if parallelism is None else replace(made, parallelism=parallelism)


def _repeats_for_ever(items: object) -> bool:
    return isinstance(items, itertools.repeat) and length_hint(items, -1) < 0  # it knows its length, or raises where it has none


def _shown(items: object) -> str:
    if isinstance(items, list | tuple | set | frozenset | dict | str) and len(items) <= 3:
        return repr(items)
    return f"<{name_of(type(items))}>"


class _Once(Generic[T]):
    """An iterator, which can be read once; a second run is told so instead of getting nothing."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = [items]

    def __iter__(self) -> Iterator[T]:
        try:
            items = self._items.pop()  # atomic: one run gets it
        except IndexError:
            raise RuntimeError(
                "from_iterable(): this iterator was read by an earlier subscription and cannot start again.\n"
                "  Right:  from_iterable(list(items))   # Spark gets all of them before it starts in any case"
            ) from None
        return iter(items)
