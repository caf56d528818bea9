"""What is measured: the same work by hand, with this library, and with its peers from PyPI."""

from __future__ import annotations

from collections.abc import Iterator

from bench._blocks import block_cases
from bench._calls import call_cases
from bench._chains import chain_cases
from bench._hot import hot_cases
from bench._hot_stages import hot_stage_cases
from bench._inner import inner_cases
from bench._measure import Case
from bench._parallel import parallel_cases, process_cases
from bench._program_table import program_cases
from bench._rules import rule_cases
from bench._scrabble import scrabble_cases
from bench._shared import shared_cases
from bench._symbols import symbol_cases
from bench._tasks import task_cases
from bench._threads import thread_cases
from bench._watching import watching_cases
from bench._weight import weight_cases


def cases(size: int, *, slow: bool = False) -> Iterator[Case]:
    """All cases, for ``size`` elements in the cheap ones. ``slow``: with the peers that take a minute."""
    yield from chain_cases(size)
    yield from symbol_cases(size)
    yield from hot_cases(size // 4)
    yield from hot_stage_cases(size // 4)
    yield from shared_cases(size // 4)
    yield from program_cases(size // 40)
    yield from inner_cases(size)
    yield from scrabble_cases(size, slow=slow)
    yield from thread_cases(size)
    yield from task_cases(size)
    yield from parallel_cases(size)
    yield from process_cases(size)
    yield from watching_cases(size)
    yield from weight_cases(size)
    yield from call_cases()
    yield from block_cases(size // 4)
    yield from rule_cases(size // 4)
