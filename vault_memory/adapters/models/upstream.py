"""A provider of chat models over HTTP: a request is sent on, and its response is read as it comes.

Each request has a connection of its own. All users would share one that is kept: whatever a provider sends after the
end of a response would be read as the beginning of the next one, and nobody can see it before that.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from vault_memory.adapters.models.network import MAX_HEAD_BYTES, httpcore_url, way_to
from vault_memory.errors import EndpointError, EndpointSlow, UsageError

Headers = list[tuple[bytes, bytes]]
CONNECT_TIMEOUT_S = 10.0
INTERIM_S = 1.0
"""A provider may send 1xx responses this much longer than nothing; then its response must begin."""
PART_BYTES = 256 << 10
ARRIVED_BYTES = 64 << 10
"""Of a response: so much is handed on at a time, unless a single chunk is larger. Until then no more is read."""
SOCKET_BYTES = 64 << 10
"""Of a response: what the system may hold for us. Otherwise it holds many megabytes of what a provider sends faster
than the client reads, and all of them come at once into our memory."""
TURN_S = 0.001
"""How long one response is read before others have a turn."""
HEAD_PART_BYTES = 1 << 10
"""Of a head, so much is read at a time; others have a turn after it."""
MAX_CONNECTIONS = 1_000
_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})+)+/?")
_QUERY = re.compile(r"[!\"$-~]*")  # printable ASCII without #
_METHOD = re.compile(r"(?:\A|[&;])[^=&;]*(?:method|verb)", re.IGNORECASE)
"""A parameter that some servers take for the method that is meant, in a decoded query."""
_ENCODED_DELIMITER = re.compile(r"%(?:2[ef35]|5c|40|3f)", re.IGNORECASE)
"""Encoded dots, slashes, backslashes, `@`, `#`, `?` and `%`: somebody behind us may decode them into another path."""
_DOT_SEGMENT = re.compile(r"(?:\A|/)\s*\.+\s*(?:[/;]|\Z)")
"""Some servers read `..;x` as `..` with parameters."""
_MODEL_SLASH = re.compile(r"%2f", re.IGNORECASE)
"""Clients encode the slash of a model's name, such as `vendor/model`; it is checked like one that divides a path."""
_ERRORS_OF_HTTPCORE = (
    *(httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError),
    httpcore.UnsupportedProtocol,
)
_REDIRECTS = (301, 302, 303, 307, 308)
_WITHOUT_BODY = (204, 205, 304)
"""Nobody reads a body of such a response, or its length, as one: neither is handed on."""
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""No header may hold one."""
_GZIP_OR_DEFLATE = zlib.MAX_WBITS | 32
"""zlib recognises which of the two it is."""
_HOP_BY_HOP = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"),
    *(b"trailer", b"transfer-encoding", b"upgrade"),
}


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The end-to-end headers, names in lower case: without those of a single connection (RFC 9110, 7.6.1).

    Nor with one that a server may read as such, as `Transfer_Encoding`.
    """
    lowered = [(name.lower(), value) for name, value in headers]
    listed = {each.strip().lower() for name, value in lowered if name == b"connection" for each in value.split(b",")}
    left_out = _HOP_BY_HOP | {each.replace(b"_", b"-") for each in listed}
    return [(name, value) for name, value in lowered if name.replace(b"_", b"-") not in left_out]


def address_below(base_url: str, path: str) -> httpx.URL:
    """The address of `path` below a provider's `base_url`: the same scheme, host and port, and a longer path.

    `path` comes from a client: it begins with a slash and may have a query. Raises `UsageError` for one that another
    program could read as a different host or path.
    """
    below, mark, query = path.partition("?")
    read = _MODEL_SLASH.sub("/", below) if below.startswith("/models/") else below
    if not (_PATH.fullmatch(read) and _is_plain(read) and _QUERY.fullmatch(query)):
        raise UsageError(
            "the provider's path must be ASCII, without `//`, `@`, `.` or `..` alone, control characters, or encoded "
            "slashes, backslashes and dots: send it as the provider documents it"
        )
    if _METHOD.search(unquote(query)):
        raise UsageError("a parameter of the provider's path asks for another method: send the request with that one")
    base = httpx.URL(base_url)
    root = base.raw_path.partition(b"?")[0].rstrip(b"/")
    address = base.copy_with(raw_path=root + f"{below}{mark}{query}".encode("ascii"))
    has_same_origin = (address.scheme, address.raw_host, address.port) == (base.scheme, base.raw_host, base.port)
    if not (has_same_origin and address.userinfo == base.userinfo and address.raw_path.startswith(root + b"/")):
        raise UsageError("that path leads away from the provider: send it as the provider documents it")
    return address


def _is_plain(path: str) -> bool:
    """Whether the encoded characters of a path are ASCII text, and none of them can divide a path or an address.

    Others are refused, whatever they are: somebody behind us may read one in a plain form, as U+2215 as a slash.
    """
    decoded = unquote(path, errors="replace")
    return (
        decoded.isascii()
        and decoded.isprintable()
        and not (_ENCODED_DELIMITER.search(path) or _DOT_SEGMENT.search(decoded))
    )


async def _in_parts(content: bytes, sent: Callable[[], None]) -> AsyncIterator[bytes]:
    """The content in parts, so that a slow provider does not make the connection keep a second copy of it."""
    for at in range(0, len(content), PART_BYTES):
        yield content[at : at + PART_BYTES]
    del content
    sent()


class _HeadTooLong(Exception):
    """What comes before a response's body has more than `MAX_HEAD_BYTES`."""


class _Connection(httpcore.AsyncNetworkStream):
    """A connection to the provider. Until a body begins, little is read of it at a time, and not much in all."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._head_bytes: int | None = 0

    def begin_body(self) -> None:
        """The head has come."""
        self._head_bytes = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Raises `_HeadTooLong`."""
        if self._head_bytes is None:
            return await self._stream.read(max_bytes, timeout)
        data = await self._stream.read(min(max_bytes, HEAD_PART_BYTES), timeout)
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            raise _HeadTooLong
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        return _Connection(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.AnyIOBackend):
    """Makes each connection a `_Connection`, for which the system holds little."""

    async def connect_tcp(self, *address: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        stream = await super().connect_tcp(*address, **more)
        stream.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BYTES)
        return _Connection(stream)


class _Network(httpx.AsyncBaseTransport):
    """The way to a provider at `base_url`, through the proxy that the environment names for it, if any."""

    def __init__(self, base_url: str) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            **way_to(httpx.URL(base_url)), max_connections=MAX_CONNECTIONS, network_backend=_Backend()
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        with _errors_of_httpx():
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    request.method,
                    httpcore_url(request.url),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        response.extensions["network_stream"].begin_body()
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for part in self._response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@contextlib.contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """httpx has an error of the same name for each of httpcore."""
    try:
        yield
    except _ERRORS_OF_HTTPCORE as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from None


class UpstreamResponse:
    """A response whose head has come. Read its body once with `parts`; always `close` it.

    `headers` are end-to-end and in lower case; of a header that comes more than once it has the first.
    """

    def __init__(self, upstream: Upstream, response: httpx.Response) -> None:
        self._upstream = upstream
        self._response = response
        self.status = response.status_code
        self._has_body = self.status not in _WITHOUT_BODY
        has_length = self._has_body and "Transfer-Encoding" not in response.headers
        self.headers: dict[bytes, bytes] = {}
        for name, value in end_to_end(response.headers.raw):
            if not _CONTROL.search(value) and (has_length or name != b"content-length"):
                self.headers.setdefault(name, value)
        self.media_type = self.headers.get(b"content-type", b"").decode("latin-1")
        encoding = self.headers.get(b"content-encoding", b"").decode("latin-1").lower()
        self.is_compressed = encoding in ("gzip", "x-gzip", "deflate")
        self.has_known_encoding = self.is_compressed or encoding in ("", "identity")
        self._arrived = bytearray()
        self._has_arrived, self._has_room = asyncio.Event(), asyncio.Event()
        self._reading: asyncio.Future[None] | None = None
        self._turn_ends: float | None = None

    async def parts(self) -> AsyncIterator[bytes]:
        """The body's bytes as they come. Raises `EndpointError` when it breaks off, `EndpointSlow` when it stalls.

        Chunks that arrive together are one part, however small the provider has made them.
        """
        if not self._has_body:
            return
        self._reading = asyncio.ensure_future(self._read())
        try:
            while not self._reading.done() or self._arrived:
                await self._has_arrived.wait()
                self._has_arrived.clear()
                part = bytes(self._arrived)
                self._arrived = bytearray()  # a cleared one would keep its memory
                self._has_room.set()
                if part:
                    yield part
            await self._reading
        except httpx.TimeoutException:
            raise self._upstream.slow() from None
        except httpx.TransportError as error:
            raise self._upstream.error(f"broke off: {type(error).__name__}") from None

    async def _read(self) -> None:
        """Read on while there is room, and let others have a turn meanwhile: each chunk takes time, even an empty one.

        While nothing comes, this waits, and `parts` hands on what has arrived.
        """
        try:
            async for chunk in self._response.aiter_raw():
                while self._arrived and len(self._arrived) + len(chunk) > ARRIVED_BYTES:
                    self._has_room.clear()
                    await self._has_room.wait()
                self._arrived += chunk
                self._has_arrived.set()
                if self._turn_ends is None:
                    self._turn_ends = time.monotonic() + TURN_S
                    asyncio.get_running_loop().call_soon(self._end_turn)  # when this waits, for whatever it is
                elif time.monotonic() > self._turn_ends:
                    async with self._upstream.overdue:  # however many there are, one goes on at a time
                        await asyncio.sleep(0)
        finally:
            self._has_arrived.set()

    def _end_turn(self) -> None:
        self._turn_ends = None

    def decompressed(self, data: bytes, max_bytes: int) -> bytes:
        """The first bytes of the body, decompressed (up to `max_bytes`) if the provider compressed them unasked.

        Data that is not gzip or deflate is returned unchanged.
        """
        if not self.is_compressed:
            return data
        try:
            return zlib.decompressobj(_GZIP_OR_DEFLATE).decompress(data, max_bytes)
        except zlib.error:
            return data

    async def close(self) -> None:
        """Release the connection."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._response.aclose()


@dataclass
class Upstream:
    """One provider. `base_url` is its address without `/chat/completions` or `/messages`.

    `key_env` names the environment variable that holds the key ("": no key), `key_header` the header that the provider
    reads it from, `setting` the setting that holds `base_url`. `timeout_s` is the longest time in which the provider
    may send nothing. `transport` replaces the network.
    """

    base_url: str
    key_env: str = ""
    key_header: str = "Authorization"
    setting: str = "upstream.base_url"
    timeout_s: float = 300.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    transport: httpx.AsyncBaseTransport | None = field(default=None, repr=False)
    overdue: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)
    """For the responses that have been read for longer than their turn."""
    _client: httpx.AsyncClient | None = field(default=None, init=False, repr=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def send(
        self,
        method: str,
        path: str,
        headers: Headers,
        content: bytes,
        own_key: str | None = None,
        sent: Callable[[], None] = lambda: None,
    ) -> UpstreamResponse:
        """Send a request and wait for the head of the response, whatever its status.

        `sent` is called when the content has left; it is not kept any longer than that.

        `path` begins with a slash and may have a query; `own_key` replaces the configured key. Raises `UsageError` for
        a path that leads elsewhere, `EndpointError` if the provider cannot be reached, redirects or has no valid
        status, `EndpointSlow` if it sends nothing in time. No message holds a key, and no key is sent to the target of
        a redirect.
        """
        if not self.base_url:
            raise EndpointError(
                f"the proxy has no provider: set {self.setting} in vault-memory.toml, and say yes to it with "
                "`vault-memory trust`"
            )
        key = self._key() if own_key is None else own_key
        timeout = httpx.Timeout(self.timeout_s, connect=min(CONNECT_TIMEOUT_S, self.timeout_s))
        has_body = bool(content) or method == "POST"
        length = [(b"content-length", b"%d" % len(content))] if has_body else []
        loop, limit = asyncio.get_running_loop(), asyncio.timeout(None if has_body else self.timeout_s + INTERIM_S)

        def has_left() -> None:
            limit.reschedule(loop.time() + self.timeout_s + INTERIM_S)
            sent()

        request = httpx.Request(
            method,
            address_below(self.base_url, path),
            headers=[*headers, *self._authorization(key), *length, (b"connection", b"close")],
            content=_in_parts(content, has_left) if has_body else None,
            extensions={"timeout": timeout.as_dict()},
        )
        del content
        try:
            async with limit:
                client = self._client or await self._opened_client()
                response = await client.send(request, stream=True)
        except _HeadTooLong:
            raise self.error(f"sent {MAX_HEAD_BYTES >> 10} KB and no response, or one with so long a head") from None
        except TimeoutError:
            raise self.error(f"sent no response in {self.timeout_s:g} s (upstream.timeout_s), only 1xx") from None
        except (httpx.ReadTimeout, httpx.WriteTimeout):
            raise self.slow() from None
        except (httpx.TransportError, httpx.InvalidURL, ValueError) as error:
            raise self.error(f"cannot be reached: {type(error).__name__}") from None
        if response.status_code in _REDIRECTS:
            await response.aclose()
            host = _host_in(response.headers.get("Location", ""))
            raise self.error(
                f"redirects to another address{' at ' + host if host else ''}: set the right one in {self.setting}"
            )
        if not 200 <= response.status_code <= 599:
            await response.aclose()
            raise self.error(f"answered with the status {response.status_code}, which ends no request")
        return UpstreamResponse(self, response)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()

    def error(self, what: str) -> EndpointError:
        """An error that names the endpoint."""
        return EndpointError(f"the chat endpoint {self._host()} {what}")

    def slow(self) -> EndpointSlow:
        """The error of an endpoint that sends nothing for too long."""
        return EndpointSlow(
            f"the chat endpoint {self._host()} was silent for {self.timeout_s:g} s (upstream.timeout_s)"
        )

    async def _opened_client(self) -> httpx.AsyncClient:
        """The client that all requests share. It is made in a thread: with TLS that takes a tenth of a second."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._new_client)
            return self._client

    def _new_client(self) -> httpx.AsyncClient:
        # All users share the client: no cookie of one's response may go into another's request, or be kept.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        network = self.transport or _Network(self.base_url)
        return httpx.AsyncClient(transport=network, follow_redirects=False, cookies=no_cookies)

    def _key(self) -> str:
        if not self.key_env:
            return ""
        key = self.environ.get(self.key_env, "").strip()
        if not key:
            raise EndpointError(f"the environment variable {self.key_env} holds no key: set it and restart the server")
        return key

    def _authorization(self, key: str) -> Headers:
        """The header with the key; `Bearer` is removed from the key or put before it as the provider needs it."""
        bare = key[7:].strip() if key[:7].lower() == "bearer " else key
        if not bare:
            return []
        if not bare.isascii() or not bare.isprintable():
            raise self.error("got no request: its key must be printable ASCII")
        value = f"Bearer {bare}" if self.key_header == "Authorization" and " " not in bare else bare
        return [(self.key_header.lower().encode(), value.encode())]

    def _host(self) -> str:
        return _host_in(self.base_url)


def _host_in(address: str) -> str:
    """The host and port, without a password before an @; "" for what is no address."""
    try:
        return urlsplit(address).netloc.rpartition("@")[2]
    except ValueError:
        return ""
