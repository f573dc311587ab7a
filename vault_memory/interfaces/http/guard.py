"""Who may call, and which user's data a call may open.

`Guard` checks every request, to a known path or not: Host and Origin, the token, the rate, and only then reads the
body, up to a limit, and as far as there is memory for it. It is plain ASGI, so streams pass unbuffered. The endpoints
get the caller, the vault and the user id from the dependencies `TheCaller`, `TheAdmin`, `TheVault` and `TheUser`.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Annotated
from weakref import WeakValueDictionary

from fastapi import Depends, Path, Request
from fastapi.security import HTTPBearer
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vault_memory.core.timing import TokenBucket
from vault_memory.errors import Forbidden, InvalidId, Unauthenticated, UsageError
from vault_memory.interfaces.http import problem
from vault_memory.interfaces.http.body import MEMORY_PER_RELAYED_BYTE, Body, Budget, Share, busy
from vault_memory.interfaces.http.connections import caller_at
from vault_memory.interfaces.http.response import BoundedResponse, responses_budget
from vault_memory.services.admin import Caller, caller_of
from vault_memory.services.vault import Vault

PUBLIC_PATHS = ("/healthz",)
"""The only paths that need no token."""
STREAMED = "/mcp"
"""There a response may last as long as its client listens; what it holds then is little."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
"""Those of our endpoints and of the providers'."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
MAX_API_BODY_BYTES = 2_000_000
"""For our own endpoints; the limit for the chat proxy is a setting."""
MIN_CALLER_BYTES = 64_000_000
"""Memory that the bodies of one caller may take at least; all callers together get twice as much as one."""
MAX_REQUESTS_PER_CALLER = 300
MAX_REQUESTS = 380
"""Being answered at once, or answered with a turn that waits to be recorded: a server that stops records these first,
which takes some 20 ms each. What is left of the connections is for /healthz, and to refuse further requests."""
CHATS_BEGUN = 16
"""Of one caller, from the whole request until it has left for the provider. The others wait and cost nothing until
then: so however many begin at once, each round of the event loop is short."""
BEGUN_AT_ONCE = 16
"""Of all requests, in one round of the event loop, which takes on new connections in between: some 5 ms."""
BURST_S = 2.0
"""A caller who was quiet may send the requests of this many seconds at once."""
MAX_TRACKED_CALLERS = 10_000
PREFLIGHT_S = 600
"""How long a browser may keep what it was told about an origin, before it asks again."""
READABLE_HEADERS = (
    *("ETag", "Retry-After", "Request-Id", "X-Request-Id", "X-Should-Retry"),
    *("X-Vault-Conversation", "X-Vault-Memory", "X-Vault-Turn"),
)
"""Those of a response that a page of an allowed origin may read, beside the few that any page may."""
_HEADER_NAMES = re.compile(r"[A-Za-z0-9_-]+(?:, ?[A-Za-z0-9_-]+)*")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?")
_VAULT_TOKEN = re.compile(rb"\bvault_\S+")
_TOKEN_HEADERS = (b"authorization", b"x-api-key", b"x-vault-token")
_SINGLE_HEADERS = (b"host", b"origin", *_TOKEN_HEADERS, b"x-vault-user")


class Turn:
    """A chat's turn among those of its caller: it waits to `begin`, and its turn may `end` before its response does."""

    waited_s = 0.0
    """How long it has waited to begin."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._has_begun = False

    async def begin(self) -> None:
        """Wait for a place."""
        since = time.monotonic()
        await self._places.acquire()
        self._has_begun = True
        self.waited_s = time.monotonic() - since

    def end(self) -> None:
        """Leave the place to the next; a second time does nothing."""
        if self._has_begun:
            self._has_begun = False
            self._places.release()


class Guard:
    """Wraps an app. Every HTTP request that it lets through has `scope["caller"]`, except to the public paths.

    `request.state.share` is the memory that its body takes, `request.state.turn` its turn among its caller's chats: who
    has sent the body on gives both back early.
    """

    def __init__(self, app: ASGIApp, vault: Vault) -> None:
        self._app = app
        self._vault = vault
        self._origins = {origin.lower() for origin in vault.config.serve_origins}
        self._hosts = {name.lower() for name in (*LOCAL_HOSTS, *vault.config.serve_hosts)}
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._in_flight: Counter[str] = Counter()
        caller_bytes = max(MIN_CALLER_BYTES, MEMORY_PER_RELAYED_BYTE * 1_000_000 * vault.config.serve_body_mb)
        self._budget = Budget(2 * caller_bytes, caller_bytes)
        self._responses = responses_budget()
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._beginning = asyncio.Semaphore(BEGUN_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no websockets
        async with self._beginning:
            await asyncio.sleep(0)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = _refuse_ambiguous(scope) or self._refuse_foreign(headers)
        if refusal is None and headers.get("origin", "").lower() in self._origins:
            send = _readable_for(headers["origin"], send)
            refusal = self._preflight(scope, headers)
        refusal = refusal or self._refuse_caller(scope, headers)
        if refusal is None:
            refusal = await self._answer(scope, headers, receive, send)
        if refusal is not None:
            await refusal(scope, receive, send)

    async def _answer(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> Response | None:
        """Read the body and let the app answer; or the response that refuses the request."""
        who, is_relayed = _who(scope), scope["path"].startswith(f"{problem.RELAYED}/")
        connection = scope.setdefault("state", {}).setdefault("connection", None)
        if connection is not None:
            connection.caller = who
        body = Body(receive, headers, self._max_body_bytes(is_relayed=is_relayed))
        share = scope["state"]["share"] = Share(self._budget, who)
        turn = scope["state"]["turn"] = Turn(self._turns.setdefault(who, asyncio.Semaphore(CHATS_BEGUN)))
        try:
            if connection is not None:  # whoever has left waits for no memory, and holds none
                connection.on_lost = partial(self._budget.drop, share)
            refusal = await body.read(self._budget, share)
            if connection is not None:
                connection.on_lost = None
            refusal = refusal or (None if scope["path"] in PUBLIC_PATHS else self._refuse_crowd(who))
            if refusal is not None:
                return refusal
            if scope["path"] in PUBLIC_PATHS:
                await self._call(scope, who, body, send)
                return None
            if is_relayed:
                await self._call(scope, who, body, send, turn)
                return None
            if scope["path"] == STREAMED:
                await self._call(scope, who, body, send)
                return None
            response = BoundedResponse(self._responses, who, send, connection.cut_off if connection else lambda: None)
            try:
                if not await response.admit():
                    return busy()
                await self._call(scope, who, body, response.send)
            finally:
                response.end()
            return None
        except asyncio.CancelledError:  # the server stops and waits no longer
            if connection is None:
                raise
            connection.cut_off()  # else uvicorn logs a traceback for each request
            return None
        finally:
            share.release()
            turn.end()

    async def _call(self, scope: Scope, who: str, body: Body, send: Send, turn: Turn | None = None) -> None:
        """Let the app answer; a chat when it is its turn. The request has its place until its share is released."""
        connection = scope["state"]["connection"]
        if connection is not None:
            connection.is_busy = True
        self._in_flight[who] += 1
        scope["state"]["share"].on_release = partial(self._leave, who)
        if turn is not None:
            await turn.begin()
        await self._app(scope, body.receive, send)

    def _leave(self, who: str) -> None:
        self._in_flight -= Counter({who: 1})

    def _refuse_crowd(self, who: str) -> Response | None:
        """Refuse one more request when its caller, or all callers together, have as many as can be answered at once."""
        if self._in_flight[who] < MAX_REQUESTS_PER_CALLER and self._in_flight.total() < MAX_REQUESTS:
            return None
        return problem.response(
            503, "busy", "too many requests are being answered: try again", headers={"Retry-After": "1"}
        )

    def _refuse_foreign(self, headers: Mapping[str, str]) -> Response | None:
        """Refuse a browser that came here by a foreign host name (DNS rebinding) or from a foreign page."""
        host = headers.get("host", "").lower()
        match = _HOST.fullmatch(host)
        if match is None or match[1] not in self._hosts:
            return problem.response(
                421,
                "misdirected-request",
                "this server does not serve that Host: add it to `serve.hosts` in the settings",
            )
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}", *self._origins):
            return problem.response(
                403,
                "foreign-origin",
                "a page of another site may not call this server: an app of yours may if `serve.origins` names it",
            )
        return None

    def _preflight(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """The answer to a browser that asks, for a page of an allowed origin, what it may send; None for any other
        request. There is no token in it."""
        if scope["method"] != "OPTIONS" or "access-control-request-method" not in headers:
            return None
        refusal = _refuse_body(headers) or self._refuse_too_many(f"open {_who(scope)}")
        if refusal is not None:
            return refusal
        allowed = {
            "Access-Control-Allow-Methods": ", ".join(METHODS),
            "Access-Control-Max-Age": str(PREFLIGHT_S),
        }
        wanted = headers.get("access-control-request-headers", "")
        if _HEADER_NAMES.fullmatch(wanted):  # each SDK has its own, and `*` does not stand for Authorization
            allowed["Access-Control-Allow-Headers"] = wanted
        if headers.get("access-control-request-private-network") == "true":
            allowed["Access-Control-Allow-Private-Network"] = "true"
        return Response(status_code=204, headers=allowed)

    def _refuse_caller(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Put the caller into the scope. Refuse one without a valid token, and one that calls too often."""
        if scope["path"] in PUBLIC_PATHS:
            return _refuse_body(headers) or self._refuse_too_many(f"open {_who(scope)}")
        try:
            # It reads two small files, which takes less time than handing the work to a thread.
            caller = caller_of(self._vault, _token(headers))
        except Unauthenticated as error:
            return self._refuse_too_many(_who(scope)) or problem.of(error, self._vault.root)
        scope["caller"] = caller
        return self._refuse_too_many(_who(scope))

    def _refuse_too_many(self, who: str) -> Response | None:
        now, rate = time.monotonic(), self._vault.config.serve_rate
        bucket = self._buckets.pop(who, None) or TokenBucket(rate, rate * BURST_S, now)
        self._buckets[who] = bucket
        if len(self._buckets) > MAX_TRACKED_CALLERS:
            self._buckets.popitem(last=False)
        wait_s = bucket.wait_s(now)
        if not wait_s:
            return None
        return problem.response(
            429,
            "too-many-requests",
            f"more than {rate} requests a second: wait as long as Retry-After says",
            headers={"Retry-After": str(math.ceil(wait_s))},
        )

    def _max_body_bytes(self, *, is_relayed: bool) -> int:
        return self._vault.config.serve_body_mb * 1_000_000 if is_relayed else MAX_API_BODY_BYTES


async def identify(
    request: Request,
    _: Annotated[
        object, Depends(HTTPBearer(auto_error=False, description="The vault's own token, or a user's token."))
    ] = None,
) -> Caller:
    """The caller that the guard has found. Raises `Unauthenticated` if the app runs without a guard."""
    caller = request.scope.get("caller")
    if not isinstance(caller, Caller):
        raise Unauthenticated("this request did not come through the guard")
    return caller


async def vault_of(request: Request) -> Vault:
    """The vault that this app serves."""
    vault: Vault = request.app.state.vault
    return vault


async def administrate(caller: Annotated[Caller, Depends(identify)]) -> Caller:
    """The caller, if it holds the vault's own token. Raises `Forbidden`."""
    if not caller.admin:
        raise Forbidden("a user's token opens only that user's data: use the vault's own token")
    return caller


async def own_user(
    caller: Annotated[Caller, Depends(identify)],
    vault: Annotated[Vault, Depends(vault_of)],
    student_id: Annotated[
        str, Path(description="A user id, or an outside name from `[identities]`.", examples=["alice"], max_length=256)
    ],
) -> str:
    """The user id that the path names, if the caller may act for it.

    Raises `Forbidden`, with the same message whether that user exists or not, and `InvalidId` for an invalid id.
    """
    return acting_for(vault, caller, student_id)


def acting_for(vault: Vault, caller: Caller, name: str) -> str:
    """The user id of a user id or outside name, if the caller may act for it. Raises `Forbidden` or `InvalidId`, and
    `Unauthenticated` when the caller's id has become another one since the token was checked."""
    if caller.user_id is not None and vault.id_now(caller.user_id, caller.as_of)[0] != caller.user_id:
        raise Unauthenticated("this user has just got another id, which ends the token: `vault-memory token --user ID`")
    try:
        user_id = vault.user_of(name)
    except InvalidId:
        if caller.admin:
            raise
        user_id = ""
    if not caller.admin and user_id != caller.user_id:
        raise Forbidden("this token opens another user's data")
    return user_id


def speaking_for(vault: Vault, request: Request) -> str:
    """The user id for whom a program speaks: the token's; with the vault's own token that of the user named in
    X-Vault-User, who may be new. Raises `UsageError` where none is named, and what `acting_for` raises."""
    caller = request.scope["caller"]
    name = caller.user_id or request.headers.get("x-vault-user", "").strip()
    if not name:
        raise UsageError("the vault's own token has no user: name one in X-Vault-User, or use a user's token")
    return vault.new_user(acting_for(vault, caller, name))


TheVault = Annotated[Vault, Depends(vault_of)]
TheUser = Annotated[str, Depends(own_user)]
TheCaller = Annotated[Caller, Depends(identify)]
TheAdmin = Annotated[Caller, Depends(administrate)]


def _who(scope: Scope) -> str:
    """Whose request it is: a user's, the administrator's, or that of somebody without a token, by the address of the
    connection: headers that name another one can be forged, and are not read."""
    caller = scope.get("caller")
    if caller is None:
        return caller_at(scope.get("client"))
    return "admin" if caller.admin else f"user {caller.user_id}"


def _token(headers: Mapping[str, str]) -> str:
    """The token of a request: that of X-Vault-Token, which leaves the other two headers to the caller's own key for the
    provider; else the bearer token, or the key of Anthropic's clients."""
    if token := headers.get("x-vault-token", "").strip():
        return token
    kind, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()
    if not token:
        raise Unauthenticated(
            "a token is needed: send `Authorization: Bearer …`; `vault-memory token` shows the vault's own"
        )
    return token


def _readable_for(origin: str, send: Send) -> Send:
    """Sends a response that a page of this origin may read. No cookie is ever asked for: the token is in a header."""
    allowed = [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", ", ".join(READABLE_HEADERS).encode()),
        (b"vary", b"Origin"),
    ]

    async def send_readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *allowed]}
        await send(message)

    return send_readable


def _refuse_body(headers: Mapping[str, str]) -> Response | None:
    """Refuse a body where there is no token: one that never comes would hold memory of those who have one."""
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return None
    return problem.response(413, "body-too-large", "this address takes no body", headers={"Connection": "close"})


def _refuse_ambiguous(scope: Scope) -> Response | None:
    """Refuse a request that another server in front of this one may have read in another way."""
    headers = [(name.lower(), value.strip().lower()) for name, value in scope["headers"]]
    names = [name for name, _ in headers]
    authority = scope.get("state", {}).get("authority")
    detail = ""
    if repeated := next((name.decode() for name in _SINGLE_HEADERS if names.count(name) > 1), None):
        detail = f"the header {repeated} must come only once"
    elif {b"content-length", b"transfer-encoding"} <= {*names}:
        detail = "Content-Length and Transfer-Encoding exclude each other: send one of them"
    elif [value for name, value in headers if name == b"transfer-encoding"] not in ([], [b"chunked"]):
        detail = "the only Transfer-Encoding may be chunked"
    elif b"transfer-encoding" in names and scope["http_version"] == "1.0":
        detail = "HTTP/1.0 has no Transfer-Encoding: send Content-Length, or HTTP/1.1"
    elif authority is not None and (b"host", authority.lower().encode("latin-1")) not in headers:
        detail = "the address in the request line names another host than the header host"
    elif len({token for name, value in headers if (token := _vault_token(name, value))}) > 1:
        detail = "Authorization, X-Api-Key and X-Vault-Token hold two different vault tokens: send one of them"
    return problem.response(400, "ambiguous-request", detail, headers={"Connection": "close"}) if detail else None


def _vault_token(name: bytes, value: bytes) -> bytes:
    """The vault token in a header that may hold one, b"" if there is none; a provider's key is none."""
    found = _VAULT_TOKEN.search(value) if name in _TOKEN_HEADERS else None
    return found[0] if found else b""
