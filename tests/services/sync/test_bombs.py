"""A remote that sends much in few bytes: many million names, a file of zeros. It is refused before it takes memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.services.sync.conftest import Machine, git
from vault_memory.adapters.git import Objects, run
from vault_memory.adapters.git.objects import MAX_OBJECT_BYTES
from vault_memory.adapters.git.settings import MAX_OUTPUT_BYTES
from vault_memory.errors import HistoryError
from vault_memory.services.admin import to_trust, trust

pytestmark = pytest.mark.slow


def fed(folder: Path, text: str, *args: str) -> str:
    return subprocess.run(
        ["git", *args], cwd=folder, input=text.encode(), capture_output=True, check=True
    ).stdout.decode().strip()  # fmt: skip


def zeros(folder: Path, size_mb: int) -> str:
    """A blob of zeros, which is stored in a thousandth of its size."""
    feed = subprocess.Popen(["head", "-c", f"{size_mb}M", "/dev/zero"], stdout=subprocess.PIPE)
    return subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=folder, stdin=feed.stdout, capture_output=True, check=True
    ).stdout.decode().strip()  # fmt: skip


def push_with(hub: Path, mode: str, entry: str, name: str) -> None:
    """Put one more entry into the top folder of the hub's branch. The hub itself takes little memory to send it."""
    git(hub, "config", "core.bigFileThreshold", "1m")
    tree = git(hub, "ls-tree", "main") + f"{mode} {'tree' if mode == '040000' else 'blob'} {entry}\t{name}\n"
    commit = git(hub, "commit-tree", "-p", "main", "-m", "sent", fed(hub, tree, "mktree")).strip()
    git(hub, "update-ref", "refs/heads/main", commit)


_MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""A small process between: what a child takes is counted from the memory of the process that starts it."""


def synced(machine: Machine) -> tuple[int, str, int]:
    """Exit code and error output of `vault-memory sync`, and the most memory that it or its git took, in MB."""
    trust(machine.vault, to_trust(machine.vault))
    command = [sys.executable, "-m", "vault_memory", "--vault", str(machine.root), "sync"]
    done = subprocess.run([sys.executable, "-c", _MEASURED, *command], capture_output=True, text=True)
    memory = int(done.stdout.split()[-1])
    return done.returncode, done.stderr, memory // (1024 if sys.platform == "linux" else 1024**2)


def test_a_tree_of_a_million_names_is_refused_before_it_is_compared(hub: Path, one: Machine) -> None:
    tree = fed(
        hub,
        "".join(f"100644 blob {git(hub, 'rev-parse', 'main:Home.md').strip()}\tf{n}\n" for n in range(10)),
        "mktree",
    )
    for _ in range(5):
        tree = fed(hub, "".join(f"040000 tree {tree}\td{n}\n" for n in range(10)), "mktree")
    push_with(hub, "040000", tree, "many")
    before = git(one.root, "rev-parse", "HEAD")
    code, said, memory_mb = synced(one)
    assert code == 1 and "lists more than 500,000 files" in said
    assert memory_mb < 200
    assert git(one.root, "rev-parse", "HEAD") == before and git(one.root, "status", "--porcelain") == ""


def test_a_thousand_users_of_one_folder_are_refused(hub: Path, one: Machine) -> None:
    """A push of 12 KB made 1.3 GB of indexes."""
    home = fed(hub, f"100644 blob {git(hub, 'rev-parse', 'main:Home.md').strip()}\tUSER.md\n", "mktree")
    users = fed(hub, "".join(f"040000 tree {home}\tu{n:04}\n" for n in range(1_000)), "mktree")
    rest = "".join(line for line in git(hub, "ls-tree", "main").splitlines(keepends=True) if "\tmemory" not in line)
    tree = fed(hub, f"{rest.rstrip()}\n040000 tree {users}\tmemory\n", "mktree")
    git(hub, "update-ref", "refs/heads/main", git(hub, "commit-tree", "-p", "main", "-m", "sent", tree).strip())
    before = git(one.root, "rev-parse", "HEAD")
    code, said, _ = synced(one)
    assert code == 1 and "1,000 users who are not here yet" in said
    assert git(one.root, "rev-parse", "HEAD") == before and git(one.root, "status", "--porcelain") == ""


def test_many_thousand_new_files_are_refused(hub: Path, one: Machine) -> None:
    """A push of 4 KB held up turns for minutes."""
    blob = git(hub, "rev-parse", "main:Home.md").strip()
    leaf = fed(hub, "".join(f"100644 blob {blob}\t{n}.md\n" for n in range(160)), "mktree")
    push_with(hub, "040000", fed(hub, "".join(f"040000 tree {leaf}\t{n}\n" for n in range(160)), "mktree"), "notes")
    before = git(one.root, "rev-parse", "HEAD")
    code, said, _ = synced(one)
    assert code == 1 and "25,600 files that are not here yet" in said
    assert git(one.root, "rev-parse", "HEAD") == before and git(one.root, "status", "--porcelain") == ""


def test_a_note_below_two_thousand_folders_is_refused(hub: Path, one: Machine) -> None:
    """It ended every turn of every user: what waited could not be committed, because of Python's stack."""
    tree = fed(hub, f"100644 blob {git(hub, 'rev-parse', 'main:Home.md').strip()}\tn.md\n", "mktree")
    for _ in range(1_850):
        tree = fed(hub, f"040000 tree {tree}\ta\n", "mktree")
    push_with(hub, "040000", tree, "deep")
    before = git(one.root, "rev-parse", "HEAD")
    code, said, _ = synced(one)
    assert code == 1 and "nested more than 100 folders deep" in said
    assert git(one.root, "rev-parse", "HEAD") == before and git(one.root, "status", "--porcelain") == ""


def test_a_file_of_zeros_is_refused_before_it_is_unpacked(hub: Path, one: Machine) -> None:
    push_with(hub, "100644", zeros(hub, 260), "zeros.bin")
    before = git(one.root, "rev-parse", "HEAD")
    code, said, memory_mb = synced(one)
    assert code == 1 and "hold more than 250,000,000 bytes" in said
    assert memory_mb < 150
    assert git(one.root, "rev-parse", "HEAD") == before and git(one.root, "status", "--porcelain") == ""


def test_a_merge_of_many_files_takes_the_memory_of_one(hub: Path, one: Machine) -> None:
    for number in range(10):
        push_with(hub, "100644", zeros(hub, 15 + number % 2), f"zeros{number}.bin")
    one.write("mine.md", "mine\n")
    code, said, memory_mb = synced(one)
    assert code == 0, said
    assert memory_mb < 250
    assert (one.root / "zeros9.bin").stat().st_size == 16 * 2**20
    one.assert_clean()


def test_the_settings_of_the_remote_are_not_unpacked_to_see_that_they_are_there(hub: Path, one: Machine) -> None:
    tree = git(hub, "ls-tree", "main").split("\n")
    others = "\n".join(row for row in tree if not row.endswith("vault-memory.toml"))
    commit = git(hub, "commit-tree", "-p", "main", "-m", "sent", fed(hub, others, "mktree")).strip()
    git(hub, "update-ref", "refs/heads/main", commit)
    push_with(hub, "100644", zeros(hub, 260), "vault-memory.toml")
    code, said, memory_mb = synced(one)
    assert code == 1 and "hold more than 250,000,000 bytes" in said
    assert memory_mb < 150


def test_a_git_that_prints_without_end_is_stopped(one: Machine) -> None:
    with pytest.raises(HistoryError, match="printed more than"):
        run(one.root, "cat-file", "blob", zeros(one.root, MAX_OUTPUT_BYTES // 2**20 + 1))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of another process")
def test_a_git_gets_no_more_memory_than_it_may_take(one: Machine) -> None:
    content = bytes(100 * 2**20)
    assert run(one.root, "hash-object", "--stdin", stdin=content)
    with pytest.raises(HistoryError, match="memory"):
        run(one.root, "hash-object", "--stdin", stdin=content, memory_bytes=50_000_000)


def test_an_object_beyond_all_measure_is_not_read_loose_or_packed(hub: Path, one: Machine) -> None:
    blob = zeros(one.root, MAX_OBJECT_BYTES // 2**20 + 1)
    objects = Objects(one.root / ".git/objects")
    with pytest.raises(HistoryError, match="larger than 300,000,000 bytes"):
        objects.read(blob)
    fed(one.root, f"{blob}\n", "pack-objects", "-q", str(one.root / ".git/objects/pack/pack"))
    git(one.root, "prune-packed")
    with pytest.raises(HistoryError, match="more than 300,000,000"):
        Objects(one.root / ".git/objects").read(blob)
