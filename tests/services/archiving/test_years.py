"""MEMORY.md and feedback.jsonl rotate when their year is over, by one commit, and nothing that counts changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import TAIPEI, Clock
from tests.services.archiving.conftest import Home, archived
from tests.services.test_person_edits import git, subjects
from tests.vaults import write
from vault_memory.core.notes import note
from vault_memory.core.profile import Signal, counts_in, newest_rows
from vault_memory.errors import VaultMemoryError
from vault_memory.services.admin import doctor, status
from vault_memory.services.archiving import Step, planned_steps
from vault_memory.services.profiles import compute_interaction, list_preferences, list_suggestions
from vault_memory.services.profiles.evidence import all_evidence
from vault_memory.services.profiles.profile_files import ProfileFiles
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import record_turn, update_memory
from vault_memory.services.vault import Vault

DECEMBER = datetime(2025, 12, 20, 9, tzinfo=TAIPEI)
LONG = "好" * 120


def turn(vault: Vault, message: str, at: datetime, reply: str = "好的。") -> None:
    record_turn(vault, "alice", message, reply, created_at=at)


def moved(steps: list[Step]) -> dict[str, int]:
    return {step.path.name: step.count for step in steps if step.kind == "move"}


def read(vault: Vault, source: str) -> str:
    path = vault.root / "memory/alice" / source
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_entries_of_earlier_years_move_by_one_commit_and_are_found(vault: Vault, home: Home) -> None:
    """A9, A17: the archive's MEMORY-2025.md is a memory log like the other."""
    turn(vault, "寫一個排序函式", DECEMBER, LONG)
    turn(vault, "改暗色主題", DECEMBER + timedelta(days=1))
    turn(vault, "部署登入頁", datetime(2026, 1, 5, 9, tzinfo=TAIPEI), LONG)
    vault.history.flush()
    evidence, before = all_evidence(vault, "alice"), len(subjects(vault))
    assert moved(planned_steps(vault, "alice")) == {"MEMORY-2025.md": 1, "feedback-2025.jsonl": 1}
    assert moved(archived(vault)) == {"MEMORY-2025.md": 1, "feedback-2025.jsonl": 1}
    assert subjects(vault)[: len(subjects(vault)) - before] == ["archive(alice): logs of earlier years"]
    assert git(vault, "log", "-1", "--format=%an", "--name-only", "--no-renames").split() == [
        "vault-memory",
        *(f"memory/alice/{name}" for name in ("MEMORY.md", "archive/MEMORY-2025.md", "archive/feedback-2025.jsonl")),
        "memory/alice/feedback.jsonl",
    ]
    assert read(vault, "archive/MEMORY-2025.md") == (
        "# 長期記憶 2025\n\n## 2025-12-20 09:00\n- 任務：寫一個排序函式\n- 結果：完成\n"
    )
    assert read(vault, "MEMORY.md") == "# 長期記憶\n\n## 2026-01-05 09:00\n- 任務：部署登入頁\n- 結果：完成\n"
    assert not (home.path / "feedback.jsonl").exists() and all_evidence(vault, "alice") == evidence
    (hit,) = search(vault, "alice", SearchQuery("排序函式", kinds=("memory-log",))).hits
    assert hit.source == "archive/MEMORY-2025.md" and hit.line_range[0] <= 4 <= hit.line_range[1]
    assert git(vault, "status", "--porcelain") == "" and moved(archived(vault)) == {}
    turn(vault, "再一次", datetime(2026, 1, 6, 9, tzinfo=TAIPEI), LONG)
    assert read(vault, "MEMORY.md").count("## 2026") == 2


def test_three_times_over_new_year_make_a_strong_preference(vault: Vault, clock: Clock) -> None:
    """A13: 暗色 twice in the old year, once in the new one; and `suggested_default` stays when that rotates, too."""
    turn(vault, "改暗色主題", DECEMBER)
    turn(vault, "換成暗色主題吧", DECEMBER + timedelta(days=1))
    archived(vault)
    turn(vault, "請改成暗色主題", datetime(2026, 1, 20, 9, tzinfo=TAIPEI))
    (theme,) = [each for each in list_preferences(vault, "alice") if each.key == "theme"]
    assert theme.strong and read(vault, "feedback.jsonl").count("\n") == 1
    clock.time = datetime(2027, 1, 5, 3, tzinfo=TAIPEI)
    assert moved(archived(vault)) == {"feedback-2026.jsonl": 1}
    turn(vault, "改成亮色", clock.time)
    (theme,) = [each for each in list_preferences(vault, "alice") if each.key == "theme"]
    assert theme.value == "dark" and not theme.strong, "one was taken from the count of three"


def test_what_a_turn_takes_back_and_what_waits_survive_a_rotation(vault: Vault) -> None:
    turn(vault, "I prefer dark mode", DECEMBER)
    (home := vault.root / "memory/alice/feedback.jsonl").write_bytes(
        home.read_bytes()
        + b'{"key": "response_style", "op": "set", "value": "concise", "strength": "adjustment", "applied": false, '
        b'"suggestion": "open", "conversation": "", "quote": "x", "source": "conversations/2025-12-20.jsonl:1", '
        b'"created_at": "2025-12-20T10:00:00+08:00"}\n'
    )
    waiting = list_suggestions(vault, "alice")
    assert [each.value for each in waiting] == ["concise"]
    archived(vault)
    assert list_suggestions(vault, "alice") == waiting
    state = ProfileFiles.read(vault, "alice", vault.now())
    (row,) = state.evidence_of("conversations/2025-12-20.jsonl:1")
    assert row.key == "theme"
    reversed_ = state.reversed("conversations/2025-12-20.jsonl:1", DECEMBER)
    assert reversed_ == [Signal("theme", "remove", "dark", "explicit")]


def test_topics_of_both_years_are_one_history(vault: Vault, clock: Clock) -> None:
    for day in range(3):
        turn(vault, "什麼是閉包", datetime(2025, 12, 30, 9, tzinfo=TAIPEI) + timedelta(days=day * 2))
    archived(vault)
    compute_interaction(vault, "alice")
    assert "common_issues" in {each.key for each in list_preferences(vault, "alice")}


def test_a_year_is_over_a_day_after_its_end(vault: Vault, clock: Clock) -> None:
    """What a program reports after midnight of a task of New Year's Eve is still added to its entry."""
    turn(vault, "寫一個排序函式", datetime(2025, 12, 31, 23, 58, tzinfo=TAIPEI), LONG)
    clock.time = datetime(2026, 1, 1, 0, 2, tzinfo=TAIPEI)
    assert moved(archived(vault)) == {}
    assert update_memory(vault, "alice", "- 任務：寫一個排序函式\n- 結果：成功")
    assert read(vault, "MEMORY.md").count("## ") == 1 and "成功" in read(vault, "MEMORY.md")
    clock.time = datetime(2026, 1, 2, 3, tzinfo=TAIPEI)
    assert moved(archived(vault)) == {"MEMORY-2025.md": 1}


def test_a_late_entry_joins_the_others_of_its_year(vault: Vault) -> None:
    turn(vault, "第一件", DECEMBER, LONG)
    archived(vault)
    turn(vault, "第二件", DECEMBER + timedelta(hours=1), LONG)
    assert moved(archived(vault)) == {"MEMORY-2025.md": 1}
    text = read(vault, "archive/MEMORY-2025.md")
    assert text.index("第一件") < text.index("第二件") and text.count("# 長期記憶") == 1
    assert read(vault, "MEMORY.md") == "# 長期記憶\n"


def test_a_persons_edit_is_committed_first_and_a_secret_stays_where_it_is(vault: Vault, home: Home) -> None:
    turn(vault, "第一件", DECEMBER, LONG)
    write(vault, "alice", "MEMORY.md", read(vault, "MEMORY.md") + "\nmy note below it\n")
    archived(vault)
    assert "my note below it" in read(vault, "archive/MEMORY-2025.md")
    assert any(subject.startswith("edit 長期記憶") for subject in subjects(vault))
    turn(vault, "第二件", DECEMBER + timedelta(hours=1), LONG)
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    write(vault, "alice", "MEMORY.md", read(vault, "MEMORY.md") + f"\ntoken: {secret}\n")
    before = read(vault, "archive/MEMORY-2025.md")
    with pytest.raises(VaultMemoryError, match=r"MEMORY-2025\.md would hold what looks like a secret, line 13"):
        archived(vault)
    assert read(vault, "archive/MEMORY-2025.md") == before and secret in read(vault, "MEMORY.md")


def test_undecided_conflicts_and_a_rebase_are_waited_for(vault: Vault) -> None:
    turn(vault, "第一件", DECEMBER, LONG)
    git(vault, "checkout", "-q", "--detach")
    with pytest.raises(VaultMemoryError, match="HEAD is detached"):
        archived(vault)
    git(vault, "switch", "-q", "main")
    text = read(vault, "MEMORY.md")
    write(vault, "alice", "MEMORY.md", text + "".join(note.conflict_block(["- a\n"], ["- b\n"])))
    assert not [step for step in planned_steps(vault, "alice") if step.path.name == "MEMORY-2025.md"]


def test_doctor_names_a_line_of_the_archive_that_is_no_evidence(vault: Vault) -> None:
    turn(vault, "改暗色主題", DECEMBER)
    archived(vault)
    write(vault, "alice", "archive/feedback-2025.jsonl", "no evidence\n")
    (finding,) = [each for each in doctor(vault) if each.name == "evidence"]
    assert "memory/alice/archive/feedback-2025.jsonl, line 1" in finding.message


def test_the_archive_counts_for_no_limit(vault: Vault) -> None:
    """A14: of a user's own files, those in git; one limit and one message, in status and doctor. A picture is one."""
    turn(vault, "改暗色主題", DECEMBER)
    write(vault, "alice", "archive/old.md", "x" * 9_000_000)
    write(vault, "alice", "conversations/2026-01-01.jsonl", "x" * 9_000_000)
    vault.path("", "big.md").write_text("x" * 9_000_000)
    assert not [line for line in status(vault).degraded if "10 MB" in line]
    write(vault, "alice", "plan.png", "x" * 9_000_000)
    (line,) = [line for line in status(vault).degraded if "10 MB" in line]
    assert line.startswith("memory/alice: 9.0 MB of files, without archive and conversations, are above 8 MB (")
    assert not [line for line in status(vault).unhealthy if "MB" in line], "it is told, and all works"
    (finding,) = [each for each in doctor(vault) if each.name == "sizes"]
    assert finding.ok and finding.message == line


SAID = st.sampled_from(
    ["改暗色主題", "換成亮色主題吧", "我平常都用 Docker", "我已經不用 Docker 了，把它刪掉", "以後回答都簡短一點"]
)


@pytest.mark.slow
@given(
    said=st.lists(st.tuples(SAID, st.integers(0, 900)), min_size=1, max_size=6), rotate_at=st.sets(st.integers(0, 5))
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_vault_that_rotates_learns_what_one_learns_that_never_does(
    make_vault: Callable[[], tuple[Vault, Clock]], said: list[tuple[str, int]], rotate_at: set[int]
) -> None:
    """A13, A17: values, strong marks, counts and what waits are the same."""
    seen = []
    for rotates in (True, False):
        vault, clock = make_vault()
        for number, (message, day) in enumerate(sorted(said, key=lambda each: each[1])):
            clock.time = datetime(2024, 6, 1, 9, tzinfo=TAIPEI) + timedelta(days=day, minutes=number)
            record_turn(vault, "alice", message, LONG, created_at=clock.time, conversation_id="c")
            if rotates and number in rotate_at:
                archived(vault)
        rows = [*newest_rows(all_evidence(vault, "alice"), b'"key"')]
        seen.append((list_preferences(vault, "alice"), counts_in(rows), list_suggestions(vault, "alice"), rows))
        assert not status(vault, "alice").scopes[0].failed
    assert seen[0] == seen[1]
