"""Trees and commits that git would not write: a remote may not send them; those that are here are read as git does."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.sync.conftest import Machine, git, push
from vault_memory.errors import HistoryError
from vault_memory.services.admin.status import status
from vault_memory.services.sync.sync import sync
from vault_memory.services.turns.record import record_turn

pytestmark = pytest.mark.slow

NOW = "att <a@x> 1769000000 +0000"
Rows = list[tuple[bytes, bytes, bytes]]


def add(folder: Path, kind: str, body: bytes) -> bytes:
    words = ["git", "hash-object", "-w", "-t", kind, "--literally", "--stdin"]
    return subprocess.run(words, cwd=folder, input=body, capture_output=True, check=True, timeout=30).stdout.strip()


def commit(folder: Path, tree: bytes, signature: str = NOW, message: str = "odd") -> None:
    """Move main on to a commit of this tree, whatever git thinks of it."""
    head = git(folder, "rev-parse", "main").strip()
    lines = f"tree {tree.decode()}\nparent {head}\nauthor {signature}\ncommitter {signature}\n\n{message}\n"
    git(folder, "update-ref", "refs/heads/main", add(folder, "commit", lines.encode()).decode())


def changed(folder: Path, path: str, change: Callable[[Rows], Rows]) -> bytes:
    """The tree of main with the rows (mode, name, id) of one folder changed."""

    def rewritten(tree: str, parts: list[str]) -> bytes:
        listed = git(folder, "ls-tree", "-z", tree).split("\0")[:-1]
        rows = [
            (mode.lstrip("0").encode(), name.encode(), bytes.fromhex(blob))
            for row in listed
            for (mode, _, blob), name in [(row.partition("\t")[0].split(), row.partition("\t")[2])]
        ]
        if not parts:
            rows = change(rows)
        else:
            rows = [
                (mode, name, bytes.fromhex(rewritten(blob.hex(), parts[1:]).decode()))
                if name.decode() == parts[0]
                else (mode, name, blob)
                for mode, name, blob in rows
            ]
        return add(folder, "tree", b"".join(mode + b" " + name + b"\0" + blob for mode, name, blob in rows))

    return rewritten(git(folder, "rev-parse", "main^{tree}").strip(), path.split("/") if path else [])


ODD: dict[str, tuple[str, Callable[[Rows], Rows]]] = {
    "zeros before a mode": ("memory/alice", lambda rows: [(b"0" + mode, name, blob) for mode, name, blob in rows]),
    "modes of files": (
        "memory/alice",
        lambda rows: [(mode.replace(b"100644", b"100600"), name, blob) for mode, name, blob in rows],
    ),
    "modes of folders": (
        "",
        lambda rows: [(mode.replace(b"40000", b"40755"), name, blob) for mode, name, blob in rows],
    ),
    "zeros before a folder's mode": (
        "memory",
        lambda rows: [(mode.replace(b"40000", b"040000"), name, blob) for mode, name, blob in rows],
    ),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_trees_of_a_remote_are_refused_and_those_that_are_here_are_read_as_git_reads_them(
    one: Machine, hub: Path, kind: str
) -> None:
    """A commit on such a tree cut an entry in the middle; after that no git could read the branch."""
    where, change = ODD[kind]
    before = git(hub, "rev-parse", "main")
    commit(hub, changed(hub, where, change))
    with pytest.raises(HistoryError, match="git's own check refuses what this remote sends"):
        one.sync()
    assert record_turn(one.vault, "alice", "我喜歡暗色主題").commits and git(one.root, "merge-base", "HEAD", "main")
    git(one.root, "pull", "-q", "--no-rebase", "origin", "main")  # the person's own git only warns
    for user in ("alice", "bob"):
        assert record_turn(one.vault, user, "我喜歡亮色主題").commits
    assert one.vault.history.state().waiting == 0 and git(one.root, "status", "--porcelain") == ""
    git(one.root, "rev-list", "--objects", "HEAD")
    (one.root / "memory/alice/notes/idea.md").unlink()
    one.sync()
    assert git(one.root, "status", "--porcelain") == "" and git(hub, "rev-parse", "main") != before
    assert git(one.root, "ls-tree", "-r", "--name-only", "HEAD").count("memory/bob/USER.md") == 1


@pytest.mark.parametrize(
    "rules", ["url = -u./payload", "url = https://x.y/z\n\tupdate = !id", "url = https://x.y/z\n\tpath = -x"]
)
def test_what_gits_check_refuses_is_refused_each_time(one: Machine, remote: Machine, rules: str) -> None:
    """Git kept what it had fetched, and the next sync took it in, as it was there (CVE-2018-17456)."""
    modules = f'[submodule "x"]\n\tpath = x\n\t{rules}\n'
    push(remote, **{".gitmodules": modules, "memory/alice/new.md": "# new\n"})
    for _ in range(2):
        with pytest.raises(HistoryError, match="git's own check refuses what this remote sends"):
            one.sync()
        assert not (one.root / ".gitmodules").exists()
    assert not [*(one.root / ".git/objects").glob("tmp_objdir*")]
    git(remote.root, "rm", "-q", ".gitmodules")
    git(remote.root, "commit", "-q", "--amend", "-m", "without it")
    git(remote.root, "push", "-q", "--force", "origin", "main")
    one.sync()
    assert (one.root / "memory/alice/new.md").exists()
    one.assert_clean()


@pytest.mark.parametrize("name", [b".GIT", b".."])
def test_names_that_plain_git_refuses_are_not_said_to_come_by_a_pull(one: Machine, hub: Path, name: bytes) -> None:
    blob = bytes.fromhex(git(hub, "rev-parse", "main:Home.md").strip())
    commit(hub, changed(hub, "memory", lambda rows: sorted([*rows, (b"100644", name, blob)], key=lambda row: row[1])))
    with pytest.raises(HistoryError, match="names that git refuses: they must be taken out of its history") as refused:
        one.sync()
    assert "git pull" not in str(refused.value)


def test_a_commit_with_a_damaged_date_is_refused_and_one_that_is_here_has_the_first_date(
    one: Machine, two: Machine, hub: Path
) -> None:
    two.edit("memory/alice/notes/idea.md", "one", "two's")
    git(two.root, "commit", "-qam", "mine")
    git(two.root, "push", "-q", "origin", "main")
    commit(hub, git(hub, "rev-parse", "main^{tree}").strip().encode(), "att <a@x> garbage")
    one.edit("memory/alice/notes/idea.md", "one", "one's")
    with pytest.raises(HistoryError, match="git's own check refuses"):
        one.sync()
    git(one.root, "fetch", "-q", "origin", "main")  # the objects are here now, so nothing is sent, and nothing checked
    one.sync()
    assert one.vault.history.log(limit=50) and status(one.vault).unhealthy


def test_a_branch_whose_name_ends_like_ours_is_another_one(one: Machine, two: Machine, hub: Path) -> None:
    """`git ls-remote` lists it too, and first."""
    git(hub, "branch", "a/refs/heads/main", "main")
    two.write("memory/alice/notes/new.md", "new\n")
    two.sync()
    one.sync()
    assert one.read("memory/alice/notes/new.md") == "new\n"
    one.write("memory/alice/notes/own.md", "own\n")
    one.sync()
    assert git(hub, "rev-parse", "refs/heads/main") == git(one.root, "rev-parse", "HEAD")


def test_a_note_that_may_be_run_is_merged(one: Machine, two: Machine) -> None:
    """Files copied from a disk without modes may all be run."""
    two.write("memory/alice/notes/new.md", "new\n")
    (two.root / "memory/alice/notes/new.md").chmod(0o755)
    (two.root / "memory/alice/notes/idea.md").chmod(0o755)
    two.edit("memory/alice/notes/idea.md", "one", "two's")
    two.sync()
    one.sync()
    assert one.read("memory/alice/notes/new.md") == "new\n" and "two's" in one.read("memory/alice/notes/idea.md")
    one.assert_clean()


def test_a_command_that_status_proposes_is_quoted(one: Machine, hub: Path) -> None:
    """The value in it was chosen by whoever wrote the commit."""
    trailers = "Vault-User: alice\nVault-Key: theme\nVault-Op: set\nVault-Old: $(touch x); dark\nVault-New: light\n"
    user = git(hub, "show", "main:memory/alice/USER.md").encode() + b"\n- theme: light\n"
    blob = bytes.fromhex(add(hub, "blob", user).decode())
    tree = changed(hub, "memory/alice", lambda rows: [(m, n, blob if n == b"USER.md" else old) for m, n, old in rows])
    now = f"att <a@x> {int(one.vault.now().timestamp())} +0000"
    commit(hub, tree, now, f"theme = light\n\nboth sides changed it\n\n{trailers}Vault-Conflict: 1234567\n")
    one.sync()
    (line,) = status(one.vault).decided
    assert "`vault-memory pref set --user alice theme '$(touch x); dark'`" in line
    sync(one.vault)
