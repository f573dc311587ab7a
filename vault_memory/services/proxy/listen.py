"""Make a turn of what went through the proxy: one for each thing a person said, however many requests it took.

A client's retry is no second turn. An answer that calls tools waits for the rounds that follow, and the turn is recorded with
the last of them; if that never comes, with what there is when the person goes on, after half an hour, or at the end.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from vault_memory.core.chat.answer import Answer
from vault_memory.core.chat.injection import without_injected
from vault_memory.core.chat.request import Exchange
from vault_memory.services.turns.record_turn import Recorded, record_turn
from vault_memory.services.vault import Vault

RETRY_S = 600.0
"""The same request within this time is a retry; later somebody says the same once more."""
IDLE_S = 1_800.0
BROKE_OFF = "the answer broke off"
_REMEMBERED = 4_096


@dataclass(frozen=True)
class Asked:
    """A request as it came: by whom, in which conversation, when, of which model."""

    exchange: Exchange
    user_id: str
    conversation: str
    at: datetime
    model: str | None = None


@dataclass(frozen=True)
class Heard:
    """A turn that was recorded, and whose it is."""

    user_id: str
    recorded: Recorded


@dataclass
class _Waiting:
    asked: Asked
    since_s: float
    pieces: list[str] = field(default_factory=list)


class Listener:
    """Hears requests with their answers, one at a time: not safe to share by threads. `clock` counts seconds."""

    def __init__(self, vault: Vault, clock: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._clock = clock
        self._known: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._waiting: dict[tuple[str, str], _Waiting] = {}

    def hear(self, asked: Asked, answer: Answer, broken: str = "") -> list[Heard]:
        """What became turns by this answer. `broken` says why no more of it came, if something went wrong.

        An answer that failed before it said anything makes none: the client has seen the error and asks again. Raises what
        `record_turn` raises.
        """
        self._forget()
        place = (asked.user_id, asked.conversation)
        waiting = self._waiting.get(place)
        heard: list[Heard] = []
        if waiting and waiting.asked.exchange.key != asked.exchange.key:
            heard += self._give_up(place)
            waiting = None
        now_s = self._clock()
        for idle in [p for p, other in self._waiting.items() if p != place and now_s - other.since_s > IDLE_S]:
            heard += self._give_up(idle)
        if (*place, asked.exchange.key) in self._known or not (answer.is_whole or answer.text):
            return heard
        waiting = waiting or _Waiting(asked, now_s)
        waiting.since_s = now_s
        if answer.text and answer.text not in waiting.pieces[-1:]:
            waiting.pieces.append(answer.text)
        if answer.is_whole and answer.calls_tools:
            self._waiting[place] = waiting
            return heard
        self._waiting.pop(place, None)
        return [*heard, self._record(waiting, "" if answer.is_whole else broken or BROKE_OFF)]

    def finish(self) -> list[Heard]:
        """Record what still waits for the end of its tools."""
        return [heard for place in list(self._waiting) for heard in self._give_up(place)]

    def _give_up(self, place: tuple[str, str]) -> list[Heard]:
        return [self._record(self._waiting.pop(place), "the tools came to no end")]

    def _record(self, waiting: _Waiting, broken: str) -> Heard:
        asked = waiting.asked
        answer = without_injected("\n\n".join(waiting.pieces))
        recorded = record_turn(
            self._vault,
            asked.user_id,
            asked.exchange.words,
            f"{answer}\n[partial: {broken}]".lstrip() if broken else answer,
            conversation_id=asked.conversation,
            created_at=asked.at,
            backend=asked.model,
            exit_code=1 if broken else 0,
        )
        self._known[asked.user_id, asked.conversation, asked.exchange.key] = self._clock()
        return Heard(asked.user_id, recorded)

    def _forget(self) -> None:
        """Let go of requests that nobody repeats any more."""
        while self._known:
            key, at_s = next(iter(self._known.items()))
            if len(self._known) <= _REMEMBERED and self._clock() - at_s <= RETRY_S:
                return
            del self._known[key]
