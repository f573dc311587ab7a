"""What is known of a user's ended conversations: up to which turn each was distilled, which memories of them are
still to be stored, and the summary of the last one.

It is one small file beside the conversation records, as private as they are: unlike `.vault-memory/`, nobody may delete
it. A conversation is distilled when this file says so, in one step with the memories that it gave: a kill before that
loses nothing, and after it the memories that are still named are stored, each under the id that it has here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.core import layout, memories, reading
from vault_memory.core.distilling import MAX_SUMMARY_CHARS
from vault_memory.core.memories import Memory
from vault_memory.core.text import one_line
from vault_memory.services.vault import Vault

ENDED_FILE = ".ended.json"
MAX_CONVERSATIONS = 1_000
"""So many are known, the newest; older ones are over."""
_WAIT_S = 2.0
SUMMARY_LIVES = timedelta(days=7)
"""As long as what nobody asked to have remembered."""


@dataclass
class EndedConversations:
    """`until`: a conversation's key → the line of the last turn that was distilled. `waiting` are memories to store,
    as notes by their ids. `seen` is the newest turn of the last look at which nothing was left to do."""

    until: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    summary_at: str = ""
    seen: str = ""

    def end(self, key: str, source: str, found: list[Memory], summary: str, at: datetime) -> None:
        """Note that a conversation was distilled up to a turn."""
        self.until.pop(key, None)
        self.until = dict([*self.until.items(), (key, source)][-MAX_CONVERSATIONS:])
        self.waiting |= {memory.id: memories.encode(memory) for memory in found}
        if summary:
            self.summary, self.summary_at = summary, at.isoformat()

    def waiting_memories(self) -> list[tuple[str, Memory]]:
        """Those that are still to be stored, by their ids."""
        return [(memory_id, memories.decode(note, memory_id)) for memory_id, note in self.waiting.items()]


def key_of(conversation_id: str) -> str:
    """What a conversation is called here: the words of an id may say anything."""
    return hashlib.sha256(conversation_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_ended(vault: Vault, user_id: str) -> EndedConversations:
    """What is known; of a damaged file nothing. Raises `ForeignFile`."""
    stored = files.read_private(_path(vault, user_id), _home(vault, user_id))
    try:
        row = reading.json_value(stored or b"{}")
    except ValueError:
        row = {}
    known = row if isinstance(row, dict) else {}
    texts = {name: known[name] for name in ("summary", "summary_at", "seen") if isinstance(known.get(name), str)}
    return EndedConversations(_texts(known.get("until")), _texts(known.get("waiting")), **texts)


def write_ended(vault: Vault, user_id: str, ended: EndedConversations) -> None:
    """Replace what is known, durably. The caller holds `ending`. Raises `Unwritable` or `ForeignFile`."""
    content = json.dumps(vars(ended), ensure_ascii=False).encode("utf-8", "backslashreplace")
    files.write_private(_path(vault, user_id), content, _home(vault, user_id), within=vault.root)


@contextmanager
def ending(vault: Vault, user_id: str, wait_s: float) -> Iterator[None]:
    """Hold the lock of a user's ended conversations; no turn waits for it. Raises `Busy`."""
    name = f"{layout.check_user_id(user_id).casefold()}.lock"
    with files.lock(vault.root / layout.STATE_DIR / "locks" / "ending" / name, wait_s, vault.root):
        yield


def context_summary(vault: Vault, user_id: str) -> str:
    """What the user's last ended conversation was about, on one line of at most `MAX_SUMMARY_CHARS`, without secrets
    and private facts; "" where there is none of the last days, and for a user who is off the record. A model may have
    worded it: it is data. Raises `InvalidId` or `ForeignFile`."""
    layout.check_user_id(user_id)
    if vault.config.is_off_record(user_id):
        return ""
    ended = read_ended(vault, user_id)
    try:
        is_recent = vault.now() - datetime.fromisoformat(ended.summary_at) < SUMMARY_LIVES
    except (ValueError, TypeError, OverflowError):  # there is none, or a time without an offset
        return ""
    return one_line(ended.summary)[:MAX_SUMMARY_CHARS] if is_recent else ""


def drop_summary(vault: Vault, user_id: str) -> None:
    """Forget what the last conversation was about: somebody has deleted or taken back words, and nobody can tell of
    which ones it was made. Raises `Busy` where a conversation ends at this moment, `Unwritable` or `ForeignFile`."""
    if not read_ended(vault, user_id).summary:
        return
    with ending(vault, user_id, _WAIT_S):
        ended = read_ended(vault, user_id)
        ended.summary = ended.summary_at = ""
        write_ended(vault, user_id, ended)


def _texts(stored: Any) -> dict[str, str]:
    rows = stored.items() if isinstance(stored, Mapping) else ()
    return {key: value for key, value in rows if isinstance(value, str)}


def _home(vault: Vault, user_id: str) -> Path:
    return vault.root / layout.user_dir(user_id)


def _path(vault: Vault, user_id: str) -> Path:
    return _home(vault, user_id) / layout.CONVERSATIONS_DIR / ENDED_FILE
