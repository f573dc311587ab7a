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

from vault_memory.adapters.upstream import Upstream
from vault_memory.core import answer, exchange, injection
from vault_memory.services.build_prompt import Memory, build_memory
from vault_memory.services.listen import RETRY_S, Asked, Heard, Listener
from vault_memory.services.reconcile import reconcile
from vault_memory.services.second_look import second_look
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    import httpx

RECALLERS = 4
"""How many memories are put together at once."""
PATIENCE_S = 0.5
"""How long the recording of a turn lets requests go first that wait for their memory."""
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
        self._blocks: OrderedDict[tuple[str, str], tuple[float, Memory]] = OrderedDict()
        self._unrecorded: dict[str, str] = {}
        self._touched: dict[str, set[str]] = {}
        self._queued = 0
        self._recalling = 0
        self._quiet = threading.Condition(self._lock)

    async def prepare(
        self, body: bytes, request: Any, user_id: str, conversation: str | None = None, *, record: bool = True
    ) -> Prepared:
        """The request with the user's memory in it. `request` is what the JSON of `body` says, None where it is none."""
        with self._lock:
            self._recalling += 1
        work = self._recall.submit(self._prepare, body, request, user_id, conversation, record)
        work.add_done_callback(self._recalled)
        limit_s = self.vault.config.proxy_memory_timeout_ms / 1000
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(work)), limit_s)
        except TimeoutError:
            asked = await asyncio.to_thread(self._asked, request, user_id, conversation)
            late = Prepared(body, _degraded(f"memory took longer than {limit_s:g} s"))
            return Prepared(body, late.memory, asked) if record and asked and not asked.exchange.housekeeping else late

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

    def _prepare(self, body: bytes, request: Any, user_id: str, conversation: str | None, record: bool) -> Prepared:
        try:
            asked = self._asked(request, user_id, conversation)
        except RecursionError:
            return Prepared(body, _degraded("the request is nested too deeply to be read"))
        if asked is None:
            return Prepared(body, "off; nobody's words are in this request")
        if asked.exchange.housekeeping:
            return Prepared(body, "off; a call of the client's own")
        kept = asked if record else None
        try:
            memory = self._memory(asked)
            if memory.text:
                text = body.decode()
                body = injection.inject(text, memory.text, asked.exchange.place).encode()
        except Exception as error:  # whatever memory may run into: the chat goes through, and says so
            return Prepared(body, _degraded(f"{type(error).__name__}: {error}"), kept)
        problems = list(memory.degraded)
        with self._lock:
            if lost := self._unrecorded.pop(user_id, ""):
                problems.append(f"an earlier turn was not recorded: {lost}")
        said = _degraded("; ".join(problems)) if problems else f"injected; passages={len(memory.passages)}"
        return Prepared(body, said, kept)

    def _asked(self, request: Any, user_id: str, conversation: str | None) -> Asked | None:
        found = exchange.read(request, self.vault.config.proxy_housekeeping)
        if found is None:
            return None
        name = conversation or exchange.conversation_id(user_id, found.opening)
        model = request.get("model")
        return Asked(found, user_id, name, self.vault.now(), model if isinstance(model, str) else None)

    def _memory(self, asked: Asked) -> Memory:
        """The same for every round and retry of a request, so that what stands before stays the same too."""
        key, now = (asked.user_id, asked.exchange.key), self._clock()
        with self._lock:
            made_at, memory = self._blocks.get(key, (0.0, None))
        if memory is None or now - made_at > RETRY_S:
            said, budget = asked.exchange.said, self.vault.config.proxy_memory_tokens
            memory = build_memory(self.vault, asked.user_id, asked.exchange.words, said=said, budget=budget)
            with self._lock:
                self._blocks[key] = (now, memory)
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

    def _recalled(self, _: Future[Prepared]) -> None:
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
            reconcile(self.vault, *self._touched.popitem())

    def _finish(self) -> None:
        self._recall.shutdown()
        self._record.submit(lambda: self._settle(self._listener.finish()))
        self._record.shutdown()
        self._look.shutdown(cancel_futures=True)

    def _told(self, user_id: str) -> Callable[[Future[None]], None]:
        def tell(work: Future[None]) -> None:
            if error := work.exception():
                with self._lock:
                    self._unrecorded[user_id] = f"{type(error).__name__}: {error}"

        return tell


def _degraded(why: str) -> str:
    """The reason as a header may hold it."""
    return "degraded; " + " ".join(why.encode("ascii", "replace").decode().split())[:300]
