"""The plugin manager: what is found, what fails without harm, and how registrations become plain functions."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import pytest

from rx_core import Scheduler, SchedulerNotFoundError, SchedulerRegistry, _hooks, _plugins, hookimpl
from rx_core._plugins import PluginManager

SECONDS = 20.0


#: The globals that a manager sets for all plugins.
HOOKS = (
    *("on_assembly", "on_subscribe", "on_schedule", "on_error", "awaitable", "waiting_refused", "current_scheduler"),
    *("_plugged_on_assembly", "_plugged_on_subscribe"),
)


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The globals are as before afterwards, and installed plugins stay out of it."""
    for name in HOOKS:
        monkeypatch.setattr(_hooks, name, None)
    monkeypatch.setattr(_hooks, "fusion_rules", ())
    monkeypatch.setattr(_hooks, "loaded", True)


@pytest.fixture
def registry() -> SchedulerRegistry:
    return SchedulerRegistry()


@pytest.fixture
def manager(registry: SchedulerRegistry) -> PluginManager:
    return PluginManager(registry)


class FakeScheduler(Scheduler):
    def create_worker(self) -> object:  # type: ignore[override]  # never called
        raise NotImplementedError

    def now(self) -> float:
        return 0.0

    def shutdown(self, timeout: float | None = 5.0) -> bool:
        return True


def distribution(root: Path, name: str, entry_points: str, **modules: str) -> None:
    """An installed distribution, as far as importlib.metadata can see."""
    info = root / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(entry_points)
    for module, text in modules.items():
        (root / f"{module}.py").write_text(text)


GOOD = """
from rx_core import hookimpl
@hookimpl
def rx_schedulers():
    return {"good": object}
@hookimpl
def rx_on_error(error):
    pass
"""


# Loading ---------------------------------------------------------------------------------------------------------


def load(manager: PluginManager) -> list[str]:
    """Load the entry points and return the texts of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        manager.load_entry_points()
    assert all(warning.category is RuntimeWarning for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only place where distributions are found."""
    found = metadata.entry_points

    def here(group: str) -> object:
        return [each for each in found(group=group) if each.dist is not None and str(tmp_path) in str(each.dist._path)]  # type: ignore[attr-defined]  # where a distribution lies

    monkeypatch.setattr(metadata, "entry_points", here)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


FAULTS = {
    "fails to import": ("import rx_no_such_module_at_all\n", "ModuleNotFoundError: No module named 'rx_no_such"),
    "ends the program": ("raise SystemExit(3)\n", "SystemExit: 3"),
    "misspelt hook": (
        "from rx_core import hookimpl\n@hookimpl\ndef rx_on_asembly(pipeline): ...\n",
        "unknown hook 'rx_on_asembly'",
    ),
    "unknown argument": (
        "from rx_core import hookimpl\n@hookimpl\ndef rx_on_assembly(pipe): ...\n",
        "Argument(s) {'pipe'} are declared in the hookimpl but can not be found",
    ),
    "hook that raises": (
        "from rx_core import hookimpl\n@hookimpl\ndef rx_schedulers(): raise ZeroDivisionError('in hook')\n",
        "ZeroDivisionError: in hook",
    ),
    "no mapping": (
        "from rx_core import hookimpl\n@hookimpl\ndef rx_schedulers(): return ['io']\n",
        "has to return a mapping",
    ),
    "no sequence": (
        "from rx_core import hookimpl\n@hookimpl\ndef rx_fusion_rules(): return None\n",
        "has to return a sequence",
    ),
    "wrapper": (
        "from rx_core import hookimpl\n@hookimpl(wrapper=True)\ndef rx_on_error(error):\n    return (yield)\n",
        "a wrapper cannot be compiled",
    ),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_one_broken_plugin_becomes_a_warning_and_the_others_load(
    fault: str, only: Path, manager: PluginManager, registry: SchedulerRegistry
) -> None:
    text, reason = FAULTS[fault]
    suffix = fault.replace(" ", "_")
    distribution(only, "a-broken", f"[rx]\nbroken = rx_broken_{suffix}\n", **{f"rx_broken_{suffix}": text})
    distribution(only, "b-good", f"[rx]\ngood = rx_good_{suffix}\n", **{f"rx_good_{suffix}": GOOD})
    (warning,) = load(manager)
    assert warning.startswith("the plugin 'broken' of a-broken 1.2 was not loaded: ")
    assert reason in warning
    assert "pip install --upgrade a-broken" in warning
    assert "python -m rx_core plugins" in warning
    assert registry.names() == ["good"]
    broken, good = manager.describe()
    assert (broken.distribution, broken.version, broken.entry_point) == ("a-broken", "1.2", "broken")
    assert broken.failure is not None
    assert reason in broken.failure
    assert good.provides == ("schedulers: good", "hooks: rx_on_error")
    assert _hooks.on_error is not None
    assert _hooks.on_assembly is None
    assert load(manager) == []  # once


def test_everything_loads_even_where_warnings_are_errors(only: Path, manager: PluginManager) -> None:
    distribution(only, "a-broken", "[rx]\none = rx_absent_1\ntwo = rx_absent_2\n")
    distribution(only, "b-good", "[rx]\ngood = rx_good_strict\n", rx_good_strict=GOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="'one' of a-broken"):
            manager.load_entry_points()
        manager.load_entry_points()
    assert [info.failure is None for info in manager.describe()] == [False, False, True]


def test_a_plugin_may_ask_for_plugins_while_it_is_imported(only: Path, manager: PluginManager) -> None:
    module = types.ModuleType("rx_asking_test_helper")
    module.manager = manager  # type: ignore[attr-defined]  # what the plugin below reads
    sys.modules["rx_asking_test_helper"] = module
    text = "import rx_asking_test_helper as helper\nassert helper.manager.load_entry_points() is False\n" + GOOD
    distribution(only, "asking", "[rx]\nasking = rx_asking\n", rx_asking=text)
    assert load(manager) == []
    assert manager.load_entry_points() is True


def test_operators_are_listed_without_being_imported_unless_asked(only: Path, manager: PluginManager) -> None:
    distribution(
        only,
        "pairs",
        "[rx.operators]\nFlowable.pairs = rx_pairs_listed:pairs\nFlowable.gone = rx_pairs_listed:gone\n",
        rx_pairs_listed="def pairs(): ...\n",
    )
    (info,) = manager.describe()
    assert info.provides == ("operators: Flowable.gone, Flowable.pairs",)
    assert "rx_pairs_listed" not in sys.modules
    failed, good = manager.describe(check_operators=True)
    assert good.provides == ("operators: Flowable.pairs",)
    assert failed.entry_point == "Flowable.gone"
    assert "has no attribute 'gone'" in str(failed.failure)


# Registering -----------------------------------------------------------------------------------------------------


class Recorder:
    """A plugin that notes its calls in a common list."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log

    @hookimpl
    def rx_on_assembly(self, pipeline: object) -> object:
        self.log.append(self.name)
        return f"{pipeline}+{self.name}"

    @hookimpl
    def rx_on_subscribe(self, subscriber: object) -> object:
        return f"{subscriber}+{self.name}"

    @hookimpl
    def rx_on_schedule(self, action: Callable[[], object]) -> Callable[[], object] | None:
        return None  # only looks

    @hookimpl
    def rx_on_error(self, pipeline: object, error: Exception) -> None:
        self.log.append(f"{self.name}:{error}:{pipeline}")


def assemble(pipeline: object = "p") -> object:
    return pipeline if _hooks.on_assembly is None else _hooks.on_assembly(pipeline)


def test_hooks_are_none_again_when_the_last_plugin_has_gone(manager: PluginManager) -> None:
    plugin = Recorder("a", [])
    manager.register(plugin)
    assert None not in (_hooks.on_assembly, _hooks.on_subscribe, _hooks.on_schedule, _hooks.on_error)
    manager.unregister(plugin)
    assert (_hooks.on_assembly, _hooks.on_subscribe, _hooks.on_schedule, _hooks.on_error) == (None,) * 4
    with pytest.raises(ValueError, match="is not registered"):
        manager.unregister(plugin)


def test_plugins_chain_and_the_last_one_is_called_first(manager: PluginManager) -> None:
    log: list[str] = []
    manager.register(Recorder("a", log))
    manager.register(Recorder("b", log))
    assert assemble() == "p+b+a"
    assert _hooks.on_subscribe is not None
    assert _hooks.on_subscribe("source", "s") == "s+b+a"
    assert _hooks.on_schedule is not None

    def action() -> None: ...

    assert _hooks.on_schedule(action) is action
    assert log == ["b", "a"]


def test_every_error_hook_is_called_once_and_a_failing_one_hides_nothing(
    manager: PluginManager, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing:
        @hookimpl
        def rx_on_error(self) -> None:
            raise LookupError("hook")

    log: list[str] = []
    manager.register(Recorder("a", log))
    manager.register(Failing())
    manager.register(Recorder("b", log))
    _hooks.dropped(ValueError("lost"), "pipe")
    assert log == ["b:lost:pipe", "a:lost:pipe"]
    assert [record.message for record in caplog.records] == ["an rx_on_error hook failed in 'pipe': LookupError('hook')"]


def test_an_error_that_no_hook_took_is_logged(manager: PluginManager, caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        @hookimpl
        def rx_on_error(self) -> None:
            raise LookupError("hook")

    one, two = Failing(), Failing()
    with manager.enable(one), manager.enable(two):
        _hooks.dropped(ValueError("lost"))
    assert [record.message for record in caplog.records] == [
        "an rx_on_error hook failed: LookupError('hook')",
        "an rx_on_error hook failed: LookupError('hook')",
        "error with nowhere to go: ValueError('lost')",
    ]


def test_a_hook_that_raises_is_named(manager: PluginManager) -> None:
    class Failing:
        @hookimpl
        def rx_on_assembly(self) -> None:
            raise LookupError("hook")

    manager.register(Failing(), "failing-plugin")
    with pytest.raises(LookupError) as caught:
        assemble()
    assert caught.value.__notes__ == ["raised by the rx_on_assembly hook of the plugin failing-plugin"]


def test_blocks_nest_and_end_in_any_order(manager: PluginManager) -> None:
    a, b = Recorder("a", []), Recorder("b", [])
    first, second, again = manager.enable(a), manager.enable(b), manager.enable(a)
    first.__enter__()
    second.__enter__()
    again.__enter__()
    assert assemble() == "p+b+a"
    first.__exit__(None, None, None)
    assert assemble() == "p+b+a"
    second.__exit__(None, None, None)
    assert assemble() == "p+a"
    again.__exit__(None, None, None)
    assert assemble() == "p"


def test_a_block_ends_its_registration_when_it_fails(manager: PluginManager) -> None:
    def fail() -> None:
        assert assemble() == "p+a"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), manager.enable(Recorder("a", [])):
        fail()
    assert assemble() == "p"


def test_a_wrong_plugin_changes_nothing(manager: PluginManager) -> None:
    class Misspelt:
        @hookimpl
        def rx_on_asembly(self, pipeline: object) -> None: ...

        @hookimpl
        def rx_on_schedule(self, action: object) -> None: ...

    with pytest.raises(ValueError, match=r"(?s)unknown hook 'rx_on_asembly'.*rx_on_assembly"):
        manager.register(Misspelt())
    assert _hooks.on_schedule is None
    manager.register(Recorder("a", []))
    assert assemble() == "p+a"
    # Besides what installed distributions offer.
    assert [info.entry_point for info in manager.describe() if info.entry_point != "rx.operators"] == ["Recorder"]


def test_registering_from_many_threads_loses_nothing(manager: PluginManager) -> None:
    plugins = [Recorder(str(i), []) for i in range(8)]
    start = threading.Barrier(8)

    def work(plugin: Recorder) -> None:
        start.wait(SECONDS)
        for _ in range(20):
            with manager.enable(plugin):
                assert f"+{plugin.name}" in str(assemble())

    errors: list[object] = []
    threads = [threading.Thread(target=lambda p=plugin: _try(work, p, errors)) for plugin in plugins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert errors == []
    assert assemble() == "p"


def _try(work: Callable[[Recorder], None], plugin: Recorder, errors: list[object]) -> None:
    try:
        work(plugin)
    except BaseException as error:
        errors.append(error)


class Schedulers:
    def __init__(self, schedulers: Mapping[str, Callable[[], Scheduler]]) -> None:
        self.schedulers = schedulers
        self.asked = 0

    @hookimpl
    def rx_schedulers(self) -> Mapping[str, Callable[[], Scheduler]]:
        self.asked += 1
        return self.schedulers


def test_schedulers_come_and_go_with_their_plugins(manager: PluginManager, registry: SchedulerRegistry) -> None:
    base = Schedulers({"io": FakeScheduler, "single": FakeScheduler})
    override = Schedulers({"io": lambda: FakeScheduler(), "extra": FakeScheduler})
    manager.register(base)
    usual = registry.get("io")
    with manager.enable(override):
        assert registry.names() == ["extra", "io", "single"]
        assert registry.get("io") is not usual
    assert registry.names() == ["io", "single"]
    assert registry.get("io") is usual  # no second one, whose threads would be a second set
    assert base.asked == 1
    with pytest.raises(SchedulerNotFoundError):
        registry.get("extra")


def test_a_factory_that_makes_no_scheduler_is_named(manager: PluginManager, registry: SchedulerRegistry) -> None:
    manager.register(Schedulers({"mine": lambda: 5}))  # type: ignore[dict-item, return-value]  # wrong on purpose
    with pytest.raises(TypeError, match=r"scheduler\('mine'\), has to return a Scheduler, not 5"):
        registry.get("mine")


def test_what_a_factory_of_schedulers_raises_names_the_factory_each_time(
    manager: PluginManager, registry: SchedulerRegistry
) -> None:
    def broken() -> Scheduler:
        raise OSError("no such device")

    manager.register(Schedulers({"mine": broken}))
    for _ in range(2):
        with pytest.raises(OSError, match="no such device") as raised:
            registry.get("mine")
        (note,) = raised.value.__notes__
        assert "broken" in note
        assert "scheduler('mine')" in note


def test_fusion_rules_are_the_same_object_until_plugins_change(manager: PluginManager) -> None:
    class Rules:
        def __init__(self, *rules: str) -> None:
            self.rules = rules

        @hookimpl
        def rx_fusion_rules(self) -> Sequence[object]:
            return list(self.rules)

    manager.register(Rules("a", "b"))
    before = _plugins.fusion_rules()
    with manager.enable(Rules("c")):
        assert _plugins.fusion_rules() == ("a", "b", "c")
        rules = _plugins.fusion_rules()
        with manager.enable(Recorder("x", [])):
            pass
        assert _plugins.fusion_rules() == rules
    assert _plugins.fusion_rules() == before == ("a", "b")


# The process -----------------------------------------------------------------------------------------------------


def python(path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(path), *sys.path])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )


def test_importing_rx_core_imports_neither_pluggy_nor_asyncio(tmp_path: Path) -> None:
    heavy = "('pluggy', 'asyncio', 'importlib.metadata', 'concurrent.futures')"
    ran = python(tmp_path, "-c", f"import rx_core, sys; print([name for name in {heavy} if name in sys.modules])")
    assert ran.stdout.strip() == "[]", ran.stderr


def test_the_command_lists_what_is_there_and_fails_when_something_is_broken(tmp_path: Path) -> None:
    distribution(tmp_path, "zz-good", "[rx]\ngood = zz_good\n", zz_good=GOOD)
    ran = python(tmp_path, "-W", "error", "-m", "rx_core", "plugins")
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["distribution", "version", "entry", "point", "provides"]
    assert lines[-1].split(maxsplit=3) == ["zz-good", "1.2", "good", "schedulers: good; hooks: rx_on_error"]
    assert (ran.stderr, ran.returncode) == ("", 0)

    distribution(tmp_path, "zz-broken", "[rx]\nbroken = zz_broken\n", zz_broken="import rx_not_there\n")
    ran = python(tmp_path, "-m", "rx_core", "plugins")
    assert "zz-broken" in ran.stdout
    assert "FAILED ModuleNotFoundError: No module named 'rx_not_there'" in ran.stdout
    assert "zz-good" in ran.stdout
    assert ran.returncode == 1
    assert python(tmp_path, "-m", "rx_core", "plugins").stdout == ran.stdout


def test_the_command_explains_itself(tmp_path: Path) -> None:
    assert python(tmp_path, "-m", "rx_core", "--help").returncode == 0
    ran = python(tmp_path, "-m", "rx_core", "plugin")
    assert ran.returncode == 2
    assert "plugins" in ran.stderr


def test_installed_plugins_can_be_left_alone(tmp_path: Path) -> None:
    distribution(tmp_path, "zz-broken", "[rx]\nbroken = zz_broken\n", zz_broken="import rx_not_there\n")
    program = "import rx_core\ntry: rx_core.scheduler('io')\nexcept LookupError as error: print(error)"
    ran = python(tmp_path, "-W", "error", "-c", program, RX_DISABLE_PLUGINS="1")
    assert "there is no scheduler called 'io'" in ran.stdout, ran.stderr
    ran = python(tmp_path, "-m", "rx_core", "plugins", RX_DISABLE_PLUGINS="1")
    assert ran.stdout.startswith("RX_DISABLE_PLUGINS is set")
    assert ran.returncode == 0
