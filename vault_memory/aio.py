"""The library's functions for asyncio programs: each runs in a thread, so the event loop stays free."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from vault_memory import api
from vault_memory.api import VaultOptional
from vault_memory.services import vault
from vault_memory.services.vault import Vault

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class AsyncVaultOptional(Protocol[P, R_co]):
    """`VaultOptional` for asyncio."""

    @overload
    def __call__(self, vault: Vault, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R_co]: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R_co]: ...


@overload
def _in_thread(function: VaultOptional[P, R]) -> AsyncVaultOptional[P, R]: ...
@overload
def _in_thread(function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]: ...
def _in_thread(function: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(function, *args, **kwargs)

    return call


open_vault = _in_thread(vault.open_vault)
record_turn = _in_thread(api.record_turn)
extract_and_update = _in_thread(api.extract_and_update)
second_look = _in_thread(api.second_look)
save_conversation = _in_thread(api.save_conversation)
search = _in_thread(api.search)
build_enhanced_prompt = _in_thread(api.build_enhanced_prompt)
get_conversation_history = _in_thread(api.get_conversation_history)
backup_conversations_to_file = _in_thread(api.backup_conversations_to_file)
user_profile = _in_thread(api.user_profile)
set_preference = _in_thread(api.set_preference)
validate_and_normalize = _in_thread(api.validate_and_normalize)
