"""Benchmarks: ratios between ways to do the same work, side by side in one process."""
