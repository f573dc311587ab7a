"""The connections of the server: how many there may be, who makes room when there are too many, and how long and large
the head of a request may be.

A connection *waits* while the server waits for its caller: for the rest of a head or body, or for the next request. It
is *busy* from the end of a request to the end of its response. Waiting costs an attacker nothing, so a waiting
connection makes room for a new one: the oldest of the caller who has the most of them, and if that one has just begun,
any of them. A busy one is never cut off, unless it is *stalled*: its caller does not read the response. Such a one
counts as waiting, and is cut off after a while whoever else comes.

Of the requests that a caller sends ahead on one connection each is parsed when the response to the one before it is
complete, and after all other connections have had a turn. Until then it is some KB of bytes; when there are more, the
rest stays with the system and the caller.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from array import array
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from httptools import HttpParserError, HttpParserInvalidMethodError, HttpParserUpgrade, HttpRequestParser
from starlette.responses import Response
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.http.flow_control import FlowControl

from vault_memory.interfaces.http import problem

HEAD_TIMEOUT_S = 20.0
"""For the head of a request: from the connection or the request's first byte to the last byte of its headers."""
MAX_HEAD_BYTES = 32 << 10
"""Of a request's headers, and of whatever else comes without a byte of a body, such as the trailers after a body."""
MAX_HEADERS = 200
UNREAD_BODY_BYTES = 128 << 10
"""Of a request that is answered before its body has come: what is left of it."""
AHEAD_BYTES = 16 << 10
"""Of what comes while a request is being answered; it is also how much of a head is read at a time."""
FREE_CHUNKS, MEAN_CHUNK_BYTES = 100, 100
"""A body that comes in chunks may have so many of any size; those after them hold as many bytes each, on average. Each
costs as much as a read of some KB."""
BODY_PART_BYTES = 64 << 10
"""Of a body, so much is read at a time."""
MIN_WAIT_S = 1.0
MOMENT_S = 0.25
"""For a new connection to say whose it is: while most are older, it is not dropped for those after it. When a rush has
just begun, the older ones are those that came before it."""
STALL_TIMEOUT_S = 30.0
"""How long a caller may take none of the response that waits for it."""
WAITING_BYTES = 16 << 10
"""When more of a response waits for its caller, no more of it is made or read from a provider."""
MAX_CONNECTIONS = 400
"""Each may need a second connection to a provider, and a process often has no more than 1,024 open files."""

_END = b"\r\n\r\n"


def caller_at(client: tuple[str, int] | None) -> str:
    """The caller without a token at the other end of a connection (None: it is unknown): whoever may take all these
    addresses at will is one. That are those of this machine, and the 2**64 of an IPv6 network."""
    text = client[0] if client else "?"
    try:
        address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(text)
    except ValueError:
        return f"from {text}"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None and not address.is_loopback:
            return f"from {ipaddress.IPv6Address(int(address) >> 64 << 64)}/64%{address.scope_id or ''}"
        address = address.ipv4_mapped or address
    return "from this machine" if address.is_loopback else f"from {address}"


class _Parser(HttpRequestParser):
    """Reads a request that asks for another protocol as if it did not: there is none, and a body may come with it.

    httptools ends such a request after its head, and would read the body as the next request.
    """

    def __init__(self, protocol: BoundedHttpProtocol) -> None:
        self._protocol = protocol
        self._begin()

    def _begin(self) -> None:
        super().__init__(self._protocol)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it

    def feed_data(self, data: bytes | bytearray | memoryview | array[int]) -> None:
        """Raises `HttpParserError` for what is not HTTP."""
        while True:
            try:
                super().feed_data(data)
                return
            except HttpParserUpgrade as upgrade:
                if self.get_method() == b"CONNECT":
                    raise HttpParserInvalidMethodError("there is no CONNECT") from None
                data = memoryview(data)[upgrade.args[0] :]
                head = self._protocol.head_without_upgrade()
                self._begin()
                super().feed_data(head)


class _Flow(FlowControl):
    """While it `is_full` nothing is read, even if the app waits for the client to leave."""

    is_full = False

    def resume_reading(self) -> None:
        if not self.is_full:
            super().resume_reading()


class BoundedHttpProtocol(AutoHTTPProtocol, asyncio.BufferedProtocol):  # type: ignore[misc, valid-type]
    """One connection. The app finds it in `scope["state"]["connection"]`, and says who calls and when it is busy."""

    head_timeout_s = HEAD_TIMEOUT_S
    stall_timeout_s = STALL_TIMEOUT_S
    max_connections = MAX_CONNECTIONS
    caller = ""
    is_busy = False
    on_lost: Callable[[], None] | None = None
    """Called when the caller has left, or the connection was cut off."""
    app_state: dict[str, Any]
    cycle: Any
    flow: _Flow
    client: tuple[str, int] | None
    connections: set[Any]
    headers: list[tuple[bytes, bytes]] | None
    scope: Any
    url: bytes
    loop: asyncio.AbstractEventLoop
    parser: HttpRequestParser
    transport: asyncio.Transport
    _head_deadline: asyncio.TimerHandle | None = None
    _stall_deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _head_lines = 0
    _chunks = 0
    _chunked_bytes = 0
    _is_in_head = True
    """Whether what comes next belongs to a head. Else it is a body, of which `_body_left` bytes are missing (None: it
    says itself where it ends)."""
    _body_left: int | None = None
    _waits_since = 0.0
    _is_dropped = False
    _place: bytearray
    """For the bytes that come next."""
    _arrived = b""
    _parsed = 0
    """So many of the bytes that arrived have been parsed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.parser = _Parser(self)
        self.flow = _Flow(transport)
        transport.set_write_buffer_limits(WAITING_BYTES)
        self.app_state = {**self.app_state, "connection": self}
        self.caller = caller_at(self.client)
        self._waits_since = self.loop.time()
        if len(self.connections) > self.max_connections and not self._make_room():
            self._refuse(problem.response(503, "busy", "too many connections: try again", headers={"Retry-After": "1"}))
        else:
            self._head_deadline = self.loop.call_later(self.head_timeout_s, transport.abort)

    def head_without_upgrade(self) -> bytes:
        """The head of the request that was read last, without the headers that ask for another protocol."""
        version = self.parser.get_http_version().encode()
        kept = (header for header in self.headers or () if header[0] != b"upgrade")
        fields = b"".join(b"%b: %b\r\n" % header for header in kept)
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.parser.get_method(), self.url, version, fields)

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.rstrip(b" \t"))  # the parser has left out the blanks before it only

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        if not self.url.startswith(b"/"):  # the app gets the path of `http://host/path` without the host
            authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
            self.scope["state"]["authority"] = authority.decode("latin-1")
        self.scope["headers"] = [*(self.headers or ())]  # what comes as a trailer was checked by nobody
        super().on_headers_complete()
        self._advance()
        self._is_in_head = False
        self._chunks = self._chunked_bytes = 0
        self._body_left = next((int(value) for name, value in self.headers or () if name == b"content-length"), None)

    def on_body(self, body: bytes) -> None:
        if self._body_left is None:
            self._chunks += 1
            self._chunked_bytes += len(body)
            if self._chunks > FREE_CHUNKS + self._chunked_bytes // MEAN_CHUNK_BYTES:
                raise HttpParserError("too many small chunks")
        super().on_body(body)
        if not self.cycle.response_complete:
            self._advance()
        if self._body_left is not None:
            self._body_left -= len(body)

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            self._advance()
            self._is_in_head = True
            super().on_message_complete()

    def get_buffer(self, sizehint: int) -> bytearray:
        self._place = bytearray(AHEAD_BYTES if self._is_in_head else BODY_PART_BYTES)
        return self._place

    def buffer_updated(self, nbytes: int) -> None:
        data, self._place = bytes(memoryview(self._place)[:nbytes]), bytearray()
        self.data_received(data)

    def data_received(self, data: bytes) -> None:
        self._arrived += data
        self._parse_on()

    @property
    def ahead_bytes(self) -> int:
        """So many bytes have come that wait for the response to the request before them."""
        return len(self._arrived) - self._parsed

    def _parse_on(self) -> None:
        """Parse what has come, up to the end of a request, when the one before it is answered."""
        while not (self._is_asked() or self.transport.is_closing()) and self.ahead_bytes:
            begin, self._parsed = self._parsed, self._part_end()
            self._parse(begin, self._parsed)
        ahead = self.ahead_bytes
        self._parsed = min(self._parsed, len(_END) - 1)  # the end of a head may come in two parts
        self._arrived = self._arrived[-self._parsed - ahead :]
        if self._is_asked() and ahead >= AHEAD_BYTES:
            self.flow.is_full = True
            self.flow.pause_reading()
        elif self.flow.is_full:
            self.flow.is_full = False
            self.flow.resume_reading()

    def _part_end(self) -> int:
        """Where to end what is parsed next: at the end of a request, or before it.

        A head, and a body without a length, ends with an empty line.
        """
        if not self._is_in_head and self._body_left:
            return min(len(self._arrived), self._parsed + self._body_left)
        found = self._arrived.find(_END, max(0, self._parsed - len(_END) + 1))
        return found + len(_END) if found >= 0 else len(self._arrived)

    def _parse(self, begin: int, end: int) -> None:
        """Parse these of the bytes that arrived. They count as a head until a head, or a part of a body, has come."""
        self._head_bytes += end - begin
        self._head_lines += self._arrived.count(b"\n", begin, end) if self._is_in_head else 0
        if self._is_in_head and (self._head_bytes > MAX_HEAD_BYTES or self._head_lines > MAX_HEADERS):
            detail = f"the headers have more than {MAX_HEAD_BYTES >> 10} KB or {MAX_HEADERS} lines: send fewer"
            self._refuse(problem.response(431, "head-too-large", detail))
            return
        super().data_received(memoryview(self._arrived)[begin:end])
        is_unread = not self._is_in_head and self.cycle.response_complete
        most = UNREAD_BODY_BYTES if is_unread else MAX_HEAD_BYTES
        if self._head_bytes > most or len(self.headers or ()) > MAX_HEADERS:
            self.transport.abort()
        elif self._head_bytes and self._head_deadline is None and (self._is_in_head or is_unread):
            self._head_deadline = self.loop.call_later(self.head_timeout_s, self.transport.abort)

    def _advance(self) -> None:
        self._head_bytes = self._head_lines = 0
        self._end_head()

    def on_response_complete(self) -> None:
        self.is_busy, self._waits_since = False, self.loop.time()
        super().on_response_complete()
        if self.ahead_bytes:
            self.loop.call_soon(self._parse_on)  # others have a turn before the next request

    def pause_writing(self) -> None:
        super().pause_writing()
        self._waits_since = self.loop.time()
        self._stall_deadline = self.loop.call_later(self.stall_timeout_s, self.cut_off)

    def resume_writing(self) -> None:
        self._end_stall()
        super().resume_writing()

    def cut_off(self) -> None:
        """End the connection at once; what waits to be sent is forgotten."""
        self._is_dropped = True
        self._tell_request()
        self.transport.abort()

    def break_off(self) -> None:
        """End the connection when what waits has been sent: the response stays incomplete, and its client sees that."""
        self._is_dropped = True
        self._tell_request()
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        self._end_stall()
        super().connection_lost(exc)
        self._tell_request()

    def _tell_request(self) -> None:
        """Tell the request that nobody waits for it."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.on_lost is not None:
            self.on_lost()

    def _is_asked(self) -> bool:
        """Whether a whole request has come, and the response is not complete."""
        return self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body)

    def _end_head(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _end_stall(self) -> None:
        if self._stall_deadline is not None:
            self._stall_deadline.cancel()
            self._stall_deadline = None

    def _is_waiting(self) -> bool:
        is_stalled = self._stall_deadline is not None and self.loop.time() - self._waits_since >= MIN_WAIT_S
        return is_stalled or not self.is_busy

    def _make_room(self) -> bool:
        """Drop a waiting connection, if there are too many; whether this one may stay."""
        present = [each for each in self.connections if not each._is_dropped]
        if len(present) <= self.max_connections:
            return True
        waiting = [each for each in present if each._is_waiting()]
        held = Counter(each.caller for each in waiting)
        most = max(held.values(), default=0)
        crowd = [each for each in waiting if held[each.caller] == most]
        dropped = min(crowd, key=lambda each: each._waits_since)
        if self.loop.time() - dropped._waits_since < MIN_WAIT_S:  # in a rush nobody has had the time to send anything
            older = [each for each in crowd if self.loop.time() - each._waits_since >= MOMENT_S]
            dropped = secrets.choice(older if 2 * len(older) >= len(crowd) else crowd)
        if dropped is self:
            return False
        dropped.cut_off()
        return True

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None and self.cycle.response_started and not self._is_in_head:  # it has its response
            self.transport.abort()
            return
        self._refuse(problem.response(400, "bad-request", msg))

    def _refuse(self, response: Response) -> None:
        """Send a problem to a caller that never reaches the app, and close the connection."""
        self._is_dropped = True
        status = b"%d %b" % (response.status_code, HTTPStatus(response.status_code).phrase.encode())
        headers = b"".join(b"%b: %b\r\n" % header for header in response.raw_headers)
        body = bytes(response.body)
        self.transport.write(b"HTTP/1.1 %b\r\nconnection: close\r\n%b\r\n%b" % (status, headers, body))
        self.transport.close()
