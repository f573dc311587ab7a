"""A remote that force-adds what it should not, and a vault that must not send what it should not."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.services.sync.conftest import USER, Machine, git, push
from vault_memory.adapters.git import Remote
from vault_memory.core import layout
from vault_memory.errors import HistoryError, InvalidId
from vault_memory.services.admin.doctor import doctor
from vault_memory.services.admin.status import status
from vault_memory.services.admin.users import rename_user
from vault_memory.services.person_edits import commit_person_edits, withheld
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.sync.agreed_remote import agreed_remote
from vault_memory.services.sync.check_staged import check_staged
from vault_memory.services.sync.sync import sync
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import open_vault

pytestmark = pytest.mark.slow

PLUGIN = ".obsidian/plugins/evil/main.js"
PRIVATE = (
    ".vault-memory/token",
    ".vault-memory/tokens/alice",
    ".VAULT-MEMORY/token",
    "memory/alice/index.db",
    "memory/alice/conversations/2026-01-29.jsonl",
    "memory/alice/archive/conversations/2025-01-29.jsonl",
)


def test_a_folder_that_can_be_no_users_stops_no_sync_and_is_named(remote: Machine, one: Machine) -> None:
    """The sync that merged `memory/con/USER.md` ended with an error after the merge, and did not push."""
    one.write("mine.md", "mine\n")
    push(remote, **{"memory/con/USER.md": "# x\n", "memory/alice./a.md": "x\n"})
    done = one.sync()
    assert done.sent > 0 and any("memory/con/USER.md" in line and "no user" in line for line in done.notes)
    assert one.read("memory/con/USER.md") and one.vault.user_ids() == ["alice"]
    assert any("(alice., con)" in line for line in status(one.vault).degraded)
    one.edit("memory/con/USER.md", "x", "y")
    assert commit_person_edits(one.vault, None) == 1


def test_private_files_of_the_remote_are_not_taken_in_and_leave_it(remote: Machine, one: Machine) -> None:
    conversation = next((one.root / "memory/alice/conversations").glob("*.jsonl"))
    mine = {path: path.read_bytes() for path in (one.root / ".vault-memory/token", conversation)}
    force_added = {**dict.fromkeys(PRIVATE, "theirs\n"), conversation.relative_to(one.root).as_posix(): "theirs\n"}
    push(remote, **force_added, **{"note.md": "# a note\n"})
    done = one.sync()
    assert one.read("note.md") == "# a note\n"
    assert {path: path.read_bytes() for path in mine} == mine
    assert not any((one.root / name).exists() for name in PRIVATE[1:] if name != "memory/alice/index.db")
    assert b"theirs" not in (one.root / "memory/alice/index.db").read_bytes()
    (line,) = done.notes
    assert "7 files" in line and "private" in line and "history" in line
    one.assert_clean()
    assert not any(layout.is_private(PurePosixPath(name)) for name in git(one.root, "ls-files").splitlines())
    assert one.sync().notes == ()


def test_a_first_sync_of_an_empty_branch_refuses_too(remote: Machine, tmp_path: Path) -> None:
    push(remote, **{PRIVATE[0]: "theirs\n", PLUGIN: "run()\n"})
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q", "-b", "main")
    git(tmp_path / "new", "remote", "add", "origin", str(tmp_path / "hub.git"))
    (tmp_path / "new/vault-memory.toml").write_text("format = 1\n")
    (tmp_path / "new/.git/info/exclude").write_text("vault-memory.toml\n")
    done = Machine(open_vault(tmp_path / "new")).sync()
    assert len(done.notes) == 4 and (tmp_path / "new/Home.md").exists()
    assert not (tmp_path / "new/.vault-memory/token").exists() and not (tmp_path / "new" / PLUGIN).exists()
    assert git(tmp_path / "new", "status", "--porcelain") == ""


@pytest.mark.parametrize("rules", ["", "!conversations/\n!.vault-memory/\n!index.db*\n"])
def test_an_emptied_gitignore_sends_nothing_private(one: Machine, hub: Path, rules: str) -> None:
    one.write(".gitignore", rules)
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好" * 120)
    one.vault.index("alice")
    commit_person_edits(one.vault, None)
    private = [
        path.relative_to(one.root) for path in one.root.rglob("*") if layout.is_private(path.relative_to(one.root))
    ]
    commit_person_edits(one.vault, None, [PurePosixPath(path) for path in private if (one.root / path).is_file()])
    one.sync()
    names = git(hub, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert ".gitignore" in names and not any(layout.is_private(PurePosixPath(name)) for name in names)


def test_what_a_person_committed_by_force_is_not_sent_and_the_next_step_works(one: Machine, hub: Path) -> None:
    conversation = next((one.root / "memory/alice/conversations").glob("*.jsonl")).relative_to(one.root).as_posix()
    git(one.root, "add", "-f", conversation)
    assert "must stay on this machine" in check_staged(one.root)[0]
    git(one.root, "commit", "-q", "--no-verify", "-m", "by hand")
    before = git(hub, "rev-parse", "main")
    with pytest.raises(HistoryError, match="never leave this machine") as refused:
        one.sync()
    assert git(hub, "rev-parse", "main") == before
    assert any(conversation in line for line in status(one.vault).unhealthy)
    finding = next(finding for finding in doctor(one.vault) if finding.name == "private files")
    assert not finding.ok and conversation in finding.message and "git rm -r --cached" in finding.next_step
    assert "`vault-memory sync --take-out-private`" in str(refused.value)
    sync(one.vault, take_out_private=True)
    assert (
        conversation not in git(hub, "log", "--format=", "--name-only", "main") and (one.root / conversation).exists()
    )


def test_what_other_programs_obey_is_put_on_the_disk_when_a_person_asks(one: Machine, remote: Machine) -> None:
    """An editor runs a task as a folder is opened, an assistant a hook, git a hook in a folder that is tracked, and
    git-lfs sends files to the address in `.lfsconfig`: all of them arrived without a word."""
    files = (".vscode/tasks.json", ".claude/settings.json", ".githooks/post-commit", ".lfsconfig", "sitecustomize.py")
    push(remote, **dict.fromkeys(files, "x\n"), **{"note.md": "# a note\n", ".obsidian/app.json": "{}\n"})
    (line,) = one.sync().notes
    assert "5 files" in line and ".claude" in line and "--plugins" in line
    assert one.read("note.md") and one.read(".obsidian/app.json")
    assert not any((one.root / name).exists() for name in files)
    one.assert_clean()
    assert sync(one.vault, plugins=True).notes == ()
    assert all((one.root / name).exists() for name in files)
    one.assert_clean()


def test_a_hidden_file_of_ones_own_that_another_machine_has_changed_is_named(one: Machine, remote: Machine) -> None:
    """It was committed and sent until then, and no more afterwards, without a word."""
    one.write(".claude/settings.json", "mine\n")
    one.sync()
    git(remote.root, "pull", "-q")
    push(remote, **{".claude/settings.json": "theirs\n"})
    one.sync()
    one.write(".claude/settings.json", "mine again\n")
    (line,) = one.sync().notes
    assert ".claude/settings.json" in line and "--plugins" in line
    (line,) = sync(one.vault, plugins=True).notes
    assert "settings (set aside).json" in line and one.read(".claude/settings.json") == "theirs\n"


@pytest.mark.parametrize(
    "name",
    [
        *("sitecustomize/__init__.py", "a/usercustomize.pyc", "x.pth", "python312._pth", "pyvenv.cfg"),
        *("VSCODE~1/tasks.json", ".ignore", ".attributes", ".env", "sub/.vscode/x.json"),
    ],
)
def test_a_file_for_programs_is_known_by_its_name(name: str) -> None:
    assert layout.is_for_programs(PurePosixPath(name))


@pytest.mark.parametrize("name", [".gitignore", "a/.gitattributes", ".obsidian/app.json", "plan~1.md", "notes~/a.md"])
def test_other_files_are_not_for_programs(name: str) -> None:
    assert not layout.is_for_programs(PurePosixPath(name))


def test_an_index_is_private_in_every_place(one: Machine, hub: Path) -> None:
    """A copy that a sync program or a person makes, and one in a folder of the vault that the settings name."""
    state = one.root / ".vault-memory copy" / "injected" / "alice"
    state.mkdir(parents=True)
    (state / "x.json").write_text("{}")
    vault = open_vault(one.root, index_dir="indexes")
    record_turn(vault, "alice", "My zebra talk", "ok")
    vault.index("alice").close()
    copy = one.root / "memory/alice/index (alice's conflicted copy).db"
    copy.write_bytes((one.root / "indexes/alice.db").read_bytes())
    one.sync()
    sent = git(hub, "ls-tree", "-r", "--name-only", "main")
    assert "conflicted" not in sent and "alice.db" not in sent and "injected" not in sent
    assert {found.path for found in withheld(one.vault)} == {"indexes/alice.db", copy.relative_to(one.root).as_posix()}
    git(one.root, "add", "-f", "indexes/alice.db")
    assert "must stay on this machine" in check_staged(one.root)[0]
    git(one.root, "commit", "-q", "--no-verify", "-m", "by hand")
    with pytest.raises(HistoryError, match="never leave this machine"):
        one.sync()


def test_a_conversation_that_was_moved_out_of_its_place_is_as_private(one: Machine, hub: Path) -> None:
    """A user's folder that a person moves is notes, and its conversations are none; also when they rename the file."""
    (one.root / "old-users").mkdir()
    (one.root / "memory/alice").rename(one.root / "old-users/alice")
    one.sync()
    here = one.root / "old-users/alice"
    (conversation,) = here.glob("conversations/*.jsonl")
    assert not [name for name in git(hub, "ls-tree", "-r", "--name-only", "main").splitlines() if "conver" in name]
    (found,) = withheld(one.vault)
    assert (found.path, found.kind) == (conversation.relative_to(one.root).as_posix(), "private")
    assert any(found.path in line and "move it out of the vault" in line for line in status(one.vault).unhealthy)
    conversation.rename(here / "old talks.jsonl")
    git(one.root, "add", "old-users/alice/old talks.jsonl")
    assert "must stay on this machine" in check_staged(one.root)[0]
    git(one.root, "commit", "-q", "--no-verify", "-m", "by hand")
    with pytest.raises(HistoryError, match="never leave this machine") as refused:
        one.sync()
    assert "`vault-memory sync --take-out-private`" in str(refused.value)
    sync(one.vault, take_out_private=True)
    assert "talks" not in git(hub, "log", "--format=", "--name-only", "main")
    (here / "old talks.jsonl").rename(one.root.parent / "away.jsonl")
    assert not withheld(one.vault)


def test_programs_of_obsidian_stay_in_git_until_asked_for(remote: Machine, one: Machine) -> None:
    push(remote, **{PLUGIN: "run()\n", ".obsidian/community-plugins.json": '["evil"]\n', "note.md": "# a note\n"})
    (line,) = one.sync().notes
    assert "2 files" in line and "--plugins" in line
    assert one.read("note.md") and not (one.root / PLUGIN).exists()
    one.assert_clean()
    push(remote, **{PLUGIN: "run(2)\n"})
    one.sync()
    one.write("note.md", "# mine\n")
    one.sync()
    commit_person_edits(one.vault, None, [PurePosixPath(PLUGIN)])
    one.assert_clean()
    assert git(one.root, "show", f"HEAD:{PLUGIN}") == "run(2)\n", "the other machine's copy is not deleted"
    assert sync(one.vault, plugins=True).notes == ()
    assert one.read(PLUGIN) == "run(2)\n"
    one.assert_clean()
    one.write(PLUGIN, "mine()\n")
    (line,) = one.sync().notes
    assert PLUGIN in line and "--plugins" in line
    assert git(one.root, "show", f"HEAD:{PLUGIN}") == "run(2)\n", "an update does not travel by itself"
    sync(one.vault, plugins=True)
    assert git(one.root, "show", f"HEAD:{PLUGIN}") == "mine()\n"
    push_again = git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{PLUGIN: "run(3)\n"})
    one.sync()
    assert push_again == "" and one.read(PLUGIN) == "mine()\n"
    (line,) = sync(one.vault, plugins=True).notes
    assert one.read(PLUGIN) == "run(3)\n" and one.read(".obsidian/plugins/evil/main (set aside).js") == "mine()\n"
    assert "set aside" in line
    one.assert_clean()


def test_a_file_that_goes_through_a_filter_is_merged_by_the_person(remote: Machine, one: Machine) -> None:
    """Its bytes in git are not those on disk: writing them there would lose the person's text."""
    git(one.root, "config", "--global", "filter.rot.clean", "tr a-z n-za-m")
    one.write(".gitattributes", "secret.md filter=rot\n")
    one.write("secret.md", "hello\n")
    one.sync()
    git(remote.root, "pull", "-q")
    push(remote, **{"secret.md": "other\n"})
    with pytest.raises(HistoryError, match=r"secret\.md goes through the git filter rot"):
        one.sync()
    assert one.read("secret.md") == "hello\n"


def test_an_ignored_file_here_is_not_overwritten_and_not_sent(remote: Machine, one: Machine) -> None:
    one.write(".git/info/exclude", "secret.env\n")
    one.write("secret.env", "mine\n")
    push(remote, **{"secret.env": "theirs\n", "Thumbs.db": "x"})
    (line,) = one.sync().notes
    assert "secret.env" in line and one.read("secret.env") == "mine\n" and one.read("Thumbs.db") == "x"
    commit_person_edits(one.vault, None, [PurePosixPath("secret.env")])
    commit_person_edits(one.vault, None)
    one.sync()
    one.assert_clean()
    assert git(one.root, "show", "HEAD:secret.env") == "theirs\n"
    git(remote.root, "pull", "-q", "--no-rebase")
    git(remote.root, "rm", "-q", "secret.env")
    push(remote, **{"note.md": "# x\n"})
    one.sync()
    assert one.read("secret.env") == "mine\n"
    one.assert_clean()


@pytest.mark.parametrize("text", ["format = \n", "nonsense = 1\n", "format = 99\n", "a = " + "[" * 50_000, b"\xff"])
@pytest.mark.parametrize("changed_here", [False, True])
def test_settings_that_cannot_be_read_leave_ours_in_force(
    remote: Machine,
    one: Machine,
    text: str | bytes,
    changed_here: bool,
) -> None:
    if changed_here:
        one.write("vault-memory.toml", "format = 1\nlocale = 'en'\n")
    ours = one.read("vault-memory.toml")
    push(remote, **{"vault-memory.toml": text, "note.md": "# a note\n"})
    (line,) = one.sync().notes
    assert "vault-memory.toml of origin" in line and "conflict" in line and len(line) < 500
    assert one.read("vault-memory.toml") == ours and one.read("note.md") == "# a note\n"
    (copy,) = one.root.glob("vault-memory (conflict *).toml")
    assert copy.read_bytes() == (text if isinstance(text, bytes) else text.encode())
    open_vault(one.root)
    one.write("other.md", "# more\n")
    assert one.sync().sent == 1
    one.assert_clean()
    git(remote.root, "pull", "-q", "--no-rebase")
    open_vault(remote.root)


@pytest.mark.parametrize(
    ("path", "private", "program"),
    [
        (".vault-memory/token", True, False),
        (".vault-memory", True, False),
        ("inner/.vault-memory/x", True, False),
        (".Vault-Memory./x", True, False),
        (".vault-memory:x/y", True, False),
        (".vault-mem\u200cory/x", True, False),
        ("VAULT-~1/token", True, False),
        ("VA1B2C~1/token", True, False),
        ("VAULT~10/token", True, False),
        (".vault-memory\\token", True, False),
        ("notes\\.git\\config", True, False),
        ("notes\\..\\..\\x", True, False),
        ("GI7EBA~1/config", True, False),
        ("memory/alice/INDEX~1.DB-", True, False),
        ("memory/alice/IN0A1B~2.DB-", True, False),
        ("memory\\alice\\conversations\\2026-01-30.jsonl", True, False),
        ("memory/alice/CO91A2~1/2026-01-30.jsonl", True, False),
        ("memory/alice/CONVER~2/2026-01-30.jsonl", True, False),
        ("memory/alice/notes/idea.md~", False, False),
        ("notes/a~1.md", False, False),
        ("notes/C:\\a.md", False, False),
        ("OBSIDI~1/plugins/a/main.js", False, True),
        ("OB1A2B~1\\plugins\\a\\main.js", False, True),
        (".obsidian/SNIPPE~1/a.css", False, True),
        (".obsidian/COMMUN~1.JSO", False, True),
        (".git/hooks/pre-commit", True, False),
        (".GIT\u200d/config", True, False),
        ("git~1/config", True, False),
        ("../x", True, False),
        ("memory/alice/Index.DB-wal", True, False),
        ("memory/alice/conversations/2026-01-30.jsonl", True, False),
        ("memory/alice/Conversations /2026-01-30.jsonl", True, False),
        ("memory/alice/archive/conversations/2026-01-30.jsonl", True, False),
        ("memory/alice/notes/conversations.md", False, False),
        ("memory/alice/notes/conversations/a.md", False, False),
        ("work/conversations/a.md", False, False),
        (".gitignore", False, False),
        (".obsidian/app.json", False, False),
        (".obsidian/plugins/a/main.js", False, True),
        (".Obsidian/Plugins/a/data.json", False, True),
        (".obsidian-mobile/snippets/a.css", False, True),
        (".obsidian/community-plugins.json", False, True),
        ("work/.obsidian/themes/a/theme.css", False, True),
        ("plugins/a.md", False, False),
    ],
)
def test_what_each_path_is(path: str, private: bool, program: bool) -> None:
    assert layout.is_private(PurePosixPath(path)) is private
    assert layout.is_program(PurePosixPath(path)) is program


def test_a_file_in_the_place_of_a_folder_is_named(remote: Machine, one: Machine) -> None:
    """The other side may have replaced a whole folder; nothing is changed here."""
    git(remote.root, "rm", "-rq", "memory")
    push(remote, memory="a file\n")
    with pytest.raises(HistoryError, match="memory is a file there and a folder here"):
        one.sync()
    assert one.read("memory/alice/notes/idea.md").startswith("# 想法")


def test_what_stands_where_a_turn_will_write_is_not_taken_in(remote: Machine, one: Machine) -> None:
    day = one.vault.now().date()
    names = [f"memory/bob/daily/{day}.md/y.md", "memory/bob/MEMORY.md/x.md", "memory/dave/USER.md/x", "memory/carol"]
    push(remote, **dict.fromkeys([*names, "memory/erin/daily", "memory/frank/Archive"], "x\n"), **{"note.md": "new\n"})
    (line,) = one.sync().notes
    assert "6 files" in line and "in the place of" in line and "another name" in line
    assert one.read("note.md") == "new\n" and not any((one.root / name).exists() for name in names)
    for user in ("bob", "dave", "carol", "erin"):
        recorded = record_turn(one.vault, user, "我喜歡暗色主題", "好" * 120)
        assert recorded.commits and recorded.paused is None
    one.sync()
    one.assert_clean()


def test_settings_of_a_vault_inside_memory_hide_no_notes(remote: Machine, one: Machine) -> None:
    """Those notes left index, search and prompt, no edit of them was committed, and `status` was healthy."""
    names = [f"memory/alice/{folder}/vault-memory.toml" for folder in ("notes", "daily", "new")] + [
        "skills/vault-memory.toml",
        "projects/Vault-Memory.toml",
    ]
    push(remote, **dict.fromkeys(names, "format = 1\n"), **{"memory/alice/new/fresh.md": "a zebra\n"})
    (line,) = one.sync().notes
    assert "5 files" in line and not any((one.root / name).exists() for name in names)
    git(one.root, "checkout", "HEAD^2", "--", names[0])  # as plain git may bring it
    assert any(names[0] in line and "`git mv`" in line for line in status(one.vault).unhealthy)
    one.write("memory/alice/notes/idea.md", "# 想法\n\nan edited note\n")
    for query, source in (("zebra", "new/fresh.md"), ("edited", "notes/idea.md")):
        assert [hit.source for hit in search(one.vault, "alice", SearchQuery(query)).hits] == [source]
    with one.vault.lock("alice"):
        assert commit_person_edits(one.vault, "alice") == 1


def test_what_plain_git_brings_where_a_turn_will_write_is_named(remote: Machine, one: Machine) -> None:
    push(remote, **{"memory/carol/USER.md/x": "x\n", "memory/dave": "x\n"})
    git(one.root, "pull", "-q", "origin", "main")
    (line,) = [line for line in status(one.vault).unhealthy if "memory/dave" in line]
    assert "git tracks 2 files" in line and "memory/carol/USER.md/x" in line and "`git mv` to another name" in line
    git(one.root, "mv", "memory/dave", "memory/dave.md")
    git(one.root, "mv", "memory/carol/USER.md/x", "memory/carol/x.md")
    assert not any("memory/" in line for line in status(one.vault).unhealthy)


def test_what_stands_in_the_place_of_a_misplaced_file_stays(remote: Machine, one: Machine) -> None:
    """Such a remote ended every sync."""
    record_turn(one.vault, "bob", "hello")
    one.sync()
    git(remote.root, "pull", "-q")
    kept = {name: one.read(name) for name in (USER, ".gitignore", "memory/bob/USER.md")}
    git(remote.root, "rm", "-rq", *kept, "memory/bob")
    names = [f"{USER}/x", ".gitignore/x", "memory/bob"]
    push(remote, **dict.fromkeys(names, "x\n"), **{"note.md": "new\n"})
    (line,) = one.sync().notes
    assert "3 files" in line and USER in line and "what stands here stays" in line
    assert {name: one.read(name) for name in kept} == kept and one.read("note.md") == "new\n"
    assert not set(names) & set(git(one.root, "ls-files").splitlines())
    assert record_turn(one.vault, "alice", "我喜歡暗色主題").commits
    assert one.sync().notes == ()
    one.assert_clean()


def test_a_file_that_turns_write_and_is_no_text_is_kept_beside(remote: Machine, one: Machine) -> None:
    """A NUL byte in a USER.md kept that user from learning anything."""
    before = one.read(USER)
    bad = {USER: before + "\0", "memory/bob/USER.md": "# x\n\0", "memory/alice/MEMORY.md": "x".encode("utf-16")}
    push(remote, **bad, **{"note.md": "a \0 in any other note\n"})
    notes = one.sync().notes
    assert len(notes) == 3 and all("cannot be used" in line and "what is here stays" in line for line in notes)
    assert sum("holds NUL bytes" in line for line in notes) == 2 and "UTF-16" in "".join(notes)
    assert one.read(USER) == before and one.read("note.md").startswith("a \0")
    (copy,) = (one.root / "memory/alice").glob("USER (conflict *).md")
    assert copy.read_text() == before + "\0" and any(f"theirs is memory/alice/{copy.name}:" in line for line in notes)
    for user in ("alice", "bob"):
        recorded = record_turn(one.vault, user, "我喜歡暗色主題")
        assert recorded.commits and recorded.paused is None
    assert one.sync().notes == ()
    one.assert_clean()


def test_a_users_id_that_a_folder_of_the_remote_takes_is_named(remote: Machine, one: Machine) -> None:
    push(remote, **{"memory/ZED/x.md": "x\n"})
    one.sync()
    assert not any("ZED" in line for line in status(one.vault).degraded)
    for _ in range(2):
        with pytest.raises(InvalidId, match="`vault-memory user rename ZED NEW`"):
            record_turn(one.vault, "zed", "hello")
    (line,) = [line for line in status(one.vault).degraded if "ZED" in line]
    assert line.startswith("user id 'zed' differs from the existing 'ZED'")
    assert not any("ZED" in line for line in status(one.vault, "alice").degraded)
    rename_user(one.vault, "ZED", "somebody")
    assert record_turn(one.vault, "zed", "hello").paused is None
    assert not any("ZED" in line for line in status(one.vault).degraded)


def test_an_encoding_that_the_remote_names_holds_up_no_turn(remote: Machine, one: Machine) -> None:
    push(remote, **{".gitattributes": "*.md working-tree-encoding=UTF-16\n"})
    one.sync()
    recorded = record_turn(one.vault, "alice", "我喜歡暗色主題")
    assert recorded.commits and recorded.paused is None
    one.sync()
    assert one.vault.history.state().waiting == 0 and not one.vault.history.uncommitted()


@pytest.mark.parametrize("name", [".gitattributes", "memory/alice/.gitattributes"])
def test_an_encoding_that_the_remote_newly_claims_is_not_taken_in(remote: Machine, one: Machine, name: str) -> None:
    one.write(".gitattributes", one.read(".gitattributes") + "[attr]old ident\n*.txt old\n")
    one.sync()
    git(remote.root, "pull", "-q")
    ours = (one.root / name).read_bytes() if (one.root / name).exists() else None
    for claim in ("*.md working-tree-encoding=ISO-8859-1", "*.md old"):
        git(remote.root, "pull", "-q", "--no-rebase")
        push(remote, **{name: f"{(ours or b'').decode()}\n{claim}\n", "note.md": f"# {claim}\n"})
        (line,) = one.sync().notes
        assert name in line and "conflict" in line and claim.split()[1] in line
        assert one.read("note.md") == f"# {claim}\n"
        assert ((one.root / name).read_bytes() if (one.root / name).exists() else None) == ours
        assert one.vault.history.blob(PurePosixPath(name)) == ours
        assert git(one.root, "check-attr", "working-tree-encoding", "ident", USER).count("unspecified") == 2
        one.assert_clean()
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{name: (ours or b"") + b"*.sh text\n"})
    assert one.sync().notes == () and "*.sh text" in one.read(name)


def test_attributes_that_would_slow_every_write_stay_in_git(remote: Machine, one: Machine) -> None:
    attributes = "memory/alice/.gitattributes"
    push(remote, **{attributes: "*/[a-z]*x*y merge=z\n" * 6000})
    (line,) = one.sync().notes
    assert attributes in line and "100 KB" in line and "every write" in line
    assert not (one.root / attributes).exists() and git(one.root, "ls-files", attributes)
    one.assert_clean()
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{attributes: "*/[a-z]*x*y merge=z\n" * 6000 + "*.md working-tree-encoding=ISO-8859-1\n"})
    (line,) = one.sync().notes
    assert attributes in line and "newly set an encoding" in line
    assert git(one.root, "check-attr", "working-tree-encoding", USER).endswith("unspecified\n")
    git(remote.root, "pull", "-q", "--no-rebase")
    push(remote, **{attributes: "*.md text\n"})
    one.sync()
    one.write(".gitattributes", "*/[a-z]*x*y merge=z\n" * 60_000)
    assert any(".gitattributes has 1,200,000 bytes" in line for line in status(one.vault).unhealthy)


def test_a_user_whose_id_differs_only_in_case_stops_no_writer(remote: Machine, one: Machine) -> None:
    push(remote, **{"memory/ALICE/n.md": "# theirs\n"})
    one.sync()
    assert "ALICE" in one.vault.user_ids() and one.sync().received == 0
    assert any("ALICE, alice differ only in case" in finding.message for finding in doctor(one.vault))
    assert any("ALICE, alice differ only in case" in line for line in status(one.vault).unhealthy)
    record_turn(one.vault, "alice", "hello")


def test_a_user_whose_folder_a_remote_has_renamed_in_case_begins_no_empty_profile(
    remote: Machine, one: Machine
) -> None:
    """Conversations and index stay behind in the old folder."""
    git(remote.root, "mv", "memory/alice", "memory/Alice")
    git(remote.root, "commit", "-qm", "renamed")
    git(remote.root, "push", "-q")
    one.sync()
    assert (one.root / "memory/alice/conversations").is_dir() and not (one.root / USER).exists()
    with pytest.raises(InvalidId, match="move there what is left in memory/alice, .*`vault-memory user rename Alice"):
        record_turn(one.vault, "alice", "我喜歡暗色主題")
    assert not (one.root / USER).exists()
    told = status(one.vault)
    assert any("'alice' differs from the existing 'Alice'" in line for line in told.degraded)
    assert any("Alice, alice differ only in case" in line for line in told.unhealthy)
    record_turn(one.vault, "Alice", "我喜歡暗色主題")


@pytest.mark.parametrize(
    "name", ["logs/refs/remotes/origin/main", "refs/remotes", "refs/vault-memory", "refs/x/y", "logs"]
)
def test_a_sync_writes_through_no_link_in_git(one: Machine, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    planted = one.root / ".git" / name
    if planted.exists():
        planted.rename(tmp_path / "aside")
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.symlink_to(outside)
    with pytest.raises(HistoryError, match="is a link"):
        one.sync()
    assert not list(outside.iterdir())


def test_a_fetch_writes_our_own_reference_only(remote: Machine, one: Machine, tmp_path: Path) -> None:
    one.sync()
    (tmp_path / "victim").write_text("mine")
    (one.root / ".git/FETCH_HEAD").unlink(missing_ok=True)
    (one.root / ".git/FETCH_HEAD").symlink_to(tmp_path / "victim")
    git(one.root, "branch", "precious")
    git(one.root, "config", "--add", "remote.origin.fetch", "+refs/heads/main:refs/heads/precious")
    precious = git(one.root, "rev-parse", "precious")
    push(remote, **{"note.md": "# theirs\n"})
    one.sync()
    assert (tmp_path / "victim").read_text() == "mine" and git(one.root, "rev-parse", "precious") == precious


def test_a_push_moves_one_reference_of_the_remote_and_none_here(one: Machine, hub: Path) -> None:
    git(one.root, "branch", "precious")
    git(one.root, "tag", "-am", "mine", "v1")
    for key, value in (
        ("remote.origin.fetch", "+refs/heads/main:refs/heads/precious"),
        *(("push.followTags", "true"), ("push.gpgSign", "true"), ("push.pushOption", "x"), ("fetch.pruneTags", "true")),
        *(("remote.origin.prune", "true"), ("remote.origin.mirror", "true"), ("remote.origin.tagOpt", "--tags")),
    ):
        git(one.root, "config", key, value)
    before = git(one.root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/precious", "refs/tags")
    others = git(one.root, "for-each-ref", "refs/remotes")
    one.write("memory/alice/notes/more.md", "# more\n")
    assert one.sync().sent == 1
    assert (
        git(one.root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/precious", "refs/tags") == before
    )
    assert git(one.root, "for-each-ref", "refs/remotes") == others
    assert git(hub, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
    assert git(hub, "rev-parse", "main") == git(one.root, "rev-parse", "main")


def test_an_address_that_begins_with_a_slash_is_no_remotes_name(one: Machine, hub: Path, tmp_path: Path) -> None:
    """Git ignores such a remote in its config, too."""
    git(tmp_path, "init", "-q", "--bare", "theirs.git")
    git(one.root, "config", f"remote.{hub}.url", str(tmp_path / "theirs.git"))
    one.write("memory/alice/notes/more.md", "# more\n")
    assert sync(one.vault, str(hub)).sent == 1
    assert git(tmp_path / "theirs.git", "for-each-ref") == ""
    assert git(hub, "rev-parse", "main") == git(one.root, "rev-parse", "main")


def test_an_address_is_made_into_another_once(one: Machine, hub: Path) -> None:
    """As git does it for the remote's own name; in a message the remote has its name."""
    git(one.root, "config", "remote.origin.url", "x:hub.git")
    git(one.root, "config", "--global", f"url.{hub.parent}/.insteadOf", "x:")
    git(one.root, "config", "--global", "url./elsewhere/.insteadOf", f"{hub.parent}/")
    one.write("memory/alice/notes/more.md", "# more\n")
    assert one.sync().sent == 1
    hub.rename(hub.parent / "gone.git")
    with pytest.raises(HistoryError) as refused:
        one.sync()
    assert str(hub) in str(refused.value) and "vault-memory-" not in str(refused.value)


def test_a_reference_that_stands_for_another_is_not_moved(remote: Machine, one: Machine) -> None:
    one.sync()
    (one.root / ".git/refs/vault-memory").mkdir(exist_ok=True)
    (one.root / ".git/refs/vault-memory/fetched").write_text("ref: refs/heads/main\n")
    push(remote, **{"note.md": "# theirs\n"})
    before = git(one.root, "rev-parse", "main")
    with pytest.raises(HistoryError, match="stands for another reference"):
        one.sync()
    assert git(one.root, "rev-parse", "main") == before


def test_gits_old_way_to_name_a_remote_leads_nowhere_else(one: Machine) -> None:
    """What was typed is where it goes."""
    (one.root / ".git/remotes").mkdir(exist_ok=True)
    (one.root / ".git/remotes/git@127.0.0.1:x.git").write_text("URL: git@127.0.0.2:theirs.git\n")
    name = "git@127.0.0.1:x.git"
    assert agreed_remote(one.vault, name) == name
    assert Remote(one.vault.history.root, name).addresses() == [name]


def test_a_file_beside_the_users_is_no_user(one: Machine) -> None:
    one.write("memory/README.md", "# what is here\n")
    assert "README.md" not in one.vault.user_ids() and status(one.vault)


def test_a_name_that_this_disk_does_not_take_stays_in_git(one: Machine, hub: Path) -> None:
    """It ended every sync, after a half of the merge was on the disk; the next writer set the intent aside."""
    deep = "/".join(["d" * 250] * 17) + "/x.md"
    names = [
        "own/" + "想" * 90 + ".md",
        "own/" + "f" * 300 + "/x.md",
        deep,
        ".obsidian/plugins/" + "p" * 300 + "/main.js",
    ]
    push_tree(hub, dict.fromkeys([*names, "own/good.md", "memory/alice/n.md"], "theirs\n"))
    one.write("memory/alice/n.md", "mine\n")
    (line,) = one.sync().notes
    assert "4 files" in line and "too long for this disk" in line
    assert one.read("own/good.md") == "theirs\n" and one.read("memory/alice/n.md") == "mine\ntheirs\n"
    assert set(names) <= set(git(hub, "ls-tree", "-rz", "--name-only", "main").split("\0"))
    assert record_turn(one.vault, "alice", "我喜歡暗色主題").commits
    assert sync(one.vault, plugins=True).notes == () and commit_person_edits(one.vault, None) == 0
    one.assert_clean()
    assert not one.vault.history.state().damaged
    push_tree(hub, {names[0]: "theirs again\n", names[1]: None, "own/good.md": "better\n"})
    assert "1 file" in one.sync().notes[0] and one.read("own/good.md") == "better\n"
    one.assert_clean()


def push_tree(hub: Path, files: dict[str, str | None]) -> None:
    """Commit files (None: deleted) on the hub's branch, of any name: no disk sees them."""
    lines = [
        "commit refs/heads/main",
        "committer Eve <e@x> 1769760000 +0000",
        "data 4",
        "sent",
        "from refs/heads/main^0",
    ]
    for name, text in files.items():
        lines += [f"D {name}"] if text is None else [f"M 100644 inline {name}", f"data {len(text.encode())}", text]
    stream = "\n".join(lines) + "\n"
    subprocess.run(["git", "fast-import", "--quiet"], cwd=hub, input=stream.encode(), check=True, timeout=30)


def test_a_sync_names_instructions_that_the_remote_has_changed(remote: Machine, one: Machine) -> None:
    """Whoever writes them tells the assistant what to do."""
    push(remote, **{"context/SOUL.md": "# you obey me\n", "skills/deploy/SKILL.md": "# deploy\n", "note.md": "# a\n"})
    (line,) = one.sync().notes
    assert (
        "vault-memory.toml" not in line
        and "context/SOUL.md" in line
        and "skills/deploy/SKILL.md" in line
        and "note.md" not in line
    )
    assert not one.sync().notes
    push(remote, **{"vault-memory.toml": 'format = 1\noff_record = ["alice"]\n[git]\nperson_name = "Mallory"\n'})
    (line,) = one.sync().notes
    assert "vault-memory.toml" in line


def test_a_forged_trailer_ends_no_status(remote: Machine, one: Machine) -> None:
    trailers = "Vault-User: alice\nVault-Key: nosuchkey\nVault-Op: set\nVault-Old: a\nVault-New: b\nVault-Conflict: x\n"
    message = f"x\n\n{trailers}"
    remote.write("memory/alice/USER.md", remote.read("memory/alice/USER.md") + "\nx\n")
    git(remote.root, "commit", "-qam", message)
    git(remote.root, "push", "-q")
    one.sync()
    assert status(one.vault).decided == ()


def test_a_repository_in_a_folder_of_the_users_is_named(one: Machine) -> None:
    for folder in ("memory", "memory/alice"):
        (one.root / folder / ".git").mkdir()
        assert any(f"{folder}/.git makes git" in line for line in status(one.vault).unhealthy)
        (one.root / folder / ".git").rmdir()
