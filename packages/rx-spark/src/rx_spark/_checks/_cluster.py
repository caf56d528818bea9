"""What a cluster changes: its machines have other disks, other memory and other modules than this one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rx_spark._columns._frames import Files, FrameSource, Given
from rx_spark._errors import NotPortableError
from rx_spark._plans._plan import IterableSource, TextSource
from rx_spark._plans._targets import FileTarget
from rx_spark._session._ship import own_modules
from rx_spark._workers._portable import dump_plan_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rx_spark._checks._walk import Part
    from rx_spark._pipelines._steps import Step

_KNOWN: Final = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|(spark|k8s|sc)://.+|yarn")
_CONNECT: Final = "Spark Connect has no SparkContext, and that is what jobs are run through"
_NAMED: Final = "the cluster's own master:  spark://host:7077, yarn, k8s://..."
_EVERYWHERE: Final = "a place that all machines see:  a shared folder, hdfs://..., s3a://..."


def check_master(master: str) -> None:
    """ValueError for what Spark does not know as a master."""
    if not _KNOWN.fullmatch(master):
        raise ValueError(
            f"check(master={master!r}): Spark knows no such master.\n"
            f"  Right:  'local[2]', 'spark://host:7077', 'yarn', 'k8s://https://host:6443'"
        )


def is_cluster(master: str | None) -> bool:
    return master is not None and not re.fullmatch(r"local(\[.+\])?", master)


def on_cluster(part: Part, master: str) -> tuple[Step, ...]:
    """The steps of a part, as they would be there."""
    if master.startswith("sc://"):
        return tuple(replace(step, where="refused", reason=_CONNECT, remedy=_NAMED) for step in part.steps)
    source, *others = part.steps
    added, remedy = _of_source(part)
    if added:
        source = replace(source, reason=f"{source.reason}; {added}", remedy=remedy or source.remedy)
    target = part.head.plan.target
    if isinstance(target, FileTarget) and "://" not in target.path:
        reason = f"{others[-1].reason}; without a scheme the path is one of the cluster's file system"
        others[-1] = replace(others[-1], reason=reason, remedy=_EVERYWHERE)
    return (source, *(_with_modules(step, names) for step, names in zip(others, _modules(part), strict=True)))


def _of_source(part: Part) -> tuple[str, str]:
    source = part.head.plan.first
    if isinstance(source, IterableSource):
        return "over the network, at most 1 GiB", ""
    if isinstance(source, TextSource) and not source.by_spark:
        return "each executor opens it under the same path", _EVERYWHERE
    if isinstance(source, FrameSource):
        if isinstance(source.origin, Given):
            return "in the session that the DataFrame was made in, whatever master that has", ""
        if isinstance(source.origin, Files) and not all("://" in path for path in source.origin.paths):
            return "without a scheme the path is one of the cluster's file system", _EVERYWHERE
    return "", ""


def _modules(part: Part) -> Iterator[frozenset[str]]:
    """The user's modules that travel with each operator."""
    for made in part.head.all_calls:
        try:
            yield own_modules(dump_plan_part(made.args)) if made.kind != "column" else frozenset()
        except NotPortableError:
            yield frozenset()


def _with_modules(step: Step, names: frozenset[str]) -> Step:
    if not names or step.where == "refused":
        return step
    several = "modules travel" if len(names) > 1 else "a module travels"
    return replace(step, reason=f"{step.reason}; {several} with it: {', '.join(sorted(names))}")
