"""What comes of the responses: the turns are recorded, learned from and indexed, beside the chats that go on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from vault_memory.core.chat import ChatResponse
from vault_memory.services.indexing import reconcile
from vault_memory.services.proxy.continued import AnsweredRequests
from vault_memory.services.proxy.problems import Problems, Whose
from vault_memory.services.proxy.relayed import NOT_ALL_READ, NOT_KEPT, NOT_READ, Prepared
from vault_memory.services.proxy.turn_recorder import TurnRecorder, UserRequest
from vault_memory.services.turns import WAIT_S, Recorded, SecondLooks, learn_waiting
from vault_memory.services.vault import Vault

ACCEPT_WAIT_S = 1.0
"""How long the head of a response waits until the words that it answers are in the record."""
SAID_OFF_RECORD = "the same words were said off the record"


class Recording:
    """Records turns with `recorder`, in threads. `answered` are the requests that later ones may go on from,
    `second_looks` those of the server; `clock` counts seconds. `close` it at the end."""

    def __init__(
        self,
        vault: Vault,
        problems: Problems,
        answered: AnsweredRequests,
        second_looks: SecondLooks,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vault = vault
        self._problems = problems
        self._answered = answered
        self._second_looks = second_looks
        self.recorder = TurnRecorder(vault, clock)
        self._accept_thread = ThreadPoolExecutor(1, "accept")  # beside it: the head of a response waits for the words
        self._record_thread = ThreadPoolExecutor(1, "record")  # one at a time: a person's turns stay in order
        self._to_record: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._learn_thread = ThreadPoolExecutor(1, "learn")  # it may wait for another writer; a turn is kept at once
        self._to_learn: OrderedDict[Whose, list[Recorded]] = OrderedDict()
        self._responses_to_record = 0
        self._sources_to_index: dict[Whose, set[str]] = {}
        self._lock = threading.Lock()

    async def accept(self, prepared: Prepared, request: UserRequest) -> None:
        """Have the words recorded before the client gets the head of the response, or soon after it if that takes
        longer than `ACCEPT_WAIT_S`: another process may hold the records."""

        def work() -> Recorded | None:
            accepted = self.recorder.accept(request)
            if accepted and accepted.source:
                prepared.accepted = accepted
                if accepted.is_new:
                    self._after_turns([accepted])
            return accepted

        try:
            accepting = asyncio.wrap_future(self._accept_thread.submit(work))
            accepting.add_done_callback(lambda done: done.cancelled() or done.exception())  # it is tried again later
            accepted = await asyncio.wait_for(asyncio.shield(accepting), ACCEPT_WAIT_S)
        except asyncio.CancelledError:
            raise
        except Exception:  # it is tried again with the reply, and told then if that fails, too
            return
        if accepted is None:
            prepared.user_request, prepared.not_recorded = None, SAID_OFF_RECORD
        elif accepted.is_complete:
            prepared.user_request, prepared.not_recorded = None, "the same request is recorded already"

    def record(
        self,
        prepared: Prepared,
        read: Callable[[], tuple[ChatResponse, bool]],
        problem: str = "",
        recorded: Callable[[], None] = lambda: None,
    ) -> None:
        """Have the turn recorded in a thread, in which users take turns.

        `read` gives what the client got, and whether all of it was kept.
        `problem` says why the client did not get all; `recorded` is called at the end.
        """
        request = prepared.user_request
        if request is None or prepared.not_recorded is not None:
            if request is not None:  # its words stay off the record for half an hour from now
                self.recorder.leave_out(request)
            recorded()
            return

        def work() -> None:
            try:
                self._record_response(request, read, problem, prepared.accepted)
            except Exception as error:
                self._problems.report((request.user_id, request.as_of), "an earlier turn was not recorded", error)
            finally:
                recorded()

        try:
            with self._lock:
                self._responses_to_record += 1
                self._record_thread.submit(self._record_next)
                self._to_record.setdefault(request.user_id, deque()).append(work)
        except RuntimeError:  # the server is stopping, and this client was cut off just now
            work()

    def close(self) -> None:
        """Record the turns that are left, and learn from them. No second look is waited for."""
        self._accept_thread.shutdown()
        self._record_thread.shutdown()
        self._learn_thread.shutdown()
        self._second_looks.close()

    def _record_next(self) -> None:
        """Record a turn of the user who has waited longest since the last one: hundreds of one hold up no other."""
        with self._lock:
            user_id, waiting = self._to_record.popitem(last=False)
            work = waiting.popleft()
            if waiting:
                self._to_record[user_id] = waiting
        work()

    def _record_response(
        self,
        request: UserRequest,
        read: Callable[[], tuple[ChatResponse, bool]],
        problem: str,
        accepted: Recorded | None,
    ) -> None:
        self._vault.chats.let_go_first()
        try:
            response, is_whole = read()
            unread = NOT_ALL_READ if response.text else NOT_READ
            why = NOT_KEPT if not is_whole else "" if response.is_readable or problem else unread
            turn = self.recorder.complete(request, response, problem or why, accepted)
            if request.continued.is_stored:
                self._answered.keep(request, response)
            if self.recorder.is_left_out(request):  # since this response began: its head did not say so
                why = SAID_OFF_RECORD
            elif response.text:
                why = ""
            if why:
                self._problems.report((request.user_id, request.as_of), "an earlier answer was not recorded", why)
        finally:
            with self._lock:
                self._responses_to_record -= 1
        self._after_turns([turn] if turn else [])

    def _after_turns(self, turns: list[Recorded]) -> None:
        """Have the turns learned from in a thread of its own: another writer may hold a user's files for a while, and
        what is said meanwhile must be kept at once."""
        with self._lock:
            for turn in turns:
                self._to_learn.setdefault((turn.user_id, turn.as_of), []).append(turn)
        try:
            self._learn_thread.submit(self._learn)
        except RuntimeError:  # the server is stopping
            self._learn()

    def _learn(self) -> None:
        """Learn from the turns, user by user, and have the language model look at them; index their files once no other
        response is waiting. Chats go first."""
        if self._to_learn or self._sources_to_index:
            self._vault.chats.let_go_first()
        while True:
            with self._lock:
                if not self._to_learn:
                    break
                whose, turns = self._to_learn.popitem(last=False)
            self._sources_to_index.setdefault(whose, set()).update(*(turn.sources for turn in turns))
            try:
                learn_waiting(self._vault, self._vault.id_now(*whose)[0], WAIT_S)
            except Exception as error:  # the turn is kept: the next one, or the daemon, learns from it
                self._problems.report(whose, "nothing was learned from an earlier turn yet", error)
            for turn in turns:  # with its reply, which the model is shown, too
                if turn.is_complete and (why := self._second_looks.submit(turn.user_id, turn.source, turn.as_of)):
                    self._problems.report(whose, "of an earlier turn", why)
        while self._sources_to_index and not self._responses_to_record:
            whose, sources = self._sources_to_index.popitem()
            self._vault.chats.step_aside()
            try:
                reconcile(self._vault, self._vault.id_now(*whose)[0], sources)
            except Exception as error:
                self._problems.report(whose, "an earlier turn cannot be searched yet", error)
