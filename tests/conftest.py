"""What the tests share: a real vault in a temporary folder, and the real command line."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import hypothesis
import pytest

from tests.scripted_http import ScriptedServer
from tests.vaults import copied
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.vault import Vault, open_vault

if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under `nohup` the servers that tests start would ignore it, too

TAIPEI = ZoneInfo("Asia/Taipei")
os.environ["TZ"] = "Asia/Taipei"
"""Of this process and all that it starts: the zone of days of a vault that names none, whoever runs the tests."""
time.tzset()

# What a push is judged by must not depend on chance; a person's own runs go on looking for new examples.
hypothesis.settings.register_profile("ours", derandomize=bool(os.environ.get("CI")), deadline=None)
hypothesis.settings.load_profile("ours")

# A shell ignores SIGINT in what it runs in the background, and children inherit that: some tests press Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def system_zone(name: str) -> Iterator[None]:
    """While it is open, this process and those that it starts are in another time zone."""
    before = os.environ["TZ"]
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ["TZ"] = before
        time.tzset()


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: more than there are processors, because many tests wait for a server or a daemon."""
    return max(1, (os.cpu_count() or 1) * 3 // 2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test of the command line starts processes: it is slow, as if it were marked."""
    for item in items:
        if "cli" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New home folders, one for each test: `mktemp` reads the names of all that it has made, and takes ever longer."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _nobody_in_particular(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any git identity and without our variables, whoever runs the tests."""
    home = next(homes)
    home.mkdir()
    forget_the_machine(monkeypatch, home)


def forget_the_machine(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Take away what the machine says of git and of our settings, and give a new home folder."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "VAULT_MEMORY_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))


@dataclass
class Clock:
    """A clock that the test moves; every reading is a second later than the one before."""

    time: datetime = field(default_factory=lambda: datetime(2026, 1, 30, 14, 5, tzinfo=TAIPEI))

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def new_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new vault, to be copied: that takes a tenth of the time of making one."""
    with pytest.MonkeyPatch.context() as patch:
        forget_the_machine(patch, tmp_path_factory.mktemp("home"))
        return create_vault(tmp_path_factory.mktemp("template") / "vault").root


@pytest.fixture
def vault(tmp_path: Path, clock: Clock, new_vault: Path) -> Vault:
    """A new vault with the clock of the test."""
    return open_vault(shutil.copytree(new_vault, tmp_path / "vault", symlinks=True), now=clock)


@dataclass
class Cli:
    """The command line as a person runs it: a process, in a folder."""

    folder: Path

    def __call__(self, *words: str, code: int = 0, stdin: str | None = None, **environ: str) -> str:
        """Run a command; what it printed, after checking how it ended."""
        done = self.run(*words, stdin=stdin, **environ)
        assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    def run(self, *words: str, stdin: str | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "vault_memory", *words],
            cwd=self.folder, input=stdin, capture_output=True, text=True, timeout=60, env=os.environ | environ,
        )  # fmt: skip

    def json(self, *words: str) -> Any:
        """What a command says in JSON; `status` may end with 1, which is what the JSON says too."""
        done = self.run(*words, "--json")
        assert done.returncode in ((0, 1) if words[0] == "status" else (0,)), f"{words}: {done.stderr}"
        return json.loads(done.stdout)

    def start(self, *words: str, **environ: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "vault_memory", *words],
            cwd=self.folder, env=os.environ | environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.folder, check=True, capture_output=True, text=True, timeout=60
        ).stdout


@pytest.fixture
def cli(tmp_path: Path, new_vault: Path) -> Cli:
    """The command line inside a new vault."""
    return Cli(copied(new_vault, tmp_path / "my-vault"))


@pytest.fixture
def daemon(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """`vault-memory watch` in that vault, ready; stopped at the end of the test."""
    process = cli.start("watch")
    try:
        assert process.stdout is not None
        wait_until(lambda: cli.json("status")["daemon"]["running"], "the daemon is ready")
        yield process
    finally:
        process.terminate()
        process.wait(60)


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
    """Poll until the condition holds, and return what it gave; fail after the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain until {what}")


def wait_until_inside(thread: threading.Thread, function: Callable[..., Any]) -> None:
    """Wait until the thread runs, or waits in, this function, such as `files.lock`."""
    code = inspect.unwrap(function).__code__

    def is_inside() -> bool:
        frame = sys._current_frames().get(thread.ident or 0)
        while frame is not None and frame.f_code is not code:
            frame = frame.f_back
        return frame is not None

    wait_until(is_inside, f"the thread is in {function.__name__}")


@pytest.fixture
def chat() -> Iterator[ScriptedServer]:
    """A provider of chat models, scripted."""
    with ScriptedServer() as server:
        yield server
