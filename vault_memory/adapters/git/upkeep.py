"""Keep a repository fast and small: the graph of commits by which a file's history is found, packs, and how it grows.

Objects written one by one never make git tidy up by itself, as its own commands do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters.git import process as git

TIMEOUT_S = 1800.0
MANY_LOOSE = 2_000
MANY_PACKS = 40


@dataclass(frozen=True)
class Growth:
    """What a repository's objects take: bytes on disk, how many lie loose, and in how many packs the others are."""

    bytes: int
    loose: int
    packs: int


def growth(git_dir: Path) -> Growth:
    """Measure the object database, by looking at its files."""
    total = loose = packs = 0
    for folder, _, names in os.walk(git_dir / "objects"):
        place = Path(folder)
        is_fan_out = len(place.name) == 2
        for name in names:
            try:
                total += (place / name).stat().st_size
            except FileNotFoundError:
                continue  # packed since it was listed
            loose += is_fan_out
            packs += name.endswith(".pack")
    return Growth(total, loose, packs)


def outside_graph(root: Path) -> int:
    """How many commits of HEAD came after the commit graph was written last."""
    graph = _newest_graph(root)
    since = [f"--since=@{int(graph)}"] if graph else []
    return int(git.run(root, "rev-list", "--count", *since, "HEAD", "--"))


def _newest_graph(root: Path) -> float:
    info = root / git.run(root, "rev-parse", "--git-path", "objects/info").decode().strip()
    files = [info / "commit-graph", info / "commit-graphs" / "commit-graph-chain"]
    return max((file.stat().st_mtime for file in files if file.is_file()), default=0.0)


def write_graph(root: Path) -> None:
    """Note for every commit its parents and, as a Bloom filter, the paths it changed: `git log -- PATH` then skips nearly all."""
    git.run(root, "commit-graph", "write", "--reachable", "--changed-paths", "--split", timeout_s=TIMEOUT_S)


def pack(root: Path, found: Growth) -> None:
    """Put loose objects into a pack, and many packs into one; what no commit holds is kept, loose."""
    if found.packs > MANY_PACKS:
        git.run(root, "repack", "-A", "-d", "-l", "--quiet", timeout_s=TIMEOUT_S)
    elif found.loose > MANY_LOOSE:
        git.run(root, "repack", "-d", "-l", "--quiet", timeout_s=TIMEOUT_S)
