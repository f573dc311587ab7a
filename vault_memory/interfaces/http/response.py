"""What our own endpoints send: a list comes in pages, and a response takes memory until its client has read it.
What takes long to make is made for each user in turn.

The chat proxy hands on what its provider sends, part by part, and keeps nothing that waits for the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from weakref import WeakValueDictionary

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Message, Send

from vault_memory.interfaces.http.body import MEMORY_TIMEOUT_S, Budget, Share

MAX_PAGE_BYTES = 1_000_000
"""Of one page of a list; only a single row may be larger."""
RESPONSE_BYTES = 4_000_000
"""What a response may take until it is sent: the values of a page, and their JSON."""
MAX_RESPONSES_PER_CALLER = 16
"""Being made, or waiting for the client to read them; all callers together have twice as many."""
PAGE_THREADS = 2
"""How many long pages are made at once; more threads would only compete with the server for the interpreter."""
PLACES_PER_USER = 4
"""How many responses of one user are made at once if they mostly wait for a model; else one."""
CLIENT_CLOSED_REQUEST = 499
PIECE_BYTES = 64 << 10
"""So much is handed to the connection at a time, and what is not larger takes no memory that is worth counting."""

Row = TypeVar("Row", bound=BaseModel)


def page(rows: Iterable[Row], limit: int) -> tuple[list[Row], bool]:
    """The rows of the next page, and whether there are more after them.

    At least one, if there is any; at most `limit`, and at most `MAX_PAGE_BYTES` of them. No more rows are made than
    these and one.
    """
    found: list[Row] = []
    size = 0
    for row in rows:
        size += len(row.model_dump_json().encode())
        if len(found) == limit or (found and size > MAX_PAGE_BYTES):
            return found, True
        found.append(row)
    return found, False


class UserPlaces:
    """Users take turns: of each user so many responses are made at once, and the others wait for one of these places.

    Whoever makes them (a process, some threads) takes what comes in order, and never has more than that of one user.
    """

    def __init__(self, per_user: int) -> None:
        self._per_user = per_user
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, user_id: str) -> asyncio.Semaphore:
        """The places of one user."""
        return self._places.setdefault(user_id, asyncio.Semaphore(self._per_user))


async def made_in_turn(request: Request, user_id: str, make: Callable[[], Awaitable[str | Response]]) -> Response:
    """The JSON, or the response, that `make` returns, made when the user has a place.

    None is made for a client that has left by then.
    FastAPI would check the values of the JSON again.
    """
    places: UserPlaces = request.app.state.places
    async with places.of(user_id):
        await request.body()  # what comes after it tells whether the client has left
        if await request.is_disconnected():
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        made = await make()
        request.app.state.vault.refuse_renamed(user_id, request.scope["caller"].as_of)  # else it may be another's
        return made if isinstance(made, Response) else Response(made, media_type="application/json")


async def in_page_thread(request: Request, user_id: str, read: Callable[[], BaseModel | Response]) -> Response:
    """The page, or the response, that `read` returns, made in a thread of the app when the user has a place."""
    threads: ThreadPoolExecutor = request.app.state.page_threads

    def read_page() -> str | Response:
        found = read()
        return found if isinstance(found, Response) else found.model_dump_json(by_alias=True)

    async def make() -> str | Response:
        return await asyncio.get_running_loop().run_in_executor(threads, read_page)

    return await made_in_turn(request, user_id, make)


def responses_budget() -> Budget:
    """The memory for the responses to all callers."""
    of_caller = MAX_RESPONSES_PER_CALLER * RESPONSE_BYTES
    return Budget(2 * of_caller, of_caller)


class BoundedResponse:
    """One response: `admit` it before it is made, `send` its messages, `end` it in any case.

    `cut_off` ends the connection. It is called when others wait for the memory of a response that its client does not
    read.
    """

    def __init__(self, budget: Budget, caller: str, send: Send, cut_off: Callable[[], None]) -> None:
        self._budget, self._send = budget, send
        self._share = Share(budget, caller, on_drop=cut_off)

    async def admit(self) -> bool:
        """Wait until the caller has room for one more response; whether there is room in time."""
        try:
            async with asyncio.timeout(MEMORY_TIMEOUT_S):
                await self._budget.admit(self._share, RESPONSE_BYTES)
        except TimeoutError:
            return False
        return True

    async def send(self, message: Message) -> None:
        """Send a message; a long body piece by piece, each when the client has read most of those before."""
        body: bytes = message.get("body", b"")
        if len(body) > PIECE_BYTES:
            self._budget.enlarge(self._share, len(body))  # a single row may take more than was admitted
            await self._budget.grow(self._share, len(body))
            rest = memoryview(body)
            while len(rest) > PIECE_BYTES and not self._share.is_dropped:
                await self._send({**message, "body": bytes(rest[:PIECE_BYTES]), "more_body": True})
                rest = rest[PIECE_BYTES:]
                await asyncio.sleep(0)  # others have a turn, and the connection notices when its client hangs up
            message = {**message, "body": bytes(rest)}
        if self._share.is_dropped:
            return  # the connection is gone
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.end()

    def end(self) -> None:
        """Give its memory back; a second time does nothing."""
        self._share.release()
