"""The server for one client, over standard input and output: a message is a line of JSON.

What is no message is answered, too, as over HTTP: a client that gets no answer waits for one.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import anyio
from anyio import CancelScope
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from vault_memory.core import reading
from vault_memory.interfaces.mcp.server import create_server
from vault_memory.interfaces.mcp.tool import Person
from vault_memory.services import turns
from vault_memory.services.vault import Vault

MAX_LINE_BYTES = 16 << 20
END_WAIT_S = 5.0
"""How long a client that has closed the input may read nothing."""
_NO_JSON = f"the line is no JSON in UTF-8, or more than {reading.MAX_NESTING} levels deep, or holds an endless number"
_NO_MESSAGE = (
    "this is no message of JSON-RPC 2.0: send one object with jsonrpc, id, method and, if any, params as an object"
)
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\\x00-\x1f]{0,200}")')


def serve_stdio(vault: Vault, user_id: str, toolsets: Sequence[str]) -> None:
    """Answer a client for this user until it closes the input, or reads no more. Raises `UsageError` for an unknown
    toolset."""
    second_looks = turns.SecondLooks(vault)
    person = Person(vault, user_id, vault.renamings(), second_looks, is_admin=True)
    server = create_server(lambda _: person, toolsets)

    async def run() -> None:
        read, reading_end = anyio.create_memory_object_stream[SessionMessage | Exception]()
        writing_end, written = anyio.create_memory_object_stream[SessionMessage]()
        closed = asyncio.Event()
        with _wire() as (source, target):
            _start_reading(source, read, writing_end.clone(), closed)
            async with anyio.create_task_group() as group:
                group.start_soon(_write, target, written, closed, group.cancel_scope)
                await server.run(reading_end, writing_end, server.create_initialization_options())

    try:
        asyncio.run(run())
    finally:
        second_looks.close()


@contextmanager
def _wire() -> Iterator[tuple[BinaryIO, int]]:
    """Standard input, and output as a descriptor, for the protocol alone. What else this process or a child prints goes
    to standard error meanwhile: a client would take it for a message."""
    sys.stdout.flush()
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Not closed: a thread may still wait at one of them.
        yield os.fdopen(source, "rb", closefd=False), target
    finally:
        os.dup2(source, 0)
        os.dup2(target, 1)


def _start_reading(
    source: BinaryIO,
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    answers: MemoryObjectSendStream[SessionMessage],
    closed: asyncio.Event,
) -> None:
    """Send each message on, and an answer to what is none, in a thread that nobody waits for: it may be waiting for its
    client's next line. `closed` is set at the end of the input."""
    loop = asyncio.get_running_loop()

    async def send(line: bytes) -> None:
        try:
            message = _message(line)
        except _NoMessageError as error:
            await answers.send(SessionMessage(error.answer))
        else:
            await messages.send(SessionMessage(message))

    async def end() -> None:
        closed.set()
        await messages.aclose()
        await answers.aclose()

    def run() -> None:
        with suppress(OSError, RuntimeError, anyio.BrokenResourceError, CancelledError):  # the server has ended
            for line in _lines(source):
                asyncio.run_coroutine_threadsafe(send(line), loop).result()
            asyncio.run_coroutine_threadsafe(end(), loop).result()

    threading.Thread(target=run, daemon=True, name="stdin").start()


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Each line that is not blank; of one that is too long the first bytes."""
    while line := source.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = source.readline(MAX_LINE_BYTES + 1)
        if not line.isspace():
            yield line


class _NoMessageError(Exception):
    """What a client has sent is no message; `answer` says why."""

    def __init__(self, request: str | int | None, code: int, why: str) -> None:
        super().__init__(why)
        self.answer = JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=why))


def _message(line: bytes) -> JSONRPCMessage:
    if len(line) > MAX_LINE_BYTES:
        raise _NoMessageError(None, INVALID_REQUEST, f"a message may have {MAX_LINE_BYTES:,} bytes: send less at once")
    try:
        value = reading.json_value(line)
    except ValueError as error:
        raise _NoMessageError(_id_in(line), PARSE_ERROR, _NO_JSON) from error
    known = _known_id(value)
    try:
        message = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError as error:
        if (no_answer := in_place_of(value)) is not None:
            return no_answer  # it needs no answer itself
        raise _NoMessageError(known, INVALID_REQUEST, _NO_MESSAGE) from error
    if isinstance(message, JSONRPCNotification) and "id" in value:  # its client waits for an answer
        raise _NoMessageError(known, INVALID_REQUEST, _NO_MESSAGE)
    return message


def in_place_of(value: Any) -> JSONRPCError | None:
    """The error that says what a client means by an answer to a question of ours that is no message: who waits for it
    shall not wait on. None for a message, and for what is no such answer."""
    known = _known_id(value)
    if known is None or "method" in value or not value.keys() & {"result", "error"}:
        return None
    try:
        jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=INVALID_REQUEST, message=_NO_MESSAGE))
    return None


def _known_id(value: Any) -> str | int | None:
    request = value.get("id") if isinstance(value, dict) else None
    return request if isinstance(request, (str, int)) and not isinstance(request, bool) else None


def _id_in(line: bytes) -> str | int | None:
    """The id of a request that is JSON, but more than is read here; None where it is not surely that."""
    found = _ID.findall(line) if line.rstrip().endswith(b"}") and b'"method"' in line else []
    return json.loads(found[0]) if len(found) == 1 else None


async def _write(
    target: int, messages: MemoryObjectReceiveStream[SessionMessage], closed: asyncio.Event, serving: CancelScope
) -> None:
    """Write each message as a line; a client that reads no more ends the `serving`: one that cannot be written to, or
    has `closed` the input and takes nothing for `END_WAIT_S`."""
    async for each in messages:
        written = _start_writing(target, each.message)
        closing: asyncio.Future[Any] = asyncio.ensure_future(closed.wait())
        try:
            await asyncio.wait((written, closing), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait_for(written, END_WAIT_S)
        except OSError:  # TimeoutError is one
            serving.cancel()
            return
        finally:
            closing.cancel()


def _start_writing(target: int, message: JSONRPCMessage) -> asyncio.Future[None]:
    """Write a message in a thread that nobody waits for at the end: its client may never read."""
    line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    loop = asyncio.get_running_loop()
    written = loop.create_future()

    def tell(error: OSError | None) -> None:
        if written.done():  # nobody waits any more
            return
        if error is None:
            written.set_result(None)
        else:
            written.set_exception(error)

    def run() -> None:
        left, failed = memoryview(line), None
        try:
            while left:
                left = left[os.write(target, left) :]
        except OSError as error:
            failed = error
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(tell, failed)

    threading.Thread(target=run, daemon=True, name="stdout").start()
    return written
