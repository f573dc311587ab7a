"""What the program has made of a part of a text: a memory or a line of evidence, whose turn says the text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.core.erasing import Erasure
from vault_memory.core.profile import newest_rows
from vault_memory.services.memories import memory_rows, read_memory
from vault_memory.services.notes import turn_at
from vault_memory.services.vault import Vault


def clauses_of(vault: Vault, user_id: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The contents of memories and the quotes of evidence that are a part of one of the texts, and come from a turn
    that says it. Raises `VaultMemoryError` for an archive that cannot be read."""
    erasure = Erasure(texts)
    parts: dict[str, list[str]] = {}
    for source, said in _learned(vault, user_id):
        if erasure.has_part(said):
            parts.setdefault(source, []).append(said)
    found: dict[str, None] = {}
    for source, said_there in parts.items():
        turn = json.dumps(turn_at(vault, user_id, source), ensure_ascii=False, default=str)
        if erasure.holds(turn.encode("utf-8", "surrogatepass")):
            found |= dict.fromkeys(said_there)
    return tuple(found)


def _learned(vault: Vault, user_id: str) -> Iterator[tuple[str, str]]:
    """(turn, words) of each memory and each line of evidence."""
    for row in memory_rows(vault, user_id):
        if file := read_memory(vault, user_id, row.source):
            yield file.memory.source, file.memory.content
    for line in newest_rows(files.read(vault.path(user_id, layout.FEEDBACK), None) or b"", b""):
        yield line.source, line.quote
