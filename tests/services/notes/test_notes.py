"""The files of a scope: saved, restored, and read back. Real files, real git."""

from __future__ import annotations

from datetime import date
from pathlib import PurePosixPath

import pytest

from tests.conftest import Clock
from tests.vaults import write
from vault_memory.adapters import git
from vault_memory.core import layout
from vault_memory.errors import Changed, HistoryError, NotFound, UsageError
from vault_memory.services.notes.conversations import newest_turns, turn_at
from vault_memory.services.notes.daily_logs import daily_log, daily_logs
from vault_memory.services.notes.file_history import file_blame, file_diff, file_log
from vault_memory.services.notes.restore import restore_file
from vault_memory.services.notes.save import save_note
from vault_memory.services.notes.skills import skill
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

NOTE = PurePosixPath("memory/alice/note.md")


def commit(vault: Vault, text: str) -> str:
    """Save the note as an editor does, commit it as the person's, and return the commit."""
    write(vault, "alice", "note.md", text)
    commit_person_edits(vault, "alice")
    return vault.history.log(limit=1)[0].commit


class TestSave:
    def test_a_saved_note_is_committed_and_can_be_found(self, vault: Vault) -> None:
        assert save_note(vault, NOTE, None, b"text\n", "make it", vault.history.person()) == []
        assert [entry.subject for entry in vault.history.log([NOTE], limit=5)] == ["make it"]
        assert "note.md" in vault.index("alice").files()

    def test_the_same_text_makes_no_commit(self, vault: Vault) -> None:
        head = commit(vault, "text\n")
        assert save_note(vault, NOTE, b"text\n", b"text\n", "again", vault.history.person()) == []
        assert vault.history.state().head == head

    def test_a_note_that_was_deleted_meanwhile_is_written_again(self, vault: Vault) -> None:
        commit(vault, "one\n")
        (vault.root / NOTE).unlink()
        save_note(vault, NOTE, b"one\n", b"two\n", "ours", vault.history.person())
        assert (vault.root / NOTE).read_text() == "two\n"
        assert [entry.subject for entry in vault.history.log([NOTE], limit=2)] == ["ours", f"delete {NOTE}"]

    def test_without_merging_anything_saved_since_is_refused(self, vault: Vault) -> None:
        commit(vault, "one\ntwo\nthree\n")
        text = b"ONE\ntwo\nthree\n"
        write(vault, "alice", "note.md", "one\ntwo\nTHREE\n")
        with pytest.raises(Changed):
            save_note(vault, NOTE, b"one\ntwo\nthree\n", text, "ours", vault.history.person(), merging=False)
        assert (vault.root / NOTE).read_text() == "one\ntwo\nTHREE\n"
        save_note(vault, NOTE, b"one\ntwo\nthree\n", text, "ours", vault.history.person())
        assert (vault.root / NOTE).read_text() == "ONE\ntwo\nTHREE\n"


class TestRestore:
    def test_one_file_comes_back_and_what_it_held_is_committed_first(self, vault: Vault) -> None:
        first = commit(vault, "one\n")
        commit(vault, "two\n")
        write(vault, "alice", "note.md", "not committed\n")
        other = write(vault, "alice", "other.md", "other\n")
        assert restore_file(vault, NOTE, first[:10])
        assert (vault.root / NOTE).read_text() == "one\n"
        assert other.read_text() == "other\n"
        newest, before = vault.history.log([NOTE], limit=2)
        assert (newest.subject, newest.trailers["Vault-Restores"]) == (f"restore {NOTE} to {first[:12]}", first)
        assert vault.history.blob(NOTE, before.commit) == b"not committed\n"
        assert restore_file(vault, NOTE, before.commit), "the restoring itself can be taken back"
        assert (vault.root / NOTE).read_text() == "not committed\n"

    def test_a_deleted_file_comes_back_and_an_equal_one_stays(self, vault: Vault) -> None:
        first = commit(vault, "one\n")
        assert not restore_file(vault, NOTE, first)
        (vault.root / NOTE).unlink()
        assert restore_file(vault, NOTE, first)
        assert (vault.root / NOTE).read_text() == "one\n"
        assert "note.md" in vault.index("alice").files()

    def test_a_file_that_was_not_there_then(self, vault: Vault) -> None:
        before = vault.history.state().head
        assert before is not None
        commit(vault, "one\n")
        with pytest.raises(NotFound, match="vault-memory log"):
            restore_file(vault, NOTE, before)
        with pytest.raises(NotFound):
            restore_file(vault, NOTE, "0123456789")
        assert (vault.root / NOTE).read_text() == "one\n"

    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("mine\nkey: sk-proj-aB3dE5gH7jK9mN1pQ3sT5vW7yZaB3dE5gH7jK9mN1pQ3\n", ()),
            ("mine\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n", ()),
            ("mine\n", ("checkout", "--quiet", "--detach")),
            ("mine\n", ("update-index", "--skip-worktree", str(NOTE))),
            ("mine\n", ("add", str(NOTE))),
        ],
        ids=["secret", "conflict marks", "detached", "skip-worktree", "staged"],
    )
    def test_text_that_is_in_no_commit_is_not_replaced(self, vault: Vault, text: str, command: tuple[str, ...]) -> None:
        first = commit(vault, "one\n")
        commit(vault, "two\n")
        write(vault, "alice", "note.md", text)
        if command:
            git.run(vault.root, *command)
        with pytest.raises(HistoryError, match=rf"{NOTE} holds text that is in no commit.*status"):
            restore_file(vault, NOTE, first)
        assert (vault.root / NOTE).read_text() == text

    @pytest.mark.parametrize(
        "command", [(), ("update-index", "--skip-worktree"), ("add",)], ids=["secret", "skip", "staged"]
    )
    def test_nor_is_text_below_a_change_that_waits(self, vault: Vault, command: tuple[str, ...]) -> None:
        """What the assistant changes above it waits with it, and holds nothing of it: no commit will ever have it."""
        record_turn(vault, "alice", "hello", "hi")
        profile = layout.user_dir("alice") / layout.PROFILE
        first = vault.history.log(limit=1)[0].commit
        mine = "\n## Mine\n\nA paragraph of mine.\n" + ("" if command else "\npassword: Kq7v!Rz91pLm\n")
        path = vault.root / profile
        path.write_text(path.read_text("utf-8") + mine, "utf-8")
        if command:
            git.run(vault.root, *command, str(profile))
        assert record_turn(vault, "alice", "I prefer Rust", "ok").paused
        before = path.read_text("utf-8")
        assert "Rust" in before and mine in before
        with pytest.raises(HistoryError, match=r"holds text that is in no commit.*status"):
            restore_file(vault, profile, first)
        assert path.read_text("utf-8") == before


class TestFileHistory:
    def test_the_log_of_a_file_outlives_the_file(self, vault: Vault) -> None:
        commit(vault, "one\n")
        (vault.root / NOTE).unlink()
        commit_person_edits(vault, "alice")
        assert [entry.subject for entry in file_log(vault, NOTE)] == [f"delete {NOTE}", f"add {NOTE}"]
        assert len(file_log(vault, limit=1)) == 1
        write(vault, "alice", "new.md", "new\n")
        assert file_log(vault, PurePosixPath("memory/alice/new.md")) == [], "on disk, in no commit yet"
        with pytest.raises(NotFound, match="nofile"):
            file_log(vault, PurePosixPath("nofile.md"))

    def test_each_line_has_the_commit_that_wrote_it(self, vault: Vault) -> None:
        first = commit(vault, "one\n")
        second = commit(vault, "one\ntwo\n")
        write(vault, "alice", "note.md", "one\ntwo\nthree\n")
        rows = [(row.number, row.text, row.entry.commit if row.entry else None) for row in file_blame(vault, NOTE)]
        assert rows == [(1, "one", first), (2, "two", second), (3, "three", None)]

    def test_a_file_without_commits_cannot_be_blamed(self, vault: Vault) -> None:
        with pytest.raises(NotFound, match="vault-memory log"):
            file_blame(vault, NOTE)
        write(vault, "alice", "note.md", "one\n")
        with pytest.raises(NotFound, match="in no commit"):
            file_blame(vault, NOTE)

    def test_a_difference_is_against_the_state_before_the_last_commit(self, vault: Vault) -> None:
        first = commit(vault, "one\n")
        second = commit(vault, "two\n")
        write(vault, "alice", "note.md", "three\n")

        def changed(since: str = "", until: str = "") -> list[str]:
            lines = file_diff(vault, NOTE, since, until).splitlines()
            return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]

        assert changed() == ["-one", "+three"]
        assert changed(first, second) == ["-one", "+two"]
        assert changed(second) == ["-two", "+three"]
        assert changed(second, first) == ["-two", "+one"]

    def test_a_date_is_the_last_commit_up_to_its_end(self, vault: Vault, clock: Clock) -> None:
        """The clock of the test stands on 2026-01-30; what was made on the next day is not meant by that date."""
        first = commit(vault, "one\n")
        clock.time = clock.time.replace(day=31)
        commit(vault, "two\n")
        assert vault.history.log([NOTE], limit=1)[0].time.date() == date(2026, 1, 31)
        assert restore_file(vault, NOTE, "2026-01-30")
        assert (vault.root / NOTE).read_text() == "one\n"
        assert vault.history.log([NOTE], limit=1)[0].trailers["Vault-Restores"] == first
        with pytest.raises(NotFound, match="later date"):
            restore_file(vault, NOTE, "2020-01-01")
        with pytest.raises(UsageError, match="2026-13-01"):
            restore_file(vault, NOTE, "2026-13-01")


class TestSkills:
    def test_a_skill_is_its_front_matter_and_its_body(self, bare_vault: Vault) -> None:
        write(bare_vault, layout.SHARED, "skills/tea/SKILL.md", "---\ndescription: make tea\n---\n\nBoil water.\n")
        write(bare_vault, layout.SHARED, "skills/bare/SKILL.md", "Just do it.\n")
        write(bare_vault, layout.SHARED, "skills/none/README.md", "no skill\n")
        found = skill(bare_vault, "tea")
        assert (found.content, found.source) == ("Boil water.", "skills/tea/SKILL.md")

    def test_an_unknown_name_is_answered_with_the_known_ones(self, bare_vault: Vault) -> None:
        with pytest.raises(NotFound, match="none"):
            skill(bare_vault, "tea")
        write(bare_vault, layout.SHARED, "skills/tea/SKILL.md", "Boil water.\n")
        for name in ("coffee", "../memory/alice", "tea/../tea"):
            with pytest.raises(NotFound, match="the skills are: tea"):
                skill(bare_vault, name)


class TestDailyLogs:
    def test_the_newest_come_first_and_none_after_a_day(self, bare_vault: Vault) -> None:
        for day in ("2026-01-28", "2026-01-30", "2026-01-29"):
            write(bare_vault, "alice", f"daily/{day}.md", f"# {day}\n")
        write(bare_vault, "alice", "daily/notes.md", "not a day\n")
        bare_vault.path("alice", "daily/2026-01-27.md").symlink_to("nowhere.md")
        bare_vault.path("alice", "daily").joinpath("2026-01-26.md").symlink_to("/etc/hostname")
        days = [log.date.day for log in daily_logs(bare_vault, "alice", 10)]
        assert days == [30, 29, 28]
        assert [log.date.day for log in daily_logs(bare_vault, "alice", 1, date(2026, 1, 29))] == [29]
        log = daily_log(bare_vault, "alice", date(2026, 1, 28))
        assert (log.source, log.content) == ("daily/2026-01-28.md", "# 2026-01-28\n")

    def test_what_is_not_there(self, bare_vault: Vault) -> None:
        with pytest.raises(NotFound, match="alice"):
            daily_logs(bare_vault, "alice", 10)
        write(bare_vault, "alice", "USER.md", "# me\n")
        assert list(daily_logs(bare_vault, "alice", 10)) == []
        with pytest.raises(NotFound, match="2026-01-30"):
            daily_log(bare_vault, "alice", date(2026, 1, 30))


class TestConversations:
    FIRST, SECOND = "conversations/2026-01-29.jsonl", "conversations/2026-01-30.jsonl"

    @pytest.fixture
    def talked(self, bare_vault: Vault) -> Vault:
        """Two days of turns, with lines in between that are no record."""
        line = '{{"conversation_id": "c", "user_id": "alice", "user_message": "{}"}}\n'
        write(bare_vault, "alice", self.FIRST, line.format("one") + line.format("two"))
        write(
            bare_vault, "alice", self.SECOND, "broken\n" + line.format("three") + "[]\n" + line.format("four").rstrip()
        )
        write(bare_vault, "alice", "conversations/old.jsonl", line.format("in no day"))
        return bare_vault

    def said(self, vault: Vault, limit: int, before: str = "") -> list[tuple[str, str]]:
        return [(source, turn["user_message"]) for source, turn in newest_turns(vault, "alice", limit, before)]

    def test_the_newest_come_first_with_their_line(self, talked: Vault) -> None:
        assert self.said(talked, 3) == [
            (f"{self.SECOND}:4", "four"),
            (f"{self.SECOND}:2", "three"),
            (f"{self.FIRST}:2", "two"),
        ]
        assert self.said(talked, 0) == []
        assert self.said(talked, 9)[-1] == (f"{self.FIRST}:1", "one")

    def test_those_before_a_turn(self, talked: Vault) -> None:
        assert [words for _, words in self.said(talked, 9, f"{self.SECOND}:4")] == ["three", "two", "one"]
        assert [words for _, words in self.said(talked, 1, f"{self.FIRST}:2")] == ["one"]
        assert self.said(talked, 9, f"{self.FIRST}:1") == []

    def test_a_line_is_read_by_its_number(self, talked: Vault) -> None:
        turn = turn_at(talked, "alice", f"{self.SECOND}:2")
        assert turn is not None and turn["user_message"] == "three"
        for number in ("1", "3", "99", "0", "-1", "x", ""):
            assert turn_at(talked, "alice", f"{self.SECOND}:{number}") is None, number

    def test_no_source_leads_out_of_the_users_conversations(self, talked: Vault) -> None:
        write(talked, "bob", self.SECOND, '{"conversation_id": "c", "user_id": "bob", "user_message": "secret"}\n')
        for source in (f"../bob/{self.SECOND}:1", f"conversations/../../bob/{self.SECOND}:1", "USER.md:1"):
            assert turn_at(talked, "alice", source) is None, source


def test_private_state_is_never_restored_from_history(vault: Vault) -> None:
    with pytest.raises(UsageError, match="never restored from history"):
        restore_file(vault, PurePosixPath(layout.STATE_DIR, "token"), "HEAD")
