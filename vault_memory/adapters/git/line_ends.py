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
from vault_memory.adapters.git.repository import LINE_END_ATTRIBUTES, Repository

_PREFIX = {"set": "", "unset": "-", "unspecified": "!"}


def in_git(repository: Repository, path: PurePosixPath, attributes: Mapping[str, str], content: bytes) -> bytes:
    """A text's bytes as git would hold them. `attributes` as `git check-attr` prints them: name → value."""
    return _converted(repository, attributes, content, [f"--path={path}"], ["blob"])


def on_disk(repository: Repository, path: PurePosixPath, attributes: Mapping[str, str], content: bytes) -> bytes:
    """The bytes that git would write for a text that it holds."""
    return _converted(repository, attributes, content, ["--no-filters"], ["--filters", f"--path={path}"])


def _converted(
    repository: Repository,
    attributes: Mapping[str, str],
    content: bytes,
    to_store: Sequence[str],
    to_show: Sequence[str],
) -> bytes:
    values = {name: attributes[name] for name in LINE_END_ATTRIBUTES}
    rules = [_PREFIX[value] + name if value in _PREFIX else f"{name}={value}" for name, value in values.items()]
    settings = repository.settings()
    named = [f"{key}={settings[key]}" for key in ("core.autocrlf", "core.eol") if key in settings]
    named += ["core.safecrlf=false", f"core.attributesFile={os.devnull}"]
    options = [option for setting in named for option in ("-c", setting)]
    extra = {
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_INDEX_FILE": str(repository.git_dir / "index"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository.common_dir / "objects"),
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
