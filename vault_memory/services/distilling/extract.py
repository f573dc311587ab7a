"""Memories out of a conversation: found by the language model and checked against the person's words, or by rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vault_memory.adapters.models import ChatModel
from vault_memory.core import layout
from vault_memory.core.distilling import (
    Found,
    Said,
    find_by_rules,
    joined,
    letters,
    question,
    said_in,
    summary_by_rules,
)
from vault_memory.core.memories import Memory
from vault_memory.errors import EndpointError, UsageError
from vault_memory.services.memories import draft, list_memories, store
from vault_memory.services.profiles import goes_by
from vault_memory.services.vault import Vault

TTL_DAYS = 7
"""How long what nobody asked to have remembered lives, unless it is said or recalled again."""
MAX_COMPARED = 200
"""So many of the newest memories are looked at for one that the same turn has given already."""


class Extraction(list[Memory]):
    """The memories that a conversation has given. `dropped` counts what the model proposed and the person's words do
    not carry; `degraded` says in words what could not be used."""

    def __init__(self, found: Iterable[Memory] = (), dropped: int = 0, degraded: Iterable[str] = ()) -> None:
        super().__init__(found)
        self.dropped = dropped
        self.degraded = list(degraded)


@dataclass(frozen=True)
class Distilled:
    """What was found in turns, and their summary; `dropped` and `degraded` as in `Extraction`. `by_model`: the model
    has answered."""

    found: tuple[Found, ...] = ()
    summary: str = ""
    dropped: int = 0
    degraded: tuple[str, ...] = ()
    by_model: bool = False


def extract_from_conversation(
    vault: Vault, user_id: str, messages: Sequence[Mapping[str, Any]], skill_id: str | None = None
) -> Extraction:
    """Store what a conversation holds that is worth a memory of `TTL_DAYS` days, and return these memories.

    `messages` are the conversation's, oldest first: chat messages ({role, content}; of those with a `name` the user's
    alone count), or turns ({user_message,
    assistant_message}). Only the person's own words count: what we or a client put into them, turns that are not to be
    remembered and those that give orders to the system are left out. Nothing is kept of a user who is off the record.
    Raises `UsageError`, `InvalidId`, and what storing raises.
    """
    layout.check_user_id(user_id)
    turns = said_in(messages, lambda name: goes_by(vault, user_id, name))
    if vault.config.is_off_record(user_id):
        return Extraction()
    distilled = distil(vault, turns)
    kept, degraded = [], list(distilled.degraded)
    for memory in drafts(vault, user_id, distilled.found, skill_id):
        try:
            stored, problem = keep(vault, user_id, memory)
        except UsageError as error:
            degraded.append(str(error))
            continue
        kept += [stored] if stored else []
        degraded += problem
    return Extraction(kept, distilled.dropped, degraded)


def distil(vault: Vault, turns: Sequence[Said], model: ChatModel | None = None, *, by_rules: str = "") -> Distilled:
    """What is in these turns; nothing is stored. `model` replaces the configured one; with `by_rules` (the reason) none
    is asked."""
    if not turns:
        return Distilled()
    model = model or vault.chat_model()
    degraded: list[str] = []
    if by_rules:
        degraded.append(by_rules)
    elif model:
        asked = question.asked(turns)
        try:
            answer = question.parse(model.complete(question.messages(asked), question.SCHEMA))
        except EndpointError as error:
            degraded.append(f"memories were found by the rules alone: {error}")
        except ValueError as error:
            degraded.append(
                f"memories were found by the rules alone: the chat model {model.model} does not follow the schema: "
                f"{error}"
            )
        else:
            by_model = question.grounded(answer, asked, vault.lexicon())
            found = joined(by_model, find_by_rules(turns, vault.lexicon()))  # a model that finds nothing takes nothing
            summary = question.summary_of(answer, asked) or summary_by_rules(turns)
            return Distilled(tuple(found), summary, len(answer.memories) - len(by_model), by_model=True)
    elif vault.config.is_waiting("llm"):
        degraded += vault.config.waits()
    return Distilled(tuple(find_by_rules(turns, vault.lexicon())), summary_by_rules(turns), degraded=tuple(degraded))


def drafts(vault: Vault, user_id: str, found: Sequence[Found], skill_id: str | None = None) -> list[Memory]:
    """The memories to store: without those that their turn has given already, when it was recorded."""
    sources = {each.source for each in found if each.source}
    known: list[tuple[str, str]] = []
    if sources and vault.is_user(user_id):
        newest = list_memories(vault, user_id, history=True, limit=MAX_COMPARED)
        known = [(file.memory.source, letters(file.memory.content)) for file in newest if file.memory.source in sources]
    return [
        draft(
            vault,
            each.content,
            each.type,
            skill_id,
            each.importance,
            TTL_DAYS,
            {"quote": each.quote} if each.quote != each.content else None,
            source=each.source,
        )
        for each in found
        if not any(source == each.source and _is_same(content, each) for source, content in known)
    ]


def keep(vault: Vault, user_id: str, memory: Memory) -> tuple[Memory | None, list[str]]:
    """Store one of the drafts: the memory as it is kept (None: nothing is), and what could not be used."""
    stored = store(vault, user_id, memory, unattended=True)
    problems = [*stored.degraded, *([f"a memory waits for its commit: {stored.paused}"] if stored.paused else [])]
    return (replace(memory, id=stored.id) if stored.id else None), problems


def _is_same(content: str, found: Found) -> bool:
    return any(
        words in content or content in words for words in filter(None, map(letters, (found.content, found.quote)))
    )
