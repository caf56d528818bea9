"""How many examples, and which: a few hundred that are always the same, or what ``RX_NIGHTLY`` and ``RX_SEED`` say."""

from __future__ import annotations

import os
import random
from typing import Final

NIGHTLY: Final = int(os.environ.get("RX_NIGHTLY", "0"))
SEED: Final = int(os.environ.get("RX_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
