"""B3: recording mistakes: one note, one commit, behind every gate that memories have."""

from __future__ import annotations

import multiprocessing
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from tests.vaults import write
from vault_memory.core.mistakes import new_mistake
from vault_memory.errors import InvalidId, NotFound, UsageError
from vault_memory.services.admin import status
from vault_memory.services.memories import list_memories, statistics
from vault_memory.services.mistakes import get_mistake_patterns, list_mistakes, record_mistake, store_mistakes
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def home(vault: Vault) -> Home:
    return Home(vault)


def test_one_note_and_one_commit(vault: Vault, home: Home) -> None:
    before = len(home.log())
    mistake_id = record_mistake(
        *(vault, "alice", "沒有跑測試就部署", "deployment-error", "要先跑測試", "先在 staging 測", "登入壞了"),
        prevention_method="部署前看 CI",
        related_rule="deploy-checklist",
    )
    assert re.fullmatch(r"mistake_\d{13}_[0-9a-f]{8}", mistake_id)
    assert home.names("mistakes") == [f"{mistake_id}-沒有跑測試就部署.md"]
    (file,) = list_mistakes(vault, "alice")
    assert file.source == f"mistakes/2026-01/{mistake_id}-沒有跑測試就部署.md"
    assert file.mistake.as_dict() == {
        "id": mistake_id,
        "error_type": "deployment-error",
        "action": "沒有跑測試就部署",
        "user_correction": "要先跑測試",
        "correct_method": "先在 staging 測",
        "impact": "登入壞了",
        "prevention_method": "部署前看 CI",
        "related_rule": "deploy-checklist",
        "created_at": "2026-01-30T14:05:01+08:00",
        "metadata": {},
    }
    (entry, *rest) = home.log()
    assert len(rest) == before and entry.author == "vault-memory"
    assert entry.subject == "mistakes(alice): add deployment-error 沒有跑測試就部署"
    assert entry.trailers == {"Vault-User": "alice", "Vault-Mistake": mistake_id}
    assert home.is_clean() and mistake_id.noted.commits == (entry.commit,)
    assert pickle.loads(pickle.dumps(mistake_id)).noted == mistake_id.noted  # noqa: S301
    assert statistics(vault, "alice").mistakes == 1 and list_memories(vault, "alice") == []
    hits = search(vault, "alice", SearchQuery("部署", kinds=("mistake",))).hits
    assert hits and hits[0].source == file.source


def test_secrets_and_private_facts_stay_out(vault: Vault, home: Home) -> None:
    mistake_id = record_mistake(
        *(vault, "alice", "Put AKIAIOSFODNN7EXAMPLE into the code", "security", "我有糖尿病。不要放金鑰"),
        prevention_method="密碼：hunter2-Tunes",
    )
    note = list_mistakes(vault, "alice")[0]
    assert "AKIA" not in str(note) and "糖尿" not in str(note) and "hunter2" not in str(note) and "金鑰" in str(note)
    assert set(mistake_id.noted.redactions) == {"api-key", "health", "number"}
    assert b"AKIAIOSFODNN7" not in home.body(home.log()[0]).encode()
    with pytest.raises(UsageError, match="private"):
        record_mistake(vault, "alice", "我有糖尿病")
    assert len(home.names("mistakes")) == 1


def test_off_the_record_nothing_is_kept(vault: Vault, home: Home) -> None:
    quiet = replace(vault, config=replace(vault.config, off_record=["alice"]))
    assert record_mistake(quiet, "alice", "推錯分支") == ""
    assert home.names("mistakes") == [] and not vault.is_user("alice")


@pytest.mark.parametrize("user_id", ["../bob", "a/b", "", "con"])
def test_ids_are_checked(vault: Vault, user_id: str) -> None:
    with pytest.raises(InvalidId):
        record_mistake(vault, user_id, "x")


def test_no_name_leads_elsewhere(vault: Vault, home: Home) -> None:
    mistake_id = record_mistake(vault, "alice", "../../../bob/USER .md [[x|y]] #z\x00 " + "很" * 300, "../x")
    (name,) = home.names("mistakes")
    assert name.startswith(f"{mistake_id}-bob-user-md-x-y-z-") and len(name.encode()) < 255
    assert list_mistakes(vault, "alice")[0].mistake.error_type == "../x"


def test_made_again_it_is_recorded_again(vault: Vault, clock: Clock) -> None:
    first = record_mistake(vault, "alice", "沒跑測試就部署", "deploy", prevention_method="看 CI")
    clock.time += timedelta(days=40)
    second = record_mistake(vault, "alice", "没跑测试就部署", "Deploy", prevention_method="部署要兩個人")
    record_mistake(vault, "alice", "會議記錄寫太長", "misread")
    found = get_mistake_patterns(vault, "alice")
    assert [(each.error_type, each.count, each.trend) for each in found.by_type] == [
        ("Deploy", 2, "steady"),
        ("misread", 1, "rising"),
    ]
    (again,) = found.similar
    assert again.ids == (second, first) and again.prevention_method == "部署要兩個人"
    assert get_mistake_patterns(vault, "alice", error_type="DEPLOY").total == 2
    assert get_mistake_patterns(vault, "alice", like="deploy the site").total == 2
    assert [file.mistake.id for file in list_mistakes(vault, "alice", limit=1, offset=2)] == [first]
    with pytest.raises(NotFound):
        get_mistake_patterns(vault, "nobody")


def test_what_was_made_elsewhere_is_stored_once(vault: Vault, home: Home) -> None:
    """B8, as an import needs it: ids and times are kept, one commit, a second time adds nothing."""
    at = datetime(2024, 2, 3, 13, tzinfo=UTC)
    old = [new_mistake(f"mistake_{1706976000000 + n}_abc", f"mistake {n}", "x", at) for n in range(3)]
    private = new_mistake("mistake_1706976000009_abc", "我有糖尿病", "x", at)
    record_mistake(vault, "alice", "something else")
    before = len(home.log())
    done = store_mistakes(vault, "alice", [*old, old[0], private])
    assert done.ids == tuple(each.id for each in old) and "private" in done.refused[private.id]
    assert len(home.log()) == before + 1 and home.body(home.log()[0]).count("Vault-Mistake: ") == 3
    assert home.log()[0].subject == "mistakes(alice): add 3 mistakes"
    assert [file.mistake for file in list_mistakes(vault, "alice")][1:] == old[::-1]
    renamed = next((home.path / "mistakes/2024-02").glob("mistake_1706976000001*"))
    renamed.rename(home.path / "mistakes" / "沒有編號.md")
    again = store_mistakes(vault, "alice", old)
    assert again.ids == () and again.known == tuple(each.id for each in old)
    assert len(list_mistakes(vault, "alice")) == 4 and store_mistakes(vault, "alice", []).commits == ()


def test_a_persons_notes_count(vault: Vault, home: Home) -> None:
    record_mistake(vault, "alice", "推錯分支")
    write(vault, "alice", "mistakes/手寫.md", "發信前沒有看收件人\n\n## 預防\n\n先寄給自己\n")
    write(vault, "alice", "mistakes/壞的.md", "---\ncreated_at: maybe\n---\n刪錯檔案\n")
    write(vault, "alice", "archive/mistakes/old.md", "很久以前的事\n")
    assert {file.mistake.action for file in list_mistakes(vault, "alice")} == {
        *("推錯分支", "發信前沒有看收件人", "刪錯檔案"),
    }
    failed = status(vault, "alice").scopes[0].warned
    assert "created_at: 'maybe' is not a time" in failed["mistakes/壞的.md"]
    assert get_mistake_patterns(vault, "alice").total == 3


def test_one_user_never_sees_anothers(vault: Vault) -> None:
    record_mistake(vault, "alice", "推錯分支")
    record_mistake(vault, "bob", "刪錯檔案")
    assert [file.mistake.action for file in list_mistakes(vault, "bob")] == ["刪錯檔案"]


def _record(root: Path) -> str:
    return str(record_mistake(open_vault(root), "alice", "推錯分支"))


@pytest.mark.slow
def test_ten_processes_at_once(vault: Vault, home: Home) -> None:
    with ProcessPoolExecutor(10, multiprocessing.get_context("spawn")) as pool:
        ids = {*pool.map(_record, [vault.root] * 10)}
    assert len(ids) == 10 == len(home.names("mistakes")) and home.is_clean()
    assert get_mistake_patterns(vault, "alice").similar[0].count == 10
