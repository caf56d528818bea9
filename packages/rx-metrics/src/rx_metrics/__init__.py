"""Metrics of named streams: runs and how they end, items, requests, times and queues.

``rx_metrics.start()``, or ``RX_METRICS=on`` in the environment, measures every stream that ``named`` gives a name and that is
assembled afterwards. Streams without a name are left alone, and without start nothing is: then nothing is paid.
"""

from __future__ import annotations

from rx_metrics._live_view import live_view
from rx_metrics._measuring import metrics, queued, start, stop
from rx_metrics._meter import Histogram, StreamMetrics
from rx_metrics._opentelemetry import export_to
from rx_metrics._prometheus import prometheus_text
from rx_metrics._version import __version__

__all__ = [
    "Histogram",
    "StreamMetrics",
    "__version__",
    "export_to",
    "live_view",
    "metrics",
    "prometheus_text",
    "queued",
    "start",
    "stop",
]


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})
