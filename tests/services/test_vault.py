"""The paths of an open vault: each scope has its own, and no link leads from one into another."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.vaults import write
from vault_memory.api import MemorySearchEngine
from vault_memory.core import layout
from vault_memory.errors import ForeignFile, InvalidId, NotAVault, UsageError
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.admin.status import status
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.retrieval.build_prompt import build_enhanced_prompt
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import ChatsInProgress, Vault, find_vault, open_vault

SECRET = "heliotrope"


@pytest.mark.parametrize("user_id", ["_shared", "shared", "-shared", "_", "shared.db"])
def test_no_user_has_the_index_of_the_shared_notes(bare_vault: Vault, tmp_path: Path, user_id: str) -> None:
    """Walls: with `index_dir` all databases lie in one folder, and ids may begin with `_`."""
    vault = open_vault(bare_vault.root, index_dir=str(tmp_path / "indexes"))
    write(vault, user_id, "notes/secret.md", f"{SECRET}\n")
    write(vault, layout.SHARED, "shared.md", "for everybody\n")
    write(vault, "bob", "notes/tea.md", "tea\n")
    for scope in (user_id, layout.SHARED):
        reconcile(vault, scope)
    assert search(vault, user_id, SearchQuery(SECRET)).hits
    assert not search(vault, "bob", SearchQuery(SECRET, scope="shared")).hits


def test_an_id_that_looks_like_a_secret_is_refused_and_not_repeated(vault: Vault) -> None:
    """No commit would take its files, and the vault was not ready from then on."""
    key = "ghp_16Zq7Rk2Lw9Xv4Bn6Mc1Td8Yh3Fj5Gp0SaQ"
    with pytest.raises(InvalidId, match="looks like a secret") as caught:
        record_turn(vault, key, "我喜歡暗色主題", "好。")
    assert key not in str(caught.value) and not vault.path("alice", ".").with_name(key).exists()
    record_turn(vault, "U4af4980629f8e1c9d5b3a7e2f1c0d9b8a", "我喜歡暗色主題", "好。")


def test_shared_notes_are_not_read_through_a_link_into_a_users_folder(vault: Vault) -> None:
    """Walls: what stands in everybody's prompt is never one person's."""
    secret = write(vault, "bob", "USER.md", f"- {SECRET}\n")
    for source, skill in (("context/SOUL.md", None), ("skills/odd/SKILL.md", "odd")):
        link = vault.root / source
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(secret)
        with pytest.raises(UsageError, match="link into a user's folder"):
            build_enhanced_prompt(vault, "alice", "hello", skill)
        link.unlink()


@pytest.mark.parametrize("private", [".vault-memory/token", ".git/config", "memory/alice/conversations/day.jsonl"])
@pytest.mark.parametrize(("scope", "source"), [("", "skills/odd/SKILL.md"), ("alice", "notes/odd.md")])
def test_no_link_shows_what_is_private(bare_vault: Vault, private: str, scope: str, source: str) -> None:
    """A clone may hold a link to the token that `init` makes in it: the next prompt gave the token to every user."""
    target = bare_vault.root / private
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()
    link = bare_vault.root / layout.scope_dir(scope) / source
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    with pytest.raises(UsageError, match=r"is a link"):
        bare_vault.path(scope, source)
    if not scope:
        with pytest.raises(UsageError, match=r"which is private: put the file itself there"):
            build_enhanced_prompt(bare_vault, "alice", "hello", "odd")


def test_a_folder_of_users_that_is_a_link_is_refused(bare_vault: Vault, tmp_path: Path) -> None:
    """A clone may hold `memory` as a link to a folder of other programs, some of whose databases are `*/index.db`."""
    others = tmp_path / "others"
    (others / "mail").mkdir(parents=True)
    (others / "mail" / "index.db").write_bytes(b"another program's")
    users = bare_vault.root / layout.MEMORY_DIR
    users.symlink_to(others)
    for attempt in (
        lambda: open_vault(bare_vault.root),
        bare_vault.settings_now,
        lambda: create_vault(bare_vault.root, adopt=True),
    ):
        with pytest.raises(ForeignFile, match=r"memory is a link to .*others, .*move it here, or delete the link"):
            attempt()
    assert (others / "mail" / "index.db").read_bytes() == b"another program's"


def test_an_index_that_is_a_link_opens_nobody_elses(bare_vault: Vault) -> None:
    for user_id in ("alice", "bob"):
        write(bare_vault, user_id, "notes/secret.md", f"{SECRET} of {user_id}\n")
    reconcile(bare_vault, "bob")
    alices = bare_vault.root / "memory" / "alice" / layout.INDEX_FILE
    alices.symlink_to(bare_vault.index_path("bob"))
    with pytest.raises(UsageError, match="is a link"):
        search(bare_vault, "alice", SearchQuery(SECRET))
    alices.unlink()
    reconcile(bare_vault, "alice")
    assert [hit.scope for hit in search(bare_vault, "alice", SearchQuery(SECRET)).hits] == ["alice"]
    alices.unlink()
    alices.symlink_to(bare_vault.index_path("bob"))
    with pytest.raises(UsageError, match="is a link"):
        search(bare_vault, "alice", SearchQuery(SECRET))  # that it was open before does not help


def test_status_tells_of_an_index_that_is_a_link(vault: Vault) -> None:
    write(vault, "alice", "notes/x.md", "x\n")
    (vault.root / "memory" / "alice" / layout.INDEX_FILE).symlink_to("/nowhere/index.db")
    assert any("index.db" in line for line in status(vault).unhealthy)


def test_work_waits_until_no_chat_is_being_worked_on() -> None:
    went, chats = threading.Event(), ChatsInProgress(wait_s=600)

    def work() -> None:
        chats.let_go_first()
        went.set()

    chats.let_go_first()  # none is: at once
    chats.begin()
    chats.begin()
    working = threading.Thread(target=work)
    working.start()
    chats.end()
    assert not went.wait(0.1)
    chats.end()
    assert went.wait(60), "before the time is up"
    working.join(60)


def test_all_steps_of_a_piece_of_work_together_wait_no_longer_than_one() -> None:
    """Else a server with many chats would never learn, and a commit of many files would hold its locks for minutes."""
    chats = ChatsInProgress(wait_s=0.2)
    with chats.one():
        began = time.monotonic()
        chats.let_go_first()
        assert time.monotonic() - began >= 0.2
        for _ in range(600):
            chats.step_aside()
        assert time.monotonic() - began < 60, "600 waits would take 120 s"
        chats.let_go_first()
        assert time.monotonic() - began >= 0.4, "the next piece waits again"


def test_work_that_somebody_waits_for_does_not_step_aside() -> None:
    went, chats = threading.Event(), ChatsInProgress(wait_s=600)

    def work() -> None:
        chats.step_aside()
        went.set()

    with chats.one():
        working = threading.Thread(target=work)
        working.start()
        assert went.wait(60)
    working.join(60)


def test_in_the_folders_of_a_vault_there_is_no_other(bare_vault: Vault) -> None:
    """Settings that a remote had put there made a stranger's vault of them: turns recorded there went into it."""
    for name in ("memory", "memory/alice/notes", "skills"):
        folder = bare_vault.root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / layout.SETTINGS_FILE).write_text("format = 1\n")
        assert find_vault(folder) == bare_vault.root
        with pytest.raises(NotAVault, match=f"a folder of the vault {bare_vault.root}: name that one"):
            open_vault(folder)
        with pytest.raises(UsageError, match="no other vault can be in it"):
            create_vault(folder)
    assert MemorySearchEngine(bare_vault.root / "memory").vault.root == bare_vault.root


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_vault_of_another_user_is_only_found_by_its_name() -> None:
    """They would read what is said in it. Plain git refuses such a repository too."""
    with tempfile.TemporaryDirectory() as folder:  # `tmp_path` is in a folder that only root can enter
        root = Path(folder).resolve()
        (root / layout.SETTINGS_FILE).write_text("format = 1\n")
        inner = root / "notes"
        inner.mkdir()
        root.chmod(0o711)
        os.seteuid(12345)
        try:
            for here in (inner, root):
                with pytest.raises(ForeignFile, match=f"{root} is a vault of the user root, .* name it with --vault"):
                    find_vault(here, environ={})
            assert find_vault(inner, environ={"VAULT_MEMORY_VAULT": folder}) == root
            assert find_vault(inner, given=folder) == root
        finally:
            os.seteuid(0)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_root_is_no_exception_and_the_vault_that_the_environment_names_is_taken(bare_vault: Vault) -> None:
    """What root said in a folder of somebody's went into that one's vault, whatever vault root had named."""
    theirs = bare_vault.root / "theirs"
    (theirs / "notes").mkdir(parents=True)
    (theirs / layout.SETTINGS_FILE).write_text("format = 1\n")
    os.chown(theirs, 12345, 12345)
    own = str(bare_vault.root)
    with pytest.raises(ForeignFile, match=f"{theirs} is a vault of the user 12345, .* name it with --vault"):
        find_vault(theirs / "notes", environ={})
    assert find_vault(theirs / "notes", environ={"VAULT_MEMORY_VAULT": own}) == bare_vault.root
    with pytest.raises(NotAVault, match="/somewhere, which VAULT_MEMORY_VAULT names, is not a vault"):
        find_vault(theirs / "notes", environ={"VAULT_MEMORY_VAULT": "/somewhere"})
    assert find_vault(theirs / "notes", environ={"VAULT_MEMORY_VAULT": str(theirs)}) == theirs
    assert find_vault(bare_vault.root, environ={"VAULT_MEMORY_VAULT": str(theirs)}) == bare_vault.root, "the nearest"


def test_the_only_vault_of_a_machine_is_found_from_anywhere_where_that_is_asked_for(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(NotAVault):
        find_vault(elsewhere, environ={}, or_only=True)
    root = create_vault(tmp_path / "one").root
    assert find_vault(elsewhere, environ={}, or_only=True) == root
    with pytest.raises(NotAVault):
        find_vault(elsewhere, environ={})
    with pytest.raises(NotAVault):  # what the person has named is not there
        find_vault(elsewhere, environ={"VAULT_MEMORY_VAULT": str(elsewhere)}, or_only=True)
    moved = root.rename(tmp_path / "moved")
    with pytest.raises(NotAVault):
        find_vault(elsewhere, environ={}, or_only=True)
    moved.rename(root)
    other = create_vault(tmp_path / "two").root
    with pytest.raises(NotAVault, match=f"has made several: {root}, {other}. Name one with --vault"):
        find_vault(elsewhere, environ={}, or_only=True)
    settings = other / layout.SETTINGS_FILE
    settings.rename(elsewhere / "settings")
    assert find_vault(elsewhere, environ={}, or_only=True) == root, "the other is a vault no longer"
    (elsewhere / "settings").rename(settings)
    state = other / layout.STATE_DIR
    state.rename(elsewhere / "state")
    state.symlink_to(elsewhere / "state")
    assert find_vault(elsewhere, environ={}, or_only=True) == root, "the other cannot be looked at"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_the_only_vault_is_never_that_of_another_system_user(tmp_path: Path) -> None:
    """As with `sudo`, which may keep the person's HOME."""
    root = create_vault(tmp_path / "one").root
    os.chown(root, 12345, 12345)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(NotAVault):
        find_vault(elsewhere, environ={}, or_only=True)
