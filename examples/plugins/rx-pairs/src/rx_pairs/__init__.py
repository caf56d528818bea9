"""Operators that look at neighbouring items: an example of a distribution that extends ``rx_ops.Flowable``.

There is nothing to import: once this is installed, ``flow.pairs(2)`` works. The functions are here for ``flow.pipe(pairs, 2)``,
which says where the operator comes from.
"""

from rx_pairs._impl import pairs, total
from rx_pairs._version import __version__

__all__ = ["__version__", "pairs", "total"]
