"""The server at `/mcp` of the HTTP server, for the user of the token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from vault_memory.core import reading
from vault_memory.services.admin import Caller
from vault_memory.services.turns import SecondLooks
from vault_memory.services.vault import Vault

MAX_SESSIONS = 1_000
"""Of all clients together; each takes some 50 KB."""
SESSION_IDLE_S = 30 * 60.0

TOOLSETS_OVER_HTTP = ("memory", "profile", "learning", "vault", "buddy")
"""All: a client chooses among tools itself."""

WhoseId = Callable[[Request], str]
"""The id of the user for whom a request is answered; raises an error of ours for one who may not."""


class Endpoint:
    """An ASGI app behind the guard of the HTTP server, and the `lifespan` that it needs. `whose_id` is told by that
    server. The SDK is imported with the first request: a server that nobody asks starts as fast as before."""

    def __init__(self, vault: Vault, whose_id: WhoseId, toolsets: tuple[str, ...] = TOOLSETS_OVER_HTTP) -> None:
        self._vault, self._whose_id, self._toolsets = vault, whose_id, toolsets
        self._second_looks = SecondLooks(vault)
        self._wanted, self._ready = asyncio.Event(), asyncio.Event()
        self._answer: Any = None

    @asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        """While it is open, requests are answered."""
        serving = asyncio.create_task(self._serve())
        try:
            yield
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
            await asyncio.to_thread(self._second_looks.close)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard has let through. Raises an error of ours for a caller without a user,
        or with the former id of one."""
        user_id = self._whose_id(Request(scope))
        self._vault.refuse_former(user_id)
        self._wanted.set()
        await self._ready.wait()
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken

        # A session is only of the person who has opened it: the id may be another's meanwhile.
        owner = f"{user_id} {self._vault.had_since(user_id)}"
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        await self._answer(scope, _mended(receive), send)

    async def _serve(self) -> None:
        await self._wanted.wait()
        manager = await asyncio.to_thread(self._manager)
        async with manager.run():
            self._answer = manager.handle_request
            self._ready.set()
            await asyncio.Event().wait()

    def _manager(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from vault_memory.interfaces.mcp.catalogue import tools
        from vault_memory.interfaces.mcp.server import create_server
        from vault_memory.interfaces.mcp.tool import Person

        def whose(ctx: Any) -> Person:
            caller: Caller = ctx.request.scope["caller"]
            user_id = self._whose_id(ctx.request)
            return Person(self._vault, user_id, caller.as_of, self._second_looks, is_admin=caller.admin)

        tools(self._toolsets)  # what they import is not imported on the event loop, where everybody waits
        server = create_server(whose, self._toolsets)
        return StreamableHTTPSessionManager(server, session_idle_timeout=SESSION_IDLE_S, max_sessions=MAX_SESSIONS)


def _mended(receive: Receive) -> Receive:
    """The same request. But for an answer to a question of ours that is no message there is an error in its place, as
    over stdio: the SDK would refuse it, and who has asked would wait on."""
    from vault_memory.interfaces.mcp.stdio import in_place_of

    async def receiving() -> Message:
        message = await receive()  # the guard hands the body on as one
        body = message.get("body", b"")
        if not body or b'"method"' in body:  # a request: it is read once
            return message
        with suppress(ValueError):
            if (error := in_place_of(reading.json_value(body))) is not None:
                return {**message, "body": error.model_dump_json(exclude_unset=True).encode()}
        return message

    return receiving
