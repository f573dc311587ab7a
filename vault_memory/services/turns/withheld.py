"""How much the gate kept back of a user's words: counts by category, never the words."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.services.vault import Vault


def withheld(vault: Vault, user_id: str) -> dict[str, int]:
    """Category (`api-key`, `health`, …) → how often something of it was withheld so far."""
    try:
        counts = json.loads(files.read(_path(vault, user_id)) or b"{}")
    except ValueError:
        return {}  # spoilt: the count starts anew
    if not isinstance(counts, dict):
        return {}
    return {category: count for category, count in counts.items() if isinstance(count, int)}


def count_withheld(vault: Vault, user_id: str, counts: Mapping[str, int]) -> None:
    """Add to the user's counts. Raises `Busy`."""
    if not counts:
        return
    with vault.lock(user_id):
        total = withheld(vault, user_id)
        for category, count in counts.items():
            total[category] = total.get(category, 0) + count
        path = _path(vault, user_id)
        files.replace(path, json.dumps(total, ensure_ascii=False, sort_keys=True).encode() + b"\n", files.read(path))


def rename_withheld(vault: Vault, old: str, new: str) -> None:
    """Let a user's counts go with the user to another id. The caller holds both ids' locks."""
    with contextlib.suppress(FileNotFoundError):
        os.replace(_path(vault, old), _path(vault, new))


def _path(vault: Vault, user_id: str) -> Path:
    return vault.root / layout.STATE_DIR / "withheld" / f"{layout.check_user_id(user_id)}.json"
