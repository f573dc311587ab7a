"""Files that turns write, and that git leaves out (skip-worktree, sparse-checkout) or takes for unchanged: what is ours
is committed and merged, what the person keeps out of commits stays out, and nothing else waits for it."""

from __future__ import annotations

import pytest

from tests.services.sync.conftest import USER, Machine, git
from vault_memory.services.admin.status import status
from vault_memory.services.turns.record import record_turn

pytestmark = pytest.mark.slow


def flag_of(machine: Machine, name: str = USER) -> str:
    return git(machine.root, "ls-files", "-v", name).split()[0]


@pytest.mark.parametrize(
    ("flag", "version", "shown"),
    [("--skip-worktree", 2, "S"), ("--assume-unchanged", 2, "h"), ("--skip-worktree", 4, "S")],
)
def test_turns_and_merges_change_the_file_and_leave_its_flag(
    one: Machine, two: Machine, flag: str, version: int, shown: str
) -> None:
    git(two.root, "update-index", f"--index-version={version}")
    git(two.root, "update-index", flag, USER)
    record_turn(one.vault, "alice", "以後請叫我小安")
    one.sync()
    assert record_turn(two.vault, "alice", "我喜歡暗色主題").paused is None
    assert two.sync().notes == () and flag_of(two) == shown
    assert "小安" in two.read(USER) and two.theme() == "dark"
    assert git(two.root, "show", f"HEAD:{USER}") == two.read(USER)
    assert record_turn(two.vault, "alice", "我喜歡淺色主題").paused is None
    two.sync()
    two.assert_clean()
    assert one.sync().notes == () and one.theme() == "light"


def test_what_the_person_keeps_out_of_commits_stays_out_and_waits_alone(one: Machine, two: Machine) -> None:
    git(two.root, "update-index", "--skip-worktree", USER)
    two.write(USER, two.read(USER) + "\nmine alone\n")
    record_turn(one.vault, "alice", "以後請叫我小安")
    record_turn(one.vault, "bob", "我喜歡暗色主題")
    one.sync()
    command = f"git update-index --no-skip-worktree {USER}"
    assert f"`{command}`" in (record_turn(two.vault, "alice", "我喜歡暗色主題").paused or "")
    assert any(f"`{command}`" in line for line in status(two.vault).unhealthy)
    two.write("memory/alice/notes/new.md", "# new\n")
    notes = two.sync().notes
    assert any(f"`{command}`" in line for line in notes), notes
    assert "dark" in two.read("memory/bob/USER.md")
    assert all(words in two.read(USER) for words in ("dark", "小安", "mine alone")), "on the disk it is merged"
    one.sync()
    assert one.read("memory/alice/notes/new.md") == "# new\n" and "mine alone" not in git(
        two.root, "log", "-p", "--all"
    )
    git(two.root, *command.split()[1:])
    two.sync()  # ours, which waited
    two.sync()  # what the person wrote below it
    two.assert_clean()
    assert all(words in two.read(USER) for words in ("dark", "小安", "mine alone")) and not status(two.vault).withheld
    assert two.read(USER).count("小安") == 1
    assert git(two.root, "log", "-1", "--format=%an", "-S", "mine alone", "--", USER).strip() != "vault-memory"


def test_a_user_who_is_not_on_this_disk_loses_nothing_by_a_turn(one: Machine, two: Machine) -> None:
    profile = two.read(USER)
    git(two.root, "sparse-checkout", "set", "--no-cone", "/*", "!/memory/alice/USER.md")
    assert not (two.root / USER).exists()
    record_turn(one.vault, "bob", "我喜歡暗色主題")
    one.sync()
    recorded = record_turn(two.vault, "alice", "我喜歡暗色主題")
    command = f"git update-index --no-skip-worktree {USER}`, then `git checkout HEAD -- {USER}"
    assert f"`{command}`" in (recorded.paused or "") and not (two.root / USER).exists()
    assert two.sync().notes == () and "dark" in two.read("memory/bob/USER.md")
    two.assert_clean()
    for words in command.split("`, then `"):
        git(two.root, *words.split()[1:])
    assert two.read(USER) == profile and record_turn(two.vault, "alice", "我喜歡暗色主題").paused is None
    two.sync()
    two.assert_clean()
