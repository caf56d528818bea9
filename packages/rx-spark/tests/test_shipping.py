"""What a pipeline needs is sent and tried before its job begins."""

from __future__ import annotations

import json
import os
import threading

import pytest
from tariffs import price

import rx_spark
from rx_spark import NotPortableError, SparkConfig, VersionsError
from rx_spark._workers import _probe
from rx_spark._workers._portable import dump_plan_part
from rx_spark._workers._probe import Probe
from rx_spark._workers._versions import versions_here


@pytest.mark.spark
@pytest.mark.cluster
def test_a_pipeline_a_function_and_a_module_are_tried_on_executors(spark_config: SparkConfig) -> None:
    flow = rx_spark.range(10, config=spark_config).map(price)
    shipped = rx_spark.ship(flow, price, "tariffs")
    assert "tariffs" in shipped.modules
    assert shipped.hosts
    assert list(flow) == [price(number) for number in range(10)]


@pytest.mark.spark
@pytest.mark.cluster
def test_a_module_that_cannot_be_imported_there_is_told_with_the_machine(
    spark_config: SparkConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RX_ONLY_HERE", str(os.getpid()))
    with pytest.raises(RuntimeError, match="only here") as raised:
        rx_spark.ship("only_here", config=spark_config)
    assert any("import only_here, on an executor on" in note for note in raised.value.__notes__)


def test_what_cannot_be_sent_is_said_at_once() -> None:
    with pytest.raises(ValueError, match=r"ship\('json'\): it cannot be sent"):
        rx_spark.ship(json)
    with pytest.raises(ValueError, match="needs something to send"):
        rx_spark.ship()
    with pytest.raises(TypeError, match=r"ship\(3\): a pipeline, a function, a module or its name"):
        rx_spark.ship(3)  # type: ignore[arg-type]  # on purpose
    lock = threading.Lock()
    with pytest.raises(NotPortableError, match="map"):
        rx_spark.ship(rx_spark.range(3).map(lambda number: (number, lock)))


def test_a_probe_opens_what_was_sent_and_calls_nothing() -> None:
    called: list[int] = []
    Probe(("json",), (("map(f)", dump_plan_part(called.append)),), (), versions_here()).look("node-7")
    assert called == []
    with pytest.raises(VersionsError, match="node-7"):
        Probe((), (), (), (("Python", "2.7"),)).look("node-7")
    with pytest.raises(Exception, match=r".") as raised:
        Probe((), (("map(f)", b"no pickle"),), (), ()).look("node-7")
    assert "what map(f) needs, on an executor on node-7" in raised.value.__notes__


def test_a_probe_answers_in_the_columns_that_spark_is_told_of() -> None:
    (batch,) = Probe((), (), (), ())(iter(()))
    assert ", ".join(f"{column.name} {column.type}" for column in batch.schema) == _probe.FOUND
    assert batch.to_pylist()[0]["error"] == b""
