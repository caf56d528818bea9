"""What the jobs of a source have left out, told when they are over."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_spark._bad_records import BadRecordError, BadRecordWarning, refused, told
from rx_spark._columns._observed import observed_now
from rx_spark._jobs._locating import located

if TYPE_CHECKING:
    from pyspark.sql import Observation

    from rx_spark._columns._frames import FrameSource


def account_of(source: FrameSource, observation: Observation) -> Callable[[], None]:
    """Counts what the screen of ``source`` left out, once the job was successful. Blocks for a moment."""
    screen = source.screen
    assert screen is not None

    def settle() -> None:
        found = observed_now(observation)
        if found is None:
            warnings.warn(
                f"Spark does not tell how many records of {source.origin.shown} were left out.", BadRecordWarning, stacklevel=2
            )
            return
        # Nothing was measured where Spark found that there is nothing to read.
        count, first = int(found.get("count", 0)), json.loads(found.get("first") or "[]")
        records = located(first) if first else []
        told(source.origin.shown, screen.on_bad, screen.report, count, records)

    return settle


def bad_record_error(message: str) -> BadRecordError:
    """What a screen raised: JSON, and whatever Spark says behind it."""
    found: dict[str, Any] = json.JSONDecoder().raw_decode(message)[0]
    return refused(located([found])[0])
