"""The tools about the knowledge graph and about mistakes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from vault_memory.core import buddy, layout
from vault_memory.services.graph import Added, create_entity, create_relation, search_entities
from vault_memory.services.mistakes import get_mistake_patterns, record_mistake
from vault_memory.services.vault import Vault


def buddy_search_entities(vault: Vault, user_id: str, query: str, limit: int | None = None) -> dict[str, Any]:
    """The entities that hold the query in name, observations or tags, the best first; at most `limit` (None: all).
    Raises `UsageError`."""
    if not vault.is_user(layout.check_user_id(user_id)):
        return {"entities": [], "degraded": []}
    found = search_entities(vault, user_id, query, limit)
    return {"entities": [buddy.entity_record(each) for each in found], "degraded": found.degraded}


def buddy_create_entity(
    vault: Vault,
    user_id: str,
    name: str,
    entity_type: str,
    observations: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> dict[str, Any]:
    """Add an entity; where one is called so, it gets what is new: then `isNew` is False, and `isChanged` says whether
    there was anything. `entity` is as it is then. Raises what
    `create_entity` raises."""
    added = create_entity(vault, user_id, name, entity_type, observations, tags)
    return {"entity": buddy.entity_record(added.entity) if added.entity else None, **_told(added)}


def buddy_create_relation(
    vault: Vault, user_id: str, from_name: str, to_name: str, relation_type: str, description: str = ""
) -> dict[str, Any]:
    """Add a relation between two entities, by their names. `made` are those that were not there and were made for it;
    `isNew` and `isChanged` are as in `buddy_create_entity`. Raises what `create_relation` raises."""
    added = create_relation(vault, user_id, from_name, to_name, relation_type, description)
    relation = buddy.relation_record(added.relation) if added.relation else None
    return {"relation": relation, "made": list(added.stubs), **_told(added)}


def buddy_record_mistake(
    vault: Vault,
    user_id: str,
    action: str,
    error_type: str,
    user_correction: str,
    correct_method: str,
    impact: str,
    prevention_method: str,
    related_rule: str = "",
) -> dict[str, Any]:
    """Record a mistake; its `id` is "" for a user who is off the record. Raises what `record_mistake` raises."""
    texts = (action, error_type, user_correction, correct_method, impact, prevention_method)
    noted = record_mistake(vault, user_id, *texts, related_rule or None).noted.as_dict()
    return {"recorded": bool(noted["id"]), **noted}


def buddy_get_mistake_patterns(vault: Vault, user_id: str) -> dict[str, Any]:
    """What the user's mistakes have in common: `total`, `byType`, `similar` and `byMonth`, each pattern with its
    `count`, `trend` and latest `preventionMethod`."""
    if not vault.is_user(layout.check_user_id(user_id)):
        return {"total": 0, "byType": [], "similar": [], "byMonth": {}}
    found: dict[str, Any] = _camel(get_mistake_patterns(vault, user_id).as_dict())
    return found


def _told(added: Added) -> dict[str, Any]:
    told = added.as_dict()
    return {
        "isNew": added.is_made,
        "isChanged": added.is_new,
        **{key: told[key] for key in ("redactions", "paused", "degraded")},
    }


def _camel(value: Any) -> Any:
    """The same with keys as the document writes them: `errorType`."""
    if isinstance(value, dict):
        return {re.sub("_([a-z])", lambda match: match[1].upper(), key): _camel(each) for key, each in value.items()}
    return [_camel(each) for each in value] if isinstance(value, list) else value
