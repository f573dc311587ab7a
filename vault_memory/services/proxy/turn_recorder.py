"""Make turns of the requests and responses that pass the proxy: one turn for each thing a person says.

A client's retry makes no second turn, unless the first time the response broke off and now it is whole. A response with
tool calls waits for the rounds that follow, and the turn is recorded with the last of them; if that never comes, with
what there is when the person goes on, after half an hour without a round, or at the end. Until then its rounds are also
in a file of private state, from which the next server takes it up when this one was killed.

What a person said off the record is known by the words alone: a client may change all else between two rounds of a
loop (the messages before, the instructions, the conversation's id). So no turn is made of these words of this user
until half an hour after the last such round.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from vault_memory.adapters import files
from vault_memory.adapters.git import refuse_tracked
from vault_memory.core import layout, reading
from vault_memory.core.chat import ChatRequest, ChatResponse, without_injected
from vault_memory.core.privacy import redact
from vault_memory.core.text import normalize
from vault_memory.errors import Busy, ForeignFile, InvalidId, NotFound, Unwritable
from vault_memory.services.turns import Recorded, record_turn
from vault_memory.services.vault import Vault

RETRY_S = 600.0
"""The same request within this time is a retry; later, the person has said the same again."""
TOOL_LOOP_IDLE_S = 1_800.0
"""A tool loop without a round for this long is over."""
MAX_REMEMBERED_REQUESTS = 4_096
MAX_LEFT_OUT = 65_536
"""Words off the record that are remembered: another user, who sends many, must not make some be forgotten."""
MAX_OPEN_BYTES = 32 << 20
"""What the turns may take whose tool loops go on. Above that the user who has the most ends one."""
_Key = TypeVar("_Key")
BROKE_OFF = "the answer broke off"
TOOLS_NOT_ENDED = "the tools came to no end"


@dataclass(frozen=True)
class UserRequest:
    """A chat request with its user, its conversation, the time it came and the model it asks for.

    The user is whoever had `user_id` as of `as_of` (`Vault.renamings`): a chat may take an hour.
    """

    chat: ChatRequest
    user_id: str
    conversation_id: str
    at: datetime
    model: str | None = None
    as_of: int = 0


@dataclass
class _OpenTurn:
    """A turn whose tool loop goes on: its first request, the time of its last round, the texts so far, and the file."""

    request: UserRequest
    last_round_s: float
    texts: list[str] = field(default_factory=list)
    file: Path | None = None

    @property
    def size(self) -> int:
        """The memory that its words take."""
        return sum(map(sys.getsizeof, (self.request.chat.words, *self.texts)))


class TurnRecorder:
    """Takes requests with their responses, one at a time: only `is_left_out` and `is_recorded` may be asked in other
    threads. `clock` counts seconds.

    Its turns are kept at once, whoever holds the user's files; the caller has them learned from.
    """

    def __init__(self, vault: Vault, clock: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._clock = clock
        self._recorded_at_s: OrderedDict[tuple[str, str, str], float] = OrderedDict()
        self._partial: set[tuple[str, str, str]] = set()
        self._left_out_at_s: OrderedDict[tuple[str, bytes], float] = OrderedDict()
        self._key = secrets.token_bytes(32)
        self._as_of = vault.renamings()
        self._folder, self._server = vault.root / layout.STATE_DIR / layout.OPEN_TURNS, secrets.token_hex(8)
        self._lock: ExitStack | None = None
        self._open: dict[tuple[str, str], _OpenTurn] = {}
        self._take_up()

    def add(self, request: UserRequest, response: ChatResponse, problem: str = "") -> list[Recorded]:
        """Record the turns that this response completes. `problem` says why it is incomplete, if something went wrong.

        A response that failed before its first word completes none: the client has seen the error and tries again.
        Raises what `record_turn` raises.
        """
        self._forget_old_requests()
        turns = self._follow_renamings()
        user_id, _ = self._vault.id_now(request.user_id, request.as_of, self._as_of)
        key = (user_id, request.conversation_id)
        turn = self._open.get(key)
        if turn and turn.request.chat.key != request.chat.key:
            turns.append(self._record_unfinished(key))
            turn = None
        now_s = self._clock()
        for idle in [
            k for k, other in self._open.items() if k != key and now_s - other.last_round_s > TOOL_LOOP_IDLE_S
        ]:
            turns.append(self._record_unfinished(idle))
        if self.is_left_out(request):
            return turns
        request_key = (*key, request.chat.key)
        if not (response.is_complete or response.text) or self._is_retry(request_key, response):
            return turns
        turn = turn or _OpenTurn(request, now_s)
        turn.last_round_s = now_s
        if response.text and response.text not in turn.texts[-1:]:
            turn.texts.append(response.text)
        if response.is_complete and response.has_tool_calls:
            self._open[key] = turn
            with suppress(Busy, ForeignFile, Unwritable):  # it is in memory: when it is recorded, that tells
                self._keep(key, turn)
            return [*turns, *self._end_too_many()]
        self._open.pop(key, None)
        return [*turns, self._record(user_id, turn, "" if response.is_complete else problem or BROKE_OFF)]

    def leave_out(self, request: UserRequest) -> list[Recorded]:
        """Record nothing of these words, whatever other rounds say: one of them is off the record.

        Called when a round begins, and again at its end. Returns the open turns of those who have no id any longer.
        Raises `NotFound` when its own user has none.
        """
        turns = self._follow_renamings()
        said = self._said(request)
        self._left_out_at_s[said] = self._clock()
        self._left_out_at_s.move_to_end(said)
        for key, turn in list(self._open.items()):
            # The words of a loop that was taken up are without their secrets, but it has the request's key.
            is_same = turn.request.chat.key == request.chat.key or self._hash(turn.request.chat.words) == said[1]
            if key[0] == said[0] and is_same:
                del self._open[key]
                if turn.file is not None:
                    files.remove_private(turn.file, self._vault.root)
        return turns

    def is_left_out(self, request: UserRequest) -> bool:
        """Whether the words of a request were said off the record, in a loop that may still go on."""
        with suppress(NotFound):  # that person has no id any longer
            at_s = self._left_out_at_s.get(self._said(request))
            return at_s is not None and self._clock() - at_s <= TOOL_LOOP_IDLE_S
        return False

    def is_recorded(self, request: UserRequest) -> bool:
        """Whether a request repeats one whose turn is recorded, so that no response makes another turn of it."""
        with suppress(NotFound):
            user_id, _ = self._vault.id_now(request.user_id, request.as_of, self._as_of)
            key = (user_id, request.conversation_id, request.chat.key)
            at_s = self._recorded_at_s.get(key)
            return at_s is not None and key not in self._partial and self._clock() - at_s <= RETRY_S
        return False

    def _said(self, request: UserRequest) -> tuple[str, bytes]:
        """The id that the user of a request has as of `_as_of`, and the hash of the words. Raises `NotFound`."""
        user_id, _ = self._vault.id_now(request.user_id, request.as_of, self._as_of)
        return user_id, self._hash(request.chat.words)

    def _hash(self, words: str) -> bytes:
        """A hash of words, however a client breaks their lines or composes their signs, from which nobody finds them
        without this process."""
        plain = " ".join(normalize("NFC", words).split()).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(plain, key=self._key, digest_size=16).digest()

    def finish(self) -> list[Recorded]:
        """Record the turns whose tool loops have not ended."""
        recorded = self._follow_renamings() + [self._record_unfinished(key) for key in list(self._open)]
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            files.remove_private(self._folder / f"{self._server}.lock", self._vault.root)
        return recorded

    def _follow_renamings(self) -> list[Recorded]:
        """Keep all that is known under the ids that its users have now: an id may be another person's.

        Returns the open turns of those who have no id any longer: they were not recorded (`paused` says why).
        """
        before, self._as_of = self._as_of, self._vault.renamings()
        if self._as_of == before:
            return []
        now, gone = {}, {}
        known = (self._recorded_at_s, self._left_out_at_s, self._open)
        for user_id in {key[0] for keys in known for key in keys}:
            try:
                now[user_id] = self._vault.id_now(user_id, before, self._as_of)[0]
            except NotFound as error:
                gone[user_id] = str(error)
        self._partial = {(now[key[0]], *key[1:]) for key in self._partial if key[0] in now}
        self._recorded_at_s = OrderedDict(
            ((now[key[0]], *key[1:]), at_s) for key, at_s in self._recorded_at_s.items() if key[0] in now
        )
        self._left_out_at_s = OrderedDict(
            ((now[key[0]], key[1]), at_s) for key, at_s in self._left_out_at_s.items() if key[0] in now
        )
        lost = [Recorded("", user_id=key[0], as_of=before, paused=gone[key[0]]) for key in self._open if key[0] in gone]
        self._open = {(now[key[0]], key[1]): turn for key, turn in self._open.items() if key[0] in now}
        return lost

    def _end_too_many(self) -> list[Recorded]:
        """Record the oldest open turn of the user whose turns take the most, as long as all take too much."""
        turns = []
        while sum(turn.size for turn in self._open.values()) > MAX_OPEN_BYTES:
            held: Counter[str] = Counter()
            for (user_id, _), turn in self._open.items():
                held[user_id] += turn.size
            most = max(held, key=held.__getitem__)
            turns.append(self._record_unfinished(next(key for key in self._open if key[0] == most)))
        return turns

    def _record_unfinished(self, key: tuple[str, str]) -> Recorded:
        return self._record(key[0], self._open.pop(key), TOOLS_NOT_ENDED)

    def _record(self, user_id: str, turn: _OpenTurn, problem: str) -> Recorded:
        """Record a turn of the person who has this id as of `_as_of`."""
        request = turn.request
        text = without_injected("\n\n".join(turn.texts))
        recorded = record_turn(
            self._vault,
            user_id,
            request.chat.words,
            f"{text}\n[partial: {problem}]".lstrip() if problem else text,
            conversation_id=request.conversation_id,
            created_at=request.at,
            backend=request.model,
            exit_code=1 if problem else 0,
            learn=False,
            index=False,
            as_of=self._as_of,
        )
        if turn.file is not None:
            files.remove_private(turn.file, self._vault.root)
        key = (user_id, request.conversation_id, request.chat.key)
        self._recorded_at_s[key] = self._clock()
        self._recorded_at_s.move_to_end(key)
        (self._partial.add if problem else self._partial.discard)(key)
        return recorded

    def _keep(self, key: tuple[str, str], turn: _OpenTurn) -> None:
        """Add a round to the file of an open turn: a line with the request, then one for each text, without secrets."""
        root, request = self._vault.root, turn.request
        if self._vault.config.is_off_record(key[0]):
            return
        lines: list[Any] = turn.texts[-1:]
        file = turn.file
        if file is None:
            if self._lock is None:
                self._lock = ExitStack()
                self._lock.enter_context(files.lock(self._folder / f"{self._server}.lock", 0, root))
            file = self._folder / f"{self._server}.{secrets.token_hex(8)}.jsonl"
            head = {"user": key[0], "as_of": self._as_of, "conversation": request.conversation_id}
            head |= {"at": request.at.isoformat(), "model": request.model, "chat": request.chat.key}
            lines = [head, request.chat.words, *turn.texts]
        for line in lines:
            said = redact(reading.without_surrogates(line)).text if isinstance(line, str) else line
            files.append_line(file, json.dumps(said).encode(), root)
        turn.file = file

    def _take_up(self) -> None:
        """Take up the open turns of servers that were killed, whose locks nobody holds; delete what cannot be read."""
        try:
            names = sorted(os.listdir(self._folder))
        except (FileNotFoundError, NotADirectoryError):
            return
        for lock in (self._folder / f"{server}.lock" for server in {name.partition(".")[0] for name in names}):
            with suppress(Busy, ForeignFile, Unwritable), files.lock(lock, 0, self._vault.root):
                for name in names:
                    if name.startswith(f"{lock.stem}.") and name != lock.name:
                        with suppress(ValueError, KeyError, TypeError, NotFound, InvalidId):
                            self._take_up_turn(self._folder / name)
                        files.remove_private(self._folder / name, self._vault.root)
                files.remove_private(lock, self._vault.root)

    def _take_up_turn(self, file: Path) -> None:
        refuse_tracked(self._vault.root, file)
        lines = (files.read_private(file, self._vault.root) or b"").split(b"\n")[:-1]  # the last may be torn
        head, words, *texts = map(reading.json_value, lines)
        user_id, _ = self._vault.id_now(layout.check_user_id(head["user"]), head["as_of"], self._as_of)
        chat = ChatRequest(0, str(words), "", head["chat"], "", is_housekeeping=False)
        request = UserRequest(chat, user_id, head["conversation"], datetime.fromisoformat(head["at"]), head["model"])
        key = (user_id, request.conversation_id)
        key = key if key not in self._open else (user_id, file.name)
        self._open[key] = _OpenTurn(request, self._clock(), [str(text) for text in texts])
        self._keep(key, self._open[key])

    def _is_retry(self, key: tuple[str, str, str], response: ChatResponse) -> bool:
        """Whether a turn was recorded already that this response adds nothing to."""
        return key in self._recorded_at_s and not (key in self._partial and response.is_complete)

    def _forget_old_requests(self) -> None:
        """Drop the keys of requests too old to be retried, and words whose loop is over."""
        for key in self._dropped(self._recorded_at_s, RETRY_S, MAX_REMEMBERED_REQUESTS):
            self._partial.discard(key)
        self._dropped(self._left_out_at_s, TOOL_LOOP_IDLE_S, MAX_LEFT_OUT)

    def _dropped(self, at_s: OrderedDict[_Key, float], kept_s: float, limit: int) -> list[_Key]:
        """Drop what is older than `kept_s`, and the oldest ones beyond the limit."""
        dropped = []
        while at_s:
            key, since_s = next(iter(at_s.items()))
            if len(at_s) <= limit and self._clock() - since_s <= kept_s:
                break
            del at_s[key]
            dropped.append(key)
        return dropped
