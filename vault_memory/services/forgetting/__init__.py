"""Forgetting what a person names, by a text, a key, a turn or a day, in every place that a prompt or a search would
reach: shown first, done with a code, and brought back from git where it was in git. Also what a turn asks to be
forgotten of the memories of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.forgetting.asked import asked_for
    from vault_memory.services.forgetting.find import Place
    from vault_memory.services.forgetting.forget import (
        Forgetting,
        finish_forgetting,
        forget,
        is_forgetting,
        prepare_forgetting,
    )
    from vault_memory.services.forgetting.receipt import Forgotten
    from vault_memory.services.forgetting.said import forget_said, is_forgotten_by, still_said

__all__ = [
    "Forgetting",
    "Forgotten",
    "Place",
    "asked_for",
    "finish_forgetting",
    "forget",
    "forget_said",
    "is_forgetting",
    "is_forgotten_by",
    "prepare_forgetting",
    "still_said",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Forgetting": "forget",
        "Forgotten": "receipt",
        "Place": "find",
        "asked_for": "asked",
        "finish_forgetting": "forget",
        "forget": "forget",
        "forget_said": "said",
        "is_forgetting": "forget",
        "is_forgotten_by": "said",
        "prepare_forgetting": "forget",
        "still_said": "said",
    },
)
