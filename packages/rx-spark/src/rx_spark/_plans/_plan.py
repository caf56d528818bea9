"""What Spark is asked to do, as data.

A :class:`Plan` is a source and the steps after it: frozen, comparable, picklable when its functions are. It holds no
session and no run state; :mod:`rx_spark._jobs._compile` turns it into a DataFrame each time it runs.

Contract of the functions inside: they are deterministic (Spark may run a task again) and their stages are per-item
(what a pass emits for an item depends on that item alone), because items are spread over tasks block by block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

from rx_spark._bad_records import BadRecords, OnBad
from rx_spark._columns._frames import FrameSource
from rx_spark._columns._observed import Observing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rx_ops.stages import GroupAggregate
    from rx_spark._columns._fitting import Fit
    from rx_spark._columns._rows import RowType
    from rx_spark._plans._targets import Target

#: A fused pass: takes the items of one block and yields what becomes of them.
Runner: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]


@runtime_checkable
class BlockRunner(Protocol):
    """One that looks at the next block before it has given all of this one."""

    def __call__(self, items: Iterable[Any], /) -> Iterator[Any]: ...

    def over_blocks(self, blocks: Iterator[tuple[int, Iterable[Any]]], /) -> Iterator[tuple[int, Iterable[Any]]]: ...


#: A generator function ``f(source, *args)`` and its arguments.
StageCall: TypeAlias = tuple[Callable[..., Iterator[Any]], tuple[Any, ...]]


@dataclass(frozen=True)
class RangeSource:
    """The numbers of ``range(start, stop, step)``; they are made on the executors."""

    start: int
    stop: int
    step: int = 1

    def __post_init__(self) -> None:
        range(self.start, self.stop, self.step)  # its own errors for a zero step and for what is not an int


@dataclass(frozen=True)
class IterableSource:
    """The items of an iterable of the driver. It is read whole, by the job's thread, before the job starts.

    Memory: all items, pickled, on the driver and in Spark.
    Errors: what the iterable raises; None is refused (RS 2.13).
    """

    items: Iterable[Any]


@dataclass(frozen=True)
class FeedSource:
    """Items of the driver that one task asks for as it writes them; see :mod:`rx_spark._transport._feed`."""


@dataclass(frozen=True)
class TextSource:
    """The lines of text files, file after file, without their line ends (universal newlines, as ``open()`` reads them).

    Read by Python on the executors, in byte ranges, so the answers equal those of ``open(path, encoding=...)``: Spark's
    own text reader replaces undecodable bytes silently and orders files by size. The files must be readable under the
    same path on every executor. Errors name the file. ``encoding`` must be one in which the byte 10 is always a line
    end. Where a path is a URL, Spark reads all of them, and files come in any order.
    """

    paths: tuple[str, ...]
    encoding: str = "utf-8"
    errors: str = "strict"
    on_bad: OnBad = "fail"
    report: BadRecords | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.paths, str | bytes | os.PathLike):
            raise TypeError(f"TextSource takes a tuple of paths.\n  Right:  TextSource(({os.fspath(self.paths)!r},))")
        object.__setattr__(self, "paths", tuple(os.fspath(path) for path in self.paths))
        if "\n".encode(self.encoding) != b"\n":
            raise ValueError(f"encoding {self.encoding!r} cannot be read in byte ranges; utf-8 and its relatives can")

    @property
    def by_spark(self) -> bool:
        """Whether only Spark knows where the files are."""
        return any("://" in path for path in self.paths)

    @property
    def shown(self) -> str:
        return f"text({repr(self.paths[0]) if len(self.paths) == 1 else f'{len(self.paths)} paths'})"


@dataclass(frozen=True)
class Pass:
    """Per-item stages run as one pass: ``runner`` when a fused one exists, the stacked ``stages`` otherwise."""

    stages: tuple[StageCall, ...] = ()
    runner: Runner | None = field(default=None)

    def to_runner(self) -> Runner:
        return self.runner if self.runner is not None else Stacked(self.stages)

    @property
    def observing(self) -> list[Observing]:
        """What is told what passes here, in the order of the stages."""
        return [argument for _, args in self.stages for argument in args if isinstance(argument, Observing)]


@dataclass(frozen=True)
class Stacked:
    """Generators stacked on each other: the runner that needs no compiler."""

    stages: tuple[StageCall, ...]

    def __call__(self, source: Iterable[Any]) -> Iterator[Any]:
        for function, args in self.stages:
            source = function(source, *args)
        return iter(source)


@dataclass(frozen=True)
class Noted:
    """``note`` is added to errors of the step's functions; it says where in the pipeline they are. ``before``: the pipeline up to
    there."""

    note: str = field(default="", kw_only=True, compare=False)
    before: str = field(default="", kw_only=True, compare=False)


@dataclass(frozen=True)
class Distinct(Noted):
    """Each item once. Order is free. What items must be: see :func:`rx_spark._workers._shuffle.bucket_of`."""


@dataclass(frozen=True)
class GroupReduce(Noted):
    """``(key, reduced)`` for every key; ``reducer`` must be associative and commutative. Order is free."""

    key: Callable[[Any], Any]
    value: Callable[[Any], Any]
    reducer: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Aggregates(Noted):
    """A row of named aggregates for every key. Order is free."""

    key: Callable[[Any], Any]
    spec: GroupAggregate


@dataclass(frozen=True)
class Reduce(Noted):
    """One item, or none when there was none; ``reducer`` must be associative. Blocks are combined in order."""

    reducer: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Count(Noted):
    """The number of items."""


@dataclass(frozen=True)
class Sum(Noted):
    """``start`` and all items added up."""

    start: Any = 0


@dataclass(frozen=True)
class Min(Noted):
    """The first smallest item; nothing when there was none."""

    key: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Max(Noted):
    """The first largest item; nothing when there was none."""

    key: Callable[[Any], Any] | None = None


#: Steps to one value.
TO_ONE: Final = (Reduce, Count, Sum, Min, Max)
#: What is opened and merged without code of the user's.
PLAIN: Final = frozenset((int, float, bool, str))


def is_ours(step: Step) -> bool:
    """Whether plain partial results of this step are merged without calling a function of the user's."""
    match step:
        case Count():
            return True
        case Sum(start):
            return type(start) in PLAIN
        case Min(key) | Max(key):
            return key is None
        case _:
            return False


@dataclass(frozen=True)
class Take(Noted):
    """The first ``n`` items. As the last step it stops the job early; before other steps it gathers them in one
    task.
    """

    n: int

    def __post_init__(self) -> None:
        if type(self.n) is not int:
            raise TypeError(f"take() needs a whole number of items, got {self.n!r}")
        if self.n < 0:
            raise ValueError(f"take({self.n}): the number of items must not be negative")


@dataclass(frozen=True)
class Computed:
    """Rows that an earlier part of a pipeline makes in Python, for columns behind it. A job makes their DataFrame of ``plan``."""

    plan: Plan
    shown: str

    def open(self, session: SparkSession) -> DataFrame:
        raise AssertionError("a job makes it")


@dataclass(frozen=True)
class Rows:
    """Where an earlier part's items go: into columns, for the part behind it."""

    fit: Fit

    @property
    def shown(self) -> str:
        return f"as_rows({self.fit!r})"

    def write(self, frame: DataFrame, tag: str) -> None:
        raise AssertionError("the part behind it runs it")


Source: TypeAlias = RangeSource | IterableSource | FeedSource | TextSource | FrameSource
NotedStep: TypeAlias = Distinct | GroupReduce | Aggregates | Reduce | Count | Sum | Min | Max | Take
Step: TypeAlias = Pass | NotedStep


@dataclass(frozen=True)
class Plan:
    """A source and its steps, the first step first, and where the results go."""

    source: Source
    steps: tuple[Step, ...] = ()
    #: Where the results are written, with their columns; None: they come back to the driver.
    target: Target | None = None
    output: RowType | None = None

    def then(self, step: Step) -> Plan:
        """A longer plan; two passes next to each other stay two, the executors run them in one go all the same."""
        return Plan(self.source, (*self.steps, step))

    def into(self, target: Target, output: RowType | None) -> Plan:
        """The same plan with its results written to ``target``, as columns of ``output`` or as the items they are."""
        return Plan(self.source, self.steps, target, output)

    @property
    def earlier(self) -> Plan | None:
        """The part that makes the rows, where Python does."""
        source = self.source
        return source.origin.plan if isinstance(source, FrameSource) and isinstance(source.origin, Computed) else None

    @property
    def first(self) -> Source:
        """What the whole pipeline reads."""
        return self.source if self.earlier is None else self.earlier.first

    @property
    def observing(self) -> list[list[Observing]]:
        """What is told what passes in Python, on the executors: of each stage between shuffles that has any."""
        stages: list[list[Observing]] = [[]] if self.earlier is None else [*self.earlier.observing, []]
        for step in self.steps:
            if isinstance(step, Pass):
                stages[-1] += step.observing
            else:
                stages.append([])
        return [stage for stage in stages if stage]

    @property
    def counting(self) -> bool:
        """Whether something is counted on the way, by Spark or in Python. A run that is given up has counted as well."""
        source = self.source
        if isinstance(source, FrameSource):
            counted = source.counting
        else:
            counted = isinstance(source, TextSource) and source.on_bad != "fail"
        return counted or bool(self.observing) or (self.earlier is not None and self.earlier.counting)

    @property
    def one(self) -> bool:
        """Whether its result is one item at most."""
        return bool(self.steps) and isinstance(self.steps[-1], Reduce | Count | Sum | Min | Max)
