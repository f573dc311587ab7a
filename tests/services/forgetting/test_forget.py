"""Forgetting in a vault with real git, records, stores and an index; killed at every step, and on a full disk."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from vault_memory.adapters import git
from vault_memory.adapters.state import StateFolder
from vault_memory.core import layout
from vault_memory.core.forgetting import Sought
from vault_memory.errors import HistoryError, NotFound, UsageError, VaultMemoryError
from vault_memory.services.archiving import archive_user
from vault_memory.services.daemon import heartbeat
from vault_memory.services.distilling import end_conversation
from vault_memory.services.forgetting import Forgotten, finish_forgetting, forget, is_forgetting, prepare_forgetting
from vault_memory.services.learning import learning_profile, update_user
from vault_memory.services.notes import newest_turns, read_day, read_ended, turn_at
from vault_memory.services.profiles import list_preferences, list_suggestions, set_preference
from vault_memory.services.retrieval import SearchQuery, build_enhanced_prompt, search
from vault_memory.services.shortterm import load_recent_context
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault


def gone(vault: Vault, user_id: str = "alice", **wish: object) -> Forgotten:
    """Forget in two steps."""
    code = prepare_forgetting(vault, user_id, **wish).code  # type: ignore[arg-type]
    return forget(vault, user_id, code, **wish)  # type: ignore[arg-type]


def text_of(vault: Vault, user_id: str = "alice") -> str:
    """Every byte of a user's files, the index too, and of the state, as text."""
    folders = (vault.root / "memory" / user_id, vault.root / ".vault-memory")
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return "\n".join(f"{path.name}\n{path.read_bytes().decode('utf-8', 'replace')}" for path in found)


def values(vault: Vault) -> list[str]:
    return [f"{each.key}={each.value}" for each in list_preferences(vault, "alice")]


def test_what_had_been_replaced_is_recalled_again_and_that_is_told(vault: Vault) -> None:
    for each in ("I live in Leeds", "I moved to York", "I like tea", "I don't like tea anymore"):
        record_turn(vault, "alice", each)
    kept = gone(vault, text="York").kept
    assert [line for line in kept if "recalled again" in line and "i-live-in-leeds" in line] == [kept[-1]]
    assert not any("tea" in line for line in kept)


def test_no_byte_is_left_in_files_index_and_state(vault: Vault) -> None:
    """B6: the index is overwritten, the state holds no word, and what the chats were given is dropped."""
    record_turn(vault, "alice", "我喜歡芒果", "好", conversation_id="talk")
    record_turn(vault, "alice", "I use Docker", "ok", conversation_id="talk")
    injected = StateFolder(vault.root, "injected/alice")
    injected.file("0" * 32).write({"messages": {"x": ["我喜歡芒果", "", 0, 0]}})
    end_conversation(vault, "alice", "talk")
    receipt = gone(vault, text="芒果")
    assert all(look.is_absent for look in receipt.looks) and not receipt.problems and receipt.paused is None
    left = text_of(vault)
    assert "芒果" not in left and json.dumps("芒果")[1:-1] not in left
    assert "Docker" in left and injected.dropped() == 1
    assert load_recent_context(vault, "talk") is not None
    assert not read_ended(vault, "alice").summary
    assert [turn["user_message"] for _, turn in newest_turns(vault, "alice", 9)] == ["I use Docker"]


def test_a_note_whose_name_alone_says_it_is_named_and_stays(vault: Vault) -> None:
    """The person's note, a folder's name, a shared one: a prompt would show it, so the look and the receipt say so."""
    record_turn(vault, "alice", "My dentist is Doctor Quillfeather", "ok")
    folder = layout.user_dir("alice")
    names = [f"{folder}/notes/quillfeather-name.md", f"{folder}/Quillfeather/plan.md", "quillfeather team.md"]
    for name in (*names, f"{folder}/entities/Quillfeather.md", f"{folder}/notes/plain.md"):
        (vault.root / name).parent.mkdir(parents=True, exist_ok=True)
        (vault.root / name).write_text("body only\n")
    shown = prepare_forgetting(vault, "alice", text="Quillfeather")
    assert [line.split(" says")[0].removeprefix("the name of ") for line in shown.stays] == sorted(names)
    kept = gone(vault, text="Quillfeather").kept
    assert {name for name in names if any(name in line for line in kept)} == {*names}
    assert not (vault.root / folder / "entities/Quillfeather.md").exists()
    with pytest.raises(NotFound, match="the name of quillfeather team.md says it"):
        prepare_forgetting(vault, "alice", text="Quillfeather team")


def test_it_is_one_commit_that_says_no_word_of_it(vault: Vault) -> None:
    """B6: trailers, no text; every file comes back from the commit that the receipt names."""
    record_turn(vault, "alice", "我喜歡芒果，也請記住：芒果要切塊", "好")
    before = vault.history.commit_named("HEAD")
    vault.history.flush()
    receipt = gone(vault, text="芒果")
    assert len(receipt.commits) == 1
    entry = vault.history.log(limit=1)[0]
    assert entry.trailers == {"Vault-User": "alice", "Vault-Op": "forget"} and "芒果" not in entry.subject
    assert before and receipt.restore and all(line.startswith("vault-memory restore ") for line in receipt.restore)


def test_a_text_over_two_lines_and_in_the_other_script(vault: Vault) -> None:
    """B6: bad input."""
    note = vault.path("alice", "notes/trip.md")
    record_turn(vault, "alice", "我喜歡暗色主題", "好")
    note.parent.mkdir()
    note.write_text("# 旅行\n\n我最喜欢的\n餐厅在京都\n\n- 買票\n- 我最喜歡的\n  餐廳要訂位\n  三個月前\n- 帶傘\n")
    gone(vault, text="最喜歡的餐廳")
    assert note.read_text() == "# 旅行\n\n\n- 買票\n- 帶傘\n"


@pytest.mark.parametrize("text", ["芒", "a", " ! ", "🙂", "x" * 2_001])
def test_a_text_that_says_too_little_or_too_much(vault: Vault, text: str) -> None:
    record_turn(vault, "alice", "我喜歡芒果", "好")
    with pytest.raises(UsageError):
        prepare_forgetting(vault, "alice", text=text)


def test_a_value_goes_with_the_only_sentence_that_brought_it(vault: Vault) -> None:
    """B6: what another turn supports stays."""
    record_turn(vault, "alice", "以後都用暗色主題", "好")
    record_turn(vault, "alice", "I use Docker at work", "ok")
    gone(vault, text="以後都用暗色主題")
    assert not any(value.startswith("theme") for value in values(vault))
    set_preference(vault, "alice", "tools", "Docker")
    gone(vault, text="Docker at work")
    assert "tools=Docker" in values(vault)


def test_suggestions_go(vault: Vault) -> None:
    """B6: what only waits."""
    record_turn(vault, "alice", "Docker seems nice, perhaps I should use it", "ok")
    record_turn(vault, "alice", "this dark theme is kind of nice", "ok")
    words = {each.value for each in list_suggestions(vault, "alice")}
    for word in words:
        gone(vault, text=word)
    assert list_suggestions(vault, "alice") == []


def test_a_day_in_the_archive(vault: Vault, clock: Clock) -> None:
    """B6: the month's file holds no word afterwards, and the lines keep their numbers."""
    record_turn(vault, "alice", "我喜歡芒果", "好", created_at="2024-03-01T09:00:00+00:00", conversation_id="a")
    record_turn(vault, "alice", "I use Docker", "ok", created_at="2024-03-01T10:00:00+00:00", conversation_id="a")
    list(archive_user(vault, "alice"))
    month = vault.path("alice", "archive/conversations/2024-03.jsonl.gz")
    assert month.exists()
    gone(vault, text="芒果")
    assert "芒果" not in read_day(vault, "alice", "conversations/2024-03-01.jsonl").decode()
    assert not month.exists()
    assert (turn_at(vault, "alice", "conversations/2024-03-01.jsonl:2") or {})["user_message"] == "I use Docker"
    assert turn_at(vault, "alice", "conversations/2024-03-01.jsonl:1") is None
    list(archive_user(vault, "alice"))
    assert month.exists() and search(vault, "alice", SearchQuery("芒果")).hits == []


def test_since_a_day(vault: Vault) -> None:
    """B6: what was said before stays."""
    record_turn(vault, "alice", "我喜歡芒果", "好", created_at="2026-01-20T09:00:00+08:00", conversation_id="a")
    record_turn(vault, "alice", "我討厭香菜", "好", created_at="2026-01-25T09:00:00+08:00", conversation_id="a")
    gone(vault, since=date(2026, 1, 24))
    left = text_of(vault)
    assert "芒果" in left and "香菜" not in left


def test_since_a_day_of_which_the_zone_was_another(vault: Vault) -> None:
    """B6: the record of that day has a turn that was on the day before by today's zone."""
    set_preference(vault, "alice", "timezone", "Pacific/Kiritimati")
    turn = record_turn(
        vault, "alice", "I like the dark theme. I keep a goat.", "ok", created_at="2026-01-30T00:10:00+14:00"
    )
    assert turn.source == "conversations/2026-01-30.jsonl:1"
    set_preference(vault, "alice", "timezone", "America/New_York")
    gone(vault, since=date(2026, 1, 30))
    assert "goat" not in (left := text_of(vault)) and "dark" not in left


def test_since_a_day_what_was_learned_about_topics(vault: Vault, clock: Clock) -> None:
    """B6: rows of LEARNING.md of that day or later go, and those topics among the visited; what has no day is told."""
    for day, topic in ((20, "积分"), (25, "极限"), (26, "yesterday")):
        clock.time = clock.time.replace(day=day)
        quiz = {"intent": "quiz", "topic": topic, "artifact": "quiz_set", "metadata": {"correct_rate": 0.4}}
        update_user(vault, "alice", quiz)
    update_user(vault, "alice", {"intent": "explain", "topic": "代数"})
    path = vault.path("alice", "LEARNING.md")
    path.write_text(path.read_text().replace("| 2026-01-26 |", "| yesterday |"))
    assert any("LEARNING.md" in line for line in prepare_forgetting(vault, "alice", since=date(2026, 1, 25)).stays)
    assert prepare_forgetting(vault, "alice", text="积分").stays == ()
    gone(vault, since=date(2026, 1, 25))
    left = learning_profile(vault, "alice")
    assert {*left.mastery} == {"积分", "yesterday"} and left.quiz_sessions == 3
    assert left.topics_visited == ("积分", "yesterday", "代数")
    assert "极限" not in text_of(vault)


def test_what_is_waiting_for_the_long_term_store(vault: Vault) -> None:
    """B6: it is not sent any more; that the database could not be asked is told."""
    environ = {"VAULT_MEMORY_LONGTERM_ENABLED": "true", "MEMORY_TABLE_MAP": '{"conversations": "talks"}'}
    columns = {"conversation_id": "chat", "user_id": "who", "created_at": "at"}
    environ |= {"SUPABASE_DB_URL": "postgres://x@127.0.0.1:9/x"}
    environ |= {"VAULT_MEMORY_LONGTERM_COLUMNS_MAP": json.dumps(columns)}
    enabled = open_vault(vault.root, environ=environ)
    record_turn(enabled, "alice", "我喜歡芒果", "好", conversation_id="a")
    record_turn(enabled, "alice", "I use Docker", "ok", conversation_id="a")
    assert enabled.outbox.counts().waiting == 2
    receipt = gone(enabled, text="芒果")
    assert enabled.outbox.counts().waiting == 1
    assert [problem.partition(":")[0] for problem in receipt.problems] == ["the rows of the long-term store"]


def test_two_at_once(vault: Vault) -> None:
    """B6: bad input: each code counts once, and what has changed meanwhile is looked at again."""
    record_turn(vault, "alice", "我喜歡芒果", "好")
    record_turn(vault, "alice", "我討厭香菜", "好")
    codes = {text: prepare_forgetting(vault, "alice", text=text).code for text in ("芒果", "香菜")}
    same = prepare_forgetting(vault, "alice", text="芒果").code
    failed: list[str] = []

    def work(text: str, code: str) -> None:
        try:
            forget(open_vault(vault.root, now=vault.now), "alice", code, text=text)
        except VaultMemoryError as error:
            failed.append(str(error))

    jobs = [("芒果", codes["芒果"]), ("香菜", codes["香菜"]), ("芒果", same)]
    threads = [threading.Thread(target=work, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failed) == 1 and ("nothing in" in failed[0] or "something else" in failed[0])
    assert "芒果" not in text_of(vault) and "香菜" not in text_of(vault)
    assert git.run(vault.root, "status", "--porcelain") == b""


def test_a_note_that_changes_before_the_code_comes(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡芒果", "好")
    code = prepare_forgetting(vault, "alice", text="芒果").code
    record_turn(vault, "alice", "芒果也可以做沙拉", "好")
    with pytest.raises(UsageError, match="something else"):
        forget(vault, "alice", code, text="芒果")
    assert "我喜歡芒果" in text_of(vault) and not is_forgetting(vault, "alice")


def test_while_a_rebase_is_stopped(vault: Vault) -> None:
    """B6: nothing is changed, and the answer says what to finish."""
    record_turn(vault, "alice", "我喜歡芒果", "好")
    code = prepare_forgetting(vault, "alice", text="芒果").code
    (vault.root / ".git/rebase-merge").mkdir()
    with pytest.raises(HistoryError, match="nothing can be forgotten now"):
        forget(vault, "alice", code, text="芒果")
    assert "我喜歡芒果" in text_of(vault)


def test_a_search_and_a_prompt_in_the_other_language(vault: Vault) -> None:
    """B6: the same thing by its name in another language."""
    record_turn(vault, "alice", "I like coffee", "ok")
    record_turn(vault, "alice", "我每天喝咖啡", "好")
    gone(vault, text="coffee")
    assert search(vault, "alice", SearchQuery("咖啡")).hits == []
    assert "咖啡" not in build_enhanced_prompt(vault, "alice", "我喜歡喝什麼？").text


_KILLED = """
import os, signal, sys
from datetime import datetime
from vault_memory.services.forgetting import forget
from vault_memory.services.vault import open_vault

root, code, at, last = sys.argv[1:]
seen = 0

def look(event, _):
    global seen
    is_step = event in ("os.rename", "os.remove", "os.link", "os.mkdir")
    seen += is_step
    if is_step and seen == int(last):
        os.kill(os.getpid(), signal.SIGKILL)

vault = open_vault(root, now=lambda: datetime.fromisoformat(at))
sys.addaudithook(look)
forget(vault, "alice", code, text="芒果")
"""
_FULL = """
import resource, signal, sys
from datetime import datetime
from vault_memory.errors import VaultMemoryError
from vault_memory.services.forgetting import forget
from vault_memory.services.vault import open_vault

root, code, at, most = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), resource.RLIM_INFINITY))
try:
    done = forget(open_vault(root, now=lambda: datetime.fromisoformat(at)), "alice", code, text="芒果")
    print("; ".join(done.problems))
except VaultMemoryError as error:
    print(error)
"""


def in_process(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_a_kill_at_any_step_is_as_before_or_goes_on_by_itself(vault: Vault, tmp_path: Path) -> None:
    """B6: before each file that is renamed or deleted. The job of the waiting commits finishes what is begun."""
    record_turn(vault, "alice", "我喜歡芒果", "好" * 120, conversation_id="a")
    record_turn(vault, "alice", "請記住：芒果要切塊", "好", conversation_id="a")
    vault.history.flush()
    code, at = prepare_forgetting(vault, "alice", text="芒果").code, vault.now()
    step, begun = -4, 0
    ended = -signal.SIGKILL
    while ended == -signal.SIGKILL:
        step += 5
        root = shutil.copytree(vault.root, tmp_path / f"v{step}", symlinks=True)
        ended = in_process(_KILLED, str(root), code, at.isoformat(), str(step)).returncode
        after = open_vault(root, now=lambda: at + timedelta(minutes=1))
        begun += is_forgetting(after, "alice")
        heartbeat(after, "commits", force=True)
        left = text_of(after)
        files = [path for path in root.glob("memory/alice/**/*") if path.is_file()]
        told = [path for path in files if "芒果" in path.read_text("utf-8", "replace")]
        assert not told or ("我喜歡芒果" in left and "芒果要切塊" in left), f"half at step {step}: {told}"
        assert not is_forgetting(after, "alice")
        assert git.run(root, "status", "--porcelain") == b"", f"step {step}"
        shutil.rmtree(root)
    assert ended == 0 and step > 15 and begun > 1


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 40, 400, 1_500])
def test_a_full_disk(vault: Vault, most: int) -> None:
    """B6: nothing is changed, or it goes on when there is room; the answer says so."""
    record_turn(vault, "alice", "我喜歡芒果", "好", conversation_id="a")
    record_turn(vault, "alice", "I use Docker, " + "and more, " * 60, "ok", conversation_id="a")
    vault.history.flush()
    code = prepare_forgetting(vault, "alice", text="芒果").code
    done = in_process(_FULL, str(vault.root), code, vault.now().isoformat(), str(most))
    assert done.returncode == 0 and done.stdout.strip(), done.stderr
    finish_forgetting(vault, "alice")
    if "我喜歡芒果" in text_of(vault):
        gone(vault, text="芒果")
    assert "芒果" not in text_of(vault) and not is_forgetting(vault, "alice")


def test_a_user_that_is_not_there(vault: Vault) -> None:
    with pytest.raises(NotFound):
        prepare_forgetting(vault, "nobody", text="芒果")
    assert not finish_forgetting(vault, "nobody")


def test_what_is_sought_reads_as_it_was_written() -> None:
    sought = Sought(("芒果",), [["a", "b"]], "theme", None, False, True)
    spared = {"conversations/2026-01-30.jsonl:2": ("c", "said_1")}
    sought = replace(sought, spared=spared, values=frozenset([("tools", "Vim")]))
    assert Sought.read(json.loads(json.dumps(sought.as_dict()))) == sought
