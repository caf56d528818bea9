"""What the entry point names: with ``RX_METRICS=on`` in the environment streams are measured from the beginning."""

from __future__ import annotations

import os

if os.environ.get("RX_METRICS"):
    from rx_core._switches import switch
    from rx_metrics._measuring import Measuring

    if switch("RX_METRICS", default=False):
        rx_on_assembly = Measuring().rx_on_assembly
