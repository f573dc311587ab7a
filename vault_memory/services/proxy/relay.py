"""Stand between a chat client and its model: memory goes with the request, the turn is recorded after the answer.

Memory never stands in the way. If it fails or takes too long, the request goes on as it came and the reason is told; a turn
that could not be recorded is told with the next answer of the same user. What blocks runs in threads.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vault_memory.adapters.models.upstream import Upstream
from vault_memory.core.chat import answer, injection
from vault_memory.core.chat import request as exchange
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.proxy.listen import IDLE_S, Asked, Heard, Listener
from vault_memory.services.retrieval.build_prompt import Memory, build_memory
from vault_memory.services.turns.second_look import second_look
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    import httpx

RECALLERS = 4
"""How many memories are put together at once."""
PATIENCE_S = 0.5
"""How long the recording of a turn lets requests go first that wait for their memory."""
AGAIN_S = 60.0
"""How long a request that is sent once more gets the same memory; the rounds of a tool loop do as long as it goes on."""
_BLOCKS = 1_000


@dataclass(frozen=True)
class Prepared:
    """A request ready to be sent on; `memory` says what became of memory, as a header may: ASCII, one line.

    `asked` is what a turn will be made of; None: there will be none.
    """

    body: bytes
    memory: str
    asked: Asked | None = None


class Relay:
    """The proxy of one vault, without its HTTP. `transport` stands in for the network; `clock` counts seconds.

    `prepare` a request, send it on by one of the two providers, then say what was `delivered`; `close` at the end.
    """

    def __init__(
        self,
        vault: Vault,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        config = vault.config
        self.vault = vault
        self.openai = Upstream(
            config.upstream_base_url, config.upstream_key_env,
            timeout_s=config.upstream_timeout_s, environ=vault.environ, transport=transport,
        )  # fmt: skip
        self.anthropic = Upstream(
            config.upstream_anthropic_url, config.upstream_anthropic_key_env, "x-api-key", "upstream.anthropic_url",
            timeout_s=config.upstream_timeout_s, environ=vault.environ, transport=transport,
        )  # fmt: skip
        self._clock = clock
        self._listener = Listener(vault, clock)
        self._recall = ThreadPoolExecutor(RECALLERS, "recall")
        self._record = ThreadPoolExecutor(1, "record")  # one at a time: a person's turns stay in order
        self._look = ThreadPoolExecutor(1, "second-look")
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[str, str, str], tuple[float, Memory]] = OrderedDict()
        self._troubles: dict[str, str] = {}
        self._touched: dict[str, set[str]] = {}
        self._queued = 0
        self._recalling = 0
        self._quiet = threading.Condition(self._lock)

    async def prepare(
        self, body: bytes, request: Any, user_id: str, conversation: str | None = None, *, record: bool = True
    ) -> Prepared:
        """The request with the user's memory in it. `request` is what the JSON of `body` says, None where it is none."""
        try:
            asked = await asyncio.to_thread(self._asked, request, user_id, conversation)
        except RecursionError:
            return Prepared(body, _degraded("the request is nested too deeply to be read"))
        if asked is None:
            return Prepared(body, "off; nobody's words are in this request")
        if asked.exchange.housekeeping:
            return Prepared(body, "off; a call of the client's own")
        kept = asked if record else None
        with self._lock:
            self._recalling += 1
        work = self._recall.submit(self._remembering, body, asked)
        work.add_done_callback(self._recalled)
        limit_s = self.vault.config.proxy_memory_timeout_ms / 1000
        try:
            body, memory = await asyncio.wait_for(asyncio.wrap_future(work), limit_s)
        except TimeoutError:
            return Prepared(body, _degraded(f"memory took longer than {limit_s:g} s"), kept)
        except Exception as error:  # whatever memory may run into: the chat goes through, and says so
            return Prepared(body, _degraded(f"{type(error).__name__}: {error}"), kept)
        return Prepared(body, self._became(memory, user_id), kept)

    def delivered(self, prepared: Prepared, media_type: str, data: bytes, broken: str = "") -> None:
        """Have the turn recorded, in its time. `data` is what the client was sent; `broken` why it was not all, if so."""
        if prepared.asked is None:
            return
        with self._lock:
            self._queued += 1
        try:
            work = self._record.submit(self._hear, prepared.asked, media_type, data, broken)
        except RuntimeError:  # the server ends, and this client was cut off just now
            self._hear(prepared.asked, media_type, data, broken)
            self._settle(self._listener.finish())
        else:
            work.add_done_callback(self._told(prepared.asked.user_id))

    async def close(self) -> None:
        """Record what is still to be recorded, and let all connections go."""
        await asyncio.to_thread(self._finish)
        for upstream in (self.openai, self.anthropic):
            await upstream.close()

    def _remembering(self, body: bytes, asked: Asked) -> tuple[bytes, Memory]:
        """The request's body with the memory in it."""
        memory = self._memory(asked)
        if memory.text:
            found = asked.exchange
            body = injection.inject(body.decode(), memory.text, found.place, found.part).encode()
        return body, memory

    def _became(self, memory: Memory, user_id: str) -> str:
        """What became of a request's memory, and of turns before it that nobody has been told of."""
        with self._lock:
            trouble = self._troubles.pop(user_id, "")
        if problems := [*memory.degraded, *([trouble] if trouble else [])]:
            return _degraded("; ".join(problems))
        return f"injected; passages={len(memory.passages)}" if memory.text else "off; nothing is known that bears on it"

    def _asked(self, request: Any, user_id: str, conversation: str | None) -> Asked | None:
        found = exchange.read(request, self.vault.config.proxy_housekeeping)
        if found is None:
            return None
        name = conversation or exchange.conversation_id(user_id, found.opening)
        model = request.get("model")
        return Asked(found, user_id, name, self.vault.now(), model if isinstance(model, str) else None)

    def _memory(self, asked: Asked) -> Memory:
        """The same for every round and retry of a request, so that what stands before stays the same too."""
        found, now = asked.exchange, self._clock()
        key = (asked.user_id, asked.conversation, found.key)
        with self._lock:
            used_at, memory = self._blocks.get(key, (0.0, None))
        if memory is None or now - used_at > (IDLE_S if found.is_round else AGAIN_S):
            budget = self.vault.config.proxy_memory_tokens
            memory = build_memory(self.vault, asked.user_id, found.words, said=found.said, budget=budget)
            used_at = now
        with self._lock:
            self._blocks[key] = (now if found.is_round else used_at, memory)
            self._blocks.move_to_end(key)
            while len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        return memory

    def _hear(self, asked: Asked, media_type: str, data: bytes, broken: str) -> None:
        with self._quiet:  # whoever waits for an answer comes first
            self._quiet.wait_for(lambda: not self._recalling, PATIENCE_S)
        try:
            heard = self._listener.hear(asked, answer.read(media_type, data), broken)
        finally:
            with self._lock:
                self._queued -= 1
        self._settle(heard)

    def _recalled(self, _: Future[tuple[bytes, Memory]]) -> None:
        with self._quiet:
            self._recalling -= 1
            self._quiet.notify_all()

    def _settle(self, heard: list[Heard]) -> None:
        """Index what turns have touched, at once for all that came together, and let the language model look at them."""
        for turn in heard:
            self._touched.setdefault(turn.user_id, set()).update(turn.recorded.sources)
            if turn.recorded.source and self.vault.config.llm_enabled:
                self._look.submit(second_look, self.vault, turn.user_id, turn.recorded.source)
        while self._touched and not self._queued:
            user_id, sources = self._touched.popitem()
            try:
                reconcile(self.vault, user_id, sources)
            except Exception as error:
                self._tell(user_id, "what was said cannot be searched yet", error)

    def _finish(self) -> None:
        self._recall.shutdown()
        self._record.submit(lambda: self._settle(self._listener.finish()))
        self._record.shutdown()
        self._look.shutdown(cancel_futures=True)

    def _told(self, user_id: str) -> Callable[[Future[None]], None]:
        def tell(work: Future[None]) -> None:
            if error := work.exception():
                self._tell(user_id, "an earlier turn was not recorded", error)

        return tell

    def _tell(self, user_id: str, what: str, error: BaseException) -> None:
        with self._lock:
            self._troubles[user_id] = f"{what}: {type(error).__name__}: {error}"


def _degraded(why: str) -> str:
    """The reason as a header may hold it."""
    return "degraded; " + " ".join(why.encode("ascii", "replace").decode().split())[:300]
