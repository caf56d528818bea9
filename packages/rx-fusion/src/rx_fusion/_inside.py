"""Inner sources that need no run of their own: what flat_map and concat_map subscribe to in the thousands.

A source that can simply be iterated has nothing to wait for, to own or to give back; so its items are taken as they are, in the
run of the operator. A source that gives at most one item is computed by the ``value`` form, and there is no generator at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rx_core import Run, as_signal, queue_fusion
from rx_core.streams import EXACT, NEVER_NONE
from rx_fusion._forms import Feed, Form
from rx_fusion._heads import IterableHead
from rx_fusion._pipeline import Pipeline
from rx_fusion._shapes import HOT_RUNS, PULL_INSIDE, ROOT, checked

#: The value form with a cancel check: many items may be read for the one that is given.
VALUE_INSIDE: Final = {feed: Form("value", feed, cancel=True) for feed in Feed}

#: For one item the operator has just looked.
_ONE: Final = Form("value")

_CLEAN: Final = Feed.CLEAN
_CHECKED: Final = Feed.CHECKED


def at_hand(source: object, run: Run, /) -> Iterable[Any] | None:
    """The items of ``source``, none of them None, to be iterated and then given to ``close``; None where it has to be opened.

    To be called where something is wanted and nobody has cancelled.
    """
    if not isinstance(source, Pipeline):
        return None
    head = source._head
    if type(head) is not IterableHead or not queue_fusion._enabled:  # a call is dear here
        return None
    shape = source._shape
    made = head._items
    if shape is ROOT:
        kind = type(made)
        if (kind is tuple or kind is range) and head.feed is _CLEAN:
            if not made:
                run.poke()  # known to be empty: that needs no demand
            return made
        args = source._args
    else:
        found, shape, args = source._resolve()
        if type(found) is not IterableHead:
            return None
        head = found
        made = head._items
    try:
        items = iter(made)
        if type(items) in EXACT and not items.__length_hint__() and shape.ends_with_source:  # type: ignore[attr-defined]
            run.poke()
        if shape is ROOT:
            kind = type(items)
            if kind in NEVER_NONE:
                return items
            if kind in EXACT and head.feed is _CHECKED:
                return checked(items, head)  # asking it for one more after a cancel runs nobody's code
            return shape.pull(items, run, head, args, PULL_INSIDE[head.feed])
        if shape.folds:
            feed = head.feed
            form = VALUE_INSIDE[_CLEAN if feed is _CHECKED and type(items) in NEVER_NONE else feed]
        elif shape.one_for_one and type(made) is tuple and len(made) < 2 and head.feed is _CLEAN:
            form = _ONE
        else:
            return shape.pull(items, run, head, args, PULL_INSIDE[head.feed])
    except (Exception, GeneratorExit) as error:
        return run.failing(as_signal(error))
    function = shape._forms.get(form) or (shape.form(form) if shape._runs > HOT_RUNS else None)
    if function is None:
        return shape.pull(items, run, head, args, PULL_INSIDE[head.feed])
    value = function(items, run, head, args)
    return () if value is None else (value,)
