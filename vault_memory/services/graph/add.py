"""Adding to a user's graph: what is to be added is put into the notes, and they are written in one commit.

An addition is planned on the notes as they are; where they have changed when the user's lock is held, so that other
notes are concerned, it is planned again.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.core import graph, layout, memories, trailers
from vault_memory.core.graph import Entity, Graph, NewEntity, NewObservations, NewRelation, Relation
from vault_memory.core.privacy import places, secrets_added
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Busy, UsageError, VaultMemoryError
from vault_memory.services.graph.read import graph_of
from vault_memory.services.graph.sheet import Moved, Outcome, Sheet
from vault_memory.services.memories import is_all_left_out, public
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

Addition = NewEntity | NewRelation | NewObservations
MAX_ROUNDS = 20


@dataclass(frozen=True)
class Added:
    """What became of an addition. `entity` is as it stands then, of a relation the one that it begins at; None for a
    user who is off the record: nothing is kept of them. `is_new` is False where all was there already, `is_made` also
    where an entity or relation that was there got what is new. `stubs` are the names of entities that were made because
    the relation names them. `redactions` counts what was kept out, by
    category; `paused` says why the commit waits, `degraded` what could not be used."""

    entity: Entity | None = None
    relation: Relation | None = None
    is_new: bool = False
    is_made: bool = False
    stubs: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    paused: str | None = None
    degraded: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "entity": self.entity.as_dict() if self.entity else None,
            "relation": self.relation.as_dict() if self.relation else None,
            "is_new": self.is_new,
            "stubs": list(self.stubs),
            "commits": list(self.commits),
            "redactions": dict(self.redactions),
            "paused": self.paused,
            "degraded": list(self.degraded),
        }


@dataclass(frozen=True)
class Batch:
    """What became of many additions, in their order: each as `Added`, without commits, or why it was refused."""

    outcomes: tuple[Added | VaultMemoryError, ...] = ()
    commits: tuple[str, ...] = ()
    paused: str | None = None
    degraded: tuple[str, ...] = ()


def create_entity(
    vault: Vault,
    user_id: str,
    name: str,
    entity_type: str,
    observations: Sequence[str] = (),
    tags: Sequence[str] = (),
    *,
    aliases: Sequence[str] = (),
    author: Author = ASSISTANT,
) -> Added:
    """Add an entity. Where one is called so already, whatever case and width, it gets what is new. Raises `UsageError`,
    which names the value that is wrong or may not be kept, also where that one has another type; `InvalidId`, `Busy`,
    and what the disk and git raise."""
    if entity_type is None:
        raise UsageError(f"an entity has a type: one of {', '.join(graph.TYPES)}")
    return _one(vault, user_id, NewEntity(name, entity_type, observations, tags, aliases), author)


def create_relation(
    vault: Vault,
    user_id: str,
    from_name: str,
    to_name: str,
    relation_type: str,
    description: str = "",
    *,
    author: Author = ASSISTANT,
) -> Added:
    """Add a relation between two entities, by their names. One that is not there is made without a type, or the
    relation is refused, as `[graph] missing_entity` says. Raises `NotFound` then, and what `create_entity` raises."""
    return _one(vault, user_id, NewRelation(from_name, to_name, relation_type, description or ""), author)


def add_observation(
    vault: Vault, user_id: str, name: str, observation: str | Sequence[str], *, author: Author = ASSISTANT
) -> Added:
    """Add what was observed of an entity, one text or several. Raises `NotFound` for an unknown entity, and what
    `create_entity` raises."""
    observations = [observation] if isinstance(observation, str) else observation
    return _one(vault, user_id, NewObservations(name, observations), author)


def add_to_graph(
    vault: Vault,
    user_id: str,
    additions: Sequence[Addition],
    subject: str,
    *,
    author: Author = ASSISTANT,
    dry_run: bool = False,
) -> Batch:
    """Make many additions, in their order, in one commit with that subject. One that is refused is in the outcomes,
    and the others are made. With `dry_run` nothing is written. Raises `InvalidId`, `Busy`, and what the disk and git
    raise."""
    if vault.config.is_off_record(layout.check_user_id(user_id)):
        return Batch(tuple(Added() for _ in additions))
    prepared = [_prepared(each) for each in additions]
    now = vault.now().astimezone(vault.config.zone())
    ids = _Ids(now)

    def plan() -> Sheet:
        known = graph_of(vault, user_id) if vault.is_user(user_id) else Graph(())
        sheet = Sheet(known, lambda source: files.read(vault.path(user_id, source)), now, ids.of)
        for number, (addition, _) in enumerate(prepared):
            sheet.add(number, addition, makes_stubs=vault.config.graph_missing_entity == "stub")
        return sheet

    def planned() -> Sheet:
        for _ in range(MAX_ROUNDS):
            with suppress(Moved):
                return plan()
        raise Busy(f"the entities of {folder} keep moving: try again")

    folder = layout.user_dir(user_id)
    sheet = planned()
    for _ in range(MAX_ROUNDS):
        concerned = {folder / source for source in sheet.touched}

        def decide(concerned: set[PurePosixPath] = concerned) -> Plan[Sheet | None]:
            again = planned()
            if not {folder / source for source in again.touched} <= concerned:
                return Plan(None)  # what a person has saved there must first be committed as theirs
            return Plan(again, _drafts(user_id, again, subject, author))

        if dry_run or not sheet.changes:
            return Batch(_outcomes(sheet, prepared))
        done = write(vault, user_id, sorted(concerned), decide)
        if done.result is None:
            sheet = planned()
            continue
        index = (f"index: {done.index_problem}",) if done.index_problem else ()
        return Batch(_outcomes(done.result, prepared), done.commits, done.paused, index)
    raise Busy(f"the entities of {folder} keep changing: try again")


def _one(vault: Vault, user_id: str, addition: Addition, author: Author) -> Added:
    batch = add_to_graph(vault, user_id, [addition], _subject(user_id, addition), author=author)
    outcome = batch.outcomes[0]
    if isinstance(outcome, VaultMemoryError):
        raise outcome
    return replace(outcome, commits=batch.commits, paused=batch.paused, degraded=batch.degraded)


def _subject(user_id: str, addition: Addition) -> str:
    if isinstance(addition, NewRelation):
        return f"graph({user_id}): {addition.from_name} {addition.type} {addition.to_name}"
    verb = "add" if isinstance(addition, NewEntity) else "observe"
    return f"graph({user_id}): {verb} {addition.name}"


def _drafts(user_id: str, sheet: Sheet, subject: str, author: Author) -> list[Draft]:
    """The commit. Raises `UsageError` if a note would hold a secret: the parts of one may come together there."""
    folder = layout.user_dir(user_id)
    changes = []
    for source, (before, after) in sheet.changes.items():
        if found := secrets_added(folder / source, [before], after):
            raise UsageError(f"{folder / source} would hold what looks like a secret ({places(found)}): say it without")
        changes.append(FileChange(folder / source, before, after))
    if not changes:
        return []
    ids = {outcome.entity.id for outcome in sheet.outcomes().values() if isinstance(outcome, Outcome)}
    one = next(iter(ids)) if len(ids) == 1 else None
    return [Draft(trailers.render(subject, "", Trailers(user=user_id, entity=one or None)), author, tuple(changes))]


def _outcomes(
    sheet: Sheet, prepared: Sequence[tuple[Addition | VaultMemoryError, Mapping[str, int]]]
) -> tuple[Added | VaultMemoryError, ...]:
    found: list[Added | VaultMemoryError] = []
    outcomes = sheet.outcomes()
    for number, (_, redactions) in enumerate(prepared):
        made = outcomes[number]
        if isinstance(made, Outcome):
            found.append(
                Added(made.entity, made.relation, made.is_new, made.is_made, made.stubs, redactions=redactions)
            )
        else:
            found.append(made)
    return tuple(found)


def _prepared(addition: Addition) -> tuple[Addition | VaultMemoryError, Mapping[str, int]]:
    """The addition without secrets and private facts, and their number by category; or why it is refused."""
    counts: Counter[str] = Counter()
    try:
        return _public(addition, counts), dict(counts)
    except UsageError as error:
        return error, {}


def _public(addition: Addition, counts: Counter[str]) -> Addition:
    if isinstance(addition, NewRelation):
        _refuse_private(addition.from_name, addition.to_name)
        return replace(addition, description=_kept(addition.description, counts))
    if isinstance(addition, NewEntity):
        _refuse_private(addition.name, *addition.aliases, *addition.tags)
    kept = [_kept(each, counts) for each in addition.observations]
    if isinstance(addition, NewObservations) and not any(kept):
        raise UsageError(f"nothing of this may be kept: it is private ({', '.join(counts)})")
    return replace(addition, observations=[each for each in kept if each])


def _kept(text: str, counts: Counter[str]) -> str:
    """What of a text is kept; "" where nothing else is in it."""
    left_out: Counter[str] = Counter()
    kept = public(text, left_out)
    counts.update(left_out)
    return "" if left_out and is_all_left_out(kept) else kept


def _refuse_private(*names: str) -> None:
    """Raise `UsageError` for a name or tag that would be another one without its secret: it is how others find it."""
    for name in names:
        left_out: Counter[str] = Counter()
        if public(name, left_out) != name:
            raise UsageError(f"a name or tag holds what is not kept ({', '.join(left_out)}): say it without")


class _Ids:
    """New ids, the same ones when an addition is planned again."""

    def __init__(self, at: datetime) -> None:
        self._at, self._made = at, dict[tuple[str, object], str]()

    def of(self, prefix: str, what: object) -> str:
        return self._made.setdefault((prefix, what), memories.new_id(prefix, self._at, secrets.token_hex(4)))
