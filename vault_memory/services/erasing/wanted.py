"""What a person wants to be erased: all of a user, texts of theirs, or a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.erasing import Request, held_files, paths_of
from vault_memory.adapters.git import Repository, object_id
from vault_memory.core import layout
from vault_memory.core.erasing import Erasure, Tombstones
from vault_memory.core.trailers import KEYS
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.erasing.learned import Learned
from vault_memory.services.memories import memory_rows
from vault_memory.services.vault import Vault

_LOSSY = ("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Wanted:
    """What is to be erased. `user_id` is whose it is (`layout.SHARED` for a shared note); `is_user`: all of them, under
    the `former_ids` too; rows of the long-term store may be under those in any case. `request` is what git's half
    is asked for. `long_term`: rows of the long-term store, too. `bodies` are what an erased note said, by which it is
    known when it comes back; `values` are values of the profile that were learned from a text, and stay (`languages
    Kotlin`); `before` are memories that have lost words to an erasing, whose rows still say these; `elsewhere` are
    former paths of it that stay, for another note or another's is there."""

    user_id: str
    request: Request
    is_user: bool = False
    former_ids: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    long_term: bool = False

    @classmethod
    def of(cls, told: dict[str, Any]) -> Wanted:
        """That of `as_dict`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        names = ("former_ids", "bodies", "values", "before", "elsewhere")
        several = {name: tuple(map(str, told.get(name, ()))) for name in names}
        is_user, long_term = bool(told["is_user"]), bool(told["long_term"])
        request = Request.of(told["request"])
        return cls(str(told["user_id"]), request, is_user, **several, long_term=long_term)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("user_id", "is_user", "former_ids", "bodies", "values", "before", "elsewhere", "long_term")
        return {name: getattr(self, name) for name in names} | {"request": self.request.as_dict()}

    @property
    def users(self) -> tuple[str, ...]:
        """The ids whose folder goes."""
        return (self.user_id, *self.former_ids) if self.is_user else ()

    def erasure(self) -> Erasure | None:
        """The texts as they are looked for; None where only users or files go."""
        return self.request.erasure()

    @property
    def clauses(self) -> tuple[str, ...]:
        """The parts of the texts of which something was made."""
        return tuple(dict.fromkeys(text for part in self.request.parts for text in part.texts))

    def tombstones(self, none: Tombstones) -> Tombstones:
        """By which it is known again. A part may be said again by itself."""
        stones = none.with_paths(() if self.is_user else self.request.gone)
        for user_id in self.users:
            stones = stones.with_user(user_id)
        return stones.with_texts(self.user_id, (*self.request.texts, *self.bodies))

    def in_words(self) -> str:
        """What a person types to have it erased, and reads."""
        if self.is_user:
            return f"erase {self.user_id}"
        return f"erase {self.request.gone[0]}" if self.request.gone else f"erase the text of {self.user_id}"


def of_user(vault: Vault, user_id: str, *, long_term: bool = False) -> Wanted:
    """All of a user: files, conversations, state, and what history says of them, under former ids too; also of one who
    is erased already, of whom stores may have something still. Raises `NotFound` or `InvalidId`."""
    check_known(vault, user_id)
    ids = (user_id, *former_ids(vault, user_id))
    gone = tuple(layout.user_dir(each) for each in ids)
    named = [f"{KEYS[key]}: {each}" for each in ids for key in ("user", "renamed_from")]
    named += [name for each in ids for name in (f"({each})", str(layout.user_dir(each)))]
    return Wanted(user_id, Request(gone=gone, named=tuple(named)), True, ids[1:], long_term=long_term)


def check_known(vault: Vault, user_id: str) -> None:
    """Raise `NotFound` or `InvalidId` for an id that no user has, or had who was erased."""
    if not vault.was_erased(layout.check_user_id(user_id)):
        vault.known_user(user_id)


def of_texts(vault: Vault, user_id: str, texts: Sequence[str], *, long_term: bool = False) -> Wanted:
    """Texts of a user, in all that is theirs and in what is shared; what other users have in their folders stays. With
    them goes what the program has made of a part of one.
    Without an id those of the only user. Raises `UsageError` for a text that is too short, and where several users are
    here and none is named."""
    ids = vault.user_ids()
    if not user_id and len(ids) > 1:
        raise UsageError(
            f"whose text is it? Here are {len(ids)} users, and what others wrote stays theirs: name one with --user"
        )
    user_id = vault.known_user(user_id or next(iter(ids), ""))
    spared = tuple(layout.user_dir(other) for other in ids if other != user_id)
    former = former_ids(vault, user_id)
    learned = Learned(vault, user_id, former, texts)
    request = Request(tuple(texts), spared=spared, parts=learned.parts())
    before = learned.erased_before() if long_term else ()
    values = learned.values()
    return Wanted(user_id, request, former_ids=tuple(former), values=values, before=before, long_term=long_term)


def of_note(vault: Vault, name: str, user_id: str = "", *, long_term: bool = False) -> Wanted:
    """A note, by its path in the vault or the id of a typed memory: the file, under each path that it had (`paths_of`),
    and what messages say of it. What other files say stays. Raises `NotFound`, and `UsageError` for a file that turns
    write (erase a text of it instead)."""
    path = _path_of(vault, name, user_id)
    if layout.is_private(path) or path == PurePosixPath(layout.SETTINGS_FILE) or layout.is_written_by_turns(path):
        kind = layout.kind_of(place) if (place := layout.place_of(path)) else ""
        if kind not in ("memory", "entity", "mistake", "note"):
            raise UsageError(f"{path} holds more than one thing: `vault-memory erase --text` takes a text out of it")
    repository = Repository(vault.history.root)
    scope = layout.scope_of(path)
    had, others = paths_of(repository, path)
    paths = {each for each in had if layout.scope_of(each) == scope}
    rows = held_files(repository)
    blobs = {blob for each, blob in rows if each in paths}
    if not blobs and not (vault.root / path).is_file():
        raise NotFound(
            f"{path} is no file of this vault, no commit has one, and no memory has this id: `vault-memory memory "
            "list` shows the ids"
        )
    said_elsewhere = {blob for each, blob in rows if each not in paths}  # by which a template would be refused
    bodies = {vault.history.stored(blob).read() for blob in blobs - said_elsewhere}
    if (vault.root / path).is_file():
        on_disk = files.read(vault.root / path, None) or b""
        bodies |= {on_disk} if object_id("blob", on_disk) not in said_elsewhere else set()
    ordered = (path, *sorted(paths - {path}))
    ids = [f"{KEYS[key]}: {each.stem.split('-')[0]}" for each in ordered for key in ("memory", "mistake")]
    request = Request(gone=ordered, named=(*map(str, ordered), *ids))
    elsewhere = tuple(sorted(map(str, others | (had - paths))))
    told = _long(body.decode("utf-8", "replace") for body in bodies)
    return Wanted(scope, request, bodies=tuple(told), elsewhere=elsewhere, long_term=long_term)


def _long(bodies: Iterable[str]) -> list[str]:
    """Those by which a note can be known: not an empty one."""
    return sorted(each for each in bodies if sum(map(str.isalnum, each)) > 20)


def _path_of(vault: Vault, name: str, user_id: str) -> PurePosixPath:
    """The file of this path, of the memory that has this id, or, where neither is there now, one that was at the path.
    An id may be any text: that of a person's own note is what they gave it."""
    path = PurePosixPath(name)
    is_inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    if is_inside and (vault.root / path).is_file():
        return path
    ids = [user_id] if user_id else vault.user_ids()
    places = [layout.user_dir(each) / row.source for each in ids for row in memory_rows(vault, each, [name])]
    if len(places) > 1:
        raise UsageError(f"several memories are {name!r}: name one by its path, {', '.join(map(str, places))}")
    if places:
        return places[0]
    if not is_inside:
        raise UsageError(f"{name!r} is no path in the vault: name it as `git log` does, such as memory/alice/plan.md")
    return path


def former_ids(vault: Vault, user_id: str) -> list[str]:
    """Ids that the user had before, and that nobody has now: rows of the long-term store may be under those."""
    found: list[str] = []
    now = user_id
    while entries := vault.history.log(limit=1, trailers={KEYS["user"]: now, KEYS["renamed_from"]: None}):
        now = entries[0].trailers[KEYS["renamed_from"]]
        if now in found or now == user_id or vault.is_user(now):
            break
        found.append(now)
    return found
