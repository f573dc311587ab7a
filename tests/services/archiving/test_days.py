"""Old days go into their months, whole and once; and every reader finds them there as before."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import TAIPEI, Clock
from tests.services.archiving.conftest import BEGAN, Home, archived, talk
from tests.services.test_person_edits import git
from tests.vaults import write
from vault_memory import api
from vault_memory.adapters.records import archived_day, put_days
from vault_memory.core import layout
from vault_memory.errors import Busy, VaultMemoryError
from vault_memory.services.admin import backup, doctor, export, rename_user, restore, status
from vault_memory.services.archiving import Step, planned_steps
from vault_memory.services.daemon import heartbeat, outcomes
from vault_memory.services.indexing import reconcile
from vault_memory.services.notes import file_of, newest_turns, turn_at
from vault_memory.services.profiles import blame
from vault_memory.services.retrieval import SearchQuery, build_enhanced_prompt, search
from vault_memory.services.turns import add_reply, record_turn, save_conversation, turns_waiting
from vault_memory.services.vault import Vault, open_vault

AUGUST = "archive/conversations/2025-08.jsonl.gz"
FIRST = "conversations/2025-08-01.jsonl"


def newest(vault: Vault, limit: int = 99, before: str = "") -> list[tuple[str, str]]:
    return [(source, turn["user_message"]) for source, turn in newest_turns(vault, "alice", limit, before)]


def hits(vault: Vault, words: str) -> list[tuple[str, tuple[int, int], str]]:
    found = search(vault, "alice", SearchQuery(words, kinds=("conversation",)))
    return [(hit.source, hit.line_range, hit.content) for hit in found.hits]


def test_old_days_go_into_their_month_and_a_second_run_has_nothing_to_do(talked: Vault, home: Home) -> None:
    """A8: days older than 90 days, byte for byte; A17."""
    before = home.days()
    size = sum(len(lines) for name, lines in before.items() if name < "2026")
    assert planned_steps(talked, "alice")[0] == Step("pack", PurePosixPath("memory/alice", AUGUST), 5, size)
    assert home.days() == before, "a preview changes nothing"
    (step, *_) = archived(talked)
    assert (step.kind, step.count, step.path.name) == ("pack", 5, "2025-08.jsonl.gz")
    assert [*home.days()] == ["2026-01-29.jsonl"] and home.months() == ["2025-08.jsonl.gz"]
    packed = gzip.decompress((home.path / AUGUST).read_bytes())
    assert packed == b"".join(lines for name, lines in before.items() if name < "2026")
    assert [each for each in archived(talked) if each.kind == "pack"] == []


def test_a_day_is_old_after_that_many_days_and_never_if_that_is_zero(vault: Vault, clock: Clock, home: Home) -> None:
    talk(vault, "91 days ago", "90 days ago", at=clock.time - timedelta(days=91))
    write_settings(vault, "[archive]\ndays = 0\n")
    assert archived(open_vault(vault.root, now=clock)) == []
    write_settings(vault, "")
    archived(open_vault(vault.root, now=clock))
    assert [*home.days()] == [f"{(clock.time - timedelta(days=90)).date()}.jsonl"]


def write_settings(vault: Vault, text: str) -> None:
    (vault.root / layout.SETTINGS_FILE).write_text(f"format = 1\n{text}")


def test_search_history_and_prompt_find_an_archived_turn_as_before(talked: Vault, clock: Clock) -> None:
    """A18 row 3: 查詢 30 天前的對話內容. The same hits, the same lines; nothing was indexed anew."""
    ask = ("八月的第 3 句話", "昨天的話")
    before, history = [hits(talked, words) for words in ask], newest(talked)
    archived(talked)
    alice = status(talked).scopes[1]
    assert not alice.pending and not alice.failed, "the index is told at once"
    assert [hits(talked, words) for words in ask] == before
    source, lines, content = before[0][0]
    assert (source, lines) == ("conversations/2025-08-03.jsonl", (1, 1))
    assert content.startswith("2025-08-03 ") and " alice: 八月的第 3 句話" in content, "who spoke and when"
    report = reconcile(talked, "alice")
    assert report.indexed == report.removed == report.held == ()
    full = reconcile(talked, "alice", full_hash=True)
    assert full.indexed == () and not full.failed
    assert newest(talked) == history and len(history) == 6
    assert newest(talked, 2, before="conversations/2025-08-04.jsonl:1") == history[3:5]
    assert turn_at(talked, "alice", f"{FIRST}:1")["user_message"] == "八月的第 1 句話"  # type: ignore[index]
    assert turn_at(talked, "alice", f"{FIRST}:2") is None
    said = api.get_conversation_history(talked, "alice", limit=6)
    assert [turn["user"] for turn in said] == [message for _, message in reversed(history)]
    built = build_enhanced_prompt(talked, "alice", "你好")
    assert "八月的第 5 句話" in built.text.partition("<conversation-history>")[2]
    narrowed = search(talked, "alice", SearchQuery("八月", since=date(2025, 8, 2), until=date(2025, 8, 2)))
    assert {hit.source for hit in narrowed.hits} <= {"conversations/2025-08-02.jsonl", "daily/2025-08-02.md"}
    assert narrowed.hits


def test_an_index_that_is_made_anew_holds_the_archive(talked: Vault, clock: Clock) -> None:
    archived(talked)
    before = hits(talked, "八月的第 3 句話")
    for path in (talked.root / "memory/alice").glob("index.db*"):
        path.unlink()
    assert hits(open_vault(talked.root, now=clock), "八月的第 3 句話") == before


def test_a_trailer_names_the_turn_after_its_day_is_archived(vault: Vault) -> None:
    """`pref blame` tells in which words a preference was heard."""
    talk(vault, "我喜歡暗色主題")
    archived(vault)
    (origin,) = blame(vault, "alice", "theme")
    assert origin.message == "我喜歡暗色主題" and origin.change.source == f"{FIRST}:1"


def test_a_late_turn_goes_on_with_the_numbers_of_its_archived_day(talked: Vault, home: Home) -> None:
    """An import or a replay: the day has a file again, whole, and the next run packs it."""
    old = (home.path / FIRST).read_bytes()
    archived(talked)
    recorded = record_turn(talked, "alice", "這句話來晚了", created_at=BEGAN + timedelta(hours=2))
    assert recorded.source == f"{FIRST}:2"
    assert (home.path / FIRST).read_bytes().startswith(old)
    assert archived_day(home.path, BEGAN.date(), talked.root) is None, "it is in one place"
    assert not status(talked, "alice").scopes[0].pending, "no other day of the month counts as changed"
    assert hits(talked, "這句話來晚了")[0][:2] == (FIRST, (2, 2)) and len(newest(talked)) == 7
    archived(talked)
    assert [*home.days()] == ["2026-01-29.jsonl"]
    assert turn_at(talked, "alice", f"{FIRST}:2")["user_message"] == "這句話來晚了"  # type: ignore[index]
    lines = archived_day(home.path, BEGAN.date(), talked.root)
    assert lines is not None and lines.startswith(old) and lines.count(b"\n") == 2


def test_a_turn_that_is_in_the_archive_is_not_recorded_twice(talked: Vault, home: Home) -> None:
    archived(talked)
    before = (home.path / AUGUST).read_bytes()
    talk(talked, *(f"八月的第 {number} 句話" for number in range(1, 6)))
    assert [*home.days()] == ["2026-01-29.jsonl"] and (home.path / AUGUST).read_bytes() == before


def test_a_reply_to_an_archived_turn_and_the_rest_of_an_answer(vault: Vault, clock: Clock, home: Home) -> None:
    asked = record_turn(
        vault, "alice", "泡茶幾度", None, conversation_id="c", created_at=BEGAN, request="r" * 8, learn=False
    )
    for path in vault.unlearned("alice").glob("*"):
        path.unlink()
    vault = open_vault(vault.root, now=clock)
    archived(vault)
    assert home.months() == ["2025-08.jsonl.gz"] and not home.days()
    add_reply(vault, "alice", asked.source, "八十度。", 0)
    assert turn_at(vault, "alice", asked.source)["assistant_message"] == "八十度。"  # type: ignore[index]
    assert save_conversation(vault, "alice", "今天的", "回答").is_new


def test_a_day_waits_while_one_of_its_turns_is_not_learned_from(vault: Vault, home: Home) -> None:
    talk(vault, "早就說過了", "I prefer dark mode")
    git(vault, "checkout", "-q", "--detach")
    record_turn(vault, "alice", "I prefer light mode", created_at=BEGAN + timedelta(minutes=1))
    assert turns_waiting(vault, "alice") == 1
    with pytest.raises(VaultMemoryError, match="HEAD is detached"):
        archived(vault)  # the logs of 2025 cannot rotate now
    assert [*home.days()] == ["2025-08-01.jsonl"] and home.months() == ["2025-08.jsonl.gz"]
    git(vault, "switch", "-q", "main")
    heartbeat(vault, "commits", force=True)
    archived(vault)
    assert not home.days() and turn_at(vault, "alice", f"{FIRST}:2")


def test_a_day_that_a_program_has_open_for_writing_waits(talked: Vault, home: Home) -> None:
    with (home.path / FIRST).open("ab") as file:
        archived(talked)
        assert "2025-08-01.jsonl" in home.days() and "2025-08-02.jsonl" not in home.days()
        file.write(b'{"user_message": "by another program"}\n')
    archived(talked)
    assert "2025-08-01.jsonl" not in home.days()
    assert turn_at(talked, "alice", f"{FIRST}:2")["user_message"] == "by another program"  # type: ignore[index]


def test_a_kill_between_archive_and_removal_is_finished(talked: Vault, home: Home) -> None:
    days = home.days()
    put_days(home.path / AUGUST, {BEGAN.date(): days["2025-08-01.jsonl"]}, talked.root)
    assert len(newest(talked)) == 6, "both are there, and it counts once"
    assert hits(talked, "八月的第 1 句話")[0][:2] == (FIRST, (1, 1))
    archived(talked)
    assert [*home.days()] == ["2026-01-29.jsonl"] and len(newest(talked)) == 6


def test_a_day_that_another_program_has_made_anew_is_joined(talked: Vault, home: Home) -> None:
    """The design's own program appends to `conversations/DAY.jsonl` without looking into the archive."""
    archived(talked)
    write(talked, "alice", FIRST, '{"user_message": "by another program", "created_at": "2025-08-01T23:00:00+08:00"}')
    archived(talked)
    texts = [turn["user_message"] for source, turn in newest_turns(talked, "alice", 99) if source.startswith(FIRST)]
    assert texts == ["by another program", "八月的第 1 句話"]


def test_a_persons_deletion_in_a_day_that_was_brought_back_stays(talked: Vault, home: Home) -> None:
    archived(talked)
    record_turn(talked, "alice", "來晚了", created_at=BEGAN + timedelta(hours=2))
    path = home.path / FIRST
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    archived(talked)
    assert [text for source, text in newest(talked) if source.startswith(FIRST)] == ["來晚了"]


def test_a_month_that_a_person_has_edited_is_searched_and_goes_on(talked: Vault, home: Home) -> None:
    """gunzip, an editor, gzip: the days are told by the times of the turns."""
    archived(talked)
    lines = gzip.decompress((home.path / AUGUST).read_bytes()).replace("八月".encode(), "去年".encode())
    (home.path / AUGUST).write_bytes(gzip.compress(lines))
    assert hits(talked, "去年的第 3 句話")[0][:2] == ("conversations/2025-08-03.jsonl", (1, 1))
    record_turn(talked, "alice", "來晚了", created_at=BEGAN + timedelta(hours=2))
    archived(talked)
    assert ("conversations/2025-08-02.jsonl:1", "去年的第 2 句話") in newest(talked) and len(newest(talked)) == 7


def test_a_month_that_a_person_has_unpacked_is_not_taken_for_gone(talked: Vault, home: Home) -> None:
    archived(talked)
    plain = (home.path / AUGUST).with_suffix("")
    plain.write_bytes(gzip.decompress((home.path / AUGUST).read_bytes()))
    (home.path / AUGUST).unlink()
    report = reconcile(talked, "alice")
    assert report.removed == report.held == () and len(newest(talked)) == 1
    assert "is unpacked" in status(talked, "alice").scopes[0].failed["archive/conversations/2025-08.jsonl"]
    plain.with_suffix(".jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert not reconcile(talked, "alice").failed and len(newest(talked)) == 6


def test_a_damaged_month_is_named_and_nothing_is_lost_of_it(talked: Vault, home: Home) -> None:
    archived(talked)
    path = home.path / AUGUST
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    report = reconcile(talked, "alice")
    assert report.removed == report.held == ()
    found = status(talked).scopes[1]
    assert "cannot be read: it is cut" in found.failed[AUGUST]
    assert len(newest(talked)) == 1, "the rest is read"
    recorded = record_turn(talked, "alice", "來晚了", created_at=BEGAN + timedelta(hours=2))
    assert recorded.source == f"{FIRST}:1", "a turn is kept whatever is wrong with the archive"
    with pytest.raises(VaultMemoryError, match="put it back from a backup"):
        archived(talked)
    assert path.read_bytes() == whole[:-20] and "2025-08-01.jsonl" in home.days()
    path.write_bytes(whole)
    archived(talked)
    assert len(newest(talked)) == 7 and not reconcile(talked, "alice").failed
    assert turn_at(talked, "alice", f"{FIRST}:2")["user_message"] == "來晚了"  # type: ignore[index]


def test_git_must_ignore_the_place_first(talked: Vault, home: Home) -> None:
    """A vault from before: `git add -A` would take what is private."""
    rules = talked.root / ".gitignore"
    rules.write_text(rules.read_text().replace("/memory/*/archive/conversations/\n", ""))
    with pytest.raises(VaultMemoryError, match="doctor --fix"):
        archived(talked)
    assert len(home.days()) == 6 and not home.months()
    (finding,) = [each for each in doctor(talked, fix=True) if each.name == "vault"]
    assert finding.ok and "/memory/*/archive/conversations/\n" in rules.read_text()
    archived(talked)
    assert home.months()


def test_doctor_closes_an_archive_that_others_can_read(talked: Vault, home: Home) -> None:
    archived(talked)
    (home.path / AUGUST).chmod(0o644)
    (finding,) = [each for each in doctor(talked) if each.name == "privacy"]
    assert not finding.ok and "2025-08.jsonl.gz" in finding.message
    doctor(talked, fix=True)
    assert (home.path / AUGUST).stat().st_mode & 0o777 == 0o600


def test_the_archive_is_in_backups_and_exports_and_moves_with_its_user(
    talked: Vault, home: Home, tmp_path: Path, clock: Clock
) -> None:
    archived(talked)
    history = newest(talked)
    backup(talked, tmp_path / "all.tar.gz")
    again = open_vault(restore(tmp_path / "all.tar.gz", tmp_path / "again"), now=clock)
    assert newest(again) == history
    assert (again.root / "memory/alice" / AUGUST).stat().st_mode & 0o777 == 0o600
    export(talked, "alice", tmp_path / "copy")
    assert (tmp_path / "copy" / AUGUST).read_bytes() == (home.path / AUGUST).read_bytes()
    assert api.backup_conversations_to_file(talked, "alice") == [
        home.path / AUGUST,
        home.path / "conversations/2026-01-29.jsonl",
    ]
    rename_user(talked, "alice", "an")
    assert turn_at(talked, "an", f"{FIRST}:1")
    assert file_of(talked, "an", FIRST) == talked.root / "memory/an" / AUGUST


def test_turns_go_on_meanwhile_and_each_is_there_once(vault: Vault, home: Home) -> None:
    """Late turns of the same days, from several threads, while the archive is made again and again."""
    talk(vault, *("begin" for _ in range(3)))
    stop, failed = threading.Event(), list[BaseException]()

    def say(name: str) -> None:
        try:
            for number in range(12):
                at = BEGAN + timedelta(days=number % 3, minutes=number)
                record_turn(vault, "alice", f"{name} {number}", created_at=at, index=False, learn=False)
        except BaseException as error:
            failed.append(error)

    def archive() -> None:
        while not stop.is_set():
            for path in vault.unlearned("alice").glob("*"):
                path.unlink(missing_ok=True)
            archived_quietly(vault)

    threads = [threading.Thread(target=say, args=(name,)) for name in ("one", "two")]
    archiver = threading.Thread(target=archive)
    for thread in (*threads, archiver):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    archiver.join()
    archived_quietly(vault)
    assert failed == []
    counts = Counter(text for _, text in newest(vault))
    expected = {f"{name} {number}" for name in ("one", "two") for number in range(12)} | {"begin"}
    assert counts.keys() == expected and all(count == 1 for text, count in counts.items() if text != "begin")
    sources = [source for source, _ in newest(vault)]
    assert len(set(sources)) == len(sources) == 27


def archived_quietly(vault: Vault) -> None:
    try:
        archived(vault)
    except (VaultMemoryError, Busy):
        return


def test_the_job_does_it_for_everybody_and_says_so(talked: Vault, clock: Clock) -> None:
    """A17: at three, every night."""
    record_turn(talked, "bob", "也是很久以前", created_at=BEGAN)
    shutil.rmtree(talked.root / "memory/bob/daily")
    assert ("archive", "03:00") in [(job.name, when) for job, when, _ in outcomes(talked)]
    (outcome,) = heartbeat(talked, "archive", force=True)
    assert outcome.ok and outcome.said.startswith("6 days of conversation packed")
    clock.time += timedelta(days=1)
    (outcome,) = heartbeat(talked, "archive", force=True)
    assert outcome.said == "nothing is old enough"
    assert json.loads(gzip.decompress((talked.root / "memory/bob" / AUGUST).read_bytes()))["user_id"] == "bob"


def test_links_are_left_alone(talked: Vault, home: Home, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text("elsewhere\n")
    (home.path / FIRST).unlink()
    (home.path / FIRST).symlink_to(secret)
    archived(talked)
    assert secret.read_text() == "elsewhere\n" and (home.path / FIRST).is_symlink()
    assert archived_day(home.path, datetime(2025, 8, 1, tzinfo=TAIPEI).date(), talked.root) is None
