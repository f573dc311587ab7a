"""Search in a process of its own gives and raises what search does."""

from __future__ import annotations

import asyncio

import pytest

from tests.vaults import write
from vault_memory.errors import NotFound
from vault_memory.services.retrieval.search import SearchQuery, search
from vault_memory.services.retrieval.search_process import SearchProcess
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow


def test_it_answers_as_a_search_here_does(bare_vault: Vault) -> None:
    write(bare_vault, "alice", "notes/ship.md", "The zeppelin lands at noon.\n")
    apart = SearchProcess(bare_vault)
    try:
        found = asyncio.run(apart("alice", SearchQuery("zeppelin")))
        here = search(bare_vault, "alice", SearchQuery("zeppelin"))
        assert [hit.as_dict() for hit in found.hits] == [hit.as_dict() for hit in here.hits] != []
        with pytest.raises(NotFound, match="nobody"):
            asyncio.run(apart("nobody", SearchQuery("zeppelin")))
    finally:
        apart.close()
