"""A provider of chat models behind HTTP: a request sent on as it came, the answer handed back as it comes."""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from vault_memory.errors import EndpointError, EndpointSlow

if TYPE_CHECKING:
    import httpx

Headers = list[tuple[bytes, bytes]]
CONNECT_S = 10.0
CONNECTIONS = 1_000
"""Most requests on their way at once."""
_ELSEWHERE = (301, 302, 303, 307, 308)
_EITHER = zlib.MAX_WBITS | 32
"""zlib finds out for itself whether it is gzip or deflate."""
_HOP_BY_HOP = {
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"),
    *(b"trailer", b"transfer-encoding", b"upgrade"),
}


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that are meant for the other end, names in small letters: without those of one connection (RFC 9110, 7.6.1)."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {each.strip().lower() for name, value in lowered if name == b"connection" for each in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in _HOP_BY_HOP | named]


class Sent:
    """An answer of which the head has come. Its body is read once with `parts`; `close` ends it in any case."""

    def __init__(self, upstream: Upstream, response: httpx.Response) -> None:
        self._upstream = upstream
        self._response = response
        self.status = response.status_code
        self.headers = end_to_end(response.headers.raw)
        self.media_type = response.headers.get("Content-Type", "")

    async def parts(self) -> AsyncIterator[bytes]:
        """The body's bytes as they come. Raises `EndpointError` when it breaks off, `EndpointSlow` when it stands still."""
        import httpx

        try:
            async for part in self._response.aiter_raw():
                yield part
        except httpx.TimeoutException:
            raise self._upstream.slow() from None
        except httpx.TransportError as error:
            raise self._upstream.error(f"broke off: {type(error).__name__}") from None

    def plain(self, data: bytes, most: int) -> bytes:
        """What the body's first bytes say without the compression that nobody asked for, up to `most` bytes; as they are where
        they have none that is known here."""
        if self._response.headers.get("Content-Encoding", "").lower() not in ("gzip", "x-gzip", "deflate"):
            return data
        try:
            return zlib.decompressobj(_EITHER).decompress(data, most)
        except zlib.error:
            return data

    async def close(self) -> None:
        """Let the connection go."""
        await self._response.aclose()


@dataclass
class Upstream:
    """One provider. `base_url` is what stands before `/chat/completions` or `/messages`; `key_header` is where it wants the key.

    `key_env` names the environment variable that holds the key ("": no key); `setting` is where base_url is set.
    `timeout_s` is how long it may be silent. `transport` stands in for the network.
    """

    base_url: str
    key_env: str = ""
    key_header: str = "Authorization"
    setting: str = "upstream.base_url"
    timeout_s: float = 300.0
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    transport: httpx.AsyncBaseTransport | None = field(default=None, repr=False)
    _client: httpx.AsyncClient | None = field(default=None, init=False, repr=False)

    async def send(self, method: str, path: str, headers: Headers, content: bytes, own_key: str | None = None) -> Sent:
        """Send a request and wait for the head of the answer, whatever its status.

        `path` begins with a slash and may have a query; `own_key` is used instead of the configured key. Raises
        `EndpointError` where nobody answers, or where the answer is to be had elsewhere, `EndpointSlow` where nobody does in
        time. No message holds a key, and no key goes where an answer points to.
        """
        import httpx

        if not self.base_url:
            raise EndpointError(f"no chat model is set up behind this proxy: set {self.setting} in vault-memory.toml")
        key = self._key() if own_key is None else own_key
        timeout = httpx.Timeout(self.timeout_s, connect=min(CONNECT_S, self.timeout_s))
        try:
            request = httpx.Request(
                method,
                self.base_url.rstrip("/") + path,
                headers=[*headers, *self._authorization(key)],
                content=content if content or method == "POST" else None,
                extensions={"timeout": timeout.as_dict()},
            )
            response = await self._open().send(request, stream=True)
        except (httpx.ReadTimeout, httpx.WriteTimeout):
            raise self.slow() from None
        except (httpx.TransportError, httpx.InvalidURL, ValueError) as error:
            raise self.error(f"cannot be reached: {type(error).__name__}") from None
        if response.status_code in _ELSEWHERE:
            await response.aclose()
            host = urlsplit(response.headers.get("Location", "")).netloc.rpartition("@")[2]
            raise self.error(
                f"sends to another address{' at ' + host if host else ''}: name the right one in {self.setting}"
            )
        return Sent(self, response)

    async def close(self) -> None:
        """Let all connections go."""
        if self._client is not None:
            await self._client.aclose()

    def error(self, what: str) -> EndpointError:
        """An error that names the endpoint."""
        return EndpointError(f"the chat endpoint {self._place()} {what}")

    def slow(self) -> EndpointSlow:
        """The error of an endpoint that keeps silent."""
        return EndpointSlow(
            f"the chat endpoint {self._place()} was silent for {self.timeout_s:g} s (upstream.timeout_s)"
        )

    def _open(self) -> httpx.AsyncClient:
        import httpx

        if self._client is None:
            limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=100)
            self._client = httpx.AsyncClient(transport=self.transport, limits=limits)
        return self._client

    def _key(self) -> str:
        if not self.key_env:
            return ""
        key = self.environ.get(self.key_env, "").strip()
        if not key:
            raise EndpointError(f"the environment variable {self.key_env} holds no key: set it and start again")
        return key

    def _authorization(self, key: str) -> Headers:
        """The key where the provider wants it; `Bearer` is taken from it or put before it, as is needed."""
        bare = key[7:].strip() if key[:7].lower() == "bearer " else key
        if not bare:
            return []
        if not bare.isascii() or not bare.isprintable():
            raise self.error("was not asked: what was given as its key cannot be one")
        value = f"Bearer {bare}" if self.key_header == "Authorization" and " " not in bare else bare
        return [(self.key_header.lower().encode(), value.encode())]

    def _place(self) -> str:
        return urlsplit(self.base_url).netloc.rpartition("@")[2]  # never the password before an @
