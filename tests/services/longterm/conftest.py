"""A vault whose turns go to a PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.postgres_server import PostgresServer
from vault_memory.services.vault import Vault, open_vault

COLUMNS = {
    "conversation_id": "chat",
    "user_id": "who",
    "user_message": "asked",
    "assistant_message": "assistant_mes",
    "reflection": "thought",
    "token_data": "tokens",
    "created_at": "at",
}
TABLE = "(chat text, who text, asked text, assistant_mes text, thought jsonb, tokens jsonb, at timestamptz"


@pytest.fixture(scope="session")
def shared_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def server(shared_server: PostgresServer) -> PostgresServer:
    """The tables are new in each test."""
    for name in ("talks", "thoughts"):
        shared_server.sql(f"DROP TABLE IF EXISTS {name}")
        shared_server.sql(f"CREATE TABLE {name} {TABLE}, UNIQUE (chat, at))")
    return shared_server


@pytest.fixture
def opened(vault: Vault) -> Callable[..., Vault]:
    """Opens the vault for a database at a URL."""

    def opened(url: str, root: Path = vault.root, **more: str) -> Vault:
        environ = {
            "SUPABASE_DB_URL": url,
            "VAULT_MEMORY_LONGTERM_ENABLED": "true",
            "MEMORY_TABLE_MAP": '{"conversations": "talks", "memories": "thoughts"}',
            "VAULT_MEMORY_LONGTERM_COLUMNS_MAP": json.dumps(COLUMNS),
        }
        return open_vault(root, environ=environ | more)

    return opened
