"""Run the app under uvicorn, with the daemon beside it in the same process."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import uvicorn
from starlette.responses import Response
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from vault_memory.errors import Busy, UsageError
from vault_memory.interfaces.http import problem
from vault_memory.interfaces.http.app import create_app
from vault_memory.services.admin.access import own_token
from vault_memory.services.daemon.daemon import Daemon
from vault_memory.services.daemon.daemon_record import is_running, read_record
from vault_memory.services.daemon.event_log import Happening
from vault_memory.services.retrieval.search_process import SearchProcess
from vault_memory.services.vault import Vault

RETRY_S = 10.0
"""How often a server whose vault another process watches looks whether that one has ended."""
HEAD_S = 20.0
"""How long a caller has from the first byte of a request, or from connecting, to the last one of its headers."""
HEAD_BYTES = 128 << 10
GRACE_S = 5
"""How long open answers may take when the server ends."""
CONNECTIONS = 400
"""Each may need a second one to a provider, and a process has often no more than 1,024 files and connections open."""


def serve(
    vault: Vault,
    host: str,
    *,
    public: bool = False,
    tell: Callable[[Happening], None],
    started: Callable[[str], None],
) -> None:
    """Serve the vault at `host` and the settings' port until SIGINT or SIGTERM; `started` is told the address.

    Raises `UsageError` for an address that others can reach unless `public` and `serve.hosts` say that this is meant, and
    `Busy` for a port that is in use.
    """
    _check_address(vault, host, public)
    own_token(vault.root)
    listening = listen(host, vault.config.serve_port)
    stop = threading.Event()
    follower = _Follower(vault, tell, stop)
    computes = vault.config.embedding_kind == "offline"  # else a search waits for a model most of its time
    apart = SearchProcess(vault) if computes else None
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(vault, follower.is_ready, apart),
            http=Punctual,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=GRACE_S,
        )
    )

    def end(*_: object) -> None:
        stop.set()
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn has its own while it runs, and then calls these
        signal.signal(number, end)
    shown = f"[{host}]" if ":" in host else host
    started(f"http://{shown}:{listening.getsockname()[1]}")
    follower.start()
    try:
        server.run(sockets=[listening])
    finally:
        stop.set()
        follower.join()
        if apart is not None:
            apart.close()
        listening.close()


class Punctual(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection whose requests must begin in time and in bounds, lest callers who never come to the point use up all."""

    head_s = HEAD_S
    most = CONNECTIONS
    cycle: Any
    connections: set[Any]
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _due: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(problem.response(503, "busy", "too many callers: try again", headers={"Retry-After": "1"}))
        else:
            self._due = self.loop.call_later(self.head_s, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if (
            self.cycle is not None and not self.cycle.response_complete
        ):  # the head is whole: the body has its own bounds
            self._come_to_the_point()
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self.transport.close()
        elif self._due is None:
            self._due = self.loop.call_later(self.head_s, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._come_to_the_point()
        super().connection_lost(exc)

    def _come_to_the_point(self) -> None:
        self._head_bytes = 0
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(problem.response(400, "bad-request", msg))

    def _refuse(self, told: Response) -> None:
        """Answer a caller who does not come as far as the app, in the same form, and hang up."""
        status = b"%d %b" % (told.status_code, HTTPStatus(told.status_code).phrase.encode())
        headers = b"".join(b"%b: %b\r\n" % header for header in told.raw_headers)
        self.transport.write(b"HTTP/1.1 %b\r\nconnection: close\r\n%b\r\n%b" % (status, headers, bytes(told.body)))
        self.transport.close()


class _Follower(threading.Thread):
    """The daemon of this process; while another process watches the vault, it waits for that one to end."""

    def __init__(self, vault: Vault, tell: Callable[[Happening], None], stop: threading.Event) -> None:
        super().__init__(name="vault-memory daemon", daemon=True)
        self._vault, self._tell, self._stop_now = vault, tell, stop
        self._daemon: Daemon | None = None

    def run(self) -> None:
        while not self._stop_now.is_set():
            self._daemon = Daemon(self._vault, self._tell)
            try:
                self._daemon.run(self._stop_now)
            except Exception as error:  # whatever it is: without a daemon the answers would grow old
                if not isinstance(error, Busy):
                    self._tell(Happening(self._vault.now(), "trouble", "daemon", f"{type(error).__name__}: {error}"))
                self._daemon = None
                self._stop_now.wait(RETRY_S)

    def is_ready(self) -> bool:
        """Whether a daemon, here or elsewhere, has caught up with the files."""
        if self._daemon is not None:
            return self._daemon.ready.is_set()
        record = read_record(self._vault.root)
        return is_running(self._vault.root) and record is not None and record.state in ("watching", "polling")


def _check_address(vault: Vault, host: str, public: bool) -> None:
    if _is_loopback(host):
        return
    if not public:
        raise UsageError(
            f"{host} can be reached by others, and tokens would cross the network readable: put a server with TLS in front "
            "of 127.0.0.1, or say --public if this address is behind one already"
        )
    if not vault.config.serve_hosts:
        raise UsageError(
            f"name the host names by which others reach {host}: `hosts` under [serve] in vault-memory.toml"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A socket that waits for callers at this address; raises `Busy` for a port that is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]  # what follows is the address once more
        raise Busy(
            f"cannot listen at {host} port {port}: {reason}; name another port with --port, or for good "
            "as `port` under [serve] in vault-memory.toml"
        ) from error
    # asyncio asks for this itself, but only of sockets that name their protocol, which these do not. Without it the second
    # part of an answer waits some 40 ms for the caller's acknowledgement of the first. Accepted sockets inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
