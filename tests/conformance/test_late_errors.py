"""An error that comes when the stream is over or cancelled reaches the error hook once, with the pipeline to look for."""

from __future__ import annotations

from typing import Any, Final

import pytest

from rx_core import hooks
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import FAR, MODES, Case, Kit, switched
from tests.conformance.table import TABLE

LATE: Final = OSError("late")


@each("end", ["cancel", "complete"])
@each("mode", MODES)
@pytest.mark.parametrize("case", [case for case in TABLE if not case.has("source")], ids=str)
def test_a_late_error_is_reported_once(case: Case, mode: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Kit()
    source: ManualPublisher[Any] = ManualPublisher(unchecked=True)
    flow: Flowable[Any] = Flowable.wrap(source)
    built = case.build(flow.hide(), kit).hide() if mode == "hidden" else case.build(flow, kit)
    got: TestSubscriber[Any] = TestSubscriber()
    reports: list[tuple[BaseException, object]] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, origin, _late: reports.append((error, origin)))
    with switched(mode):
        built.subscribe(got)
        while not source.subscriptions and (due := kit.clock.next_due) is not None and due < FAR:
            kit.clock.advance_to(due)
        kit.clock.run_due()
        if not source.subscriptions:
            pytest.skip("subscribes to its source when something else has happened")
        first = source.subscriptions[0]
        if end == "cancel":
            got.cancel()
        else:
            first.complete()
        kit.clock.run_due()
        first.error(LATE)
        while (due := kit.clock.next_due) is not None and due < FAR:
            kit.clock.advance_to(due)
    if end == "cancel" and not first.cancelled:
        assert case.name in ("cache", "cache_ttl")  # which goes on for those who come later, and keeps the error for them
        assert not reports
        return
    assert [error for error, _ in reports] == [LATE], got
    assert not got.errors
    # The pipeline, or the part of it that is nearest to the source: what somebody who reads the log looks for.
    origin = repr(reports[0][1])
    assert origin in repr(built) or "ManualPublisher" in origin
