"""What the relay passes on: of a client's headers none of ours and no vault token, the prepared body, and the
provider's response, of which little more than the text is kept for the turn."""

from __future__ import annotations

import asyncio
import re
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, unquote_to_bytes

from vault_memory.adapters.models import UpstreamResponse, end_to_end
from vault_memory.core.chat import ID_BYTES, MAX_READ_BYTES, ChatResponse, ResponseReader, find_response_id
from vault_memory.errors import UsageError
from vault_memory.services.proxy.turn_recorder import UserRequest
from vault_memory.services.turns import Recorded

UNPACKED_PER_BYTE = 64
"""A compressed response counts as what it may hold: a bomb of 32 KB takes a third of a second when it is read, and
thousands of them would wait for that."""
NOT_KEPT = "the answer is too large to be kept whole"
NOT_READ = "the response is not in the format that its headers name, or in an encoding that is not read here"
NOT_ALL_READ = "a part of the answer could not be read"
KEY_HEADERS = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key")
"""In which clients send a key: with one of their own the configured one does not go on."""
_OUR_HEADERS = (b"x-vault-", b"x-upstream-authorization", b"x-conversation-id")
_REQUEST_HEADERS_LEFT_OUT = {
    *KEY_HEADERS,
    *(b"host", b"content-length", b"cookie", b"accept-encoding", b"expect"),
}
_OTHER_REQUEST = re.compile(
    rb"(?:.*-)?(?:method|verb)(?:-.*)?|.*override.*"
    rb"|(?:.*-)?(?:original|rewrite|forwarded|real|request|waf)-(?:ur[il]|path|prefix|query)"
)
"""A server that obeys such a header does another thing than was asked for and checked here."""
_FOLDED = re.compile(rb"[^a-z0-9]")
"""Servers make one sign of these in a header's name (CGI, WSGI, PHP): behind one, `X_Vault_User` is `X-Vault-User`."""
_TOKEN = re.compile(rb"vault_[\w.-]{1,64}_[0-9a-f]{64}", re.IGNORECASE)
_BASE64 = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{96,}")
"""The shortest token has 72 characters. The first part keeps a shorter run from being read again at each character."""
_PLAIN_ALPHABET = bytes.maketrans(b"-_", b"+/")
_ENCODED_PERCENTS = re.compile(rb"%(?:25)+")
_MAX_DECODINGS = 4
"""Honest texts are encoded once or twice; each round of `%25` on `%25` takes the whole text once more."""
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_HANDED_ON = re.compile(
    rb"content-(?:type|length|encoding)|retry-after(?:-ms)?|x-should-retry|cf-ray"
    rb"|(?:[a-z0-9]+-)*(?:request-?id|trace-id|correlation-id|generation-id|processing-ms|model|region)"
    rb"|(?:[a-z0-9]+-)*ratelimit(?:-[a-z0-9]+)*"
    rb"|(?:openai|anthropic|x-goog)(?:-[a-z0-9]+)+"
)
"""The headers of a response that a client gets: how to read the body, when to try again, and what SDKs and people look
up afterwards (the request's id, limits, model). Every other one speaks to a browser about the address that it asked,
which is ours, or to a server in front of us (`X-Accel-Redirect`); new ones are made each year, so none is handed on.
The server dates responses itself."""


def for_provider(headers: Iterable[tuple[bytes, bytes]], *, with_keys: bool = False) -> list[tuple[bytes, bytes]]:
    """The client's headers for the provider, without ours, the connection's and any that holds a vault token.

    `with_keys`: those with the caller's own key stay, as they are.
    """
    kept = []
    for name, value in end_to_end(headers):
        folded = _FOLDED.sub(b"-", name.lower())
        is_ours = folded in _REQUEST_HEADERS_LEFT_OUT or folded.startswith(_OUR_HEADERS)
        is_ours = is_ours and not (with_keys and name in KEY_HEADERS)
        is_other = _OTHER_REQUEST.fullmatch(folded.strip(b"-")) is not None
        if not (
            is_ours or is_other or _TOKEN.search(folded.replace(b"-", b"_")) or holds_token(name) or holds_token(value)
        ):
            kept.append((name, value))
    return [*kept, (b"accept-encoding", b"identity")]  # a compressed response could not be read for the turn


def by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The texts of headers by name, in lower case and with hyphens; the first of several. Clients write them in UTF-8,
    or in Latin-1."""
    named: dict[str, str] = {}
    for name, value in headers:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = value.decode("latin-1")
        named.setdefault(_FOLDED.sub(b"-", name.lower()).decode(), text)
    return named


def has_own_key(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether the caller's own key stands where clients put it, and the vault's token in X-Vault-Token."""
    given = [(name.lower(), value.strip()) for name, value in headers]
    if not any(name == b"x-vault-token" and value for name, value in given):
        return False
    return any(name in KEY_HEADERS and value and not holds_token(value) for name, value in given)


def refuse_token(place: str, text: str) -> None:
    """Raise `UsageError` for a vault token in a text that would go to the provider."""
    if holds_token(text.encode("utf-8", "replace")):
        raise UsageError(f"a vault token must not stand in {place}: the provider would get it")


def holds_token(text: bytes) -> bool:
    """Whether a vault token is in the text as it is, percent-encoded, or in base64 as Basic authorization has it."""
    runs = [run[0] for run in _BASE64.finditer(text)]
    if any(_TOKEN.search(_decoded(run[before:])) for run in runs for before in range(4)):  # what stands before it
        return True
    for _ in range(_MAX_DECODINGS):
        decoded = unquote_to_bytes(_ENCODED_PERCENTS.sub(b"%", text))
        if decoded == text:
            return _TOKEN.search(text) is not None
        text = decoded
    return True  # it cannot be decoded


def _decoded(run: bytes) -> bytes:
    """The bytes of a run of base64 without its padding; a single character at the end stands for nothing."""
    whole = run[:-1] if len(run) % 4 == 1 else run
    return b64decode(whole.translate(_PLAIN_ALPHABET) + b"==")


@dataclass
class Prepared:
    """A request ready to be sent on. `memory` reports what became of its memory, as a header value: ASCII, one line.

    A turn is made from `user_request`; None: no turn. `not_recorded` says why no turn is made of that either, "" if the
    client knows why. `accepted` is the turn, once its words are in the record. `asked` is the request whether a turn is
    made of it or not: a later one may go on from the response. Its words are left out if they are off the record.
    `keep` keeps what went with the words. `conversation` is that of the request, empty if it holds no words of a
    person. `owner` is whose the response will be, as a user's id as of when they have it, where it is kept for all who
    have the provider's key.
    """

    body: bytes
    memory: str
    user_request: UserRequest | None = None
    not_recorded: str | None = None
    accepted: Recorded | None = None
    asked: UserRequest | None = None
    keep: Callable[[], Future[None]] | None = None
    conversation: str = ""
    owner: tuple[str, int] | None = None

    @property
    def is_turn(self) -> bool:
        """Whether a turn may be made of it."""
        return self.user_request is not None and self.not_recorded is None

    def take_body(self) -> bytes:
        """The body, which is not kept here any longer: a response may take an hour, and bodies are large."""
        body, self.body = self.body, b""
        return body


Result = TypeVar("Result")
Record = Callable[[Prepared, Callable[[], tuple[ChatResponse, bool]], str, Callable[[], None]], None]
"""`Relay.record`."""


class RelayedResponse:
    """A provider's response on its way to the client. Read `parts` once, then `record` the turn, then `close`.

    What is kept for the turn is read in `threads`, one response of a user after the other: all of them have one `turn`.
    A client that has the response may name it in a request: before it has all of its id `begun` is called with that,
    and before it has all of a body in one piece `answered` is.
    """

    def __init__(
        self,
        prepared: Prepared,
        response: UpstreamResponse,
        record: Record,
        threads: ThreadPoolExecutor,
        turn: asyncio.Lock,
        answered: Callable[[ChatResponse], None] | None = None,
        begun: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._record, self._threads, self._turn = record, threads, turn
        self._prepared = prepared
        self._response = response
        self._packed: bytearray | None = bytearray() if response.is_compressed else None
        self._begun = begun
        self._beginning: bytearray | None = bytearray() if 200 <= response.status < 300 else None
        self._reader = ResponseReader(response.media_type)
        is_answered = 200 <= response.status < 300 and not (response.is_compressed or self._reader.is_stream)
        self._answered = answered if is_answered else None
        self._reading: Future[Any] | None = None
        self.status = response.status
        self.headers = [header for header in response.headers.items() if _HANDED_ON.fullmatch(header[0])]
        self.headers.append((b"x-vault-memory", self._memory_status().encode("latin-1")))
        self.headers.append((b"x-vault-turn", self.turn.encode("latin-1")))
        if prepared.conversation:  # the client may have named it as it likes
            self.headers.append((b"x-vault-conversation", quote(prepared.conversation, safe=_PRINTABLE).encode()))

    @property
    def turn(self) -> str:
        """Whether the exchange leaves a turn, as far as its head tells."""
        if self._prepared.is_turn and self._is_success:
            return "yes" if self._prepared.accepted else "yes; it waits until another program lets go of the record"
        return f"no; {why}" if (why := self._prepared.not_recorded) else "no"

    def _memory_status(self) -> str:
        """What became of the memory, and whether the exchange leaves no turn."""
        if self._prepared.is_turn and self._is_success:
            return self._prepared.memory
        why = self._prepared.not_recorded
        return f"{self._prepared.memory}; not recorded" + (f", as {why}" if why else "")

    @property
    def _is_success(self) -> bool:
        return 200 <= self.status < 300

    async def parts(self, has_room: Callable[[int], bool] = lambda _: True) -> AsyncIterator[bytes]:
        """The body's bytes as they come. Raises `EndpointError` when it breaks off, `EndpointSlow` when it stalls.

        What is needed for the turn is kept, as long as `has_room` for so many bytes.
        """
        is_turn, held = self._prepared.is_turn and self._is_success, b""
        async for part in self._response.parts():
            self._look_for_id(part)
            if (is_turn or self._answered) and not self._reader.is_cut:
                await self._keep(part, has_room)
            if not self._answered:
                yield part
            else:  # the last part of a body goes on when the body has been read
                if held:
                    yield held
                held = part
        if held and self._answered:
            self._answered(await self._in_turn(self._reader.response))
            yield held

    def _look_for_id(self, part: bytes) -> None:
        """Find the response's id in how its body begins, if it is there."""
        if self._beginning is None:
            return
        self._beginning += part[: ID_BYTES - len(self._beginning)]
        beginning = self._response.decompressed(bytes(self._beginning), ID_BYTES)
        response_id = find_response_id(beginning, is_stream=self._reader.is_stream)
        if response_id:
            self._begun(response_id)
        if response_id or len(self._beginning) >= ID_BYTES:
            self._beginning = None

    async def _in_turn(self, read: Callable[[], Result]) -> Result:
        """Read in a thread what has come."""
        async with self._turn:
            reading = self._threads.submit(read)
            self._reading = reading
            return await asyncio.wrap_future(reading)

    async def _keep(self, part: bytes, has_room: Callable[[int], bool]) -> None:
        if self._packed is not None:  # it is read when it is over, far from the other requests
            self._packed += part
            unpacked_bytes = min(MAX_READ_BYTES, UNPACKED_PER_BYTE * len(self._packed))
            if len(self._packed) > MAX_READ_BYTES or not has_room(max(len(self._packed), unpacked_bytes)):
                self._packed.clear()
                self._reader.cut()
            return
        self._reader.add(part)
        if self._reader.is_due:
            await self._in_turn(self._reader.read_on)
        if not has_room(self._reader.kept_bytes):
            self._reader.cut()

    def record(self, problem: str, recorded: Callable[[], None] = lambda: None) -> None:
        """Have the turn recorded from the parts that came; `problem` says why they are not all, "" if they are.

        `recorded` is called, perhaps in another thread, when nothing of the response is kept any longer.
        """
        if self._is_success:
            self._record(self._prepared, self._read, problem, recorded)
        else:
            recorded()

    def _read(self) -> tuple[ChatResponse, bool]:
        """The response, and whether all of it was kept."""
        if self._reading is not None:
            wait([self._reading])
        if self._packed:
            data = self._response.decompressed(bytes(self._packed), MAX_READ_BYTES + 1)
            self._reader.add(data)
            if len(data) > MAX_READ_BYTES:
                self._reader.read_on()
                self._reader.cut()
        return self._reader.response(), not self._reader.is_cut

    async def close(self) -> None:
        """Release the connection to the provider."""
        await self._response.close()
