"""The library's verbs for asyncio programs: each runs in a thread, so that the loop goes on."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from vault_memory import api as library
from vault_memory.services import vault
from vault_memory.services.profiles import preferences
from vault_memory.services.profiles.user_profile import user_profile as profile_of
from vault_memory.services.turns.second_look import second_look as look_again

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(verb: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    @functools.wraps(verb)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(verb, *args, **kwargs)

    return call


open_vault = _in_thread(vault.open_vault)
record_turn = _in_thread(library.record_turn)
extract_and_update = _in_thread(library.extract_and_update)
second_look = _in_thread(look_again)
search = _in_thread(library.search)
build_enhanced_prompt = _in_thread(library.build_enhanced_prompt)
get_conversation_history = _in_thread(library.get_conversation_history)
user_profile = _in_thread(profile_of)
set_preference = _in_thread(preferences.set_preference)
