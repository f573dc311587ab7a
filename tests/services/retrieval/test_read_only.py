"""A vault on a disk that is mounted for reading, such as a snapshot or a backup: what is indexed is found."""

from __future__ import annotations

import os

import pytest

from tests.vaults import mounted_for_reading, write
from vault_memory.core import layout
from vault_memory.errors import IndexUnusable
from vault_memory.services.indexing import reconcile
from vault_memory.services.retrieval.build_prompt import build_enhanced_prompt
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import READ_ONLY, search
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can mount")
TEA = "Green tea wants water of 80 degrees."


def found(vault: Vault, text: str = "green tea water") -> list[str]:
    result = search(vault, "alice", SearchQuery(text, scope="all"))
    assert result.degraded == [READ_ONLY] and "the vault may only be read" in READ_ONLY
    return [hit.content for hit in result.hits]


def test_search_and_prompt_answer_from_the_index_as_it_is(vault: Vault) -> None:
    """A file whose stamp the index does not trust yet was enough to make both fail; so was any change."""
    write(vault, "alice", "notes/tea.md", f"# Tea\n\n{TEA}\n")
    for scope in ("alice", layout.SHARED):
        reconcile(vault, scope)
        vault.index(scope).close()
    write(vault, "alice", "notes/new.md", "# Coffee\n\nCoffee wants water of 95 degrees.\n")
    with mounted_for_reading(vault.root):
        reader = open_vault(vault.root, now=vault.now)
        assert found(reader) == [TEA] and "95" not in " ".join(found(reader, "coffee"))
        prompt = build_enhanced_prompt(reader, "alice", "How hot is the water for green tea?")
        assert TEA in prompt.text and prompt.degraded == [READ_ONLY]
    both = search(reader, "alice", SearchQuery("water"))
    assert len(both.hits) == 2 and not both.degraded, "once it can be written, the same process indexes again"


def test_where_there_is_no_index_to_read_that_is_said(vault: Vault) -> None:
    write(vault, "alice", "notes/tea.md", f"# Tea\n\n{TEA}\n")
    with mounted_for_reading(vault.root):
        for ask in (
            lambda: search(vault, "alice", SearchQuery("tea")),
            lambda: build_enhanced_prompt(vault, "alice", "tea"),
        ):
            with pytest.raises(
                IndexUnusable, match=r"no index at .*alice/index.db .* may only be read: run `vault-mem"
            ):
                ask()
    reconcile(vault, "alice")
    index = vault.index_path("alice")
    vault.index("alice").close()
    index.write_bytes(b"damaged" * 1000)
    with mounted_for_reading(vault.root), pytest.raises(IndexUnusable, match="is damaged, and cannot be removed"):
        search(vault, "alice", SearchQuery("tea"))
