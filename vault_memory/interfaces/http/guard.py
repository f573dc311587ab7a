"""Who may call, and which user's data a call may open.

`Guard` checks every request, to a known path or not: Host and Origin, the token, the rate, and only then reads the
body, up to a limit. It is plain ASGI, so streams pass unbuffered. The endpoints get the caller, the vault and the user
id from the dependencies `TheCaller`, `TheAdmin`, `TheVault` and `TheUser`.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Path, Request
from fastapi.security import HTTPBearer
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vault_memory.core.layout import resolve_user
from vault_memory.core.timing import TokenBucket
from vault_memory.errors import Forbidden, InvalidId, Unauthenticated
from vault_memory.interfaces.http import problem
from vault_memory.services.admin import Caller, caller_of
from vault_memory.services.vault import Vault

PUBLIC_PATHS = ("/healthz",)
"""The only paths that need no token."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
MAX_API_BODY_BYTES = 2_000_000
"""For our own endpoints; the limit for the chat proxy (`/v1/`) is a setting."""
MAX_DRAINED_BYTES = 64_000_000
"""How much of a body that is too large is still read: many clients read our response only after sending all."""
BODY_TIMEOUT_S = 30.0
BURST_S = 2.0
"""A caller who was quiet may send the requests of this many seconds at once."""
MAX_TRACKED_CALLERS = 10_000
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?")
_SINGLE_HEADERS = (b"host", b"origin", b"authorization", b"x-api-key")


class Guard:
    """Wraps an app. Every HTTP request that it lets through has `scope["caller"]`, except to the public paths."""

    def __init__(self, app: ASGIApp, vault: Vault) -> None:
        self._app = app
        self._vault = vault
        self._hosts = {name.lower() for name in (*LOCAL_HOSTS, *vault.config.serve_hosts)}
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no websockets
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = _refuse_ambiguous(scope) or self._refuse_foreign(headers) or self._refuse_caller(scope, headers)
        if refusal is None:
            body = await _read_body(receive, headers, self._max_body_bytes(scope["path"]))
            if isinstance(body, Response):
                refusal = body
            else:
                await self._app(scope, _replay(body, receive), send)
                return
        await refusal(scope, receive, send)

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
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return problem.response(403, "foreign-origin", "a page of another site may not call this server")
        return None

    def _refuse_caller(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Put the caller into the scope. Refuse one without a valid token, and one that calls too often."""
        if scope["path"] in PUBLIC_PATHS:
            return self._refuse_too_many(f"open {_address(scope)}")
        try:
            # It reads two small files, which takes less time than handing the work to a thread.
            caller = caller_of(self._vault, _token(headers))
        except Unauthenticated as error:
            return self._refuse_too_many(f"from {_address(scope)}") or problem.of(error, self._vault.root)
        scope["caller"] = caller
        return self._refuse_too_many("admin" if caller.admin else f"user {caller.user_id}")

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

    def _max_body_bytes(self, path: str) -> int:
        return self._vault.config.serve_body_mb * 1_000_000 if path.startswith("/v1/") else MAX_API_BODY_BYTES


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
    """The user id of a user id or outside name, if the caller may act for it. Raises `Forbidden` or `InvalidId`."""
    try:
        user_id = resolve_user(vault.config.identities, name)
    except InvalidId:
        if caller.admin:
            raise
        user_id = ""
    if not caller.admin and user_id != caller.user_id:
        raise Forbidden("this token opens another user's data")
    return user_id


TheVault = Annotated[Vault, Depends(vault_of)]
TheUser = Annotated[str, Depends(own_user)]
TheCaller = Annotated[Caller, Depends(identify)]
TheAdmin = Annotated[Caller, Depends(administrate)]


async def _read_body(receive: Receive, headers: Mapping[str, str], max_bytes: int) -> bytes | Response:
    """The whole body, or the response that refuses it."""
    length = headers.get("content-length", "0")
    is_too_large = not length.isdecimal() or int(length) > max_bytes
    if is_too_large and "expect" in headers:
        return _too_large(max_bytes)  # this client waits for our permission and has sent nothing yet
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Response(status_code=400)  # nobody is left to read it
                size += len(message.get("body", b""))
                is_too_large = is_too_large or size > max_bytes
                if is_too_large and (size > MAX_DRAINED_BYTES or not message.get("more_body")):
                    return _too_large(max_bytes)
                if not is_too_large:
                    parts.append(message.get("body", b""))
                    if not message.get("more_body"):
                        return b"".join(parts)
    except TimeoutError:
        return problem.response(408, "body-too-slow", f"the body did not come within {BODY_TIMEOUT_S:g} s")


def _too_large(max_bytes: int) -> Response:
    return problem.response(
        413, "body-too-large", f"the body is larger than {max_bytes} bytes", headers={"Connection": "close"}
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that first gives the body that was read, then whatever comes next: that the client disconnects."""
    is_given = False

    async def receive_again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _token(headers: Mapping[str, str]) -> str:
    """The token of a request: the bearer token, or the key of Anthropic's clients."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()
    if not token:
        raise Unauthenticated(
            "a token is needed: send `Authorization: Bearer …`; `vault-memory token` shows the vault's own"
        )
    return token


def _address(scope: Scope) -> str:
    """The address of the connection. Headers that name another one can be forged, and are not read."""
    return str((scope.get("client") or ["?"])[0])


def _refuse_ambiguous(scope: Scope) -> Response | None:
    """Refuse a request that another server in front of this one may have read in another way."""
    names = [name.lower() for name, _ in scope["headers"]]
    repeated = next((name.decode() for name in _SINGLE_HEADERS if names.count(name) > 1), None)
    if repeated is None and not {b"content-length", b"transfer-encoding"} <= {*names}:
        return None
    detail = (
        f"the header {repeated} must come only once"
        if repeated
        else "Content-Length and Transfer-Encoding exclude each other: send one of them"
    )
    return problem.response(400, "ambiguous-request", detail, headers={"Connection": "close"})
