"""Data for tests of rows: what is in the files, and the classes it is read as. In a module, because executors import it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300
CITIES = ("Ulm", "Köln", "Bonn")


@dataclass(frozen=True)
class Trip:
    id: int
    city: str
    km: float | None
    day: datetime.date


class TripTuple(NamedTuple):
    id: int
    city: str


class TripDict(TypedDict):
    id: int
    km: float | None


@dataclass(frozen=True)
class Fare:
    city: str
    cents: int


@dataclass(frozen=True)
class Total:
    city: str
    total: int


def trips() -> list[Trip]:
    first = datetime.date(2026, 1, 1)
    return [
        Trip(number, CITIES[number % 3], None if number % 10 == 0 else number / 4, first + datetime.timedelta(number % 5))
        for number in range(ROWS)
    ]


def write_trips(folder: Path, files: int = 3) -> Path:
    """Parquet files with narrow columns: 32-bit numbers, a float of 32 bits."""
    folder.mkdir(parents=True)
    rows = trips()
    step = -(-len(rows) // files)
    for at in range(files):
        part = rows[at * step : (at + 1) * step]
        columns = {
            "day": pa.array([trip.day for trip in part], pa.date32()),
            "id": pa.array([trip.id for trip in part], pa.int32()),
            "city": pa.array([trip.city for trip in part], pa.string()),
            "km": pa.array([trip.km for trip in part], pa.float32()),
        }
        pq.write_table(pa.table(columns), folder / f"part-{at}.parquet")
    return folder


def to_fare(trip: Trip) -> Fare:
    """The last mapper of a pass that says what it returns."""
    return Fare(trip.city, round((trip.km or 0.0) * 100))


def refused(trip: Trip) -> Fare:
    """Fails in the last of three files."""
    if trip.id == ROWS - 5:
        raise ValueError(f"trip {trip.id} has no fare")
    return to_fare(trip)
