"""Puts this folder on the import path, so that the tests run from anywhere."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
