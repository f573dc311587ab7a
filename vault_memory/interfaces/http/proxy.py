"""The chat proxy: OpenAI's and Anthropic's endpoints, answered by the provider behind them, with the user's memory.

Only the person's last message of a request is changed, and nothing in a response. The client sends a vault token in
place of the provider's key; the provider's key comes from the settings, or is the caller's own. What is asked at any
other address is passed through.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from vault_memory.errors import EndpointError, UsageError, VaultMemoryError
from vault_memory.interfaces.http import problem
from vault_memory.interfaces.http.body import Share
from vault_memory.interfaces.http.guard import METHODS, acting_for, identify
from vault_memory.interfaces.http.problem import RELAYED
from vault_memory.interfaces.http.response import CLIENT_CLOSED_REQUEST
from vault_memory.services.admin import Caller, people
from vault_memory.services.proxy import (
    BROKE_OFF,
    Prepared,
    Provider,
    Relay,
    RelayedResponse,
    Row,
    has_own_key,
    keeps_nothing,
    provider_of,
    refuse_shared,
)
from vault_memory.services.turns import SecondLooks
from vault_memory.services.vault import Vault

RESPONSE_TIMEOUT_S = 3_600.0
"""Longest time for one response, however slowly the provider sends it or the client reads it."""
TURN_BYTES = 4 << 10
"""What a turn takes until it is recorded, beside its words."""
MAX_CONVERSATION_ID_CHARS = 200
SWITCH_INTERVAL_S = 0.0001
"""How long a computing thread (a search, a commit) may delay the thread that hands responses on. Python's default of 5
ms adds up: each part of each stream waits again."""
_ONLY_HTTP = {"Upgrade": "HTTP/1.1"}
"""What may be spoken instead, without which there is no status 426."""
_RECORD, _NO_RECORD = ("on", "yes", "true", "1"), ("off", "no", "false", "0")


def routes(vault: Vault, second_looks: SecondLooks) -> APIRouter:
    """The proxy's endpoints for a vault. When the app ends, they end the server's second looks, too."""
    relay = Relay(vault, second_looks=second_looks)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        yield
        await relay.close()

    router = APIRouter(prefix=RELAYED, include_in_schema=False, lifespan=lifespan)

    @router.post("/chat/completions")
    async def chat_completions(request: Request) -> Response:
        return await _with_memory(request, relay, "openai")

    @router.post("/messages")
    async def messages(request: Request) -> Response:
        return await _with_memory(request, relay, "anthropic")

    @router.post("/responses")
    async def responses(request: Request) -> Response:
        return await _with_memory(request, relay, "openai", may_continue=True)

    @router.get("/responses")
    async def responses_by_websocket(request: Request) -> Response:
        if not _asks_for_another_protocol(request):
            return await _unchanged(request, relay, "openai")
        await identify(request)
        return problem.response(
            426, "upgrade-required", "there are no WebSockets here: send the request by POST", headers=_ONLY_HTTP
        )

    @router.api_route("/{rest:path}", methods=[*METHODS])
    async def anything_else(request: Request, rest: str) -> Response:
        provider = provider_of(rest, is_anthropics="anthropic-version" in request.headers)
        return await _unchanged(request, relay, provider)

    return router


def _asks_for_another_protocol(request: Request) -> bool:
    """Whether the connection is to become a WebSocket, say. Our server leaves out `Upgrade`, but not what names it."""
    named = ",".join(request.headers.getlist("Connection")).lower().split(",")
    return "upgrade" in request.headers or "upgrade" in (name.strip() for name in named)


async def _with_memory(request: Request, relay: Relay, provider: Provider, *, may_continue: bool = False) -> Response:
    """`may_continue`: the provider keeps what was said at this address, and a request may go on with it."""
    with _row(request, relay, await identify(request)) as row:
        with relay.vault.chats.one():
            prepared = await _prepared(request, relay, row, may_continue)
        kept = 0 if prepared.user_request is None else sys.getsizeof(prepared.user_request.chat.words) + TURN_BYTES
        return await _send(request, relay, provider, prepared, row, kept)


@contextlib.contextmanager
def _row(request: Request, relay: Relay, caller: Caller) -> Iterator[Row]:
    """The row of a request in the log, ended here if there will be no response of the provider's."""
    path = request.scope["path"].removeprefix(RELAYED)
    row = relay.log.begin(caller.user_id or "", _header(request, "User-Agent"), request.method, path)
    try:
        yield row
    except Exception as error:
        row.end(error.http_status if isinstance(error, VaultMemoryError) else 500)
        raise


async def _prepared(request: Request, relay: Relay, row: Row, may_continue: bool) -> Prepared:
    body = await _body(request)
    read = await relay.read(body, request.headers.raw)
    caller = await identify(request)
    row.user = user_id = await asyncio.to_thread(_user, request, caller, relay.vault, read.user)
    row.model = read.model or ""
    shares = may_continue and not _has_own_account(request, relay.vault, "openai")
    # The vault's own token is that of a program that may have several people in one conversation.
    if shares and not caller.admin:
        await asyncio.to_thread(relay.refuse_anothers, read, _query(request), user_id, caller.as_of)
    conversation = _header(request, "X-Conversation-Id")[:MAX_CONVERSATION_ID_CHARS] or None
    wishes = {wish.strip().lower() for wish in request.headers.getlist("X-Vault-Record")}
    # What is not plainly on is off: who sends this header has a wish, and a turn that was kept is kept for good.
    is_on, waited_s = wishes <= {*_RECORD}, request.state.turn.waited_s
    prepared = await relay.prepare(
        body, read, user_id, conversation, record=is_on, waited_s=waited_s, as_of=caller.as_of
    )
    if shares:
        prepared.owner = user_id, caller.as_of
    if wishes - {*_RECORD, *_NO_RECORD}:
        prepared.not_recorded = "X-Vault-Record is neither on nor off"
    return prepared


async def _unchanged(request: Request, relay: Relay, provider: Provider) -> Response:
    caller = await identify(request)
    with _row(request, relay, caller) as row:
        path = _path(request)
        is_for_all = keeps_nothing(request.method, path)
        if not is_for_all:
            await asyncio.to_thread(_refuse_shared, request, relay.vault, caller, provider, path)
        prepared = Prepared(await _body(request), "off; passed through")
        is_response = is_for_all and path.startswith("/responses/")  # it is made short, or counted
        if is_response and caller.user_id and not _has_own_account(request, relay.vault, provider):
            prepared.owner = caller.user_id, caller.as_of
            read = await relay.read(prepared.body, request.headers.raw)
            await asyncio.to_thread(relay.refuse_anothers, read, _query(request), *prepared.owner)
        return await _send(request, relay, provider, prepared, row)


def _refuse_shared(request: Request, vault: Vault, caller: Caller, provider: Provider, path: str) -> None:
    """Raise `Forbidden` for what one user of the provider's key could ask about another."""
    named = caller.user_id or _header(request, "X-Vault-User")
    refuse_shared(
        request.method,
        path,
        people(vault) | ({acting_for(vault, caller, named)} if named else set()),
        is_own_key=_is_own_key(request),
        needs_key=_needs_key(vault, provider),
    )


def _has_own_account(request: Request, vault: Vault, provider: Provider) -> bool:
    """Whether the caller reaches an account of their own at a provider: nobody else's responses are kept there."""
    return _is_own_key(request) and _needs_key(vault, provider)


def _is_own_key(request: Request) -> bool:
    return _own_key(request) is not None or has_own_key(request.headers.raw)


def _own_key(request: Request) -> str | None:
    """The caller's key for the provider, as the header for it has it; an empty one is none."""
    return request.headers.get("X-Upstream-Authorization", "").strip() or None


def _needs_key(vault: Vault, provider: Provider) -> bool:
    """Whether the settings name a key for a provider; else it may take any, and tell no caller from another."""
    config = vault.config
    return bool(config.upstream_key_env if provider == "openai" else config.upstream_anthropic_key_env)


async def _body(request: Request) -> bytes:
    """The body, which the guard hands over in one piece. `request.body()` would keep it until the response ends."""
    return b"".join([part async for part in request.stream() if part])


def _user(request: Request, caller: Caller, vault: Vault, named: str | None) -> str:
    """The token's user; with the vault's own token, the user named in X-Vault-User or in the body's `user`, who may be
    new. Raises `InvalidId` for one whose turns are kept nowhere."""
    if caller.user_id is not None:
        return caller.user_id
    name = _header(request, "X-Vault-User") or named
    if not name:
        raise UsageError("the vault's own token has no user: name one in X-Vault-User, or use a user's token")
    return vault.new_user(acting_for(vault, caller, name))


def _header(request: Request, name: str) -> str:
    """The text of a header: the server decodes it as Latin-1, but clients write names in UTF-8."""
    value = request.headers.get(name, "").strip()
    try:
        return value.encode("latin-1").decode()
    except UnicodeDecodeError:
        return value


async def _send(
    request: Request, relay: Relay, provider: Provider, prepared: Prepared, row: Row, kept_bytes: int = 0
) -> Response:
    """The provider's response, not yet read; 499 when the client disconnects before it begins.

    When the body has left, the request gives back the memory that it takes, but for `kept_bytes`, and its turn.
    """
    share, turn = request.state.share, request.state.turn

    def sent() -> None:
        share.keep(kept_bytes)
        turn.end()

    row.memory = prepared.memory
    if prepared.is_turn:  # of what is off the record nobody need know which conversation it was
        row.conversation = prepared.conversation
    path, own_key = _path(request), _own_key(request)
    disconnected = asyncio.ensure_future(_until_disconnected(request.receive))
    sending = asyncio.ensure_future(
        relay.send(
            prepared,
            provider,
            request.method,
            path,
            request.headers.raw,
            own_key,
            sent,
        )
    )
    try:
        await asyncio.wait({sending, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            row.end(CLIENT_CLOSED_REQUEST)
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        return Delivery(sending.result(), disconnected, share, row)
    except BaseException:
        disconnected.cancel()
        raise
    finally:
        sending.cancel()
        turn.end()


class Delivery(Response):
    """Hands the provider's response on as it comes, and has the turn recorded when it ends, for whatever reason.

    `share` is the memory that the request takes; what is kept for the turn counts in it until the turn is recorded.
    """

    def __init__(self, response: RelayedResponse, disconnected: asyncio.Future[None], share: Share, row: Row) -> None:
        self.status_code = response.status
        self.background = None
        self.raw_headers = response.headers
        self._response, self._row = response, row
        row.turn = response.turn
        self._disconnected = disconnected
        self._share, self._words_bytes = share, share.size
        self._problem = "the client hung up"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handing_on = asyncio.ensure_future(self._hand_on(send))
        try:
            await asyncio.wait(
                {handing_on, self._disconnected}, timeout=RESPONSE_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED
            )
            if handing_on.done():
                with contextlib.suppress(EndpointError):
                    handing_on.result()
            elif not self._disconnected.done():
                self._problem = BROKE_OFF
            if self._problem == BROKE_OFF and (connection := scope["state"]["connection"]) is not None:
                connection.break_off()  # uvicorn would do it and log an error
        finally:
            handing_on.cancel()
            self._disconnected.cancel()
            self._row.end(self.status_code)
            self._response.record(self._problem, partial(_release, self._share.hand_on(), asyncio.get_running_loop()))
            await asyncio.shield(asyncio.ensure_future(self._close(handing_on)))

    async def _hand_on(self, send: Send) -> None:
        """Raises what reading from the provider raises."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for part in self._response.parts(self._has_room):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except Exception:
            self._problem = BROKE_OFF
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        self._problem = ""

    def _has_room(self, size: int) -> bool:
        return self._share.try_to_hold(self._words_bytes + size)

    async def _close(self, handing_on: asyncio.Future[None]) -> None:
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await handing_on
        await self._response.close()


def _release(share: Share, loop: asyncio.AbstractEventLoop) -> None:
    """Give back the memory of a turn that was recorded in another thread."""
    with contextlib.suppress(RuntimeError):  # the server has stopped
        loop.call_soon_threadsafe(share.release)


async def _until_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _path(request: Request) -> str:
    """The path below `/v1` and the query, as the client sent them. Raises `UsageError` for a path written otherwise."""
    raw: bytes = request.scope["raw_path"]
    path = raw.decode("latin-1").partition("?")[0]
    if not path.startswith(RELAYED + "/"):  # the router has decoded it, but a provider may read it as it was sent
        raise UsageError("the path must begin with v1 and a slash, neither of them encoded")
    query = _query(request)
    return path.removeprefix(RELAYED) + (f"?{query}" if query else "")


def _query(request: Request) -> str:
    query: bytes = request.scope["query_string"]
    return query.decode("latin-1")
