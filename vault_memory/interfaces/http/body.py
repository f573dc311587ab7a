"""The body of a request: it is read up to a limit, in time, and as far as there is memory for it.

What a caller announces counts against a limit of that caller alone. What all callers share is taken only as bytes
arrive: who announces a body and sends nothing holds up nobody else. When there is no memory for the next bytes of a
body, the largest unfinished one of the caller who holds the most makes room.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Message, Receive

from vault_memory.core.chat import MAX_READ_BYTES, has_more_values
from vault_memory.interfaces.http import problem

MEMORY_PER_READ_BYTE = 24
"""JSON of many small values takes this many times its size while it is read."""
MEMORY_PER_RELAYED_BYTE = 2
"""Of a larger body the rest is not read: it takes its size, and once more with memory in it."""
MAX_VALUES = 5_000
"""Texts, members and elements of a body for our own endpoints; no request that makes sense has a thousand."""
MAX_DRAINED_BYTES = 64_000_000
"""How much of a body that is too large is still read: many clients read our response only after sending all."""
BODY_TIMEOUT_S = 30.0
"""For a body, from the moment at which its caller has room for it."""
MEMORY_TIMEOUT_S = 30.0
"""How long a request waits until others of the same caller leave room for it."""
PASSED_S = 5.0
"""How long smaller requests of the same caller may overtake one that waits."""
PATIENCE_S = 1.0
"""How long the next bytes of a body wait for memory before another body makes room."""
FREE_BYTES = 64 << 10
"""A request that takes less memory waits for no other caller, and for others of its own that are as small only."""
MAX_FREE = 512
"""Of one caller; more than there can be connections."""


def memory_of(size: int) -> int:
    """The memory that a body of so many bytes takes."""
    read = min(size, MAX_READ_BYTES)
    return MEMORY_PER_READ_BYTE * read + MEMORY_PER_RELAYED_BYTE * (size - read)


class Budget:
    """So many bytes for all callers together, and for each of them. Used on one event loop, so it needs no lock."""

    def __init__(self, total_bytes: int, caller_bytes: int, free_bytes: int = FREE_BYTES) -> None:
        self._total_bytes, self._caller_bytes, self._free_bytes = total_bytes, caller_bytes, free_bytes
        self._claimed: Counter[tuple[str, bool]] = Counter()
        self._held = 0
        self._arriving: list[Share] = []
        self._waiting: list[_Wish] = []

    async def admit(self, share: Share, claim: int) -> None:
        """Let a share grow up to `claim` bytes, at most all that one caller may hold; waits until the caller has room.

        Its body counts as arriving from then on, until `share.keep`.
        """
        await self._wait(_Wish(share, claim=min(claim, self._caller_bytes)))
        if not share.is_dropped and share not in self._arriving:
            self._arriving.append(share)

    async def grow(self, share: Share, size: int) -> None:
        """Have a share hold `size` bytes, as far as it may grow; waits until there is memory for them."""
        size = min(size, share.claim)
        if size > share.size and (any(wish.size for wish in self._waiting) or not self.try_to_hold(share, size)):
            await self._wait(_Wish(share, size=size))

    def enlarge(self, share: Share, claim: int) -> None:
        """Let a share grow up to `claim` bytes at once, at most all that one caller may hold. If that is too much
        beside the caller's other shares, the next ones wait."""
        self.take(share, max(share.claim, min(claim, self._caller_bytes)), share.size)

    def try_to_hold(self, share: Share, size: int) -> bool:
        """Have a share hold `size` bytes now, and let it grow up to that, if there is room; whether there is."""
        claim = max(share.claim, size)
        has_room = self._may_claim(share, claim) and self._may_hold(share, claim, size)
        if has_room:
            self.take(share, claim, max(share.size, size))
        return has_room

    def take(self, share: Share, claim: int, size: int) -> None:
        """Count what a share may hold and holds."""
        for sign, bytes_ in ((-1, share.claim), (1, claim)):
            self._claimed[share.caller, bytes_ <= self._free_bytes] += sign * bytes_
        self._held += size - share.size
        share.claim, share.size = claim, size

    def end_arrival(self, share: Share) -> None:
        """From now on the share is not given up for another."""
        with contextlib.suppress(ValueError):
            self._arriving.remove(share)

    def serve(self) -> None:
        """Grant what fits, in order. One caller waits for another only for memory that the other holds."""
        now = asyncio.get_running_loop().time()
        is_full, overdue = False, set()
        for wish in list(self._waiting):
            share, claim = wish.share, max(wish.share.claim, wish.claim)
            if wish.claim:
                is_small = claim <= self._free_bytes
                if self._may_claim(share, claim) and (is_small or share.caller not in overdue):
                    self._grant(wish)
                elif now - wish.since_s > PASSED_S:
                    overdue.add(share.caller)
            elif self._may_hold(share, claim, wish.size) and (claim <= self._free_bytes or not is_full):
                self._grant(wish)
            else:
                is_full = True

    def _may_claim(self, share: Share, claim: int) -> bool:
        is_free = claim <= self._free_bytes
        own = share.claim if (share.claim <= self._free_bytes) == is_free else 0
        limit = MAX_FREE * self._free_bytes if is_free else self._caller_bytes
        return self._claimed[share.caller, is_free] - own + claim <= limit

    def _may_hold(self, share: Share, claim: int, size: int) -> bool:
        return claim <= self._free_bytes or self._held - share.size + size <= self._total_bytes

    def _grant(self, wish: _Wish) -> None:
        self._waiting.remove(wish)
        self.take(wish.share, max(wish.share.claim, wish.claim), max(wish.share.size, wish.size))
        wish.granted.set()

    async def _wait(self, wish: _Wish) -> None:
        wish.since_s = asyncio.get_running_loop().time()
        self._waiting.append(wish)
        self.serve()
        try:
            while not wish.granted.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(wish.granted.wait(), PATIENCE_S)
                    continue
                if wish.size:
                    self._make_room(wish)
        finally:
            self._withdraw(wish)

    def _withdraw(self, wish: _Wish) -> None:
        """Take a wish back, if it waits; if others wait because of it, serve them."""
        if wish in self._waiting:
            self._waiting.remove(wish)
            if wish.size or asyncio.get_running_loop().time() - wish.since_s > PASSED_S:
                self.serve()

    def _make_room(self, wish: _Wish) -> None:
        """Give up an unfinished body, perhaps the one that waits."""
        if self._may_hold(wish.share, wish.share.claim, wish.size):
            return  # it is behind another in the line
        held = Counter[str]()
        for share in self._arriving:
            held[share.caller] += share.size
        if most := max(held.values(), default=0):
            self.drop(max((s for s in self._arriving if held[s.caller] == most), key=lambda s: s.size))

    def drop(self, share: Share) -> None:
        """Give up an unfinished body: others need the memory, or its client has left."""
        for wish in [wish for wish in self._waiting if wish.share is share]:
            self._withdraw(wish)
            wish.granted.set()  # it need not wait any longer
        share.is_dropped = True
        share.on_drop()
        share.release()


@dataclass(eq=False)
class Share:
    """The bytes that one request holds, and its `claim`: how many it may hold.

    `is_dropped`: its body was given up, as others needed the memory or its client left; `on_drop` is called then.
    `on_release` is called once, when nothing is left to be done for the request.
    """

    budget: Budget
    caller: str
    claim: int = 0
    size: int = 0
    is_dropped: bool = False
    on_drop: Callable[[], None] = lambda: None
    on_release: Callable[[], None] | None = None

    def keep(self, size: int) -> None:
        """Give back all but `size` bytes. The body has arrived, or will not."""
        self.budget.end_arrival(self)
        if self.claim or self.size:  # of those who wait many leave at once, and each is compared with all the others
            self.budget.take(self, min(self.claim, size), min(self.size, size))
            self.budget.serve()

    def try_to_hold(self, size: int) -> bool:
        """Hold `size` bytes, if there is room; whether there is."""
        return self.budget.try_to_hold(self, size)

    def hand_on(self) -> Share:
        """A share that holds what this one has held, for what is left to be done after the response."""
        other = Share(self.budget, self.caller, on_release=self.on_release)
        self.on_release = None
        claim, size = self.claim, self.size
        self.budget.take(self, 0, 0)
        self.budget.take(other, claim, size)
        return other

    def release(self) -> None:
        """Give back everything; a second time does nothing."""
        self.keep(0)
        on_release, self.on_release = self.on_release, None
        if on_release is not None:
            on_release()


@dataclass(eq=False)
class _Wish:
    """A share that waits to be admitted with a `claim`, or to hold a `size`."""

    share: Share
    claim: int = 0
    size: int = 0
    granted: asyncio.Event = field(default_factory=asyncio.Event)
    since_s: float = 0.0


class Body:
    """The body of a request. `receive` hands it to the app, then whatever comes next: that the client disconnects."""

    def __init__(self, receive: Receive, headers: Mapping[str, str], max_bytes: int) -> None:
        length = headers.get("content-length", "0")
        self._receive, self._max_bytes = receive, max_bytes
        self._is_too_large = not length.isdecimal() or int(length) > max_bytes
        self._waits_for_permission = "expect" in headers
        self._length = None if "transfer-encoding" in headers or self._is_too_large else int(length)
        self._parts: list[bytes] = []
        self._is_handed_on = False
        self._is_waiting = True  # for memory, not for its caller
        self._size = 0

    async def read(self, budget: Budget, share: Share) -> Response | None:
        """Read it all, or return the response that refuses it. `share` grows with it."""
        if self._is_too_large and self._waits_for_permission:
            return _too_large(self._max_bytes)  # this client has sent nothing yet
        share.on_drop = self._forget
        try:
            if self._length:
                async with asyncio.timeout(MEMORY_TIMEOUT_S):
                    await budget.admit(share, memory_of(self._length))
            self._is_waiting = False
            async with asyncio.timeout(BODY_TIMEOUT_S):
                refusal = await self._read(budget, share)
        except TimeoutError:
            if self._is_waiting or share.is_dropped:
                return busy()
            return problem.response(408, "body-too-slow", f"the body did not come within {BODY_TIMEOUT_S:g} s")
        budget.end_arrival(share)
        return refusal

    async def _read(self, budget: Budget, share: Share) -> Response | None:
        """Read to the end; what is not kept, so that the client reads our response."""
        while self._size <= max(MAX_DRAINED_BYTES, self._max_bytes):
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return Response(status_code=400)  # nobody is left to read it
            part = message.get("body", b"")
            self._size += len(part)
            if self._size > self._max_bytes and not self._is_too_large:
                self._is_too_large = True
                self._parts.clear()
                share.release()
            if not (self._is_too_large or share.is_dropped):
                self._is_waiting = True
                await self._take_memory(budget, share)
                self._is_waiting = False
                if not share.is_dropped:
                    self._parts.append(part)
            if not message.get("more_body"):
                break
        if self._is_too_large or self._size > self._max_bytes:
            return _too_large(self._max_bytes)
        return busy() if share.is_dropped else None

    def _forget(self) -> None:
        self._parts.clear()

    async def _take_memory(self, budget: Budget, share: Share) -> None:
        needed = memory_of(self._size)
        if self._length is None and needed > share.claim:  # it does not say how much will come
            await budget.admit(share, FREE_BYTES if needed <= FREE_BYTES else memory_of(self._max_bytes))
        if not share.is_dropped:
            await budget.grow(share, needed)

    async def receive(self) -> Message:
        if self._is_handed_on:
            return await self._receive()
        self._is_handed_on = True
        parts, self._parts = self._parts, []  # from here on it is the app's: nobody else keeps it in memory
        return {"type": "http.request", "body": b"".join(parts), "more_body": False}


class JsonRoute(APIRoute):
    """An endpoint that answers a body of more than `MAX_VALUES` values with 422, and parses none of it.

    FastAPI parses and checks a body on the event loop, where everybody else waits, and makes an error of each wrong
    value.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_bounded(request: Request) -> Response:
            if self.body_field is not None and has_more_values(await request.body(), MAX_VALUES):
                return problem.too_many_values(MAX_VALUES)
            return await handle(request)

        return handle_bounded


def busy() -> Response:
    """The response to a request for which there is no memory."""
    return problem.response(503, "busy", "other requests take all the memory: try again", headers={"Retry-After": "5"})


def _too_large(max_bytes: int) -> Response:
    return problem.response(
        413,
        "body-too-large",
        f"the body is larger than {max_bytes:,} bytes: send less at once",
        headers={"Connection": "close"},
    )
