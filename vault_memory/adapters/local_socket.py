"""A socket in a private folder, by which one process of this machine answers another: a question and its answer are
one text each. Nobody but the folder's owner can reach it.

An address may have some hundred bytes, and a vault's path may be longer. So a socket is named from inside its folder,
which the process enters for that moment: these functions are for processes with one thread.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

POLL_S = 0.01


def is_possible() -> bool:
    """Whether this system has such sockets; Python has none on Windows."""
    return hasattr(socket, "AF_UNIX")


def connect(folder: Path, name: str) -> socket.socket | None:
    """A connection to the process that listens; None where none does. Raises `OSError` for a folder or socket that
    others could have made."""
    with _inside(folder):
        try:
            status = os.lstat(name)
        except FileNotFoundError:
            return None
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError(f"{folder / name} is no socket of this user's: delete it")
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.connect(name)
        except ConnectionRefusedError:  # of a process that was killed
            made.close()
            return None
        except BaseException:
            made.close()
            raise
        return made


def connect_soon(folder: Path, name: str, wait_s: float) -> socket.socket | None:
    """The same, where a process is about to listen; None if none does within `wait_s`."""
    give_up = time.monotonic() + wait_s
    while (made := connect(folder, name)) is None and time.monotonic() < give_up:
        time.sleep(POLL_S)
    return made


def listen(folder: Path, name: str) -> socket.socket:
    """Listen under this name. The caller is the only one who does, by a lock. Raises `OSError`."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _inside(folder):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            before = os.umask(0o177)
            try:
                made.bind(name)
            finally:
                os.umask(before)
        made.listen(64)
    except BaseException:
        made.close()
        raise
    return made


def send(connection: socket.socket, content: bytes) -> None:
    """Send all that is to be said. Raises `OSError`."""
    connection.sendall(content)
    connection.shutdown(socket.SHUT_WR)


def received(connection: socket.socket, max_bytes: int, wait_s: float) -> bytes | None:
    """All that the other side says; None for more than `max_bytes`, or if it is not over within `wait_s`. Raises
    `OSError`."""
    give_up = time.monotonic() + wait_s
    content = bytearray()
    while True:
        left_s = give_up - time.monotonic()
        if left_s <= 0:
            return None
        connection.settimeout(left_s)
        try:
            part = connection.recv(1 << 16)
        except TimeoutError:
            return None
        if not part:
            return bytes(content)
        content += part
        if len(content) > max_bytes:
            return None


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = os.open(".", os.O_RDONLY)
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(number)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise PermissionError(f"others than its owner can enter {folder}: chmod 700")
        os.fchdir(number)
        yield
    finally:
        os.fchdir(before)
        os.close(number)
        os.close(before)
