"""Sources whose items are known before the subscription: ``just``, ``of``, ``range``, ``empty``, with no operator after them.

Nothing of the user's runs when they are subscribed, nothing has to be given back, and where they end is plain. An operator that
subscribes to many sources takes the items of these as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rx_fusion import Feed, Head, IterableHead, Pipeline, fusion_enabled

_PLAIN: Final = (tuple, range)


def known_items(source: object) -> Sequence[Any] | None:
    """The items of ``source`` where they are known; None where it has to be subscribed."""
    if isinstance(source, Pipeline) and not source._shape and fusion_enabled():
        return items_of(source._head)
    return None


def items_of(head: Head) -> Sequence[Any] | None:
    """The same for a head."""
    if type(head) is IterableHead and head.feed is Feed.CLEAN and type(head._items) in _PLAIN:
        return head._items  # type: ignore[return-value]  # a tuple or a range
    return None
