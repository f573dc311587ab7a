"""Send chat requests on to a provider: memory goes into the request, the turn is recorded after the response.

Memory never blocks a chat: if it fails or takes too long, the request goes on unchanged, and the client is told why. A
turn that could not be recorded is reported with the same user's next response. Blocking work runs in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from vault_memory.adapters.models import Upstream
from vault_memory.core.chat import ChatRequest, ChatResponse, Continued, conversation_id, is_continued_by_query, prompt
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.admin import people
from vault_memory.services.profiles import goes_by
from vault_memory.services.proxy.continued import AnsweredRequests, Owners, continuing
from vault_memory.services.proxy.doors import Provider
from vault_memory.services.proxy.giving import MemoryGiver
from vault_memory.services.proxy.injections import Conversation, Injection
from vault_memory.services.proxy.problems import Problems
from vault_memory.services.proxy.reading import ReadRequest, read_body
from vault_memory.services.proxy.recording import ACCEPT_WAIT_S, SAID_OFF_RECORD, Recording
from vault_memory.services.proxy.relayed import (
    Prepared,
    RelayedResponse,
    for_provider,
    has_own_key,
    refuse_token,
)
from vault_memory.services.proxy.request_log import RequestLog
from vault_memory.services.proxy.turn_recorder import UserRequest
from vault_memory.services.turns import SecondLooks
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    import httpx

LARGE_BYTES = 1_000_000
"""Larger requests are read in a thread of their own."""
LARGE_HEAD_BYTES = 4 << 10
"""Headers of more are searched for vault tokens in that thread, too: 30 KB of them take some ms."""
HANDING_ON_S = 0.02
"""After its words are recorded a response is handed on, head and first part: so long that chat still goes first."""
RESPONSE_THREADS = 1
"""How many responses are read at the same time while they come; more would only compete for the interpreter."""


class Relay:
    """The proxy of one vault, without its HTTP server. `transport` replaces the network; `clock` counts seconds;
    `second_looks` are those of the server (None: its own), which `close` ends, too.

    `prepare` a request, `send` it, then `record` the response; `close` at the end.
    """

    def __init__(
        self,
        vault: Vault,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        second_looks: SecondLooks | None = None,
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
        self._problems = Problems(vault)
        self._answered = AnsweredRequests(vault)
        self._owners = Owners(vault)
        self._recording = Recording(vault, self._problems, self._answered, second_looks or SecondLooks(vault), clock)
        self.record = self._recording.record
        self._giver = MemoryGiver(vault, self._problems, lambda: self._key, clock)
        self._read_thread = ThreadPoolExecutor(1, "read")
        self._large_read_thread = ThreadPoolExecutor(1, "read-large")  # so that others do not wait for it
        self._response_threads = ThreadPoolExecutor(RESPONSE_THREADS, "response")
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read(self, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()) -> ReadRequest:
        """Read a request, one after the other: what is parsed takes many times the size of the body."""
        thread = self._read_thread if len(body) <= LARGE_BYTES else self._large_read_thread
        return await asyncio.wrap_future(thread.submit(read_body, body, list(headers), self._key, self.vault.config))

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
        as_of = self.vault.renamings() if as_of is None else as_of
        if read.problem:  # perhaps its response is kept at the provider, and is this user's
            unread = self._without_words(replace(read, continued=Continued(is_stored=True)), user_id, as_of)
            return Prepared(body, self._problems.degraded(read.problem), asked=unread)
        talk = Conversation(user_id, as_of, conversation or read.name)
        earlier = await self._giver.put_back(body, read, talk)
        user_request = self._user_request(read, user_id, conversation, as_of)
        wordless = self._without_words(read, user_id, as_of)
        if user_request is None:
            return Prepared(earlier.body, "off; the request holds no words of a person", asked=wordless)
        prepare = partial(Prepared, conversation=user_request.conversation_id)
        without_text = replace(user_request, chat=replace(user_request.chat, text=""))  # only the memory needs it
        turn = self._turn(without_text, is_on=record)
        asked = without_text
        if turn[0] is None or turn[1] is not None:  # what is not recorded is not kept here, either
            asked = replace(asked, chat=replace(asked.chat, words=""))
        if user_request.chat.is_housekeeping:
            return prepare(earlier.body, "off; the client made this request on its own", asked=wordless)
        prepare = partial(prepare, user_request=turn[0], not_recorded=turn[1], asked=asked)
        if read.chat is None:
            return prepare(earlier.body, "off; the provider has it with the words")
        if earlier.last is not None:
            return prepare(earlier.body, self._memory_status(earlier.last, (), user_id, as_of))
        limit_s = self.vault.config.proxy_memory_timeout_ms / 1000
        changed, injection = earlier.body, Injection()
        try:
            changed, injection, degraded = await asyncio.wait_for(
                self._giver.give(body, read, user_request, earlier), max(0.0, limit_s - waited_s)
            )
            status = self._memory_status(injection, degraded, user_id, as_of)
        except TimeoutError:
            status = self._problems.degraded(f"memory took longer than {limit_s:g} s")
        except Exception as error:  # whatever fails in the memory, the chat goes on, and the client is told
            status = self._problems.degraded(f"{type(error).__name__}: {error}")
        prepared = prepare(changed, status)
        if (message := read.said.get(read.chat.message_index)) is not None:
            own_tokens = len(read.short.short) // 4
            on_disk = prepared.is_turn
            prepared.keep = partial(self._giver.keep, talk, message, injection, own_tokens, on_disk=on_disk)
        return prepared

    def refuse_anothers(self, read: ReadRequest, query: str, user_id: str, as_of: int) -> None:
        """Raise `NotFound` for a request that goes on from what is not known to be this user's, and `UsageError` where
        that cannot be read, or stands in the `query` of the address. Where there is one user, all is theirs."""
        in_query = is_continued_by_query(query)
        if not (read.continued or read.may_continue or in_query) or len(people(self.vault)) <= 1:
            return
        if in_query:
            raise UsageError(
                "what a request goes on from may be another user's, and is read in its body only: take it out of the "
                "address"
            )
        if read.may_continue:
            raise UsageError(
                "what this request goes on from cannot be read, and may be another user's: send less at once, and no "
                "`messages`"
            )
        self._owners.refuse_others((user_id, as_of), read.continued)

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
        keeping = prepared.keep() if prepared.keep else None  # while the provider thinks
        response = await self._upstreams[provider].send(method, path, kept, prepared.take_body(), own_key, sent)
        self.vault.chats.begin()
        try:
            request = prepared.user_request
            if request is not None and prepared.is_turn and 200 <= response.status < 300:
                await self._recording.accept(prepared, request)
            if keeping is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(keeping)), ACCEPT_WAIT_S)
        finally:
            asyncio.get_running_loop().call_later(HANDING_ON_S, self.vault.chats.end)
        asked = prepared.asked
        turn = self._reading.setdefault(asked.user_id if asked else "", asyncio.Lock())
        answered = partial(self._answered.keep, asked) if asked and asked.continued.is_stored else None

        def begun(response_id: str) -> None:
            if prepared.owner:
                conversation = asked.continued.conversation_id if asked else ""
                self._owners.note(prepared.owner, Continued(response_id, conversation))
            if answered:
                answered(ChatResponse(response_id=response_id))

        return RelayedResponse(prepared, response, self.record, self._response_threads, turn, answered, begun)

    async def close(self) -> None:
        """Record the turns that are left, then close all connections."""
        for thread in (self._read_thread, self._large_read_thread):
            await asyncio.to_thread(thread.shutdown)
        await asyncio.to_thread(self._giver.close)
        await asyncio.to_thread(self._response_threads.shutdown)
        await asyncio.to_thread(self._recording.close)
        await asyncio.to_thread(self.log.close)
        for upstream in self._upstreams.values():
            await upstream.close()

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
        if chat.speaker and not goes_by(self.vault, user_id, chat.speaker):
            chat = chat.heard_only()
        if continued and read.chat:
            chat = continuing(chat, continued, after)
        conversation = conversation or chat.conversation or conversation_id(user_id, chat.opening)
        return UserRequest(chat, user_id, conversation, self.vault.now(), read.model, as_of, continued, after)

    def _without_words(self, read: ReadRequest, user_id: str, as_of: int) -> UserRequest:
        """A request in which no person speaks: its response is the user's all the same, and nobody else's."""
        nobody = ChatRequest(0, "", "", "", "", is_housekeeping=True)
        return UserRequest(nobody, user_id, "", self.vault.now(), read.model, as_of, read.continued)

    def _turn(self, request: UserRequest, *, is_on: bool) -> tuple[UserRequest | None, str | None]:
        """What `Prepared` says of a turn of a request that the client has on the record or not."""
        is_left_out = self._recording.recorder.is_left_out(request)
        if not is_on or (is_left_out and request.chat.is_tool_round):
            self._recording.recorder.leave_out(request)
            return request, SAID_OFF_RECORD if is_on else ""
        if is_left_out:  # perhaps the person says the same again: it must not be left out for good
            return None, SAID_OFF_RECORD
        if self.vault.config.is_off_record(request.user_id):
            return None, ""
        if self.vault.is_mounted_for_reading():
            return None, "the vault may only be read"
        return request, None

    def _memory_status(self, injection: Injection, degraded: Iterable[str], user_id: str, as_of: int) -> str:
        """What became of a request's memory, and the problems of earlier turns that the user has not been told."""
        tokens = prompt.tokens(injection.text)
        given = f"; passages={injection.passages}; tokens={tokens}" if injection.text else ""
        if problems := [*degraded, *self._problems.take(user_id, as_of)]:
            return self._problems.degraded("; ".join(problems)) + given
        return f"injected{given}" if given else "off; no memory bears on this request"

    @cached_property
    def _key(self) -> bytes:
        """The secret of the hashes by which texts are known: the vault's, if it can be read or made."""
        with contextlib.suppress(VaultMemoryError):
            return self._recording.recorder.request_key
        return secrets.token_bytes(32)
