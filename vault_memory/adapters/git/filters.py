"""Which blob git would make of a file's bytes: the bytes themselves, unless line ends are converted or a filter is set.

A vault's own `.gitattributes` says `* -text`, so nothing is converted there. In a larger repository, or where a person
encrypts notes with a filter, git is asked; writing the plain bytes then would show every line changed, or worse, put
in the open what was to be encrypted.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.objects import Objects, object_id
from vault_memory.adapters.git.repository import Repository

_FILTERED = re.compile(rb"^[^#\n]*\s(?:filter=|ident\b|working-tree-encoding=)", re.MULTILINE)
_LINE_ENDS = re.compile(rb"^[^#\n]*\s(?:text\b|eol=|crlf\b)", re.MULTILINE)


class Filters:
    """The conversions of one repository, read once: make a new one for each task. Paths are from its top."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects
        self._texts: dict[Path, bytes] = {}
        self._by_folder: dict[PurePosixPath, bytes] = {}

    def blob(self, path: PurePosixPath, content: bytes | None) -> str | None:
        """The id of the blob that git would make of a file's bytes; None for no file."""
        if content is None:
            return None
        if self._converts(path, content):
            return self._ask(path, content, "--stdin")
        return object_id("blob", content)

    def add(self, path: PurePosixPath, content: bytes | None) -> str | None:
        """The same, and the blob becomes one of the new objects."""
        if content is None:
            return None
        if self._converts(path, content):
            return self._ask(path, content, "-w", "--stdin")
        return self._objects.add("blob", content)

    def _ask(self, path: PurePosixPath, content: bytes, *args: str) -> str:
        sync = ("-c", "core.fsync=loose-object")
        out = git.run(self._repository.top, *sync, "hash-object", f"--path={path}", *args, stdin=content)
        return out.decode().strip()

    def _converts(self, path: PurePosixPath, content: bytes) -> bool:
        attributes = self._attributes(path)
        if _FILTERED.search(attributes):
            return True
        if b"\r\n" not in content:  # only these two bytes are ever converted on the way into git
            return False
        setting = self._repository.settings().get("core.autocrlf", "false").lower()
        return setting in ("true", "yes", "on", "1", "input") or _LINE_ENDS.search(attributes) is not None

    def _attributes(self, path: PurePosixPath) -> bytes:
        """The text of every attributes file that may speak of a path."""
        if path.parent in self._by_folder:
            return self._by_folder[path.parent]
        home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
        named = self._repository.settings().get("core.attributesfile")
        places = [self._repository.common_dir / "info" / "attributes"]
        places += [Path(named).expanduser() if named else home / "git" / "attributes"]
        places += [self._repository.top / folder / ".gitattributes" for folder in path.parents]
        for place in places:
            if place not in self._texts:
                try:
                    self._texts[place] = files.read(place) or b""
                except OSError:  # unreadable to us, and so to git, which goes on without it
                    self._texts[place] = b""
        found = b"\n".join(self._texts[place] for place in places)
        self._by_folder[path.parent] = found
        return found
