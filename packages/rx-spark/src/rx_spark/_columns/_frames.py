"""DataFrames as sources: where rows come from, and the steps that are columns.

A :class:`FrameSource` is a description; :meth:`FrameSource.open` makes the DataFrame in a session, each time a job runs. The
DataFrame's columns are always the fields of ``row``, in their order: each step renames what it makes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from rx_spark._columns._column import BARRIER, Column, Guard, Rows, raised
from rx_spark._columns._json_lines import JsonLines
from rx_spark._columns._rows import RowType, quoted
from rx_spark._columns._screen import Screen, Watch
from rx_spark._java_classes import java_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from rx_spark._columns._observed import Observing


class Sessions(Protocol):
    """The application's session, for reading, and ours for DataFrames."""

    @property
    def application(self) -> SparkSession: ...

    @property
    def frames(self) -> SparkSession: ...


class Origin(Protocol):
    """Where the rows are; ``shown`` names it in errors and plans."""

    @property
    def shown(self) -> str: ...

    def open(self, session: SparkSession) -> DataFrame: ...


@dataclass(frozen=True)
class Given:
    """A DataFrame of the application."""

    frame: DataFrame = field(repr=False)
    shown: str = "dataframe(df)"

    def open(self, session: SparkSession) -> DataFrame:
        return self.frame

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a DataFrame lives on the driver only")


@dataclass(frozen=True)
class Files:
    """What ``spark.read`` reads: files of a format, under paths or URLs that Spark knows."""

    format: str
    paths: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    #: The columns, as Spark's schema or its spelling of one: those of the class for formats that have no types of their own, and
    #: what was found when the source was made for the others, so that a job does not look at the files for it again.
    schema: Any = field(default=None, compare=False)
    #: What it is called where there are no paths.
    name: str = ""
    #: Columns whose values are not as Spark reads them: (name, SQL).
    computed: tuple[tuple[str, str], ...] = ()
    #: Of JSON of one object a line: how lines are parsed.
    lines: JsonLines | None = None
    #: The columns that are names of folders.
    folders: frozenset[str] = frozenset()
    #: The columns of each file, and whether a class says them; None: each file may have its own.
    row: RowType | None = field(default=None, compare=False)
    given: bool = False

    @property
    def shown(self) -> str:
        return f"{self.format}({', '.join(map(repr, self.paths or (self.name,)))})"

    def open(self, session: SparkSession) -> DataFrame:
        if self.lines is not None:
            return self._made(self.lines.read(session, list(self.paths), self.schema, self.folders, dict(self.options)))
        reader = session.read.format(self.format).options(**dict(self.options))
        if self.schema is not None:
            reader = reader.schema(self.schema)
        return self._made(reader.load(list(self.paths)) if self.paths else reader.load())

    def _made(self, frame: DataFrame) -> DataFrame:
        if not self.computed:
            return frame
        computed = dict(self.computed)
        return frame.selectExpr(*(f"{computed.get(name, quoted(name))} AS {quoted(name)}" for name in frame.columns))


def folder_columns(frame: DataFrame) -> frozenset[str]:
    """The columns of a DataFrame of files that come from names of folders."""
    return frozenset(file_index(frame).partitionSchema().fieldNames())


def file_index(frame: DataFrame) -> Any:
    """Spark's list of the files of a source, in the JVM."""
    made: Any = frame
    return made._jdf.queryExecution().analyzed().collectLeaves().apply(0).relation().location()


@dataclass(frozen=True)
class Table:
    """A table or view that the session knows by name."""

    name: str

    @property
    def shown(self) -> str:
        return f"table({self.name!r})"

    def open(self, session: SparkSession) -> DataFrame:
        return session.read.table(self.name)


@dataclass(frozen=True)
class Query:
    """A query in SQL."""

    text: str

    @property
    def shown(self) -> str:
        return f"sql({' '.join(self.text.split())!r})"

    def open(self, session: SparkSession) -> DataFrame:
        return session.sql(self.text)


#: The condition that every row fulfils.
EVERY: Final = "true"


# --- steps ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Where:
    """Keeps the rows for which a condition of SQL is true, and raises first where a guard says so."""

    condition: str
    guards: tuple[Guard, ...] = ()

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.where(checking(self.guards, self.condition))

    def unless(self, known: set[str]) -> Where | None:
        """The same for rows that these guards have let pass, which are put into ``known``; None when nothing is left to ask."""
        left = {guard.when: guard for guard in reversed(self.guards) if guard.when not in known}
        known.update(left)
        if not left and self.condition == EVERY:
            return None
        return replace(self, guards=tuple(guard for guard in self.guards if left.get(guard.when) is guard))

    def unknown(self) -> Where:
        """The same, of which Spark cannot know that it is never true: it makes no rows then, and one may raise before."""
        return replace(self, condition=f"IF({BARRIER}, {self.condition}, true)")


@dataclass(frozen=True)
class Select:
    """Makes columns: (SQL, name)."""

    columns: tuple[tuple[str, str], ...]

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.selectExpr(*(f"{sql} AS {quoted(name)}" for sql, name in self.columns))


@dataclass(frozen=True)
class Explode:
    """A row for each item of a list, in their order."""

    items: str

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.selectExpr(f"explode({self.items}) AS value")


@dataclass(frozen=True)
class Group:
    """One row for each key, or one for all: the keys' columns, then the aggregates."""

    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, str], ...]

    def apply(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions

        made = [functions.expr(f"{sql} AS {quoted(name)}") for sql, name in self.aggregates]
        keys = [functions.expr(quoted(key)) for key in self.keys]
        return frame.groupBy(*keys).agg(*made) if made else frame.select(*keys).distinct()


@dataclass(frozen=True)
class Unique:
    """Equal rows once."""

    def apply(self, frame: DataFrame) -> DataFrame:
        return frame.distinct()


@dataclass(frozen=True)
class Sort:
    """The rows in the order of some columns, or the first ``count``. Where these are equal, all columns decide."""

    keys: tuple[str, ...]
    reverse: bool
    count: int | None = None

    def apply(self, frame: DataFrame) -> DataFrame:
        from pyspark.sql import functions

        columns = [*(functions.expr(key) for key in self.keys), *(_sortable(name, frame) for name in frame.columns)]
        made = frame.orderBy(*(column.desc() if self.reverse else column.asc() for column in columns))
        return made if self.count is None else made.limit(self.count)


@dataclass(frozen=True)
class Observe:
    """Lets rows pass; Spark computes ``metrics`` of them, from which the aggregates are made."""

    observing: Observing
    metrics: tuple[tuple[str, str], ...]

    def apply(self, frame: DataFrame, observation: Any = None) -> DataFrame:
        """With an ``observation`` of Spark's, which is told them; by a name alone they are in the plan and nowhere else."""
        from pyspark.sql import functions

        given = self.named() if observation is None else observation
        return frame.observe(given, *(functions.expr(f"{sql} AS {quoted(name)}") for sql, name in self.metrics))

    def named(self) -> str:
        return f"{self.observing.seen.name} ({self.observing.token})"

    def tell(self, metrics: dict[str, Any]) -> None:
        self.observing.tell_values(
            [_result(each.kind, f"_{at}", metrics) for at, (_, each) in enumerate(self.observing.aggregates)]
        )


def _result(kind: str, name: str, metrics: dict[str, Any]) -> Any:
    """An aggregate of what Spark made of it. Spark's sum of nothing is null."""
    found = metrics.get(name)  # there are none at all where Spark found that there is nothing to read
    if kind in ("count", "sum"):
        return 0 if found is None else found
    return found / metrics[f"{name}n"] if kind == "average" and found is not None else found


#: What has been asked of Spark, for the run that asks: by which step, and Spark's answer in the making.
Asked: TypeAlias = list[tuple["Observe | Screen", "Observation"]]
ColumnStep: TypeAlias = Where | Select | Explode | Group | Unique | Sort | Observe


def checking(guards: tuple[Guard, ...], condition: str = EVERY) -> str:
    """``condition``, raising first where a guard says so.

    Spark evaluates the branches of CASE in their order; but it moves later conditions down to the scan, which would leave out
    rows that raise. It moves none past a condition that is not deterministic.
    """
    if not guards:
        return condition
    branches = " ".join(f"WHEN {guard.when} THEN {raised(guard)}" for guard in guards)
    return f"(CASE {branches} ELSE {condition} END) AND {BARRIER}"


def guarded(guards: tuple[Guard, ...]) -> tuple[ColumnStep, ...]:
    """The step that raises where a guard says so, if there are any."""
    return (Where(EVERY, guards),) if guards else ()


@dataclass(frozen=True)
class FrameSource:
    """Rows of a DataFrame after some steps. ``one``: there is a single row, of a single value, and ``start`` is added to it."""

    origin: Origin
    row: RowType
    steps: tuple[ColumnStep, ...] = ()
    one: bool = False
    start: Any = None
    #: Fields that were looked at for nulls: no row gets past that has one there.
    checked: frozenset[str] = frozenset()
    #: Columns of fewer bits than Python's numbers have.
    narrow: frozenset[str] = frozenset()
    #: While there were only filters: under which conditions they raise. None: the scan cannot be told of further ones.
    raising: tuple[str, ...] | None = ()
    #: Whether an item is a whole Arrow batch, and as what; empty: a row.
    batches: str = ""
    #: Whether rows of a task may come in another order when it runs again: behind a shuffle of Spark's.
    shuffled: bool = False
    #: Whether each task has the rows behind those of the one before it, in an order that is always the same.
    ordered: bool = False
    #: The guards that every row has passed since its columns were made: asked once.
    passed: frozenset[str] = frozenset()
    #: What looks at each record before all steps, where a record may not fit.
    screen: Screen | None = None
    #: Whether functions of Python make the rows.
    computed: bool = False

    @property
    def rows(self) -> Rows:
        """What expressions are over."""
        return Rows(self.row, self.checked, self.narrow)

    @property
    def made_by_driver(self) -> bool:
        """Whether rows that go to the driver as they are become items there, and not in a task."""
        return not self.batches and self.row.made_anywhere

    @property
    def raises(self) -> bool:
        """Whether a row may raise on the way."""
        told = self.screen is not None and self.screen.on_bad == "fail"
        return told or self.computed or any(isinstance(step, Where) and step.guards for step in self.steps)

    @property
    def counting(self) -> bool:
        """Whether Spark counts something on the way: records that are left out, or what passes an observation."""
        leaves_out = self.screen is not None and self.screen.on_bad != "fail"
        return leaves_out or any(isinstance(step, Observe) for step in self.steps)

    def then(self, *steps: ColumnStep, row: RowType | None = None, checked: frozenset[str] | None = None) -> FrameSource:
        kept, passed = self._asking_once(steps)
        return replace(
            self,
            raising=self.raising if not self.steps else None,
            ordered=self.ordered and not any(isinstance(step, Group | Unique) for step in steps),
            steps=(*self.steps, *kept),
            passed=passed,
            row=self.row if row is None else row,
            checked=self.checked if checked is None else checked,
        )

    def taking(self, names: Sequence[str]) -> FrameSource:
        """Plain tuples of some values of the rows."""
        fields = [field for field in map(self.row.field, names) if field is not None]
        row = replace(self.row, fields=tuple(fields), form="tuple", make=None)
        return self.then(Select(tuple((quoted(name), name) for name in names)), row=row)

    def filtered(self, found: Column, checked: frozenset[str]) -> FrameSource:
        """With the rows for which a condition is true. The scan is told as much of it as file formats understand; rows that
        raise, here or in an earlier filter, have to get as far as that."""
        exact = Where(found.sql, found.guards)
        raising = self.raising
        if raising is None or not all(guard.null for guard in found.guards):
            return replace(self.then(exact, checked=checked), raising=None)
        kept, passed = self._asking_once([exact])
        raising = tuple(dict.fromkeys((*raising, *(guard.when for guard in found.guards))))
        if self.screen is not None:  # the scan can only be told which folders to leave out
            screen = self.screen if raising else self.screen.pruning(found.loose)
            return replace(self, steps=(*self.steps, *kept), checked=checked, raising=raising, passed=passed, screen=screen)
        steps: tuple[ColumnStep, ...] = (*self.steps, *kept)
        if raising and self._is_told(found):
            hint = Where(" OR ".join((found.loose, *raising)))
            steps = (*self.steps[:1], hint, *self.steps[1:], *kept)  # in front of all that raises
        return replace(self, steps=steps, checked=checked, raising=raising, passed=passed)

    def _is_told(self, found: Column) -> bool:
        """Whether a scan may read less when it knows a condition. Of what is not read from files that is not known."""
        if not found.loose or found.plain or not isinstance(self.origin, Files):
            return bool(found.loose)
        return any(quoted(name) in found.loose for name in self.origin.folders)

    def _asking_once(self, steps: Sequence[ColumnStep]) -> tuple[list[ColumnStep], frozenset[str]]:
        """Steps without the guards that rows have passed, and those that they have passed behind them."""
        kept: list[ColumnStep] = []
        passed = set(self.passed)
        raises = self.raises
        for step in steps:
            asked = step.unless(passed) if isinstance(step, Where) else step
            if isinstance(asked, Where):
                if raises and not asked.guards:
                    asked = asked.unknown()
                raises = raises or bool(asked.guards)
            if isinstance(step, Select | Explode | Group):
                passed.clear()  # other columns
            kept += () if asked is None else (asked,)
        return kept, frozenset(passed)

    def open(
        self, engine: Sessions, *, stable: bool = False, asked: Asked | None = None, computed: DataFrame | None = None
    ) -> DataFrame:
        """The DataFrame. ``stable``: in an order within each task that is the same when the task runs again. What is observed on
        the way is put into ``asked``. ``computed``: the rows of the origin, where a job has made them."""
        frame = rebound(self.origin.open(engine.application), engine.frames) if computed is None else computed
        if self.screen is not None:
            frame = self.screen.apply(frame, None if asked is None else _watching(self.screen, asked))
        for step in self.steps:
            if asked is not None and isinstance(step, Observe):
                asked.append((step, observation := _observation(step.named())))
                frame = step.apply(frame, observation)
            else:
                frame = step.apply(frame)
        if stable and not self.ordered and (self.shuffled or (not isinstance(self.origin, Files) and has_exchange(frame))):
            frame = frame.sortWithinPartitions(*(_sortable(name, frame) for name in self.row.names))
        return frame


def _observation(name: str) -> Observation:
    from pyspark.sql import Observation

    return Observation(name)


def _watching(screen: Screen, asked: Asked) -> Watch:
    return lambda observation: asked.append((screen, observation))


def scan_notes(source: FrameSource, engine: Sessions) -> list[str]:
    """What Spark's plan says of each scan: the filters that reach it, and the columns that are read. Nothing runs."""
    frame: Any = source.open(engine)
    text = frame._jdf.queryExecution().executedPlan().toString()
    return [f"scan: {' '.join(_SCAN.findall(line))}" for line in text.splitlines() if _SCAN.search(line)]


_SCAN: Final = re.compile(r"PushedFilters: \[.*?\]|ReadSchema: struct<.*>(?=,|$)")


def rebound(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same DataFrame, planned in another session; its expressions stay as they were analyzed."""
    from pyspark.sql.classic.dataframe import DataFrame as Classic

    made: Any = frame
    own: Any = session
    dataset = java_class(session.sparkContext._jvm, "org.apache.spark.sql.classic.Dataset")
    return Classic(dataset.ofRows(own._jsparkSession, made._jdf.queryExecution().analyzed()), session)


def has_exchange(frame: DataFrame) -> bool:
    made: Any = frame
    return "Exchange" in made._jdf.queryExecution().executedPlan().toString()


def _sortable(name: str, frame: DataFrame) -> Any:
    from pyspark.sql import functions

    kind = frame.schema[name].dataType.simpleString()
    # Maps and variants have no order; their text will do.
    return functions.expr(f"to_json({quoted(name)})" if "map<" in kind or "variant" in kind else quoted(name))
