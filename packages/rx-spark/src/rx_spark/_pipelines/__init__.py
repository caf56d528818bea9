"""Spark as the source of a pipeline: which of its stages Spark does, and as what."""
