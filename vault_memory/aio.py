"""The library's functions for asyncio programs: each runs in a thread, so the event loop stays free."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, overload
from uuid import UUID

from vault_memory import api
from vault_memory.api import VaultOptional
from vault_memory.core.memories import DEFAULT_IMPORTANCE
from vault_memory.services.distilling import Consolidated, Extraction
from vault_memory.services.memories import IMPORTANT, MemoryId
from vault_memory.services.retrieval import Recollection
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


open_vault = _in_thread(api.open_vault)
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
store_memory = _in_thread(api.store_memory)
remember = _in_thread(api.remember)
recall = _in_thread(api.recall)
recall_memory = _in_thread(api.recall_memory)
list_memories = _in_thread(api.list_memories)
memory_stats = _in_thread(api.memory_stats)
prepare_deletion = _in_thread(api.prepare_deletion)
delete_memories = _in_thread(api.delete_memories)
prepare_forgetting = _in_thread(api.prepare_forgetting)
forget = _in_thread(api.forget)
prepare_erasing = _in_thread(api.prepare_erasing)
erase = _in_thread(api.erase)
create_entity = _in_thread(api.create_entity)
create_relation = _in_thread(api.create_relation)
add_observation = _in_thread(api.add_observation)
search_entities = _in_thread(api.search_entities)
list_entities = _in_thread(api.list_entities)
get_entity = _in_thread(api.get_entity)
graph_neighbours = _in_thread(api.graph_neighbours)
graph_path = _in_thread(api.graph_path)
export_graph = _in_thread(api.export_graph)
learning_profile = _in_thread(api.learning_profile)
memory_summary = _in_thread(api.memory_summary)
session_context = _in_thread(api.session_context)
update_session = _in_thread(api.update_session)
update_user = _in_thread(api.update_user)
record_mistake = _in_thread(api.record_mistake)
list_mistakes = _in_thread(api.list_mistakes)
get_mistake_patterns = _in_thread(api.get_mistake_patterns)
buddy_add_memory = _in_thread(api.buddy_add_memory)
buddy_ask_ai = _in_thread(api.buddy_ask_ai)
buddy_config = _in_thread(api.buddy_config)
buddy_create_entity = _in_thread(api.buddy_create_entity)
buddy_create_relation = _in_thread(api.buddy_create_relation)
buddy_delete_memory = _in_thread(api.buddy_delete_memory)
buddy_do = _in_thread(api.buddy_do)
buddy_get_mistake_patterns = _in_thread(api.buddy_get_mistake_patterns)
buddy_record_mistake = _in_thread(api.buddy_record_mistake)
buddy_remember = _in_thread(api.buddy_remember)
buddy_remember_recent = _in_thread(api.buddy_remember_recent)
buddy_remember_stats = _in_thread(api.buddy_remember_stats)
buddy_search_entities = _in_thread(api.buddy_search_entities)
ask_ai = _in_thread(api.ask_ai)
extract_from_conversation = _in_thread(api.extract_from_conversation)
end_conversation = _in_thread(api.end_conversation)
context_summary = _in_thread(api.context_summary)
consolidate_to_profile = _in_thread(api.consolidate_to_profile)
store_conversation = _in_thread(api.store_conversation)
persist_long_term = _in_thread(api.persist_long_term)
store_short_term = _in_thread(api.store_short_term)
load_recent_context = _in_thread(api.load_recent_context)
tokenize_text = _in_thread(api.tokenize_text)
pack_token_record = _in_thread(api.pack_token_record)
validate_and_normalize = _in_thread(api.validate_and_normalize)
read_note = _in_thread(api.read_note)
related = _in_thread(api.related)


class SemanticMemory:
    """The design's memory service; `memory_dir` is the vault, or the `memory` folder in it (None: the one that is
    found). A user is named by id, by an outside name, or by a UUID that is the id."""

    def __init__(self, memory_dir: str | Path | None = None) -> None:
        self.vault = api.vault_of(memory_dir)

    async def store_memory(
        self,
        user_id: UUID | str,
        content: str,
        memory_type: str = "insight",
        skill_id: str | None = None,
        importance: float = DEFAULT_IMPORTANCE,
        ttl_days: float | None = 7,
        metadata: Mapping[str, Any] | None = None,
        force_save: bool = False,
    ) -> MemoryId:
        """Store a memory and return its id; similar ones are told (`.stored.similar`), unless `force_save` says
        so. `vault_memory.store_memory` says more."""
        given = (content, memory_type, skill_id, importance, ttl_days, metadata)
        memory_id: MemoryId = await store_memory(self.vault, api.user_name(user_id), *given, force_save=force_save)
        return memory_id

    async def remember(
        self, user_id: UUID | str, content: str, importance: float = IMPORTANT, force_save: bool = False
    ) -> MemoryId:
        """Remember a fact for good, because somebody asked for it."""
        return await remember(self.vault, api.user_name(user_id), content, importance, force_save=force_save)

    async def recall(
        self,
        user_id: UUID | str,
        query: str,
        skill_id: str | None = None,
        top_k: int = 5,
        memory_types: Sequence[str] | None = None,
    ) -> Recollection:
        """The memories that answer a query best, each with its score and `explain`."""
        return await recall(self.vault, api.user_name(user_id), query, skill_id, top_k, memory_types)

    async def recall_memory(self, user_id: UUID | str, query: str, top_k: int = 3) -> Recollection:
        """`recall` of any memory, as an assistant's tool calls it."""
        return await recall_memory(self.vault, api.user_name(user_id), query, top_k)

    async def extract_from_conversation(
        self, user_id: UUID | str, messages: Sequence[Mapping[str, Any]], skill_id: str | None = None
    ) -> Extraction:
        """Store what a conversation holds that is worth a memory, and return these memories."""
        found: Extraction = await extract_from_conversation(self.vault, api.user_name(user_id), messages, skill_id)
        return found

    async def consolidate_to_profile(self, user_id: UUID | str) -> Consolidated:
        """Propose lines for the profile out of memories that are often needed; write those proposed before."""
        return await consolidate_to_profile(self.vault, api.user_name(user_id))
