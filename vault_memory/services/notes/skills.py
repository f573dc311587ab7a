"""The vault's skills: each is a note, `skills/<name>/SKILL.md`, that tells the assistant how to do one kind of work."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.core.notes import note
from vault_memory.errors import NotFound
from vault_memory.services.vault import Vault

_FOLDER = layout.SKILLS_DIR


@dataclass(frozen=True)
class Skill:
    """One skill; `source` is its path in the vault, "" for one that a program brings along."""

    name: str
    content: str
    source: str = ""


def skill(vault: Vault, name: str) -> Skill:
    """The skill of that name. Raises `NotFound`, and `TooLarge` above `MAX_PROMPTED_BYTES`."""
    known = [path.parent.name for path in (vault.root / _FOLDER).glob(f"*/{layout.SKILL}")]
    if name not in known:
        raise NotFound(
            f"there is no skill {name!r} in {_FOLDER}/; the skills are: {', '.join(sorted(known)) or 'none'}"
        )
    source = f"{_FOLDER}/{name}/{layout.SKILL}"
    text = (files.read(vault.path(layout.SHARED, source), layout.MAX_PROMPTED_BYTES) or b"").decode("utf-8", "replace")
    return Skill(name, note.parse(text).body.strip(), source)
