"""Run the app under uvicorn, with the daemon beside it in the same process."""

from __future__ import annotations

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable

import uvicorn

from vault_memory.errors import Busy, UsageError, VaultMemoryError
from vault_memory.interfaces.http.app import create_app
from vault_memory.services.access import own_token
from vault_memory.services.bulletin import Happening
from vault_memory.services.daemon import Daemon
from vault_memory.services.daemon_record import is_running, read_record
from vault_memory.services.vault import Vault

RETRY_S = 10.0
"""How often a server whose vault another process watches looks whether that one has ended."""
GRACE_S = 5
"""How long open answers may take when the server ends."""
CONNECTIONS = 1_000


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
    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn has its own while it runs, and then calls these
        signal.signal(number, lambda *_: stop.set())
    follower = _Follower(vault, tell, stop)
    follower.start()
    shown = f"[{host}]" if ":" in host else host
    started(f"http://{shown}:{listening.getsockname()[1]}")
    try:
        config = uvicorn.Config(
            create_app(vault, follower.is_ready),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=GRACE_S,
        )
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        stop.set()
        follower.join()
        listening.close()


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
            except VaultMemoryError as error:
                if not isinstance(error, Busy):
                    self._tell(Happening(self._vault.now(), "trouble", "daemon", str(error)))
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
        raise Busy(
            f"cannot listen at {host} port {port}: {error.strerror or error}; name another port with --port, or for good "
            "as `port` under [serve] in vault-memory.toml"
        ) from error
    # asyncio asks for this itself, but only of sockets that name their protocol, which these do not. Without it the second
    # part of an answer waits some 40 ms for the caller's acknowledgement of the first. Accepted sockets inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
