"""Functions on the side, and what follows an error or an end."""

from __future__ import annotations

from typing import Final

from tools.one_item.rows import Part

PART: Final = Part()

PART.row(
    "do_on_success",
    "SM",
    "Calls ``action`` with the item before it goes on.",
    "--1|  -->  --1|",
    family="do_on_next",
    body='check_callable("do_on_success", "action", action)\nreturn self._then(stages.do_on_next, action)',
    errors="what ``action`` raises takes the place of the item, with a note.",
    source="RxJava ``doOnSuccess``.",
)
PART.row(
    "do_after_success",
    "SM",
    "Calls ``action`` with the item when it was signalled.",
    "--1|  -->  --1|",
    family="do_after_next",
    body='check_callable("do_after_success", "action", action)\nreturn self._coordinate(operators.DoAfterSuccess, action)',
    errors="what ``action`` raises goes to the error hook.",
    fusion="coordinating; the item goes on without a queue.",
    source="RxJava ``doAfterSuccess``.",
)
PART.row(
    "do_on_complete",
    "MC",
    "Calls ``action`` before the completion goes on.",
    "--|  -->  --|",
    M={
        "says": "Calls ``action`` before the completion goes on: there was no item.",
        "body": 'check_callable("do_on_complete", "action", action)\nreturn self._then(stages.do_on_empty, action)',
    },
)
PART.row("do_on_error", "SMC", "Calls ``action`` with the error before it goes on.", "--#  -->  --#")
OF_ONE: Final = {
    "errors": "the error; when ``action`` raises, both as a CompositeException, or that alone in the place of the item.",
    "thread": "that of the item or the error.",
    "body": (
        'check_callable("do_on_terminate", "action", action)\nshown = f"do_on_terminate({name_of(action)})"\n'
        "return self._coordinate(operators.DoOnTerminate, action, True, shown=shown)"
    ),
    "source": "RxJava ``doOnTerminate``. It is called once, also when it raises; not after a dispose.",
}
PART.row(
    "do_on_terminate",
    "SMC",
    "Calls ``action`` before the completion or the error goes on.",
    "--1|  -->  --1|",
    S={"says": "Calls ``action`` before the item or the error goes on.", **OF_ONE},
    M={"says": "Calls ``action`` before the item, the completion without one, or the error goes on.", **OF_ONE},
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "do_after_terminate",
    "SMC",
    "Calls ``action`` when the end was signalled, and not after a dispose.",
    "--1|  -->  --1|",
    C={"marble": "--|  -->  --|"},
)
SUBSCRIBED: Final = "Callable[[Disposable], object]"
PART.row(
    "do_on_subscribe",
    "SMC",
    "Calls ``action`` with what disposes the subscription, for each one, before the observer has it.",
    "--1|  -->  --1|",
    signature=f"(self, action: {SUBSCRIBED}) -> Type[T_co]",
    errors="what ``action`` raises disposes the source and is the error.",
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "do_on_dispose",
    "SMC",
    "Calls ``action`` when the observer disposes, before that goes on.",
    "--1|  -->  --1|",
    family="do_on_cancel",
    body='check_callable("do_on_dispose", "action", action)\nreturn self._coordinate(operators.DoOnDispose, action)',
    thread="the one that disposes.",
    source="RxJava ``doOnDispose``. Once for each subscription, and not after its end: see also :meth:`do_finally`.",
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "do_on_lifecycle",
    "SMC",
    ":meth:`do_on_subscribe` and :meth:`do_on_dispose`, those of them that are given.",
    "--1|  -->  --1|",
    signature=(
        f"(self, *, on_subscribe: {SUBSCRIBED} | None = None, on_dispose: Callable[[], object] | None = None) -> Type[T_co]"
    ),
    body="made: Type[T_co] = looking_on(self, on_subscribe=on_subscribe, on_dispose=on_dispose)\nreturn made",
    errors="what ``on_subscribe`` raises ends this; of ``on_dispose`` it goes to the error hook.",
    thread="the one that subscribes or disposes.",
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "log",
    "SMC",
    "Writes each signal and a dispose to ``logger``, the logger or its name, and changes nothing.\n\n"
    "``level`` is that of all but ``on_error``, which is logging.ERROR; 20 is logging.INFO. ``levels`` says it for single ones, "
    "by their names in the lines; None leaves one out. A number in front tells the subscriptions apart.",
    "--1|  -->  --1|",
    body='return self._coordinate(operators.Log, operators.log_settings("{Type}", logger, level, levels), shown="log()")',
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "named",
    "SMC",
    "Gives this a name, by which ``rx_core.runs()`` and metrics show it, and changes nothing.",
    "--1|  -->  --1|",
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "checkpoint",
    "SMC",
    "Marks an error that passes: a note on it has ``description`` and the line that this stands at.",
    "--#  -->  --#",
)
PART.row(
    "with_context",
    "SMC",
    "Sets context variables for what is in front of it, and for nothing else.\n\n"
    "``variables`` are values by context variable. ``values`` have names, and functions upstream read them with "
    '``rx_core.context_value("name")``, on every thread. What is behind it, and who subscribes, does not see them.',
    "--1|  -->  --1|",
    C={"marble": "--|  -->  --|"},
    fusion="coordinating; each signal with a change of context.",
)
PART.row(
    "on_terminate_detach",
    "SMC",
    "Keeps no reference to its observer and its source from the end or a dispose on.",
    "--1|  -->  --1|",
    C={"marble": "--|  -->  --|"},
)
PART.row(
    "do_finally",
    "SMC",
    "Calls ``action`` exactly once after the end was signalled, or after a cancel.",
    "--1|  -->  --1|",
    C={"marble": "--|  -->  --|"},
)
PART.row("on_error_return", "SM", "After an error the item that ``handler`` makes of it.", "--#  -->  --x|")
PART.row(
    "on_error_resume_next",
    "SMC",
    "After an error the {Type} that ``handler`` makes of it.",
    "--#  -->  ----3|",
    body=(
        'check_callable("on_error_resume_next", "handler", handler)\n'
        'return self._coordinate(operators.OnErrorResumeNext, handler, "{Type}", shown=1)'
    ),
    C={"marble": "--#  -->  ----|"},
)
PART.row(
    "on_error_complete",
    "SMC",
    "Completes without an item after an error; with ``when`` only after one for which that is true.",
    "--#  -->  --|",
    result="Maybe[T_co]",
    C={"says": "Completes after an error; with ``when`` only after one for which that is true.", "result": ""},
)
PART.row(
    "retry",
    "SMC",
    "Subscribes again after an error: for ever, ``times`` times, and only while ``when(error)`` is true.\n\n"
    "``budget`` is shared with others that call the same service, and bounds what all of them try again together. Here it is "
    "spent without a pause: that suits a failure that another attempt does not meet, as one of several servers.",
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
    "them, so that many who fail together do not come back together: 0.5 is from half to one and a half of the pause. ``budget`` "
    "is shared with others that call the same service, and bounds what all of them try again together.",
    "--#  -->  ------1|",
    C={"marble": "--#  -->  ------|"},
)
PART.row(
    "circuit_breaker",
    "SMC",
    "This {Type} while ``breaker`` lets calls through; while it is open, an error and no subscription.\n\n"
    "A subscription is a call, and fails with an error. The breaker is shared: make one for each service, see "
    ":class:`CircuitBreaker`. A slow service fails no call: put :meth:`timeout` in front of this, and :meth:`retry_backoff` "
    "behind it.",
    "--#  -->  --#",
    errors="CircuitOpenError while the breaker is open; this one's, and with it as a CompositeException what the breaker's "
    "``when`` raises.",
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
