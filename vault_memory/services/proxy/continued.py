"""Which conversation a request goes on with, of which the provider keeps the messages (OpenAI's Responses API).

Such a request names a response, or the provider's conversation, and holds only what is new. So it is kept which request
each response has answered, in memory only: after a restart the conversation gets another id here, and what tools gave
completes no turn, because the words that it belongs to are not in the request.

Whose a response is, is noted apart from that: it takes an id and no words, so it holds for responses of any size, and
what one user sends forgets nothing of another's.
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
MAX_OWN = 10_000
"""Of each user: the last responses and conversations that are known to be theirs."""
Whose = tuple[str, int]
"""A user's id, and as of when (`Vault.renamings`) this person has it."""


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
            for name in _names(Continued(response.response_id, request.continued.conversation_id)):
                of_users = self._answered.setdefault(name, {})
                known = of_users.get(request.user_id)
                if known is not None and known.request.at > request.at:
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


class Owners:
    """Whose the responses and conversations are that the provider keeps for all who have its key; several threads may
    use it."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._own: dict[Whose, OrderedDict[Continued, None]] = {}
        self._lock = threading.Lock()

    def note(self, whose: Whose, continued: Continued) -> None:
        """Note that what `continued` names is this person's. It may be several people's: the ids of some servers are
        numbers that begin anew."""
        with self._lock:
            own = self._own.setdefault(whose, OrderedDict())
            for name in _names(continued):
                own[name] = None
                own.move_to_end(name)
            while len(own) > MAX_OWN:
                own.popitem(last=False)

    def refuse_others(self, whose: Whose, continued: Continued) -> None:
        """Raise `NotFound` for what is not known to be this person's."""
        with self._lock:
            theirs = [own for person, own in self._own.items() if self._is_same(person, whose)]
            for name in _names(continued):
                if not any(name in own for own in theirs):
                    raise NotFound(
                        f"there is no {name.response_id or name.conversation_id} of yours to go on from (what was "
                        "answered before this server started is not known): send the messages before in `input`"
                    )

    def _is_same(self, known: Whose, whose: Whose) -> bool:
        with suppress(NotFound):  # that person has no id any longer
            return self._vault.id_now(*known, whose[1])[0] == whose[0]
        return False


def continuing(chat: ChatRequest, continued: Continued, after: str) -> ChatRequest:
    """A request that goes on with what the provider keeps, `after` a response: what was said before counts, though it
    is not in the request."""
    return replace(chat, key=f"{chat.key} {after}", opening=f"{continued.response_id} {continued.conversation_id}")


def _names(continued: Continued) -> list[Continued]:
    """What a request goes on from, each by itself."""
    names = (Continued(continued.response_id), Continued(conversation_id=continued.conversation_id))
    return [name for name in names if name]


def _chars(answered: Answered | None) -> int:
    return len(answered.request.chat.words) if answered else 0
