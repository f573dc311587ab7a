"""What a hook does: hand the event to the process that answers, and wait for the answer only where there is one.

A person waits for each hook, so this imports next to nothing: no vault is opened here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from vault_memory.adapters import local_socket
from vault_memory.core import layout
from vault_memory.core.clients import START, HookEvent

SOCKET = f"hooks-{os.stat(__file__).st_mtime_ns:x}.sock"
"""Of this installation: a process that was started before an upgrade is asked no more."""
START_WAIT_S = 2.0
"""How long a question waits for a process that has just been started."""
ANSWER_WAIT_S = 3.0
MAX_ANSWER_BYTES = 1 << 20


def ask(root: Path, user: str, event: HookEvent, started: Callable[[Path, str], None] | None = None) -> str:
    """The text for the model, "" for none. Where no process answers one is started by `started`, which is told the
    session that begins (`began`); what the beginning of a session would have got comes with its first question then.
    Raises `OSError`, `TimeoutError` among them."""
    folder = root / layout.STATE_DIR
    connection = local_socket.connect(folder, SOCKET)
    if connection is None:
        (started or start)(root, json.dumps([user, event.client, event.session]))
        if event.name == START:
            return ""
        connection = local_socket.connect_soon(folder, SOCKET, START_WAIT_S)
        if connection is None:
            raise TimeoutError(f"the process that answers hooks did not begin within {START_WAIT_S:g} s")
    with closing(connection):
        told = [user, event.name, event.client, event.session, event.text, event.is_of_agent]
        local_socket.send(connection, json.dumps(told).encode())
        if not event.is_asked:
            return ""
        answer = local_socket.received(connection, MAX_ANSWER_BYTES, ANSWER_WAIT_S)
    if answer is None:
        raise TimeoutError(f"there was no memory for a question within {ANSWER_WAIT_S:g} s")
    return answer.decode("utf-8", "replace")


def start(root: Path, began: str) -> None:
    """Start the process that answers, on its own: it goes on when the assistant has ended, until nobody asks. `began`
    says the user, client and session of the first event, as JSON."""
    import subprocess  # most hooks start none

    subprocess.Popen(
        # Without -P the folder that the assistant works in would come first where Python looks for its modules.
        [sys.executable, "-P", "-m", "vault_memory", "--vault", os.fspath(root), "hook", "answer", f"--began={began}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=root,
        start_new_session=True,
    )
