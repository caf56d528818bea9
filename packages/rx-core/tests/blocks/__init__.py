"""Tests of the concurrency blocks."""
