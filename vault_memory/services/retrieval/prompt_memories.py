"""The memories that a prompt shows: what a recall finds for its request, kept until what it depends on changes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from vault_memory.core import layout
from vault_memory.services.retrieval.recall import Recollection, recollect
from vault_memory.services.retrieval.search import QueryVectors
from vault_memory.services.vault import Vault

SPARE_MEMORIES = 5
"""Recalled beyond those that are shown: some stand in the prompt already, and some do not bear on the request."""
MAX_KEPT = 256


def recall_for_prompt(
    vault: Vault, user_id: str, request: str, skill_id: str | None, top_k: int, vectors: QueryVectors
) -> Recollection:
    """The memories for a request, of which `vectors` are: with a skill those of this skill and of none. Nothing is
    counted. The caller has brought the index up to date.

    The same request gets the same ones until the profile or a memory changes, or one of them expires.
    """
    version, key = _version(vault, user_id), (user_id, request, skill_id, top_k)
    kept: tuple[Any, Recollection] | None = vault.recalled.get(key)
    if kept and kept[0] == version and not any(each.is_past(vault.now()) for each in kept[1]):
        return kept[1]
    found = recollect(vault, user_id, request, skill_id, top_k + SPARE_MEMORIES, skill_or_none=True, vectors=vectors)
    if len(vault.recalled) >= MAX_KEPT:
        vault.recalled.clear()
    vault.recalled[key] = version, found
    return found


def _version(vault: Vault, user_id: str) -> tuple[Any, ...]:
    """What a recall depends on, as it stands now: whose the id is, the profile, the memories."""
    profile: tuple[int, ...] = ()
    with suppress(OSError):
        stat = (vault.root / layout.user_dir(user_id) / layout.PROFILE).stat()
        profile = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return (vault.renamings(), profile, vault.index(user_id).memories_version())
