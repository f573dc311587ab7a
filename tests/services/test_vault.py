"""The paths of an open vault: each scope has its own, and no link leads from one into another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vaults import write
from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.services.admin.status import status
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.retrieval.build_prompt import build_enhanced_prompt
from vault_memory.services.retrieval.search import SearchQuery, search
from vault_memory.services.vault import Vault, open_vault

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
