"""The addresses of the proxy: which provider answers there, and what may be asked with a key that several people share.

A provider keeps some things for all who have its key: responses, files, batches, threads, keys. The users of a vault
share the key in its settings. With it one of them could read and delete what another keeps there.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from vault_memory.errors import Forbidden

Provider = Literal["openai", "anthropic"]

_SPOKEN_AT: dict[str, Provider] = {
    "chat": "openai",
    "responses": "openai",
    "messages": "anthropic",
    "complete": "anthropic",
}
"""The first segment of an address that only one API has. Elsewhere the client's header tells."""
_KEEPS_NOTHING = {
    *("/chat/completions", "/completions", "/responses", "/responses/input_tokens", "/responses/compact"),
    *("/messages", "/messages/count_tokens", "/complete", "/embeddings", "/moderations", "/rerank"),
    *("/images/generations", "/images/edits", "/images/variations"),
    *("/audio/speech", "/audio/transcriptions", "/audio/translations"),
}
"""Addresses to which a POST is answered from what it holds, and which read and change nothing that is kept."""
_MODELS = "/models"
"""May be read by all who share a key; a model of one's own can be deleted there."""


def provider_of(path: str, *, is_anthropics: bool) -> Provider:
    """The provider that answers at a path below `/v1/`. `is_anthropics`: the request has the header that all requests
    of Anthropic's API have."""
    return _SPOKEN_AT.get(path.lstrip("/").partition("/")[0], "anthropic" if is_anthropics else "openai")


def keeps_nothing(method: str, path: str) -> bool:
    """Whether all who share a key may ask this: nothing that the provider keeps is read or changed by it.

    `path` is as it is sent on, with its query: what is written in another way than here is not known.
    """
    plain = path.partition("?")[0]
    if method in ("GET", "HEAD"):
        return plain == _MODELS or plain.startswith(f"{_MODELS}/")
    return method == "POST" and plain in _KEEPS_NOTHING


def refuse_shared(method: str, path: str, people: Collection[str], *, is_own_key: bool, needs_key: bool) -> None:
    """Raise `Forbidden` where one of these people could get at what another keeps at the provider.

    `is_own_key`: the request goes on with the caller's own key. `needs_key`: the settings name one for the provider;
    else it may take any, and tell no caller from another.
    """
    if len(people) <= 1 or keeps_nothing(method, path) or (is_own_key and needs_key):
        return
    if is_own_key:
        raise Forbidden(
            "this address may keep things for everybody who uses the provider, and the settings name no key for it, so "
            "it may take any: set upstream.key_env (or upstream.anthropic_key_env) to the name of a variable"
        )
    raise Forbidden(
        "this address may keep things for everybody who has the provider's key, and the users of this vault share one: "
        "send the vault's token in X-Vault-Token, and your own key for the provider in Authorization or X-Api-Key"
    )
