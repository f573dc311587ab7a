"""A question to an endpoint: JSON is sent, JSON comes back, within one time limit and one limit of its size.

The limits hold whatever the endpoint sends, and however slowly. Each step of a connection gets the time that is left
of the whole: a time limit for each would begin anew with every header, 1xx response or byte of a chunk's extension.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

from vault_memory.adapters.models.network import MAX_HEAD_BYTES, httpcore_url, way_to
from vault_memory.core.chat import has_more_values
from vault_memory.core.reading import json_value

SENT_AT_ONCE = 16 << 10
"""Bytes of a question between two looks at the time."""


class Unanswered(Exception):
    """There is no usable answer. The message completes a sentence that begins with the endpoint's name."""


class OutOfTime(Unanswered):
    """It did not come in time."""


class Lost(Unanswered):
    """No connection could be made, or it broke off: the next one may be better."""


@dataclass(frozen=True)
class Answer:
    """An endpoint's response. `retry_after` is the header of that name ("": none). `value` is its JSON; None for what
    is no JSON in UTF-8, and for a `status` other than 200, whose body is not read."""

    status: int
    retry_after: str = ""
    value: Any = None


def ask(
    url: str, question: Any, headers: Mapping[str, str], *, timeout_s: float, max_bytes: int, max_values: int
) -> Answer:
    """POST `question` as JSON to `url` and wait for the answer, for `timeout_s` in all: the look-up of the name, what
    comes before a response and every byte of it included.

    No redirect is followed. Raises `OutOfTime`, `Lost`, and `Unanswered` for an address that is none, a compressed
    answer, and one of more than `max_bytes` (with what frames its chunks) or `max_values` (as `has_more_values` counts
    them).
    """
    limits = _Limits(time.monotonic() + timeout_s, MAX_HEAD_BYTES)
    content = json.dumps(question, ensure_ascii=False, separators=(",", ":"))
    own = {"Content-Type": "application/json", "Accept-Encoding": "identity", "Connection": "close"}
    own["User-Agent"] = "vault-memory"
    received = bytearray()
    try:
        address = httpx.URL(url)
        with (
            httpcore.ConnectionPool(**way_to(address), network_backend=_Backend(limits)) as pool,
            pool.stream(
                "POST",
                httpcore_url(address),
                headers=[*own.items(), *headers.items()],
                content=content.encode("utf-8", "backslashreplace"),  # a half of a pair, as JSON has it
            ) as response,
        ):
            found = {name.lower(): value.decode("latin-1") for name, value in response.headers}
            if response.status != 200:
                return Answer(response.status, found.get(b"retry-after", ""))
            if found.get(b"content-encoding", "identity").lower() != "identity":
                raise Unanswered("answered with compressed data, for which it was not asked")
            limits.bytes_left = max_bytes
            for part in response.iter_stream():
                received += part
    except _TooLong:
        raise Unanswered(f"answered with more than {max_bytes:,} bytes, or {MAX_HEAD_BYTES:,} before them") from None
    except (httpcore.TimeoutException, TimeoutError):
        raise OutOfTime(f"did not answer within {round(timeout_s, 2):g} s") from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        raise Lost(f"cannot be reached ({type(error).__name__})") from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpcore.UnsupportedProtocol, ValueError) as error:
        raise Unanswered(f"cannot be used ({type(error).__name__})") from None
    if has_more_values(bytes(received), max_values):
        raise Unanswered(f"answered with more than {max_values:,} values")
    try:
        return Answer(200, value=json_value(received.decode("utf-8-sig")))
    except ValueError:
        return Answer(200)


class _TooLong(Exception):
    """More came than may come."""


@dataclass
class _Limits:
    """What is left of the time (`ends`: of the monotonic clock), and of the bytes that may come."""

    ends: float
    bytes_left: int

    def left_s(self) -> float:
        """Raises `TimeoutError`."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Connection(httpcore.NetworkStream):
    """A connection within its limits; the time limits that httpcore passes for each step do not count."""

    def __init__(self, stream: httpcore.NetworkStream, limits: _Limits) -> None:
        self._stream, self._limits = stream, limits

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Raises `_TooLong`, `TimeoutError`."""
        if not self._limits.bytes_left:
            raise _TooLong
        data = self._stream.read(min(max_bytes, self._limits.bytes_left), self._limits.left_s())
        self._limits.bytes_left -= len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Raises `TimeoutError`."""
        for at in range(0, len(buffer), SENT_AT_ONCE):
            self._stream.write(buffer[at : at + SENT_AT_ONCE], self._limits.left_s())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._limits.left_s())
        return _Connection(stream, self._limits)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.SyncBackend):
    """Makes connections within limits."""

    def __init__(self, limits: _Limits) -> None:
        self._limits = limits

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """To the first address of the host that answers; each gets an equal part of the time that is left."""
        try:
            addresses = _look_up(host, port).result(self._limits.left_s())
        except TimeoutError:
            raise
        except (OSError, UnicodeError):
            raise httpcore.ConnectError(f"no address of {host}") from None
        for number, address in enumerate(addresses, start=1):
            part_s = self._limits.left_s() / (len(addresses) + 1 - number)
            try:
                stream = super().connect_tcp(address, port, part_s, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
            else:
                return _Connection(stream, self._limits)
        raise httpcore.ConnectError(f"no address of {host}")


_looked_up: dict[tuple[str, int], Future[list[str]]] = {}
_lock = threading.Lock()


def _look_up(host: str, port: int) -> Future[list[str]]:
    """The addresses of a host, looked up in a thread: the system takes its own time, and nothing ends it before.

    One thread looks up a name, however many wait for it or have given it up.
    """
    with _lock:
        found = _looked_up.get((host, port))
        if found is not None:
            return found
        found = Future()
        try:
            found.set_result([str(ipaddress.ip_address(host))])
        except ValueError:
            _looked_up[host, port] = found
            threading.Thread(target=_find, args=(host, port, found), daemon=True, name="vault-memory look-up").start()
        return found


def _find(host: str, port: int, found: Future[list[str]]) -> None:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(address[0]) for *_, address in rows]
    except Exception as error:  # whoever waits for it is told
        result: list[str] | Exception = error
    else:
        result = addresses
    with _lock:
        del _looked_up[host, port]
    if isinstance(result, Exception):
        found.set_exception(result)
    else:
        found.set_result(result)
