"""Write a user's memories, graph and mistakes as the files of Code Buddy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.core import buddy
from vault_memory.services.admin import check_new_folder
from vault_memory.services.buddy.settings import config_of
from vault_memory.services.graph import graph_of
from vault_memory.services.memories import list_memories
from vault_memory.services.mistakes import list_mistakes
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Exported:
    """How many records each file has, and what of the vault is told otherwise there or not at all, in words."""

    counts: Mapping[str, int]
    remarks: tuple[str, ...] = ()


def export_code_buddy(vault: Vault, user_id: str, folder: Path) -> Exported:
    """Write `config.json` and `data/*.json` into a new folder, which nobody else can read. Importing it changes nothing
    here. Raises `UsageError` for a folder that is not empty or lies in a vault, `NotFound`, `Unwritable`."""
    vault.known_user(user_id)
    check_new_folder(folder)
    memories = [file.memory for file in reversed(list_memories(vault, user_id))]
    graph = graph_of(vault, user_id)
    entities = [each for each in graph.entities if each.type or each.observations or each.tags]
    relations = [each for each in graph.relations if not each.is_mention]
    mistakes = [file.mistake for file in reversed(list_mistakes(vault, user_id))]
    records: dict[str, list[dict[str, Any]]] = {
        buddy.MEMORIES: list(map(buddy.memory_record, memories)),
        buddy.ENTITIES: _in_time(map(buddy.entity_record, entities)),
        buddy.RELATIONS: _in_time(map(buddy.relation_record, relations)),
        buddy.MISTAKES: list(map(buddy.mistake_record, mistakes)),
    }
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, listed in records.items():
        _write(folder / buddy.DATA_FOLDER / name, listed, folder)
    _write(folder / buddy.CONFIG, config_of(vault.config), folder)
    told = (
        ("counts as a note there", sum(each.type not in buddy.MEMORY_TYPES for each in memories)),
        ("expires here, and never there", sum(each.expires_at is not None for each in memories)),
        ("is an entity without a type", sum(each.is_stub for each in entities)),
        ("is an entity of which only relations tell, and is left out", len(graph.entities) - len(entities)),
        ("is a link without a type, and is left out", len(graph.relations) - len(relations)),
    )
    remarks = [f"{count:,} × {what}" for what, count in told if count]
    unread = [f"{source} is left out: {why}" for source, why in graph.unread.items()]
    return Exported({name: len(listed) for name, listed in records.items()}, (*remarks, *unread, *vault.config.waits()))


def _in_time(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(records, key=lambda each: (each["createdAt"], each["id"]))


def _write(path: Path, value: Any, below: Path) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    files.write_private(path, text.encode("utf-8", "replace"), below)
