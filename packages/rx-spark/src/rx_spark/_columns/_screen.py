"""Records of text formats that do not fit: which they are, as SQL, and what becomes of them.

Spark reads in its PERMISSIVE mode, which gives a row for every record, and the text of one that it could not read in a column
of its own (:data:`RECORD`). What is bad must not depend on what the pipeline does later: the step that looks is in front of all
others, no filter moves past it, and it reads every column, because Spark finds nothing wrong with a value that it need not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import TYPE_CHECKING, Final, TypeAlias

from rx_spark._bad_records import SHOWN, WARNED, BadRecords, OnBad
from rx_spark._columns._column import BARRIER, MARK, text_of
from rx_spark._columns._json_lines import LINE, WHY
from rx_spark._columns._nulls import Inner, null_conditions
from rx_spark._columns._rows import RowType, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

#: The column in which Spark puts a record that it cannot read.
RECORD: Final = "_rx_record"
#: In the description of a line: any value, and what is between two.
ANY: Final = "\x01"
NEXT: Final = "\x02"
#: How much is told of a line that has to be looked for.
LIKE: Final = 2000
_BAD: Final = "_rx_bad"
_REPLACED: Final = "\ufffd"  # what Java's decoders put in the place of bytes that they do not understand
_NAME: Final = re.compile(r"`((?:[^`]|``)+)`")

#: Called with what is observed while a job runs.
Watch: TypeAlias = Callable[["Observation"], object]


@dataclass(frozen=True)
class Screen:
    """Looks at each record of a CSV or JSON source."""

    on_bad: OnBad
    #: All columns that are read.
    row: RowType
    #: Columns whose values are names of folders.
    partitioned: frozenset[str] = frozenset()
    encoding: str = "utf-8"
    #: Whether a character that stands for undecodable bytes makes a record a bad one.
    strict: bool = True
    #: Of CSV: what is between two values. Empty: the format is JSON.
    separator: str = ""
    report: BadRecords | None = field(default=None, compare=False)
    #: Of JSON: whether there are columns for the line of each record, and for what is wrong with it.
    lined: bool = False
    #: Conditions on partition columns: which folders are read.
    pruned: tuple[str, ...] = ()

    @property
    def required(self) -> frozenset[str]:
        """Columns that have a value in every row that gets past."""
        return frozenset(each.name for each in self.row.fields if not each.kind.optional)

    def pruning(self, condition: str) -> Screen:
        """With what may be said to the scan of a filter on rows: it may rule out folders, not records."""
        names = set(_NAME.findall(condition))
        return replace(self, pruned=(*self.pruned, condition)) if names and names <= self.partitioned else self

    def apply(self, frame: DataFrame, watch: Watch | None) -> DataFrame:
        for condition in self.pruned:
            frame = frame.where(condition)
        if self.on_bad == "fail":
            raised = f"raise_error(concat('{MARK}BadRecordError|', to_json({self._told()})))"
            return frame.where(f"(CASE WHEN {self._bad()} THEN {raised} ELSE true END) AND {BARRIER}")
        frame = frame.selectExpr("*", f"IF({self._bad()}, {self._told()}, NULL) AS {_BAD}")
        return _observed(frame, self._kept, watch).where(f"{_BAD} IS NULL")

    @property
    def _kept(self) -> int:
        return self.report.limit if self.on_bad == "collect" and self.report is not None else WARNED

    @property
    def _columns(self) -> list[str]:
        return [quoted(each.name) for each in self.row.fields if each.name not in self.partitioned]

    def _bad(self) -> str:
        nulls = [f"{quoted(name)} IS NULL" for name in self.row.names if name in self.required]
        nulls += [condition for _, condition in self._inner]
        undecoded = [f"{WHY} IS NOT NULL"] if self.lined else [self._undecoded()] if self.strict else []
        return " OR ".join((f"{RECORD} IS NOT NULL", *nulls, *undecoded))

    @property
    def _inner(self) -> list[tuple[Inner, str]]:
        """Places inside values where no null may be, and how to ask for one."""
        return [each for field in self.row.fields if field.kind.nested for each in null_conditions(field, self.row)]

    def _undecoded(self) -> str:
        mark = text_of(_REPLACED)
        if not self.separator:
            return f"contains(to_json(struct({', '.join(self._columns)})), {mark})"
        texts = [quoted(each.name) for each in self.row.fields if each.kind.python is str and each.name not in self.partitioned]
        return " OR ".join(f"coalesce(contains({name}, {mark}), false)" for name in texts) or "false"

    def _told(self) -> str:
        """A struct of what is known of the record."""
        columns = ", ".join(self._columns)
        read = f"to_json(struct({columns}))"
        like = f"to_json(struct({columns}), map('ignoreNullFields', 'false'))"
        if self.separator:
            read, like = f"to_csv(struct({columns}), map('sep', {text_of(self.separator)}))", self._like()
        parts = {
            "path": "_metadata.file_path",
            "start": "_metadata.file_block_start",  # for the order: of a large file there are parts
            "text": f"left({self._text(read)}, {SHOWN})",
            "like": "CAST(NULL AS string)" if self.lined else f"IF({RECORD} IS NULL, left({like}, {LIKE}), NULL)",
            "separator": text_of(self.separator),
            "reason": self._reason(),
            "encoding": text_of("utf-8" if self.lined and self.encoding == "ascii" else self.encoding),  # that of the text
        }
        return f"named_struct({', '.join(f'{text_of(name)}, {sql}' for name, sql in parts.items())})"

    def _text(self, read: str) -> str:
        return f"make_valid_utf8({LINE})" if self.lined else f"coalesce({RECORD}, {read})"

    def _like(self) -> str:
        """What a line of CSV looks like of which only the values are known: text as it is, ANY for others."""
        fields = [each for each in self.row.fields if each.name not in self.partitioned]
        any_value = text_of(ANY)
        known = [
            quoted(each.name) if each.kind.python is str else f"nvl2({quoted(each.name)}, {any_value}, '')" for each in fields
        ]
        values = [f"coalesce({each}, '')" for each in known]
        return f"array_join(array({', '.join(values)}), {text_of(NEXT)})"

    def _reason(self) -> str:
        required = [each.name for each in self.row.fields if not each.kind.optional]
        count = len(self._columns)
        other = f"its values are not as many as the {count} columns" if self.separator else "it is not one JSON object"
        known = ""
        if self.lined:
            known = f"WHEN {WHY} IS NOT NULL THEN {WHY}"
        elif self.strict:
            known = f"WHEN {RECORD} IS NULL AND ({self._undecoded()}) THEN {text_of(f'it has bytes that are no {self.encoding}')}"
        return (
            f"CASE {known} "
            f"WHEN {self._missing(required)} != '' THEN concat('it gives ', {self._missing(required)}) "
            f"WHEN {self._missing(self.row.names)} != '' THEN concat('it gives ', {self._missing(self.row.names)}) "
            f"ELSE {text_of(other)} END"
        )

    def _missing(self, names: Sequence[str]) -> str:
        fields = [each for each in self.row.fields if each.name in names]
        asked = [(each.kind, each.name, f"{quoted(each.name)} IS NULL") for each in fields]
        asked += [(place.kind, place.path, condition) for place, condition in self._inner]
        said = [text_of(f"no {replace(kind, optional=False)} for {path}") for kind, path, _ in asked]
        listed = [f"IF({condition}, {text}, NULL)" for (_, _, condition), text in zip(asked, said, strict=True)]
        return f"concat_ws(', ', {', '.join(listed)})" if listed else "''"


def _observed(frame: DataFrame, kept: int, watch: Watch | None) -> DataFrame:
    """The same rows; the bad ones are counted, and the first of them kept, while Spark passes over them."""
    from pyspark.sql import Observation, functions

    several = "k" in signature(functions.min_by).parameters  # since Spark 4.2; before, one is kept
    first = f"min_by({_BAD}, {_BAD}, {kept})" if several else f"array_compact(array(min({_BAD})))"
    as_json = f"to_json({first}, map('ignoreNullFields', 'false'))"  # Spark 4.0 gives no lists
    measured = [functions.expr(f"count({_BAD}) AS count"), functions.expr(f"{as_json} AS first")]
    if watch is None:
        return frame.observe("rx", *measured)
    observation = Observation()
    frame = frame.observe(observation, *measured)
    watch(observation)
    return frame
