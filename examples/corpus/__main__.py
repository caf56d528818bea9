"""Lets ``python examples/corpus`` run the program: Python puts this folder first on the import path."""

import runpy

runpy.run_module("corpus", run_name="__main__")
