"""The chat proxy: it puts memory into a request, sends that to the provider, and records a turn from the response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.proxy.doors import Provider, keeps_nothing, provider_of, refuse_shared
    from vault_memory.services.proxy.relay import Relay
    from vault_memory.services.proxy.relayed import Prepared, RelayedResponse, has_own_key
    from vault_memory.services.proxy.request_log import Row, last_requests
    from vault_memory.services.proxy.turn_recorder import BROKE_OFF, TurnRecorder, UserRequest

__all__ = [
    "BROKE_OFF",
    "Prepared",
    "Provider",
    "Relay",
    "RelayedResponse",
    "Row",
    "TurnRecorder",
    "UserRequest",
    "has_own_key",
    "keeps_nothing",
    "last_requests",
    "provider_of",
    "refuse_shared",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "BROKE_OFF": "turn_recorder",
        "Prepared": "relayed",
        "Provider": "doors",
        "Relay": "relay",
        "RelayedResponse": "relayed",
        "Row": "request_log",
        "TurnRecorder": "turn_recorder",
        "UserRequest": "turn_recorder",
        "has_own_key": "relayed",
        "keeps_nothing": "doors",
        "last_requests": "request_log",
        "provider_of": "doors",
        "refuse_shared": "doors",
    },
)
