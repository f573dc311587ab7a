"""A backup may come from anybody: it is unpacked whole or not at all, inside its folder, and nothing of it runs."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pace import assert_at_most
from vault_memory.adapters import files
from vault_memory.adapters.archive import Limits
from vault_memory.errors import UsageError
from vault_memory.services.admin import backup, restore
from vault_memory.services.starter import hooks as shipped_hooks
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

Add = Callable[..., None]
"""Adds a member: its name, its content, and other fields of `TarInfo`."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The only folder that a restore may write to; beside it stands what an attack aims at."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine").write_text("mine")
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture(autouse=True)
def _nothing_outside_changes(tmp_path: Path, place: Path):
    yield
    assert os.listdir(tmp_path / "outside") == ["mine"] and (tmp_path / "outside" / "mine").read_text() == "mine"
    assert not {"evil", "escaped"} & set(os.listdir(tmp_path)), "written beside the folder"


def archive(tmp_path: Path, fill: Callable[[Add], None], settings: bytes = b"format = 1\n") -> Path:
    """An archive that is a vault, and what `fill` adds to it."""
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:

        def add(name: str, content: bytes = b"", **fields: object) -> None:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            tar.addfile(info, io.BytesIO(content))

        add("vault-memory.toml", settings)
        fill(add)
    return path


def link(name: str, target: str) -> Callable[[Add], None]:
    return lambda add: add(name, type=tarfile.SYMTYPE, linkname=target)


def _long_way_out(add: Add) -> None:
    """CVE-2025-4517: a chain of links too long for the system to resolve, with `..` behind it."""
    inner, path = "d" * 247, ""
    for step in "abcdefghijklmnop":
        add(path + inner, type=tarfile.DIRTYPE, mode=0o755)
        add(path + step, type=tarfile.SYMTYPE, linkname=inner)
        path += inner + "/"
    chain = "/".join("abcdefghijklmnop")
    add(chain + "/" + "l" * 254, type=tarfile.SYMTYPE, linkname="../" * 16)
    add("escape", type=tarfile.SYMTYPE, linkname=chain + "/" + "l" * 254 + "/../outside")
    add("escape/evil", b"evil")


def _link_then_file(add: Add) -> None:
    link("way", "../outside")(add)
    add("way/evil", b"evil")


def _links_in_a_row(add: Add) -> None:
    """Each stays inside by its own; together they lead out."""
    add("a/b", type=tarfile.DIRTYPE)
    link("a/b/up", "..")(add)
    link("down", "a/b/up/../../outside")(add)


ATTACKS: dict[str, tuple[Callable[[Add], None], str]] = {
    "absolute": (lambda add: add("/tmp/vault-memory-evil", b"x"), "/tmp/vault-memory-evil"),
    "above": (lambda add: add("notes/../../evil", b"x"), "notes/../../evil"),
    "link out": (link("way", "../outside/mine"), "way"),
    "absolute link": (link("way", "/etc"), "way"),
    "link, then a file through it": (_link_then_file, "way"),
    "links in a row": (_links_in_a_row, "down"),
    "links in a circle": (lambda add: (link("a", "b/x")(add), link("b", "a/y")(add)), "'a'"),
    "long way out": (_long_way_out, "escape|path|name"),
    "link into git's folder": (link("notes.md", ".git/config"), "notes.md"),
    "link to a token": (link("notes.md", "x/../.vault-memory/token"), "notes.md"),
    "dangling hard link": (lambda add: add("b", type=tarfile.LNKTYPE, linkname="none"), "none"),
    "hard link out": (lambda add: add("b", type=tarfile.LNKTYPE, linkname="../outside/mine"), "outside/mine"),
    "hard link to a link": (
        lambda add: (link("l", "notes")(add), add("b", type=tarfile.LNKTYPE, linkname="l")),
        "'b' is a hard link",
    ),
    "device": (lambda add: add("disk", type=tarfile.BLKTYPE, devmajor=8), "disk"),
    "pipe": (lambda add: add("pipe", type=tarfile.FIFOTYPE), "pipe"),
    "twice": (lambda add: (add("a.md", b"1"), add("./a.md", b"2")), "a.md"),
    "file and link of one name": (lambda add: (add("a.md", b"1"), link("a.md", "b.md")(add)), "a.md"),
    "file as folder": (lambda add: (add("a", b"1"), add("a/b", b"2")), "'a'"),
    "git in other letters": (lambda add: add(".GIT/hooks/post-merge", b"#!/bin/sh\n", mode=0o755), "'.GIT'"),
    "git with an invisible letter": (lambda add: add(".g\u200bit/config", b"x"), "'.git'"),
    "git's short name": (lambda add: add("git~1/config", b"x"), "'.git'"),
    "deep": (lambda add: add("d/" * 150 + "x", b"x"), "folders"),
    "holes": (lambda add: add("s", b"1\n0\n5\n".ljust(512, b"\0") + b"12345", pax_headers={
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s", "GNU.sparse.realsize": "900000000000",
    }), "holes|'s'"),
    "settings that cannot be read": (lambda add: add("x", b"x"), "vault-memory.toml"),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("is_new", [True, False])
def test_what_no_backup_holds_is_named_and_nothing_is_left(
    tmp_path: Path, place: Path, attack: str, is_new: bool
) -> None:
    fill, named = ATTACKS[attack]
    settings = b"[[[\n" if attack.startswith("settings") else b"format = 1\n"
    folder = place / "new" / "vault" if is_new else place
    with pytest.raises(UsageError, match="nothing was restored") as caught:
        restore(archive(tmp_path, fill, settings), folder)
    assert re.search(named, str(caught.value)), caught.value
    assert os.listdir(place) == []


def _damaged(tmp_path: Path, change: Callable[[bytearray], object]) -> Path:
    path = archive(tmp_path, lambda add: [add(f"{n}.md", os.urandom(2000)) for n in range(5)])  # type: ignore[misc]
    tar = bytearray(gzip.decompress(path.read_bytes()))
    change(tar)
    path.write_bytes(gzip.compress(bytes(tar)))
    return path


@pytest.mark.parametrize("cut", [1, 100, 3000, 6000])
def test_a_cut_archive_leaves_nothing(tmp_path: Path, place: Path, cut: int) -> None:
    path = _damaged(tmp_path, lambda tar: None)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(UsageError, match="nothing was restored"):
        restore(path, place)
    assert os.listdir(place) == []


def test_a_damaged_header_is_not_taken_for_the_end(tmp_path: Path, place: Path) -> None:
    with pytest.raises(UsageError, match="damaged"):
        restore(_damaged(tmp_path, lambda tar: tar.__setitem__(slice(1024, 1030), b"broken")), place)


def test_a_wrong_checksum_is_found(tmp_path: Path, place: Path) -> None:
    path = _damaged(tmp_path, lambda tar: None)
    path.write_bytes(path.read_bytes()[:-8] + struct.pack("<II", 1, 1))
    with pytest.raises(UsageError, match="nothing was restored"):
        restore(path, place)


@pytest.mark.slow
def test_headers_cannot_fill_the_memory_or_call_each_other_for_ever(tmp_path: Path, place: Path) -> None:
    huge = archive(tmp_path, lambda add: add("a.md", b"x", pax_headers={"comment": "x" * 5_000_000}))
    with pytest.raises(UsageError, match="headers"):
        restore(huge, place)
    header = tarfile.TarInfo("x").create_pax_global_header({"a": "b"})
    huge.write_bytes(gzip.compress(header * 20_000))
    with pytest.raises(UsageError, match="nothing was restored"):
        restore(huge, place)
    assert os.listdir(place) == []


def test_sizes_and_numbers_have_limits(tmp_path: Path, place: Path) -> None:
    small = Limits(bytes_per_archive_byte=0, more_bytes=10_000, more_members=20, archive_bytes_per_member=10**9)
    for name, fill in {
        "zeros.md": lambda add: add("zeros.md", bytes(20_000)),
        "c.md": lambda add: (
            add("a.md", bytes(6_000)), add("b.md"), add("c.md", type=tarfile.LNKTYPE, linkname="a.md"),
        ),
        "20 members": lambda add: [add(f"{n}.md") for n in range(30)],
        ".vault-memory/x": lambda add: add(".vault-memory/x", bytes(20_000)),
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=name):
            restore(archive(tmp_path, fill), place, limits=small)  # type: ignore[arg-type]
        assert os.listdir(place) == []


@pytest.mark.slow
def test_a_bomb_of_a_few_kilobytes_costs_little(tmp_path: Path, place: Path) -> None:
    bomb = tmp_path / "bomb.tar.gz"
    ten_megabytes = gzip.compress(bytes(10 * 2**20))
    with bomb.open("wb") as packed:
        packed.write(gzip.compress(tarfile.TarInfo("vault-memory.toml").tobuf()))
        for number in range(4):
            info = tarfile.TarInfo(f"{number}.md")
            info.size = 20 * 10 * 2**20
            packed.write(gzip.compress(info.tobuf()) + 20 * ten_megabytes)
        packed.write(gzip.compress(bytes(2 * tarfile.BLOCKSIZE)))

    def refused() -> None:
        with pytest.raises(UsageError, match="more room"):
            restore(bomb, place)

    assert_at_most(1_000, refused)
    assert os.listdir(place) == []


def test_hooks_state_and_pointers_of_the_archive_are_left_out(tmp_path: Path, place: Path, vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    git = vault.root / ".git"
    (git / "hooks" / "post-commit").write_text("#!/bin/sh\ntouch evil\n")
    (git / "hooks" / "pre-commit.local").write_text("#!/bin/sh\ntouch evil\n")
    (git / "hooks" / "pre-commit").write_text("#!/bin/sh\n# vault-memory hook, version 999\ntouch evil\n")
    (git / "modules" / "sub" / "hooks").mkdir(parents=True)
    (git / "modules" / "sub" / "hooks" / "post-checkout").write_text("touch evil\n")
    (git / "commondir").write_text("../../elsewhere\n")
    (git / "refs" / "heads" / "hooks").mkdir()
    (git / "refs" / "heads" / "hooks" / "x").write_text((git / "refs" / "heads" / "main").read_text())
    (git / "hooks" / "post-rewrite.local").symlink_to("../../notes/run.sh")
    path = tmp_path / "a.tar.gz"
    (git / "commondir").rename(tmp_path / "commondir")
    backup(vault, path)
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as new, tarfile.open(path) as old:
        for member in old:
            new.addfile(member, old.extractfile(member) if member.isreg() else None)
        new.add(tmp_path / "commondir", ".git/commondir")
        new.add(tmp_path / "commondir", ".vault-memory/token")
        new.add(tmp_path / "commondir", "memory/alice/index.db-wal")
        new.add(tmp_path / "commondir", "memory/.git")
        new.add(tmp_path / "commondir", "memory/alice/.git/HEAD")
    said: list[str] = []
    root = restore(tmp_path / "b.tar.gz", place / "new", on_left_out=said.append)
    assert {line.partition(":")[0] for line in said} == {
        ".git/commondir",
        ".git/hooks/post-commit",
        ".git/hooks/post-rewrite.local",
        ".git/hooks/pre-commit",
        ".git/hooks/pre-commit.local",
        ".git/modules/sub/hooks/post-checkout",
        ".vault-memory/token",
        "memory/.git",
        "memory/alice/.git/HEAD",
        "memory/alice/index.db-wal",
    }
    hooks = shipped_hooks()
    assert {hook.name: hook.read_bytes() for hook in (root / ".git" / "hooks").iterdir()} == hooks
    assert (root / ".git/refs/heads/hooks/x").exists() and not (root / ".git/modules/sub/hooks").exists()
    assert not (root / ".vault-memory" / "token").exists()


def test_what_a_stopped_rebase_was_to_run_is_left_out(tmp_path: Path, place: Path, vault: Vault) -> None:
    git = vault.root / ".git"
    for folder in ("rebase-merge", "worktrees/x/rebase-apply", "sequencer", "refs/heads/sequencer"):
        (git / folder).mkdir(parents=True)
        (git / folder / "x").write_text((git / "refs/heads/main").read_text())
    (git / "rebase-merge" / "git-rebase-todo").write_text("exec touch evil\n")
    (git / "rebase-merge" / "head-name").write_text("refs/heads/$(evil)\n")
    backup(vault, tmp_path / "a.tar.gz")
    said: list[str] = []
    root = restore(tmp_path / "a.tar.gz", place / "new", on_left_out=said.append)
    names = [".git/rebase-merge", ".git/sequencer", ".git/worktrees/x/rebase-apply"]
    assert [line.partition(":")[0] for line in said] == names
    assert "`git switch --merge '$(evil)'`" in said[0] and "switch --merge BRANCH`" in said[1]
    assert not any((root / name).exists() for name in names) and (root / ".git/refs/heads/sequencer/x").exists()
    assert open_vault(root).history.stopped() is None


def test_what_an_honest_backup_holds_comes_back(tmp_path: Path, place: Path, vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    home = vault.root / "memory" / "alice"
    (vault.root / "notes" / "empty").mkdir(parents=True)
    (vault.root / "notes" / "run.sh").write_text("echo\n")
    (vault.root / "notes" / "run.sh").chmod(0o4755)
    (vault.root / "notes" / "second name.sh").hardlink_to(vault.root / "notes" / "run.sh")
    (vault.root / "notes" / "alice").symlink_to("../memory/alice")
    (vault.root / "notes" / "gone").symlink_to("no such note.md")
    (vault.root / "notes" / ("長" * 80 + ".md")).write_text("a long name\n")
    assert backup(vault, tmp_path / "a.tar.gz") == []
    said: list[str] = []
    root = restore(tmp_path / "a.tar.gz", place, on_left_out=said.append)
    assert said == [] and root == place and (root / "notes" / "empty").is_dir()
    assert (root / "notes" / "run.sh").stat().st_mode & 0o7777 == 0o755
    assert (root / "notes" / "second name.sh").read_text() == "echo\n"
    assert (root / "notes" / "alice" / "USER.md").read_bytes() == (home / "USER.md").read_bytes()
    assert os.readlink(root / "notes" / "gone") == "no such note.md"
    assert not [name for name in os.listdir(place) if name.startswith(".restore")]
    conversations = root / "memory" / "alice" / "conversations"
    assert conversations.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o177 == 0 for path in conversations.glob("*.jsonl"))
    assert (home / "USER.md").stat().st_mode == (root / "memory" / "alice" / "USER.md").stat().st_mode


def test_a_file_in_the_place_of_the_hooks_is_left_out(tmp_path: Path, vault: Vault) -> None:
    shutil.rmtree(vault.root / ".git/hooks")
    (vault.root / ".git/hooks").write_text("evil\n")
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as tar:
        tar.add(vault.root, arcname=".")
    said: list[str] = []
    root = restore(tmp_path / "evil.tar.gz", tmp_path / "again", on_left_out=said.append)
    assert any(line.startswith(".git/hooks:") for line in said) and (root / ".git/hooks/pre-commit").exists()


def _with_file(tmp_path: Path, vault: Vault, name: str) -> Path:
    """A backup of the vault with a file `name` more, in the place of what stands there."""
    record_turn(vault, "alice", "我喜歡暗色主題")
    backup(vault, tmp_path / "honest.tar.gz")
    with tarfile.open(tmp_path / "odd.tar.gz", "w:gz") as new, tarfile.open(tmp_path / "honest.tar.gz") as old:
        for member in old:
            if f"{name}/".startswith(f"{member.name}/") or f"{member.name}/".startswith(f"{name}/"):
                continue
            new.addfile(member, old.extractfile(member) if member.isreg() else None)
        new.addfile(tarfile.TarInfo(name))
    return tmp_path / "odd.tar.gz"


@pytest.mark.parametrize("name", ["memory", ".git/index/x"])
@pytest.mark.parametrize("is_new", [True, False])
def test_what_cannot_be_indexed_is_taken_away_again(
    tmp_path: Path, place: Path, vault: Vault, name: str, is_new: bool
) -> None:
    with pytest.raises(UsageError, match=f"{Path(name).parts[-1 if name == 'memory' else 1]}.*nothing was restored"):
        restore(_with_file(tmp_path, vault, name), place / "new" if is_new else place)
    assert os.listdir(place) == []


def test_a_folder_in_the_place_of_an_index_is_left_out_and_damage_of_git_is_named(
    tmp_path: Path, place: Path, vault: Vault
) -> None:
    said: list[str] = []
    odd = _with_file(tmp_path, vault, "memory/alice/index.db/x")
    restore(odd, place / "index", on_left_out=said.append, on_unhealthy=said.append)
    assert said == ["memory/alice/index.db/x: state is made anew"]
    said.clear()
    (tmp_path / "honest.tar.gz").unlink()
    odd = _with_file(tmp_path, vault, ".git/HEAD/x")
    root = restore(odd, place / "head", on_unhealthy=said.append)
    assert [f"{root / '.git' / 'HEAD'} is a folder" in line for line in said] == [True]
    assert (root / "memory/alice/USER.md").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_an_archive_that_is_a_pipe_or_has_headers_without_end_is_named(tmp_path: Path, place: Path) -> None:
    os.mkfifo(tmp_path / "a.tar.gz")
    signal.alarm(20)
    try:
        with pytest.raises(UsageError, match="no file but a folder, pipe"):
            restore(tmp_path / "a.tar.gz", place)
    finally:
        signal.alarm(0)
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 5
    chain = (header.tobuf(tarfile.GNU_FORMAT) + b"name\0".ljust(512, b"\0")) * 1_500
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(chain))
    with pytest.raises(UsageError, match="more headers than"):
        restore(tmp_path / "b.tar.gz", place)


@pytest.mark.parametrize("is_there", [True, False])
def test_what_a_killed_restore_left_is_taken_away_by_the_next(tmp_path: Path, place: Path, is_there: bool) -> None:
    target = place / "new"
    beside = target if is_there else place
    left, at_work = beside / ".vault-memory-restore-a", place / ".vault-memory-restore-b"
    for each in (left, at_work):
        each.mkdir(parents=True)
        (each / "note.md").write_text("half")
    with files.locked_folder(at_work):
        restore(archive(tmp_path, lambda add: None), target)
    assert not left.exists() and (at_work / "note.md").exists()
    assert sorted(path.name for path in place.iterdir()) == [at_work.name, "new"]
    assert not list(target.glob(".vault-memory-restore-*"))


_KILLED = """
import os, signal, sys
from pathlib import Path
from vault_memory.services.admin import restore
moves = 0
def count(event, args):
    global moves
    if event == "shutil.rmtree" and sys.argv[3] == "all":
        os.kill(os.getpid(), signal.SIGKILL)
    if event == "os.rename" and Path(os.fsdecode(args[1])).parent == Path(sys.argv[2]) and sys.argv[3] != "all":
        moves += 1
        if moves == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
restore(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked")
def test_a_restore_that_was_killed_between_two_moves_is_finished_by_the_next(tmp_path: Path, place: Path) -> None:
    """Half of the vault stayed, and the next restore only said that the folder is not empty."""
    backup_file = archive(tmp_path, lambda add: [add(f"{name}/a.md", b"tea") for name in ("b", "c", "d")])
    command = [sys.executable, "-c", _KILLED, str(backup_file), str(place), "4"]
    assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
    half = sorted(path.name for path in place.iterdir())
    assert half[1].startswith(".vault-memory-restore-") and [half[0], *half[2:]] == [".vault-memory", "b", "c"]
    with pytest.raises(UsageError, match="is not a vault"):
        open_vault(place)
    (place / "c/a.md").write_text("mine")
    other = shutil.copy(backup_file, tmp_path / "other.tar.gz")
    (place / "e.md").write_text("mine")
    for asked, said in (
        (Path(other), f"`vault-memory restore {backup_file} "),
        (backup_file, "e.md did not come with"),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            restore(asked, place)
    (place / "e.md").unlink()
    restore(backup_file, place)
    assert [(place / name / "a.md").read_text() for name in ("b", "c", "d")] == ["tea", "mine", "tea"]
    assert not list(place.glob(".vault-memory-restore-*")) and open_vault(place)


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_restore_that_was_killed_after_its_last_move_tells_what_it_left_out(
    tmp_path: Path, place: Path, is_there: bool
) -> None:
    """The same command only said that the folder is not empty. It deletes nothing, whatever was written since."""
    target = place / "new"
    if is_there:
        target.mkdir()
    backup_file = archive(tmp_path, lambda add: (add("notes/a.md", b"tea"), add(".vault-memory/tokens/alice", b"x")))
    command = [sys.executable, "-c", _KILLED, str(backup_file), str(target), "all"]
    assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
    (target / "notes/b.md").write_text("mine")
    other = Path(shutil.copy(backup_file, tmp_path / "other.tar.gz"))
    with pytest.raises(UsageError, match="is not empty"):
        restore(other, target)
    told: list[str] = []
    assert restore(backup_file, target, on_left_out=told.append) == target.resolve()
    assert told == [".vault-memory/tokens/alice: state is made anew"]
    assert (target / "notes/b.md").read_text() == "mine"
    assert not list(place.rglob(".vault-memory-restore-*"))
    with pytest.raises(UsageError, match="is not empty"):  # it has come to its end
        restore(backup_file, target)
