"""A module that works in the process of one test and nowhere else."""

from __future__ import annotations

import os

if os.environ.get("RX_ONLY_HERE") != str(os.getpid()):
    raise RuntimeError("only here")
