"""Which headers of a client go on to the provider, and whose response is read next."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from base64 import b64encode, urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx
import pytest

from tests.pace import assert_in_proportion
from vault_memory.adapters.models import Upstream, UpstreamResponse
from vault_memory.core.chat import MAX_READ_BYTES, ChatResponse, read_request
from vault_memory.core.chat.response import READ_AT_BYTES
from vault_memory.services.proxy.relayed import Prepared, RelayedResponse, for_provider, holds_token
from vault_memory.services.proxy.turn_recorder import UserRequest

TOKEN = b"vault_alice_" + b"ab" * 32


@pytest.mark.parametrize("before", [b"", b"x:", b"alice:", b"~~?", b"~~~:"])
@pytest.mark.parametrize("after", [b"", b":", b":x", b":xy"])
def test_a_token_in_base64_is_found_whatever_stands_around_it(before: bytes, after: bytes) -> None:
    for encode in (b64encode, urlsafe_b64encode):
        for padding in (b"=", b""):
            encoded = encode(before + TOKEN + after).rstrip(padding or b"\n")
            assert holds_token(b"Basic " + encoded) and holds_token(b"/v1/models/x/" + encoded)


def test_other_headers_go_on_as_they_are() -> None:
    kept = [(b"x_custom", b64encode(b"c" * 200)), (b"X-Vaulted", b"1"), (b"anthropic-beta", b"a" * 97), (b"vault", b"")]
    assert for_provider(kept) == [*((name.lower(), value) for name, value in kept), (b"accept-encoding", b"identity")]


def test_base64_is_read_once() -> None:
    def read(size: int) -> None:
        assert not holds_token(b"A" * size) and not holds_token((b"A" * 97 + b" ") * (size // 98))

    assert_in_proportion(read, 100_001)


def test_of_each_user_one_response_is_read_at_a_time() -> None:
    """However many of one user's there are, another's is next."""
    part = b"data: %b\n\n" % json.dumps({"choices": [{"delta": {"content": "x" * READ_AT_BYTES}}]}).encode()
    chat = read_request({"messages": [{"role": "user", "content": "hi"}]})
    assert chat is not None
    request = UserRequest(chat, "alice", "c", datetime(2026, 1, 30, tzinfo=UTC))
    released = threading.Event()

    class Threads(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *work):  # type: ignore[no-untyped-def]
            self.submitted += 1
            return super().submit(*work)

    async def read(threads: Threads, turn: asyncio.Lock) -> int:
        answer = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=httpx.ByteStream(part))
        response = UpstreamResponse(Upstream("http://localhost"), answer)
        relayed = RelayedResponse(Prepared(b"", "", request), response, lambda *_: None, threads, turn)
        return sum([len(part) async for part in relayed.parts()])

    async def run() -> None:
        with Threads(1) as threads:
            threads.submit(released.wait)
            alices, bobs = asyncio.Lock(), asyncio.Lock()
            reading = [asyncio.ensure_future(read(threads, turn)) for turn in (*[alices] * 5, bobs)]
            while threads.submitted < 3:
                await asyncio.sleep(0.01)
            for _ in range(200):  # time enough for the others, were it their turn
                await asyncio.sleep(0)
            assert threads.submitted == 3, "one of hers and his"
            released.set()
            assert await asyncio.gather(*reading) == [len(part)] * 6 and threads.submitted == 7

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_compressed_response_counts_as_what_it_may_hold() -> None:
    """Hundreds of small bombs waited to be read: other users' turns, and the end of the server, took minutes."""
    packed = gzip.compress(b"[" + b"{}," * 1_000_000 + b"{}]")
    chat = read_request({"messages": [{"role": "user", "content": "hi"}]})
    assert chat is not None
    request = UserRequest(chat, "alice", "c", datetime(2026, 1, 30, tzinfo=UTC))
    wanted = list[int]()

    def has_room(size: int) -> bool:
        wanted.append(size)
        return False

    async def read(threads: ThreadPoolExecutor) -> tuple[ChatResponse, bool]:
        answer = httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(packed))
        kept = list[tuple[ChatResponse, bool]]()
        relayed = RelayedResponse(
            Prepared(b"", "", request),
            UpstreamResponse(Upstream("http://localhost"), answer),
            lambda _, response, *__: kept.append(response()),
            threads,
            asyncio.Lock(),
        )
        assert b"".join([part async for part in relayed.parts(has_room)]) == packed
        relayed.record("")
        return kept[0]

    with ThreadPoolExecutor(1) as threads:
        response, is_whole = asyncio.run(read(threads))
    assert not is_whole and not response.is_complete, "there was no room"
    assert len(packed) < 10_000 and 100_000 < max(wanted) <= MAX_READ_BYTES


FOR_THE_CLIENT = """
Content-Type Content-Length Content-Encoding Retry-After Retry-After-Ms X-Should-Retry CF-Ray Request-Id X-Request-Id
apim-request-id x-ms-client-request-id x-amzn-RequestId mistral-correlation-id X-Generation-Id x-ds-trace-id
openai-processing-ms openai-version openai-organization openai-model x-ms-region x-groq-region
x-ratelimit-remaining-tokens anthropic-ratelimit-requests-limit RateLimit ratelimit-reset anthropic-organization-id
x-goog-quota-user
"""
FOR_OTHERS = """
Set-Cookie Clear-Site-Data Refresh Link Location WWW-Authenticate Strict-Transport-Security Access-Control-Allow-Origin
Timing-Allow-Origin Server-Timing Cache-Control CDN-Cache-Control Expires Age ETag Vary Pragma Alt-Svc Speculation-Rules
Origin-Trial SourceMap X-SourceMap Content-Security-Policy Content-Disposition Content-Location X-Frame-Options
Permissions-Policy NEL Report-To Supports-Loading-Mode No-Vary-Search Set-Login Sec-Session-Registration
X-Accel-Redirect X-Accel-Buffering X-Accel-Expires X-Sendfile X-LIGHTTPD-send-file X-Reproxy-URL X-LiteSpeed-Location
X-Envoy-Ratelimited Surrogate-Control Surrogate-Key X-Vault-Memory Date Server Via Upgrade Transfer-Encoding
Set_Cookie Content_Type X_Accel_Redirect Clear_Site_Data X-Request_Id openai_model ratelimit- openai- -ratelimit
X--Request-Id x-request-id-x modelx x.request-id
"""


def test_a_client_gets_the_headers_that_it_reads_and_no_other_each_once() -> None:
    """New headers for browsers and servers are made each year: a list of those that are left out was never complete."""
    names = FOR_THE_CLIENT.split()
    sent = [(name, "a") for name in (*FOR_OTHERS.split(), *names, *names)]
    sent += [("content-type", "text/html"), ("connection", "x-should-retry"), ("openai-odd", "a\x01b")]
    answer = httpx.Response(200, headers=sent, stream=httpx.ByteStream(b""))
    del answer.headers["Transfer-Encoding"]
    response = UpstreamResponse(Upstream("http://localhost"), answer)
    with ThreadPoolExecutor(1) as threads:
        relayed = RelayedResponse(Prepared(b"", "off"), response, lambda *_: None, threads, asyncio.Lock())
    expected = [name.lower().encode() for name in names if name != "X-Should-Retry"]
    ours = [(b"x-vault-memory", b"off; not recorded"), (b"x-vault-turn", b"no")]
    assert relayed.headers == [*((name, b"a") for name in expected), *ours]
    assert response.media_type == "a", "what is read for the turn is what the client reads"
