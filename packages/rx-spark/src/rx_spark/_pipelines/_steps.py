"""What becomes of each operator in the part of a pipeline that Spark runs. Nothing runs, and there need not be a session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rx_core.build_places import whereabouts
from rx_fusion import _build_lines
from rx_spark._columns._frames import FrameSource
from rx_spark._pipelines._notes import COMBINED, SHUFFLES, refusal_of, to_one
from rx_spark._plans._plan import IterableSource, RangeSource

if TYPE_CHECKING:
    from rx_spark._pipelines._calls import Call
    from rx_spark._pipelines._head import SparkHead

Where: TypeAlias = Literal["column", "pass", "shuffle", "driver", "refused"]


@dataclass(frozen=True)
class Step:
    """An operator of a pipeline, or one of its sources, and where it runs.

    ``where``: "column" (Spark itself, no Python), "pass" (Python over Arrow batches, on the executors), "shuffle" (Python on both
    sides of an exchange), "driver" (in this process) or "refused" (the job would not start). ``reason`` says why it is there,
    ``remedy`` what to write to have it elsewhere, ``place`` the line, where that is known. ``ends``: it runs on the driver and
    gives the result to the program, or works on one; so it is no fall-back.
    """

    operator: str
    where: Where
    reason: str
    remedy: str = ""
    place: str = ""
    ends: bool = False

    @property
    def falls_back(self) -> bool:
        """Whether items come to the driver for it that Spark might have kept."""
        return self.where == "driver" and not self.ends

    def __str__(self) -> str:
        text = f"{self.operator}: {self.reason}"
        if self.where == "driver":
            text = f"{self.operator} runs on the driver{', ' if self.reason.startswith('because ') else ': it '}{self.reason}"
        remedy = f"\n    Instead:  {self.remedy}" if self.remedy else ""
        return text + (f" ({self.place})" if self.place else "") + remedy


#: What differs between the versions of pyspark that we run on: since when, of which operators, before, from then on.
VERSIONS: Final = (
    (
        (4, 1),
        "distinct, group_reduce, group_aggregate, group_by and a reduction",
        "keys go to tasks by a second hash (repartition), so that one task may get the keys of several and another none",
        "each task gets its own share of the keys (repartitionById)",
    ),
)

_FUNCTION: Final = "an expression of it, where one says the same (docs/guides/spark-columns.md)"


def spark_version() -> tuple[int, int]:
    """Of the pyspark that is installed; it is not imported."""
    major, minor = version("pyspark").split(".")[:2]
    return int(major), int(minor)


def place_of(name: str, args: tuple[object, ...]) -> str:
    """Where an operator with these arguments was built, or where its lambda is written; empty where neither is known."""
    return whereabouts(name, args, _build_lines.place_of(args, 0, name)).removeprefix(", ")


def steps_of(head: SparkHead) -> Iterator[Step]:
    """The source and each operator that was absorbed, in their order."""
    if head.before is not None:
        yield from steps_of(head.before)
    else:
        yield _source(head)
    border = head.border
    rows = isinstance(head.plan.source, FrameSource)
    for made in head.calls:
        refused = refusal_of(made)
        if refused is not None:
            yield Step(str(made), "refused", *refused, place_of(made.name, made.args))
            continue
        where, reason = _where(made, head)
        remedy = ""
        if made.kind not in ("column", "write", "limit", "rows") and border is not None:
            reason, remedy, border = f"{border.reason}; {reason}", _FUNCTION, None
        elif made.kind == "pass" and rows:
            reason = f"{reason}, behind what needs Python already"
        yield Step(str(made), where, reason, remedy, place_of(made.name, made.args))


def _source(head: SparkHead) -> Step:
    source = head.plan.source
    if isinstance(source, FrameSource):
        if source.batches:
            return Step(head.shown, "pass", "whole batches of rows are the items")
        columns = "all of its columns, as each record is looked at" if source.screen else "of its columns those that are used"
        return Step(head.shown, "column", f"Spark reads it, and {columns}")
    if isinstance(source, IterableSource):
        return Step(head.shown, "pass", "the driver reads it whole before the job starts, and sends it to the tasks")
    if isinstance(source, RangeSource):
        return Step(head.shown, "pass", "the tasks make the numbers")
    return Step(head.shown, "pass", "the tasks read it, each a part")


def _where(made: Call, head: SparkHead) -> tuple[Where, str]:
    match made.kind:
        case "column":
            return "column", "Spark computes it, and gives Python's answer"
        case "pass":
            return "pass", "runs in one pass with its neighbours"
        case "calls":
            return "pass", "each task calls it for several items at a time"
        case "rows":
            return "pass", "the tasks put what they have made into columns"
        case "limit":
            return "pass", "each task gives no more, and the job stops when there are as many"
        case "one":
            return "shuffle", to_one(head.plan)
        case "write":
            if head.plan.output is not None and not head.plan.steps:
                return "column", "Spark writes the rows where they are, and commits them"
            return "pass", "the tasks write what they have made" if head.plan.output else "the tasks do it"
        case _:
            return "shuffle", SHUFFLES.get(made.name, COMBINED) + _by_version()


def _by_version() -> str:
    here = spark_version()
    return "".join(f"; in pyspark {here[0]}.{here[1]} {before}" for since, _, before, _ in VERSIONS if here < since)
