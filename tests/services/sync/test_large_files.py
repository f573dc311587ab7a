"""A file that is too large to be read whole stays as it is, is named, and stops nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.services.sync.conftest import Machine, git
from tests.services.sync.test_bombs import synced
from vault_memory.adapters.files import MAX_FILE_BYTES
from vault_memory.adapters.git import Objects
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.errors import Changed, HistoryError, LargeObject
from vault_memory.services.admin.status import status
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.retrieval.build_prompt import build_enhanced_prompt
from vault_memory.services.sync.check_staged import check_staged
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault

VIDEO = "memory/alice/video.mp4"
NOTE = PurePosixPath("memory/alice/notes/idea.md")


def sparse(vault: Vault, name: str, size: int = MAX_FILE_BYTES + 1) -> Path:
    """A file of zeros that takes no room on the disk, and that git does not compare with others."""
    git(vault.root, "config", "core.bigFileThreshold", "1m")
    file = vault.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    os.truncate(file, size)
    return file


def withheld(vault: Vault) -> list[tuple[str, str]]:
    return [(held.path, held.kind) for held in status(vault).withheld]


@pytest.mark.slow
def test_a_large_file_is_withheld_alone_and_named_until_the_person_commits_it(vault: Vault) -> None:
    sparse(vault, VIDEO)
    sparse(vault, "plan.md")
    (vault.root / "other.md").write_text("x\n")
    assert commit_person_edits(vault, None) == 1
    assert withheld(vault) == [(VIDEO, "large"), ("plan.md", "large")]
    assert any(VIDEO in line and f"git add {VIDEO}" in line for line in status(vault).unhealthy)
    git(vault.root, "add", VIDEO, "plan.md")
    assert check_staged(vault.root) == []
    git(vault.root, "commit", "-q", "-m", "on purpose")
    assert withheld(vault) == [] and commit_person_edits(vault, None) == 0
    with pytest.raises(LargeObject, match=f"{VIDEO} has more than 20,000,000"):
        vault.history.blob(PurePosixPath(VIDEO))
    (vault.root / VIDEO).unlink()  # what it held was never read, so that it is gone is for the person's git too
    (vault.root / "plan.md").write_text("small again\n")
    assert commit_person_edits(vault, None) == 0
    assert withheld(vault) == [(VIDEO, "large"), ("plan.md", "large")]
    git(vault.root, "commit", "-q", "-a", "-m", "gone")
    assert withheld(vault) == []


def test_a_large_file_of_one_user_stops_no_turn_of_another(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    sparse(vault, "memory/alice/USER.md")
    kept = record_turn(vault, "alice", "hello")
    assert kept.source and "alice/USER.md has more than 20,000,000 bytes" in (kept.paused or "") and not kept.commits
    assert record_turn(vault, "bob", "我喜歡暗色主題").commits
    assert withheld(vault) == [("memory/alice/USER.md", "large")]
    git(vault.root, "restore", "memory/alice/USER.md")
    assert record_turn(vault, "alice", "hello").paused is None and withheld(vault) == []


@pytest.mark.slow
def test_a_prompt_quotes_the_beginning_of_a_large_note(vault: Vault) -> None:
    record_turn(vault, "alice", "hello")
    (vault.root / "tea.md").write_text("# Tea\n\nThe oolong of Alishan is in the green tin.\n")
    sparse(vault, "tea.md")
    prompt = build_enhanced_prompt(vault, "alice", "Where is the oolong of Alishan?")
    assert "green tin" in prompt.text


def test_what_waits_is_left_when_a_large_file_takes_its_place(vault: Vault) -> None:
    path = vault.root / NOTE
    draft = Draft("note", ASSISTANT, (FileChange(NOTE, None, b"one\n"),))
    git(vault.root, "checkout", "-q", "--detach")
    assert vault.history.commit([draft]).waiting == 1
    git(vault.root, "checkout", "-q", "main")
    sparse(vault, str(NOTE))
    git(vault.root, "add", str(NOTE))
    git(vault.root, "commit", "-q", "-m", "on purpose")
    assert vault.history.flush().waiting == 0
    assert git(vault.root, "status", "--porcelain") == "" and path.stat().st_size == MAX_FILE_BYTES + 1


def test_an_edit_that_grows_while_it_is_committed_is_a_changed_file(vault: Vault) -> None:
    (vault.root / "grows.md").write_text("small\n")
    (edit,) = vault.history.uncommitted()
    sparse(vault, "grows.md")
    with pytest.raises(Changed, match="was saved"):
        vault.history.commit_edits([Draft("edit", ASSISTANT, (edit,))])


def test_a_killed_write_ends_although_a_large_file_took_its_place(vault: Vault) -> None:
    (vault.root / NOTE).parent.mkdir(parents=True)
    (vault.root / NOTE).write_text("one\n")
    commit_person_edits(vault, None)
    intents = vault.history.git_dir / "vault-memory" / "intents"
    git(vault.root, "checkout", "-q", "--detach")
    vault.history.commit([Draft("two", ASSISTANT, (FileChange(NOTE, b"one\n", b"two\n"),))])
    (written,) = intents.iterdir()
    written.rename(written.with_suffix(".staged"))  # as a kill before its file was written leaves it
    sparse(vault, str(NOTE))
    git(vault.root, "symbolic-ref", "HEAD", "refs/heads/main")
    assert record_turn(vault, "bob", "我喜歡暗色主題").commits
    assert (vault.root / NOTE).stat().st_size == MAX_FILE_BYTES + 1


def test_many_files_are_committed_some_at_a_time(vault: Vault) -> None:
    for number in range(5):
        sparse(vault, f"pictures/{number}.jpg", MAX_FILE_BYTES * 2 // 5)
    parts = [len(part) for part in vault.history.uncommitted_in_parts()]
    assert parts == [3, 2]
    assert commit_person_edits(vault, None) == 5 and not vault.history.uncommitted()


@pytest.mark.slow
def test_a_large_file_of_the_remote_stays_in_git_and_everything_else_comes(one: Machine, two: Machine) -> None:
    sparse(one.vault, VIDEO)
    one.write("small.md", "small\n")
    git(one.root, "add", VIDEO)
    git(one.root, "commit", "-q", "-m", "on purpose")
    one.sync()
    two.write("own.md", "mine\n")
    notes = two.sync().notes
    assert any(VIDEO in note and "stay in git" in note for note in notes)
    assert two.read("small.md") == "small\n" and not (two.root / VIDEO).exists()
    two.assert_clean()
    one.sync()
    assert (one.root / VIDEO).exists() and one.read("own.md") == "mine\n"
    git(two.root, "update-index", "--no-skip-worktree", VIDEO)  # as the note says
    git(two.root, "checkout", "-q", "HEAD", "--", VIDEO)
    two.sync()
    assert (two.root / VIDEO).stat().st_size == MAX_FILE_BYTES + 1
    (one.root / VIDEO).unlink()
    git(one.root, "commit", "-q", "-a", "-m", "gone")
    one.sync()
    two.sync()
    assert git(two.root, "ls-files", VIDEO) == "" and withheld(two.vault) == [(VIDEO, "large")]


@pytest.mark.slow
def test_the_note_of_a_large_file_proposes_nothing_that_replaces_the_persons_own(one: Machine, two: Machine) -> None:
    """`git checkout HEAD -- FILE`, as it said, would have replaced what lay there, which was in no commit."""
    two.write(".git/info/exclude", "*.mp4\n")
    two.write(VIDEO, "mine\n")
    sparse(one.vault, VIDEO)
    git(one.root, "add", VIDEO)
    git(one.root, "commit", "-q", "-m", "on purpose")
    one.sync()
    (note,) = [note for note in two.sync().notes if "larger than" in note]
    assert VIDEO in note and "checkout" not in note and two.read(VIDEO) == "mine\n"
    command = note.split("`")[1].replace("FILE", VIDEO).replace("NEW-NAME", "theirs.bin")
    subprocess.run(["sh", "-c", command], cwd=two.root, check=True, timeout=60)
    assert (two.root / "theirs.bin").stat().st_size == MAX_FILE_BYTES + 1 and two.read(VIDEO) == "mine\n"


@pytest.mark.slow
def test_a_large_file_that_turns_write_is_not_taken_in_and_holds_nobody_up(one: Machine, two: Machine) -> None:
    """A remote appended megabytes to a log: left out of the disk, its commits waited, and all syncs with them."""
    record_turn(two.vault, "bob", "我喜歡暗色主題")
    two.sync()
    one.sync()
    log = next((one.root / "memory/bob/daily").iterdir()).relative_to(one.root).as_posix()
    for name in (log, "memory/alice/USER.md", "memory/carol/feedback.jsonl"):
        sparse(one.vault, name)
    git(one.root, "add", ".")
    git(one.root, "commit", "-q", "-m", "large")
    one.sync()
    before = two.read(log)
    assert any("a file that turns write" in note for note in two.sync().notes)
    for user_id in ("alice", "bob", "carol"):
        assert record_turn(two.vault, user_id, "I use Python every day").commits
    assert two.read(log).startswith(before)
    two.sync()
    two.assert_clean()


@pytest.mark.slow
def test_a_large_file_that_both_changed_stays_as_it_is_here(one: Machine, two: Machine) -> None:
    for machine, size in ((one, 1), (two, 2)):
        sparse(machine.vault, VIDEO, MAX_FILE_BYTES + size)
        git(machine.root, "add", VIDEO)
        git(machine.root, "commit", "-q", "-m", "on purpose")
    one.sync()
    notes = two.sync().notes
    assert any(VIDEO in note and "yours stays" in note for note in notes)
    assert (two.root / VIDEO).stat().st_size == MAX_FILE_BYTES + 2
    two.assert_clean()


def test_a_remotes_change_of_a_file_that_is_large_here_is_refused_by_name(one: Machine, two: Machine) -> None:
    one.edit(str(NOTE), "two", "TWO")
    one.sync()
    sparse(two.vault, str(NOTE))
    before = git(two.root, "rev-parse", "HEAD")
    with pytest.raises(HistoryError, match=r"idea.md, which is too large here"):
        two.sync()
    assert git(two.root, "rev-parse", "HEAD") == before


def test_an_object_is_read_up_to_the_size_that_its_reader_takes(vault: Vault) -> None:
    (vault.root / "random").write_bytes(os.urandom(3_000_000))
    name = git(vault.root, "hash-object", "-w", "random").strip()
    objects = Objects(vault.root / ".git/objects")
    assert objects.read(name, 3_000_000)[1] == (vault.root / "random").read_bytes()
    with pytest.raises(LargeObject):
        objects.read(name, 2_999_999)


@pytest.mark.slow
def test_a_sync_takes_little_memory_whatever_lies_in_the_folder(one: Machine) -> None:
    (one.root / "video.mp4").write_bytes(os.urandom(MAX_FILE_BYTES * 3))
    for number in range(2):
        (one.root / f"{number}.jpg").write_bytes(os.urandom(MAX_FILE_BYTES // 2))
    code, _, memory_mb = synced(one)
    assert code == 0 and memory_mb < 250


@pytest.mark.slow
def test_a_log_of_many_megabytes_is_not_taken_in(one: Machine, two: Machine) -> None:
    """Just under 20 MB it ended that user's turns; short lines made prompts take seconds."""
    day = next((two.root / "memory/alice/daily").iterdir()).relative_to(two.root).as_posix()
    sizes = {day: 4_100_000, "memory/alice/feedback.jsonl": 15_100_000, "memory/alice/MEMORY.md": 15_100_000}
    before = {name: two.read(name) if (two.root / name).exists() else None for name in sizes}
    for name, size in sizes.items():
        with (one.root / name).open("a") as file:
            file.write("- N a\n" * (size // 6))
    git(one.root, "add", "-A")
    git(one.root, "commit", "-qm", "sent")
    git(one.root, "push", "-q", "origin", "main")
    notes = two.sync().notes
    assert any("3 files" in note and "yours stays" in note for note in notes), notes
    assert {name: two.read(name) if (two.root / name).exists() else None for name in sizes} == before
    assert record_turn(two.vault, "alice", "I use Python every day").commits


@pytest.mark.slow
@pytest.mark.parametrize("line", ["x\n", "- 👍\n"])
def test_a_large_profile_is_not_taken_in(one: Machine, two: Machine, line: str) -> None:
    """Six megabytes of two bytes each are 27 KB in git; a turn took 0.9 GB, a prompt seconds of the server."""
    with (one.root / "memory/alice/USER.md").open("a") as file:
        file.write(line * (6_000_000 // len(line.encode())))
    assert one.sync().sent
    before = two.read("memory/alice/USER.md")
    assert any("memory/alice/USER.md" in note and "yours stays" in note for note in two.sync().notes)
    assert two.read("memory/alice/USER.md") == before
    assert record_turn(two.vault, "alice", "I use Python every day").commits
    with (two.root / "memory/alice/USER.md").open("a") as file:
        file.write(line * 1_000_000)
    kept = record_turn(two.vault, "alice", "I use Python every day")
    assert "USER.md of more than 1,000,000 characters" in (kept.paused or "") and not kept.commits
    assert any("USER.md of more than" in line for line in build_enhanced_prompt(two.vault, "alice", "hello").degraded)
    assert record_turn(two.vault, "bob", "I use Python every day").commits


@pytest.mark.parametrize("name", ["context/SOUL.md", "skills/coding-agent/SKILL.md"])
def test_a_large_instruction_is_not_taken_in(one: Machine, two: Machine, name: str) -> None:
    """Each prompt reads all of it: one of 19 MB took 4 s of the processor."""
    before = (two.root / name).read_bytes()
    (one.root / name).write_text("- 主題 <a & b>\n" * 20_000)
    git(one.root, "commit", "-q", "-a", "-m", "large")
    one.sync()
    assert any(name in note and "yours stays" in note for note in two.sync().notes)
    assert (two.root / name).read_bytes() == before
    two.assert_clean()
