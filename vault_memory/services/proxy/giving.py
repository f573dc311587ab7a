"""The memory that goes into a request: the present one before the person's words, and before earlier words what went
with them then."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from weakref import WeakValueDictionary

from vault_memory.core.chat import Insertion, find_places
from vault_memory.errors import Busy
from vault_memory.services.proxy.injections import Conversation, Injection, Injections
from vault_memory.services.proxy.problems import Problems
from vault_memory.services.proxy.reading import ReadRequest
from vault_memory.services.proxy.turn_recorder import TOOL_LOOP_IDLE_S, UserRequest
from vault_memory.services.retrieval import Memory, build_memory
from vault_memory.services.vault import Vault

MEMORY_THREADS = 4
"""How many requests get their memory at the same time."""
MEMORIES_PER_USER = 2
"""So that somebody who sends hundreds of chats at once keeps neither the threads nor the interpreter from others."""
EARLIER_THREADS = 2
"""How many requests find at the same time what was injected before: that takes a small file, no search."""
SAME_MEMORY_S = 60.0
"""How long a repeated request gets the same memory; the rounds of a tool loop get it as long as the loop lasts."""
MAX_KEPT_MEMORIES = 1_000


@dataclass(frozen=True)
class Earlier:
    """The body with what went with its messages before, and the `insertions` that this takes. `last` is what went with
    the person's last words, if this is a later round of theirs (None: nothing is known of it)."""

    body: bytes
    insertions: tuple[Insertion, ...] = ()
    last: Injection | None = None


class MemoryGiver:
    """Gives requests their memory. `key` gives the secret of the hashes by which messages are known; `clock` counts
    seconds. `close` it at the end."""

    def __init__(
        self, vault: Vault, problems: Problems, key: Callable[[], bytes], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._vault = vault
        self._problems = problems
        self._clock = clock
        self._injections = Injections(vault, key)
        self._memory_threads = ThreadPoolExecutor(MEMORY_THREADS, "memory")
        self._earlier_threads = ThreadPoolExecutor(EARLIER_THREADS, "earlier")
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._memories: OrderedDict[tuple[str, int, str, str], tuple[float, Memory]] = OrderedDict()
        self._lock = threading.Lock()

    async def put_back(self, body: bytes, read: ReadRequest, talk: Conversation) -> Earlier:
        """The request with all that went with its messages before."""
        if not read.has_earlier:
            return Earlier(body)
        finding = self._earlier_threads.submit(self._put_back, body, read, talk)
        try:
            return await asyncio.wrap_future(finding)
        except Busy:  # this person has another id by now: the memory says so
            return Earlier(body)
        except Exception as error:
            self._problems.report((talk.user_id, talk.as_of), "earlier memory was not put back", error)
            return Earlier(body)

    def _put_back(self, body: bytes, read: ReadRequest, talk: Conversation) -> Earlier:
        found = self._injections.find(talk, read.said.values())
        before = {index: found[message] for index, message in read.said.items() if message in found}
        last = before.get(read.chat.message_index) if read.chat else None
        if read.chat and not read.chat.is_tool_round:  # the person says it again, and gets the present memory
            before.pop(read.chat.message_index, None)
            last = None
        wanted = {index: injection.part_index for index, injection in before.items() if injection.text}
        places = find_places(read.short.text, wanted) if wanted else {}
        put_back = [place.insertions(before[index].text, before[index].form) for index, place in places.items()]
        insertions = tuple(insertion for each in put_back for insertion in each)
        return Earlier(read.short.with_all(body, insertions), insertions, last)

    async def give(
        self, body: bytes, read: ReadRequest, request: UserRequest, earlier: Earlier
    ) -> tuple[bytes, Injection, list[str]]:
        """The request's body with the memory in it, and what was put back; the memory; what could not be used for it.

        In a thread, when the user has fewer than `MEMORIES_PER_USER` of them.
        """
        places = self._places.setdefault(request.user_id, asyncio.Semaphore(MEMORIES_PER_USER))
        await places.acquire()
        self._vault.chats.begin()
        work = self._memory_threads.submit(self._with_memory, body, read, request, earlier)
        work.add_done_callback(lambda _: self._vault.chats.end())
        ended = asyncio.wrap_future(work)
        ended.add_done_callback(lambda _: places.release())  # a thread cannot be stopped: it keeps its place until then
        try:
            return await asyncio.shield(ended)
        finally:
            work.cancel()  # if it has not begun, nobody needs it any longer

    def _with_memory(
        self, body: bytes, read: ReadRequest, request: UserRequest, earlier: Earlier
    ) -> tuple[bytes, Injection, list[str]]:
        memory = self._memory(request)
        if not memory.text or read.place is None:
            return earlier.body, Injection(), memory.degraded
        form, part_index = read.place.form, request.chat.part_index
        injection = Injection(memory.text, form, part_index, len(memory.passages))
        insertions = (*earlier.insertions, *read.place.insertions(memory.text, form))
        return read.short.with_all(body, insertions), injection, memory.degraded

    def _memory(self, request: UserRequest) -> Memory:
        """The memory for a request: the same for all its rounds and retries, for the provider's prompt cache.

        It is made anew after a renaming, whoever got another id. Raises `Busy` when this user did meanwhile.
        """
        chat, now = request.chat, self._clock()
        key = (request.user_id, request.as_of, request.conversation_id, chat.key)
        with self._lock:
            used_at, memory = self._memories.get(key, (0.0, None))
        if memory is None or now - used_at > (TOOL_LOOP_IDLE_S if chat.is_tool_round else SAME_MEMORY_S):
            budget = self._vault.config.proxy_memory_tokens
            memory = build_memory(
                self._vault, request.user_id, chat.words or chat.context, said=chat.text, budget=budget
            )
            used_at = now
        self._vault.refuse_renamed(request.user_id, request.as_of)  # else it may be another person's
        with self._lock:
            self._memories[key] = (now if chat.is_tool_round else used_at, memory)
            self._memories.move_to_end(key)
            while len(self._memories) > MAX_KEPT_MEMORIES:
                self._memories.popitem(last=False)
        return memory

    def keep(
        self, talk: Conversation, message: bytes, given: Injection, own_tokens: int, *, on_disk: bool
    ) -> Future[None]:
        """Keep what went with a message of a request that had `own_tokens` itself, for when it is sent again."""

        def work() -> None:
            try:
                self._injections.keep(talk, message, given, own_tokens, on_disk=on_disk)
            except Exception as error:
                whose = talk.user_id, talk.as_of
                self._problems.report(whose, "memory is not kept for later requests", error)

        return self._earlier_threads.submit(work)

    def close(self) -> None:
        """Wait for what is being done."""
        self._memory_threads.shutdown()
        self._earlier_threads.shutdown()
