"""Bring the index of a scope up to what its files say: the one way anything enters an index.

Whoever thinks that a file changed (the daemon after an edit, a turn after its own write, a person with `reindex`) asks
for this; what really changed is decided here, by comparing the disk with the index. It may be run at any time, by several
processes at once, and any number of times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Report:
    """What became of the sources of a scope.

    `failed` maps a source to what is wrong with it (part of it may be indexed all the same). `held` are deletions that
    were not applied because they are so many; `confirm_deletions` applies them.
    """

    scope: str
    indexed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    unchanged: int = 0


def reconcile(
    vault: Vault,
    scope: str,
    sources: Iterable[str] | None = None,
    *,
    full_hash: bool = False,
    confirm_deletions: bool = False,
) -> Report:
    """Index what changed in a scope; with `sources` look at those only.

    `full_hash` reads every file instead of trusting size, times and inode. Text can be found when this returns; vectors
    that an endpoint must compute follow with `embed`. Raises `Busy` or `IndexUnusable`; a file that cannot be read
    raises nothing, it is in `failed`.
    """
    raise NotImplementedError


def embed(vault: Vault, scope: str) -> int:
    """Compute vectors for up to 256 chunks of a scope that have none; returns how many are left."""
    raise NotImplementedError
