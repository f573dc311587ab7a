"""Which shared stores a vault has written to: what is erased here is to be erased there, too, whatever is set then."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.core import layout

USED = PurePosixPath(layout.STATE_DIR, "redis-used")
_LOCK = "locks/redis-used.lock"


def used_addresses(root: Path) -> list[str]:
    """Their addresses, as `ShortTermStore.address` has them. A file that cannot be read as such names none."""
    try:
        told = json.loads(files.read_private(root / USED, root) or b"[]")
    except ValueError:
        return []
    return [each for each in told if isinstance(each, str)] if isinstance(told, list) else []


def note_used(root: Path, address: str) -> None:
    """Note one, durably. Raises `Busy` or `Unwritable`."""
    with files.lock(root / layout.STATE_DIR / _LOCK, below=root):
        known = used_addresses(root)
        if address not in known:
            files.write_private(root / USED, json.dumps([*known, address]).encode(), root)
