"""The server for one client, over standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mcp.server.stdio import stdio_server

from vault_memory.interfaces.mcp.server import create_server
from vault_memory.interfaces.mcp.tool import Person
from vault_memory.services import turns
from vault_memory.services.vault import Vault


def serve_stdio(vault: Vault, user_id: str, toolsets: Sequence[str]) -> None:
    """Answer a client for this user until it closes the input. Raises `UsageError` for an unknown toolset."""
    second_looks = turns.SecondLooks(vault)
    person = Person(vault, user_id, vault.renamings(), second_looks, is_admin=True)
    server = create_server(lambda _: person, toolsets)

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    try:
        asyncio.run(run())
    finally:
        second_looks.close()
