"""Trees edited along a path are the trees that git would write."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from pathlib import Path, PurePosixPath

import pytest
from gitdb.util import mman  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.adapters.git.objects import EMPTY_TREE, Objects, object_id
from vault_memory.errors import HistoryError

pytestmark = pytest.mark.slow

PARTS = st.sampled_from(["a", "b", "a.b", "a-", "a0", "名 字", "100644 a"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(lambda parts: PurePosixPath(*parts))
ONE, TWO = object_id("blob", b"1"), object_id("blob", b"2")


def git(folder: Path, *args: str, stdin: bytes = b"") -> str:
    return subprocess.run(
        ["git", *args], cwd=folder, input=stdin, capture_output=True, check=True, timeout=30
    ).stdout.decode()


@pytest.fixture(scope="module")
def folder() -> Path:
    root = Path(tempfile.mkdtemp())
    git(root, "init", "-q")
    return root


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(PATHS, st.sampled_from([ONE, TWO, None]), min_size=1, max_size=6), min_size=1, max_size=4)
)
def test_trees_are_gits(folder: Path, steps: list[dict[PurePosixPath, str | None]]) -> None:
    objects = Objects(folder / ".git" / "objects")
    for content in (b"1", b"2"):
        objects.add("blob", content)
    tree, held = EMPTY_TREE, dict[PurePosixPath, str]()
    for step in steps:
        # A path that is a folder of another cannot be: the committer has such changes wait.
        names = {*held, *step}
        blobs = {p: b for p, b in step.items() if not any(p in n.parents or n in p.parents for n in names)}
        tree = objects.put(tree, blobs)
        held = {p: b for p, b in (held | blobs).items() if b}
    objects.write()
    git(folder, "read-tree", "--empty")
    rows = b"".join(f"100644 {blob}\t{path}\0".encode() for path, blob in held.items())
    git(folder, "update-index", "-z", "--index-info", stdin=rows)
    assert git(folder, "write-tree").strip() == tree
    for path, blob in held.items():
        entry = objects.find(tree, path)
        assert entry and entry.id == blob


def test_hundreds_of_entries_of_one_folder_are_set_as_by_git(folder: Path) -> None:
    objects = Objects(folder / ".git" / "objects")
    for content in (b"1", b"2"):
        objects.add("blob", content)
    old = {PurePosixPath(f"d/n{number}"): ONE for number in range(300)}
    tree = objects.put(EMPTY_TREE, old)
    step: dict[PurePosixPath, str | None] = {path: [ONE, TWO, None][at % 3] for at, path in enumerate(old)}
    step |= {PurePosixPath(f"d/m{number}"): TWO for number in range(100)}
    step |= {PurePosixPath("d/n0"): None, PurePosixPath("d/n0/x"): ONE, PurePosixPath("d/n0.x"): ONE}
    tree = objects.put(tree, step)
    objects.write()
    held = {path: blob for path, blob in (old | step).items() if blob}
    git(folder, "read-tree", "--empty")
    rows = b"".join(f"100644 {blob}\t{path}\0".encode() for path, blob in held.items())
    git(folder, "update-index", "-z", "--index-info", stdin=rows)
    assert git(folder, "write-tree").strip() == tree
    found = {path: objects.find(tree, path) for path in step}
    assert {path: entry.id for path, entry in found.items() if entry and path in held} == {
        path: blob for path, blob in step.items() if blob
    }
    assert not found[PurePosixPath("d/n2")] and objects.find(tree, PurePosixPath("d/n3")) is not None


def test_a_file_may_lie_deeper_than_pythons_stack(folder: Path) -> None:
    objects = Objects(folder / ".git" / "objects")
    deep = PurePosixPath(*"a" * 1_500)
    blob = objects.add("blob", b"1")
    tree = objects.put(EMPTY_TREE, {deep: blob, PurePosixPath("b"): blob})
    assert [entry.id for entry in (objects.find(tree, deep), objects.find(tree, PurePosixPath("b"))) if entry] == [
        blob,
        blob,
    ]
    assert objects.put(tree, {deep: None}) == objects.put(EMPTY_TREE, {PurePosixPath("b"): blob})


def test_reading_what_git_packed(folder: Path) -> None:
    blob = git(folder, "hash-object", "-w", "--stdin", stdin=b"packed").strip()
    objects = Objects(folder / ".git" / "objects")
    assert objects.read(blob) == ("blob", b"packed")
    git(folder, "pack-objects", "-q", ".git/objects/pack/pack", stdin=blob.encode() + b"\n")
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert objects.read(blob) == ("blob", b"packed"), "a pack that was made after we opened"
    with pytest.raises(HistoryError, match="not in the repository"):
        objects.read("0" * 40)


def test_packs_that_git_has_replaced_are_not_kept_open(tmp_path: Path) -> None:
    """A daemon runs for months, and git repacks now and then: each old pack took memory, and its place on the disk."""
    git(tmp_path, "init", "-q")
    objects = Objects(tmp_path / ".git" / "objects")
    for number in range(5):
        blob = git(tmp_path, "hash-object", "-w", "--stdin", stdin=b"%d" % number).strip()
        git(tmp_path, "update-ref", f"refs/tags/{number}", blob)
        git(tmp_path, "gc", "-q")
        assert objects.read(blob) == ("blob", b"%d" % number)
        there = {str(path) for path in (tmp_path / ".git" / "objects" / "pack").iterdir()}
        mapped = {path for path, regions in mman._fdict.items() if regions and path.startswith(str(tmp_path))}
        assert mapped and mapped <= there


def test_of_a_name_that_a_tree_holds_twice_the_first_counts_as_in_git(folder: Path) -> None:
    objects = Objects(folder / ".git" / "objects")
    first, second = objects.add("blob", b"1"), objects.add("blob", b"2")
    entries = [(b"100755 a", first), (b"100644 a", second), (b"100644 b", first), (b"40000 b", EMPTY_TREE)]
    tree = objects.add("tree", b"".join(name + b"\0" + bytes.fromhex(blob) for name, blob in entries))
    objects.write()
    path = PurePosixPath("a")
    entry = objects.find(tree, path)
    assert entry and entry.id == first and git(folder, "rev-parse", f"{tree}:a").strip() == first
    assert objects.tree(objects.put(tree, {path: None})) == b"100644 b\0" + bytes.fromhex(first)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_in_the_place_of_an_object_is_named_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / ONE[:2] / ONE[2:]
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    objects = Objects(tmp_path)
    signal.alarm(10)
    try:
        with pytest.raises(HistoryError, match=f"{ONE[2:]} is no file but a pipe"):
            objects.read(ONE)
        assert not objects.has_blob(ONE, 10)
    finally:
        signal.alarm(0)


def test_executable_files_stay_so(folder: Path) -> None:
    blob = git(folder, "hash-object", "-w", "--stdin", stdin=b"1").strip()
    tree = git(folder, "mktree", stdin=f"100755 blob {blob}\trun\n".encode()).strip()
    objects = Objects(folder / ".git" / "objects")
    entry = objects.find(objects.put(tree, {PurePosixPath("run"): TWO}), PurePosixPath("run"))
    assert entry and entry.mode == b"100755"


def test_objects_that_cannot_be_written_leave_no_temporary_files(folder: Path) -> None:
    store = folder / "objects"
    store.mkdir()
    objects = Objects(store)
    names = sorted(objects.add("blob", b"%d" % number) for number in range(5))
    (store / names[2][:2]).write_bytes(b"a file where a folder must be")
    with pytest.raises(HistoryError, match="cannot be written"):
        objects.write()
    assert not list(store.rglob("tmp_obj_*"))


def test_gc_may_remove_empty_folders_meanwhile(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    store = tmp_path / ".git" / "objects"
    stop = threading.Event()

    def sweep() -> None:
        while not stop.is_set():
            for folder in store.glob("??"):
                with contextlib.suppress(OSError):
                    folder.rmdir()

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for number in range(100):
            objects = Objects(store)
            name = objects.add("blob", b"%d" % number)
            objects.write()
            assert (store / name[:2] / name[2:]).exists()
    finally:
        stop.set()
        sweeper.join()
