"""What went with the words of each message: memory, or nothing. It is put back when a client sends the message again.

A client keeps its own words, not our memory. With it the beginning of each request is what the provider got before, so
that the provider's prompt cache holds it, and what a model thought then still follows what it was thought about.

All processes of a vault find it in `.vault-memory/injected/USER/`, a file for each conversation. There are no words of
the person in it, nor ids of conversations, only hashes of them with a key of this vault. What went with words that are
off the record is kept in memory only. Whoever gets the id of another user finds nothing of theirs.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.state import StateFile, StateFolder
from vault_memory.core import layout
from vault_memory.core.chat import prompt
from vault_memory.errors import NotFound
from vault_memory.services.vault import Vault

MAX_AGE_S = 30 * 86_400.0
"""A conversation without new words for so long is forgotten; memory that a person deleted may be in one until then."""
MIN_BUDGETS = 4
"""What one conversation may hold in any case, in times of `proxy.memory_tokens`; else as much as its own text, for it
takes room that the model has for the rest. Beyond that the older half is forgotten at once: each time the provider
reads all anew, which costs as much as that text is long."""
MAX_CONVERSATIONS = 500
"""Of one user. The least recent are forgotten first."""
MAX_IN_MEMORY = 1_000
SWEEP_AFTER = 50
"""New conversations until the old ones are looked for."""


@dataclass(frozen=True)
class Conversation:
    """A conversation of whoever had `user_id` as of `as_of` (`Vault.renamings`)."""

    user_id: str
    as_of: int
    name: str


@dataclass(frozen=True)
class Injection:
    """What went with the words of a message: `text` ("" for nothing) in which form (`core.chat.Place`), before which
    part, and how many passages are in it."""

    text: str = ""
    form: str = ""
    part_index: int = 0
    passages: int = 0


class Injections:
    """What was injected, of one vault; several threads may use it. `key` gives the secret of its hashes."""

    def __init__(self, vault: Vault, key: Callable[[], bytes]) -> None:
        self._vault = vault
        self._key = key
        self._in_memory: OrderedDict[tuple[str, str], tuple[int, int, Injection]] = OrderedDict()
        self._lock = threading.Lock()
        self._new_conversations = 0

    def find(self, conversation: Conversation, messages: Iterable[bytes]) -> dict[bytes, Injection]:
        """What went with these messages, by their digests (`core.chat.digests`).

        Nothing of a user whom the vault does not know. Raises `Busy` for one who has another id by now, and what
        `StateFile.read` raises.
        """
        user_id = conversation.user_id
        if not self._vault.is_user(user_id):
            return {}
        stored = self._stored(user_id, self._state(conversation).read())
        found = {}
        for message in messages:
            name = self._hash(conversation, message)
            kept_as_of, dropped, in_memory = self._in_memory.get((user_id, name), (0, 0, None))
            if in_memory is not None:
                if self._is_same_person(user_id, kept_as_of) and dropped == self._of_user(user_id).dropped():
                    found[message] = in_memory
            elif name in stored:
                with suppress(TypeError):
                    found[message] = Injection(*stored[name])
        self._vault.refuse_renamed(user_id, conversation.as_of)
        return found

    def keep(
        self, conversation: Conversation, message: bytes, injected: Injection, own_tokens: int, *, on_disk: bool
    ) -> None:
        """Keep what went with a message of a request that had `own_tokens` itself; `on_disk`: for all processes.

        Raises what `StateFile.update` raises.
        """
        user_id, name = conversation.user_id, self._hash(conversation, message)
        dropped = 0 if on_disk else self._of_user(user_id).dropped()
        with self._lock:
            self._in_memory.pop((user_id, name), None)
            if not on_disk:
                self._in_memory[user_id, name] = conversation.as_of, dropped, injected
                while len(self._in_memory) > MAX_IN_MEMORY:
                    self._in_memory.popitem(last=False)
        if not on_disk or not self._vault.is_user(user_id):
            return
        state = self._state(conversation)
        is_new = not state.path.exists()
        with self._of_user(user_id).lock():
            messages = dict(self._stored(user_id, state.read()))
            messages.pop(name, None)
            messages[name] = astuple(injected)
            bound = max(own_tokens, MIN_BUDGETS * self._vault.config.proxy_memory_tokens)
            while len(messages) > 1 and sum(prompt.tokens(str(row)) for row in messages.values()) > bound:
                messages = dict([*messages.items()][len(messages) // 2 :])
            self._vault.refuse_renamed(user_id, conversation.as_of)
            at = self._vault.now().timestamp()
            state.write({"as_of": conversation.as_of, "at": at, "messages": messages})
        if is_new:
            with self._lock:
                self._new_conversations += 1
                is_time = self._new_conversations % SWEEP_AFTER == 1
            if is_time:
                self._sweep()

    def _of_user(self, user_id: str) -> StateFolder:
        return StateFolder(self._vault.root, f"{layout.INJECTED_DIR}/{layout.check_user_id(user_id)}")

    def _state(self, conversation: Conversation) -> StateFile:
        return self._of_user(conversation.user_id).file(self._hash(conversation))

    def _stored(self, user_id: str, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """The messages in a state file, none if they are of somebody else, or old."""
        as_of, at, messages = (state.get(name) for name in ("as_of", "at", "messages"))
        if not isinstance(as_of, int) or not isinstance(at, float) or not isinstance(messages, dict):
            return {}
        is_old = self._vault.now().timestamp() - at > MAX_AGE_S
        return messages if self._is_same_person(user_id, as_of) and not is_old else {}

    def _is_same_person(self, user_id: str, as_of: int) -> bool:
        """Whether who had this id then has it now."""
        with suppress(NotFound):
            return as_of <= self._vault.renamings() and self._vault.id_now(user_id, as_of)[0] == user_id
        return False

    def _hash(self, conversation: Conversation, message: bytes = b"") -> str:
        named = conversation.name.encode("utf-8", "surrogatepass") + b"\0" + message
        return hashlib.blake2b(named, key=self._key(), digest_size=16).hexdigest()

    def _sweep(self) -> None:
        """Forget old conversations, those beyond the bound, and those of users who are gone."""
        home = self._vault.root / layout.STATE_DIR / layout.INJECTED_DIR
        with suppress(OSError):  # somebody deletes them at this moment, which is allowed
            for folder in [each for each in home.iterdir() if each.is_dir() and not each.is_symlink()]:
                found = sorted(((each.lstat().st_mtime, each) for each in folder.glob("*.json")), reverse=True)
                oldest = self._vault.now().timestamp() - MAX_AGE_S
                kept = MAX_CONVERSATIONS if self._vault.is_user(folder.name) else 0
                for number, (saved_at, path) in enumerate(found):
                    if number >= kept or saved_at < oldest:
                        files.remove_private(path, self._vault.root)
