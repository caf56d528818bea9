"""This library's own rules for macro-fusion, in the order they are tried."""

from __future__ import annotations

from rx_fusion import register_rules
from rx_ops._rules._sources import SOURCE_RULES
from rx_ops._rules._stages import STAGE_RULES

register_rules(*STAGE_RULES, *SOURCE_RULES)

__all__: list[str] = []
