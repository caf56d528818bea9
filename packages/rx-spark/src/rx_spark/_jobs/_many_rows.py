"""A warning that much comes back from Spark for an operator on the driver: counted by chunks, told once in a run."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from rx_core.streams import without_this_frame


class ManyRowsWarning(UserWarning):
    """More items came back from Spark than ``SparkConfig.warn_rows``, for an operator that runs on the driver."""


class ManyRows(NamedTuple):
    """From how many items on there is a warning, and what it says."""

    most: int
    #: The operator that the items come back for, why it is on the driver, and what to write instead.
    operator: str
    reason: str
    remedy: str

    def warn(self, pipeline: object) -> Exception | None:
        """Warn. An error where the program has said that warnings are errors."""
        clause = f"{', ' if self.reason.startswith('because ') else ': it '}{self.reason}"
        remedy = f"  Instead:  {self.remedy}\n" if self.remedy else ""
        text = (
            f"more than {self.most:,} items have come back from Spark for {self.operator} of {pipeline!r}, "
            f"which runs on the driver{clause}.\n"
            f"{remedy}"
            f"  To be told later, or never:  SparkConfig(warn_rows={self.most * 10:_}), or None"
        )
        try:
            warnings.warn(text, ManyRowsWarning, stacklevel=2)
        except ManyRowsWarning as error:
            return without_this_frame(error)
        return None
