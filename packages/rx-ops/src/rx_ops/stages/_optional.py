"""Stages whose function says for each item whether there is one to give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rx_fusion import stage
from rx_ops._emitters import HandleEmitter

T = TypeVar("T")
R = TypeVar("R")


@stage(later=True)
def map_optional(source: Iterable[T], mapper: Callable[[T], R | None]) -> Iterator[R]:
    for item in source:
        value = mapper(item)
        if value is not None:
            yield value


@stage(later=True, keeps=())
def handle(source: Iterable[T], handler: Callable[[T, HandleEmitter[R]], object]) -> Iterator[R]:
    emitter: HandleEmitter[R] = HandleEmitter()
    for item in source:
        emitter.item = None
        handler(item, emitter)
        value = emitter.item
        error = emitter.error
        done = emitter.done and error is None
        if value is not None:
            yield value
            if done:
                return
        if error is not None:
            raise error
        if done:
            return
