"""Send chat requests on to a provider: memory goes into the request, the turn is recorded after the response.

Memory never blocks a chat: if it fails or takes too long, the request goes on unchanged, and the client is told why. A
turn that could not be recorded is reported with the same user's next response. Blocking work runs in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import threading
import time
from codecs import BOM_UTF8
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from vault_memory.adapters.models import Upstream
from vault_memory.core.chat import (
    MAX_READ_BYTES,
    ChatRequest,
    ChatResponse,
    Continued,
    Insertion,
    Messages,
    Place,
    Shortened,
    conversation_id,
    digests,
    find_place,
    find_places,
    is_round_of_tools,
    prompt,
    read_chat,
    read_continued,
    read_items,
    read_messages,
    shorten,
)
from vault_memory.core.clients import conversation_of
from vault_memory.core.layout import without_folders
from vault_memory.errors import Busy, NotFound, VaultMemoryError
from vault_memory.services.indexing import reconcile
from vault_memory.services.proxy.continued import AnsweredRequests, continuing
from vault_memory.services.proxy.doors import Provider
from vault_memory.services.proxy.injections import Conversation, Injection, Injections
from vault_memory.services.proxy.relayed import (
    NOT_ALL_READ,
    NOT_KEPT,
    NOT_READ,
    Prepared,
    RelayedResponse,
    by_name,
    for_provider,
    has_own_key,
    refuse_token,
)
from vault_memory.services.proxy.request_log import RequestLog
from vault_memory.services.proxy.turn_recorder import TOOL_LOOP_IDLE_S, TurnRecorder, UserRequest
from vault_memory.services.retrieval import Memory, build_memory
from vault_memory.services.turns import WAIT_S, Recorded, learn_waiting, second_look
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    import httpx

MEMORY_THREADS = 4
"""How many requests get their memory at the same time."""
MEMORIES_PER_USER = 2
"""So that somebody who sends hundreds of chats at once keeps neither the threads nor the interpreter from others."""
INJECTED_THREADS = 2
"""How many requests find at the same time what was injected before: that takes a small file, no search."""
LARGE_BYTES = 1_000_000
"""Larger requests are read in a thread of their own."""
LARGE_HEAD_BYTES = 4 << 10
"""Headers of more are searched for vault tokens in that thread, too: 30 KB of them take some ms."""
SAME_MEMORY_S = 60.0
"""How long a repeated request gets the same memory; the rounds of a tool loop get it as long as the loop lasts."""
MAX_KEPT_MEMORIES = 1_000
ACCEPT_WAIT_S = 1.0
"""How long the head of a response waits until the words that it answers are in the record."""
RESPONSE_THREADS = 1
"""How many responses are read at the same time while they come; more would only compete for the interpreter."""
_SAID_OFF_RECORD = "the same words were said off the record"
_TOO_LARGE = "the request is too large or has too many values to be read"


@dataclass(frozen=True)
class ReadRequest:
    """What was read in a request's body: the chat in it (None: no words of a person), its model, and the `user` field.

    `place` is where its words stand in the `short` form; `said` are the digests by which messages are known
    (`core.chat.digests`). `problem` says why a body was not read, though it may hold a chat; "" if it was. `name` is
    what its conversation is known by: the id that a header gives it, else its first message. `continued` is what the
    chat goes on with, and `is_round`: it holds nothing but what tools gave.
    """

    chat: ChatRequest | None = None
    place: Place | None = None
    said: Mapping[int, bytes] = field(default_factory=dict)
    short: Shortened = Shortened(b"")
    model: str | None = None
    user: str | None = None
    problem: str = ""
    name: str = ""
    continued: Continued = Continued()
    is_round: bool = False

    @property
    def has_earlier(self) -> bool:
        """Whether it holds messages that may have been sent before: others than the person's last one, or a round of a
        tool loop."""
        if self.chat is None or self.chat.is_tool_round:
            return bool(self.said)
        return any(index != self.chat.message_index for index in self.said)


@dataclass(frozen=True)
class Earlier:
    """The body with what went with its messages before, and the `insertions` that this takes. `last` is what went with
    the person's last words, if this is a later round of theirs (None: nothing is known of it)."""

    body: bytes
    insertions: tuple[Insertion, ...] = ()
    last: Injection | None = None


class Relay:
    """The proxy of one vault, without its HTTP server. `transport` replaces the network; `clock` counts seconds.

    `prepare` a request, `send` it, then `record` the response; `close` at the end.
    """

    def __init__(
        self,
        vault: Vault,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        config = vault.config
        self.vault = vault
        upstream = partial(Upstream, timeout_s=config.upstream_timeout_s, environ=vault.environ, transport=transport)
        self._upstreams: dict[Provider, Upstream] = {
            "openai": upstream(config.upstream_base_url, config.upstream_key_env),
            "anthropic": upstream(
                config.upstream_anthropic_url,
                config.upstream_anthropic_key_env,
                key_header="x-api-key",
                setting="upstream.anthropic_url",
            ),
        }
        self.log = RequestLog(vault)
        self._clock = clock
        self._recorder = TurnRecorder(vault, clock)
        self._answered = AnsweredRequests(vault)
        self._injections = Injections(vault, lambda: self._key)
        self._read_thread = ThreadPoolExecutor(1, "read")
        self._large_read_thread = ThreadPoolExecutor(1, "read-large")  # so that others do not wait for it
        self._response_threads = ThreadPoolExecutor(RESPONSE_THREADS, "response")
        self._memory_threads = ThreadPoolExecutor(MEMORY_THREADS, "memory")
        self._injected_threads = ThreadPoolExecutor(INJECTED_THREADS, "injected")
        self._accept_thread = ThreadPoolExecutor(1, "accept")  # beside it: the head of a response waits for the words
        self._record_thread = ThreadPoolExecutor(1, "record")  # one at a time: a person's turns stay in order
        self._to_record: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._learn_thread = ThreadPoolExecutor(1, "learn")  # it may wait for another writer; a turn is kept at once
        self._to_learn: OrderedDict[tuple[str, int], list[Recorded]] = OrderedDict()
        self._second_look_thread = ThreadPoolExecutor(1, "second-look")
        self._lock = threading.Lock()
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._memories: OrderedDict[tuple[str, int, str, str], tuple[float, Memory]] = OrderedDict()
        self._responses_to_record = 0
        self._sources_to_index: dict[tuple[str, int], set[str]] = {}
        self._problems: dict[tuple[str, int], str] = {}

    async def read(self, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()) -> ReadRequest:
        """Read a request, one after the other: what is parsed takes many times the size of the body."""
        thread = self._read_thread if len(body) <= LARGE_BYTES else self._large_read_thread
        return await asyncio.wrap_future(thread.submit(self._read, body, list(headers)))

    async def prepare(
        self,
        body: bytes,
        read: ReadRequest,
        user_id: str,
        conversation: str | None = None,
        *,
        record: bool = True,
        waited_s: float = 0.0,
        as_of: int | None = None,
    ) -> Prepared:
        """The request with the user's memory in it. `read` is what `read` has found in `body`.

        The user is whoever had `user_id` as of `as_of` (`Vault.renamings`; None: now).
        `waited_s` is how long the request has waited already: that counts as time that its memory has taken.
        """
        if read.problem:
            return Prepared(body, self._degraded(read.problem))
        as_of = self.vault.renamings() if as_of is None else as_of
        talk = Conversation(user_id, as_of, conversation or read.name)
        earlier = await self._injected_before(body, read, talk)
        user_request = self._user_request(read, user_id, conversation, as_of)
        if user_request is None:
            return Prepared(earlier.body, "off; the request holds no words of a person")
        prepare = partial(Prepared, conversation=user_request.conversation_id)
        without_text = replace(user_request, chat=replace(user_request.chat, text=""))  # only the memory needs it
        turn = self._turn(without_text, is_on=record)
        asked = without_text
        if turn[0] is None or turn[1] is not None:  # what is not recorded is not kept here, either
            asked = replace(asked, chat=replace(asked.chat, words=""))
        if user_request.chat.is_housekeeping:
            return prepare(earlier.body, "off; the client made this request on its own")
        prepare = partial(prepare, user_request=turn[0], not_recorded=turn[1], asked=asked)
        if read.chat is None:
            return prepare(earlier.body, "off; the provider has it with the words")
        if earlier.last is not None:
            return prepare(earlier.body, self._memory_status(earlier.last, (), user_id, as_of))
        limit_s = self.vault.config.proxy_memory_timeout_ms / 1000
        changed, injection = earlier.body, Injection()
        try:
            changed, injection, degraded = await asyncio.wait_for(
                self._memory_in_turn(body, read, user_request, earlier), max(0.0, limit_s - waited_s)
            )
            status = self._memory_status(injection, degraded, user_id, as_of)
        except TimeoutError:
            status = self._degraded(f"memory took longer than {limit_s:g} s")
        except Exception as error:  # whatever fails in the memory, the chat goes on, and the client is told
            status = self._degraded(f"{type(error).__name__}: {error}")
        prepared = prepare(changed, status)
        if (message := read.said.get(read.chat.message_index)) is not None:
            own_tokens = len(read.short.short) // 4
            keep = partial(self._injections.keep, talk, message, injection, own_tokens, on_disk=prepared.is_turn)
            prepared.keep = partial(self._keep, keep, user_id, as_of)
        return prepared

    def refuse_anothers(self, read: ReadRequest, user_id: str, as_of: int) -> None:
        """Raise `NotFound` for a request that goes on with what another user was answered."""
        self._answered.refuse_anothers(read.continued, user_id, as_of)

    async def send(
        self,
        prepared: Prepared,
        provider: Provider,
        method: str,
        path: str,
        headers: Iterable[tuple[bytes, bytes]],
        own_key: str | None = None,
        sent: Callable[[], None] = lambda: None,
    ) -> RelayedResponse:
        """Send a request to a provider and wait for the head of the response, whatever its status.

        `sent` is called when the body has left; nothing here keeps it any longer.

        `path` begins with a slash and may have a query; `headers` are the client's; `own_key` replaces the configured
        key, as do the client's own Authorization and X-Api-Key beside an X-Vault-Token. Raises `UsageError` for a vault
        token in one of these, and the errors of `Upstream.send`.
        """
        refuse_token("the address", path)
        refuse_token("X-Upstream-Authorization", own_key or "")
        headers = list(headers)

        def keep() -> tuple[list[tuple[bytes, bytes]], str | None]:
            with_keys = own_key is None and has_own_key(headers)
            return for_provider(headers, with_keys=with_keys), "" if with_keys else own_key

        if sum(len(name) + len(value) for name, value in headers) <= LARGE_HEAD_BYTES:
            kept, own_key = keep()
        else:
            kept, own_key = await asyncio.wrap_future(self._large_read_thread.submit(keep))
        keeping = self._injected_threads.submit(prepared.keep) if prepared.keep else None  # while the provider thinks
        response = await self._upstreams[provider].send(method, path, kept, prepared.take_body(), own_key, sent)
        request = prepared.user_request
        if request is not None and prepared.is_turn and 200 <= response.status < 300:
            await self._accept(prepared, request)
        if keeping is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(keeping)), ACCEPT_WAIT_S)
        asked = prepared.asked
        turn = self._reading.setdefault(asked.user_id if asked else "", asyncio.Lock())
        answered = partial(self._answered.keep, asked) if asked and asked.continued.is_stored else None
        return RelayedResponse(prepared, response, self.record, self._response_threads, turn, answered)

    async def _accept(self, prepared: Prepared, request: UserRequest) -> None:
        """Have the words recorded before the client gets the head of the response, or soon after it if that takes
        longer than `ACCEPT_WAIT_S`: another process may hold the records."""

        def work() -> Recorded | None:
            accepted = self._recorder.accept(request)
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
            prepared.user_request, prepared.not_recorded = None, _SAID_OFF_RECORD
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
                self._recorder.leave_out(request)
            recorded()
            return

        def work() -> None:
            try:
                self._record_response(request, read, problem, prepared.accepted)
            except Exception as error:
                self._report(
                    (request.user_id, request.as_of),
                    "an earlier turn was not recorded",
                    f"{type(error).__name__}: {error}",
                )
            finally:
                recorded()

        try:
            with self._lock:
                self._responses_to_record += 1
                self._record_thread.submit(self._record_next)
                self._to_record.setdefault(request.user_id, deque()).append(work)
        except RuntimeError:  # the server is stopping, and this client was cut off just now
            work()

    async def close(self) -> None:
        """Record the turns that are left, then close all connections."""
        await asyncio.to_thread(self._finish_recording)
        await asyncio.to_thread(self.log.close)
        for upstream in self._upstreams.values():
            await upstream.close()

    def _read(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> ReadRequest:
        shortened = shorten(body, self._key)
        if not shortened.is_readable:
            return ReadRequest(problem=_TOO_LARGE)
        try:
            text = shortened.text
            fields = json.loads(text)
            messages = read_messages(fields) or read_items(fields)
            chat = self._chat(messages, headers) if messages else None
            place = find_place(text, chat.message_index, chat.part_index) if chat else None
            said = digests(messages) if messages else {}
        except RecursionError:
            return ReadRequest(problem="the request is nested too deeply to be read")
        except (json.JSONDecodeError, UnicodeDecodeError):
            if body.startswith(BOM_UTF8):
                return ReadRequest(problem="the request begins with a byte order mark, with which no JSON begins")
            return ReadRequest()  # no JSON: the provider says so to the client itself
        except ValueError:
            return ReadRequest(problem="the request has a number that is too long to be read")
        if not isinstance(fields, dict):
            return ReadRequest()
        if chat is not None:
            words, context = (shortened.restored(text, body) for text in (chat.words, chat.context))
            chat = replace(chat, words=words, context=context)
            if len(words) + len(context) > MAX_READ_BYTES:
                return ReadRequest(problem=_TOO_LARGE)
        model, user = (value if isinstance(value := fields.get(name), str) else None for name in ("model", "user"))
        return ReadRequest(
            *(chat, place, said, shortened, model, user),
            name=conversation_of(by_name(headers)) or next((digest.hex() for digest in said.values()), ""),
            continued=read_continued(fields),
            is_round=is_round_of_tools(messages),
        )

    def _chat(self, messages: Messages, headers: list[tuple[bytes, bytes]]) -> ChatRequest | None:
        config = self.vault.config
        return read_chat(messages, config.proxy_housekeeping, by_name(headers), config.proxy_asides)

    def _user_request(
        self, read: ReadRequest, user_id: str, conversation: str | None, as_of: int
    ) -> UserRequest | None:
        chat, continued = read.chat, read.continued
        before = self._answered.find(continued, user_id, as_of) if continued else None
        after = continued.response_id or (before.after if before else "")
        if before and chat is None and read.is_round:  # its words are at the provider
            chat = replace(before.request.chat, is_tool_round=True) if before.request.chat.words else None
            after, conversation = before.request.after, before.request.conversation_id
        elif before:
            conversation = conversation or before.request.conversation_id
        if chat is None:
            return None
        if continued and read.chat:
            chat = continuing(chat, continued, after)
        conversation = conversation or chat.conversation or conversation_id(user_id, chat.opening)
        return UserRequest(chat, user_id, conversation, self.vault.now(), read.model, as_of, continued, after)

    def _turn(self, request: UserRequest, *, is_on: bool) -> tuple[UserRequest | None, str | None]:
        """What `Prepared` says of a turn of a request that the client has on the record or not."""
        is_left_out = self._recorder.is_left_out(request)
        if not is_on or (is_left_out and request.chat.is_tool_round):
            self._recorder.leave_out(request)
            return request, _SAID_OFF_RECORD if is_on else ""
        if is_left_out:  # perhaps the person says the same again: it must not be left out for good
            return None, _SAID_OFF_RECORD
        if self.vault.config.is_off_record(request.user_id):
            return None, ""
        if self.vault.is_mounted_for_reading():
            return None, "the vault may only be read"
        return request, None

    async def _injected_before(self, body: bytes, read: ReadRequest, talk: Conversation) -> Earlier:
        """The request with all that went with its messages before."""
        if not read.has_earlier:
            return Earlier(body)
        finding = self._injected_threads.submit(self._find_injected, body, read, talk)
        try:
            return await asyncio.wrap_future(finding)
        except Busy:  # this person has another id by now: the memory says so
            return Earlier(body)
        except Exception as error:
            self._report((talk.user_id, talk.as_of), "earlier memory was not put back", _in_words(error))
            return Earlier(body)

    def _find_injected(self, body: bytes, read: ReadRequest, talk: Conversation) -> Earlier:
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

    def _keep(self, keep: Callable[[], None], user_id: str, as_of: int) -> None:
        try:
            keep()
        except Exception as error:
            self._report((user_id, as_of), "memory is not kept for later requests", _in_words(error))

    async def _memory_in_turn(
        self, body: bytes, read: ReadRequest, request: UserRequest, earlier: Earlier
    ) -> tuple[bytes, Injection, list[str]]:
        """`_with_memory` in a thread, when the user has fewer than `MEMORIES_PER_USER` of them."""
        places = self._places.setdefault(request.user_id, asyncio.Semaphore(MEMORIES_PER_USER))
        await places.acquire()
        self.vault.memories.begin()
        work = self._memory_threads.submit(self._with_memory, body, read, request, earlier)
        work.add_done_callback(lambda _: self.vault.memories.end())
        ended = asyncio.wrap_future(work)
        ended.add_done_callback(lambda _: places.release())  # a thread cannot be stopped: it keeps its place until then
        try:
            return await asyncio.shield(ended)
        finally:
            work.cancel()  # if it has not begun, nobody needs it any longer

    def _with_memory(
        self, body: bytes, read: ReadRequest, request: UserRequest, earlier: Earlier
    ) -> tuple[bytes, Injection, list[str]]:
        """The request's body with what was injected earlier and the memory in it, the memory, and what could not be
        used for it."""
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
            budget = self.vault.config.proxy_memory_tokens
            memory = build_memory(
                self.vault, request.user_id, chat.words or chat.context, said=chat.text, budget=budget
            )
            used_at = now
        self.vault.refuse_renamed(request.user_id, request.as_of)  # else it may be another person's
        with self._lock:
            self._memories[key] = (now if chat.is_tool_round else used_at, memory)
            self._memories.move_to_end(key)
            while len(self._memories) > MAX_KEPT_MEMORIES:
                self._memories.popitem(last=False)
        return memory

    def _memory_status(self, injection: Injection, degraded: Iterable[str], user_id: str, as_of: int) -> str:
        """What became of a request's memory, and the problems of earlier turns that the user has not been told."""
        tokens = prompt.tokens(injection.text)
        given = f"; passages={injection.passages}; tokens={tokens}" if injection.text else ""
        if problems := [*degraded, *self._earlier_problems(user_id, as_of)]:
            return self._degraded("; ".join(problems)) + given
        return f"injected{given}" if given else "off; no memory bears on this request"

    def _earlier_problems(self, user_id: str, as_of: int) -> list[str]:
        """Take out what waits to be told to the person who has this id as of `as_of`, under whatever id it came up."""
        with self._lock:
            theirs = []
            for key in self._problems:
                with contextlib.suppress(NotFound):  # that person has no id any longer
                    if self.vault.id_now(*key, as_of)[0] == user_id:
                        theirs.append(key)
            return [self._problems.pop(key) for key in theirs]

    def _degraded(self, why: str) -> str:
        """The reason as a header value, without folders of this machine."""
        shown = without_folders(why, self.vault.root).encode("ascii", "replace").decode()
        return "degraded; " + " ".join(shown.split())[:300]

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
        self.vault.memories.let_go_first()
        try:
            response, is_whole = read()
            unread = NOT_ALL_READ if response.text else NOT_READ
            why = NOT_KEPT if not is_whole else "" if response.is_readable or problem else unread
            turn = self._recorder.complete(request, response, problem or why, accepted)
            if request.continued.is_stored:
                self._answered.keep(request, response)
            if self._recorder.is_left_out(request):  # since this response began: its head did not say so
                why = _SAID_OFF_RECORD
            elif response.text:
                why = ""
            if why:
                self._report((request.user_id, request.as_of), "an earlier answer was not recorded", why)
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
        response is waiting."""
        while True:
            with self._lock:
                if not self._to_learn:
                    break
                whose, turns = self._to_learn.popitem(last=False)
            self._sources_to_index.setdefault(whose, set()).update(*(turn.sources for turn in turns))
            try:
                learn_waiting(self.vault, self.vault.id_now(*whose)[0], WAIT_S)
            except Exception as error:  # the turn is kept: the next one, or the daemon, learns from it
                self._report(whose, "nothing was learned from an earlier turn yet", _in_words(error))
            for turn in turns:  # with its reply, which the model is shown, too
                if turn.source and turn.is_complete and self.vault.config.llm_enabled:
                    look = partial(second_look, as_of=turn.as_of)
                    self._second_look_thread.submit(look, self.vault, turn.user_id, turn.source)
        while self._sources_to_index and not self._responses_to_record:
            whose, sources = self._sources_to_index.popitem()
            try:
                reconcile(self.vault, self.vault.id_now(*whose)[0], sources)
            except Exception as error:
                self._report(whose, "an earlier turn cannot be searched yet", _in_words(error))

    @cached_property
    def _key(self) -> bytes:
        """The secret of the hashes by which texts are known: the vault's, if it can be read or made."""
        with contextlib.suppress(VaultMemoryError):
            return self._recorder.request_key
        return secrets.token_bytes(32)

    def _finish_recording(self) -> None:
        self._read_thread.shutdown()
        self._large_read_thread.shutdown()
        self._memory_threads.shutdown()
        self._injected_threads.shutdown()
        self._response_threads.shutdown()
        self._accept_thread.shutdown()
        self._record_thread.shutdown()
        self._learn_thread.shutdown()
        self._second_look_thread.shutdown(cancel_futures=True)

    def _report(self, whose: tuple[str, int], problem: str, why: str) -> None:
        """Keep a problem for the next response to a person, by id and `Vault.renamings`."""
        with self._lock:
            self._problems[whose] = f"{problem}: {why}"


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, VaultMemoryError) else f"{type(error).__name__}: {error}"
