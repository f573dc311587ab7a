"""What this machine knows of its vaults: values that its person said yes to, and vaults whose tokens it made.

The record is one JSON file outside every vault, `trust.json` in the machine's state folder. It is keyed by the vault's
real path. A vault also holds a random id in `.vault-memory/machine.json`: another folder at the same path, or the vault
at another path, is not known. A record that is damaged, or that others may write, counts as empty: nothing is trusted.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.state import StateFile
from vault_memory.errors import ForeignFile, Unwritable, VaultMemoryError

_NAME = "trust.json"
NO_YES = "this machine has not said yes"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def state_folder() -> Path:
    """Where programs keep state on this machine: XDG_STATE_HOME if it is set, else the system's usual folder."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    if named.is_absolute():
        return named / "vault-memory"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "vault-memory"
    usual = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    return Path.home() / usual / "vault-memory"


def own_vaults() -> list[Path]:
    """The vaults that this machine has made, and that are still where they were. One that cannot be looked at is left
    out."""
    found = []
    for root in map(Path, _read()[0]):
        with suppress(VaultMemoryError, OSError, RuntimeError):  # the last: a link that leads to itself
            if MachineRecord(root).has_own_tokens():
                found.append(root)
    return found


class MachineRecord:
    """This machine's record of the vault at `root`. Values are named freely: settings by their key in the file."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._id = StateFile(self._root, "machine")

    def doubts(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Which of these values this machine has not said yes to, and why; a yes is for one value, exactly."""
        vaults, problem = _read()
        trusted = self._own(vaults).get("values", {})
        why = problem or NO_YES
        return {name: why for name, value in values.items() if name not in trusted or trusted[name] != value}

    def agreed(self, prefix: str) -> dict[str, Any]:
        """The values with a yes whose names begin with `prefix`, without it."""
        vaults, _ = _read()
        entry = vaults.get(str(self._root))
        named = entry.get("values") if isinstance(entry, dict) else None
        if not isinstance(named, dict) or not any(name.startswith(prefix) for name in named):
            return {}  # the usual case: the vault's own id is not read
        values = self._own(vaults).get("values", {})
        return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}

    def say_yes(self, values: Mapping[str, Any]) -> None:
        """Note the person's yes to exactly these values. Raises `Unwritable` or `Busy`."""
        self._update(lambda own: {**own, "values": {**own.get("values", {}), **values}})

    def has_own_tokens(self) -> bool:
        """Whether the tokens in this vault were made on this machine, by `init` or `restore`."""
        return self._own(_read()[0]).get("tokens") == "own"

    def note_own_tokens(self) -> None:
        """Note that this machine has just made the vault's tokens. Raises `Unwritable` or `Busy`."""
        self._update(lambda own: {**own, "tokens": "own"})

    def _own(self, vaults: Mapping[str, Any]) -> dict[str, Any]:
        """The entry of this vault; empty for a vault that is not known."""
        own = vaults.get(str(self._root))
        is_known = isinstance(own, dict) and own.get("id") and own["id"] == self._id.read().get("id")
        return own if isinstance(own, dict) and is_known and isinstance(own.get("values", {}), dict) else {}

    def _update(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        path = _record_path()
        _make_private(path.parent)
        with files.lock(path.with_suffix(".lock")):
            vaults, _ = _read()
            own = self._own(vaults)
            if not own:  # a new id: one that a copied folder brought along must not become this vault's
                own = {"id": os.urandom(16).hex()}
                self._id.write({"id": own["id"]})
            record = {**vaults, str(self._root): change(own)}
            text = json.dumps(record, ensure_ascii=True, indent=1, sort_keys=True) + "\n"
            files.write_private(path, text.encode())


def _record_path() -> Path:
    try:
        return state_folder() / _NAME
    except RuntimeError as error:  # this user has no home folder
        raise Unwritable(f"there is no place for this machine's record ({error}): set XDG_STATE_HOME") from error


def _read() -> tuple[dict[str, Any], str]:
    """All entries, by the path of the vault, and what is wrong with the record ("": nothing). HTTP callers are told
    what is wrong too, so it names no folder."""
    try:
        file = files.opened(_record_path())
    except FileNotFoundError:
        return {}, ""
    except ForeignFile:
        return {}, f"the record of what this machine trusts is no file: take away what is there ({_NAME})"
    except OSError as error:
        return {}, f"the record of what this machine trusts cannot be read ({error.strerror})"
    except Unwritable as error:
        return {}, str(error)
    with file:
        status = os.fstat(file.fileno())
        is_foreign = hasattr(os, "geteuid") and os.geteuid() not in (0, status.st_uid)
        if is_foreign or (os.name != "nt" and status.st_mode & _OTHERS_MAY_WRITE):
            return {}, "others may have written the record of what this machine trusts"
        try:
            record = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            record = None
    if not isinstance(record, dict):
        return {}, "the record of what this machine trusts is damaged"
    return record, ""


def _make_private(folder: Path) -> None:
    """Make the state folder, and keep others out of it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name != "nt" and stat.S_IMODE(folder.stat().st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise Unwritable(
            f"{folder} cannot be made private ({error.strerror or error}): this machine notes there what it trusts"
        ) from error
