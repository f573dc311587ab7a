"""Keep a repository fast, small and its owner's: its commit graph, by which a file's history is found, its packs, its
growth, and what root has made in it.

Objects written one by one never make git tidy up by itself, as its own commands do.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.repository import Repository
from vault_memory.adapters.scan import walk

_TIMEOUT_S = 1800.0
_MAX_LOOSE_OBJECTS = 2_000
_MAX_PACKS = 40


@dataclass(frozen=True)
class Growth:
    """The size of a repository's objects: bytes on disk, the number of loose objects, and of packs."""

    bytes: int
    loose: int
    packs: int

    @property
    def needs_packing(self) -> bool:
        """Whether `pack_objects` would do something."""
        return self.loose > _MAX_LOOSE_OBJECTS or self.packs > _MAX_PACKS


def growth(git_dir: Path) -> Growth:
    """Measure the object database, by looking at its files."""
    total = loose = packs = 0
    for top, _, names in walk(git_dir / "objects"):
        folder = Path(top)
        is_fan_out = len(folder.name) == 2
        for name in names:
            try:
                total += (folder / name).stat().st_size
            except FileNotFoundError:
                continue  # packed since it was listed
            loose += is_fan_out
            packs += name.endswith(".pack")
    return Growth(total, loose, packs)


def pack_objects(root: Path, size: Growth) -> None:
    """Put loose objects into a pack, and many packs into one. Objects that no commit holds stay, loose."""
    if size.packs > _MAX_PACKS:
        git.run(root, "repack", "-A", "-d", "-l", "--quiet", timeout_s=_TIMEOUT_S, memory_bytes=None)
    elif size.loose > _MAX_LOOSE_OBJECTS:
        git.run(root, "repack", "-d", "-l", "--quiet", timeout_s=_TIMEOUT_S, memory_bytes=None)
    give_to_owner(Repository(root).common_dir)


def commits_outside_graph(root: Path) -> int:
    """How many commits of HEAD are newer than the commit graph."""
    written = _graph_time(root)
    since = [f"--since=@{int(written)}"] if written else []
    return int(git.run(root, "rev-list", "--count", *since, "HEAD", "--"))


def _graph_time(root: Path) -> float:
    info = root / git.run(root, "rev-parse", "--git-path", "objects/info").decode().strip()
    graphs = [info / "commit-graph", info / "commit-graphs" / "commit-graph-chain"]
    return max((graph.stat().st_mtime for graph in graphs if graph.is_file()), default=0.0)


def write_commit_graph(root: Path) -> None:
    """Note each commit's parents and changed paths (a Bloom filter): `git log -- PATH` then skips most commits."""
    git.run(root, "commit-graph", "write", "--reachable", "--changed-paths", "--split", timeout_s=_TIMEOUT_S)
    give_to_owner(Repository(root).common_dir)


def give_to_owner(git_dir: Path) -> None:
    """Give the objects and references that a git of root's has made to the repository's owner, who could not read or
    replace them. A file with a second name may be another one, and is left."""
    owner = git_dir.stat()
    if os.name == "nt" or os.geteuid() != 0 or owner.st_uid == 0:
        return
    for part in ("objects", "refs", "logs"):
        for _, _, names, folder in os.fwalk(git_dir / part):
            _give(folder, owner)
            for name in names:
                try:
                    number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
                except OSError:  # a link, or packed since it was listed
                    continue
                try:
                    _give(number, owner)
                finally:
                    os.close(number)


def _give(number: int, owner: os.stat_result) -> None:
    status = os.fstat(number)
    if status.st_uid == 0 and (stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)):
        os.fchown(number, owner.st_uid, owner.st_gid)
