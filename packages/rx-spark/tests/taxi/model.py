"""The rows of the job."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


@dataclass(frozen=True)
class Ride:
    id: int
    city: str
    km: float | None
    day: datetime.date


@dataclass(frozen=True)
class Fare:
    city: str
    day: datetime.date
    cents: int


@dataclass(frozen=True)
class Revenue:
    city: str
    day: datetime.date
    cents: int
