"""The notes around a note: those that it links to, those that link to it, those with its tags, those that say alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from vault_memory.adapters.index import Index
from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.services.notes import gone
from vault_memory.services.retrieval.query import MAX_TOP_K, Scope
from vault_memory.services.retrieval.read_named import find_note
from vault_memory.services.retrieval.search import reader, refresh
from vault_memory.services.vault import Vault

MIN_NEARNESS = 0.3
"""Notes less near than this by their vectors alone say nothing of each other."""


@dataclass(frozen=True)
class Related:
    """A note and what ties it to the one that was asked about: a link to it (`is_linked`) or from it (`links_back`),
    the tags that both have, and how near its nearest passage is (0 to 1, 0 without vectors). `score` is the mean of the
    four, tags by their share of those of both. `path` is from the root of the vault."""

    source: str
    scope: str
    path: str
    is_linked: bool = False
    links_back: bool = False
    tags: tuple[str, ...] = ()
    nearness: float = 0.0
    score: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return asdict(self) | {"scope": self.scope or "shared", "tags": list(self.tags)}

    @property
    def why(self) -> str:
        """What ties it, in words."""
        ties = ["linked"] * self.is_linked + ["links back"] * self.links_back
        ties += [f"#{tag}" for tag in self.tags]
        return ", ".join([*ties, *([f"near {self.nearness:.2f}"] if self.nearness else [])])


def related(vault: Vault, user_id: str, name: str, scope: Scope = "user", top_k: int = 10) -> list[Related]:
    """The notes of the same scope that belong most to the note that is called `name`, best first. Raises `NotFound`,
    and `UsageError` where several notes are called so."""
    if not 1 <= top_k <= MAX_TOP_K:
        raise UsageError(f"top_k must be 1 to {MAX_TOP_K}, not {top_k}")
    with reader(vault, user_id, scope):
        return _around(vault, user_id, name, scope, top_k)


def _around(vault: Vault, user_id: str, name: str, scope: Scope, top_k: int) -> list[Related]:
    home, source = find_note(vault, user_id, scope, name)
    refresh(vault, [home])
    index = vault.index(home)
    own = index.ties(source)
    found: dict[str, Related] = {}

    def of(other: str) -> Related:
        return found.get(other) or Related(other, home, str(layout.scope_dir(home) / other))

    for other in _called(index, own.links):
        found[other] = replace(of(other), is_linked=True)
    for other in index.linking(own.names):
        found[other] = replace(of(other), links_back=True)
    for other, tags in index.tagged(own.tags).items():
        shared = tuple(tag for tag in own.tags if tag in tags)
        found[other] = replace(of(other), tags=shared, score=len(shared) / len({*own.tags, *tags}))
    for other, nearness in index.near(source, 3 * top_k).items():
        if other in found or nearness >= MIN_NEARNESS:
            found[other] = replace(of(other), nearness=round(max(0.0, nearness), 4))
    for other in (source, *gone(vault, home, found)):
        found.pop(other, None)
    scored = (
        replace(each, score=round((each.is_linked + each.links_back + each.score + each.nearness) / 4, 4))
        for each in found.values()
    )
    return sorted(scored, key=lambda each: (-each.score, each.source))[:top_k]


def _called(index: Index, names: Iterable[str]) -> Iterable[str]:
    """The notes that links lead to: of those that are called so, the ones that are called so most of all."""
    for name in names:
        called = index.called(name)
        yield from (source for source, how in called if how == called[0][1])
