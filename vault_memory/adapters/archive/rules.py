"""What an archive may hold: how much, under which names, and where its links may lead."""

from __future__ import annotations

import os
import tarfile
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.core import layout

MAX_HEADER_BYTES = 1_000_000
"""Of one member's headers: names and extended attributes. tarfile holds them in memory."""
LeaveOut = Callable[[PurePosixPath, bool], bool]
"""Whether `unpack` leaves a member out: its name, and whether it is a symbolic link."""
_MAX_LINKS_FOLLOWED = 40
_CLOSED = (".git", ".vault-memory")  # a link must not lead here: what reads or writes a note would reach our own files


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to, so that a small file cannot fill the disk.

    The text of notes is packed to a tenth, a very repetitive log to a hundredth; zeros to a thousandth. A member takes
    at least 20 bytes of an archive when its name, time and content are unlike the next one's.
    """

    bytes_per_archive_byte: int = 200
    more_bytes: int = 256 << 20
    archive_bytes_per_member: int = 20
    more_members: int = 10_000
    spare_bytes: int = 64 << 20
    """Stay free on the disk."""

    def most_bytes(self, archive_bytes: int) -> int:
        """Of all files in an archive of that size."""
        return self.more_bytes + archive_bytes * self.bytes_per_archive_byte

    def most_members(self, archive_bytes: int) -> int:
        """Of an archive of that size."""
        return self.more_members + archive_bytes // self.archive_bytes_per_member


DEFAULT_LIMITS = Limits()


def checked_name(text: str, is_folder: bool) -> PurePosixPath:
    """A member's name, if it stays inside and means the same on every file system. Raises `TarError`."""
    name = PurePosixPath(text)
    if name.is_absolute() or ".." in name.parts or not (name.parts or is_folder):
        raise tarfile.TarError(f"{text!r} is not a path inside the backup")
    if os.name == "nt" and any(char in text for char in "\\:"):
        raise tarfile.TarError(f"{text!r} is not a file name on Windows")
    if len(name.parts) > layout.MAX_DEPTH:
        raise tarfile.TarError(f"{text[:100]!r}… is nested more than {layout.MAX_DEPTH} folders deep")
    disguised = next((part for part in name.parts if _plain(part) in _CLOSED and part not in _CLOSED), None)
    if disguised:
        raise tarfile.TarError(f"{text!r}: {disguised!r} is another way to write {_plain(disguised)!r}")
    return name


def check_links(links: Mapping[PurePosixPath, str]) -> None:
    """Raise `TarError` if a link, followed through all other links, leaves the folder or enters git's files or ours.

    `links`: name of each link → where it points.
    """
    bad = next(iter(links_out(links)), None)
    if bad is not None:
        raise tarfile.TarError(f"{str(bad)!r} is a link to {links[bad]!r}, which is not among the notes")


def links_out(links: Mapping[PurePosixPath, str]) -> list[PurePosixPath]:
    """The links that, followed through all the others, leave the folder or enter git's files or ours."""
    targets = {_folded(name): target for name, target in links.items()}
    return [name for name in links if _leads_out(name, targets)]


def _leads_out(link: PurePosixPath, targets: dict[tuple[str, ...], str]) -> bool:
    """Whether a link, followed through all other links, leaves the folder or enters git's files or ours.

    Decided by names alone. `targets`: folded name of each link → where it points.
    """
    here = list(link.parent.parts)
    ahead = list(reversed(_parts(targets[_folded(link)])))
    followed = 0
    if any(_plain(part) in _CLOSED for part in here):
        return True
    while ahead:
        part = ahead.pop()
        if part == "/" or (part == ".." and not here):
            return True
        if part in ("", ".", ".."):
            del here[len(here) - (part == "..") :]
            continue
        here.append(part)
        if _plain(part) in _CLOSED:
            return True
        target = targets.get(_folded(PurePosixPath(*here)))
        if target is not None:
            followed += 1
            if followed > _MAX_LINKS_FOLLOWED:
                return True
            here.pop()
            ahead.extend(reversed(_parts(target)))
    return False


def _parts(target: str) -> tuple[str, ...]:
    if os.name == "nt":
        target = target.replace("\\", "/")
    return ("/",) if target.startswith("/") else tuple(target.split("/"))


def _folded(name: PurePosixPath) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in name.parts)


def _plain(part: str) -> str:
    """A name as the most forgiving file system reads it: no case, no invisible characters, no dots at its end."""
    visible = "".join(char for char in part if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", visible).casefold().rstrip(". ")
    return ".git" if plain == "git~1" else plain
