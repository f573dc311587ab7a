"""What a search is asked, of whose notes, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from vault_memory.core import layout
from vault_memory.core.notes import naming
from vault_memory.core.ranking import Excerpt, Filter, floor
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault

Mode = Literal["hybrid", "vector", "keyword"]
Scope = Literal["user", "shared", "all"]
Group = Literal["", "note"]
MAX_TOP_K = 100
MAX_QUERY_CHARS = 2_000
"""How much of a query is read; its first words say what it is about."""
_MAX_NAMED = 5


@dataclass(frozen=True)
class SearchQuery:
    """What to search for: `top_k` (1 to 100) passages that answer `text`, from notes of these kinds, of the days from
    `since` to `until` (inclusive), with all these tags (or tags below them), in the folder `path` (or the one note).

    `is_typed`: a person has typed the text, with phrases in quotation marks and stars behind how words begin (see
    `core.text.typed`); without a text the filters then list notes, each by its beginning. Of a scope where nothing fits
    as well as `min_fit` (0: as badly as may be) there are no hits; only `hybrid` asks for that. With `memory_types` or
    `skill_id` only typed memories of these answer, with `skill_or_none` those of no skill, too. Past ones (expired,
    superseded, archived) answer only with `history`. With `group` "note" the answer is `top_k` notes, each by its best
    passage; with `backlinks` each hit names the notes that link to its own. Raises `UsageError`."""

    text: str
    top_k: int = 5
    mode: Mode = "hybrid"
    scope: Scope = "user"
    kinds: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    tags: tuple[str, ...] = ()
    min_fit: float = floor.MIN_FIT
    memory_types: tuple[str, ...] = ()
    skill_id: str | None = None
    skill_or_none: bool = False
    history: bool = False
    path: str = ""
    is_typed: bool = False
    group: Group = ""
    backlinks: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MAX_TOP_K:
            raise UsageError(f"top_k must be 1 to {MAX_TOP_K}, not {self.top_k}")
        if self.scope not in get_args(Scope):
            raise UsageError(f"scope must be one of {', '.join(get_args(Scope))}, not {self.scope!r}")
        if self.mode not in get_args(Mode):
            raise UsageError(f"mode must be one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if self.group not in get_args(Group):
            raise UsageError(f"group must be 'note', or empty for passages, not {self.group!r}")
        for name in ("kinds", "tags", "memory_types"):
            if isinstance(given := getattr(self, name), str):
                raise UsageError(f"{name} must be a list, such as [{given!r}], not {given!r}")
        for name in ("since", "until"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, date) or isinstance(given, datetime)):
                raise UsageError(f"{name} must be a day, such as date(2026, 1, 30), not {given!r}")
        if empty := [tag for tag in self.tags if not naming.tag(tag)]:
            raise UsageError(f"a tag to search for is a word or several, not {empty[0]!r}")

    def scopes(self, user_id: str) -> list[str]:
        """The scopes of the vault that a search for this user reads."""
        return [*([user_id] if self.scope != "shared" else []), *([layout.SHARED] if self.scope != "user" else [])]

    def _skills(self) -> tuple[str, ...] | None:
        return None if self.skill_id is None else (self.skill_id, "") if self.skill_or_none else (self.skill_id,)

    @property
    def has_filters(self) -> bool:
        """Whether it says which notes may answer, beside their scope."""
        return any((self.kinds, self.since, self.until, self.tags, self.path))

    @property
    def is_listing(self) -> bool:
        """Whether it asks for notes by what they are, and for no words."""
        return self.is_typed and not self.text.strip() and self.has_filters

    def filter(self, at: datetime, scope: str = layout.SHARED, root: Path | None = None) -> Filter:
        """Which notes of a scope may answer at a time. A path is one in the scope, from the root of the vault, or where
        `root` is that, one of this machine inside it."""
        path = PurePosixPath(self.path.replace("\\", "/"))
        path = path.relative_to(root) if root and path.is_relative_to(root) else path
        path = PurePosixPath(str(path).lstrip("/"))
        home = layout.scope_dir(scope)
        path = path.relative_to(home) if path.is_relative_to(home) else path
        return Filter(
            tuple(self.kinds),
            self.since,
            self.until,
            tuple(map(naming.tag, self.tags)),
            tuple(self.memory_types),
            self._skills(),
            None if self.history else at.timestamp(),
            "" if path == PurePosixPath() else path.as_posix(),
        )


@dataclass(frozen=True)
class Evidence:
    """Why a passage was found: its best line's score by words and the question's terms that stand in it, themselves or
    by a synonym, the cosine of its chunk (None without a vector), and the weight and the space of the vectors.
    `repeated_at` lists where else it stands. `rarest` is what a word weighs that stands in one chunk of all that were
    searched."""

    keyword_score: float
    cosine: float | None
    vector_weight: float
    vector_space: str | None
    terms: tuple[str, ...]
    repeated_at: tuple[str, ...]
    rarest: float = 0.0

    def explained(self) -> dict[str, Any]:
        """The evidence as people and JSON see it."""
        return {
            "keyword": round(self.keyword_score, 4),
            "vector": None if self.cosine is None else round(self.cosine, 4),
            "weight": round(self.vector_weight, 3),
            "space": self.vector_space,
            "terms": list(self.terms),
            "collapsed": list(self.repeated_at),
        }


@dataclass(frozen=True)
class Hit:
    """What answers: `line_range` is (first, last), 1-based and inclusive; `score` is between 0 and 1.

    `passages` are its parts, each within one entry or turn: first the best, then the others in order. `commit` holds
    the file as it is on disk (empty: no commit does, as of a conversation). `more` is how many other passages of its
    note answer, among the best `MAX_TOP_K` hits, and `backlinks` the sources of the notes that link to it; None where
    nobody asked."""

    passages: tuple[Excerpt, ...]
    source: str
    line_range: tuple[int, int]
    score: float
    kind: str
    scope: str
    evidence: Evidence
    commit: str = ""
    more: int | None = None
    backlinks: tuple[str, ...] | None = None

    @property
    def content(self) -> str:
        """The passages as they are shown, with a blank line between them."""
        return "\n\n".join(each.text for each in self.passages)

    @property
    def explain(self) -> Mapping[str, Any]:
        """The parts of the score and why the passage was found, for people; code reads `evidence`."""
        return self.evidence.explained()

    def as_dict(self) -> dict[str, Any]:
        """The hit as JSON shows it, with `explain`."""
        names = ("content", "source", "line_range", "commit", "score", "kind", "scope", "explain")
        asked = {"more": self.more, "backlinks": self.backlinks}
        return {
            **{name: getattr(self, name) for name in names},
            "passages": [each.as_dict() for each in self.passages],
            **{name: value for name, value in asked.items() if value is not None},
        }


@dataclass(frozen=True)
class SearchResult:
    """Hits, best first; `degraded` says in words what could not be used. `listed` is how many notes the filters of a
    query let through, if it had no words or found nothing (None: nobody counted). `fit` tells how well the best fits
    the question (`core.ranking.floor`), also when it is below the floor and not among the hits."""

    hits: list[Hit]
    degraded: list[str]
    fit: float = 0.0
    listed: int | None = None


def whose(vault: Vault, user: str | None, scope: Scope | None = None, of_user: Scope = "user") -> tuple[str, Scope]:
    """The user and the scope to read; `of_user` is the scope of a user who names none. A vault without users has shared
    notes, where nobody need be named; in one with a single user that one and the shared notes are meant. Raises
    `UsageError` where several may be."""
    if user is not None:
        return vault.user_of(user), scope or of_user
    users = vault.user_ids()
    if scope == "shared" or (not users and scope != "user"):
        return layout.SHARED, "shared"
    if len(users) == 1:
        return users[0], scope or "all"
    if not users:
        raise UsageError("this vault has no user yet: leave the scope out to read the shared notes")
    named = ", ".join(users[:_MAX_NAMED]) + (", …" if len(users) > _MAX_NAMED else "")
    step = f"name one as the user (`--user {users[0]}`)"
    if of_user == "all":
        raise UsageError(f"this vault has {len(users)} users ({named}): {step}; what they share is read with each")
    raise UsageError(
        f"this vault has {len(users)} users ({named}): {step}, or read what they share with the scope `shared`"
    )
