"""The chat proxy: OpenAI's and Anthropic's endpoints, answered by the provider behind them, with the user's memory.

A request is changed in one place, its last message of the person, and an answer in none. Whoever uses it names the vault's
token where the provider's key would stand; the provider's own key comes from the settings or in X-Upstream-Authorization.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import httpx
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from vault_memory.adapters.models.upstream import Headers, Sent, Upstream, end_to_end
from vault_memory.errors import EndpointError, NotFound, UsageError
from vault_memory.interfaces.http.identify import acting_for, identify
from vault_memory.services.proxy.listen import BROKE_OFF
from vault_memory.services.proxy.relay import Prepared, Relay
from vault_memory.services.vault import Vault

ANSWER_S = 3_600.0
"""Longest time for one answer, however steadily it drips, or however slowly the client reads it."""
KEPT_BYTES = 32 << 20
"""What is kept of an answer to make a turn of; a longer one is handed on all the same."""
CONVERSATION_CHARS = 200
SWITCH_S = 0.0005
"""How long a thread that computes (a search, a commit) may keep the one that hands answers on waiting; Python's own 5 ms
add up, as it waits for each part of each stream anew."""
_UNRECORDED = ("off", "no", "false", "0")
_OURS = (b"x-vault-", b"x-upstream-authorization", b"x-conversation-id")
_NOT_SENT_ON = {b"host", b"content-length", b"authorization", b"x-api-key", b"cookie", b"accept-encoding", b"expect"}
_TOKEN = re.compile(rb"vault_[\w.-]{1,64}_[0-9a-f]{64}")
_NOT_HANDED_ON = {b"date", b"server", b"set-cookie", b"alt-svc", b"x-vault-memory"}


def routes(vault: Vault, transport: httpx.AsyncBaseTransport | None = None) -> APIRouter:
    """The proxy's endpoints for a vault. `transport` stands in for the network to the providers."""
    relay = Relay(vault, transport)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sys.setswitchinterval(SWITCH_S)
        yield
        await relay.close()

    router = APIRouter(prefix="/v1", include_in_schema=False, lifespan=lifespan)

    @router.post("/chat/completions")
    async def chat_completions(request: Request) -> Response:
        return await _with_memory(request, relay, relay.openai)

    @router.post("/messages")
    async def messages(request: Request) -> Response:
        return await _with_memory(request, relay, relay.anthropic)

    @router.post("/messages/count_tokens")
    async def count_tokens(request: Request) -> Response:
        return await _as_it_is(request, relay, relay.anthropic)

    @router.post("/responses")
    @router.api_route("/responses/{rest:path}", methods=["GET", "POST", "DELETE"])
    async def responses(request: Request) -> Response:
        return await _as_it_is(request, relay, relay.openai)

    @router.get("/models")
    @router.get("/models/{rest:path}")
    async def models(request: Request) -> Response:
        is_anthropic = "anthropic-version" in request.headers
        return await _as_it_is(request, relay, relay.anthropic if is_anthropic else relay.openai)

    return router


async def _with_memory(request: Request, relay: Relay, upstream: Upstream) -> Response:
    body = await request.body()
    fields = await run_in_threadpool(_parsed, body)
    user_id = await _user(request, relay.vault, fields)
    conversation = _header(request, "X-Conversation-Id")[:CONVERSATION_CHARS] or None
    record = _header(request, "X-Vault-Record").lower() not in _UNRECORDED
    prepared = await relay.prepare(body, fields, user_id, conversation, record=record)
    return await _sent_on(request, relay, upstream, prepared)


async def _as_it_is(request: Request, relay: Relay, upstream: Upstream) -> Response:
    await identify(request)
    return await _sent_on(request, relay, upstream, Prepared(await request.body(), "off; passed through"))


async def _user(request: Request, vault: Vault, fields: Any) -> str:
    """Whose memory it is: the token's user; with the vault's own token whom X-Vault-User or the body's `user` names."""
    caller = await identify(request)
    if caller.user_id is not None:
        return caller.user_id
    named = _header(request, "X-Vault-User") or (fields.get("user") if isinstance(fields, dict) else None)
    if not isinstance(named, str) or not named:
        raise UsageError(
            "the vault's own token speaks for nobody: name the user in X-Vault-User, or use a user's token"
        )
    return acting_for(vault, caller, named)


def _header(request: Request, name: str) -> str:
    """A header as it was meant: HTTP hands bytes over as Latin-1, clients write names in UTF-8."""
    value = request.headers.get(name, "").strip()
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


async def _sent_on(request: Request, relay: Relay, upstream: Upstream, prepared: Prepared) -> Response:
    """The provider's answer, on its way; nothing when the client hangs up before it begins."""
    gone = asyncio.ensure_future(_until_gone(request.receive))
    own_key = request.headers.get("X-Upstream-Authorization")
    sending = asyncio.ensure_future(
        upstream.send(request.method, _path(request), _onward(request), prepared.body, own_key)
    )
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            return Response(status_code=499)  # nobody is there to read it
        return Delivery(relay, prepared, sending.result(), gone)
    except BaseException:
        gone.cancel()
        raise
    finally:
        sending.cancel()


class Delivery(Response):
    """Hands the provider's answer on as it comes, and has the turn recorded when that is over, whichever way."""

    def __init__(self, relay: Relay, prepared: Prepared, sent: Sent, gone: asyncio.Future[None]) -> None:
        self.status_code = sent.status
        self.background = None
        self.raw_headers = [(name, value) for name, value in sent.headers if name not in _NOT_HANDED_ON]
        self.raw_headers.append((b"x-vault-memory", prepared.memory.encode("latin-1")))
        self._relay = relay
        self._prepared = prepared
        self._sent = sent
        self._gone = gone
        self._kept: list[bytes] = []
        self._broken = "the client hung up"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pump = asyncio.ensure_future(self._pump(send))
        try:
            await asyncio.wait({pump, self._gone}, timeout=ANSWER_S, return_when=asyncio.FIRST_COMPLETED)
            if pump.done():
                with contextlib.suppress(EndpointError):  # an answer that is not complete is cut off when this returns
                    pump.result()
            elif not self._gone.done():
                self._broken = BROKE_OFF
        finally:
            pump.cancel()
            self._gone.cancel()
            if 200 <= self.status_code < 300:
                kept = self._sent.plain(b"".join(self._kept), KEPT_BYTES)
                self._relay.delivered(self._prepared, self._sent.media_type, kept, self._broken)
            await asyncio.shield(asyncio.ensure_future(self._end(pump)))

    async def _pump(self, send: Send) -> None:
        """Raises what the provider's connection raises."""
        size = 0
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for part in self._sent.parts():
                size += len(part)
                if size <= KEPT_BYTES:
                    self._kept.append(part)
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except Exception:
            self._broken = BROKE_OFF
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        self._broken = ""

    async def _end(self, pump: asyncio.Future[None]) -> None:
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await pump
        await self._sent.close()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _parsed(body: bytes) -> Any:
    """What the body says; None where it says nothing that can be read: the provider then tells the client so itself."""
    try:
        return json.loads(body.decode())
    except (ValueError, RecursionError):
        return None


def _path(request: Request) -> str:
    """The path behind `/v1` as it came, with its query; it may not lead up and out of there."""
    raw: bytes = request.scope["raw_path"]
    path = raw.decode("latin-1").partition("?")[0]
    if ".." in unquote(path).replace("\\", "/").split("/"):
        raise NotFound("there is no such path")
    query: str = request.scope["query_string"].decode("latin-1")
    if _TOKEN.search(unquote(query).encode("latin-1", "replace")):
        raise UsageError("a token of the vault does not belong in an address, which goes on to the provider")
    return path.removeprefix("/v1") + (f"?{query}" if query else "")


def _onward(request: Request) -> Headers:
    """The client's headers for the provider: none of ours, none of this connection's, and no vault token, wherever it stands."""
    kept = [
        (name, value)
        for name, value in end_to_end(request.headers.raw)
        if name not in _NOT_SENT_ON and not name.startswith(_OURS) and not _TOKEN.search(value)
    ]
    return [*kept, (b"accept-encoding", b"identity")]  # what is compressed could not be read for the turn
