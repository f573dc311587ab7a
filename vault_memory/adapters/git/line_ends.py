"""A file's bytes with its line ends as git would change them, and nothing else: no filter, no encoding, no `$Id$`.

Git changes line ends and encoding in one go, and no setting of a command switches the encoding off: the attributes in
`.git/info` count for more than any other. So git is asked in an empty repository with attributes for line ends alone.
It looks at the vault's git index, too: `text=auto` leaves a file as it is that has CRLF there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.settings import Place, settings_at

_PREFIX = {"set": "", "unset": "-", "unspecified": "!"}


def in_git(place: Place, path: PurePosixPath, attributes: Mapping[str, str], content: bytes) -> bytes:
    """A text's bytes as git would hold them. `attributes` are those for line ends, as `git check-attr`
    prints them: name → value."""
    return _converted(place, attributes, content, [f"--path={path}"], ["blob"])


def on_disk(place: Place, path: PurePosixPath, attributes: Mapping[str, str], content: bytes) -> bytes:
    """The bytes that git would write for a text that it holds."""
    return _converted(place, attributes, content, ["--no-filters"], ["--filters", f"--path={path}"])


def _converted(
    place: Place,
    attributes: Mapping[str, str],
    content: bytes,
    to_store: Sequence[str],
    to_show: Sequence[str],
) -> bytes:
    rules = [_PREFIX[value] + name if value in _PREFIX else f"{name}={value}" for name, value in attributes.items()]
    settings = settings_at(place).values
    named = [f"{key}={settings[key]}" for key in ("core.autocrlf", "core.eol") if key in settings]
    named += ["core.safecrlf=false", f"core.attributesFile={os.devnull}"]
    options = [option for setting in named for option in ("-c", setting)]
    extra = {
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_INDEX_FILE": str(place.git_dir / "index"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(place.common_dir / "objects"),
    }
    with tempfile.TemporaryDirectory(prefix="vault-memory-") as name:
        folder = Path(name)
        git.run(folder, "init", "--quiet", "--template=")
        info = folder / ".git" / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(f"* {' '.join(rules)}\n", encoding="utf-8")
        store = ("hash-object", "-w", "--stdin", *to_store)
        blob = git.run(folder, *options, *store, stdin=content, extra=extra).decode().strip()
        return git.run(folder, *options, "cat-file", *to_show, blob, extra=extra)
