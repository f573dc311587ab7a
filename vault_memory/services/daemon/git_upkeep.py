"""Keep the git repository fast and small. Runs when nobody writes, and only when there is enough to do."""

from __future__ import annotations

from vault_memory.adapters.git import upkeep
from vault_memory.services.vault import Vault

_IDLE_S = 60
_NEW_COMMITS = 500
"""So many commits outside the commit graph cost `git log -- PATH` about 1 ms."""


def maintain(vault: Vault) -> str:
    """Extend the commit graph and pack loose objects where there are many; return what was done, in words."""
    root = vault.history.root
    newest = vault.history.log(limit=1)
    if not newest:
        return "nothing to do yet"
    if 0 <= (vault.now() - newest[0].time).total_seconds() < _IDLE_S:
        return "somebody is writing: later"
    done = []
    new = upkeep.outside_graph(root)
    if new > _NEW_COMMITS:
        upkeep.write_graph(root)
        done.append(f"{new} commits added to the commit graph")
    before = upkeep.growth(vault.history.git_dir)
    if before.loose > upkeep.MANY_LOOSE or before.packs > upkeep.MANY_PACKS:
        upkeep.pack(root, before)
        after = upkeep.growth(vault.history.git_dir)
        done.append(f"{before.loose} loose objects packed: {before.bytes / 1e6:.1f} MB → {after.bytes / 1e6:.1f} MB")
    return ", ".join(done) or "nothing to do yet"
