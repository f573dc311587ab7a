"""Users, and ids that pass from one person to another: nothing of the first person reaches the second."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from vault_memory.adapters import git
from vault_memory.core import layout
from vault_memory.errors import HistoryError, InvalidId, NotFound, Unauthenticated, UsageError
from vault_memory.services.admin.access import caller_of, new_user_token
from vault_memory.services.admin.users import User, rename_user, users
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.profiles.history import history
from vault_memory.services.profiles.preferences import list_preferences, restore_preference, set_preference
from vault_memory.services.turns import learn_waiting, record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import Vault


def changes(vault: Vault, user_id: str, key: str | None = None, limit: int = 20) -> list[tuple[str, str]]:
    return [(change.key, change.new) for change in history(vault, user_id, key, limit=limit)]


def test_history_follows_the_person_and_not_the_id(vault: Vault) -> None:
    """Walls, G4: under her new id `an` keeps the history she made as `alice`; the next `alice` begins without one."""
    set_preference(vault, "alice", "theme", "dark")
    rename_user(vault, "alice", "an")
    set_preference(vault, "an", "code_style", "with_comments")
    set_preference(vault, "alice", "theme", "light")
    set_preference(vault, "alice", "examples", "with_examples")
    assert changes(vault, "an") == [("code_style", "with_comments"), ("theme", "dark")]
    assert changes(vault, "alice") == [("examples", "with_examples"), ("theme", "light")]
    assert changes(vault, "an", "theme") == [("theme", "dark")]
    assert changes(vault, "an", limit=1) == [("code_style", "with_comments")]


def test_history_through_several_renamings_with_one_id_twice(vault: Vault) -> None:
    set_preference(vault, "alice", "theme", "dark")
    rename_user(vault, "alice", "an")
    set_preference(vault, "bob", "theme", "light")
    rename_user(vault, "bob", "alice")
    set_preference(vault, "alice", "examples", "with_examples")
    rename_user(vault, "an", "ann")
    assert changes(vault, "alice") == [("examples", "with_examples"), ("theme", "light")]
    assert changes(vault, "ann") == [("theme", "dark")]


@pytest.mark.parametrize("comes_by", ["renaming", "a first word"])
def test_what_is_restored_is_the_persons_own(vault: Vault, comes_by: str) -> None:
    """G4, walls: a commit of her earlier id serves her still, and serves nobody who has that id by now."""
    set_preference(vault, "alice", "theme", "dark")
    dark = history(vault, "alice")[0].commit
    rename_user(vault, "alice", "an")
    set_preference(vault, "an", "theme", "light")
    if comes_by == "renaming":
        set_preference(vault, "pat", "examples", "with_examples")
        rename_user(vault, "pat", "alice")
    else:
        set_preference(vault, "alice", "examples", "with_examples")
    with pytest.raises(NotFound, match="had no USER.md"):
        restore_preference(vault, "alice", "theme", dark)
    restore_preference(vault, "an", "theme", dark)
    assert [p.value for p in list_preferences(vault, "an") if p.key == "theme"] == ["dark"]
    with pytest.raises(NotFound):
        restore_preference(vault, "alice", "theme", "0123456789")


def test_what_was_learned_under_an_earlier_id_is_undone_to_what_was_before(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題", "好")
    record_turn(vault, "alice", "我改變主意了，以後都用亮色主題", "好")
    rename_user(vault, "alice", "an")
    undo(vault, "an")
    assert [p.value for p in list_preferences(vault, "an") if p.key == "theme"] == ["dark"]


def test_a_token_made_for_somebody_else_does_not_open_who_comes_to_that_id(vault: Vault) -> None:
    set_preference(vault, "alice", "theme", "dark")
    tokens = [new_user_token(vault, user_id) for user_id in ("alice", "zoe")]
    rename_user(vault, "alice", "zoe")
    for token in tokens:
        with pytest.raises(Unauthenticated):
            caller_of(vault, token)


def test_users_come_in_pages_and_one_bad_profile_hides_nobody(vault: Vault) -> None:
    for user_id in ("alice", "bob", "carol"):
        set_preference(vault, user_id, "display_name", user_id.upper())
    profile = vault.path("bob", layout.PROFILE)
    profile.unlink()
    profile.symlink_to(vault.path("alice", layout.PROFILE))
    assert users(vault) == [User("alice", "ALICE"), User("bob", ""), User("carol", "CAROL")]
    assert users(vault, "alice", 1) == [User("bob", "")]
    assert users(vault, "carol") == []


def test_a_user_with_a_withheld_file_keeps_the_id_and_the_file_is_named(vault: Vault) -> None:
    set_preference(vault, "alice", "theme", "dark")
    note = vault.root / "memory/alice/a.md"
    note.write_text("key: sk-proj-" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ" * 2 + "\n")
    with pytest.raises(UsageError, match="memory/alice/a.md.*line 1(.|\n)*git add"):
        rename_user(vault, "alice", "an")
    assert note.exists() and not (vault.root / "memory/an").exists()
    note.write_text("key: gone\n")
    rename_user(vault, "alice", "an")
    assert (vault.root / "memory/an/a.md").read_text() == "key: gone\n"


def test_files_that_go_through_a_filter_move_or_stop_the_renaming_before_it_begins(vault: Vault) -> None:
    """The folder had moved, and no commit was made: the check came with the write."""
    set_preference(vault, "alice", "theme", "dark")
    (vault.root / "memory/alice/a.md").write_text("tea\n")
    commit_person_edits(vault, "alice")
    (vault.root / ".git/info/attributes").write_text("memory/alice/a.md filter=upper\nmemory/an/a.md filter=gone\n")
    for name, path in (("upper", "memory/alice/a.md"), ("gone", "memory/an/a.md")):
        clean = (f"filter.{name}.clean", "tr a-z A-Z")
        git.run(vault.root, "config", *clean)
        with pytest.raises(HistoryError, match=f"{path} goes through the filter {name!r}.*trust"):
            rename_user(vault, "alice", "an")
        assert vault.user_ids() == ["alice"]
        git.run(vault.root, "config", "--global", *clean)
    (vault.root / ".git/info/attributes").write_text("memory/alice/a.md filter=upper\nmemory/an/a.md filter=upper\n")
    rename_user(vault, "alice", "an")
    assert vault.history.blob(PurePosixPath("memory/an/a.md")) == b"TEA\n"
    assert (vault.root / "memory/an/a.md").read_text() == "tea\n"


@pytest.mark.parametrize(
    ("source", "rule", "said"),
    [
        (".gitignore", "/memory/alice/diary.md", "ignored"),
        (".git/info/exclude", "**/alice/*.md\n!**/alice/[A-Z]*.md", "ignored"),
        (".gitattributes", "memory/alice/** filter=upper", "filter=upper"),
        (".git/info/attributes", "[attr]odd eol=crlf\nmemory/al*/diary.md odd", "eol=crlf"),
    ],
)
def test_a_rule_of_git_that_holds_for_the_old_id_alone_stops_the_renaming(
    vault: Vault, source: str, rule: str, said: str
) -> None:
    """What it kept out of git, or encrypted, was committed in the clear, and the next sync sent it."""
    git.run(vault.root, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
    set_preference(vault, "alice", "theme", "dark")
    with (vault.root / source).open("a") as rules:
        rules.write(f"\n{rule}\n")
    diary = vault.root / "memory/alice/diary.md"
    diary.write_text("tea\n")
    commit_person_edits(vault, None)
    before = vault.history.blob(PurePosixPath("memory/alice/diary.md"))
    with pytest.raises(UsageError) as refused:
        rename_user(vault, "alice", "an")
    line = (vault.root / source).read_text().split("\n").index(rule.split("\n")[-1 if "odd" in rule else 0]) + 1
    assert re.search(f"memory/alice/.*{said}.*{source}:{line}:.*memory/an/", str(refused.value))
    assert vault.user_ids() == ["alice"] and diary.exists()
    with (vault.root / source).open("a") as rules:
        rules.write(rule.replace("alice", "an").replace("al*", "an") + "\n")
    rename_user(vault, "alice", "an")
    commit_person_edits(vault, None)
    assert vault.history.blob(PurePosixPath("memory/an/diary.md")) == before


def test_the_rules_in_a_users_own_folder_move_along(vault: Vault) -> None:
    set_preference(vault, "alice", "theme", "dark")
    (vault.root / "memory/alice/.gitignore").write_text("diary.md\n")
    (vault.root / "memory/alice/.gitattributes").write_text("*.txt text eol=crlf\n")
    (vault.root / "memory/alice/diary.md").write_text("tea\n")
    (vault.root / "memory/alice/a.txt").write_bytes(b"tea\r\n")
    rename_user(vault, "alice", "an")
    assert commit_person_edits(vault, None) == 0
    assert vault.history.blob(PurePosixPath("memory/an/diary.md")) is None
    assert vault.history.blob(PurePosixPath("memory/an/a.txt")) == b"tea\n"


@pytest.mark.parametrize(
    "how", ["through a filter", "a new file", "gone from the index", "--assume-unchanged", "--skip-worktree"]
)
def test_a_staged_or_unseen_file_stops_the_renaming_before_it_begins(vault: Vault, how: str) -> None:
    """The folder had moved, and its commit waited for that file, or the file was to be committed under the old id."""
    set_preference(vault, "alice", "theme", "dark")
    note = vault.root / "memory/alice/a.md"
    if how != "a new file":
        note.write_text("tea\n")
        commit_person_edits(vault, "alice")
    if how == "through a filter":
        (vault.root / ".git/info/attributes").write_text("memory/*/a.md filter=upper\n")
        git.run(vault.root, "config", "--global", "filter.upper.clean", "tr a-z A-Z")
        git.run(vault.root, "add", "--renormalize", "memory/alice/a.md")
    elif how == "a new file":
        note.write_text("tea\n")
        git.run(vault.root, "add", "memory/alice/a.md")
    elif how == "gone from the index":
        git.run(vault.root, "rm", "--quiet", "--cached", "memory/alice/a.md")
    else:
        git.run(vault.root, "update-index", how, "memory/alice/a.md")
    if how == "--skip-worktree":
        note.unlink()  # as `git sparse-checkout` does
    with pytest.raises(HistoryError, match="memory/alice/a.md") as refused:
        rename_user(vault, "alice", "an")
    assert vault.user_ids() == ["alice"] and vault.history.state().waiting == 0
    steps = re.findall("`git ([^`]* [^`]*)`", str(refused.value))
    assert len(steps) == (2 if how == "--skip-worktree" else 1)
    for step in steps:
        git.run(vault.root, *step.split())
    if how == "through a filter":
        (vault.root / ".git/info/attributes").unlink()
    rename_user(vault, "alice", "an")
    assert vault.history.blob(PurePosixPath("memory/an/a.md")) == b"tea\n"


def test_while_commits_wait_nothing_is_undone_and_nobody_renamed(vault: Vault) -> None:
    """`undo` took back the last committed change, an older one; a renaming stopped when the folder had moved."""
    record_turn(vault, "alice", "我習慣用 Rust")
    git.run(vault.root, "checkout", "--quiet", "--detach")
    record_turn(vault, "alice", "我習慣用 Golang")
    profile = vault.root / "memory/alice/USER.md"
    before = profile.read_bytes()
    for change in (lambda: undo(vault, "alice"), lambda: rename_user(vault, "alice", "bob")):
        with pytest.raises(HistoryError, match="wait for their commits .*detached.* `vault-memory heartbeat"):
            change()
    assert profile.read_bytes() == before and vault.user_ids() == ["alice"]
    git.run(vault.root, "checkout", "--quiet", "main")
    with pytest.raises(HistoryError, match="learned from"):
        undo(vault, "alice")
    assert learn_waiting(vault, "alice") == 0
    assert [undo(vault, "alice").split()[0] for _ in range(2)] == ["undone:", "languages"]
    assert [each.value for each in list_preferences(vault, "alice") if each.key == "languages"] == ["Rust"]
    rename_user(vault, "alice", "bob")
    assert vault.user_ids() == ["bob"]


def test_an_id_that_no_commit_would_take_is_no_new_name(vault: Vault) -> None:
    record_turn(vault, "alice", "hi")
    with pytest.raises(InvalidId, match="would be in no commit"):
        rename_user(vault, "alice", "A123456789")
    assert vault.user_ids() == ["alice"]
