"""Two clones of a vault and the bare repository between them. Real git, real processes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from tests.conftest import Clock, forget_the_machine
from tests.vaults import copied
from vault_memory.core.profile.profile import Profile
from vault_memory.services.admin import to_trust, trust
from vault_memory.services.admin.create_vault import create_vault, make_tokens
from vault_memory.services.sync.sync import Synced, sync
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

USER = "memory/alice/USER.md"


def git(folder: Path, *args: str) -> str:
    names = {f"GIT_{role}_NAME": "Alice" for role in ("AUTHOR", "COMMITTER")}
    emails = {f"GIT_{role}_EMAIL": "a@x" for role in ("AUTHOR", "COMMITTER")}
    environ = os.environ | names | emails
    done = subprocess.run(
        ["git", *args], cwd=folder, capture_output=True, text=True, errors="surrogateescape", timeout=60, env=environ
    )
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done.stdout


@dataclass
class Machine:
    """One machine's vault."""

    vault: Vault

    @property
    def root(self) -> Path:
        return self.vault.root

    def write(self, name: str, text: str | bytes) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        assert old in self.read(name)
        self.write(name, self.read(name).replace(old, new))

    def theme(self) -> object:
        return Profile.parse(self.read(USER)).get("theme")

    def sync(self) -> Synced:
        """Sync, after a yes to the hub, which is a folder of this machine."""
        trust(self.vault, to_trust(self.vault))
        return sync(self.vault)

    def assert_clean(self) -> None:
        assert git(self.root, "status", "--porcelain") == ""
        assert git(self.root, "fsck", "--strict", "--no-dangling") == ""
        assert git(self.root, "rev-parse", "HEAD") == git(self.root, "ls-remote", "origin", "main").split()[0] + "\n"
        assert self.vault.history.state().waiting == 0


@dataclass(frozen=True)
class Machines:
    """The hub and two machines below `folder`, to be copied: that takes a tenth of the time of making them."""

    folder: Path
    time: datetime

    def copy(self, name: str, folder: Path, clock: Clock) -> Machine:
        root = shutil.copytree(self.folder / name, folder / name, symlinks=True)
        config = root / ".git" / "config"
        config.write_text(config.read_text().replace(str(self.folder), str(folder)))
        make_tokens(root)
        git(root, "update-index", "-q", "--refresh")
        clock.time = max(clock.time, self.time)
        return Machine(open_vault(root, now=clock))


@pytest.fixture(scope="session")
def machines(new_vault: Path, tmp_path_factory: pytest.TempPathFactory) -> Machines:
    """The first machine has told the hub of a user and a note, the second one is a clone."""
    folder, clock = tmp_path_factory.mktemp("machines"), Clock()
    with pytest.MonkeyPatch.context() as patch:
        forget_the_machine(patch, tmp_path_factory.mktemp("home"))
        git(folder, "init", "-q", "--bare", "-b", "main", "hub.git")
        root = copied(new_vault, folder / "one")
        git(root, "remote", "add", "origin", str(folder / "hub.git"))
        machine = Machine(open_vault(root, now=clock))
        record_turn(machine.vault, "alice", "你好", "好" * 120)
        machine.write("memory/alice/notes/idea.md", "# 想法\n\none\ntwo\nthree\n")
        machine.write("picture.png", b"\0base")
        machine.sync()
        git(folder, "clone", "-q", str(folder / "hub.git"), "two")
        create_vault(folder / "two")
    return Machines(folder, clock.time)


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    return tmp_path / "hub.git"


@pytest.fixture
def one(tmp_path: Path, hub: Path, clock: Clock, machines: Machines) -> Machine:
    """The first machine, which has told the hub of a user and a note."""
    shutil.copytree(machines.folder / "hub.git", hub, dirs_exist_ok=True)
    machine = machines.copy("one", tmp_path, clock)
    trust(machine.vault, to_trust(machine.vault))  # as its sync has done, on a machine that each test has anew
    return machine


@pytest.fixture
def two(tmp_path: Path, one: Machine, clock: Clock, machines: Machines) -> Machine:
    """The second one, a clone."""
    return machines.copy("two", tmp_path, clock)


@pytest.fixture
def remote(tmp_path: Path, one: Machine) -> Machine:
    """A clone that only plain git works in: what a hostile or careless machine pushes."""
    git(tmp_path, "clone", "-q", "hub.git", "remote")
    return Machine(open_vault(tmp_path / "remote"))


def push(machine: Machine, **contents: str | bytes) -> None:
    for name, text in contents.items():
        machine.write(name, text)
    git(machine.root, "add", "-f", *contents)
    git(machine.root, "commit", "-qm", "sent")
    git(machine.root, "push", "-q")
