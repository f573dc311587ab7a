"""Drafts become commits, and the person's own work in the repository stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import PERSON, USER, Vault
from vault_memory.adapters.git import object_id
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange, History
from vault_memory.errors import Changed, HistoryError, UsageError

pytestmark = pytest.mark.slow

OTHER = PurePosixPath("notes/other.md")


def test_a_chain_of_drafts_is_a_commit_each_in_one_batch(vault: Vault) -> None:
    """A18: one commit per preference change, the log's commit with them."""
    contents = [None, b"a\n", b"a\nb\n", b"a\nb\nc\n"]
    drafts = [Draft(f"step {n}", ASSISTANT, (FileChange(USER, contents[n], contents[n + 1]),)) for n in range(3)]
    daily = PurePosixPath("memory/alice/daily/2026-01-30.md")
    flushed = vault.history.commit([*drafts, Draft("log", ASSISTANT, (FileChange(daily, None, b"x\n"),))])
    assert len(flushed.commits) == 4 and flushed.paused is None
    assert vault.subjects() == ["step 0", "step 1", "step 2", "log"]
    assert vault.git("show", f"{flushed.commits[0]}:{USER}") == "a\n"
    assert vault.read() == b"a\nb\nc\n"
    vault.assert_clean()


def test_a_commit_pauses_between_files_and_never_while_it_holds_a_lock_of_gits(vault: Vault) -> None:
    """Whoever waits in such a pause must not keep the person's git waiting."""
    held: list[Path] = []
    pauses = 0

    def pause() -> None:
        nonlocal pauses
        pauses += 1
        held.extend(vault.root.glob(".git/**/*.lock"))

    history = History(vault.root, pause=pause)
    for number in range(30):
        vault.write(b"text %d\n" % number, PurePosixPath(f"notes/{number}.md"))
    history.commit_edits([Draft("edit", PERSON, tuple(history.uncommitted()))])
    assert pauses > 3 * 30 and not held, "when a file is read, looked at again, and searched for secrets"
    vault.assert_clean()


def test_a_deletion_takes_emptied_folders_along(vault: Vault) -> None:
    vault.add(b"one")
    vault.add(b"two", OTHER)
    vault.history.commit([Draft("delete", ASSISTANT, (FileChange(USER, b"one\n", None),))])
    assert vault.git("ls-tree", "-r", "--name-only", "HEAD").split() == [str(OTHER)]
    assert vault.read() is None
    vault.assert_clean()


def test_a_save_that_nobody_read_is_refused_and_nothing_is_left_behind(vault: Vault) -> None:
    vault.add(b"one")
    draft = vault.draft(b"two")
    vault.write(b"one\nby hand\n")
    both = Draft("both", ASSISTANT, (FileChange(OTHER, None, b"new\n"), *draft.changes))
    with pytest.raises(Changed) as caught:
        vault.history.stage([both])
    assert caught.value.found == b"one\nby hand\n"
    assert vault.read(OTHER) is None and vault.read() == b"one\nby hand\n"
    assert vault.history.state().waiting == 0


def test_an_edit_read_while_another_wrote_the_file_undoes_nothing(vault: Vault) -> None:
    """The file was read before a write, the waiting drafts after it: the new lines look deleted by the person."""
    vault.add(b"one")
    before = vault.read()
    vault.add(b"two")
    after = vault.read()
    with pytest.raises(Changed):
        vault.history.commit_edits([Draft("take out two", PERSON, (FileChange(USER, after, before),))])
    assert vault.read() == after
    vault.assert_clean()


def test_the_persons_other_work_is_untouched(vault: Vault) -> None:
    """R F: only our paths: staged, unstaged, intended and deleted files of the person stay exactly so."""
    for name in ("staged", "unstaged", "deleted", "kept"):
        vault.add(name.encode(), PurePosixPath(name))
    vault.write(b"s2\n", PurePosixPath("staged"))
    vault.write(b"new\n", PurePosixPath("staged-new"))
    vault.git("add", "staged", "staged-new")
    vault.write(b"u2\n", PurePosixPath("unstaged"))
    vault.git("rm", "-q", "--cached", "kept")
    (vault.root / "deleted").unlink()
    vault.write(b"i\n", PurePosixPath("intended"))
    vault.git("add", "-N", "intended")
    vault.write(b"?\n", PurePosixPath("untracked"))
    before = vault.git("status", "--porcelain")
    vault.add(b"one")
    vault.add(b"two")
    assert vault.git("status", "--porcelain") == before
    assert vault.git("show", "--name-only", "--format=", "HEAD").split() == [str(USER)]
    assert vault.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("how", ["add", "rm --cached"])
def test_a_file_that_the_person_staged_waits(vault: Vault, how: str) -> None:
    vault.add(b"one")
    vault.write(b"one\nstaged\n")
    vault.git(*how.split(), "--", str(USER))
    flushed = vault.history.commit([vault.draft(b"two"), vault.draft(b"free", OTHER)])
    assert len(flushed.commits) == 1 and flushed.waiting == 1
    assert flushed.paused and str(USER) in flushed.paused and "staged" in flushed.paused
    vault.git("reset", "-q")
    assert len(vault.history.flush().commits) == 1, "ours, without the person's line"
    assert vault.authors()["add two"] == ASSISTANT.name
    assert vault.git("show", f"HEAD:{USER}") == "one\ntwo\n" and vault.read() == b"one\nstaged\ntwo\n"


def test_what_the_person_typed_before_ours_stays_theirs(vault: Vault) -> None:
    """G4: the person's edit under the assistant's is in no commit of the assistant's."""
    vault.add(b"one")
    vault.write(b"one\nby hand\n")
    vault.history.commit([vault.draft(b"two")])
    assert vault.subjects() == ["add one", "add two"]
    assert vault.git("show", f"HEAD:{USER}") == "one\ntwo\n" and vault.read() == b"one\nby hand\ntwo\n"
    vault.history.commit_edits([Draft("edit", PERSON, tuple(vault.history.uncommitted()))])
    assert vault.authors()["edit"] == PERSON.name
    assert "+by hand" in vault.git("show", "HEAD") and "+two" not in vault.git("show", "HEAD")
    vault.assert_clean()


def test_the_persons_own_commit_of_a_waiting_change_makes_no_second_one(vault: Vault) -> None:
    vault.add(b"one")
    vault.history.stage([vault.draft(b"two")])
    vault.write(b"one\ntwo\nthree\n")
    vault.git("commit", "-qam", "all of it")
    vault.history.flush()
    assert vault.subjects() == ["add one", "all of it", "add two"], "the message and its author are kept"
    assert vault.git("show", f"HEAD:{USER}") == "one\ntwo\nthree\n"
    vault.assert_clean()


def test_head_that_moved_on_keeps_its_text_when_ours_is_added(vault: Vault) -> None:
    vault.add(b"one\n\n\n\n\nlast")
    vault.history.stage([vault.draft(b"two")])
    ours = vault.read()
    vault.write(b"ONE\n\n\n\n\nlast\n")
    vault.git("commit", "-qam", "capitals")
    vault.write(ours or b"")
    vault.history.flush()
    assert vault.git("show", f"HEAD:{USER}") == "ONE\n\n\n\n\nlast\ntwo\n"


def test_names_that_are_hard_on_git(vault: Vault) -> None:
    names = [
        "暗色主題.md",
        "笔记 with blank.md",
        "emoji 🎨.md",
        "q\"uo'te.md",
        "new\nline.md",
        "-dash",
        "a",
        "a.b",
        "a-",
        "[x]*?.md",
    ]
    for name in names:
        vault.add(b"x", PurePosixPath("深", name))
        vault.add(b"y", PurePosixPath("深", name))
    assert sorted(vault.git("ls-tree", "-rz", "--name-only", "HEAD").split("\0")[:-1]) == sorted(
        f"深/{n}" for n in names
    )
    vault.assert_clean()
    for name in names:
        path = PurePosixPath("深", name)
        assert vault.history.blob(path) == b"x\ny\n"
        assert [entry.subject for entry in vault.history.log([path])] == ["add y", "add x"]
        assert vault.history.uncommitted([path]) == []
        vault.write(b"z\n", path)
    assert {change.path for change in vault.history.uncommitted()} == {PurePosixPath("深", n) for n in names}


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS takes names in UTF-8 only")
def test_a_name_that_is_not_utf_8_is_committed_once(vault: Vault) -> None:
    path = PurePosixPath(os.fsdecode(b"d\xfe/bad\xff.md"))
    vault.write(b"x\n", path)
    for count in (1, 0):
        edits = vault.history.uncommitted()
        assert len(edits) == count
        vault.history.commit_edits([Draft("edit", ASSISTANT, (edit,)) for edit in edits])
    assert vault.git("ls-files", str(path.parent)) == '"d\\376/bad\\377.md"\n'
    vault.assert_clean()


@pytest.mark.parametrize("path", ["../x", "/etc/x", ".git/config", "a/.GIT/x", "a/../../x", "."])
def test_paths_out_of_the_vault_are_refused(vault: Vault, path: str) -> None:
    with pytest.raises(UsageError):
        vault.history.stage([Draft("x", ASSISTANT, (FileChange(PurePosixPath(path), None, b"x"),))])


def test_submodules_and_links_are_refused(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault.root / "link").symlink_to(outside)
    (vault.root / "leaf.md").symlink_to(outside / "leaf.md")
    vault.git("init", "-q", "inner")
    for path in ("link/x.md", "leaf.md", "inner/x.md"):
        with pytest.raises(HistoryError):
            vault.history.stage([Draft("x", ASSISTANT, (FileChange(PurePosixPath(path), None, b"x"),))])
    assert list(outside.iterdir()) == []


def test_a_file_where_git_holds_a_folder_waits(vault: Vault) -> None:
    vault.add(b"x", PurePosixPath("a/b"))
    (vault.root / "a/b").unlink()
    (vault.root / "a").rmdir()
    flushed = vault.history.commit([vault.draft(b"x", PurePosixPath("a"))])
    assert flushed.waiting == 1 and flushed.paused
    vault.git("rm", "-q", "--cached", "a/b")
    vault.git("commit", "-qm", "a is no folder")
    assert len(vault.history.flush().commits) == 1
    vault.assert_clean()


# The state of the repository ----------------------------------------------------------------------------------------


def test_an_unborn_branch_gets_its_first_commit(vault: Vault) -> None:
    state = vault.history.state()
    assert (state.branch, state.head, state.paused) == ("main", None, None)
    assert vault.history.log() == [] and vault.history.blob(USER) is None and vault.history.uncommitted([USER]) == []
    vault.add(b"one")
    vault.assert_clean()


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_foreign_index_lock_is_waited_for_and_never_removed(vault: Vault, is_folder: bool) -> None:
    vault.add(b"one")
    lock = vault.history.git_dir / "index.lock"
    lock.mkdir() if is_folder else lock.write_bytes(b"")
    flushed = vault.history.commit([vault.draft(b"two")])
    assert flushed.commits == () and flushed.waiting == 1 and str(lock) in (flushed.paused or "")
    assert lock.exists() and vault.read() == b"one\ntwo\n"
    lock.rmdir() if is_folder else lock.unlink()
    assert len(vault.history.flush().commits) == 1
    vault.assert_clean()


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_foreign_lock_on_the_branch_is_waited_for(vault: Vault, is_folder: bool) -> None:
    vault.add(b"one")
    lock = vault.history.git_dir / "refs/heads/main.lock"
    lock.mkdir() if is_folder else lock.write_bytes(b"")
    assert vault.history.state().lock is None, "nothing waits for it"
    flushed = vault.history.commit([vault.draft(b"two")])
    assert flushed.waiting == 1 and f"{lock} is held" in (flushed.paused or "")
    assert f"{lock} is held" in (vault.history.state().lock or "")
    assert lock.exists() and not (vault.history.git_dir / "index.lock").exists()
    lock.rmdir() if is_folder else lock.unlink()
    assert len(vault.history.flush().commits) == 1
    vault.assert_clean()


def test_a_detached_head_pauses(vault: Vault) -> None:
    vault.add(b"one")
    vault.git("checkout", "-q", "--detach")
    flushed = vault.history.commit([vault.draft(b"two")])
    assert flushed.waiting == 1 and "detached" in (flushed.paused or "")
    assert vault.history.state().paused == flushed.paused
    vault.git("checkout", "-q", "main")
    assert len(vault.history.flush().commits) == 1
    vault.assert_clean()


def conflict(vault: Vault) -> str:
    """Two branches that change one line each their way; the commit on the side branch is returned."""
    vault.add(b"one", OTHER)
    vault.git("checkout", "-qb", "side")
    vault.write(b"side\n", OTHER)
    vault.git("commit", "-qam", "side")
    side = vault.git("rev-parse", "HEAD").strip()
    vault.git("checkout", "-q", "main")
    vault.write(b"main\n", OTHER)
    vault.git("commit", "-qam", "main")
    return side


@pytest.mark.parametrize(
    ("start", "stop", "word"),
    [
        (["merge", "side"], ["merge", "--abort"], "merge"),
        (["rebase", "side"], ["rebase", "--abort"], "rebase"),
        (["rebase", "--apply", "side"], ["rebase", "--abort"], "rebase"),
        (["cherry-pick", "side"], ["cherry-pick", "--abort"], "cherry-pick"),
        (["revert", "--no-edit", "HEAD~1"], ["revert", "--abort"], "revert"),
        (["bisect", "start"], ["bisect", "reset"], "bisect"),
    ],
)
def test_an_operation_in_progress_pauses_and_resumes(
    vault: Vault, start: list[str], stop: list[str], word: str
) -> None:
    conflict(vault)
    vault.git(*start, ok=False)
    flushed = vault.history.commit([vault.draft(b"two")])
    assert flushed.commits == () and flushed.waiting == 1 and word in (flushed.paused or "")
    assert vault.read() == b"two\n", "the content is on disk at once"
    vault.git(*stop)
    assert len(vault.history.flush().commits) == 1
    vault.assert_clean()


def test_works_without_any_identity(vault: Vault) -> None:
    assert vault.history.person() == Author("vault owner", "owner@localhost")
    vault.add(b"one")
    assert vault.git("log", "--format=%an <%ae> %cn <%ce>").strip() == " ".join(
        ["vault-memory <vault-memory@localhost>"] * 2
    )


def test_who_the_person_is(vault: Vault, bare_git: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured = History(vault.root, person_name="From Settings", person_email="s@example.org")
    assert configured.person() == Author("From Settings", "s@example.org")
    bare_git.write_text("[user]\n\tname = Global 名\n\temail = g@example.org\n", encoding="utf-8")
    assert configured.person() == Author("Global 名", "g@example.org")
    vault.git("config", "user.name", "Local")
    assert configured.person() == Author("Local", "g@example.org")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Environment")
    assert configured.person() == Author("Environment", "g@example.org")


def test_the_person_is_never_the_assistant(vault: Vault, bare_git: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.git/config` of a backup may name it: the person's edits would be the assistant's."""
    bare_git.write_text("[user]\n\tname = Global\n\temail = g@example.org\n")
    vault.git("config", "user.name", "<Vault-Memory>")
    vault.git("config", "user.email", "vault-memory@localhost")
    assert vault.history.person() == Author("Global", "g@example.org")
    assert [line.split("`")[1] for line in vault.history.passed_over()] == [
        "git config --unset-all user.name",
        "git config --unset-all user.email",
    ]
    bare_git.write_text("[user]\n\tname = vault-memory\n")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "VAULT-memory")
    assert vault.history.person() == Author("vault owner", "owner@localhost")
    commands = [line.split("`")[1] for line in vault.history.passed_over()]
    assert commands[0] == "unset GIT_AUTHOR_NAME" and "git config --global --unset-all user.name" in commands


def test_commits_are_unsigned_unless_told(vault: Vault) -> None:
    vault.git("config", "commit.gpgsign", "true")
    vault.git("config", "--global", "gpg.program", "/nonexistent/gpg")
    vault.add(b"one")
    assert "gpgsig" not in vault.git("cat-file", "commit", "HEAD")
    signing = History(vault.root, sign=True)
    flushed = signing.commit([vault.draft(b"two")])
    assert flushed.waiting == 1 and "sign" in (flushed.paused or ""), "broken signing waits, and says so"
    gpg = vault.root.parent / "gpg"
    gpg.write_text(
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\n"
    )
    gpg.chmod(0o755)
    vault.git("config", "--global", "gpg.program", str(gpg))
    assert len(signing.flush().commits) == 1
    assert "gpgsig" in vault.git("cat-file", "commit", "HEAD")
    assert vault.git("log", "-1", "--format=%an %s").strip() == "vault-memory add two"
    vault.assert_clean()


def test_the_repositorys_hooks_are_not_run(vault: Vault) -> None:
    hooks = vault.history.git_dir / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {vault.root.parent}/ran-{name}\nexit 1\n")
        (hooks / name).chmod(0o755)
    vault.add(b"one")
    vault.add(b"two")
    assert not list(vault.root.parent.glob("ran-*"))


def test_run_from_inside_a_git_hook(vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hook runs with GIT_DIR and GIT_INDEX_FILE set; our git must not use them."""
    vault.add(b"one")
    vault.write(b"by hand\n")
    other = History.create(tmp_path)
    monkeypatch.setenv("GIT_DIR", str(other.git_dir))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "no-index"))
    assert [change.path for change in vault.history.uncommitted()] == [USER]
    assert [entry.subject for entry in vault.history.log()] == ["add one"]


def test_a_vault_inside_a_larger_repository(tmp_path: Path) -> None:
    outer = Vault(tmp_path, History.create(tmp_path))
    outer.write(b"code\n", PurePosixPath("main.py"))
    outer.git("add", "main.py")
    inner = tmp_path / "docs" / "vault"
    inner.mkdir(parents=True)
    vault = Vault(inner, History.create(inner))
    assert not (inner / ".git").exists() and vault.history.git_dir == tmp_path / ".git"
    vault.add(b"one")
    assert outer.git("ls-tree", "-r", "--name-only", "HEAD").split() == [f"docs/vault/{USER}"]
    assert outer.git("status", "--porcelain").strip() == "A  main.py"
    outer.git("commit", "-qm", "code")
    outer.write(b"outside\n", PurePosixPath("elsewhere.md"))
    vault.write(b"one\nby hand\n")
    vault.write(b"new\n", OTHER)
    assert {change.path for change in vault.history.uncommitted()} == {USER, OTHER}
    assert vault.history.blob(USER) == b"one\n"
    assert [entry.subject for entry in vault.history.log()] == ["add one"]
    outer.write(b"docs/\n", PurePosixPath(".gitignore"))
    outer.git("rm", "-rq", "--cached", "docs")
    assert History.create(inner).git_dir == inner / ".git", "a folder that the larger repository ignores gets its own"


def test_a_linked_worktree_commits_on_its_own_branch(vault: Vault, tmp_path: Path) -> None:
    vault.add(b"one")
    vault.git("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
    second = Vault(tmp_path / "second", History(tmp_path / "second"))
    assert (second.root / ".git").is_file()
    second.add(b"two")
    vault.add(b"three")
    assert second.subjects() == ["add one", "add two"] and vault.subjects() == ["add one", "add three"]
    second.assert_clean()
    vault.assert_clean()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_foreign_owned_vault_waits_until_it_is_trusted_and_stays_its_owners(vault: Vault, bare_git: Path) -> None:
    vault.add(b"one")
    subprocess.run(["chown", "-R", "1234:1234", str(vault.root)], check=True)
    flushed = vault.history.commit([vault.draft(b"two")])
    assert flushed.waiting == 1 and "safe.directory" in (flushed.paused or "")
    bare_git.write_text(f"[safe]\n\tdirectory = {vault.root}\n")
    assert len(vault.history.flush().commits) == 1
    vault.add(b"three", PurePosixPath("new/folder/note.md"))
    roots = [path for path in vault.root.rglob("*") if path.lstat().st_uid == 0]
    assert roots == [], "what root makes in a person's vault is the person's"
    vault.assert_clean()


@pytest.mark.parametrize("name", ["logs/HEAD", "logs/refs/heads/main", "logs/refs/heads", "logs"])
def test_a_reflog_that_becomes_a_link_meanwhile_is_not_followed(vault: Vault, tmp_path: Path, name: str) -> None:
    """Whoever owns a vault in which root is at work may swap it at any moment."""
    vault.add(b"one")
    outside = tmp_path / "outside"
    place = vault.history.git_dir / name

    def swap(step: str) -> None:
        if step == "branch locked":
            place.rename(outside)
            place.symlink_to(outside)
            before.update(contents(outside))

    before: dict[Path, bytes] = {}
    flushed = History(vault.root, step=swap).commit([vault.draft(b"two")])
    assert flushed.waiting == 1 and "is a link" in (flushed.paused or "")
    assert before and contents(outside) == before
    place.unlink()
    outside.rename(place)
    vault.history.flush()
    assert vault.subjects() == ["add one", "add two"]
    vault.assert_clean()


def contents(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (place, *place.rglob("*")) if path.is_file()}


def test_an_object_is_not_written_through_a_link(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    name = object_id("blob", b"hello\n")
    planted = vault.history.git_dir / "objects" / name[:2] / f"tmp_obj_{os.getpid()}_{name[2:12]}"
    planted.parent.mkdir()
    planted.symlink_to(tmp_path / "victim")
    vault.add(b"hello", PurePosixPath("notes/new.md"))
    assert (tmp_path / "victim").read_text() == "mine"
    vault.assert_clean()


def test_a_packed_repository_is_read(vault: Vault) -> None:
    vault.add(b"one")
    for number in range(5):
        vault.add(b"line %d" % number)
    vault.git("gc", "-q", "--prune=now")
    assert not list((vault.history.git_dir / "objects").glob("[0-9a-f][0-9a-f]/*"))
    fresh = Vault(vault.root, History(vault.root))
    assert fresh.history.blob(USER, "HEAD~5") == b"one\n"
    fresh.add(b"after")
    vault.add(b"and again")
    vault.assert_clean()


def test_uncommitted_in_all_its_shapes(vault: Vault) -> None:
    vault.write(b"*.log\n", PurePosixPath(".gitignore"))
    vault.add(b"one")
    vault.add(b"gone", OTHER)
    (vault.root / OTHER).unlink()
    vault.write(b"one\nmore\n")
    vault.write(b"x\n", PurePosixPath("x.log"))
    vault.write(b"new\n", PurePosixPath("new.md"))
    vault.write(b"torn", PurePosixPath(".new.md.1-1.vault-memory.tmp"))
    (vault.root / "link.md").symlink_to("new.md")
    expected = {
        FileChange(PurePosixPath(".gitignore"), None, b"*.log\n"),
        FileChange(USER, b"one\n", b"one\nmore\n"),
        FileChange(OTHER, b"gone\n", None),
        FileChange(PurePosixPath("new.md"), None, b"new\n"),
    }
    assert set(vault.history.uncommitted()) == expected
    named = [change.path for change in expected] + [PurePosixPath("x.log"), PurePosixPath("link.md")]
    assert set(vault.history.uncommitted(named)) == expected
    names = [PurePosixPath("x.log"), PurePosixPath("new.md")]
    assert [vault.history.working_tree.is_ignored(name) for name in names] == [True, False]
    vault.history.commit([Draft("by hand", PERSON, tuple(expected))])
    assert vault.history.uncommitted() == []


def test_hundreds_of_new_files_that_are_named_are_judged_by_one_process(vault: Vault) -> None:
    vault.add(b"one")
    vault.write(b"*.log\n", PurePosixPath(".gitignore"))
    notes = [PurePosixPath(f"dropped/{number}.md") for number in range(300)]
    for path in [*notes, PurePosixPath("dropped/x.log")]:
        vault.write(b"words\n", path)
    before = os.times()
    edits = vault.history.uncommitted([*notes, PurePosixPath("dropped/x.log")])
    after = os.times()
    assert [edit.path for edit in edits] == notes
    assert after.children_user + after.children_system - before.children_user - before.children_system < 0.2


def test_our_waiting_text_is_never_the_persons_edit(vault: Vault) -> None:
    vault.add(b"one")
    vault.git("checkout", "-q", "--detach")
    vault.history.commit([vault.draft(b"ours")])
    assert vault.history.uncommitted() == [] == vault.history.uncommitted([USER])
    vault.write(b"one\nours\ntheirs\n")
    edit = FileChange(USER, b"one\nours\n", b"one\nours\ntheirs\n")
    assert vault.history.uncommitted() == [edit] == vault.history.uncommitted([USER])
    vault.history.commit([Draft("by hand", PERSON, (edit,))])
    vault.git("checkout", "-q", "main")
    vault.history.flush()
    assert vault.authors() == {"add one": "vault-memory", "add ours": "vault-memory", "by hand": PERSON.name}
    vault.assert_clean()


@pytest.mark.parametrize("setting", ["true", "input"])
def test_autocrlf_makes_neither_noise_nor_edits(vault: Vault, setting: str) -> None:
    vault.git("config", "core.autocrlf", setting)
    vault.write(b"one\r\ntwo\r\n")
    vault.git("add", ".")
    vault.git("commit", "-qm", "first")
    assert vault.git("show", f"HEAD:{USER}") == "one\ntwo\n"
    assert vault.history.uncommitted([USER]) == [] == vault.history.uncommitted()
    vault.history.commit([Draft("add", ASSISTANT, (FileChange(USER, b"one\r\ntwo\r\n", b"one\r\ntwo\r\nthree\r\n"),))])
    assert vault.git("log", "--format=%s").split() == ["add", "first"], "no edit of the person's is made up"
    assert vault.git("show", "--numstat", "--format=", "HEAD").split()[:2] == ["1", "0"]
    assert vault.read() == b"one\r\ntwo\r\nthree\r\n"
    vault.assert_clean()


def test_a_filter_keeps_what_it_hides_hidden(vault: Vault) -> None:
    """Notes that a git filter encrypts must not be readable in history."""
    vault.git("config", "--global", "filter.secret.clean", "tr a-z n-za-m")
    vault.git("config", "--global", "filter.secret.smudge", "tr a-z n-za-m")
    vault.write(b"*.md filter=secret\n", PurePosixPath(".gitattributes"))
    vault.add(b"hello")
    assert vault.git("show", f"HEAD:{USER}") == "uryyb\n"
    assert vault.history.uncommitted([USER]) == []
    vault.add(b"again")
    assert vault.subjects() == ["add hello", "add again"]


@pytest.mark.parametrize(
    "settings",
    [
        ["index.version=4"],
        ["core.splitIndex=true"],
        ["core.untrackedCache=true"],
        ["index.threads=4"],
        ["feature.manyFiles=true"],
    ],
)
def test_an_index_of_another_kind_is_left_to_git(vault: Vault, settings: list[str]) -> None:
    for setting in settings:
        vault.git("config", *setting.split("="))
    for number in range(20):
        vault.write(b"x\n", PurePosixPath(f"n{number}.md"))
    vault.git("add", ".")
    vault.git("commit", "-qm", "first")
    vault.git("status")
    vault.git("update-index", "--force-write-index", ok=False)
    vault.add(b"one")
    vault.add(b"two")
    vault.assert_clean()
    vault.git("add", "-A")
    vault.write(b"staged\n", PurePosixPath("n1.md"))
    vault.git("add", "n1.md")
    assert vault.history.commit([vault.draft(b"x", PurePosixPath("n1.md"))]).waiting == 1
