"""An index that came with a folder, or that git brought, tells nothing of its own: searches answer from the notes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import apsw
import pytest

from tests.vaults import write
from vault_memory.errors import IndexUnusable
from vault_memory.services.admin import create_vault, doctor, status
from vault_memory.services.indexing import reconcile
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

TRUE, FALSE = "our bank is Alpha", "our bank is Omega"


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=root, check=True, timeout=30)


def answers(vault: Vault) -> str:
    return "".join(hit.content for hit in search(vault, "alice", SearchQuery("bank", scope="all")).hits)


def forged(vault: Vault, scope: str, at: Path | None = None) -> Path:
    """An index that names the true file with its true hash, and tells another text. A new file, as git makes one."""
    write(vault, scope, "bank.md", f"# Bank\n\n{TRUE}\n")
    reconcile(vault, scope)
    path = vault.index_path(scope)
    vault.index(scope).close()
    copy = f"{path}.new"
    source = apsw.Connection(str(path))
    source.execute("VACUUM INTO ?", (copy,))
    source.close()
    db = apsw.Connection(copy)
    db.execute("UPDATE chunks SET text = replace(text, ?, ?)", (TRUE, FALSE))
    db.close()
    at = at or path
    Path(copy).replace(at)
    for suffix in ("-wal", "-shm"):  # of a connection that is still open in this process
        Path(f"{at}{suffix}").unlink(missing_ok=True)
    return at


@pytest.fixture
def known(bare_vault: Vault) -> Vault:
    create_vault(bare_vault.root)
    write(bare_vault, "alice", "note.md", "mine\n")
    return open_vault(bare_vault.root)


@pytest.mark.parametrize("scope", ["alice", ""])
def test_the_first_init_of_a_folder_from_elsewhere_makes_its_indexes_anew(
    known: Vault, tmp_path: Path, scope: str
) -> None:
    forged(known, scope)
    copied = shutil.copytree(known.root, tmp_path / "copied")
    assert FALSE in answers(open_vault(copied)), "the test sees the forgery"
    create_vault(copied)
    assert TRUE in answers(open_vault(copied))


@pytest.mark.parametrize("scope", ["alice", ""])
def test_an_index_that_git_tracks_is_refused_and_the_next_step_is_named(known: Vault, scope: str) -> None:
    path = forged(known, scope)
    name = path.relative_to(known.root).as_posix()
    git(known.root, "add", "--force", name)
    with pytest.raises(IndexUnusable, match=f"git tracks {name}.*git rm -f {name}"):
        answers(known)
    [state] = [finding for finding in doctor(known) if finding.name == "state"]
    assert f"{name} is tracked by git" in state.message
    git(known.root, "rm", "-q", "-f", name)
    assert TRUE in answers(known)


def test_an_index_that_git_puts_in_the_place_of_a_used_one_is_refused(known: Vault) -> None:
    """`git pull` while a server has the index open."""
    evil = forged(known, "alice", known.root / "evil")
    assert TRUE in answers(known)
    evil.replace(known.index_path("alice"))
    git(known.root, "add", "--force", "memory/alice/index.db")
    with pytest.raises(IndexUnusable, match="git tracks"):
        answers(known)


def test_a_note_of_a_similar_name_is_no_index(known: Vault, tmp_path: Path) -> None:
    copied = shutil.copytree(known.root, tmp_path / "copied")
    for name in ("memory/alice/index.db.md", "memory/index.db", "index.db"):
        (copied / name).write_text("mine\n")
    create_vault(copied)
    assert (copied / "memory/alice/index.db.md").exists() and (copied / "index.db").exists()


@pytest.mark.skipif(os.name == "nt", reason="named pipes are POSIX")
@pytest.mark.parametrize("name", ["index.db", "index.db-journal", "index.db-wal"])
@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_what_is_no_file_in_the_place_of_an_index_is_named_and_holds_nothing_up(
    known: Vault, name: str, what: str
) -> None:
    place = known.root / "memory/alice" / name
    if what == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    recorded = record_turn(known, "alice", "我習慣用 Rust")
    assert recorded.changes and recorded.commits and not recorded.paused
    assert any(f"{place} is not a file: delete it" in reason for reason in recorded.degraded)
    assert any(f"{place} is not a file" in line for line in status(known).unhealthy)
    with pytest.raises(IndexUnusable, match=f"{name} is not a file"):
        answers(known)


def test_an_index_that_a_clone_tracks_stops_no_turn_from_being_learned(known: Vault, tmp_path: Path) -> None:
    record_turn(known, "alice", "你好")
    git(known.root, "add", "--force", "memory/alice/index.db")
    git(known.root, "commit", "-q", "--no-verify", "-m", "all of it")
    git(tmp_path, "clone", "-q", str(known.root), "clone")
    with pytest.raises(IndexUnusable, match="git tracks"):
        create_vault(tmp_path / "clone", adopt=True)
    clone = open_vault(tmp_path / "clone")
    recorded = record_turn(clone, "alice", "我習慣用 Rust")
    assert recorded.changes and recorded.commits and not recorded.paused
    assert any("git tracks memory/alice/index.db" in reason for reason in recorded.degraded)
