"""The process that answers the hooks of one vault. It begins with the first hook of a session and ends when nobody has
asked for half an hour: opening a vault and finding what bears on a question takes longer than a hook may."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.adapters import files, local_socket
from vault_memory.core import layout
from vault_memory.core.clients import START, HookEvent
from vault_memory.errors import Busy, VaultMemoryError
from vault_memory.services.assistants import note_heard
from vault_memory.services.sessions.asking import SOCKET
from vault_memory.services.sessions.beginnings import begun_as_of
from vault_memory.services.vault import Vault, open_vault

if TYPE_CHECKING:
    from vault_memory.services.sessions.sessions import Sessions

IDLE_S = 1_800.0
READ_WAIT_S = 2.0
MAX_EVENT_BYTES = 32 << 20
LOOK_EVERY_S = 5.0
"""How often it looks whether it may end, and whether the vault is still there."""


def answer_hooks(vault: Vault, idle_s: float = IDLE_S, began: str = "") -> None:
    """Answer until nobody has asked for `idle_s`, the vault is gone, or a signal ends it; of the session that `began`
    (see `asking.start`) note as of when it is. Returns at once where another process answers already. Raises `OSError`
    if nothing can be listened to."""
    if began:
        user, client, session = json.loads(began)
        with suppress(VaultMemoryError):  # its next event meets the same, and says so
            begun_as_of(vault, vault.new_user(vault.user_of(user)), HookEvent(START, client, session))
    try:
        with files.lock(vault.root / layout.STATE_DIR / f"{SOCKET}.lock", 0, vault.root, in_line=False):
            _Answering(vault, idle_s).run()
    except Busy:
        return


class _Answering:
    def __init__(self, vault: Vault, idle_s: float) -> None:
        self._root, self._vault, self._idle_s = vault.root, vault, idle_s
        self._settings = _stamp(vault.root)
        self._is_over = False
        self._sessions: Sessions | None = None
        self._after = ThreadPoolExecutor(1, "after")  # what nobody waits for, in the order in which it was said

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)
        folder = self._root / layout.STATE_DIR
        listening = local_socket.listen(folder, SOCKET)
        mark = os.lstat(folder / SOCKET).st_ino
        self._after.submit(importlib.import_module, f"{__package__}.sessions")  # before the first question needs it
        last_s = time.monotonic()
        with closing(listening):
            listening.settimeout(LOOK_EVERY_S)
            while not self._is_over and time.monotonic() - last_s < self._idle_s and self._vault.exists():
                with suppress(TimeoutError):
                    connection, _ = listening.accept()
                    with closing(connection):
                        self._serve(connection)
                    last_s = time.monotonic()
            with suppress(OSError):  # a question that comes from now on starts another process
                if os.lstat(folder / SOCKET).st_ino == mark:
                    os.unlink(folder / SOCKET)
        self._after.shutdown()
        if self._sessions is not None and self._vault.exists():
            self._sessions.close()

    def _end(self, *_: object) -> None:
        self._is_over = True

    def _serve(self, connection: socket.socket) -> None:
        connection.setblocking(True)
        try:
            told = local_socket.received(connection, MAX_EVENT_BYTES, READ_WAIT_S)
            user, name, client, session, text, is_of_agent = json.loads(told or b"null")
            event = HookEvent(name, client, session, text, is_of_agent)
        except (OSError, TypeError, ValueError):
            return  # no hook of ours
        try:
            sessions = self._in_vault()
            with self._vault.chats.one():
                answer, work = sessions.answer(user, event)
        except Exception as error:  # whatever it is: the assistant goes on without memory, and `status` tells
            answer, problem = "", _told(error)
            self._after.submit(self._note, event, problem)
        else:
            self._after.submit(self._work, event, work)
        with suppress(OSError):  # the client did not wait
            connection.settimeout(READ_WAIT_S)
            local_socket.send(connection, answer.encode("utf-8", "replace"))

    def _in_vault(self) -> Sessions:
        """The sessions, with the settings as they are now."""
        stamp = _stamp(self._root)
        if self._sessions is None:
            from vault_memory.services.sessions.sessions import Sessions  # not before it listens: this takes a while

            self._sessions = Sessions(self._vault)
        if stamp != self._settings:
            self._vault, self._settings = open_vault(self._root), stamp
            self._sessions.follow(self._vault)
        return self._sessions

    def _work(self, event: HookEvent, work: Callable[[], None]) -> None:
        self._vault.chats.let_go_first()
        try:
            work()
        except Exception as error:  # whatever it is: the next event is another one's, and `status` tells
            self._note(event, _told(error))
        else:
            self._note(event, "")

    def _note(self, event: HookEvent, problem: str) -> None:
        note_heard(self._root, event.client, event.name, self._vault.now(), problem)


def _stamp(root: Path) -> tuple[int, int]:
    with suppress(OSError):
        status = os.stat(root / layout.SETTINGS_FILE)
        return status.st_mtime_ns, status.st_size
    return 0, 0


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, VaultMemoryError) else f"{type(error).__name__}: {error}"
