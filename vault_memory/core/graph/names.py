"""The names of entities: when two are one, the file that one gets, and the link to it.

A name may be any line of text. The name of its file is what every system and Obsidian can have and a link can hold; the
note keeps the true name.
"""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import PurePosixPath

from vault_memory.core import layout
from vault_memory.core.reading import without_surrogates
from vault_memory.core.text import normalize
from vault_memory.errors import UsageError

MAX_NAME_CHARS = 500
MAX_STEM_BYTES = 120
"""Of the name of a file, which has 255 bytes on most disks, and less in synced folders."""

_NOT_IN_A_LINK = re.compile(r"[\\/:*?\"<>|#^\[\]`\x00-\x1f\x7f-\x9f\u2028\u2029]+|%{2,}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_IGNORED_ON_DISKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060\u206a-\u206f\ufe00-\ufe0f\ufeff]")
_NUMBERED = re.compile(r" \d{1,6}")
_NOT_SHOWN = re.compile(r"[\[\]|`\\]|%%")


def name_key(name: str) -> str:
    """What two names have in common that are one: they may differ in case, width and blanks."""
    if name.isascii():
        return " ".join(name.lower().split())
    return " ".join(normalize("NFKC", normalize("NFKC", name).casefold()).split())


def checked_name(name: str) -> str:
    """The name as it is kept: on one line, at most `MAX_NAME_CHARS` characters. Raises `UsageError`."""
    if not isinstance(name, str):
        raise UsageError(f"the name of an entity is a text, not {str(name)[:60]!r}")
    found = spaced(normalize("NFC", without_surrogates(name)))
    if not found:
        raise UsageError("the name of an entity is empty: say what it is called")
    if len(found) > MAX_NAME_CHARS:
        raise UsageError(f"the name of an entity has at most {MAX_NAME_CHARS} characters, not {len(found):,}")
    if _CONTROLS.search(found):
        raise UsageError(f"the name {found[:60]!r} holds control characters: leave them out")
    return found


def spaced(text: str) -> str:
    """The text on one line, each run of blanks as one; without characters that only turn or hide what follows. Those
    that join emoji and letters stay."""
    return " ".join(_UNSEEN.sub("", text).split())


def file_stem(name: str, taken: Container[str] = ()) -> str:
    """The name of the file of an entity, without `.md`: its own where every system can have that. `taken` holds the
    `disk_key` of each name that another file has; then a number follows."""
    stem = _possible_stem(name)
    number, found = 1, stem
    while disk_key(found) in taken:
        number += 1
        found = f"{stem} {number}"
    return found


def is_stem_of(stem: str, name: str) -> bool:
    """Whether a file of this name is one that an entity of that name got; else somebody has renamed it."""
    own, found = name_key(_possible_stem(name)), name_key(stem)
    return found == own or (found.startswith(own) and _NUMBERED.fullmatch(found[len(own) :]) is not None)


def disk_key(stem: str) -> str:
    """The name of a file without what some disks ignore in it: two with the same one cannot stand side by side."""
    return name_key(_IGNORED_ON_DISKS.sub("", stem))


def link(stem: str, name: str) -> str:
    """The link to an entity's note, which shows its true name if a link can hold that."""
    if name == stem or _NOT_SHOWN.search(name):
        return f"[[{stem}]]"
    return f"[[{stem}|{name}]]"


def _possible_stem(name: str) -> str:
    stem = _plain(normalize("NFC", name))
    if not _is_kept(stem):
        stem = _plain(re.sub(r"[.~]+", "-", stem))
    return stem if stem and _is_kept(stem) else f"entity {stem}".rstrip()


def _plain(text: str) -> str:
    cut = re.sub(r"-{2,}", "-", _NOT_IN_A_LINK.sub("-", text)) if _NOT_IN_A_LINK.search(text) else text
    cut = cut.encode("utf-8", "replace")[:MAX_STEM_BYTES].decode("utf-8", "ignore")
    return " ".join(cut.split()).lstrip(".~ ").rstrip(".\u200d ")


def _is_kept(stem: str) -> bool:
    """Whether a file of this name is watched, indexed and committed, on every system, and links lead to it."""
    path = PurePosixPath(layout.MEMORY_DIR, "user", "entities", f"{stem}.md")
    is_hidden = layout.is_temporary(path.name) or layout.is_private(path) or layout.is_for_programs(path)
    is_linked = not stem.lower().endswith(".md")  # a link to `README.md` leads to the note `README`
    return bool(stem) and is_linked and not is_hidden and not layout.is_device(stem) and not layout.is_misplaced(path)
