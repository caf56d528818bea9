"""tools/dev.py: what it hides from the tools, what it tells them, how it stops, and what it says when it cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.workspace.projects import ROOT
from tools import dev

DEV = ROOT / "tools" / "dev.py"


# The environment of the tools


def test_another_environment_of_the_caller_is_hidden() -> None:
    caller = {
        "CONDA_PREFIX": "/conda",
        "HATCH_DATA_DIR": "/elsewhere",
        "HATCH_ENV_ACTIVE": "default",
        "HOME": "/home/me",
        "PATH": os.pathsep.join(["/venv/bin", "/usr/bin", "/conda/bin", "/opt/bin"]),
        "PIP_USER": "1",
        "PYTHONHOME": "/python",
        "PYTHONPATH": "/mine",
        "UV_PYTHON": "3.14",
        "VIRTUAL_ENV": "/venv",
        "VIRTUAL_ENV_PROMPT": "(venv)",
    }
    assert dev.clean_environment(caller) == {"HOME": "/home/me", "PATH": os.pathsep.join(["/usr/bin", "/opt/bin"])}


def test_other_settings_of_the_caller_stay() -> None:
    caller = {"PATH": "/usr/bin", "PIP_INDEX_URL": "file:///wheels", "RX_FUSION": "off", "UV_OFFLINE": "1"}
    assert dev.clean_environment(caller) == caller


@pytest.mark.parametrize(
    ("caller", "kept"),
    [
        ({}, {}),
        ({"PYTHONDONTWRITEBYTECODE": ""}, {}),
        ({"PYTHONDONTWRITEBYTECODE": "1"}, {"PYTHONPYCACHEPREFIX": os.path.join("home", "bytecode")}),
        ({"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/mine"}, {"PYTHONPYCACHEPREFIX": "/mine"}),
    ],
)
def test_what_is_compiled_is_kept_but_not_beside_the_sources(caller: dict[str, str], kept: dict[str, str]) -> None:
    assert dev.bytecode_kept(caller, Path("home")) == kept


def test_hatch_keeps_everything_inside_the_clone(tmp_path: Path) -> None:
    tools = dev.Tools(tmp_path, {"PATH": os.defpath, "HATCH_DATA_DIR": "/elsewhere"})
    tools.scripts.mkdir(parents=True)
    tools.python.symlink_to(sys.executable)
    environ = tools.hatch_environ()
    for name in ("HATCH_CACHE_DIR", "HATCH_CONFIG", "HATCH_DATA_DIR", "HATCH_ENV_TYPE_VIRTUAL_UV_PATH"):
        assert Path(environ[name]).is_relative_to(tmp_path / ".dev")
    assert environ["HATCH_PYTHON"] == dev.base_python()


def test_wheels_are_not_compressed_unless_the_caller_says_how_to_build(tmp_path: Path) -> None:
    tools = dev.Tools(tmp_path, {"PATH": os.defpath})
    tools.scripts.mkdir(parents=True)
    tools.python.symlink_to(sys.executable)
    assert Path(tools.hatch_environ()["DIST_EXTRA_CONFIG"]).is_relative_to(tmp_path / ".dev")
    tools.environ["DIST_EXTRA_CONFIG"] = "mine.cfg"
    assert tools.hatch_environ()["DIST_EXTRA_CONFIG"] == "mine.cfg"


def test_two_python_versions_have_two_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = dev.Tools(ROOT, {})
    monkeypatch.setattr("tools.dev.sys", SimpleNamespace(version_info=(3, 99, 0)))
    assert dev.Tools(ROOT, {}).venv != ours.venv


# pip's configuration, said to uv

PIP_CONFIG = r"""
global.timeout='15'
global.extra-index-url='\nfile:///one\nfile:///two'
global.index-url='file:///simple'
install.index-url='file:///install'
:env:.find-links='/wheels /more'
:env:.timeout='180'
global.trusted-host='one.test two.test'
download.no-index='true'
nonsense
""".strip()


def test_the_more_specific_pip_setting_wins() -> None:
    pip = dev.parse_pip_config(PIP_CONFIG)
    assert pip["index-url"] == "file:///install"
    assert pip["timeout"] == "180"
    assert "no-index" not in pip  # said of another command than install


def test_uv_is_told_what_pip_was_told() -> None:
    assert dev.uv_settings(dev.parse_pip_config(PIP_CONFIG), {}) == {
        "UV_DEFAULT_INDEX": "file:///install",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_HTTP_TIMEOUT": "180",
        "UV_INDEX": "file:///one file:///two",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_INSECURE_HOST": "one.test two.test",
    }


def test_what_the_caller_set_for_uv_stays() -> None:
    pip = {"index-url": "file:///pip", "cert": "/pip.pem", "timeout": "5"}
    caller = {"UV_DEFAULT_INDEX": "file:///uv", "SSL_CERT_FILE": "/mine.pem"}
    assert dev.uv_settings(pip, caller) == {"UV_HTTP_TIMEOUT": "5"}


def test_pip_itself_is_asked(tmp_path: Path) -> None:
    tools = dev.Tools(tmp_path, {"PATH": os.defpath, "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "/wheels"})
    listed = subprocess.run(
        [dev.base_python(), "-m", "pip", "config", "list"],
        env=tools.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("the interpreter has no pip of its own")
    assert dev.parse_pip_config(listed.stdout) == {"config-file": os.devnull, "find-links": "/wheels"}


# What it says when it cannot work


def test_an_old_python_is_told_which_one_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    old = SimpleNamespace(version_info=(3, 9, 2), version="3.9.2 (main)", executable="/usr/bin/python3")
    monkeypatch.setattr("tools.dev.sys", old)
    with pytest.raises(dev.SetupError, match=r"needs Python 3\.11 or newer"):
        dev.check_python()


def test_a_missing_venv_module_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(dev.SetupError, match=r"without ensurepip.*(?s:.*)apt install python3-venv"):
        dev.check_python()


def test_an_unknown_command_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["tset"]) == 2
    said = capsys.readouterr().err
    assert "no command 'tset'" in said
    assert "demo" in said


def test_a_failing_step_names_its_command_and_a_remedy(tmp_path: Path) -> None:
    tools = dev.Tools(tmp_path, {"PATH": os.defpath})
    with pytest.raises(dev.SetupError, match=r"(?s)trying failed \(exit code 3\).*-c.*  Do that"):
        tools.step("trying", [sys.executable, "-c", "raise SystemExit(3)"], tools.environ, "  Do that")


# When the environment is made, and when not


class Recorded(dev.Tools):
    """Records the steps instead of running them."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, {"PATH": os.defpath})
        self.steps: list[str] = []

    def pip_settings(self) -> dict[str, str]:
        return {}  # its Python is an empty file

    def step(self, what: str, *_: object) -> None:
        self.steps.append(what)
        if what == "making a virtual environment":
            self.scripts.mkdir(parents=True)
            self.python.touch()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    member = tmp_path / "packages" / "rx-one"
    (member / "src" / "rx_one").mkdir(parents=True)
    (member / "pyproject.toml").write_text("[project]\n")
    (member / "src" / "rx_one" / "_version.py").write_text('__version__ = "1"\n')
    (tmp_path / "packages" / "notes").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.hatch.envs.default]\nworkspace.members = ["packages/*"]\n')
    return tmp_path


def set_up(clone: Path) -> list[str]:
    tools = Recorded(clone)
    with dev.locked(tools.home):
        tools.ensure_venv()
        tools.ensure_workspace(tools.environ)
    return tools.steps


def test_a_second_start_does_nothing(clone: Path) -> None:
    first = ["making a virtual environment", "installing uv", "installing hatch", "making the environment"]
    assert set_up(clone) == first
    assert set_up(clone) == []


@pytest.mark.parametrize("file", ["packages/rx-one/pyproject.toml", "packages/rx-one/src/rx_one/_version.py"])
def test_changed_metadata_of_a_package_is_installed_again(clone: Path, file: str) -> None:
    set_up(clone)
    with open(clone / file, "a") as changed:
        changed.write("# changed\n")
    assert set_up(clone) == ["making the environment", "installing the packages"]
    assert set_up(clone) == []


def test_another_interpreter_starts_afresh(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(clone)
    monkeypatch.setattr(dev, "base_python", lambda: "/another/python")
    assert set_up(clone)[0] == "making a virtual environment"


def test_another_name_of_the_interpreter_changes_nothing(clone: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    set_up(clone)
    name = tmp_path / "another-name"
    name.symlink_to(dev.base_python())
    monkeypatch.setattr(dev, "base_python", lambda: str(name))
    assert set_up(clone) == []


def test_a_set_up_that_was_interrupted_starts_afresh(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Recorded):
        def step(self, what: str, *rest: object) -> None:
            super().step(what, *rest)
            if what == "installing hatch":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Interrupted(clone).ensure_venv()
    assert set_up(clone)[:3] == ["making a virtual environment", "installing uv", "installing hatch"]


def test_git_does_not_see_the_environment(clone: Path) -> None:
    set_up(clone)
    assert (clone / ".dev" / ".gitignore").read_text() == "*\n"


# Exit codes and interrupts


@pytest.mark.parametrize("code", [0, 1, 5])
def test_exit_codes_pass_through(code: int, tmp_path: Path) -> None:
    assert dev.run([sys.executable, "-c", f"raise SystemExit({code})"], os.environ, tmp_path) == code


def test_a_command_that_died_of_a_signal_looks_as_in_a_shell(tmp_path: Path) -> None:
    die = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert dev.run([sys.executable, "-c", die], os.environ, tmp_path) == 128 + signal.SIGTERM


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {child!r}])
with open("pids", "w") as file:
    file.write(str(child.pid))
try:
    time.sleep(60)
except KeyboardInterrupt:
    open("parent-interrupted", "w").close()
    sys.exit(1)
"""
CHILD = """
import time
try:
    open("ready", "w").close()
    time.sleep(60)
except KeyboardInterrupt:
    open("child-interrupted", "w").close()
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
open("ready", "w").close()
time.sleep(60)
"""
RUN = """
import os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tools import dev
dev.LEAVE_SECONDS = 0.5
sys.exit(dev.run([sys.executable, "-c", {parent!r}], os.environ, Path.cwd()))
"""


def start(folder: Path, child: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start a process that runs a command which has a child; return it and the child's process id."""
    script = RUN.format(root=str(ROOT), parent=PARENT.format(child=child))
    running = subprocess.Popen([sys.executable, "-c", script], cwd=folder)
    wait_until(lambda: (folder / "ready").exists() and bool((folder / "pids").read_text()))
    return running, int((folder / "pids").read_text())


def wait_until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 20 seconds"
        time.sleep(0.01)


def alive(process: int) -> bool:
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_everybody(signum: int, code: int, tmp_path: Path) -> None:
    running, child = start(tmp_path, CHILD)
    running.send_signal(signum)
    assert running.wait(timeout=20) == code
    assert not alive(child)
    if signum == signal.SIGINT:  # each had the chance to clean up
        assert (tmp_path / "parent-interrupted").exists()
        assert (tmp_path / "child-interrupted").exists()


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes through /proc")
def test_who_ignores_an_interrupt_is_terminated(tmp_path: Path) -> None:
    running, child = start(tmp_path, STUBBORN)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=20) == 130
    assert not alive(child)


def test_it_needs_only_the_standard_library() -> None:
    loaded = "import sys; sys.path.insert(0, 'tools'); import dev; print(*sys.modules)"
    listed = subprocess.run([sys.executable, "-I", "-S", "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded_names = {name.partition(".")[0] for name in listed.stdout.split()}
    assert loaded_names - set(sys.stdlib_module_names) == {"__main__", "dev"}


def test_help_needs_no_set_up() -> None:
    shown = subprocess.run([sys.executable, DEV, "--help"], capture_output=True, text=True, check=True)
    assert all(command in shown.stdout for command in dev.COMMANDS)
