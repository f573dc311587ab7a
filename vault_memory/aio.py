"""The library's functions for asyncio programs: each runs in a thread, so the event loop stays free."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from vault_memory import api
from vault_memory.services import profiles, turns, vault

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    @functools.wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(function, *args, **kwargs)

    return call


open_vault = _in_thread(vault.open_vault)
record_turn = _in_thread(turns.record_turn)
extract_and_update = _in_thread(api.extract_and_update)
second_look = _in_thread(turns.second_look)
search = _in_thread(api.search)
build_enhanced_prompt = _in_thread(api.build_enhanced_prompt)
get_conversation_history = _in_thread(api.get_conversation_history)
user_profile = _in_thread(profiles.user_profile)
set_preference = _in_thread(profiles.set_preference)
