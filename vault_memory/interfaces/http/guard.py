"""What stands before every endpoint, known or not: Host and Origin, the token, rate and size. Nothing is read before.

Plain ASGI, so that a stream passes through as it comes.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import OrderedDict
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vault_memory.core.bucket import Bucket
from vault_memory.errors import Unauthenticated
from vault_memory.interfaces.http import problem
from vault_memory.services.admin.access import Caller, caller_of
from vault_memory.services.vault import Vault

OPEN = ("/healthz",)
"""The only paths that need no token."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?")
_ONCE = (b"host", b"origin", b"authorization", b"x-api-key")
API_BODY_BYTES = 2_000_000
"""Largest body of our own endpoints; the chat proxy's (`/v1/`) is a setting."""
DRAINED_BYTES = 64_000_000
"""Of a body that is too large so much is still taken off the line: who is hung up on while sending does not hear why."""
BODY_TIMEOUT_S = 30.0
BURST_S = 2.0
"""A caller who was quiet may send what is allowed in so many seconds at once."""
_CALLERS = 10_000


class Guard:
    """Wraps an app; every HTTP request that it lets through has `scope["caller"]`, but for the open paths."""

    def __init__(self, app: ASGIApp, vault: Vault) -> None:
        self._app = app
        self._vault = vault
        self._hosts = {name.lower() for name in (*LOCAL_HOSTS, *vault.config.serve_hosts)}
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no websockets here
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = _doubt(scope) or self._place(headers) or self._caller(scope, headers)
        if refusal is None:
            body = await _body(receive, headers, self._most(scope["path"]))
            if isinstance(body, Response):
                refusal = body
            else:
                await self._app(scope, _again(body, receive), send)
                return
        await refusal(scope, receive, send)

    def _place(self, headers: Mapping[str, str]) -> Response | None:
        """Refuse a browser that was sent here under a foreign name (DNS rebinding) or by a foreign page."""
        host = headers.get("host", "").lower()
        named = _HOST.fullmatch(host)
        if named is None or named[1] not in self._hosts:
            return problem.response(
                421,
                "misdirected-request",
                "this server does not answer to that Host: see `serve.hosts` in the settings",
            )
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return problem.response(403, "foreign-origin", "a page from another place may not call this server")
        return None

    def _caller(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Find out who calls, and whether not too often."""
        if scope["path"] in OPEN:
            return self._pace(f"open {_client(scope)}")
        try:
            # Two small files: to read them here takes less than to hand them to another thread.
            caller = caller_of(self._vault, _token(headers))
        except Unauthenticated as error:
            return self._pace(f"from {_client(scope)}") or problem.of(error, self._vault.root)
        scope["caller"] = caller
        return self._pace(_key(caller))

    def _pace(self, who: str) -> Response | None:
        now, rate = time.monotonic(), self._vault.config.serve_rate
        bucket = self._buckets.pop(who, None) or Bucket(rate, rate * BURST_S, now)
        self._buckets[who] = bucket
        if len(self._buckets) > _CALLERS:
            self._buckets.popitem(last=False)
        wait_s = bucket.wait_s(now)
        if not wait_s:
            return None
        return problem.response(
            429, "too-many-requests", f"more than {rate} requests a second: wait",
            headers={"Retry-After": str(math.ceil(wait_s))},
        )  # fmt: skip

    def _most(self, path: str) -> int:
        return self._vault.config.serve_body_mb * 1_000_000 if path.startswith("/v1/") else API_BODY_BYTES


async def _body(receive: Receive, headers: Mapping[str, str], most: int) -> bytes | Response:
    """The whole body, or why it is not taken."""
    too_large = problem.response(
        413, "body-too-large", f"more than {most} bytes are not taken here", headers={"Connection": "close"}
    )
    length = headers.get("content-length", "0")
    refused = not length.isdecimal() or int(length) > most
    if refused and "expect" in headers:
        return too_large  # the caller waits for a word before it sends any of it
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Response(status_code=400)  # nobody is there to read it
                size += len(message.get("body", b""))
                refused = refused or size > most
                if refused and (size > DRAINED_BYTES or not message.get("more_body")):
                    return too_large
                if not refused:
                    parts.append(message.get("body", b""))
                    if not message.get("more_body"):
                        return b"".join(parts)
    except TimeoutError:
        return problem.response(408, "body-too-slow", f"the body did not come within {BODY_TIMEOUT_S:g} s")


def _again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read already, and then what comes: that the client hung up."""
    given = False

    async def first_the_body() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return first_the_body


def _token(headers: Mapping[str, str]) -> str:
    """The token of a request: a bearer's, or where Anthropic's clients put a key."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", "").strip()
    if not token:
        raise Unauthenticated(
            "a token is needed: `Authorization: Bearer …`; `vault-memory token` shows the vault's own"
        )
    return token


def _key(caller: Caller) -> str:
    return "admin" if caller.admin else f"user {caller.user_id}"


def _client(scope: Scope) -> str:
    """The address that the connection comes from. What a request says of it in a header is anybody's word."""
    return str((scope.get("client") or ["?"])[0])


def _doubt(scope: Scope) -> Response | None:
    """Refuse what two readers could read in two ways: a server in front of this one may have gone by the other."""
    names = [name.lower() for name, _ in scope["headers"]]
    twice = next((name.decode() for name in _ONCE if names.count(name) > 1), None)
    if twice is None and not {b"content-length", b"transfer-encoding"} <= {*names}:
        return None
    said = (
        f"{twice} stands there more than once" if twice else "Content-Length and Transfer-Encoding exclude each other"
    )
    return problem.response(400, "ambiguous-request", said, headers={"Connection": "close"})
