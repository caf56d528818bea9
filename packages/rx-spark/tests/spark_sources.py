"""What the fixture ``spark`` gives: in a module of its own, because there is more than one ``conftest``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

import rx_spark
from rx_ops import Flowable
from rx_spark import SparkConfig

T = TypeVar("T")


class Sources:
    """The sources of rx_spark on the session of the tests, counted."""

    def __init__(self, config: SparkConfig) -> None:
        self.config, self.stats = config, rx_spark.JobStats()

    def range(self, *args: int) -> Flowable[int]:
        return rx_spark.range(*args, config=self.config, stats=self.stats)

    def from_iterable(self, items: Iterable[T]) -> Flowable[T]:
        return rx_spark.from_iterable(items, config=self.config, stats=self.stats)

    def text(self, *paths: Path) -> Flowable[str]:
        return rx_spark.text(paths, config=self.config, stats=self.stats)
