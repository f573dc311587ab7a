"""The second looks of a server: a few at once, in threads of their own, and a limited number of them waits.

A chat model may take its whole time for each, so turns may come faster than it looks at them. What does not fit is
left out, and told: the turn itself is recorded and learned from by the rules.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass

from vault_memory.errors import VaultMemoryError
from vault_memory.services.turns.second_look import count_request, count_skipped, second_look
from vault_memory.services.vault import Vault

AT_ONCE = 2
"""Of all users; of one user one at a time, so that a person's turns are looked at in their order."""
MAX_WAITING, MAX_WAITING_PER_USER = 64, 8
STOP_S = 1.0
"""How long a server that stops waits for those that are under way."""


@dataclass(frozen=True)
class _Turn:
    source: str
    as_of: int


class SecondLooks:
    """Looks at turns of a vault, when there is time for it; users take turns. Any thread may use it; `close` it at the
    end."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._waiting: OrderedDict[str, deque[_Turn]] = OrderedDict()
        self._under_way: set[str] = set()
        self._threads = 0
        self._is_closed = self._is_over = False
        self._changed = threading.Condition()

    def submit(self, user_id: str, source: str, as_of: int) -> str:
        """Have the model look at the turn on the line `source` soon (`second_look`). Returns at once: "", or why the
        turn gets no second look, which is counted (`Tally.skipped`).

        Does nothing if `llm.enabled` is off, or for a turn off the record.
        """
        if not self._vault.config.llm_enabled or not source:
            return ""
        with self._changed:
            of_user = len(self._waiting.get(user_id, ()))
            if self._is_closed:
                why = "the server was stopped"
            elif of_user == MAX_WAITING_PER_USER or sum(map(len, self._waiting.values())) == MAX_WAITING:
                why = f"{of_user} turns of {user_id} wait for the chat model" if of_user else "too many turns wait"
            else:
                self._waiting.setdefault(user_id, deque()).append(_Turn(source, as_of))
                if self._threads < AT_ONCE:
                    self._threads += 1
                    # A daemon: the process can end while a model has not answered.
                    threading.Thread(target=self._work, daemon=True, name="second-look").start()
                return ""
        self._skipped(1, why)
        return f"no second look for preferences: {why}"

    def close(self) -> None:
        """Wait `STOP_S` at most. Looks that have not ended by then count as left out; none of them writes later."""
        with self._changed:
            self._is_closed = True
            left_out = sum(map(len, self._waiting.values()))
            self._waiting.clear()
            self._changed.wait_for(lambda: not self._under_way, STOP_S)
            self._is_over = True
            left_out += len(self._under_way)
        if left_out:
            self._skipped(left_out, "the server was stopped")

    def _work(self) -> None:
        while found := self._next():
            user_id, turn = found
            try:
                second_look(self._vault, user_id, turn.source, as_of=turn.as_of, is_wanted=lambda: not self._is_over)
            except Exception as error:  # such as `NotFound`, if the user was deleted meanwhile: others wait
                told = str(error) if isinstance(error, VaultMemoryError) else f"{type(error).__name__}: {error}"
                with contextlib.suppress(VaultMemoryError):  # its file may be locked, too
                    count_request(self._vault, told)
            finally:
                with self._changed:
                    self._under_way.remove(user_id)
                    self._changed.notify_all()

    def _next(self) -> tuple[str, _Turn] | None:
        """A turn of the user who has waited longest since the last one; None ends this thread."""
        with self._changed:
            user_id = next((user_id for user_id in self._waiting if user_id not in self._under_way), None)
            if user_id is None:
                self._threads -= 1
                return None
            waiting = self._waiting.pop(user_id)
            turn = waiting.popleft()
            if waiting:
                self._waiting[user_id] = waiting
            self._under_way.add(user_id)
            return user_id, turn

    def _skipped(self, turns: int, why: str) -> None:
        with contextlib.suppress(VaultMemoryError):  # the turn that was left out is recorded, and its caller is told
            count_skipped(self._vault, turns, why)
