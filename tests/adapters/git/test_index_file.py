"""The git index that we patch is the one that git would have written."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_memory.adapters.git.index_file import (
    CONFLICT,
    DamagedIndex,
    GitIndexFile,
    IndexEntry,
    UnknownIndex,
    index_checksum,
)

pytestmark = pytest.mark.slow

BLOBS: dict[bytes, str] = {}
# Few parts, so that folders are shared, names are prefixes of each other, and sorting has its hard cases.
PARTS = st.sampled_from(["a", "b", "a.b", "a-", "a0", "daily", "TREE", "link", "名", "x" * 300])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)


def git(folder: Path, *args: str, stdin: bytes = b"") -> str:
    done = subprocess.run(["git", *args], cwd=folder, input=stdin, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape")


def usable(paths: list[str]) -> list[str]:
    """Paths of which none is a folder of another."""
    return [path for path in dict.fromkeys(paths) if not any(other.startswith(path + "/") for other in paths)]


def tree_id(folder: Path, commit: str, path: str) -> str | None:
    if path:
        row = git(folder, "ls-tree", "-z", "-d", commit, "--", path)
    else:
        row = f"040000 tree {git(folder, 'rev-parse', commit + '^{tree}').strip()}\t"
    return row.split()[2] if row else None


@pytest.fixture(scope="module")
def folder() -> Path:
    root = Path(tempfile.mkdtemp())
    git(root, "init", "-q")
    git(root, "config", "user.name", "t")
    git(root, "config", "user.email", "t@localhost")
    for content in (b"1", b"2"):
        BLOBS[content] = git(root, "hash-object", "-w", "--stdin", stdin=content).strip()
    return root


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    old=st.lists(PATHS, min_size=1, max_size=12),
    new=st.lists(st.tuples(PATHS, st.sampled_from([b"1", b"2", None])), min_size=1, max_size=5),
    staged=st.one_of(st.none(), PATHS),
)
def test_patched_equals_git(
    folder: Path, old: list[str], new: list[tuple[str, bytes | None]], staged: str | None
) -> None:
    assert_patched_as_by_git(folder, old, new, staged)


def test_hundreds_of_entries_are_found_and_patched_as_by_git(folder: Path) -> None:
    old = [f"d/{number % 7}/n{number}" for number in range(600)]
    changed = [(path, b"2" if number % 3 else None) for number, path in enumerate(old) if number % 2]
    new = [(f"d/{number % 9}/m{number}.md", b"1") for number in range(300)]
    assert_patched_as_by_git(folder, old, [*changed, *new, ("d/4/gone", None)], "d/5/n0.md")


def assert_patched_as_by_git(
    folder: Path, old: list[str], new: list[tuple[str, bytes | None]], staged: str | None
) -> None:
    """The same entries, and a cache of trees that git accepts, with something else staged or not."""
    paths = usable([*old, *(path for path, _ in new), *([staged] if staged else [])])
    staged = staged if staged in paths else None
    before = [path for path in old if path in paths]
    if not before:
        return
    changes = {path: content for path, content in new if path in paths and path != staged}

    def rows(items: dict[str, bytes | None]) -> bytes:
        return b"".join(
            (f"100644 {BLOBS[content]}\t{path}\0" if content else f"0 {'0' * 40}\t{path}\0").encode()
            for path, content in items.items()
        )

    git(folder, "read-tree", "--empty")
    git(folder, "update-index", "-z", "--index-info", stdin=rows(dict.fromkeys(before, b"1")))
    head = git(folder, "commit-tree", git(folder, "write-tree").strip(), "-m", "x").strip()
    git(folder, "update-index", "-z", "--index-info", stdin=rows(changes))
    after = git(folder, "commit-tree", git(folder, "write-tree").strip(), "-m", "x").strip()
    if staged:
        git(folder, "update-index", "-z", "--index-info", stdin=rows({staged: b"2"}))
    wanted = git(folder, "ls-files", "--stage", "-z"), git(folder, "write-tree")

    git(folder, "read-tree", head)
    if staged:
        git(folder, "update-index", "-z", "--index-info", stdin=rows({staged: b"2"}))
    index = folder / ".git" / "index"
    parsed = GitIndexFile(index.read_bytes())
    for path in before:
        assert parsed.blob(path.encode()) == BLOBS[b"2" if path == staged else b"1"]
    above = {str(parent) if str(parent) != "." else "" for path in changes for parent in Path(path).parents}
    pieces = parsed.patched(
        {path.encode(): IndexEntry(0o100644, BLOBS[content]) if content else None for path, content in changes.items()},
        {name.encode(): (tree_id(folder, head, name), tree_id(folder, after, name)) for name in above},
    )
    index.write_bytes(b"".join([*pieces, index_checksum(pieces)]))
    assert (git(folder, "ls-files", "--stage", "-z"), git(folder, "write-tree")) == wanted
    assert git(folder, "fsck", "--strict", "--no-dangling", "--cache", "--no-reflogs") == ""
    differs = git(folder, "-c", "core.quotePath=false", "diff-index", "--cached", "--name-only", after, "--").split()
    assert differs == ([staged] if staged else [])


def test_entries_in_conflict_and_intended(folder: Path) -> None:
    git(folder, "read-tree", "--empty")
    rows = "".join(f"100644 {BLOBS[b'1']} {stage}\tclash\0" for stage in (1, 2, 3))
    git(folder, "update-index", "-z", "--index-info", stdin=rows.encode())
    (folder / "intended").write_bytes(b"i")
    git(folder, "add", "-N", "intended")
    index = GitIndexFile((folder / ".git" / "index").read_bytes())
    assert index.blob(b"clash") == CONFLICT
    assert index.blob(b"intended") is None and index.blob(b"no such") is None and index.blob(b"lash") is None


def test_a_name_inside_an_id_is_no_entry(folder: Path) -> None:
    """Ids and times are arbitrary bytes: sooner or later a short name occurs in them."""
    git(folder, "read-tree", "--empty")
    rows = "".join(f"100644 {os.urandom(19).hex()}61\tf{number:05d}\0" for number in range(2000))
    git(folder, "update-index", "-z", "--index-info", stdin=rows.encode())
    index = GitIndexFile((folder / ".git" / "index").read_bytes())
    assert index.blob(b"a") is None and index.blob(b"f0001") is None and index.blob(b"f00019") is not None
    pieces = index.patched({b"f00019x": IndexEntry(0o100644, BLOBS[b"1"]), b"a": IndexEntry(0o100644, BLOBS[b"1"])}, {})
    (folder / ".git" / "index").write_bytes(b"".join([*pieces, index_checksum(pieces)]))
    names = git(folder, "ls-files").split()
    assert names == sorted(names) and len(names) == 2002


def index_of(folder: Path, version: int) -> bytes:
    """A whole index of a version; that of 2 ends with the cache of trees, that of 3 has an entry that is left out."""
    git(folder, "read-tree", "--empty")
    rows = "".join(f"100644 {BLOBS[b'1']}\t{name}\0" for name in ("a", "b/TREE", "b/c", "x" * 300))
    git(folder, "update-index", "-z", "--index-info", stdin=rows.encode())
    git(folder, "write-tree") if version == 2 else None
    git(folder, "update-index", "--skip-worktree", "a") if version == 3 else None
    git(folder, "update-index", f"--index-version={version}") if version == 4 else None
    return (folder / ".git" / "index").read_bytes()


def use(data: bytes) -> bool:
    """Parse an index and ask it everything; whether that went well. Only `UnknownIndex` may be raised."""
    with contextlib.suppress(UnknownIndex):
        index = GitIndexFile(data)
        for name in (b"a", b"b/TREE", b"no"):
            index.blob(name), index.is_left_out(name)
        entries = {b"b/c": IndexEntry(0o100644, BLOBS[b"2"]), b"b/d": IndexEntry(0o100644, BLOBS[b"2"]), b"a": None}
        index_checksum(index.patched(entries, {b"": ("0" * 40, "1" * 40), b"b": ("0" * 40, "1" * 40)}))
        return True
    return False


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_damaged_index_is_known_as_such(folder: Path, version: int) -> None:
    """Cut anywhere, or with bytes that are others: it is read as an index, or it is refused, and nothing else."""
    whole = index_of(folder, version)
    assert whole[7] == version and use(whole) == (version < 4)
    for size in range(len(whole)):
        assert not use(whole[:size])
    chance = random.Random(version)
    for _ in range(2000):
        garbled = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 8))):
            garbled[chance.randrange(len(garbled))] = chance.choice((0, 1, 255, chance.randrange(256)))
        use(bytes(garbled))


def test_an_index_that_announces_more_entries_than_it_has_is_damaged(folder: Path) -> None:
    whole = index_of(folder, 2)
    with pytest.raises(DamagedIndex):
        GitIndexFile(whole[:8] + b"\xff" * 4 + whole[12:])


def test_a_whole_index_of_version_4_without_a_checksum_is_not_damaged(folder: Path) -> None:
    """`feature.manyFiles` of git makes such ones."""
    data = index_of(folder, 4)[:-20] + bytes(20)
    with pytest.raises(UnknownIndex):
        GitIndexFile(data)
    with pytest.raises(DamagedIndex):
        GitIndexFile(data[: len(data) // 2] + bytes(20))


@pytest.mark.parametrize("data", [b"DIRC\0\0\0\4\0\0\0\0" + b"\0" * 20, b"JUNK\0\0\0\2\0\0\0\0" + b"\0" * 20])
def test_other_kinds_are_refused(data: bytes) -> None:
    with pytest.raises(UnknownIndex):
        GitIndexFile(data)
