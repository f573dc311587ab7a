"""The notes of a user's mistakes: which there are, and what they have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.core import layout, mistakes
from vault_memory.core.mistakes import Mistake, Patterns
from vault_memory.core.text import synonyms
from vault_memory.errors import TooLarge
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault

MAX_TEXT_CHARS = 2_000
"""How much of a text is compared with mistakes."""


@dataclass(frozen=True)
class MistakeFile:
    """A mistake's note: its source, and the mistake that is in it."""

    source: str
    mistake: Mistake

    def as_dict(self, user_id: str) -> dict[str, Any]:
        """The mistake as JSON shows it, with the path of its note and what of that could not be understood."""
        path = str(layout.user_dir(user_id) / self.source)
        return {**self.mistake.as_dict(), "path": path, "problems": list(self.mistake.problems)}


def read_mistake(vault: Vault, user_id: str, source: str) -> MistakeFile | None:
    """The mistake in a note; None where there is no file, or one that is too large to be read: `status` names it."""
    stored = None
    with suppress(TooLarge):
        stored = files.read(vault.path(user_id, source))
    if stored is None:
        return None
    return MistakeFile(source, mistakes.decode(stored.decode("utf-8", "replace"), PurePosixPath(source).stem))


def mistake_files(vault: Vault, user_id: str) -> Iterator[MistakeFile]:
    """All mistakes that are not in the archive, as the files stand now. Raises `NotFound` for an unknown user."""
    with vault.reading(user_id):
        if not vault.index(user_id).is_read_only:
            reconcile(vault, user_id)
        sources = list(vault.index(user_id).stamps())
    for source in sorted(sources):
        if is_mistake(user_id, source) and (file := read_mistake(vault, user_id, source)) is not None:
            yield file


def is_mistake(user_id: str, source: str) -> bool:
    """Whether a source of a user's is the note of a mistake, and not in the archive."""
    is_archived = source.startswith(f"{layout.ARCHIVE_DIR}/")
    return not is_archived and layout.kind_of(layout.Place(user_id, source)) == "mistake"


def list_mistakes(
    vault: Vault,
    user_id: str,
    *,
    error_type: str | None = None,
    like: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[MistakeFile]:
    """The user's mistakes, the newest first: of one type, in any spelling; those that the request `like` is about; at
    most `limit`, without the first `offset`. Raises `NotFound` for an unknown user."""
    found = [file for file in mistake_files(vault, user_id) if _is_of(file.mistake, error_type)]
    if like is not None:
        like = like[:MAX_TEXT_CHARS]
        terms = synonyms.query_terms(like, vault.config.search_synonyms)
        found = [file for file in found if mistakes.likeness(like, terms, file.mistake.texts) >= mistakes.MIN_OF_A_TASK]
    found.sort(key=lambda file: mistakes.newness(file.mistake), reverse=True)
    return found[offset : None if limit is None else offset + limit]


def get_mistake_patterns(
    vault: Vault, user_id: str, *, error_type: str | None = None, like: str | None = None
) -> Patterns:
    """What the user's mistakes have in common, or those of one type, or those that the request
    `like` is about: by type and by
    similar text, how many there are, whether they become more, how the next one is prevented. Raises `NotFound` for an
    unknown user."""
    found = list_mistakes(vault, user_id, error_type=error_type, like=like)
    return mistakes.patterns((file.mistake for file in found), vault.now().astimezone(vault.config.zone()))


def _is_of(mistake: Mistake, error_type: str | None) -> bool:
    return error_type is None or mistakes.type_key(mistake.error_type) == mistakes.type_key(error_type)
