"""What ``taxi.jobs`` imports: on a cluster it has to travel although no pipeline names it."""

from __future__ import annotations

BASE_CENTS = 350
CENTS_PER_KM = 180


def price(km: float | None) -> int:
    return BASE_CENTS + round((km or 0.0) * CENTS_PER_KM)
