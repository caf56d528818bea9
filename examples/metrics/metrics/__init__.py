"""A batch job over a table of source files: how large and how dense the packages of a Python installation are."""
