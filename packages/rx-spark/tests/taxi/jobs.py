"""The pipelines. Each runs on a local Flowable and on Spark alike."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable
from typing import Any

from tariffs import price

from rx_fusion.symbols import it
from rx_ops import Flowable
from taxi.model import Fare, Revenue, Ride

Seen = Callable[[Ride], Ride]
"""A function that tests put before the last mapper: to see how far a task is, and to hold it there."""


def fares(rides: Flowable[Ride], seen: Seen | None = None) -> Flowable[Fare]:
    """Columns first, then functions."""
    chosen = rides.filter(it.id >= 20)
    if seen is not None:
        chosen = chosen.map(seen)
    return chosen.map(lambda ride: Fare(ride.city, ride.day, price(ride.km)))


def revenue(rides: Flowable[Ride], seen: Seen | None = None) -> Flowable[Revenue]:
    """The sum of each city and day."""
    return fares(rides, seen).group_reduce(day_of, it.cents, operator.add).map(revenue_of)


def day_of(fare: Fare) -> tuple[str, datetime.date]:
    return fare.city, fare.day


def revenue_of(total: tuple[tuple[str, datetime.date], int]) -> Revenue:
    (city, day), cents = total
    return Revenue(city, day, cents)


def revenue_of_groups(rides: Flowable[Ride], seen: Seen | None = None) -> Flowable[Revenue]:
    """The same by what each group comes to."""
    groups = fares(rides, seen).group_by(day_of, lambda fare: fare.cents)
    return groups.flat_map(lambda group: group.sum().map(lambda cents: Revenue(*group.key, cents)))


JOBS: dict[str, Callable[[Flowable[Ride]], Flowable[Any]]] = {
    "fares": fares,
    "revenue": revenue,
    "revenue of groups": revenue_of_groups,
}
