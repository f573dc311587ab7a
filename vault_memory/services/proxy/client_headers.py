"""What of a client's headers the provider may see: none of ours, however it is spelled, and no vault token."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable

from vault_memory.errors import UsageError
from vault_memory.services.proxy.relay import _OUR_HEADERS, _REQUEST_HEADERS_LEFT_OUT, _TOKEN, _holds_token

_FOLDED = re.compile(rb"[^a-z0-9]")
"""Servers make one sign of these in a header's name (CGI, WSGI, PHP): behind one, `X_Vault_User` is `X-Vault-User`."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{96,}")
"""The shortest token has 72 characters."""


def for_provider(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The client's headers without those whose name a server may read as one of ours, and any that holds a token."""
    kept = []
    for name, value in headers:
        folded = _FOLDED.sub(b"-", name.lower())
        is_ours = folded in _REQUEST_HEADERS_LEFT_OUT or folded.startswith(_OUR_HEADERS)
        if not (is_ours or _TOKEN.search(folded.replace(b"-", b"_")) or holds_token(name) or holds_token(value)):
            kept.append((name, value))
    return kept


def refuse_token(place: str, text: str) -> None:
    """Raise `UsageError` for a vault token in a text that would go to the provider."""
    if holds_token(text.encode("utf-8", "replace")):
        raise UsageError(f"a vault token must not stand in {place}: the provider would get it")


def holds_token(text: bytes) -> bool:
    """Whether a vault token is in the text as it is, percent-encoded, or in base64 as Basic authorization has it."""
    return _holds_token(text) or any(_TOKEN.search(_decoded(found[0])) for found in _BASE64.finditer(text))


def _decoded(run: bytes) -> bytes:
    """The bytes of a run of base64 without its padding; a single character at the end stands for nothing."""
    whole = run[:-1] if len(run) % 4 == 1 else run
    return b64decode(whole.translate(_PLAIN_ALPHABET) + b"==")


_PLAIN_ALPHABET = bytes.maketrans(b"-_", b"+/")
