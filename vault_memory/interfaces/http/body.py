"""The body of a request: it is read up to a limit, in time, and when there is memory for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Message, Receive

from vault_memory.interfaces.http import problem
from vault_memory.interfaces.http.budget import Budget, Share

MAX_DRAINED_BYTES = 64_000_000
"""How much of a body that is too large is still read: many clients read our response only after sending all."""
BODY_TIMEOUT_S = 30.0
"""For a body, from the moment at which there is memory for it."""
MEMORY_TIMEOUT_S = 30.0
"""How long a request waits until there is memory for its body."""
FREE_BYTES = 64 << 10
"""A request that takes less memory waits for nobody; all connections together take 26 MB so."""


class Body:
    """The body of a request. `receive` hands it to the app, then whatever comes next: that the client disconnects."""

    def __init__(self, receive: Receive, headers: Mapping[str, str], max_bytes: int) -> None:
        length = headers.get("content-length", "0")
        self._receive, self._max_bytes = receive, max_bytes
        self._is_too_large = not length.isdecimal() or int(length) > max_bytes
        self._waits_for_permission = "expect" in headers
        self._length = None if "transfer-encoding" in headers or self._is_too_large else int(length)
        self._parts: list[bytes] | None = []
        self._size = 0

    async def read(self, budget: Budget, share: Share, memory_per_byte: int) -> Response | None:
        """Read it all, when there is memory for it, or return the response that refuses it. `share` grows with it."""
        if self._is_too_large and self._waits_for_permission:
            return _too_large(self._max_bytes)  # this client has sent nothing yet
        free_bytes = FREE_BYTES // memory_per_byte
        if self._length is None and not self._is_too_large:  # it does not say how much will come
            refusal, is_whole = await self._read_up_to(free_bytes)
            if refusal or is_whole:
                return refusal
        needed = self._max_bytes if self._length is None else self._length
        if needed > free_bytes and not self._is_too_large:
            try:
                async with asyncio.timeout(MEMORY_TIMEOUT_S):
                    share.size = (await budget.share(share.caller, needed * memory_per_byte)).size
            except TimeoutError:
                return problem.response(
                    503, "busy", "other requests take all the memory: try again", headers={"Retry-After": "5"}
                )
        refusal, _ = await self._read_up_to(max(MAX_DRAINED_BYTES, self._max_bytes))
        return refusal

    async def _read_up_to(self, pause_at: int) -> tuple[Response | None, bool]:
        """(the response that refuses the body, whether it is whole); stops after `pause_at` bytes."""
        assert self._parts is not None
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                while self._size <= pause_at:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        return Response(status_code=400), False  # nobody is left to read it
                    self._size += len(message.get("body", b""))
                    self._is_too_large = self._is_too_large or self._size > self._max_bytes
                    if not self._is_too_large:
                        self._parts.append(message.get("body", b""))
                    if not message.get("more_body"):
                        return (_too_large(self._max_bytes) if self._is_too_large else None), True
        except TimeoutError:
            return problem.response(408, "body-too-slow", f"the body did not come within {BODY_TIMEOUT_S:g} s"), False
        return (_too_large(self._max_bytes) if self._is_too_large else None), False

    async def receive(self) -> Message:
        if self._parts is None:
            return await self._receive()
        parts, self._parts = self._parts, None  # from here on it is the app's: nobody else keeps it in memory
        return {"type": "http.request", "body": b"".join(parts), "more_body": False}


def _too_large(max_bytes: int) -> Response:
    return problem.response(
        413, "body-too-large", f"the body is larger than {max_bytes} bytes", headers={"Connection": "close"}
    )
