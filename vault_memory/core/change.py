"""What changed between the files on disk and the files the index knows. Pure: it compares values that others gathered.

A file whose size, times and inode are as the index recorded them is taken to be unchanged, as git's index does. A file
that changed within `RACY_NS` of being read may change again without a new time stamp, so its state is recorded without
one (`recorded`) and it is read again at the next look. Deletions are only proposed: `is_mass_deletion` tells when to ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

RACY_NS = 2_000_000_000
"""2 s: the coarsest time stamp in use (FAT); ext4's is about 4 ms, network drives lie in between."""

MASS_SHARE = 0.2
MASS_COUNT = 50
FEW = 4
"""A person with five notes deletes two of them without being asked; below this count a share says nothing."""


Identity = tuple[int, int, int, int]
"""A `Stat`, or the same numbers as a plain tuple."""


class Stat(NamedTuple):
    """A file's identity, from `lstat`: size in bytes, times in ns since 1970, inode number."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True)
class Change:
    """Sources to read (`added`, `modified`), sources that are no longer there (`removed`), and how many are as known."""

    added: tuple[str, ...]
    modified: tuple[str, ...]
    removed: tuple[str, ...]
    same: int


def compare(on_disk: Mapping[str, Identity], known: Mapping[str, Identity], unseen: Sequence[str] = ()) -> Change:
    """Compare what a scan found with what the index recorded.

    `unseen` are folders and files that could not be looked at (`""` the scope itself): neither they nor what lies in
    them is taken to be removed.
    """
    added, modified = [], []
    for source, stat in on_disk.items():
        before = known.get(source)
        if before is None:
            added.append(source)
        elif before != stat:
            modified.append(source)
    missing = (source for source in known if source not in on_disk)
    removed = tuple(source for source in missing if not any(_within(source, place) for place in unseen))
    return Change(tuple(added), tuple(modified), removed, len(on_disk) - len(added) - len(modified))


def _within(source: str, place: str) -> bool:
    return place in ("", source) or source.startswith(f"{place}/")


def recorded(stat: Stat, now_ns: int) -> Stat:
    """The identity to record for a file read at `now_ns`: of a file touched just before, one that never compares equal.

    A time in the future (a clock that jumped) counts as just before: such a file is read at every look, and stays right.
    """
    young = max(stat.mtime_ns, stat.ctime_ns) > now_ns - RACY_NS
    return stat._replace(mtime_ns=0) if young else stat


def is_mass_deletion(removed: int, known: int) -> bool:
    """Whether `removed` of `known` files are more than a person deletes in passing: above 50, or above a fifth."""
    return removed > MASS_COUNT or (removed > FEW and removed > MASS_SHARE * known)
