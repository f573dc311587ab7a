"""Writing the tables for Obsidian (`*.base`) into a vault that was made without them, or with older ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.services import starter
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write


@dataclass(frozen=True)
class Tables:
    """The tables that were written, and those that somebody has changed: they stay as they are."""

    written: tuple[PurePosixPath, ...]
    left: tuple[PurePosixPath, ...]
    paused: str | None = None


def write_tables(vault: Vault) -> Tables:
    """Write each table that is missing, and each that is as an older version shipped it, in the vault's language, in
    one commit. A table that a person has changed is never written."""
    wanted = starter.tables(vault.config.locale)

    def decide() -> Plan[tuple[list[PurePosixPath], list[PurePosixPath]]]:
        before = {path: files.read(files.contained(vault.root, path)) for path in wanted}
        left = [path for path, text in before.items() if text is not None and not starter.is_shipped_table(text)]
        changes = [
            FileChange(path, before[path], wanted[path])
            for path in wanted
            if path not in left and before[path] != wanted[path]
        ]
        message = trailers.render("vault: tables for Obsidian")
        drafts = [Draft(message, ASSISTANT, tuple(changes))] if changes else []
        return Plan(([change.path for change in changes], left), drafts)

    done = write(vault, layout.SHARED, list(wanted), decide, index=False)
    return Tables(tuple(done.result[0]), tuple(done.result[1]), done.paused)
