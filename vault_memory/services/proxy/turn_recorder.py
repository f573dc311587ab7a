"""Make turns of the requests and responses that pass the proxy: one turn for each thing a person says.

The words are recorded when the provider has accepted them, and each reply to them as it ends, as lines of the record.
So nothing of a turn waits in memory: the record tells, for any process, whether a request is a retry, or a later round
of a tool loop, and whether its turn is complete.

What a person said off the record is known by the words alone: a client may change all else between two rounds of a
loop (the messages before, the instructions, the conversation's id). So no turn is made of these words of this user
until half an hour after the last such round.

The secrets that were found in what a person said are known until the process ends, and taken out of the replies that
repeat them.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from vault_memory.adapters.state import StateFile
from vault_memory.core.chat import ChatRequest, ChatResponse, Continued, without_injected
from vault_memory.core.text import normalize
from vault_memory.errors import NotFound
from vault_memory.services.turns import Recorded, add_reply, has_request, record_turn
from vault_memory.services.vault import Vault

TOOL_LOOP_IDLE_S = 1_800.0
"""A tool loop without a round for this long is over."""
MAX_LEFT_OUT = 65_536
"""Words off the record that are remembered: another user, who sends many, must not make some be forgotten."""
MAX_WITH_SECRETS = 1_000
"""Conversations whose secrets are known."""
BROKE_OFF = "the answer broke off"


@dataclass(frozen=True)
class UserRequest:
    """A chat request with its user, its conversation, the time it came and the model it asks for.

    The user is whoever had `user_id` as of `as_of` (`Vault.renamings`): a chat may take an hour. It goes on with what
    the provider keeps: it is `continued` `after` a response.
    """

    chat: ChatRequest
    user_id: str
    conversation_id: str
    at: datetime
    model: str | None = None
    as_of: int = 0
    continued: Continued = Continued()
    after: str = ""


class TurnRecorder:
    """Records turns; several threads may use it. `clock` counts seconds.

    Its turns are kept at once, whoever holds the user's files; the caller has them learned from.
    """

    def __init__(self, vault: Vault, clock: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._clock = clock
        self._left_out_at_s: OrderedDict[tuple[str, bytes], float] = OrderedDict()
        self._known_secrets: OrderedDict[tuple[str, int, str], dict[str, str]] = OrderedDict()
        self._key = secrets.token_bytes(32)
        self._as_of = vault.renamings()
        self._lock = threading.Lock()

    def accept(self, request: UserRequest) -> Recorded | None:
        """Record the words of a request that the provider has accepted; for a retry, or a later round of a tool loop,
        return their turn. None if they were said off the record. Raises what `record_turn` raises."""
        if self.is_left_out(request):
            return None
        known = self._secrets_of(request)
        turn = record_turn(
            self._vault,
            request.user_id,
            request.chat.words,
            None,
            conversation_id=request.conversation_id,
            created_at=request.at,
            backend=request.model,
            learn=False,
            index=False,
            as_of=request.as_of,
            request=self._name(request),
            goes_on=request.chat.is_tool_round,
            context=request.chat.context or None,
            known=known,
        )
        self._keep_secrets(request, known)
        return turn

    def has(self, request: UserRequest) -> bool:
        """Whether a turn of this request is in the record. Raises `NotFound` where that person has no id any longer."""
        return has_request(
            self._vault,
            request.user_id,
            request.conversation_id,
            self._name(request),
            request.at,
            as_of=request.as_of,
        )

    def _name(self, request: UserRequest) -> str:
        named = f"{request.conversation_id} {request.chat.key}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(named, key=self.request_key, digest_size=8).hexdigest()

    def complete(
        self, request: UserRequest, response: ChatResponse, problem: str = "", accepted: Recorded | None = None
    ) -> Recorded | None:
        """Record the reply; None if it adds nothing. `problem` says why it is incomplete, if something went wrong;
        `accepted` is what `accept` has returned: None if that failed, and then it is done now. Raises what
        `record_turn` and `add_reply` raise."""
        turn = accepted or self.accept(request)
        if turn is None or not turn.source or self.is_left_out(request):
            return None
        problem = "" if response.is_complete else problem or BROKE_OFF
        answer = "" if problem else request.chat.answer(response.calls)
        text = without_injected("\n\n".join(filter(None, (response.text, answer))))
        text = f"{text}\n[partial: {problem}]".lstrip() if problem else text
        exit_code = 1 if problem else None if response.has_tool_calls and not answer else 0
        known = self._secrets_of(request)
        asked = request.chat.words
        reply = add_reply(
            self._vault, turn.user_id, turn.source, text, exit_code, as_of=turn.as_of, known=known, asked=asked
        )
        self._keep_secrets(request, known)
        return reply if reply.is_new else None

    def _secrets_of(self, request: UserRequest) -> dict[str, str]:
        with self._lock:
            return dict(self._known_secrets.get(_conversation(request), {}))

    def _keep_secrets(self, request: UserRequest, known: dict[str, str]) -> None:
        if not known:
            return
        with self._lock:
            self._known_secrets.setdefault(_conversation(request), {}).update(known)
            self._known_secrets.move_to_end(_conversation(request))
            if len(self._known_secrets) > MAX_WITH_SECRETS:
                self._known_secrets.popitem(last=False)

    def leave_out(self, request: UserRequest) -> None:
        """Record nothing of these words from now on: a round of them is off the record.

        Called when a round begins, and again at its end.
        """
        with self._lock:
            self._follow_renamings()
            with suppress(NotFound):  # that person has no id any longer
                said = self._said(request)
                self._left_out_at_s[said] = self._clock()
                self._left_out_at_s.move_to_end(said)
            while self._left_out_at_s:
                said, since_s = next(iter(self._left_out_at_s.items()))
                if len(self._left_out_at_s) <= MAX_LEFT_OUT and self._clock() - since_s <= TOOL_LOOP_IDLE_S:
                    break
                del self._left_out_at_s[said]

    def is_left_out(self, request: UserRequest) -> bool:
        """Whether the words of a request were said off the record, in a loop that may still go on."""
        with suppress(NotFound):  # that person has no id any longer
            at_s = self._left_out_at_s.get(self._said(request))
            return at_s is not None and self._clock() - at_s <= TOOL_LOOP_IDLE_S
        return False

    def _said(self, request: UserRequest) -> tuple[str, bytes]:
        """The id that the user of a request has as of `_as_of`, and the hash of the words. Raises `NotFound`."""
        user_id, _ = self._vault.id_now(request.user_id, request.as_of, self._as_of)
        return user_id, self._hash(request.chat.words or request.chat.context)

    def _hash(self, words: str) -> bytes:
        """A hash of words, however a client breaks their lines or composes their signs, from which nobody finds them
        without this process."""
        plain = " ".join(normalize("NFC", words).split()).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(plain, key=self._key, digest_size=16).digest()

    @cached_property
    def request_key(self) -> bytes:
        """The key of the hashes by which requests are known: all processes of this vault have it. Without it nobody
        finds by a hash what a message held that is redacted in the record. Raises what `StateFile.update` raises."""
        state = StateFile(self._vault.root, "request-key")
        made = secrets.token_hex(32)
        state.update(lambda row: row if isinstance(row.get("key"), str) and len(row["key"]) == 64 else {"key": made})
        return str(state.read()["key"]).encode()

    def _follow_renamings(self) -> None:
        """Keep the words off the record under the ids that their users have now: an id may be another person's."""
        before, self._as_of = self._as_of, self._vault.renamings()
        if self._as_of == before:
            return
        now: dict[str, str] = {}
        for user_id in {user_id for user_id, _ in self._left_out_at_s}:
            with suppress(NotFound):
                now[user_id] = self._vault.id_now(user_id, before, self._as_of)[0]
        self._left_out_at_s = OrderedDict(
            ((now[user_id], words), at_s) for (user_id, words), at_s in self._left_out_at_s.items() if user_id in now
        )


def _conversation(request: UserRequest) -> tuple[str, int, str]:
    """What no other person's conversation has: an id may be given to another, but not without a renaming."""
    return request.user_id, request.as_of, request.conversation_id
