"""A plain `git pull` brings links to where the program keeps its state: nothing outside the vault changes by them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vault_memory.errors import ForeignFile, Unauthenticated, VaultMemoryError
from vault_memory.services.admin import caller_of, doctor, new_user_token, own_token, status
from vault_memory.services.daemon import Daemon, Event, heartbeat
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import record_turn
from vault_memory.services.turns.redactions import add_redactions
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow

STATE = ".vault-memory"
FILES = [
    *(f"{STATE}/{name}" for name in (
        "token", "tokens/alice", "index.db", "index.db-wal", "index.db-shm", "index.db-journal",
        "daemon.json", "embedding.json", "embedding.lock", "second-look.json", "second-look.lock",
        "redactions/alice.json", "jobs/commits.json", "jobs/commits.lock",
        "locks/users/alice.lock", "locks/records/alice.lock", "locks/daemon.lock",
        "logs/daemon.jsonl", "logs/daemon.jsonl.1", "rescan",
    )),
    "memory/alice/index.db", "memory/alice/index.db-wal", "memory/alice/conversations/2026-01-30.jsonl",
    "memory/alice/conversations/.unlearned/2026-01-30.0",
]  # fmt: skip
FOLDERS = [
    STATE,
    *(f"{STATE}/{name}" for name in ("tokens", "redactions", "jobs", "locks", "locks/users", "logs")),
    "memory/alice/conversations/.unlearned", "memory/alice/conversations", "memory/alice",
]  # fmt: skip


def git(folder: Path, *words: str) -> None:
    signature = ("-c", "user.name=x", "-c", "user.email=x@y", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *signature, *words], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A person's folder beside the vault, with a file of every name that ours have."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in {"file", *(Path(name).name for name in FILES)}:
        (folder / name).write_text("mine\n")
        (folder / name).chmod(0o644)
    before = _listing(folder)
    yield folder
    assert _listing(folder) == before


def _listing(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mode) for p in folder.iterdir() if p.is_file()} | {
        p.name: (b"", 0) for p in folder.iterdir() if not p.is_file()
    }


@pytest.fixture
def pull(vault: Vault, tmp_path: Path) -> Callable[[Callable[[Path], None]], None]:
    """Let somebody commit what a function plants into a clone, and pull it with plain git, hooks and all."""

    def plant_and_pull(plant: Callable[[Path], None]) -> None:
        git(tmp_path, "clone", "--quiet", "--bare", str(vault.root), "remote")
        git(tmp_path, "clone", "--quiet", "remote", "theirs")
        plant(tmp_path / "theirs")
        git(tmp_path / "theirs", "add", "--force", "--all")
        git(tmp_path / "theirs", "commit", "--quiet", "--message", "a new note")
        git(tmp_path / "theirs", "push", "--quiet")
        shutil.rmtree(vault.root / STATE)  # as anybody may; git does not put a link where files are
        git(vault.root, "pull", "--quiet", str(tmp_path / "remote"), "main")

    return plant_and_pull


def use(vault: Vault, name: str = STATE) -> list[str]:
    """Use everything that writes state, the daemon if it is one of its files; what was refused, in words."""
    said: list[str] = []
    events: list[Event] = []
    stop = threading.Event()
    daemon = Daemon(vault, events.append)

    def watch() -> None:
        threading.Timer(1.0, stop.set).start()
        daemon.run(stop)

    for step in (
        lambda: record_turn(vault, "alice", "我喜歡暗色主題，我的密碼是 hunter2-Xy77!"),
        lambda: search(vault, "alice", SearchQuery("主題")),
        lambda: search(vault, "", SearchQuery("主題")),
        lambda: own_token(vault.root),
        lambda: caller_of(vault, new_user_token(vault, "alice")),
        lambda: add_redactions(vault, "alice", {"key": 1}),
        lambda: list(heartbeat(vault, force=True)),
        lambda: status(vault),
        *([watch] if name == STATE or any(of in name for of in ("daemon", "log", "lock", "rescan")) else []),
    ):
        try:
            step()
        except VaultMemoryError as error:
            said.append(str(error))
    return said + [event.message for event in events]


@pytest.mark.parametrize("name", FILES + FOLDERS)
def test_a_pulled_link_changes_nothing_outside(
    vault: Vault, outside: Path, pull: Callable[[Callable[[Path], None]], None], name: str
) -> None:
    def plant(theirs: Path) -> None:
        path = theirs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(outside if name in FOLDERS else outside / "file")

    pull(plant)
    assert (vault.root / name).is_symlink()
    said = use(vault, name)
    [state] = [finding for finding in doctor(vault) if finding.name == "state"]
    if name == "memory/alice":
        assert any("links out of it" in line for line in said)
    else:
        assert not state.ok and name in state.message and state.next_step, "`doctor` says in words what is wrong"


def test_nothing_private_is_written_into_a_file_of_another_name(vault: Vault) -> None:
    """A folder that was sent may hold one file under two names (hard links, which tar keeps): what a turn appended to a
    conversation stood in a note, too, which is committed and sent, and which other users find."""
    (vault.root / "notes").mkdir()
    for index, name in enumerate(FILES):
        (vault.root / name).parent.mkdir(parents=True, exist_ok=True)
        (vault.root / name).unlink(missing_ok=True)
        (vault.root / f"notes/n{index}.md").write_text("\n")
        os.link(vault.root / f"notes/n{index}.md", vault.root / name)
    use(vault)
    for index, name in enumerate(FILES):
        assert (vault.root / f"notes/n{index}.md").read_bytes() == b"\n", name
    assert "hunter" not in (record := (vault.root / FILES[-2]).read_text()) and "暗色" in record


def test_two_users_have_no_index_in_common(vault: Vault) -> None:
    for user_id in ("alice", "bob"):
        record_turn(vault, user_id, f"the words of {user_id}", "ok")
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        (vault.root / "memory/bob" / name).unlink(missing_ok=True)
    os.link(vault.root / "memory/alice/index.db", vault.root / "memory/bob/index.db")
    assert not [hit for hit in search(vault, "bob", SearchQuery("words of alice")).hits if "alice" in hit.content]
    assert [hit for hit in search(vault, "alice", SearchQuery("words of alice")).hits if "alice" in hit.content]


@pytest.mark.parametrize(
    "name", ["token", "tokens", "daemon.json", "locks", "logs/daemon.jsonl", "redactions/alice.json"]
)
def test_what_uses_a_planted_link_says_so(
    vault: Vault, outside: Path, pull: Callable[[Callable[[Path], None]], None], name: str
) -> None:
    def plant(theirs: Path) -> None:
        (theirs / STATE / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / STATE / name).symlink_to(outside)

    pull(plant)
    assert any(f"{STATE}/{name} is a link to" in line and "delete the link" in line for line in use(vault))


def test_a_log_that_leads_to_a_shell_s_start_file_runs_nothing(
    vault: Vault, tmp_path: Path, pull: Callable[[Callable[[Path], None]], None]
) -> None:
    """The name of a pulled note is logged; a shell that reads the log as its start file would run it."""
    start_file = tmp_path / ".bashrc"
    start_file.write_text("# mine\n")

    def plant(theirs: Path) -> None:
        (theirs / STATE / "logs").mkdir(parents=True)
        (theirs / STATE / "logs" / "daemon.jsonl").symlink_to(start_file)
        (theirs / "$(touch ran).md").write_text("# A note\n")

    pull(plant)
    use(vault)
    subprocess.run(["bash", str(start_file)], cwd=tmp_path, capture_output=True, timeout=60)
    assert start_file.read_text() == "# mine\n" and not (tmp_path / "ran").exists()


def test_state_that_git_tracks_is_not_used(
    vault: Vault, outside: Path, pull: Callable[[Callable[[Path], None]], None]
) -> None:
    """A regular file too: a pulled token would let its author in."""
    known = "vault_admin_" + "0" * 64

    def plant(theirs: Path) -> None:
        (theirs / STATE / "redactions").mkdir(parents=True)
        (theirs / STATE / "token").write_text(known + "\n")
        (theirs / STATE / "redactions" / "alice.json").write_text('{"health": 1}\n')

    record_turn(vault, "alice", "我喜歡暗色主題")
    pull(plant)
    (vault.root / STATE / "token").chmod(0o600)
    for step in (lambda: own_token(vault.root), lambda: status(vault)):
        with pytest.raises(ForeignFile, match=r"git tracks \.vault-memory/.*git rm -f"):
            step()
    with pytest.raises(Unauthenticated):
        caller_of(vault, known)
    [state] = [finding for finding in doctor(vault) if finding.name == "state"]
    assert "token is tracked by git" in state.message
    git(vault.root, "rm", "--cached", "-r", "--quiet", "--", STATE)
    (vault.root / STATE / "token").unlink()
    assert own_token(vault.root) != known
    status(vault)


@pytest.mark.parametrize("name", ["vault-memory", "vault-memory/intents", "vault-memory/lock", "vault-memory/ref.new",
                                  "vault-memory/index.new", "logs/HEAD", "logs/refs/heads/main"])  # fmt: skip
def test_links_in_git_s_folder_of_an_adopted_vault_change_nothing_outside(
    vault: Vault, outside: Path, name: str
) -> None:
    path = vault.root / ".git" / name
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(
        outside if "." not in name and name in ("vault-memory", "vault-memory/intents") else outside / "file"
    )
    with contextlib.suppress(VaultMemoryError):
        record_turn(vault, "alice", "我喜歡暗色主題")
