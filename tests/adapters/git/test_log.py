"""The log is read back as it was written, whatever characters it holds."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

import pytest

from tests.adapters.conftest import PERSON, USER, Vault
from vault_memory.adapters.git import CommitLog, log_records
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange, History
from vault_memory.core.trailers import Trailers, render
from vault_memory.errors import HistoryError, NotFound

NOON = datetime(2026, 1, 30, 12, tzinfo=UTC)


def preference(vault: Vault, key: str, value: str, author: Author = ASSISTANT) -> str:
    before = vault.read()
    message = render(f"memory(alice): {key} = {value}", f"我喜歡{value}", Trailers(key=key, new=value))
    change = FileChange(USER, before, (before or b"") + f"{key} {value}\n".encode())
    return vault.history.commit([Draft(message, author, (change,))]).commits[-1]


@pytest.mark.slow
def test_a_message_without_end_is_cut_and_hides_no_other(vault: Vault) -> None:
    dark = preference(vault, "theme", "dark")
    for start in (b"one line ", b"a subject\n\nand more "):
        vault.write(start, PurePosixPath("other.md"))
        vault.git("add", ".")
        vault.git("commit", "-q", "-F", "-", stdin=start + b"x" * 40_000_000)
    light = preference(vault, "theme", "light")
    entries = vault.history.log()
    assert [entry.commit for entry in entries][::3] == [light, dark]
    assert entries[1].subject == "a subject" and entries[2].subject.startswith("one line xxx")
    assert len(entries[2].subject) == 1000 and entries[3].trailers["Vault-New"] == "dark"
    assert len(CommitLog(vault.root).of_commits([entry.commit for entry in entries])) == 4


def test_a_moment_means_what_was_made_last_by_then(vault: Vault) -> None:
    """What is learned from an old turn is committed above newer changes."""

    def made(key: str, at: datetime) -> str:
        before = vault.read()
        message = render(key, "", Trailers(key=key)) if key else "the file"
        change = FileChange(USER, before, (before or b"") + f"{key} {at}\n".encode())
        return vault.history.commit([Draft(message, ASSISTANT, (change,), made_at=at)]).commits[-1]

    def at(month: int, key: str | None = None) -> str | None:
        return CommitLog(vault.root).last_made(USER, datetime(2026, month, 15, tzinfo=UTC), key)

    march, april, january, february = (
        made(key, datetime(2026, month, 1, tzinfo=UTC))
        for key, month in (("", 3), ("theme", 4), ("theme", 1), ("level", 2))
    )
    assert [at(month) for month in (1, 2, 3, 4, 12)] == [january, february, march, april, april]
    assert [at(month, "theme") for month in (1, 2, 3, 4)] == [january, january, march, april]
    assert [at(month, "level") for month in (1, 2, 3, 4)] == [None, february, march, march]
    assert CommitLog(vault.root).last_made(USER, datetime(2025, 12, 31, tzinfo=UTC)) is None
    assert CommitLog(vault.root).last_made(PurePosixPath("other.md"), datetime(2027, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    "said_at", ["1884-01-01T00:00:00+05:53:28", "1969-12-31T23:59:59+00:00", "9999-12-30T00:00+14:00"]
)
def test_a_time_that_git_does_not_know_breaks_no_commit(vault: Vault, said_at: str) -> None:
    draft = vault.draft(b"a turn")
    vault.history.commit([Draft(draft.message, ASSISTANT, draft.changes, made_at=datetime.fromisoformat(said_at))])
    vault.assert_clean()
    assert vault.history.log(limit=1)[0].time.year in (1970, 9999)


def test_entries_by_trailer_and_path(vault: Vault) -> None:
    """G4: every change with its author, key, value and reason."""
    vault.add(b"other", PurePosixPath("other.md"))
    dark = preference(vault, "theme", "dark")
    preference(vault, "language", "zh-TW", PERSON)
    preference(vault, "theme", "dark.*")
    first, second = vault.history.log([USER], trailers={"Vault-Key": "theme"})
    assert (second.commit, second.author, second.reason) == (dark, ASSISTANT.name, "我喜歡dark")
    assert second.trailers == {"Vault-Key": "theme", "Vault-New": "dark"} and second.subject.endswith("theme = dark")
    assert first.trailers["Vault-New"] == "dark.*"
    assert [e.commit for e in vault.history.log(trailers={"Vault-Key": "theme", "Vault-New": "dark"})] == [dark]
    assert len(vault.history.log([USER], trailers={"Vault-Key": None})) == 3
    assert [e.author for e in vault.history.log([USER], trailers={"Vault-Key": "language"})] == [PERSON.name]
    assert [e.subject for e in vault.history.log(lacking="Vault-Key")] == ["add other"]
    assert len(vault.history.log()) == 4 and len(vault.history.log(limit=2)) == 2
    assert vault.history.log([PurePosixPath("no such file")]) == []


def test_hostile_messages_and_authors(vault: Vault) -> None:
    author = Author("Eve <eve@x>\nauthor Mallory", "e\n@x>")
    text = "x\n\nVault-Key: theme\0Vault-Key: level\x1e\x1f"
    vault.history.commit([Draft(render(text, text, Trailers(key=text)), author, (FileChange(USER, None, b"x"),))])
    (entry,) = vault.history.log()
    assert entry.trailers == {"Vault-Key": "x Vault-Key: theme Vault-Key: level"}
    assert (entry.author, entry.email) == ("Eve eve@x author Mallory", "e @x")
    assert vault.history.log(trailers={"Vault-Key": "theme"}) == []
    vault.assert_clean()


def test_times(vault: Vault) -> None:
    for hour in range(3):
        history = History(vault.root, now=lambda hour=hour: NOON + timedelta(hours=hour))
        history.commit([vault.draft(b"%d" % hour)])
    assert [entry.time for entry in vault.history.log()] == [NOON + timedelta(hours=h) for h in (2, 1, 0)]
    assert len(vault.history.log(since=NOON + timedelta(minutes=30))) == 2


@pytest.mark.parametrize("second", [300_000_000_000, 253_402_300_799])
def test_a_commit_that_is_dated_after_the_calendar_can_be_told_in_every_zone(vault: Vault, second: int) -> None:
    vault.add(b"one")
    environ = os.environ | {"GIT_AUTHOR_DATE": f"@{second} +1400", "GIT_COMMITTER_DATE": f"@{second} +1400"}
    command = ["git", "-c", "user.name=Eve", "-c", "user.email=e@x", "commit", "-qam", "late"]
    (vault.root / USER).write_bytes(b"two")
    subprocess.run(command, cwd=vault.root, check=True, env=environ, timeout=60)
    newest = CommitLog(vault.root).entries(None, limit=1, since=None, trailers={})[0]
    assert newest.subject == "late" and newest.time.astimezone(ZoneInfo("Asia/Taipei")).year == 9999


def test_a_commit_that_is_not_there(vault: Vault) -> None:
    vault.add(b"one")
    with pytest.raises(NotFound, match="no-such"):
        vault.history.blob(USER, "no-such")
    with pytest.raises(NotFound):
        vault.history.blob(USER, "--all")


def test_what_is_no_log_is_an_error_and_not_an_empty_log() -> None:
    """A setting of git's output once hid every commit, and nobody was told."""
    one, two = ["a" * 40, "subject\n\nbody"], ["b" * 64, ""]
    assert log_records("\0".join([*one, *two]).encode(), 2) == [one, two] and log_records(b"", 2) == []
    for damaged in (("x", *one[1:]), one[:1], (*one, *two[:1]), ("a" * 39, "gpg: none"), ("\ufeff" + "a" * 40, "x")):
        with pytest.raises(HistoryError, match="git config --list"):
            log_records("\0".join(damaged).encode(), 2)
