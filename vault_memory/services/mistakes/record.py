"""Recording a mistake: one note, one commit."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters.history import ASSISTANT, Author, FileChange
from vault_memory.core import layout, memories, mistakes, trailers
from vault_memory.core.mistakes import Mistake
from vault_memory.core.privacy import places, secrets_added
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories import is_all_left_out, public
from vault_memory.services.mistakes.files import mistake_files
from vault_memory.services.vault import Vault
from vault_memory.services.write import add_notes

PREFIX = memories.ID_PREFIXES["mistake"]
MAX_SUBJECT_CHARS = 60


@dataclass(frozen=True)
class Noted:
    """What became of mistakes: the `ids` of those that were stored, of those that were `known` already, and why others
    were `refused`, by id. `redactions` counts what was kept out of them, by category; `paused` says why their commit
    waits, `degraded` what could not be used. All is empty for a user who is off the record."""

    ids: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    commits: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    paused: str | None = None
    degraded: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it, for one mistake."""
        return {
            "id": self.ids[0] if self.ids else "",
            "commits": list(self.commits),
            "redactions": dict(self.redactions),
            "paused": self.paused,
            "degraded": list(self.degraded),
        }


class MistakeId(str):
    """The id of a recorded mistake, a text; "" for a user who is off the record. `noted` says more."""

    noted: Noted

    def __new__(cls, noted: Noted) -> MistakeId:
        made = super().__new__(cls, noted.ids[0] if noted.ids else "")
        made.noted = noted
        return made

    def __getnewargs__(self) -> tuple[Noted]:  # type: ignore[override]  # a text's own are its characters
        return (self.noted,)


def record_mistake(
    vault: Vault,
    user_id: str,
    action: str,
    error_type: str = "other",
    user_correction: str = "",
    correct_method: str = "",
    impact: str = "",
    prevention_method: str = "",
    related_rule: str | None = None,
    *,
    author: Author = ASSISTANT,
) -> MistakeId:
    """Record a mistake for good and return its id: what was done, of what type that is (a short name of your own), what
    the person said to it, how it is done rightly, what came of it, how it is prevented, which rule it broke.

    Made again it is recorded again: `get_mistake_patterns` counts them. The id is "" for a user who is off the record.
    Raises `UsageError`, which names the value that is wrong or may not be kept, `TooLarge`, `InvalidId`, `Busy`, and
    what the disk and git raise.
    """
    now = vault.now().astimezone(vault.config.zone())
    made = mistakes.new_mistake(
        memories.new_id(PREFIX, now, secrets.token_hex(4)),
        action,
        error_type,
        now,
        user_correction=user_correction,
        correct_method=correct_method,
        impact=impact,
        prevention_method=prevention_method,
        related_rule=related_rule,
    )
    noted = _store(vault, user_id, [made], author, set)  # nobody else has its id
    for reason in noted.refused.values():
        raise UsageError(reason)
    return MistakeId(noted)


def store_mistakes(
    vault: Vault, user_id: str, found: Sequence[Mistake], *, author: Author = ASSISTANT, dry_run: bool = False
) -> Noted:
    """Store mistakes that were made at any time, without the secrets and private facts in them; those whose id is known
    stay as they are, and one that may not be kept is `refused`. One commit for up to 200 of them. With
    `dry_run` nothing is written. Raises what `record_mistake` raises of the disk and git."""
    return _store(vault, user_id, found, author, lambda: _known(vault, user_id), dry_run=dry_run)


def _store(
    vault: Vault,
    user_id: str,
    found: Sequence[Mistake],
    author: Author,
    known_ids: Callable[[], set[str]],
    *,
    dry_run: bool = False,
) -> Noted:
    folder = layout.user_dir(layout.check_user_id(user_id))
    if vault.config.is_off_record(user_id):
        return Noted()
    counts: Counter[str] = Counter()
    refused: dict[str, str] = {}
    new: dict[str, Mistake] = {}
    notes: dict[str, FileChange] = {}
    for each in found:
        try:
            kept = _without_secrets(each, counts)
            notes.setdefault(each.id, FileChange(folder / mistakes.source_of(kept), None, _note(folder, kept)))
            new.setdefault(each.id, kept)
        except UsageError as error:
            refused[each.id] = str(error)

    def message(ids: Sequence[str]) -> str:
        return _message(user_id, [new[each] for each in ids])

    done = add_notes(vault, user_id, notes, known_ids, message, author, dry_run=dry_run)
    return Noted(
        ids=done.result.new,
        known=done.result.known,
        refused=refused,
        commits=done.commits,
        redactions=dict(counts),
        paused=done.paused,
        degraded=(f"index: {done.index_problem}",) if done.index_problem else (),
    )


def _known(vault: Vault, user_id: str) -> set[str]:
    """The ids of the mistakes that are there."""
    return {file.mistake.id for file in mistake_files(vault, user_id)} if vault.is_user(user_id) else set()


def _without_secrets(mistake: Mistake, counts: Counter[str]) -> Mistake:
    """The mistake without secrets and private facts, whose number by category is added to `counts`. Raises `UsageError`
    where nothing else is in what was done."""
    kept = replace(
        mistake,
        action=public(mistake.action, counts),
        error_type=public(mistake.error_type, counts),
        user_correction=public(mistake.user_correction, counts),
        correct_method=public(mistake.correct_method, counts),
        impact=public(mistake.impact, counts),
        prevention_method=public(mistake.prevention_method, counts),
        related_rule=public(mistake.related_rule, counts) if mistake.related_rule else None,
    )
    if is_all_left_out(kept.action):
        raise UsageError(f"nothing of what was done may be kept: it is private ({', '.join(counts)})")
    return kept


def _note(folder: PurePosixPath, mistake: Mistake) -> bytes:
    """The mistake's note. Raises `UsageError` if it would hold a secret."""
    note = mistakes.encode(mistake).encode()
    if found := secrets_added(folder / mistakes.source_of(mistake), [None], note):
        raise UsageError(f"the mistake would hold what looks like a secret ({places(found)}): say it without")
    return note


def _message(user_id: str, new: Sequence[Mistake]) -> str:
    """The message of a commit that adds mistakes."""
    titles = [f"{each.error_type} {each.action.split(chr(10), 1)[0][:MAX_SUBJECT_CHARS]}" for each in new]
    if len(new) == 1:
        return trailers.render(f"mistakes({user_id}): add {titles[0]}", "", Trailers(user=user_id, mistake=new[0].id))
    head = trailers.render(f"mistakes({user_id}): add {len(new)} mistakes").rstrip("\n")
    listed = "\n".join(trailers.single_line(f"- {title}") for title in titles)
    named = [("user", user_id), *(("mistake", each.id) for each in new)]
    return f"{head}\n\n{listed}\n\n" + "".join(f"{trailers.KEYS[key]}: {value}\n" for key, value in named)
