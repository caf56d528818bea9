"""Uses of the operators in items.py that each checker has to refuse. Type-checked only.

Both checkers read the ignores, and to both one that hides nothing is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true
# What follows from a refusal is no second one:
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from rx_ops import RecentKeys, Single
from tests.typing.items import clock, numbers, words

numbers.do_on_terminate(lambda error: error)  # type: ignore[arg-type, misc]
numbers.do_on_lifecycle(on_dispose=lambda: None)  # type: ignore[call-arg]
Single.just(1).do_on_lifecycle(on_request=lambda n: n)  # type: ignore[call-arg]
numbers.unsubscribe_on("io")  # type: ignore[arg-type]
words.rebatch_requests("8")  # type: ignore[arg-type]
words.rate_limit(10)  # type: ignore[call-arg]
words.on_backpressure_reduce(lambda a, b: len(a))  # type: ignore[arg-type, return-value]
words.observe_on(clock, latest="newest")  # type: ignore[arg-type]
words.filter_when(lambda word: len(word) > 3)  # type: ignore[arg-type, return-value]
words.distinct(store=RecentKeys(10))  # type: ignore[arg-type]
words.chunk_by_weight(10, str.upper)  # type: ignore[arg-type]
