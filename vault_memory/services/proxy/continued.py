"""Which conversation a request goes on with, of which the provider keeps the messages (OpenAI's Responses API).

Such a request names a response, or the provider's conversation, and holds only what is new. So it is kept which request
each response has answered, in memory only: after a restart the conversation gets another id here, and what tools gave
completes no turn, because the words that it belongs to are not in the request.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace

from vault_memory.core.chat import ChatRequest, ChatResponse, Continued
from vault_memory.errors import NotFound
from vault_memory.services.proxy.turn_recorder import UserRequest
from vault_memory.services.vault import Vault

MAX_ANSWERED = 10_000
MAX_WORDS_CHARS = 8_000_000
"""Of all requests that are kept."""


@dataclass(frozen=True)
class Answered:
    """A request, and the response by which it was answered. `is_over`: all of that has come."""

    request: UserRequest
    response_id: str
    is_over: bool

    @property
    def after(self) -> str:
        """Where the conversation stands: the last response that has come whole. The same words said again after another
        one are no retry."""
        return self.response_id if self.is_over else self.request.after


class AnsweredRequests:
    """The last requests that were answered; several threads may use it."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._answered: OrderedDict[Continued, dict[str, Answered]] = OrderedDict()
        """By what a later request may name; and by user, for the ids of some servers are numbers that begin anew."""
        self._chars = 0
        self._lock = threading.Lock()

    def keep(self, request: UserRequest, response: ChatResponse) -> None:
        """Note which response answers a request. Of a conversation the newest request counts."""
        answered = Answered(request, response.response_id, response.is_complete)
        if not response.response_id:
            return
        with self._lock:
            for name in (Continued(response.response_id), Continued(conversation_id=request.continued.conversation_id)):
                of_users = self._answered.setdefault(name, {}) if name else {}
                known = of_users.get(request.user_id)
                if not name or (known is not None and known.request.at > request.at):
                    continue
                self._answered.move_to_end(name)
                of_users[request.user_id] = answered
                self._chars += _chars(answered) - _chars(known)
            while len(self._answered) > MAX_ANSWERED or self._chars > MAX_WORDS_CHARS:
                _, of_users = self._answered.popitem(last=False)
                self._chars -= sum(map(_chars, of_users.values()))

    def find(self, continued: Continued, user_id: str, as_of: int) -> Answered | None:
        """The last request of this user, by id as of `as_of`, with which another one goes on."""
        with self._lock:
            of_users = [*self._answered.get(replace(continued, is_stored=False), {}).values()]
        for answered in of_users:
            with suppress(NotFound):  # that person has no id any longer
                if self._vault.id_now(answered.request.user_id, answered.request.as_of, as_of)[0] == user_id:
                    return answered
        return None

    def refuse_anothers(self, continued: Continued, user_id: str, as_of: int) -> None:
        """Raise `NotFound` for what another user is known to have been answered, and this one is not."""
        with self._lock:
            is_known = bool(continued) and replace(continued, is_stored=False) in self._answered
        if is_known and self.find(continued, user_id, as_of) is None:
            name = continued.response_id or continued.conversation_id
            raise NotFound(f"there is no {name} to go on from: send the messages before in `input`")


def continuing(chat: ChatRequest, continued: Continued, after: str) -> ChatRequest:
    """A request that goes on with what the provider keeps, `after` a response: what was said before counts, though it
    is not in the request."""
    return replace(chat, key=f"{chat.key} {after}", opening=f"{continued.response_id} {continued.conversation_id}")


def _chars(answered: Answered | None) -> int:
    return len(answered.request.chat.words) if answered else 0
