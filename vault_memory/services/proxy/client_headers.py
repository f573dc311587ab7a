"""What of a client's headers the provider may see: none of ours, however it is spelled, and no vault token."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from vault_memory.adapters.models import end_to_end
from vault_memory.errors import UsageError

_OUR_HEADERS = (b"x-vault-", b"x-upstream-authorization", b"x-conversation-id")
_LEFT_OUT = {
    *(b"host", b"content-length", b"authorization", b"x-api-key", b"cookie", b"accept-encoding", b"expect"),
}
_FOLDED = re.compile(rb"[^a-z0-9]")
"""Servers make one sign of these in a header's name (CGI, WSGI, PHP): behind one, `X_Vault_User` is `X-Vault-User`."""
_TOKEN = re.compile(rb"vault_[\w.-]{1,64}_[0-9a-f]{64}")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{96,}")
"""The shortest token has 72 characters."""
_PLAIN_ALPHABET = bytes.maketrans(b"-_", b"+/")
_ENCODED_PERCENTS = re.compile(rb"%(?:25)+")
_MAX_DECODINGS = 4
"""Honest texts are encoded once or twice; each round of `%25` on `%25` takes the whole text once more."""


def for_provider(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The client's headers for the provider, without ours, the connection's and any that holds a vault token."""
    kept = []
    for name, value in end_to_end(headers):
        folded = _FOLDED.sub(b"-", name.lower())
        is_ours = folded in _LEFT_OUT or folded.startswith(_OUR_HEADERS)
        if not (is_ours or _TOKEN.search(folded.replace(b"-", b"_")) or holds_token(name) or holds_token(value)):
            kept.append((name, value))
    return [*kept, (b"accept-encoding", b"identity")]  # a compressed response could not be read for the turn


def refuse_token(place: str, text: str) -> None:
    """Raise `UsageError` for a vault token in a text that would go to the provider."""
    if holds_token(text.encode("utf-8", "replace")):
        raise UsageError(f"a vault token must not stand in {place}: the provider would get it")


def holds_token(text: bytes) -> bool:
    """Whether a vault token is in the text as it is, percent-encoded, or in base64 as Basic authorization has it."""
    if any(_TOKEN.search(_decoded(run[0])) for run in _BASE64.finditer(text)):
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
