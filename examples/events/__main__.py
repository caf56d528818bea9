"""Lets ``python examples/events`` run the program: Python puts this folder first on the import path."""

import runpy

runpy.run_module("events", run_name="__main__")
