"""Ask before a job runs: :func:`check` tells, :func:`strict` refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from rx_core import hooks
from rx_core._errors import RxError
from rx_spark._checks._cluster import check_master, is_cluster, on_cluster
from rx_spark._checks._walk import Walk
from rx_spark._pipelines._steps import Step


class Checkable(Protocol):
    """A Flowable, Single, Maybe or Completable."""

    def explain(self, *, offers: bool = False) -> str: ...


F = TypeVar("F", bound=Checkable)


@dataclass(frozen=True)
class Report:
    """Where each operator of a pipeline would run, the sources first. ``str(report)`` is a table."""

    pipeline: str
    steps: tuple[Step, ...]
    master: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the job would start, and no operator falls back to the driver."""
        return not self.refused and not self.fall_backs

    @property
    def refused(self) -> tuple[Step, ...]:
        """What the job would not start for."""
        return tuple(step for step in self.steps if step.where == "refused")

    @property
    def fall_backs(self) -> tuple[Step, ...]:
        """Operators on the driver that items come back for; what gives the result to the program is none."""
        return tuple(step for step in self.steps if step.falls_back)

    def __str__(self) -> str:
        wide = max((len(step.operator) for step in self.steps), default=0)
        wide = min(wide, 40)
        lines = [f"{self.pipeline}{f' on {self.master}' if self.master else ''}"]
        for step in self.steps:
            long = len(step.operator) > wide
            lines.append(f"  {step.where:<8} {step.operator:<{wide}}" + ("" if long else f"  {step.reason}"))
            more = [step.reason] if long else []
            more += [f"instead: {step.remedy}"] if step.remedy else []
            more += [step.place] if step.place else []
            lines += [f"{'':<{wide + 13}}{text}" for text in more]
        counts = Counter(step.where for step in self.steps)
        return "\n".join([*lines, "  " + ", ".join(f"{count} {where}" for where, count in counts.items())])


class StrictError(RxError, ValueError):
    """A pipeline that was to run on Spark alone does not; ``steps`` are the operators that stand in its way."""

    def __init__(self, message: str, steps: tuple[Step, ...] = ()) -> None:
        super().__init__(message)
        self.steps = steps


def check(flow: Checkable, /, master: str | None = None) -> Report:
    """Where each operator of ``flow`` would run, why, and what to write instead. Nothing runs, and no Java is needed.

    A step is a "column" (Spark computes it), a "pass" (Python on the executors, over Arrow batches), a "shuffle" (Python on both
    sides of one), on the "driver", or "refused": a function that cannot be sent, a master that cannot be used. With ``master`` it
    says what a cluster changes: whose disks paths are on, which modules of yours travel.

    Sources of rows have to know their columns, so making one starts a session; asking about it does not.

    Raises ValueError for a master that Spark does not know, TypeError for what is no pipeline.
    """
    if not hasattr(flow, "_resolve"):
        raise TypeError(f"check({flow!r}): a pipeline is needed.\n  Right:  rx_spark.check(rx_spark.range(10).map(f))")
    if master is not None:
        check_master(master)
    hooks.ensure_loaded()
    walk = Walk(flow)
    steps: Sequence[Step] = walk.steps
    if master is not None and is_cluster(master):
        there = {id(step): made for part in walk.parts for step, made in zip(part.steps, on_cluster(part, master), strict=True)}
        steps = [there.get(id(step), step) for step in steps]
    return Report(repr(flow), tuple(steps), master)


def strict(flow: F, /, *, columns: bool = False) -> F:
    """The same ``flow``, once it is sure that Spark runs all of it: StrictError for an operator that would run on the driver.

    Put it around the whole pipeline, behind its last operator: ``rx_spark.strict(source.map(f).distinct()).to_list()``. What
    gives the result to the program (``to_list``, ``first``, a loop over it) is no fall-back, nor what works on a single value.
    With ``columns`` functions in Python are refused as well, on the executors too: everything has to be columns.

    It looks at the pipeline at this line, and starts nothing. The error names each operator, why it is not on Spark, and what to
    write instead; ``error.steps`` has them as data. What cannot be sent to the executors is refused with it.
    """
    found = check(flow)
    bad = [*found.refused, *found.fall_backs]
    if columns:
        bad += [step for step in found.steps if step.where in ("pass", "shuffle")]
    if bad:
        told = "".join(f"  {step}\n" for step in bad)
        allowed = "columns of Spark" if columns else "on Spark"
        raise StrictError(
            f"strict(): {len(bad)} of the {len(found.steps)} steps of {found.pipeline} "
            f"{'is' if len(bad) == 1 else 'are'} not {allowed}:\n{told}"
            f"  To let it run all the same:  leave strict() out, or put it around the part that has to be",
            tuple(bad),
        )
    return flow
