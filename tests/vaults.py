"""Files of a vault, as the tests of the services write them."""

from __future__ import annotations

from pathlib import Path

from vault_memory.services.admin import trust
from vault_memory.services.vault import Vault, open_vault


def write(vault: Vault, scope: str, source: str, text: str) -> Path:
    """Save a file as an editor does that writes in place."""
    path = vault.path(scope, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def say_yes(root: Path) -> None:
    """Say yes to the settings in the vault's file, as a person does who wrote them there."""
    vault = open_vault(root)
    trust(vault, vault.config.waiting)
