"""JSON of one object a line, read as text and parsed by Spark beside it.

Spark's JSON source does not give the line of a record that it could read, and it reads too much: it passes over what is behind
the first object of a line, makes text of numbers and objects, and a question mark of half a character. With the line beside the
record a look at each finds that most are certain; only the others are parsed again, and exactly.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rx_spark._columns._column import text_of
from rx_spark._columns._rows import Field, Kind, RowType, quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: The column of the line, and the one that says what is wrong with it, null where nothing is.
LINE: Final = "_rx_line"
WHY: Final = "_rx_why"
_JSON: Final = "_rx_json"
_END: Final = "_rx_end"
_BOM: Final = "\ufeff"
#: What ends and what begins in two characters of an escape, of a text without escaped backslashes.
_PAIRS: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF: Final = r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"


@dataclass(frozen=True)
class JsonLines:
    """How the lines of a JSON source are parsed. ``row`` are the fields whose text has to be text, none without a class."""

    row: RowType | None
    encoding: str
    #: The column for records that Spark cannot read.
    record: str

    def read(
        self, session: SparkSession, paths: list[str], schema: StructType, folders: frozenset[str], options: Mapping[str, str]
    ) -> DataFrame:
        """The columns of ``schema``, and LINE and WHY."""
        fields = [field for field in schema.fields if field.name not in folders]
        lines = type(schema)([]).add(LINE, "string")
        for field in schema.fields:
            if field.name in folders:
                lines.add(field)
        reading = {name: value for name, value in options.items() if name.lower() not in ("encoding", "charset")}
        if reading.get("lineSep") == "\n" and self.encoding != "utf-8":
            del reading["lineSep"]  # it was said because of the encoding
        frame = session.read.schema(lines).options(**reading).text(paths)
        kept = [quoted(field.name) for field in schema.fields if field.name in folders]
        frame = frame.selectExpr(f"{self._decoded()} AS {LINE}", *kept).where(
            f"startswith({LINE}, '{{') OR trim(BOTH ' \\t\\r' FROM {LINE}) != ''"
        )
        parsed = f"from_json({LINE}, {text_of(type(schema)(fields).toDDL())}, {_map(reading)})"
        frame = frame.selectExpr(f"{parsed} AS {_JSON}", LINE, *kept)
        named = [
            quoted(field.name) if field.name in folders else f"{_JSON}.{quoted(field.name)} AS {quoted(field.name)}"
            for field in schema.fields
        ]
        return frame.selectExpr(*named, LINE, f"{self._why(folders, reading)} AS {WHY}")

    def _decoded(self) -> str:
        if self.encoding == "iso8859-1":
            return f"decode(CAST({LINE} AS binary), 'ISO-8859-1')"
        return f"IF(startswith({LINE}, '{_BOM}'), substring({LINE}, 2), {LINE})"

    def _why(self, folders: frozenset[str], options: Mapping[str, str]) -> str:
        texts = [field for field in (self.row.fields if self.row is not None else ()) if field.name not in folders]
        texts = [field for field in texts if _has_text(field.kind)]
        if any(name.lower() == "primitivesasstring" and value.lower() == "true" for name, value in options.items()):
            texts = []
        first = f"octet_length(substring_index({LINE}, '}}', 1)) + 1 = octet_length({LINE})"  # instr() takes five times as long
        certain = [first, f"NOT contains({LINE}, {text_of(chr(92) + 'u')})"]
        certain += [self._is_quoted(field) for field in texts]
        undecoded = f"octet_length({LINE}) != length({LINE})" if self.encoding == "ascii" else f"NOT is_valid_utf8({LINE})"
        return (
            f"CASE WHEN {undecoded} THEN {text_of(f'it has bytes that are no {self.encoding}')} "
            f"WHEN {_JSON}.{quoted(self.record)} IS NOT NULL THEN NULL "
            f"WHEN {' AND '.join(certain)} THEN NULL "
            f"WHEN NOT {_is_one_object(options)} THEN 'it is not one JSON object' "
            f"WHEN {_has_half()} THEN 'it has half of a character, an unpaired surrogate' "
            f"{f'ELSE {_no_text(texts, options)} ' if texts else ''}END"
        )

    def _is_quoted(self, field: Field) -> str:
        """Whether it is certain that a field's value is a text, in a line that has no objects inside its object."""
        if field.kind.nested:
            return f"{_JSON}.{quoted(field.name)} IS NULL"
        name = text_of(f'"{field.name}": "')
        close = text_of(f'"{field.name}":"')
        return f"({_JSON}.{quoted(field.name)} IS NULL OR contains({LINE}, {name}) OR contains({LINE}, {close}))"


def _map(options: Mapping[str, str]) -> str:
    return f"map({', '.join(text_of(each) for pair in options.items() for each in pair)})"


def _is_one_object(options: Mapping[str, str]) -> str:
    """Whether a line is an object and nothing else: as the first item of an array, whose last one must still be the second."""
    permissive = {name: value for name, value in options.items() if name.lower() != "columnnameofcorruptrecord"}
    array = f"from_json(concat('[', {LINE}, '\\n,{{\"{_END}\":1}}]'), 'array<struct<{_END}: int>>', {_map(permissive)})"
    found = f"transform(array({array}), x -> size(x) = 2 AND x[0] IS NOT NULL AND get(x, 1).{_END} = 1)"
    return f"coalesce(get({found}, 0), false)"


def _has_half() -> str:
    plain = f"replace({LINE}, {text_of(chr(92) * 2)}, '')"
    return f"regexp_replace({plain}, {text_of(_PAIRS)}, '') rlike {text_of(_HALF)}"


def _no_text(texts: list[Field], options: Mapping[str, str]) -> str:
    """Which field has no text where its class has some; null if there is none."""
    columns = ", ".join(f"{quoted(field.name)} {_variant(field.kind)}" for field in texts)
    permissive = {name: value for name, value in options.items() if name.lower() != "columnnameofcorruptrecord"}
    again = f"from_json({LINE}, {text_of(columns)}, {_map(permissive)})"
    branches = " ".join(
        f"WHEN {condition} THEN {text_of(f'it gives no {_shown(field.kind)} for {field.name}')}"
        for field in texts
        for condition in [" OR ".join(_other(f"again.{quoted(field.name)}", field.kind))]
    )
    return f"get(transform(array({again}), again -> CASE {branches} END), 0)"


def _shown(kind: Kind) -> str:
    return str(kind).removesuffix(" | None")


def _is_text(kind: Kind) -> bool:
    """Whether JSON has text for it, and Spark takes something else as well."""
    return kind.row is None and kind.python in (str, datetime.datetime)


def _has_text(kind: Kind) -> bool:
    keys = {id(kind.parts[0])} if kind.python is dict and kind.row is None else set()  # JSON has text there
    return any(_is_text(each) and id(each) not in keys for each in kind.flat)


def _variant(kind: Kind) -> str:
    if _is_text(kind):
        return "variant"
    if kind.row is not None:
        return f"struct<{', '.join(f'{quoted(field.name)}: {_variant(field.kind)}' for field in kind.row.fields)}>"
    if kind.python is list:
        return f"array<{_variant(kind.parts[0])}>"
    return f"map<{kind.parts[0].ddl}, {_variant(kind.parts[1])}>" if kind.python is dict else kind.ddl


def _other(value: str, kind: Kind, depth: int = 0) -> Iterator[str]:
    """Conditions under which there is something else where a text should be; none is null."""
    if _is_text(kind):
        yield f"coalesce(schema_of_variant({value}) NOT IN ('STRING', 'VOID'), false)"
    elif kind.row is not None:
        for field in kind.row.fields:
            yield from _other(f"{value}.{quoted(field.name)}", field.kind, depth)
    elif kind.parts and _has_text(kind):
        item = f"x{depth}"
        items = value if kind.python is list else f"map_values({value})"
        inner = " OR ".join(_other(item, kind.parts[-1], depth + 1))
        yield f"coalesce(exists({items}, {item} -> {inner}), false)"
