"""A provider of chat models behind HTTP, over a transport that the test scripts."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import unicodedata
import zlib
from collections.abc import AsyncIterator, Callable
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.adapters.models.upstream import Upstream, address_below, end_to_end
from vault_memory.errors import EndpointError, EndpointSlow, UsageError

ADDRESS = "http://model.test/v1"


def upstream(answer: Callable[[httpx.Request], httpx.Response], **more: str) -> Upstream:
    return Upstream(ADDRESS, environ={"KEY": "sk-1"}, transport=httpx.MockTransport(answer), **more)


async def _ask(provider: Upstream, own_key: str | None = None) -> bytes:
    sent = await provider.send("POST", "/chat/completions", [], b"{}", own_key)
    data = b"".join([part async for part in sent.parts()])
    await sent.close()
    await provider.close()
    return sent.decompressed(data, 1_000)


def ask(provider: Upstream, own_key: str | None = None) -> bytes:
    return asyncio.run(_ask(provider, own_key))


def echo(request: httpx.Request) -> httpx.Response:
    seen = {name: request.headers.get(name) for name in ("authorization", "x-api-key")}
    return httpx.Response(200, content=_raw(json.dumps(seen).encode()))


@pytest.mark.parametrize(
    ("header", "own_key", "expected"),
    [
        ("Authorization", None, b'{"authorization": "Bearer sk-1", "x-api-key": null}'),
        ("Authorization", "bearer sk-2", b'{"authorization": "Bearer sk-2", "x-api-key": null}'),
        ("Authorization", "Basic abc", b'{"authorization": "Basic abc", "x-api-key": null}'),
        ("Authorization", "", b'{"authorization": null, "x-api-key": null}'),
        ("x-api-key", "Bearer sk-2", b'{"authorization": null, "x-api-key": "sk-2"}'),
    ],
)
def test_the_key_stands_where_the_provider_wants_it(header: str, own_key: str | None, expected: bytes) -> None:
    assert ask(upstream(echo, key_env="KEY", key_header=header), own_key) == expected


def test_what_cannot_be_a_key_is_not_sent_and_not_shown() -> None:
    with pytest.raises(EndpointError, match="must be printable ASCII") as caught:
        ask(upstream(echo), "sk\r\nX-Evil: 1")
    assert "Evil" not in str(caught.value)
    with pytest.raises(EndpointError, match="GONE"):
        ask(upstream(echo, key_env="GONE"))


@pytest.mark.parametrize(
    ("error", "is_slow"),
    [(httpx.ConnectTimeout, False), (httpx.ConnectError, False), (httpx.ReadTimeout, True), (httpx.WriteTimeout, True)],
)
def test_who_is_not_there_is_not_called_slow(error: type[httpx.TransportError], is_slow: bool) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error("with http://secret@model.test in it")

    with pytest.raises(EndpointError, match="model.test") as caught:
        ask(upstream(fail))
    assert isinstance(caught.value, EndpointSlow) == is_slow and "secret" not in str(caught.value)


def test_the_first_request_to_a_provider_with_tls_keeps_nobody_waiting() -> None:
    """The certificates were read on the event loop: everybody waited for a tenth of a second."""

    async def run() -> float:
        before = time.thread_time()
        with pytest.raises(EndpointError, match="cannot be reached"):
            await Upstream("https://127.0.0.1:1/v1").send("GET", "/models", [], b"")
        return time.thread_time() - before

    before = time.thread_time()
    httpx.create_ssl_context()
    certificates_s = time.thread_time() - before
    assert asyncio.run(run()) < certificates_s / 2


def test_a_redirect_is_not_followed() -> None:
    asked = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"Location": "https://user:pw@other.test/v1?key=1"})

    with pytest.raises(EndpointError, match="other.test: set the right one in upstream.base_url") as caught:
        ask(upstream(elsewhere, key_env="KEY"))
    assert asked == ["model.test"] and "pw" not in str(caught.value) and "key=1" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "location", "told"),
    [(302, "http://[x", "redirects to another address:"), (700, "", "status 700"), (101, "", "status 101")],
)
def test_a_head_that_cannot_be_handed_on_is_an_error(status: int, location: str, told: str) -> None:
    with pytest.raises(EndpointError, match=told):
        ask(upstream(lambda _: httpx.Response(status, headers={"Location": location})))


def test_no_cookie_is_kept() -> None:
    """All users share the client: one's cookies went to all, and 100 KB of them were kept of each response."""
    sent = list[str | None]()

    def baker(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get("cookie"))
        return httpx.Response(200, headers={"Set-Cookie": "a=b; Max-Age=9999"}, content=_raw(b"{}"))

    async def twice(provider: Upstream) -> None:
        for _ in range(2):
            await (await provider.send("POST", "/chat/completions", [], b"{}")).close()

    asyncio.run(twice(upstream(baker)))
    assert sent == [None, None]


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", bytes)])
def test_an_answer_is_read_without_its_compression_as_far_as_it_came(
    encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield pack(b"hello " * 10_000)[:-4]

    packed = upstream(lambda _: httpx.Response(200, headers={"Content-Encoding": encoding}, content=half()))
    read = ask(packed)
    assert read.startswith(b"hello hello") and (encoding == "br" or len(read) == 1_000)
    broken = upstream(
        lambda _: httpx.Response(200, headers={"Content-Encoding": encoding}, content=_raw(b"no such thing"))
    )
    assert ask(broken) == b"no such thing"


async def _raw(data: bytes) -> AsyncIterator[bytes]:
    yield data


def test_headers_of_one_connection_stay_there() -> None:
    given = [(b"Connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"TE", b"trailers"), (b"X-Kept", b"1")]
    spelled = [(b"Transfer_Encoding", b"chunked"), (b"X_Hop", b"1"), (b"x_kept", b"2")]
    assert end_to_end([*given, *spelled]) == [(b"x-kept", b"1"), (b"x_kept", b"2")]


@pytest.mark.parametrize(
    "path",
    [
        "/models", "/models/", "/models/gpt-4o", "/models/ft:gpt-4o:acme::x1", "/models/org/model-1.5", "/models/a%20b",
        "/models/a+b,c:1~x", "/models?name=%E6%A8%A1%E2%88%95",
        "/responses/resp_1/input_items?limit=2&after=a%2Fb&include[]=x", "/models?key=a@b/../c?d",
        "/models/.hidden/..x", "/models/vendor%2Fm", "/a;b=c,d",
    ],
)  # fmt: skip
@pytest.mark.parametrize("base", ["http://model.test", "https://model.test:8443/v1", "http://[::1]:1/a/v1/"])
def test_a_path_stands_below_the_providers_address_as_it_was_sent(base: str, path: str) -> None:
    assert str(address_below(base, path)) == base.rstrip("/") + path


BASES = ("http://model.test", "https://model.test:8443/v1", "http://[::1]:1/a/v1/", "http://10.0.0.1/")
PIECES = [
    *(
        "/",
        "//",
        "@",
        "%40",
        "%2f",
        "%2F",
        "%252f",
        "..",
        ".",
        "%2e",
        "%2E%2e",
        "\\",
        "%5c",
        ":",
        ":80",
        "#",
        "%23",
        "?",
    ),
    *(
        "127.0.0.1",
        "evil.test",
        "[::1]",
        "models",
        "\r\n",
        "\t",
        " ",
        "\x00",
        "%00",
        "%0d%0a",
        "http:",
        "http://",
        "％",
    ),
    *(";", "..;", ".;x", "%EF%BC%8E", "%EF%BC%8E%EF%BC%8E", "%E2%80%A5", "%EF%BC%A0", "%E2%84%80", "%EF%B9%A8"),
    *("／", "．", "%ef%bc%8f", "\u202e", "%c0%af", "%", "%2", "&", "=", ";", "a"),
]


@pytest.mark.parametrize(
    "query",
    ["_method=DELETE", "a=1;_method=x", "_method%5b%5d=x", "+_METHOD=x", "%00_method", "a&X-HTTP-Method-Override=x"],
)
def test_no_parameter_stands_for_another_method(query: str) -> None:
    with pytest.raises(UsageError, match="another method"):
        address_below(BASES[0], f"/embeddings?{query}")
    assert address_below(BASES[0], "/models?after=method&limit=2").query == b"after=method&limit=2"


@given(
    st.sampled_from(BASES),
    st.one_of(st.text(), st.lists(st.sampled_from([*PIECES, "/models/"])).map("".join)),
    st.sampled_from(["", "/"]),
)
def test_no_path_leaves_the_provider(base: str, path: str, first: str) -> None:
    """Whatever a client sends, it is refused, or stays below the provider's address however often it is decoded."""
    try:
        address = address_below(base, first + path)
    except UsageError:
        return
    told, wanted = urlsplit(str(address)), urlsplit(base)
    assert (told.scheme, told.netloc) == (wanted.scheme, wanted.netloc)
    sent = urlsplit(str(address)).path
    for _ in range(4):
        assert sent.startswith(wanted.path.rstrip("/") + "/") and not {"", ".", ".."} & {*sent.strip("/").split("/")}
        assert "//" not in sent and "\\" not in sent and "@" not in sent and sent.isprintable()
        assert not {".", ".."} & {each.partition(";")[0].strip() for each in sent.split("/")}
        sent = unicodedata.normalize("NFKC", unquote(sent))


@pytest.mark.parametrize(
    "piece",
    [
        "..;",
        "..;a=b",
        ".;",
        "．．",
        "．.;",
        "‥",
        "․․",
        "﹒",
        "a／b",
        "a＼b",
        "a﹨b",
        "℀",
        "＠",
        "？",
        "＃",
        "％2e",
        "．．／x",
        *("∕", "⁄", "。", "．", "a∕b", "模", "é", "\u200b", "ｍ"),
    ],
)
@pytest.mark.parametrize("place", ["/models/{}", "/models/{}/x", "/{}/models", "/models%2f{}%2fx"])
def test_a_path_that_is_read_otherwise_in_its_plain_form_is_refused(place: str, piece: str) -> None:
    with pytest.raises(UsageError, match="must be ASCII"):
        address_below("https://model.test/v1", place.format(quote(piece, safe=".;=")))
