"""`sync --take-out-private`: commits that were not sent are made anew without private files, and sent."""

from __future__ import annotations

import os
import random
import shlex
import shutil
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Cli
from tests.services.sync.conftest import USER, Machine, git, push
from vault_memory.core import layout
from vault_memory.errors import HistoryError
from vault_memory.services.admin.doctor import doctor
from vault_memory.services.notes import file_blame
from vault_memory.services.profiles.history import history
from vault_memory.services.sync.sync import Synced, sync
from vault_memory.services.turns.record import record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import open_vault

NOTHING = "nothing was taken out"


def take_out(machine: Machine) -> Synced:
    return sync(machine.vault, take_out_private=True)


def conversation(machine: Machine) -> str:
    found = next((machine.root / "memory/alice/conversations").glob("*.jsonl"))
    return found.relative_to(machine.root).as_posix()


def commit(machine: Machine, *names: str, message: str = "by hand") -> None:
    git(machine.root, "--literal-pathspecs", "add", "-f", "--", *names)
    git(machine.root, "commit", "-q", "--no-verify", "-m", message)


def sent(hub: Path) -> set[str]:
    """Every path in every commit that the hub has."""
    return set(git(hub, "log", "-m", "--format=", "--name-only", "-z", "main").split("\0")) - {""}


def is_clean(hub: Path) -> bool:
    return not any(layout.is_private(PurePosixPath(name)) for name in sent(hub))


def test_a_large_archive_that_was_committed_on_purpose_is_not_sent(one: Machine, hub: Path) -> None:
    """`status` says how to commit a file of more than 20 MB, and the hook does not read it."""
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    (one.root / "memory/alice/photo.jpg").write_bytes(random.Random(1).randbytes(21_000_000))
    shutil.make_archive(str(one.root / "all"), "zip", one.root, "memory")
    commit(one, "all.zip")
    with pytest.raises(HistoryError, match=r"all\.zip.*--take-out-private"):
        sync(one.vault)
    assert "all.zip" not in sent(hub)


@pytest.mark.parametrize("is_known", [True, False], ids=["a remote with some of it", "a new remote"])
def test_taking_private_files_out_keeps_the_history(one: Machine, hub: Path, tmp_path: Path, is_known: bool) -> None:
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    names = ["memory/alice/index.db", "memory/alice/conversations"]
    one.vault.index("alice")
    kept = git(one.root, "rev-parse", "HEAD")
    commit(one, *names, message="oops, all files")
    record_turn(one.vault, "alice", "以後都用 Rust")
    if not is_known:
        git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
        git(one.root, "remote", "set-url", "origin", str(tmp_path / "empty.git"))
    learned = [(change.key, change.new, change.source) for change in history(one.vault, "alice")]
    log = git(one.root, "log", "--format=%an %ae %ad %cn %ce %cd %B")
    with pytest.raises(HistoryError, match=r"2 private files \(memory/alice/") as refused:
        one.sync()
    assert "`vault-memory sync --take-out-private`" in str(refused.value)
    old = git(one.root, "rev-parse", "HEAD").strip()
    done = take_out(one)
    (note,) = done.notes
    assert "index.db" in note and conversation(one) in note and f"refs/vault-memory/before/{old[:10]}" in note
    assert [(change.key, change.new, change.source) for change in history(one.vault, "alice")] == learned
    assert git(one.root, "log", "--format=%an %ae %ad %cn %ce %cd %B") == log
    git(one.root, "merge-base", "--is-ancestor", kept.strip(), "HEAD")
    assert git(one.root, "rev-parse", f"refs/vault-memory/before/{old[:10]}").strip() == old
    assert is_clean(hub if is_known else tmp_path / "empty.git")
    assert all((one.root / name).exists() for name in names)
    one.assert_clean()
    assert take_out(one).notes == (f"no commit that the remote lacked held a private file: {NOTHING}",)
    (private,) = (found.message for found in doctor(one.vault) if found.name == "private files")
    assert f"refs/vault-memory/before/{old[:10]}, from before" in private
    assert is_known or done.sent == len(git(one.root, "rev-list", "HEAD").split())
    blamed = {line.entry.commit for line in file_blame(one.vault, PurePosixPath(USER)) if line.entry}
    assert len(blamed) > 1 and blamed <= set(git(one.root, "rev-list", "HEAD").split())
    assert undo(one.vault, "alice")
    assert "Rust" not in one.read(USER)


def test_what_was_undone_is_not_undone_again(one: Machine) -> None:
    record_turn(one.vault, "alice", "我喜歡亮色主題")
    commit(one, conversation(one))
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    undo(one.vault, "alice")
    take_out(one)
    assert one.theme() == "light"
    undo(one.vault, "alice")
    assert one.theme() is None


def test_a_dirty_vault_is_no_obstacle(one: Machine, hub: Path) -> None:
    """`git filter-branch` refused while any tracked file was changed or staged: a grown record, a plugin, a secret."""
    name = conversation(one)
    plugin = ".obsidian/plugins/x/data.json"
    one.write(plugin, "{}\n")
    commit(one, name, plugin)
    record_turn(one.vault, "alice", "hello again")
    one.write(plugin, '{"changed": 1}\n')
    one.write("memory/alice/notes/idea.md", "<<<<<<< mine\nwithheld\n")
    one.write("staged.md", "staged\n")
    git(one.root, "add", "staged.md")
    one.vault.history.flush()
    grown, count = one.read(name), len(git(one.root, "rev-list", "HEAD").split())
    with pytest.raises(HistoryError, match="never leave this machine"):
        one.sync()
    assert any("taken out of" in note for note in take_out(one).notes)
    assert is_clean(hub) and one.read(name) == grown and one.read(plugin) == '{"changed": 1}\n'
    assert one.read("memory/alice/notes/idea.md").startswith("<<<<<<< mine")
    listed = git(one.root, "status", "--porcelain").splitlines()
    assert "A  staged.md" in listed and f" M {plugin}" in listed and not any(name in line for line in listed)
    assert len(git(one.root, "rev-list", "HEAD").split()) == count, "no empty commits"


ODD = [
    ":!a/conversations.jsonl",
    ":(exclude)memory/x.jsonl",
    "old\nnotes/rec.jsonl",
    "st\nate/index.db",
    "-rf/index.db",
    "with 'single' and \"double\" $(quotes)/index.db",
    "st\nate/.vault-memory/token",
    os.fsdecode(b"not-utf-8-\xff/rec.jsonl"),
]


@pytest.mark.parametrize("name", ODD, ids=repr)
def test_an_odd_path_is_refused_and_taken_out_alone(one: Machine, hub: Path, name: str) -> None:
    """A path with a line end was cut and sent; of one with `:!` everything else was taken out."""
    one.write(name, (one.root / conversation(one)).read_bytes() if name.endswith("jsonl") else b"state")
    commit(one, name)
    before = git(one.root, "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")
    with pytest.raises(HistoryError, match="1 private file "):
        one.sync()
    assert name not in sent(hub)
    take_out(one)
    assert name not in sent(hub) and os.path.lexists(one.root / name)
    after = git(hub, "ls-tree", "-r", "--name-only", "-z", "main").split("\0")
    assert sorted([*after, name]) == sorted(before)


def test_all_copies_of_one_content_are_named_and_go_at_once(one: Machine, hub: Path) -> None:
    record = (one.root / conversation(one)).read_bytes()
    copies = ["a.md", "b.jsonl", "deep/c.jsonl", "d.JSONL", "index.db"]
    for name in copies:
        one.write(name, record)
    commit(one, *copies)
    with pytest.raises(HistoryError, match=r"5 private files \(a\.md, b\.jsonl, d\.JSONL, …\)"):
        one.sync()
    (note,) = take_out(one).notes
    assert note.startswith("5 private files taken out of 1 commit (") and sent(hub).isdisjoint(copies)


def test_a_note_that_held_turns_for_one_commit_is_sent_as_it_is_now(one: Machine, hub: Path) -> None:
    one.write("rows.jsonl", '{"a": 1}\n')
    one.sync()
    one.write("rows.jsonl", (one.root / conversation(one)).read_bytes())
    commit(one, "rows.jsonl")
    one.write("rows.jsonl", '{"a": 2}\n')
    commit(one, "rows.jsonl")
    take_out(one)
    assert git(hub, "show", "main:rows.jsonl") == '{"a": 2}\n'
    assert "assistant_message" not in git(hub, "log", "-p", "main", "--", "rows.jsonl")
    one.assert_clean()


def test_merges_of_what_others_sent_keep_their_parents(one: Machine, two: Machine, remote: Machine, hub: Path) -> None:
    name = conversation(one)
    commit(one, name)
    one.write("mine.md", "mine\n")
    push(remote, **{"theirs.md": "theirs\n"})
    with pytest.raises(HistoryError, match="never leave this machine"):
        one.sync()  # it has merged before it sends
    theirs = git(hub, "rev-parse", "main").strip()
    assert git(one.root, "log", "-1", "--format=%P").split()[1:] == [theirs]
    take_out(one)
    assert git(one.root, "log", "-1", "--merges", "--format=%P").split()[1] == theirs
    assert is_clean(hub) and one.read("theirs.md") == "theirs\n"
    two.sync()
    assert two.read("mine.md") == "mine\n"
    one.assert_clean()


def test_another_remote_that_has_the_old_commits_can_still_be_synced(one: Machine, hub: Path, tmp_path: Path) -> None:
    """It was sent there by plain git: its history keeps the file, and both histories are merged."""
    name = conversation(one)
    commit(one, name)
    one.write("later.md", "later\n")
    git(one.root, "push", "-q", "origin", "main")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "other.git")
    sync(one.vault, str(tmp_path / "other.git"), take_out_private=True)
    assert is_clean(tmp_path / "other.git")
    one.sync()
    one.assert_clean()
    assert name not in git(hub, "ls-tree", "-r", "--name-only", "main") and (one.root / name).exists()


def test_the_message_names_a_remote_that_was_typed(one: Machine, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "it's here.git")
    commit(one, conversation(one))
    with pytest.raises(HistoryError) as refused:
        sync(one.vault, "../it's here.git")
    command = str(refused.value).split("`")[1]
    assert shlex.split(command) == ["vault-memory", "sync", "--take-out-private", "../it's here.git"]


@pytest.mark.parametrize("where", ["a folder below", "another repository"])
def test_the_command_works_from_any_folder(cli: Cli, tmp_path: Path, where: str) -> None:
    """Git's commands, pasted below the top, took nothing out, and in the end deleted the record from the disk. Typed in
    another repository with `--vault`, they rewrote that one."""
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "ok")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    (record,) = (cli.folder / "memory/alice/conversations").glob("*.jsonl")
    git(cli.folder, "add", "-f", str(record))
    git(cli.folder, "commit", "-q", "--no-verify", "-m", "by hand")
    vault, words = cli.folder, list[str]()
    if where == "a folder below":
        cli.folder = vault / "memory/alice"
    else:
        cli.folder = Path(shutil.copytree(vault, tmp_path / "other"))
        words = ["--vault", str(vault)]
    others = git(cli.folder, "for-each-ref")
    refused = cli(*words, "sync", "../hub.git", code=1)
    command = shlex.split(refused.split("`")[1])
    assert command[0] == "vault-memory"
    assert "taken out of 1 commit " in cli(*words, *command[1:])
    assert record.exists() and is_clean(tmp_path / "hub.git")
    assert git(vault, "status", "--porcelain") == ""
    if words:
        assert git(cli.folder, "for-each-ref") == others
    assert NOTHING in cli(*words, *command[1:])


def test_a_shallow_clone_is_refused_and_stays_as_it_is(one: Machine, hub: Path, tmp_path: Path) -> None:
    """The commit at its boundary, made anew, would have a parent that is not there: git could read nothing any more."""
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    commit(one, "memory/alice/conversations")
    record_turn(one.vault, "alice", "以後都用 Rust")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "empty.git")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{one.root}", "shallow")
    copy = open_vault(tmp_path / "shallow")
    git(copy.root, "remote", "set-url", "origin", str(tmp_path / "empty.git"))
    before = git(copy.root, "rev-parse", "HEAD")
    with pytest.raises(HistoryError, match="unshallow"):
        sync(copy, str(tmp_path / "empty.git"), take_out_private=True)
    assert git(copy.root, "rev-parse", "HEAD") == before and git(copy.root, "log", "--oneline")


def test_a_file_that_the_remote_has_is_not_deleted_there(one: Machine, hub: Path) -> None:
    """An ordinary file that has got turns: to take it out would delete it on every other machine."""
    one.write("notes/data.jsonl", '{"a": 1}\n')
    one.sync()
    record_turn(one.vault, "alice", "我喜歡暗色主題")
    one.write("notes/data.jsonl", one.read("notes/data.jsonl") + one.read(conversation(one)))
    commit(one, "notes/data.jsonl")
    with pytest.raises(HistoryError, match="delete it there"):
        take_out(one)
    git(one.root, "checkout", "-q", git(hub, "rev-parse", "main").strip(), "--", "notes/data.jsonl")
    git(one.root, "commit", "-q", "-m", "as it was")
    (note,) = take_out(one).notes
    assert "notes/data.jsonl" in note
    assert git(hub, "show", "main:notes/data.jsonl") == '{"a": 1}\n'
