"""Write docs/guides/spark-operators.md: where each operator runs behind a source of rx_spark, why, and what to write instead.

    python -m tools.spark_operators            write the page
    python -m tools.spark_operators --check    fail where the page is not what the library says

Each form of each operator in the conformance table is put behind a source, and ``rx_spark.check`` is asked about it. So a new
operator, another reason or remedy, or a stage that Spark runs from now on make the page differ until it is written again.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import rx_spark
from rx_fusion import stage_of
from rx_ops import Flowable
from rx_spark._pipelines._relational import COLUMN_STEPS
from rx_spark._pipelines._steps import VERSIONS
from rx_spark._transport._wire import CHUNK
from tests.conformance.harness import Case, Kit
from tests.conformance.operators import OPERATORS
from tests.conformance.table import TABLE

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "guides" / "spark-operators.md"
COMMAND: Final = "python -m tools.spark_operators"

Build = Callable[[Any], Any]


def _at_once(_item: object) -> Flowable[int]:
    return Flowable.just(0)


#: Forms that the conformance table has not, or not with the source in sight.
FORMS: Final[dict[str, tuple[tuple[str, Build], ...]]] = {
    "cache": (("", lambda flow: flow.cache()),),
    "cache_ttl": (("", lambda flow: flow.cache_ttl(1.0)),),
    "group_by": (
        ("and a reduction in flat_map", lambda flow: flow.group_by(str).flat_map(lambda group: group.reduce(operator.add))),
        ("otherwise", lambda flow: flow.group_by(str)),
    ),
    "group_join": (("", lambda flow: flow.group_join(flow, _at_once, _at_once, lambda _item, window: window)),),
    "join": (("", lambda flow: flow.join(flow, _at_once, _at_once)),),
    "repeat_until": (("", lambda flow: flow.repeat_until(bool)),),
    "retry": (("", lambda flow: flow.retry(2)),),
    "to_dict": (("", lambda flow: flow.to_dict(str)),),
}
#: Not operators that run somewhere: what the user's function makes of the flow, the same flow as another type, no items at all.
LEFT_OUT: Final = frozenset(("compose", "pipe", "to_observable", "never"))
#: What a form is called here, where the conformance table calls it otherwise, or has no plain one.
_FORM: Final = {
    "switch_map single": "",
    "exhaust_map single": "",
    "timeout selector": "",
    "slice but last": "(from the end)",
    "distinct key": "with a key",
}
#: A method that is spelled otherwise in a plan.
SPELLED: Final = {
    "amb_with": "amb",
    "concat_with": "concat",
    "first_element": "take",
    "merge_with": "merge",
    "start_with": "concat",
    "zip_with": "zip",
}
#: Operators whose functions become columns over rows, where these can be.
COLUMNS: Final = frozenset(stage_of(stage).name for stage in COLUMN_STEPS) | {"group_by"}

#: Those that Spark does for columns alone.
ROWS_ONLY: Final = frozenset(("sorted",))


class Row(NamedTuple):
    """One form of an operator, and where it runs."""

    name: str
    form: str
    step: rx_spark.Step

    def line(self) -> str:
        shown = f"`{self.name}`{f' {self.form}' if self.form else ''}"
        step = self.step
        columns = (step.where in ("pass", "shuffle") or self.name in ROWS_ONLY) and self.name in COLUMNS
        rows = "column" if columns else step.where
        reason = step.reason.partition("; in pyspark ")[0]  # the page is about all versions, whichever is here
        return f"| {shown} | {rows} | {step.where} | {reason} | {step.remedy} |"


class PageError(Exception):
    """An operator of the inventory is not in sight of Spark in any form."""


def rows() -> Iterator[Row]:
    """Of each operator the forms that differ in where they run or why."""
    for each in OPERATORS:
        if "F" not in each.types or each.has("ending") or each.name in LEFT_OUT:
            continue
        found = list(_different(each.name))
        if not found and not each.has("source"):
            raise PageError(f"{each.name}: no form of it has its source in sight; add one to FORMS in tools/spark_operators.py")
        yield from found


def _different(name: str) -> Iterator[Row]:
    seen: set[tuple[str, str, str]] = set()
    for form, build in _forms(name):
        step = _step(name, build(rx_spark.range(9)))
        if step is not None and (step.where, step.reason, step.remedy) not in seen:
            seen.add((step.where, step.reason, step.remedy))
            yield Row(name, form, step)


def _forms(name: str) -> Iterator[tuple[str, Build]]:
    if name in FORMS:
        yield from FORMS[name]
        return
    for case in TABLE:
        first, _, form = case.name.partition(" ")
        if first == name:
            yield _FORM.get(case.name, form), partial(_built, case)


def _built(case: Case, flow: Any) -> Any:
    return case.build(flow, Kit())


def _step(name: str, flow: Any) -> rx_spark.Step | None:
    steps = rx_spark.check(flow).steps
    spelled = SPELLED.get(name, name)
    mine = [step for step in steps if step.operator.startswith((f"{spelled}(", f"{spelled}."))]
    if not any(step.operator.startswith("rx_spark.range") for step in steps):
        return None
    return mine[-1] if mine else steps[-1]


HEAD: Final = f"""# Operators on Spark

Where each operator of `Flowable` runs behind a source of `rx_spark`, as `rx_spark.check(flow)` says of it
([known before it runs](spark.md#known-before-it-runs)). The tests write this page anew and compare: `{COMMAND}`.

"Over rows" is about sources of rows, and expressions of `it` that [become columns](spark-columns.md); with a function in Python,
or behind one, it is as over items. What is behind an operator on the driver is there, too. So is what follows a `take` or a
single value; that is a fall-back only where more than {CHUNK:,} items come.
"""

SECTIONS: Final[tuple[tuple[str, Callable[[rx_spark.Step], bool]], ...]] = (
    ("On the executors", lambda step: step.where != "driver"),
    ("At the end, for the program", lambda step: step.where == "driver" and step.ends),
    ("On the driver", lambda step: step.falls_back),
)
TOP: Final = "| operator | over rows | over items | why | instead |\n| --- | --- | --- | --- | --- |"
VERSIONS_HEAD: Final = """## Versions of Spark

The table is the same for all versions of pyspark that rx-spark runs on; how a shuffle is made differs.

| operators | since | before | from then on |
| --- | --- | --- | --- |"""


def page() -> str:
    found = list(rows())
    parts = [HEAD]
    for title, belongs in SECTIONS:
        lines = [row.line() for row in found if belongs(row.step)]
        parts.append("\n".join([f"## {title}\n", TOP, *lines]) + "\n")
    versions = [f"| {names} | pyspark {'.'.join(map(str, since))} | {old} | {new} |" for since, names, old, new in VERSIONS]
    parts.append("\n".join([VERSIONS_HEAD, *versions]) + "\n")
    return "\n".join(parts)


def main(args: Sequence[str], path: Path = PAGE) -> int:
    wanted = page()
    if "--check" not in args:
        path.write_text(wanted, encoding="utf-8")
        return 0
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    if there == wanted:
        return 0
    lines = set(there.splitlines())
    print("\n".join(line for line in wanted.splitlines() if line not in lines), file=sys.stderr)
    print(f"{path} is not what the library says; write it:  {COMMAND}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
