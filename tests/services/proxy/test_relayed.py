"""Which headers of a client go on to the provider."""

from __future__ import annotations

import time
from base64 import b64encode, urlsafe_b64encode

import pytest

from vault_memory.services.proxy.relayed import for_provider, holds_token

TOKEN = b"vault_alice_" + b"ab" * 32


@pytest.mark.parametrize("before", [b"", b"x:", b"alice:", b"~~?", b"~~~:"])
@pytest.mark.parametrize("after", [b"", b":", b":x", b":xy"])
def test_a_token_in_base64_is_found_whatever_stands_around_it(before: bytes, after: bytes) -> None:
    for encode in (b64encode, urlsafe_b64encode):
        for padding in (b"=", b""):
            assert holds_token(b"Basic " + encode(before + TOKEN + after).rstrip(padding or b"\n"))


def test_other_headers_go_on_as_they_are() -> None:
    kept = [(b"x_custom", b64encode(b"c" * 200)), (b"X-Vaulted", b"1"), (b"anthropic-beta", b"a" * 97), (b"vault", b"")]
    assert for_provider(kept) == [*((name.lower(), value) for name, value in kept), (b"accept-encoding", b"identity")]


def test_base64_is_read_once() -> None:
    began = time.process_time()
    assert not holds_token(b"A" * 4_000_001) and not holds_token((b"A" * 97 + b" ") * 40_000)
    assert time.process_time() - began < 2
