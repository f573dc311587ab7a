"""What services keep under `.vault-memory/` for later runs and other processes: small JSON files, and SQLite
databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.state.database import StateDatabase
    from vault_memory.adapters.state.json_file import StateFile
    from vault_memory.adapters.state.json_folder import StateFolder
    from vault_memory.adapters.state.used import POSTGRES_USED, REDIS_USED, Place, UsedStores

__all__ = ["POSTGRES_USED", "REDIS_USED", "Place", "StateDatabase", "StateFile", "StateFolder", "UsedStores"]

__getattr__ = lazy_exports(
    __name__,
    {
        "POSTGRES_USED": "used",
        "REDIS_USED": "used",
        "StateDatabase": "database",
        "StateFile": "json_file",
        "StateFolder": "json_folder",
        "Place": "used",
        "UsedStores": "used",
    },
)
