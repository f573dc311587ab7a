"""The vault's skills: `skills/<name>/SKILL.md`, each a note that tells the assistant how one kind of work is done here."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.core.notes import note
from vault_memory.errors import NotFound
from vault_memory.services.vault import Vault

_FOLDER = "skills"
_FILE = "SKILL.md"


@dataclass(frozen=True)
class Skill:
    """One skill; `description` says when it applies, `source` is its path in the vault."""

    name: str
    description: str
    content: str
    source: str


def skills(vault: Vault) -> list[Skill]:
    """Every skill of the vault, by name."""
    found = sorted((vault.root / _FOLDER).glob(f"*/{_FILE}"))
    return [_read(vault, path.parent.name) for path in found]


def skill(vault: Vault, name: str) -> Skill:
    """The skill of that name. Raises `NotFound`."""
    known = [path.parent.name for path in (vault.root / _FOLDER).glob(f"*/{_FILE}")]
    if name not in known:
        raise NotFound(f"there is no skill {name!r} under {_FOLDER}/: there are {', '.join(sorted(known)) or 'none'}")
    return _read(vault, name)


def _read(vault: Vault, name: str) -> Skill:
    source = f"{_FOLDER}/{name}/{_FILE}"
    text = (files.read(vault.path(layout.SHARED, source)) or b"").decode("utf-8", "replace")
    read = note.parse(text)
    return Skill(name, str(read.meta.get("description") or ""), read.body.strip(), source)
