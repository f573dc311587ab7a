"""A remote changes a file with edits here that are in no commit: what came is merged below them, and syncs go on."""

from __future__ import annotations

import pytest

from tests.services.sync.conftest import USER, Machine, git
from vault_memory.core.notes.note import conflicts_in
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import HistoryError
from vault_memory.services.admin.status import status
from vault_memory.services.profiles.preferences import set_preference

pytestmark = pytest.mark.slow

IDEA = "memory/alice/notes/idea.md"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def in_commits(machine: Machine, name: str) -> str:
    return git(machine.root, "show", f"HEAD:{name}")


def unstaged(machine: Machine) -> list[str]:
    return git(machine.root, "status", "--porcelain").splitlines()


def test_syncs_go_on_around_a_file_that_is_withheld(one: Machine, two: Machine) -> None:
    """Its text here stays an edit, with what came in it; when it is mended, the commit takes nothing back."""
    one.edit(IDEA, "three", "THREE")
    one.write("memory/alice/notes/other.md", "of the remote\n")
    one.sync()
    two.edit(IDEA, "one", f"token {KEY}")
    done = two.sync()
    assert done.received > 0 and any(IDEA in line and "no commit" in line for line in done.notes)
    assert two.read(IDEA) == f"# 想法\n\ntoken {KEY}\ntwo\nTHREE\n"
    assert in_commits(two, IDEA) == "# 想法\n\none\ntwo\nTHREE\n" and two.read("memory/alice/notes/other.md")
    assert unstaged(two) == [f" M {IDEA}"] and [held.path for held in status(two.vault).withheld] == [IDEA]
    assert KEY not in git(two.root, "log", "-p", "--all") and two.vault.history.state().waiting == 0

    one.write("memory/alice/notes/more.md", "more\n")
    one.sync()
    assert two.sync().received > 0 and two.read("memory/alice/notes/more.md") == "more\n", "the next one goes on"
    two.edit(IDEA, f"token {KEY}", "ONE")
    two.sync()
    one.sync()
    assert one.read(IDEA) == "# 想法\n\nONE\ntwo\nTHREE\n"
    one.assert_clean()
    two.assert_clean()


def test_what_the_remote_adds_to_a_withheld_note_does_not_let_it_out(one: Machine, two: Machine) -> None:
    """With a NUL the note counted as binary, and a name in a commit was no new line: the secret was pushed."""
    secret = "Tr0ub4dor&3xyz"
    one.write(IDEA, one.read(IDEA) + "## password\n\nxy\0z")
    one.sync()
    two.edit(IDEA, "one", f"## password\n\n{secret}")
    two.sync()
    two.sync()
    assert "xy\0z" in two.read(IDEA) and "xy\0z" in in_commits(two, IDEA)
    assert secret not in git(two.root, "log", "-p", "--text", "--all")
    assert [held.path for held in status(two.vault).withheld] == [IDEA]


def test_both_sides_have_commits_of_the_withheld_file_and_values_of_one_key(one: Machine, two: Machine) -> None:
    set_preference(one.vault, "alice", "theme", "light")
    one.sync()
    set_preference(two.vault, "alice", "theme", "dark")
    two.write(USER, two.read(USER) + f"\nmy token {KEY}\n")
    two.sync()
    assert Profile.parse(in_commits(two, USER)).get("theme") == two.theme() == "dark" and KEY in two.read(USER)
    assert KEY not in in_commits(two, USER) and status(two.vault).decided
    one.sync()
    assert one.theme() == "dark" and two.sync().received == 0


def test_a_file_with_marks_of_a_conflict_and_one_that_cannot_be_merged(one: Machine, two: Machine) -> None:
    """What came for a canvas stands beside it: a later commit of the edits replaces it knowingly."""
    one.write("notes/plan.canvas", '{"nodes": []}\n')
    one.sync()
    two.sync()
    one.edit(IDEA, "three", "THREE")
    one.write("notes/plan.canvas", '{"nodes": [1]}\n')
    one.sync()
    marks = "# 想法\n\n<<<<<<< Updated\none\n=======\nuno\n>>>>>>> Stashed\ntwo\nthree\n"
    two.write(IDEA, marks)
    two.write("notes/plan.canvas", f'{{"nodes": [], "password": "{KEY}"}}\n')
    done = two.sync()
    assert two.read(IDEA) == marks.replace("three", "THREE") and len(status(two.vault).withheld) == 2
    assert KEY in two.read("notes/plan.canvas") and in_commits(two, "notes/plan.canvas") == '{"nodes": [1]}\n'
    (copy,) = two.root.glob("notes/plan (conflict *.canvas")
    assert copy.read_text() == '{"nodes": [1]}\n' and any(f"notes/{copy.name}" in line for line in done.notes)
    two.sync()
    assert len([*two.root.glob("notes/plan (conflict *.canvas")]) == 1


def test_the_remote_changed_or_deleted_the_lines_that_hold_the_edit(one: Machine, two: Machine) -> None:
    one.edit(IDEA, "one", "first")
    one.sync()
    two.edit(IDEA, "one", f"token {KEY}")
    two.sync()
    assert in_commits(two, IDEA) == "# 想法\n\nfirst\ntwo\nthree\n"
    text = two.read(IDEA)
    assert conflicts_in(text) and KEY in text and "first" in text
    (one.root / IDEA).unlink()
    one.sync()
    done = two.sync()
    assert any(IDEA in line and "kept" in line for line in done.notes) and two.read(IDEA) == text
    assert unstaged(two) == ["?? memory/alice/notes/"] and two.sync().received == 0


def test_a_staged_file_stops_a_sync_before_it_changes_anything(one: Machine, two: Machine) -> None:
    """Merged below it, the staged text would take back what came, as soon as the person commits it."""
    one.edit(IDEA, "three", "THREE")
    one.write("memory/alice/notes/other.md", "of the remote\n")
    one.sync()
    two.edit(IDEA, "one", "ONE")
    git(two.root, "add", IDEA)
    two.edit(IDEA, "two", "TWO")
    before = git(two.root, "rev-parse", "HEAD"), unstaged(two), two.read(IDEA)
    for _ in range(2):
        with pytest.raises(HistoryError, match=rf"{IDEA} is staged(.|\n)*`git restore --staged {IDEA}`"):
            two.sync()
        assert before == (git(two.root, "rev-parse", "HEAD"), unstaged(two), two.read(IDEA))
        assert two.vault.history.state().waiting == 0 and not (two.root / "memory/alice/notes/other.md").exists()
    git(two.root, "restore", "--staged", IDEA)
    two.sync()
    assert two.read(IDEA) == in_commits(two, IDEA) == "# 想法\n\nONE\nTWO\nTHREE\n"
