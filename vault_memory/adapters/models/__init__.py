"""Language models behind HTTP: one question to an endpoint and its answer, within limits; a chat model that completes
one request; and the providers behind the chat proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.models.chat import ChatModel
    from vault_memory.adapters.models.question import OutOfTime, Unanswered, ask
    from vault_memory.adapters.models.upstream import Upstream, UpstreamResponse, end_to_end

__all__ = [
    "ChatModel",
    "OutOfTime",
    "Unanswered",
    "Upstream",
    "UpstreamResponse",
    "ask",
    "end_to_end",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ChatModel": "chat",
        "OutOfTime": "question",
        "Unanswered": "question",
        "Upstream": "upstream",
        "UpstreamResponse": "upstream",
        "ask": "question",
        "end_to_end": "upstream",
    },
)
