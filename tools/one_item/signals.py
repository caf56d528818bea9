"""Functions on the side, and what follows an error or an end."""

from __future__ import annotations

from typing import Final

from tools.one_item.rows import Part

PART: Final = Part()

PART.row(
    "do_on_success",
    "S",
    "Calls ``action`` with the item before it goes on.",
    "--1|  -->  --1|",
    family="do_on_next",
    body='check_callable("do_on_success", "action", action)\nreturn self._then(stages.do_on_next, action)',
    errors="what ``action`` raises takes the place of the item, with a note.",
    source="RxJava ``doOnSuccess``.",
)
PART.row("do_on_complete", "C", "Calls ``action`` before the completion goes on.", "--|  -->  --|")
PART.row("do_on_error", "SMC", "Calls ``action`` with the error before it goes on.", "--#  -->  --#")
PART.row(
    "do_finally",
    "SMC",
    "Calls ``action`` exactly once after the end was signalled, or after a cancel.",
    "--1|  -->  --1|",
    C={"marble": "--|  -->  --|"},
)
PART.row("on_error_return", "SM", "After an error the item that ``handler`` makes of it.", "--#  -->  --x|")
PART.row("on_error_resume_next", "S", "After an error the Single that ``handler`` makes of it.", "--#  -->  ----3|")
PART.row(
    "retry",
    "SMC",
    "Subscribes again after an error: for ever, ``times`` times, and only while ``when(error)`` is true.",
    "--#  -->  ----1|",
    C={"marble": "--#  -->  ----|"},
)
PART.row(
    "retry_until",
    "SMC",
    "Subscribes again after an error, until ``stop()`` is true after an error; that one is signalled.",
    "--#  -->  ----1|",
    C={"marble": "--#  -->  ----|"},
)
PART.row(
    "retry_when",
    "SMC",
    "Subscribes again after an error when the stream that ``handler`` makes of the errors gives an item.\n\n"
    "When that stream completes, this does so without an item.",
    "--#  -->  ----1|",
    body=(
        'check_callable("retry_when", "handler", handler)\nshown = f"retry_when({name_of(handler)})"\n'
        "return self._coordinate(operators.RetryWhen, handler, _results.Flowable._from, shown=shown)"
    ),
    errors="of the handler's stream end this; TypeError when ``handler`` returns no stream. To give up with the error itself, "
    "flat_map errors to ``Flowable.error``.",
    S={
        "says": "Subscribes again after an error when the stream that ``handler`` makes of the errors gives an item.\n\n"
        "When that stream completes, there is no item: EmptyStreamError.",
        "body": (
            'check_callable("retry_when", "handler", handler)\nshown = f"retry_when({name_of(handler)})"\n'
            "made = self._coordinate(operators.RetryWhen, handler, _results.Flowable._from, shown=shown)\n"
            'return made._then(stages.not_empty, "retry_when")'
        ),
    },
    C={
        "marble": "--#  -->  ----|",
        "says": "Subscribes again after an error when the stream that ``handler`` makes of the errors gives an item.\n\n"
        "When that stream completes, this does.",
    },
)
PART.row(
    "retry_backoff",
    "SMC",
    "Subscribes again after an error, up to ``times`` times (None: for ever), after pauses that grow.\n\n"
    "The first pause is ``first`` seconds, each further one ``factor`` times as long, up to ``longest``. ``jitter`` spreads "
    "them, so that many who fail together do not come back together: 0.5 is from half to one and a half of the pause.",
    "--#  -->  ------1|",
    C={"marble": "--#  -->  ------|"},
)
#: Of a Single or a Maybe several rounds make a stream, of a Completable a Completable.
ROUNDS: Final = {"result": "Flowable[T_co]", "demand": "what is left goes on to the next round."}
PART.row(
    "repeat",
    "SMC",
    "The items of ``times`` subscriptions, one after the other; without a number for ever.",
    "--1|  -->  --1--1|      (times=2)",
    errors="end it. At assembly ValueError for a negative number.",
    S=ROUNDS,
    M=ROUNDS,
    C={
        "says": "``times`` subscriptions, one after the other; without a number for ever, or until one fails.",
        "marble": "--|  -->  ----|      (times=2)",
    },
)
PART.row(
    "repeat_until",
    "SMC",
    "The items of one subscription after the other, until ``stop()`` is true.",
    "--1|  -->  --1--1|",
    errors="end it; so does what ``stop`` raises.",
    S=ROUNDS,
    M=ROUNDS,
    C={"says": "One subscription after the other, until ``stop()`` is true.", "marble": "--|  -->  ----|"},
)
HANDLED: Final = {
    "body": (
        'check_callable("repeat_when", "handler", handler)\nshown = f"repeat_when({name_of(handler)})"\n'
        "args = (handler, _results.Flowable._from)\n"
        "return self._coordinate_into(_results.Flowable, operators.RepeatWhen, *args, shown=shown)"
    )
}
PART.row(
    "repeat_when",
    "SMC",
    "Once more each time the stream that ``handler`` makes of the ends gives an item; its end is the end.",
    "--1|  -->  --1--1|",
    errors="of this, and of the handler's stream, end it; TypeError when ``handler`` returns no stream.",
    S=ROUNDS | HANDLED,
    M=ROUNDS | HANDLED,
    C={
        "marble": "--|  -->  ----|",
        "body": (
            'check_callable("repeat_when", "handler", handler)\nshown = f"repeat_when({name_of(handler)})"\n'
            "return self._coordinate(operators.RepeatWhen, handler, _results.Flowable._from, shown=shown)"
        ),
    },
)
