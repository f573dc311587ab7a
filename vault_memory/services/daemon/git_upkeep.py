"""Keep the git repository fast and small, while nobody writes and when there is enough to do."""

from __future__ import annotations

from vault_memory.adapters.git import commits_outside_graph, growth, pack_objects, write_commit_graph
from vault_memory.services.vault import Vault

_IDLE_S = 60
_MAX_COMMITS_OUTSIDE_GRAPH = 500
"""That many cost `git log -- PATH` about 1 ms."""


def maintain_git(vault: Vault) -> str:
    """Extend the commit graph, pack loose objects where there are many, and return what was done, in words."""
    root = vault.history.root
    newest = vault.history.log(limit=1)
    if not newest:
        return "nothing to do yet"
    if 0 <= (vault.now() - newest[0].time).total_seconds() < _IDLE_S:
        return "files were just committed: later"
    done = []
    new = commits_outside_graph(root)
    if new > _MAX_COMMITS_OUTSIDE_GRAPH:
        write_commit_graph(root)
        done.append(f"{new} commits added to the commit graph")
    before = growth(vault.history.git_dir)
    if before.needs_packing:
        pack_objects(root, before)
        after = growth(vault.history.git_dir)
        done.append(f"{before.loose} loose objects packed: {before.bytes / 1e6:.1f} MB → {after.bytes / 1e6:.1f} MB")
    return ", ".join(done) or "nothing to do yet"
