"""Several writers at once, a person with git among them: no lost line, no duplicate, nothing broken."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import PERSON, USER, Vault
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.errors import Changed

# Adds lines to one file that the other writer adds to as well, and to one of its own.
WRITER = """
import sys
from pathlib import Path, PurePosixPath
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.errors import Changed
root, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
history = History(root)
for number in range(rounds):
    line = f"{name} {number}"
    while True:
        changes = []
        for path in (PurePosixPath("shared.md"), PurePosixPath(f"memory/{name}/USER.md")):
            place = root / path
            before = place.read_bytes() if place.exists() else None
            changes.append(FileChange(path, before, (before or b"") + line.encode() + b"\\n"))
        try:
            history.stage([Draft(line, ASSISTANT, tuple(changes))])
            break
        except Changed:
            pass
    history.flush()
"""


def start(vault: Vault, name: str, rounds: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(vault.root), name, str(rounds)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [4, pytest.param(16, marks=pytest.mark.soak)])
def test_two_writers_while_a_person_commits_and_rebases(vault: Vault, rounds: int) -> None:
    vault.add(b"begin")
    vault.write(b"0\n", PurePosixPath("own.md"))
    vault.git("add", "own.md")
    vault.git("commit", "-qm", "person begins")
    writers = [start(vault, name, rounds) for name in ("alice", "bob")]
    own = 0
    while any(writer.poll() is None for writer in writers):
        vault.write(b"%d\n" % (own + 1), PurePosixPath("own.md"))
        vault.git("add", "own.md", ok=False)
        vault.git("commit", "-qm", f"person {own + 1}", "--", "own.md", ok=False)
        own += 1
        if own % 3 == 0:
            vault.git("rebase", "-q", "--force-rebase", "HEAD~2", ok=False, GIT_EDITOR="true")
            if (vault.history.git_dir / "rebase-merge").exists():
                vault.git("rebase", "--abort", ok=False)
    for writer in writers:
        assert writer.wait() == 0, writer.stderr and writer.stderr.read().decode()
    if vault.history.state().branch is None:  # a rebase that failed at its first step
        vault.git("checkout", "-q", "main")
    vault.git("commit", "-qam", "person ends", ok=False)
    flushed = vault.history.flush()
    assert flushed.paused is None, flushed.paused
    wanted = {f"{name} {number}" for name in ("alice", "bob") for number in range(rounds)}
    lines = (vault.read(PurePosixPath("shared.md")) or b"").decode().splitlines()
    assert sorted(lines) == sorted(wanted), "each line once"
    ours = [subject for subject in vault.subjects() if subject in wanted]
    assert sorted(ours) == sorted(wanted), "each commit once"
    assert {author for subject, author in vault.authors().items() if subject in wanted} == {ASSISTANT.name}
    vault.assert_clean()


@pytest.mark.slow
def test_a_merge_that_has_just_begun_is_not_disturbed(vault: Vault) -> None:
    """Git writes ORIG_HEAD, checks the files, moves the branch; after a commit in between it puts back all files."""
    vault.add(b"begin")
    head = vault.git("rev-parse", "HEAD")
    writer = threading.Thread(target=vault.add, args=(b"a turn",))
    began = time.monotonic()
    vault.git("update-ref", "ORIG_HEAD", "HEAD")
    writer.start()
    while True:
        seen = vault.git("rev-parse", "HEAD"), vault.read()
        if time.monotonic() - began > 0.3:  # on a busy machine the writer may have gone on before git told
            break
        assert seen == (head, b"begin\n")
    writer.join()
    assert vault.read() == b"begin\na turn\n"
    assert vault.git("status", "--porcelain") == ""


def test_what_another_has_just_committed_is_not_committed_again(vault: Vault) -> None:
    """Two processes found the same edit of the person's: the second must read again, and finds nothing left."""
    vault.add(b"begin")
    vault.write(b"begin\nby hand\n")
    draft = Draft("edit", PERSON, (FileChange(USER, b"begin\n", b"begin\nby hand\n"),))
    vault.history.commit([draft])
    with pytest.raises(Changed):
        vault.history.commit([draft])
    assert vault.history.uncommitted() == []
    assert vault.git("log", "--format=%s", "--grep=^edit").splitlines() == ["edit"]


def test_what_is_saved_on_a_text_that_is_taken_back_stays_and_that_text_goes(vault: Vault) -> None:
    """A merge writes two files, and the person saves both: the first with the remote's lines in it. These were then
    committed as the person's, and stood there twice after the next attempt."""
    note = PurePosixPath("note.md")
    vault.add(b"begin\nend")
    vault.add(b"note", note)
    drafts = [Draft("merge", ASSISTANT, (vault.draft(b"theirs").changes[0], vault.draft(b"theirs", note).changes[0]))]

    def save(step: str) -> None:
        if step == "file written" and vault.read(note) == b"note\n":
            vault.write((vault.read() or b"").replace(b"begin\n", b"begin\nby hand\n") + b"said last\n")
            vault.write(b"note by hand\n", note)

    with pytest.raises(Changed):
        History(vault.root, step=save).commit(drafts)
    assert vault.read() == b"begin\nby hand\nend\nsaid last\n" and vault.read(note) == b"note by hand\n"
    assert vault.history.state().waiting == 0
    vault.add(b"theirs")
    assert vault.read() == b"begin\nby hand\nend\nsaid last\ntheirs\n"


def test_a_value_that_is_saved_on_one_that_is_taken_back_stays(vault: Vault) -> None:
    """Of a field there is one: the old value must not come back in place of the person's."""
    note, before = PurePosixPath("note.md"), b"# User\n\n## Preferences\n- Theme: dark\n- Design style: flat\n"
    vault.write(before)
    after = before.replace(b"dark", b"light").replace(b"flat", b"soft")
    drafts = [Draft("merge", ASSISTANT, (FileChange(USER, before, after), FileChange(note, None, b"theirs\n")))]

    def save(step: str) -> None:
        if step == "file written" and vault.read() == after:
            vault.write(after.replace(b"light", b"blue"))
            vault.write(b"note by hand\n", note)

    with pytest.raises(Changed):
        History(vault.root, step=save).commit(drafts)
    assert vault.read() == before.replace(b"dark", b"blue") and vault.read(note) == b"note by hand\n"


@pytest.mark.slow
def test_threads_share_one_history(vault: Vault) -> None:
    def work(name: str) -> None:
        for number in range(8):
            path = PurePosixPath("memory", name, "USER.md")
            vault.history.commit([vault.draft(f"{name} {number}".encode(), path)])
            assert vault.history.uncommitted([path]) == []

    threads = [threading.Thread(target=work, args=(f"user{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(vault.subjects()) == 32
    vault.assert_clean()


def test_the_second_of_two_writers_is_told(vault: Vault) -> None:
    vault.add(b"one")
    mine, theirs = vault.draft(b"mine"), vault.draft(b"theirs")
    vault.history.commit([mine])
    with pytest.raises(Changed):
        vault.history.commit([theirs])
    again = Draft("again", ASSISTANT, (FileChange(USER, b"one\nmine\n", b"one\nmine\ntheirs\n"),))
    vault.history.commit([again])
    vault.assert_clean()
