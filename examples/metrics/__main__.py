"""Lets ``python examples/metrics`` run the program: Python puts this folder first on the import path."""

import runpy

runpy.run_module("metrics", run_name="__main__")
