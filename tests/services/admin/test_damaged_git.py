"""Whatever is damaged in `.git`: turns are kept, nothing is overwritten, the place is named, and once it is mended the
commits that waited are made, those of every user."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import forget_the_machine
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.services.admin import doctor, status
from vault_memory.services.admin.checks import CHECKS
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="named pipes are POSIX")]

GONE = "nothing is there"
COMMON = "log(alice): "
SAYS = {"alice": "我喜歡暗色主題", "bob": "我習慣用 Rust"}


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


@pytest.fixture(scope="module")
def lived_in(new_vault: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of two users, to be copied."""
    with pytest.MonkeyPatch.context() as patch:
        forget_the_machine(patch, tmp_path_factory.mktemp("home"))
        root = Path(shutil.copytree(new_vault, tmp_path_factory.mktemp("lived") / "vault", symlinks=True))
        for user_id in SAYS:
            record_turn(open_vault(root), user_id, "你好")
        return root


@pytest.fixture
def root(lived_in: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived_in, tmp_path / "vault", symlinks=True))


def put(path: Path, what: bytes | str) -> None:
    """Put bytes, a folder, a pipe or nothing at a path."""
    if what == "folder":
        (path / "x").mkdir(parents=True)
    elif what == "pipe":
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
    elif isinstance(what, bytes):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(what)


def removed(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def lines_of(root: Path, user_id: str) -> list[str]:
    files = (root / f"memory/{user_id}/conversations").glob("*.jsonl")
    return [line for file in files for line in file.read_text().splitlines()]


def turns_come_through(root: Path, named: str, mend: Callable[[], object]) -> None:
    """Turns of both users return and are in the record once; the place is named; after `mend` all is committed."""
    learned = False
    for user_id, words in SAYS.items():
        recorded = record_turn(open_vault(root), user_id, words)
        assert recorded.source and named in (recorded.paused or ""), recorded
        assert sum(words in line for line in lines_of(root, user_id)) == 1
        learned = bool(recorded.changes)
    vault = open_vault(root)
    assert any(named in line for line in status(vault).unhealthy), status(vault).unhealthy
    found = doctor(vault, checks=[check for check in CHECKS if check.name in ("vault", "git")])
    assert any(named in each.message for each in found if not each.ok), found
    mend()
    assert record_turn(open_vault(root), "alice", "好").paused is None
    open_vault(root).history.flush()
    state = open_vault(root).history.state()
    assert (state.waiting, state.logs, state.paused, state.problem) == (0, 0, None, None)
    assert git(root, "status", "--porcelain") == "", "what was learned of either user is committed"
    assert ("Rust" in git(root, "show", "HEAD:memory/bob/USER.md")) == learned
    assert COMMON in git(root, "log", "--format=%s"), "the history before it is still there"
    assert git(root, "fsck", "--no-dangling") == ""


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("logs", b"junk\n"),
        ("logs/refs/heads/main", "folder"),
        ("logs/HEAD", "folder"),
        ("HEAD", b""),
        ("HEAD", b"\0" * 21),
        ("HEAD", "folder"),
        ("HEAD", b"ref: config\n"),
        ("HEAD", b"ref: refs/heads/" + b"a/" * 3000 + b"b\n"),
        ("refs/heads/main", b""),
        ("refs/heads/main", b"\0" * 41),
        ("refs/heads/main", b"5a2add20b7b4749b625f"),
        ("refs/heads/main", b"ref: refs/heads/main\n"),
        ("refs/heads/main", b"0" * 40 + b"\n"),
        ("refs/heads/main", "folder"),
        ("refs", b"junk\n"),
        ("packed-refs", "folder"),
        ("objects", b"junk\n"),
        ("index", "folder"),
        ("config", "folder"),
        ("", GONE),
        ("", b"junk\n"),
        ("", "pipe"),
        ("vault-memory", "pipe"),
        ("vault-memory/intents", "pipe"),
        ("vault-memory/intents", b"junk\n"),
        ("vault-memory/lock", "folder"),
    ],
)
def test_something_else_in_a_place_of_git(root: Path, tmp_path: Path, name: str, what: bytes | str) -> None:
    place, whole = root / ".git" / name, tmp_path / "whole"
    if place.exists():
        place.rename(whole)
    put(place, what)

    def mend() -> None:
        removed(place)
        if whole.exists():
            whole.rename(place)

    turns_come_through(root, f"{root if what == GONE else place} ", mend)


@pytest.mark.parametrize("rev", ["HEAD", "HEAD^{tree}", "HEAD:memory"])
@pytest.mark.parametrize("what", [b"", GONE])
def test_an_object_of_head(root: Path, tmp_path: Path, rev: str, what: bytes | str) -> None:
    name = git(root, "rev-parse", rev).strip()
    place, whole = root / ".git/objects" / name[:2] / name[2:], tmp_path / "whole"
    place.rename(whole)
    put(place, what)

    def mend() -> None:
        place.unlink(missing_ok=True)
        whole.rename(place)

    turns_come_through(root, name, mend)


def test_the_branch_leads_to_an_object_that_is_not_there(root: Path) -> None:
    branch = root / ".git/refs/heads/main"
    commit = branch.read_text()
    branch.write_text("9825fe3" + "0" * 33 + "\n")
    turns_come_through(root, "9825fe3", lambda: branch.write_text(commit))


def test_files_in_the_places_of_the_folders_of_objects(root: Path) -> None:
    objects = root / ".git/objects"
    planted = [objects / f"{number:02x}" for number in range(256) if not (objects / f"{number:02x}").exists()]
    for path in planted:
        path.write_text("x")
    turns_come_through(root, str(objects), lambda: [path.unlink() for path in planted])


def test_packed_refs_that_are_damaged_do_not_make_a_branch_new(root: Path) -> None:
    git(root, "pack-refs", "--all")
    packed = root / ".git/packed-refs"
    whole = packed.read_bytes()
    assert not (root / ".git/refs/heads/main").exists()
    packed.write_bytes(b"\0" * len(whole))
    turns_come_through(root, str(packed), lambda: packed.write_bytes(whole))


def test_a_tool_that_copies_no_empty_folders_dropped_refs(root: Path) -> None:
    """All branches are packed, so nothing is lost: a turn makes the folder."""
    git(root, "pack-refs", "--all")
    shutil.rmtree(root / ".git/refs")
    assert any(
        f"{root}/.git/refs is missing" in line and "`git init`" in line for line in status(open_vault(root)).unhealthy
    )
    recorded = record_turn(open_vault(root), "bob", SAYS["bob"])
    assert recorded.paused is None and recorded.changes and git(root, "status", "--porcelain") == ""
    assert "memory(bob): " in git(root, "log", "-2", "--format=%s")


def test_refs_with_the_branch_are_gone(root: Path) -> None:
    """`git init` makes the folder; the branch in it is not new, and its log says where it was."""
    commit = git(root, "rev-parse", "HEAD").strip()
    shutil.rmtree(root / ".git/refs")

    def mend() -> None:
        git(root, "init")
        paused = record_turn(open_vault(root), "bob", "好").paused or ""
        command = f"git update-ref refs/heads/main {commit}"
        assert f"`{command}`" in paused
        git(root, *command.split()[1:])

    turns_come_through(root, f"{root}/.git/refs is missing", mend)


def test_the_last_line_of_the_log_mends_a_branch_as_the_message_says(root: Path) -> None:
    before = git(root, "log", "--format=%H").split()
    branch = root / ".git/refs/heads/main"
    branch.write_bytes(b"")
    recorded = record_turn(open_vault(root), "alice", SAYS["alice"])
    log = root / ".git/logs/refs/heads/main"
    assert f"{branch} holds no commit's id" in (recorded.paused or "") and str(log) in (recorded.paused or "")
    assert branch.read_bytes() == b"" and recorded.changes
    branch.write_text(log.read_text().splitlines()[-1].split()[1] + "\n")
    record_turn(open_vault(root), "bob", SAYS["bob"])
    after = git(root, "log", "--format=%H").split()
    assert after[-len(before) :] == before and len(after) > len(before)


def test_a_branch_that_is_damaged_while_we_commit_is_not_replaced(root: Path) -> None:
    branch = root / ".git/refs/heads/main"
    commit = branch.read_text()

    def cut(step: str) -> None:
        if step == "branch locked":
            branch.write_bytes(b"")

    change = FileChange(PurePosixPath("memory/alice/daily/2000-01-01.md"), None, b"day\n")
    draft = Draft("a day", ASSISTANT, (change,))
    flushed = History(root, step=cut).commit([draft])
    assert flushed.waiting == 1 and str(branch) in (flushed.paused or "")
    assert branch.read_bytes() == b"" and not (root / ".git/refs/heads/main.lock").exists()
    branch.write_text(commit)
    assert len(open_vault(root).history.flush().commits) == 1


def test_a_new_branch_is_as_git_has_it(root: Path) -> None:
    git(root, "checkout", "-q", "--orphan", "other")
    git(root, "rm", "-r", "-q", "--cached", ".")
    assert open_vault(root).history.state().problem is None
    assert record_turn(open_vault(root), "alice", SAYS["alice"]).commits


def test_a_person_s_edit_under_a_damaged_head_is_committed_as_theirs(root: Path) -> None:
    head = root / ".git/HEAD"
    whole = head.read_bytes()
    profile = root / "memory/alice/USER.md"
    record_turn(open_vault(root), "alice", "我習慣用 Python")
    profile.write_text(profile.read_text() + "\nmy own line\n")
    head.write_bytes(b"")
    assert record_turn(open_vault(root), "alice", SAYS["alice"]).changes
    head.write_bytes(whole)
    vault: Vault = open_vault(root)
    record_turn(vault, "alice", "好")
    assert "my own line" not in git(root, "show", "HEAD:memory/alice/USER.md")
    record_turn(vault, "alice", "謝謝")
    vault.history.flush()
    assert git(root, "status", "--porcelain") == ""
    authors = git(root, "log", "--format=%an", "-S", "my own line", "--", "memory/alice").splitlines()
    assert authors == [vault.history.person().name]


def test_a_file_of_head_that_is_gone_is_named_while_its_user_waits(root: Path) -> None:
    path = "memory/alice/USER.md"
    blob = git(root, "rev-parse", f"HEAD:{path}").strip()
    place = root / ".git/objects" / blob[:2] / blob[2:]
    whole = place.read_bytes()
    (root / path).write_text((root / path).read_text() + "\nmy own line\n")
    place.unlink()
    assert blob in (record_turn(open_vault(root), "alice", SAYS["alice"]).paused or "")
    assert record_turn(open_vault(root), "bob", SAYS["bob"]).changes
    assert any(blob in line for line in status(open_vault(root)).unhealthy)
    place.write_bytes(whole)
    for words in ("好", "謝謝"):
        record_turn(open_vault(root), "alice", words)
    open_vault(root).history.flush()
    assert git(root, "status", "--porcelain") == ""


def test_a_repository_of_another_format_is_named(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main", "other")
    git(tmp_path / "other", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "x")
    shutil.rmtree(root / ".git")
    shutil.move(tmp_path / "other/.git", root / ".git")
    recorded = record_turn(open_vault(root), "alice", SAYS["alice"])
    assert recorded.changes and "SHA-256" in (recorded.paused or "")
    assert any("SHA-256" in line for line in status(open_vault(root)).unhealthy)
