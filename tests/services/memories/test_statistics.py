"""B9: how much the stores hold, and what this process has added."""

from __future__ import annotations

from datetime import timedelta

from tests.conftest import Clock
from tests.vaults import write
from vault_memory.services.admin import status
from vault_memory.services.memories import remember, session, statistics, store_memory
from vault_memory.services.turns import record_turn, update_memory
from vault_memory.services.vault import Vault

LONG = "先看 rewrites，再看環境變數，最後看部署的紀錄。" * 8


def test_totals_of_the_stores(vault: Vault, clock: Clock) -> None:
    """B9: memories by type, entities, mistakes; what is past counts apart, what is archived is no entity any more."""
    store_memory(vault, "alice", "tea is nice", "fact")
    clock.time += timedelta(days=9)
    store_memory(vault, "alice", "the car is red", "lesson")
    remember(vault, "alice", "Bob may deploy")
    write(vault, "alice", "entities/Redis.md", "---\ntype: technology\n---\n")
    write(vault, "alice", "archive/entities/Old.md", "---\ntype: technology\n---\n")
    write(vault, "alice", "mistakes/m1.md", "---\nerror_type: x\n---\n")
    found = statistics(vault, "alice").as_dict()
    assert found == {
        "memories": 2,
        "byType": {"fact": 1, "lesson": 1},
        "permanent": 1,
        "past": 1,
        "capacity": 5_000,
        "entities": 1,
        "mistakes": 1,
        "memoriesCreated": 3,
        "tasksCompleted": 0,
    }


def test_the_session_is_of_this_process_vault_and_user(vault: Vault) -> None:
    """B9: `memoriesCreated`, `tasksCompleted`: of a user, and of all; another user does not see them."""
    remember(vault, "alice", "tea is nice")
    remember(vault, "bob", "the car is red")
    record_turn(vault, "alice", "怎麼部署", LONG, exit_code=0)
    record_turn(vault, "alice", "怎麼測試", LONG, exit_code=1)
    record_turn(vault, "alice", "怎麼登入", "short")
    assert session(vault, "alice").as_dict() == {"memoriesCreated": 1, "tasksCompleted": 1}
    assert session(vault, "bob").as_dict() == {"memoriesCreated": 1, "tasksCompleted": 0}
    assert session(vault).as_dict() == {"memoriesCreated": 2, "tasksCompleted": 1} == status(vault).session.as_dict()


def test_a_task_counts_once_however_it_is_told(vault: Vault) -> None:
    """The turn makes the entry, the program says how it ended; a failure takes it back."""
    record_turn(vault, "alice", "怎麼部署", LONG)
    assert session(vault, "alice").tasks_completed == 1
    update_memory(vault, "alice", "- 任務：怎麼部署\n- 結果：成功\n")
    assert session(vault, "alice").tasks_completed == 1
    update_memory(vault, "alice", "- 任務：another\n- 結果：成功\n")
    assert session(vault, "alice").tasks_completed == 2
    record_turn(vault, "alice", "how to deploy", LONG)
    update_memory(vault, "alice", "- 任務：how to deploy\n- 結果：失敗\n")
    assert session(vault, "alice").tasks_completed == 2
