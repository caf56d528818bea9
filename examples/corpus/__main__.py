"""Lets ``python examples/corpus`` run the program: Python puts this folder first on the import path."""

import sys

from corpus.cli import main

sys.exit(main())
