"""Pack files into a gzipped tar file, and unpack one that may come from anybody, by the same rules of our own. Also
read what another program has given out: a file of JSON, or the archive (.zip) that it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.archive.export import Part, opened_parts
    from vault_memory.adapters.archive.pack import Packing, pack
    from vault_memory.adapters.archive.rules import DEFAULT_LIMITS, LeaveOut, Limits
    from vault_memory.adapters.archive.unpack import check, unpack

__all__ = ["DEFAULT_LIMITS", "LeaveOut", "Limits", "Packing", "Part", "check", "opened_parts", "pack", "unpack"]

__getattr__ = lazy_exports(
    __name__,
    {
        "DEFAULT_LIMITS": "rules",
        "LeaveOut": "rules",
        "Limits": "rules",
        "Packing": "pack",
        "Part": "export",
        "check": "unpack",
        "opened_parts": "export",
        "pack": "pack",
        "unpack": "unpack",
    },
)
