"""Run the app with uvicorn, and the daemon in the same process."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import ipaddress
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import LOGGING_CONFIG

from vault_memory.errors import Busy, UsageError
from vault_memory.interfaces.http.app import Mcp, create_app
from vault_memory.interfaces.http.connections import BoundedHttpProtocol
from vault_memory.services.admin import own_token
from vault_memory.services.daemon import Daemon, Event, is_running, read_record
from vault_memory.services.retrieval import SearchProcess
from vault_memory.services.vault import Vault

DAEMON_RETRY_S = 10.0
"""How often a server tries to start its daemon while another process watches the vault."""
WAITING_CONNECTIONS = 2_048
"""So many the system keeps until they are taken."""
TAKEN_AT_ONCE = 8
"""Of the connections that wait: more would crowd one another out before they could say whose they are."""
LEFT_AT_ONCE = 64
"""Of the connections that wait, so many whose clients have left are passed over in one turn."""
_CLOSE, _CLOSE_WAIT = 7, 8
"""States of a connection (Linux, tcp_states.h): it is gone, or the other side has closed it."""
SOCKET_BYTES = 64 << 10
"""Of a response: what the system may hold for a client that does not read. Otherwise it holds megabytes for each, and
the server is busy for seconds with what nobody reads."""
ARENAS = 2
KEPT_BLOCK_BYTES = 512 << 10
"""Of the C library's memory: the server's many threads share so many arenas, and a larger block goes back to the system
when it is freed. More than the event loop reads at once, which is 256 KB."""
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Parameters of glibc's mallopt (malloc.h)."""
WARNING_EVERY_S = 60.0
"""How often a warning of one kind is logged; whoever can reach the port can cause some, such as that of no HTTP."""
SHUTDOWN_GRACE_S = 5
"""How long unfinished responses may take after the server was told to stop."""


def serve(
    vault: Vault,
    host: str,
    *,
    public: bool = False,
    tell: Callable[[Event], None],
    started: Callable[[str], None],
    mcp: Mcp | None = None,
) -> None:
    """Serve the vault at `host` and the port of the settings until SIGINT, SIGTERM or SIGHUP (the terminal closes);
    `started` gets the address; `mcp` makes what answers at `/mcp`.

    Raises `UsageError` for an address that others can reach, unless `public` and `serve.hosts` allow it, and `Busy` for
    a port that is in use.
    """
    _check_address(vault, host, public)
    give_memory_back()
    own_token(vault.root)
    listening = listen(host, vault.config.serve_port)
    stop = threading.Event()
    daemon = _DaemonThread(vault, tell, stop)
    is_cpu_bound = vault.config.embedding_kind == "offline"  # other searches mostly wait for a model
    search_process = SearchProcess(vault) if is_cpu_bound else None
    server = uvicorn.Server(configured(create_app(vault, daemon.is_ready, search_process, mcp)))

    def end(*_: object) -> None:
        stop.set()
        server.should_exit = True

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # uvicorn replaces the first two while it runs, and calls these then
        number = getattr(signal, name, None)  # Windows has no SIGHUP; `nohup` has it ignored
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    url_host = f"[{host}]" if ":" in host else host
    keep_out_of_collections()
    started(f"http://{url_host}:{listening.getsockname()[1]}")
    daemon.start()
    try:
        server.run(sockets=[listening])
    finally:
        stop.set()
        daemon.join()
        if search_process is not None:
            search_process.close()
        listening.close()


def give_memory_back() -> None:
    """Have this process give freed memory back to the system, where its C library is glibc.

    By itself glibc has eight arenas for each processor, each with holes of its own, and keeps blocks as large as any
    that was freed once: after a rush of large requests the server kept the memory that they had taken.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(_M_ARENA_MAX, ARENAS)
    mallopt(_M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES)


def keep_out_of_collections() -> None:
    """Have Python's collector never again look at what is in memory now: the modules, which stay.

    A full collection stops every thread while it looks at all objects, 30 to 70 ms with the 80,000 of the modules; it
    comes with every twentieth chat or so.
    """
    gc.collect()
    gc.freeze()


def configured(app: ASGIApp, http: type[asyncio.Protocol] = BoundedHttpProtocol) -> uvicorn.Config:
    """How an app is served.

    In each round Python's own event loop takes `backlog` of the connections that wait. uvloop takes one, and a round is
    long in a rush: the last of 300 waited for seconds before anybody knew whose it was.
    """
    handlers = LOGGING_CONFIG["handlers"]
    log = LOGGING_CONFIG | {
        "filters": {"few": {"()": FewWarnings}},
        "handlers": handlers | {"default": handlers["default"] | {"filters": ["few"]}},
    }
    return uvicorn.Config(
        app,
        loop="asyncio",
        backlog=TAKEN_AT_ONCE,
        http=http,
        log_config=log,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
    )


class FewWarnings(logging.Filter):
    """Lets one warning of a kind through a minute, and says in the next how many there were in between."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno != logging.WARNING:
            return True
        kind = str(record.msg)
        told_at, held_back = self._told.get(kind, (-WARNING_EVERY_S, 0))
        if record.created - told_at < WARNING_EVERY_S:
            self._told[kind] = (told_at, held_back + 1)
            return False
        self._told[kind] = (record.created, 0)
        if held_back:
            record.msg = f"{kind} ({held_back} more since this was last logged)"
        return True


class _DaemonThread(threading.Thread):
    """Runs the daemon; while another process watches the vault, waits for that one to end."""

    def __init__(self, vault: Vault, tell: Callable[[Event], None], stop: threading.Event) -> None:
        super().__init__(name="vault-memory daemon", daemon=True)
        self._vault, self._tell, self._stop_now = vault, tell, stop
        self._daemon: Daemon | None = None

    def run(self) -> None:
        while not self._stop_now.is_set():
            self._daemon = Daemon(self._vault, self._tell)
            try:
                self._daemon.run(self._stop_now)
            except Exception as error:  # retry after any error: without a daemon the index would grow old
                if not isinstance(error, Busy):
                    self._tell(Event(self._vault.now(), "trouble", "daemon", f"{type(error).__name__}: {error}"))
                self._daemon = None
                self._stop_now.wait(DAEMON_RETRY_S)

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
            f"others can reach {host}, and tokens would cross the network unencrypted: put a server with TLS in "
            "front of 127.0.0.1, or add --public if this address is behind one already"
        )
    if not vault.config.serve_hosts and any(value.key == "serve.hosts" for value in vault.config.waiting):
        raise UsageError(
            "serve.hosts in vault-memory.toml is not in force before this machine has said yes to it: "
            "`vault-memory trust` shows it and asks"
        )
    if not vault.config.serve_hosts:
        raise UsageError(
            f"serve.hosts is empty: set `hosts` under [serve] in vault-memory.toml to the names by which others reach "
            f"{host}"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _ListeningSocket(socket.socket):
    """It listens already: the event loop would make the system's queue as short as what it takes at once."""

    def listen(self, backlog: int = 0, /) -> None:
        """Keep the queue that there is."""

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection whose client is still there. Raises `BlockingIOError` if there is none among the next.

        Somebody who opens connections and leaves fills the queue: each would cost as much as a request, and everybody
        else waits behind them.
        """
        for _ in range(LEFT_AT_ONCE):
            connection, address = super().accept()
            if not _has_left(connection):
                return connection, address
            connection.close()
        raise BlockingIOError


def _has_left(connection: socket.socket) -> bool:
    """Whether the other side has closed a new connection, whatever it sent before. Only Linux tells."""
    if not sys.platform.startswith("linux"):
        return False
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] in (_CLOSE, _CLOSE_WAIT)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket at this address; raises `Busy` for a port that is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=WAITING_CONNECTIONS)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]  # the rest repeats the address
        raise Busy(
            f"cannot listen at {host} port {port}: {reason}; choose another port with --port, or with `port` under "
            "[serve] in vault-memory.toml"
        ) from error
    listening = _ListeningSocket(fileno=made.detach())
    # asyncio sets this itself, but only on sockets that name their protocol, which these do not. Without it the second
    # part of a response waits some 40 ms for the client to acknowledge the first. Accepted sockets inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BYTES)  # accepted sockets inherit it, too
    return listening
