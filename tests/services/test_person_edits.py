"""The person's edits become the person's commits, with a message that says what changed; a late save is merged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Clock
from tests.pace import assert_in_proportion, repeated
from vault_memory.adapters.history import Draft, FileChange, History
from vault_memory.core import layout
from vault_memory.core.notes import note
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import Changed, VaultMemoryError
from vault_memory.services.admin import to_trust, trust
from vault_memory.services.admin.access import new_user_token, own_token
from vault_memory.services.admin.doctor import doctor
from vault_memory.services.admin.status import status
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.notes.save import save_note
from vault_memory.services.person_edits import commit_person_edits, withheld
from vault_memory.services.profiles.history import history
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import ChatsInProgress, Vault, open_vault
from vault_memory.services.write import locked

NOTE = PurePosixPath("memory/alice/notes/idea.md")
USER = PurePosixPath("memory/alice/USER.md")


def save(vault: Vault, path: PurePosixPath, text: str) -> None:
    """As an editor saves."""
    (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
    (vault.root / path).write_text(text, encoding="utf-8")


def git(vault: Vault, *words: str) -> str:
    identity = ("-c", "user.name=Alice", "-c", "user.email=alice@example.org")
    return subprocess.run(
        ["git", *identity, *words], cwd=vault.root, check=True, capture_output=True, timeout=60, encoding="utf-8"
    ).stdout


def read(vault: Vault, path: PurePosixPath) -> str:
    return (vault.root / path).read_text(encoding="utf-8")


def subjects(vault: Vault) -> list[str]:
    return [entry.subject for entry in vault.history.log(limit=50)]


def test_a_chat_goes_first_between_two_files_of_a_commit(vault: Vault) -> None:
    """A person waits for the chat, and nobody for the daemon's commit of their notes."""
    chats = vault.__dict__["chats"] = ChatsInProgress(wait_s=600)
    for number in range(3):
        save(vault, PurePosixPath(f"memory/alice/notes/{number}.md"), f"# {number}\n")
    began, asked, ended = threading.Event(), threading.Event(), threading.Event()

    def commit() -> None:
        chats.let_go_first()
        began.set()
        assert asked.wait(60)
        with locked(vault, "alice"):
            commit_person_edits(vault, "alice")
        ended.set()

    working = threading.Thread(target=commit)
    working.start()
    assert began.wait(60)
    with chats.one():
        asked.set()
        assert not ended.wait(0.5)
    assert ended.wait(60), "before the time is up"
    working.join(60)
    assert subjects(vault)[0] == "add 3 files"


def at_step(vault: Vault, name: str, act: object, times: int = 1) -> None:
    """Let something happen at a marked step of a write."""
    left = [act] * times

    def step(reached: str) -> None:
        if reached == name and left:
            left.pop()()  # type: ignore[operator]

    vault.__dict__["history"] = History(vault.root, step=step)


def test_an_edit_of_very_many_preferences_is_one_commit(vault: Vault) -> None:
    """Each commit holds the whole file: 50,000 notes in one edit once took the memory of the machine."""
    record_turn(vault, "alice", "我喜歡暗色主題")
    before = len(subjects(vault))
    save(vault, USER, read(vault, USER) + "".join(f"- note {n}\n" for n in range(60)))
    commit_person_edits(vault, "alice")
    assert len(subjects(vault)) == before + 1 and "USER.md" in subjects(vault)[0]
    save(vault, USER, read(vault, USER) + "- one\n- two\n")
    commit_person_edits(vault, "alice")
    assert [s.partition(" ")[0] for s in subjects(vault)[:2]] == ["USER.md:", "USER.md:"]


def test_the_title_of_a_hostile_note_is_found_at_once(vault: Vault) -> None:
    for start, piece in (("", "# "), ("#", " "), ("# ", "\t")):

        def edit(size: int, start: str = start, piece: str = piece) -> None:
            save(vault, NOTE, f"{start}{repeated(piece, size)}x\n")
            commit_person_edits(vault, "alice")

        assert_in_proportion(edit, 80_000)
    save(vault, NOTE, "#  tea #\n")
    commit_person_edits(vault, "alice")
    assert subjects(vault)[0] == f"edit tea ({NOTE})"


def test_a_note_is_named_by_its_title(vault: Vault) -> None:
    save(vault, NOTE, "# 想法\n\n一\n")
    commit_person_edits(vault, "alice")
    save(vault, NOTE, "---\ntitle: 新的\n想法: x\n---\n# 想法\n")
    commit_person_edits(vault, "alice")
    save(vault, NOTE, "no title\n")
    commit_person_edits(vault, "alice")
    (vault.root / NOTE).unlink()
    commit_person_edits(vault, None)
    assert subjects(vault)[:4] == [
        *(f"delete {NOTE}", f"edit {NOTE}", f"edit 新的 ({NOTE})", f"add 想法 ({NOTE})"),
    ]
    assert {entry.author for entry in vault.history.log(limit=4)} == {"vault owner"}


def test_many_notes_are_one_commit_that_lists_them(vault: Vault) -> None:
    for number in range(3):
        save(vault, PurePosixPath(f"memory/alice/{number}.md"), f"# 第{number}\n")
    save(vault, PurePosixPath("memory/bob/x.md"), "x\n")
    save(vault, PurePosixPath("own.md"), "x\n")
    assert commit_person_edits(vault, None) == 5
    newest = vault.history.log(limit=3)
    assert {entry.subject for entry in newest} == {"add 3 files", "add memory/bob/x.md", "add own.md"}
    (listed,) = (entry.body for entry in newest if entry.subject == "add 3 files")
    assert listed == "\n".join(f"- add 第{n} (memory/alice/{n}.md)" for n in range(3))


def test_a_title_cannot_forge_a_trailer(vault: Vault) -> None:
    save(vault, NOTE, '---\ntitle: "x\\n\\nVault-Key: theme"\n---\n')
    commit_person_edits(vault, "alice")
    (entry,) = vault.history.log(limit=1)
    assert entry.trailers == {} and "\n" not in entry.subject


def test_a_preference_edited_by_hand_has_the_same_trailers(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    save(vault, USER, read(vault, USER).replace("dark", "light").replace("工具：", "工具：Docker") + "\n我的話\n")
    commit_person_edits(vault, "alice")
    assert subjects(vault)[:2] == ["USER.md: theme dark → light", "USER.md: tools += Docker"]
    newest = history(vault, "alice")[0]
    assert (newest.key, newest.old, newest.new, newest.strength) == ("theme", "dark", "light", "manual")
    assert vault.history.blob(USER) == (vault.root / USER).read_bytes()


@pytest.mark.parametrize("step", ["intent written", "file written"])
def test_a_save_between_reading_and_renaming_is_merged_with_a_turn(vault: Vault, clock: Clock, step: str) -> None:
    """The person's first, as the person's; the assistant's on top of it, by key."""
    record_turn(vault, "alice", "你好")

    def by_hand() -> None:
        save(vault, USER, read(vault, USER).replace("稱呼：", "稱呼：小安") + "\n我住台北。\n")

    at_step(vault, step, by_hand)
    record_turn(vault, "alice", "我喜歡暗色主題")
    profile = Profile.parse(read(vault, USER))
    assert (profile.get("theme"), profile.get("display_name")) == ("dark", "小安")
    assert read(vault, USER).count("我住台北。") == 1
    commit_person_edits(vault, "alice")
    mine = {entry.subject for entry in vault.history.log(limit=50) if entry.author == "vault owner"}
    assert mine == {"USER.md: display_name = 小安"}
    assert vault.history.uncommitted() == []


def test_an_older_text_that_is_saved_is_merged_with_what_came_since(vault: Vault) -> None:
    base = b"# note\n\none\ntwo\nthree\n"
    assert save_note(vault, NOTE, None, base, "make", vault.history.person()) == []
    save(vault, NOTE, base.decode().replace("three", "THREE"))
    at_step(vault, "intent written", lambda: save(vault, NOTE, read(vault, NOTE) + "late\n"))
    assert save_note(vault, NOTE, base, base.replace(b"one", b"ONE"), "ours", vault.history.person()) == []
    assert read(vault, NOTE) == "# note\n\nONE\ntwo\nTHREE\nlate\n"
    assert vault.history.blob(NOTE) == (vault.root / NOTE).read_bytes()


def test_a_save_in_the_middle_of_saving_a_note_is_merged(vault: Vault) -> None:
    base = b"# note\n\none\ntwo\n"
    save_note(vault, NOTE, None, base, "make", vault.history.person())
    at_step(vault, "intent written", lambda: save(vault, NOTE, read(vault, NOTE) + "late\n"))
    save_note(vault, NOTE, base, base.replace(b"one", b"ONE"), "ours", vault.history.person())
    assert read(vault, NOTE) == "# note\n\nONE\ntwo\nlate\n"
    assert subjects(vault)[:2] == ["ours", f"edit note ({NOTE})"], "the person's first"


def test_the_same_lines_keep_both_texts_and_status_tells(vault: Vault) -> None:
    base = b"# note\n\none\n"
    save_note(vault, NOTE, None, base, "make", vault.history.person())
    save(vault, NOTE, "# note\n\nmine\n")
    assert save_note(vault, NOTE, base, b"# note\n\nyours\n", "edit", vault.history.person()) == [(3, 7)]
    assert read(vault, NOTE) == f"# note\n\n{note.CONFLICT_OPEN}\nmine\n=======\nyours\n{note.CONFLICT_CLOSE}\n"
    (line,) = status(vault).conflicts
    assert line.startswith(f"{NOTE}: lines 3-7 hold two texts")


def test_what_cannot_be_merged_is_not_written(vault: Vault) -> None:
    path = PurePosixPath("memory/alice/plan.canvas")
    save(vault, path, "mine")
    with pytest.raises(Changed) as raised:
        save_note(vault, path, b"base", b"yours", "edit", vault.history.person())
    assert raised.value.found == b"mine" and read(vault, path) == "mine"


def test_what_is_derived_is_in_no_commit_whatever_gitignore_says(vault: Vault) -> None:
    """Walls: tokens, and an index, which holds words of conversations, are never committed as the person's notes."""
    new_user_token(vault, "alice")
    save(vault, NOTE, "# 想法\n")
    reconcile(vault, "alice")
    save(vault, PurePosixPath(".gitignore"), "\n")
    assert commit_person_edits(vault, None) == 2
    assert commit_person_edits(vault, None, [PurePosixPath(".vault-memory/token")]) == 0
    held = [change.path.as_posix() for change in vault.history.uncommitted()]
    assert held == []
    assert vault.history.blob(NOTE) is not None
    for path in (".vault-memory/token", ".vault-memory/tokens/alice", "memory/alice/index.db"):
        assert (vault.root / path).exists() and vault.history.blob(PurePosixPath(path)) is None


def test_what_is_private_is_not_committed_in_an_archive_or_a_copy(vault: Vault, tmp_path: Path) -> None:
    """A person's own `memory.zip` and a copy of the state were committed, and sent with conversations and tokens."""
    own_token(vault.root)
    record_turn(vault, "alice", "My zebra talk", "ok")
    for kind in ("zip", "tar", "gztar", "xztar"):
        shutil.make_archive(str(tmp_path / "memory"), kind, vault.root, "memory")
    (vault.root / "Backups").mkdir()
    for path in tmp_path.glob("memory.*"):
        shutil.copy(path, vault.root / "Backups")
    shutil.copytree(vault.root / ".vault-memory", vault.root / "state-backup")
    (vault.root / "papers.7z").write_bytes(b"7z\xbc\xaf\x27\x1c\0\4 papers")
    save(vault, NOTE, "# 想法\n")
    assert commit_person_edits(vault, None) == 1
    archives, papers = withheld(vault)
    assert archives.kind == "private" and "3 more in its folder" in archives.why
    assert papers.kind == "opaque" and "git add papers.7z" in papers.next_step
    git(vault, "add", "papers.7z")
    git(vault, "commit", "--quiet", "--message", "papers")
    assert withheld(vault) == (archives,)
    assert not {"Backups", "state-backup"} & set(
        git(vault, "log", "--format=", "--name-only").replace("/", "\n").split()
    )


def test_one_staged_file_waits_alone(vault: Vault) -> None:
    for name in ("a.md", "b.md", "c.md"):
        save(vault, PurePosixPath(name), "one\n")
    assert commit_person_edits(vault, None) == 3
    save(vault, PurePosixPath("b.md"), "staged\n")
    git(vault, "add", "b.md")
    for name in ("a.md", "b.md", "c.md"):
        save(vault, PurePosixPath(name), "two\n")
    said: list[str] = []
    assert commit_person_edits(vault, None, on_waiting=said.append) == 2
    assert len(said) == 1 and "b.md is staged" in said[0]
    assert vault.history.blob(PurePosixPath("a.md")) == vault.history.blob(PurePosixPath("c.md")) == b"two\n"
    assert vault.history.blob(PurePosixPath("b.md")) == b"one\n" and vault.history.state().waiting == 0
    git(vault, "reset", "--quiet", "--", "b.md")
    assert commit_person_edits(vault, None) == 1
    assert vault.history.blob(PurePosixPath("b.md")) == b"two\n"


def test_a_program_stays_a_program(vault: Vault) -> None:
    for name in ("run.sh", "data.csv"):
        save(vault, PurePosixPath(name), "x\n")
    (vault.root / "run.sh").chmod(0o755)
    commit_person_edits(vault, None)
    rows = git(vault, "ls-tree", "HEAD", "data.csv", "run.sh").splitlines()
    assert [row.split()[0] for row in rows] == ["100644", "100755"]
    assert git(vault, "status", "--porcelain") == ""


# --- secrets ----------------------------------------------------------------------------------------------------------

SECRET = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OTHER = PurePosixPath(".obsidian/sync.json")
PLUGIN = PurePosixPath(".obsidian/plugins/sync/data.json")


def committed(vault: Vault) -> str:
    """Everything that any commit says or changes."""
    return git(vault, "log", "--all", "--patch", "--text")


def test_a_file_with_a_secret_is_withheld_alone_and_named(vault: Vault) -> None:
    """The daemon committed what our own pre-commit hook refuses."""
    save(vault, NOTE, f"# keys\n\nthe key: {SECRET}\n")
    for path in (OTHER, PLUGIN):  # a plugin's files are in no automatic commit at all
        save(vault, path, f'{{"token": "{SECRET}"}}\n')
    save(vault, PurePosixPath("memory/alice/notes/tea.md"), "green\n")
    assert commit_person_edits(vault, None) == 1
    assert SECRET not in committed(vault) and "green" in committed(vault)
    current = status(vault)
    assert {(w.path, w.line, w.kind) for w in current.withheld} == {(str(NOTE), 3, "token"), (str(OTHER), 1, "token")}
    told = [line for line in current.unhealthy if str(NOTE) in line]
    assert len(told) == 1 and "line 3" in told[0] and "--no-verify" in told[0] and SECRET not in str(current)
    assert [w.path for w in status(vault, "alice").withheld] == [str(NOTE)]


@pytest.mark.parametrize("name", ["memory/alice/it's $(touch pwn) `touch pwn`.md", "-n; touch pwn.md"])
def test_a_proposed_command_runs_nothing_that_a_name_holds(vault: Vault, name: str) -> None:
    save(vault, PurePosixPath(name), f"password: {SECRET}\n")
    commit_person_edits(vault, None)
    (held,) = withheld(vault)
    command = held.next_step.partition("on purpose: `")[2].partition("`, `git commit")[0]
    subprocess.run(["sh", "-c", command], cwd=vault.root, check=True, timeout=30)
    assert git(vault, "diff", "--cached", "--name-only", "-z").split("\0")[:-1] == [name]
    assert not (vault.root / "pwn").exists() and not (vault.root / "pwn.md").exists()


def test_a_withheld_file_is_searched_again_only_when_it_has_changed(vault: Vault) -> None:
    """A withheld log of some megabytes was searched at every commit of every user, and at every status."""
    save(vault, NOTE, f"{SECRET}\n")
    assert commit_person_edits(vault, None) == 0
    record = vault.root / layout.STATE_DIR / "withheld.json"
    noted = json.loads(record.read_text())
    noted[str(NOTE)]["findings"] = [[7, "found before"]]
    record.write_text(json.dumps(noted))
    save(vault, PurePosixPath("memory/bob/USER.md"), "- tea\n")
    assert commit_person_edits(vault, "bob") == 1 and commit_person_edits(vault, None) == 0
    assert [(w.line, w.kind) for w in withheld(vault)] == [(7, "found before")]
    save(vault, NOTE, f"tea\n{SECRET}\n")
    assert [(w.line, w.kind) for w in withheld(vault)] == [(2, "token")]
    noted[str(NOTE)]["findings"] = []  # whoever writes that lets nothing pass
    record.write_text(json.dumps(noted))
    save(vault, NOTE, f"{SECRET}\n")
    assert commit_person_edits(vault, None) == 0 and [w.line for w in withheld(vault)] == [1]


@pytest.mark.parametrize("damaged", ['{"memory/alice/notes/x.md": true}', '{"x": {"findings": [1, [2]]}}', "[]", "{"])
def test_a_damaged_record_of_withheld_files_is_made_again(vault: Vault, damaged: str) -> None:
    save(vault, NOTE, f"{SECRET}\n")
    (vault.root / layout.STATE_DIR / "withheld.json").write_text(damaged)
    assert commit_person_edits(vault, None) == 0
    assert [(w.path, w.line) for w in withheld(vault)] == [(str(NOTE), 1)]


def test_what_stands_in_the_place_of_a_turns_file_is_withheld_and_stops_its_user_alone(vault: Vault) -> None:
    save(vault, PurePosixPath("memory/bob/USER.md/x.md"), "mine\n")
    save(vault, PurePosixPath("memory/carol"), "mine\n")
    save(vault, PurePosixPath("memory/dave/conversations"), "mine\n")
    assert commit_person_edits(vault, None) == 0
    assert [(w.path, w.kind) for w in status(vault).withheld] == [
        ("memory/bob/USER.md/x.md", "misplaced"),
        ("memory/carol", "misplaced"),
        ("memory/dave/conversations", "misplaced"),
    ]
    for user, said in (("carol", "carol is a file"), ("dave", "another name")):
        with pytest.raises(VaultMemoryError, match=said):
            record_turn(vault, user, "我喜歡暗色主題")
    assert "USER.md is a folder" in (record_turn(vault, "bob", "我喜歡暗色主題").paused or "")
    assert record_turn(vault, "alice", "我喜歡暗色主題").commits and doctor(vault)
    (vault.root / "memory/bob/USER.md").rename(vault.root / "memory/bob/mine")
    assert record_turn(vault, "bob", "我喜歡暗色主題").paused is None
    assert vault.history.blob(PurePosixPath("memory/bob/USER.md"))


@pytest.mark.slow
def test_a_user_whose_filter_fails_is_named_and_stops_no_other(vault: Vault, clock: Clock) -> None:
    """git-lfs or git-crypt is named in the settings of git, and is not installed."""
    record_turn(vault, "alice", "hello")
    with (vault.root / ".gitattributes").open("a") as attributes:
        attributes.write("memory/alice/** filter=lfs\n")
    git(vault, "config", "filter.lfs.clean", "vault-memory-no-such-program")
    git(vault, "config", "filter.lfs.required", "true")
    trust(vault, to_trust(vault))
    vault = open_vault(vault.root, now=clock)
    assert record_turn(vault, "bob", "我喜歡暗色主題").commits
    assert not record_turn(vault, "alice", "我喜歡暗色主題").commits
    assert "dark" in (vault.root / "memory/alice/USER.md").read_text(encoding="utf-8")
    (vault.root / "open.md").write_text("mine\n")
    commit_person_edits(vault, None)
    assert "open.md" in git(vault, "ls-files")
    held = {each.path: each for each in status(vault).withheld}
    assert "memory/alice/USER.md" in held and {each.kind for each in held.values()} == {"filter"}
    assert "lfs fails" in held["memory/alice/USER.md"].why and "filter.lfs" in held["memory/alice/USER.md"].next_step
    git(vault, "config", "filter.lfs.clean", "cat")
    trust(vault, to_trust(vault))
    vault = open_vault(vault.root, now=clock)
    assert record_turn(vault, "alice", "hello").commits
    assert not status(vault).withheld and not git(vault, "status", "--porcelain")


def test_a_file_whose_name_is_a_secret_is_withheld_and_the_secret_is_not_shown(vault: Vault) -> None:
    """The daemon committed `sk-….md`, and the log of the assistant's files told it."""
    secret, kept = NOTE.with_name(f"{SECRET}.md"), NOTE.with_name("keys.md")
    save(vault, kept, "tea\n")
    assert commit_person_edits(vault, None) == 1
    (vault.root / kept).rename(vault.root / secret)
    assert commit_person_edits(vault, None) == 1  # the old name is gone
    assert SECRET not in git(vault, "log", "--all", "--name-only") + committed(vault)
    current = status(vault)
    assert [(w.path, w.line, w.kind) for w in current.withheld] == [
        (str(NOTE.with_name("[redacted: token].md")), 0, "token")
    ]
    assert "rename the file" in str(current.unhealthy) and SECRET not in str((current.withheld, current.unhealthy))
    (vault.root / secret).rename(vault.root / kept)
    assert status(vault).withheld == () and commit_person_edits(vault, None) == 1


def test_a_note_that_the_assistant_saves_under_a_secret_name_waits(vault: Vault) -> None:
    secret, kept = NOTE.with_name(f"{SECRET}.md"), NOTE.with_name("keys.md")
    save_note(vault, secret, None, b"tea\n", "add a note", vault.history.person())
    waiting = vault.history.flush()
    assert waiting.waiting == 1 and waiting.paused and SECRET not in waiting.paused and "its name" in waiting.paused
    (vault.root / secret).rename(vault.root / kept)
    assert commit_person_edits(vault, "alice") == 1
    assert vault.history.flush().waiting == 0 and vault.history.blob(kept) == b"tea\n"
    assert SECRET not in git(vault, "log", "--all", "--name-only")


def test_a_withheld_file_is_committed_when_the_secret_is_gone(vault: Vault) -> None:
    save(vault, NOTE, f"key {SECRET}\nmore\n")
    assert commit_person_edits(vault, "alice") == 0
    save(vault, NOTE, "key: in the safe\nmore\n")
    assert status(vault).withheld == ()
    assert commit_person_edits(vault, "alice") == 1
    assert vault.history.blob(NOTE) == b"key: in the safe\nmore\n" and SECRET not in committed(vault)


def test_a_secret_committed_on_purpose_with_git_is_no_longer_held_against_the_file(vault: Vault) -> None:
    save(vault, NOTE, f"key {SECRET}\n")
    assert commit_person_edits(vault, "alice") == 0
    git(vault, "add", str(NOTE))
    git(vault, "commit", "--no-verify", "-m", "on purpose")
    assert status(vault).withheld == ()
    save(vault, NOTE, f"key {SECRET}\nmore\n")
    assert commit_person_edits(vault, "alice") == 1
    (vault.root / NOTE).rename(vault.root / NOTE.with_name("keys.md"))
    assert commit_person_edits(vault, "alice") == 2 and vault.history.state().waiting == 0


@pytest.mark.parametrize(
    ("committed_on_purpose", "renamed", "text"),
    [
        (f"notes/{SECRET}.md", f"notes/old/{SECRET}.txt", "tea\n"),  # its name goes with it
        (f"notes/{SECRET}/a.md", f"notes/{SECRET}/b.md", "more tea\n"),  # the folder is in history
        ("notes/idea.md", "notes/key.md", f"tea\nmore\n{SECRET}\n"),  # renamed and edited
        ("notes/idea.md", "../bob/notes/key.md", f"tea\n{SECRET}\n"),  # given to another user
    ],
)
def test_what_a_person_committed_on_purpose_is_not_withheld_under_another_name(
    vault: Vault, committed_on_purpose: str, renamed: str, text: str
) -> None:
    """It was, at each rename with an edit, each move to another folder, and each new file in a folder."""
    first = layout.user_dir("alice") / committed_on_purpose
    second = PurePosixPath(os.path.normpath(layout.user_dir("alice") / renamed))
    save(vault, first, f"tea\n{SECRET if first == NOTE else ''}\n")
    assert commit_person_edits(vault, None) == 0
    git(vault, "add", str(first))
    git(vault, "commit", "--no-verify", "-m", "on purpose")
    (vault.root / first).unlink()
    save(vault, second, text)
    assert commit_person_edits(vault, None) == 2
    assert vault.history.state().waiting == 0 and vault.history.blob(second) == text.encode()
    other = second.with_name(f"{SECRET[:-1]}9.md")  # another secret is new
    save(vault, other, f"{SECRET[:-1]}8\n")
    assert commit_person_edits(vault, None) == 0 and {w.line for w in withheld(vault)} == {0, 1}


def test_a_withheld_text_that_the_assistant_moves_is_still_withheld(vault: Vault) -> None:
    """What goes away was never in history: its lines are new under the other name, too."""
    moved = NOTE.with_name("moved.md")
    text = f"tea\n{SECRET}\n".encode()
    save(vault, NOTE, text.decode())
    assert commit_person_edits(vault, None) == 0
    changes = (FileChange(NOTE, text, None), FileChange(moved, None, text))
    flushed = vault.history.commit([Draft("move a note", vault.history.person(), changes)])
    assert flushed.waiting == 1 and SECRET not in committed(vault)


@pytest.mark.skipif(sys.platform == "darwin", reason="a name is UTF-8 there")
def test_a_withheld_file_whose_name_is_not_utf_8_is_named_without_the_secret(vault: Vault) -> None:
    """Every commit ended with a UnicodeEncodeError."""
    folder = os.fsencode(vault.root / NOTE.parent)
    os.makedirs(folder, exist_ok=True)
    for name, text in ((f"\udcff {SECRET} 100%.md", "tea\n"), ("\udcfe%41.md", f"{SECRET}\n")):
        Path(os.fsdecode(os.path.join(folder, os.fsencode(name)))).write_text(text, encoding="utf-8")
    assert commit_person_edits(vault, None) == 0 == commit_person_edits(vault, None)
    current = status(vault)
    assert sorted((w.path, w.line) for w in current.withheld) == [
        (str(NOTE.with_name("\udcfe%41.md")), 1),
        (str(NOTE.with_name("\udcff [redacted: token] 100%.md")), 0),
    ]
    assert SECRET not in str((current.withheld, current.unhealthy))


def test_the_assistants_changes_of_a_withheld_file_wait_and_are_committed_once_it_is_mended(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題", "好的")
    with_secret = read(vault, USER) + f"\n## Keys\n- mine: {SECRET}\n"
    save(vault, USER, with_secret)
    recorded = record_turn(vault, "alice", "以後都用繁體中文回答，簡短一點", "好的")
    assert recorded.paused and "USER.md" in recorded.paused and SECRET not in recorded.paused
    assert vault.history.state().waiting and SECRET in read(vault, USER) and SECRET not in committed(vault)
    assert "concise" in read(vault, USER)

    # other files go on meanwhile, and so does the assistant in this one
    save(vault, NOTE, "tea\n")
    assert commit_person_edits(vault, None, [NOTE]) == 1
    record_turn(vault, "alice", "我喜歡 Vue", "好")
    assert SECRET not in committed(vault)

    mended = read(vault, USER).replace(SECRET, "in the safe")
    save(vault, USER, mended)
    commit_person_edits(vault, "alice")
    assert vault.history.flush().waiting == 0
    assert vault.history.uncommitted() == [] and status(vault).withheld == ()
    assert vault.history.blob(USER) == mended.encode() and SECRET not in committed(vault)
    keys = [entry.key for entry in history(vault, "alice")]
    assert "response_style" in keys


def test_a_note_that_the_assistant_saves_with_a_secret_waits_too(vault: Vault) -> None:
    author = vault.history.person()
    save_note(vault, NOTE, None, f"key {SECRET}\n".encode(), "add a note", author)
    assert SECRET in read(vault, NOTE) and SECRET not in committed(vault)
    assert vault.history.state().waiting == 1
    save(vault, NOTE, "key: in the safe\n")
    commit_person_edits(vault, "alice")
    assert vault.history.flush().waiting == 0 and vault.history.blob(NOTE) == b"key: in the safe\n"
    assert SECRET not in committed(vault)


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_edit_that_git_is_told_not_to_see_is_not_committed(vault: Vault, version: str) -> None:
    path = PurePosixPath("notes.md")
    save(vault, path, "one\n")
    assert commit_person_edits(vault, None) == 1
    git(vault, "update-index", f"--index-version={version}", "--assume-unchanged", "notes.md")
    save(vault, path, "two\n")
    assert commit_person_edits(vault, None, [path]) == 0 == commit_person_edits(vault, None)
    git(vault, "update-index", "--no-assume-unchanged", "notes.md")
    assert commit_person_edits(vault, None, [path]) == 1


def test_a_profile_that_is_saved_as_utf_16_changes_no_preference(vault: Vault) -> None:
    """Each preference seemed to be gone: there was a commit for each, and another when it was saved as UTF-8 again."""
    record_turn(vault, "alice", "我喜歡暗色主題")
    text, before = read(vault, USER), len(subjects(vault))
    for encoding in ("utf-16", "utf-8"):
        (vault.root / USER).write_text(text, encoding=encoding)
        commit_person_edits(vault, "alice")
    assert len(subjects(vault)) == before + 2 and all(each.startswith("edit ") for each in subjects(vault)[:2])


def test_files_of_another_repository_end_no_round(vault: Vault) -> None:
    """Git refuses to judge them: "Pathspec is in submodule"."""
    for folder in ("sub", "gone", "memory/alice/other"):
        save(vault, PurePosixPath(folder, "x.md"), "x\n")
    head = git(vault, "rev-parse", "HEAD").strip()
    for folder in ("sub", "gone"):
        git(vault, "update-index", "--add", "--cacheinfo", f"160000,{head},{folder}")
    git(vault, "commit", "-qnm", "submodules")
    for folder in ("sub", "memory/alice/other"):
        git(vault, "init", "-q", folder)
    save(vault, NOTE, "mine\n")
    paths = [PurePosixPath("sub/x.md"), PurePosixPath("gone/x.md"), PurePosixPath("memory/alice/other/x.md"), NOTE]
    assert [edit.path for edit in vault.history.uncommitted(paths)] == [NOTE]
    assert commit_person_edits(vault, None, paths) == 1
