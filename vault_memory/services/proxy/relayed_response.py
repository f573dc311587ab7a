"""A provider's response on its way to the client, and what is kept of it for the turn: little more than its text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from vault_memory.adapters.models import UpstreamResponse
from vault_memory.core.chat import MAX_READ_BYTES, ChatResponse, ResponseReader
from vault_memory.services.proxy.turn_recorder import UserRequest

NOT_KEPT = "the answer is too large to be kept whole"
_RESPONSE_HEADERS_LEFT_OUT = {b"date", b"server", b"set-cookie", b"alt-svc", b"x-vault-memory"}


@dataclass
class Prepared:
    """A request ready to be sent on. `memory` reports what became of its memory, as a header value: ASCII, one line.

    A turn is made from `user_request`; None: no turn.
    """

    body: bytes
    memory: str
    user_request: UserRequest | None = None

    def take_body(self) -> bytes:
        """The body, which is not kept here any longer: a response may take an hour, and bodies are large."""
        body, self.body = self.body, b""
        return body


Record = Callable[[Prepared, Callable[[], tuple[ChatResponse, bool]], str, Callable[[], None]], None]
"""`Relay.record`."""


class RelayedResponse:
    """A provider's response on its way to the client. Read `parts` once, then `record` the turn, then `close`."""

    def __init__(
        self, prepared: Prepared, response: UpstreamResponse, record: Record, threads: ThreadPoolExecutor
    ) -> None:
        self._record, self._threads = record, threads
        self._prepared = prepared
        self._response = response
        self._reader = ResponseReader(response.media_type)
        self._packed: bytearray | None = bytearray() if response.is_compressed else None
        self._reading: Future[None] | None = None
        self.status = response.status
        self.headers = [(name, value) for name, value in response.headers if name not in _RESPONSE_HEADERS_LEFT_OUT]
        self.headers.append((b"x-vault-memory", prepared.memory.encode("latin-1")))

    async def parts(self, has_room: Callable[[int], bool] = lambda _: True) -> AsyncIterator[bytes]:
        """The body's bytes as they come. Raises `EndpointError` when it breaks off, `EndpointSlow` when it stalls.

        What is needed for the turn is kept, as long as `has_room` for so many bytes.
        """
        is_turn = self._prepared.user_request is not None and 200 <= self.status < 300
        async for part in self._response.parts():
            if is_turn and not self._reader.is_cut:
                await self._keep(part, has_room)
            yield part

    async def _keep(self, part: bytes, has_room: Callable[[int], bool]) -> None:
        if self._packed is not None:  # it is read when it is over, far from the other requests
            self._packed += part
            if len(self._packed) > MAX_READ_BYTES or not has_room(len(self._packed)):
                self._packed.clear()
                self._reader.cut()
            return
        self._reader.add(part)
        if self._reader.is_due:
            self._reading = self._threads.submit(self._reader.read_on)
            await asyncio.wrap_future(self._reading)
        if not has_room(self._reader.kept_bytes):
            self._reader.cut()

    def record(self, problem: str, recorded: Callable[[], None] = lambda: None) -> None:
        """Have the turn recorded from the parts that came; `problem` says why they are not all, "" if they are.

        `recorded` is called, perhaps in another thread, when nothing of the response is kept any longer.
        """
        if 200 <= self.status < 300:
            self._record(self._prepared, self._read, problem, recorded)
        else:
            recorded()

    def _read(self) -> tuple[ChatResponse, bool]:
        """The response, and whether all of it was kept."""
        if self._reading is not None:
            wait([self._reading])
        if self._packed:
            data = self._response.decompressed(bytes(self._packed), MAX_READ_BYTES + 1)
            self._reader.add(data)
            if len(data) > MAX_READ_BYTES:
                self._reader.read_on()
                self._reader.cut()
        return self._reader.response(), not self._reader.is_cut

    async def close(self) -> None:
        """Release the connection to the provider."""
        await self._response.close()
