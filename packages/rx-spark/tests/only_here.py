"""A module that works in the process of the tests and nowhere else."""

from __future__ import annotations

import sys

if "pytest" not in sys.modules:
    raise RuntimeError("only here")
