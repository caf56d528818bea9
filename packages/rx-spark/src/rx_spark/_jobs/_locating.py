"""Where in a file a record is. Spark tells the file and what is in the record; the driver looks, if it can open the file."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any, Final

from rx_spark._bad_records import SHOWN, BadRecord
from rx_spark._columns._screen import ANY, LIKE, NEXT
from rx_spark._jobs._file_errors import shown_path
from rx_spark._workers._compression import bad_file, open_bytes, packed

#: How long the driver looks for the records of a job, all files together.
SECONDS: Final = 5.0
_LOOK_AT_CLOCK: Final = 4096  # lines
_REPLACED: Final = "\ufffd"


def located(told: Iterable[Mapping[str, Any]]) -> list[BadRecord]:
    """Records as a task told them, with their places where they can be found, in the order of file and place."""
    by_file: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in told:
        by_file[each["path"]].append(each)
    made: list[BadRecord] = []
    deadline = monotonic() + SECONDS
    for url in sorted(by_file):
        path = shown_path(url)
        search = _Search(by_file[url])
        if os.path.isfile(path):
            try:
                search.run(path, deadline)
            except Exception as error:
                if not isinstance(error, OSError) and bad_file(path, error) is None:
                    raise
        for at, each in enumerate(by_file[url]):
            position, line, text = search.places.get(at, (None, None, each["text"]))
            made.append(BadRecord(path, None if packed(path) else position, line, text, each["reason"]))
    return sorted(made, key=_place)


def _place(record: BadRecord) -> tuple[Any, ...]:
    unknown = record.line is None
    return record.path, unknown, 0 if record.line is None else record.line, record.text


class _Search:
    """Looks for some records of a file, each by its first line.

    A record that Spark could not read is known as it is. Of one that it has read the values are known, and a line is looked for
    that has them: of CSV the text among them. What is not found has no place.
    """

    def __init__(self, told: list[Mapping[str, Any]]) -> None:
        self._encoding: str = told[0]["encoding"]
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._patterns: dict[int, re.Pattern[str]] = {}
        self._objects: dict[int, dict[str, Any]] = {}
        for at, each in enumerate(told):
            like = each.get("like")  # a null is left out where it comes as JSON
            if like is None:
                self._exact[_beginning(each["text"])].append(at)
            elif len(like) == LIKE:
                continue  # it was cut
            elif each["separator"]:
                self._patterns[at] = _pattern(like, each["separator"])
            else:
                self._objects[at] = json.loads(like)
        self._undecoded = any(_REPLACED in text for text in self._exact)
        self._beginnings = tuple({text.encode(self._encoding, "replace")[:8] for text in self._exact})
        #: The position, the number and the text of a record's line.
        self.places: dict[int, tuple[int, int, str]] = {}

    def run(self, path: str, deadline: float) -> None:
        at = 0
        with open_bytes(path) as file:
            for number, line in enumerate(file, 1):
                if self._undecoded or self._patterns or self._objects or line.startswith(self._beginnings):
                    self._look(line.decode(self._encoding, "replace").rstrip("\r\n"), at, number)
                at += len(line)
                if not (self._exact or self._patterns or self._objects):
                    return
                if number % _LOOK_AT_CLOCK == 0 and monotonic() > deadline:
                    return

    def _look(self, line: str, at: int, number: int) -> None:
        index = self._found(line)
        if index is not None:
            self.places[index] = (at, number, line[:SHOWN])

    def _found(self, line: str) -> int | None:
        """Which record has this line; it is looked for no more."""
        exact = self._exact.get(beginning := _beginning(line))
        if exact:
            index = exact.pop(0)
            if not exact:
                del self._exact[beginning]
            return index
        for index, pattern in self._patterns.items():
            if pattern.fullmatch(line):
                del self._patterns[index]
                return index
        found = _object(line) if self._objects else None
        for index, known in self._objects.items():
            if found is not None and _has(found, known):
                del self._objects[index]
                return index
        return None


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _has(found: dict[str, Any], known: dict[str, Any]) -> bool:
    """Whether an object has the values that Spark has read of it, and none where it has read none."""
    plain = {name: value for name, value in known.items() if value is None or isinstance(value, str | int | float)}
    return all(found.get(name) == value for name, value in plain.items())


def _pattern(like: str, separator: str) -> re.Pattern[str]:
    between = re.escape(separator)
    parts = [f'"?[^{between}"]*"?' if value == ANY else f'"?{re.escape(value)}"?' for value in like.split(NEXT)]
    return re.compile(between.join(parts))


def _beginning(text: str) -> str:
    """What is compared: of a record of several lines the first one."""
    return text[:SHOWN].split("\n", 1)[0].rstrip("\r")
