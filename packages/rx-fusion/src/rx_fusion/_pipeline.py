"""Pipelines: descriptions that run when they are subscribed.

A pipeline is a head (the source), a shape (which stages follow, interned) and the stages' arguments, put together in
:mod:`rx_fusion._assembly`. The fluent types of rx_ops are pipelines; so is what a plugin's operator builds. It runs in one of
four ways, chosen here and nowhere else:

* **a passive source under a pump** (:class:`SourceRun`), when a subscriber requests;
* **pushed through the stages**, when the source pushes: by a call for each item, or behind a queue where a stage gives several
  items for one (:class:`Expansion`);
* **iterated by an operator** that wants the items of a passive source, without a subscription between;
* **on the thread that waits**, for iteration and ``blocking_*``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Final, ParamSpec, TypeVar

from rx_core import (
    GROWING_PREFETCH,
    UNBOUNDED,
    CallbackObserver,
    FlowableBase,
    Subscriber,
    as_signal,
    hooks,
    queue_fusion,
    unwrap_stop,
)
from rx_core.streams import EXACT, NEVER_NONE, Handover, Stopping, Stream, Waiting, is_exhausted
from rx_fusion import _rules
from rx_fusion._assembly import Assembly
from rx_fusion._callback_run import CallbackRun
from rx_fusion._expansion import Expansion
from rx_fusion._forms import MAX_STAGES, Feed
from rx_fusion._heads import Head, IterableHead, PublisherHead, PushHead, Resolved
from rx_fusion._loops import first_of_loop, loop_of, loop_pays, waited_for
from rx_fusion._one import start, tell
from rx_fusion._operators import OperatorHead, is_observed, left_unstarted
from rx_fusion._push import push
from rx_fusion._shapes import PULL_FREE, PULL_INSIDE, ROOT, Shape
from rx_fusion._source_run import answers_late, failing, open_items, subscribe_source
from rx_fusion._stacked import first_of
from rx_fusion._user_arguments import stage_arguments

if TYPE_CHECKING:
    from rx_core.streams import Pump
    from rx_fusion._explain import Plan
    from rx_fusion._rules import Rule, RuleSet

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")
P = ParamSpec("P")

_new = object.__new__
_CLEAN: Final = Feed.CLEAN

#: What most inner sources iterate.
_BARE: Final = frozenset((tuple, range))


class Pipeline(Assembly[T_co]):
    """The triple, and how it runs."""

    __slots__ = ("_kept",)

    #: What the rules made of it, when they were asked; not set before.
    _kept: tuple[RuleSet, Resolved, tuple[str, ...]]

    def _resolve(self) -> Resolved:
        """What is to run: with fusion, rules rewrite it and the source takes what it can run; without, each operator alone."""
        head, shape, args = self._head, self._shape, self._args
        if queue_fusion._enabled:
            found = _rules.current
            if found.plugged is not hooks.fusion_rules:
                found = _rules.active()
            candidates = found.by_name.get(head.name, found.others).get(shape)
            if candidates is None:
                candidates = found.about(head, shape)
            if candidates:
                head, shape, args = self._rewritten(found, candidates)[1]
            return head.absorb(shape, args) if head.absorbs else (head, shape, args)
        if not shape:
            return head, shape, args
        at = len(shape) - 1
        while at and shape.stages[at].guard:
            at -= 1
        if head.feed is not Feed.RUNNING and not all(stage.compilable for stage in shape.stages[at:]):
            # One without source text can only iterate, and there is nothing to iterate apart from what is before it.
            return head, shape, args
        before, before_args, last, last_args = shape.split(args, at)
        return self._apart(head, before, before_args), last, last_args

    def _apart(self, head: Head, shape: Shape, args: tuple[Any, ...]) -> PublisherHead:
        """These stages of the pipeline as a source of their own, which the rest of it subscribes."""
        source = _plain(head, shape, args, observed=self._is_observed(head))
        return PublisherHead(head.name, source, source.__repr__, (source,))

    def _is_observed(self, head: Head) -> bool:
        """Whether there is nothing to ask of ``head``: this is an Observable; or the Single or Maybe of one, whose only item
        waits here. A Flowable over an Observable (``to_flowable``, ``merge``) says what becomes of items that are not wanted."""
        return not self._takes_requests or (is_observed(head) and any(stage.gives_one for stage in self._shape.stages))

    def _rewritten(self, found: RuleSet, candidates: tuple[Rule, ...]) -> tuple[RuleSet, Resolved, tuple[str, ...]]:
        """What the rules make of this, and which they were. Found once: a description does not change."""
        try:
            kept = _kept_of(self)
        except AttributeError:
            pass
        else:
            if kept[0] is found:
                return kept
        self._kept = kept = (found, *_rules.rewritten((self._head, self._shape, self._args), candidates, found))
        return kept

    def _rules_applied(self) -> tuple[str, ...]:
        """The names of the rules that change this pipeline, in their order."""
        found = _rules.active()
        candidates = found.about(self._head, self._shape)
        return self._rewritten(found, candidates)[2] if candidates and queue_fusion._enabled else ()

    def _subscribe_items(self, down: Subscriber[Any], /) -> None:
        """Run for a subscriber."""
        head, shape = self._head, self._shape
        if type(head) is IterableHead and shape.one_for_one and (queue_fusion._enabled or not shape):  # a call is dear here
            items = head._items
            if type(items) is tuple and len(items) < 2:  # for one item no rule pays
                if type(down) is CallbackObserver:
                    tell(down, self)
                else:
                    start(down, self)
                return
        self._subscribe_many(down)  # apart, because a function with one inside makes a cell for each variable that they share

    def _subscribe_many(self, down: Subscriber[Any], plan: Resolved | None = None, /) -> None:
        """``plan``, where it is given, is that of this pipeline, and has to be subscribed."""
        if plan is None:
            observer = down if type(down) is CallbackObserver and _loops_allowed() else None
            head = self._head
            if observer is not None and isinstance(head, OperatorHead) and head.relays:
                self._unrelayed()._subscribe_items(down)
                return
            try:
                plan = self._resolve()
            except Exception as error:  # of a plugin's rule or source; RS 1.9: it is signalled
                plan = IterableHead(head.name, _Failing(error)), ROOT, ()
            head = plan[0]
            if observer is not None and isinstance(head, OperatorHead):
                pulled = head.pulled()
                if pulled is not None and loop_pays(plan, pulled[0]):
                    CallbackRun(observer, plan, self).start()
                    return
        head, shape, args = plan
        if not shape and isinstance(head, (OperatorHead, PushHead)):
            head.subscribe_for(down, self)
            return
        if shape.parted and head.publisher is not None and self._takes_requests and type(down) is not CallbackObserver:
            # What waits for a request waits in front of the stages behind it, where an error of the source overtakes it.
            # Callbacks request everything at once, so that nothing waits.
            before, before_args, shape, args = shape.split(args, shape.parted)
            head = self._apart(head, before, before_args)
        while head.publisher is not None and len(shape.stages) > MAX_STAGES:
            before, before_args, shape, args = shape.split(args, shape._cut(MAX_STAGES))
            head = self._apart(head, before, before_args)
        if head.publisher is not None and shape.steps:
            push(head.publisher, shape, args, down, head, wall=bool(head.upstream), observed=self._is_observed(head))
            return
        if head.feed is not Feed.RUNNING:
            if type(down) is CallbackObserver:
                CallbackRun(down, plan, self).start()
            else:
                subscribe_source(down, plan, self)
            return
        if head.publisher is None:
            raise TypeError(f"{head!r} can be neither iterated nor subscribed")
        front = shape.front()
        if front is not None:
            head = self._apart(head, front.stages, args[: front.size])
            shape, args = front.rest, args[front.size :]
        if not Expansion(down, head, shape, args, self).start():
            left_unstarted(head)

    def _passive_items(self, run: Stopping | None, beneath: list[Any] | None = None, /) -> Iterator[T_co] | None:
        head = self._head
        if type(head) is not IterableHead or not queue_fusion._enabled:  # a call is dear here: inner sources are many
            return None
        shape = self._shape
        args = self._args
        made = head._items
        try:
            if shape is ROOT and head.feed is _CLEAN and type(made) in _BARE:
                return iter(made)
            rules = _rules.current
            if rules.plugged is not hooks.fusion_rules:
                rules = _rules.active()
            candidates = rules.by_name.get(head.name, rules.others).get(shape)
            if candidates is None or candidates:  # of most it is known that there are none
                found, shape, args = self._resolve()
                if type(found) is not IterableHead:
                    return None
                head = found
                made = head._items
            items = iter(made)
            if shape.ends_with_source:
                empty = is_exhausted(items)
                # Most ask for neither, and a look at the stages is half a microsecond for each inner source.
                if (empty or beneath is not None) and not any(stage.epilogue for stage in shape.stages):
                    if empty:
                        return items  # known: that needs no demand
                    if beneath is not None and type(items) in EXACT:
                        beneath.append(items)
            feed = head.feed
            if feed is not _CLEAN and type(items) in NEVER_NONE:
                feed = _CLEAN
            if shape is ROOT and feed is _CLEAN:
                return items
            form = PULL_FREE[feed] if run is None else PULL_INSIDE[feed]
            compiled: Callable[..., Iterator[T_co]] | None = shape._forms.get(form)  # as pull does it, a call less
            return shape.pull(items, run, head, args, form) if compiled is None else compiled(items, run, head, args)
        except (Exception, GeneratorExit) as error:
            return failing(as_signal(error))

    def _known_item(self) -> T_co | None:
        head = self._head
        if type(head) is IterableHead:
            made = head._items
            if type(made) is tuple and len(made) == 1 and self._shape is ROOT and head.feed is _CLEAN and queue_fusion._enabled:
                item: T_co = made[0]
                return item
        return None

    @property
    def _gives_one(self) -> bool:
        head, shape = self._head, self._shape
        if shape.gives_one or (type(head) is IterableHead and head.at_most_one and shape.one_of_one):
            return True
        return super()._gives_one

    def _passive_into(self, pump: Pump[T_co], /) -> bool:
        head = self._head
        if type(head) is IterableHead and self._shape is ROOT and head.feed is _CLEAN and type(head._items) in _BARE:
            if hooks.on_subscribe is not None or not queue_fusion._enabled:
                return False
            pump.items = iter(head._items)  # its end is seen, and a call is dear here, as above
            return True
        plan = self._synchronous()
        if plan is None:
            return False
        open_items(pump, plan)
        return True

    @property
    def _computes(self) -> bool:
        head = self._head
        if head.feed is not Feed.RUNNING:
            return True
        publisher = head.publisher
        return publisher is not None and bool(head.upstream) and isinstance(publisher, Stream) and publisher._computes

    @property
    def _sends(self) -> bool:
        left: list[Any] = [self]
        while left:  # no recursion: chains are long
            head = getattr(left.pop(), "_head", None)
            if head is None:
                return True
            if head.feed is Feed.RUNNING:
                if not head.upstream or not hasattr(head.upstream, "__len__"):  # what a loop has left over is iterated once
                    return True
                left += head.upstream
        return False

    @property
    def _answers_late(self) -> bool | None:
        head = self._head
        return None if head.feed is Feed.RUNNING else answers_late(head, self._shape, self._args)

    def _synchronous(self) -> Resolved | None:
        """The plan, when it can simply be iterated on this thread."""
        if not hooks.loaded:
            hooks.ensure_loaded()
        # a head that may have to wait is planned once, when the run opens it
        if hooks.on_subscribe is None and queue_fusion._enabled and self._head.feed is not Feed.RUNNING:
            plan = self._resolve()
            if plan[0].feed is not Feed.RUNNING:
                return plan
        return None

    def _iterate(self, prefetch: int = GROWING_PREFETCH, *, whole: bool = False) -> Iterator[T_co]:
        """Iterate on this thread; leaving the loop cancels. A source that pushes is asked for ``prefetch`` items ahead.

        ``whole`` says that the loop that iterates goes on to the end.
        """
        plan = self._synchronous()
        if plan is not None:
            head, shape, args = plan
            return shape.pull(head.open(), None, head, args, PULL_FREE[head.feed])
        window = UNBOUNDED if whole else prefetch
        # Between two items anything may happen, and who missed a source that sends by then would have lost its items.
        loop = self._loop_items(None) if hooks.on_subscribe is None and (whole or not self._sends) else None
        return Waiting[T_co](window, self).items(self) if loop is None else waited_for(loop, window, self)

    def _loop_items(self, run: Stopping | None, /) -> Iterator[T_co] | None:
        head = self._head
        if not isinstance(head, OperatorHead) or head.operator.loop is None or not queue_fusion._enabled:
            return None
        if head.relays:
            joined = self._unrelayed()
            items = joined._passive_items(run)
            return joined._loop_items(run) if items is None else items
        try:
            return loop_of(self._resolve(), run)
        except (Exception, GeneratorExit) as error:  # of a plugin's rule
            return failing(as_signal(error))

    def _unrelayed(self) -> Pipeline[T_co]:
        # The stages before and behind each ``to_flowable`` are one shape then, and one loop.
        head, shape, args = self._head, self._shape, self._args
        if not isinstance(head, OperatorHead) or not head.relays:
            return self
        while isinstance(head, OperatorHead) and head.relays:
            source: Pipeline[Any] = head.upstream[0]
            if shape is ROOT and type(source._head) is IterableHead:
                return source
            shape, args = source._shape.joined(shape), source._args + args
            head = source._head
        made: PlainFlow[T_co] = _new(PlainFlow)  # as in Assembly: half the price of a call
        made._head, made._shape, made._args = head, shape, args
        return made

    def _first_of_loop(self) -> list[Any] | None:
        """The first item, or None, in a list; no list where this has to be subscribed."""
        head = self._head
        if not isinstance(head, OperatorHead) or head.operator.loop is None or not queue_fusion._enabled:
            return None
        if not hooks.loaded:
            hooks.ensure_loaded()
        if hooks.on_subscribe is not None:
            return None
        if head.relays:
            joined = self._unrelayed()
            passive = joined._synchronous()
            if passive is None:
                return joined._first_of_loop()
            head, shape, args = passive
            return [shape.value(head.open(), head, args, head.feed)]
        try:
            plan = self._resolve()
        except (Exception, GeneratorExit) as error:  # of a plugin's rule
            raise as_signal(error) from None
        try:
            return first_of_loop(plan)
        except Handover as handover:
            rest = handover.rest
        return [first_of(Waiting[Any](UNBOUNDED, self, enough=1).items(rest))]

    def _first(self, seconds: float | None = None) -> Any:
        """The first item, computed on this thread, or None when there is none. TimeoutError after ``seconds``."""
        try:
            if seconds is None:
                plan = self._synchronous() if self._head.feed is not Feed.RUNNING else None
                if plan is not None:
                    head, shape, args = plan
                    return shape.value(head.open(), head, args, head.feed)
                found = self._first_of_loop()
                if found is not None:
                    return found[0]
            return first_of(Waiting[Any](1, self, seconds=seconds, enough=1).items(self))
        except RuntimeError as error:
            original = _user_stop(error)
            if original is error:
                raise
            raise original from None

    def _gathered(self, gather: Callable[[Iterable[Any]], R], items: Iterable[Any]) -> R:
        """What ``gather`` makes of ``items``, which are those of this pipeline."""
        try:
            return gather(items)
        except RuntimeError as error:  # as in _first
            original = _user_stop(error)
            if original is error:
                raise
            raise original from None

    def _each(self, items: Iterable[Any], action: Callable[[Any], object]) -> None:
        """Call ``action`` with each of ``items``, which are those of this pipeline."""
        acting = False
        try:
            for item in items:
                acting = True
                action(item)
                acting = False
        except RuntimeError as error:
            original = error if acting else _user_stop(error)
            if original is error:
                raise
            raise original from None

    # -- describing ------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        """How this pipeline will run, as a tree of data; :meth:`explain` is its text."""
        from rx_fusion._explain import plan_of

        hooks.ensure_loaded()  # the rules of plugins are part of the plan
        return plan_of(self)

    def explain(self, *, offers: bool = False) -> str:
        """How this pipeline will run: what is fused into one loop, where threads and queues are, and what was not fused and why.

        Nothing runs. The text is stable: one line per part, sources innermost. With ``offers`` a last line says what an operator
        that is not ours may ask of it (micro-fusion), and why not more.
        """
        text = self.plan().text()
        if not offers:
            return text
        from rx_fusion._explain import offer_of

        return f"{text}\noffers: {offer_of(self)}"

    def _repr_html_(self) -> str:
        """The plan for notebooks; showing a pipeline never runs it."""
        return self.plan().html()


class PlainFlow(Pipeline[T_co], FlowableBase[T_co]):
    """A pipeline with the protocol and nothing else: what stands between operators when fusion is off."""

    __slots__ = ()

    def stage(
        self, function: Callable[Concatenate[Iterable[T_co], P], Iterator[R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> PlainFlow[R]:
        """A stage in this stream: a generator function decorated with ``rx_fusion.stage``, and its arguments.

        Demand passes through, or as the stage's ``request`` says. What the stage raises is signalled, with a note. StageError or
        TypeError at assembly for a function that is no stage or takes other arguments.
        """
        made: PlainFlow[R] = self._then(function, *stage_arguments(function, args, kwargs))
        return made

    def subscribe_actual(self, subscriber: Subscriber[T_co], /) -> None:
        self._subscribe_items(subscriber)


class PlainObserved(PlainFlow[T_co]):
    """The same, of an Observable."""

    __slots__ = ()

    _takes_requests: ClassVar[bool] = False


def _loops_allowed() -> bool:
    """Not without fusion; and a hook for subscriptions is to see the inner ones, which a loop has none of."""
    return queue_fusion._enabled and hooks.on_subscribe is None


def _plain(head: Head, shape: Shape, args: tuple[Any, ...], *, observed: bool) -> PlainFlow[Any]:
    """A part of a pipeline, to be subscribed by the rest of it."""
    return PlainObserved(head, shape, args) if observed else PlainFlow(head, shape, args)


#: Without asking a face's __getattr__, which is there for operators of plugins.
_kept_of: Callable[[Pipeline[Any]], tuple[RuleSet, Resolved, tuple[str, ...]]] = vars(Pipeline)["_kept"].__get__


def _user_stop(error: RuntimeError) -> BaseException:
    """The user's StopIteration, however it travelled: from a stage's edge, or as the cause that who waits put on it."""
    unwrapped = unwrap_stop(error)
    cause = error.__cause__
    return cause if isinstance(cause, StopIteration) and error.args == _WAITED else unwrapped


#: What rx_core says where one cannot be raised. A user's generator that leaks one keeps its RuntimeError.
_WAITED: Final = ("a function in the pipeline raised StopIteration",)


class _Failing:
    """Iterated, it raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __iter__(self) -> Iterator[Any]:
        raise self._error
