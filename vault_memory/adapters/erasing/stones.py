"""Where tombstones are: the hashes in git's folder, `.git/vault-memory-tombstones`, where they go along when the vault
is moved; and outside every vault, with the key and the first commits of each, in the machine's state folder: a backup
is held against those of the vault that it is of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from vault_memory.adapters import files, git
from vault_memory.adapters.machine import state_folder
from vault_memory.core.erasing import KEY_BYTES, Tombstones
from vault_memory.errors import Unwritable

FILE = "vault-memory-tombstones"
_TIMEOUT_S = 1800.0
_BEGINS = "begins"


def read_tombstones(common_dir: Path) -> Tombstones | None:
    """Those of the vault with this git folder; None where nothing was erased, or this machine has not the key."""
    if not os.path.exists(common_dir / FILE) or not (known := _of_machine()):
        return None
    return _of(str(known.get("key")), files.read_private(common_dir / FILE, common_dir) or b"")


def write_tombstones(common_dir: Path, add: Tombstones) -> None:
    """Add to those of a vault, durably. The caller holds the vault's lock."""
    stones = read_tombstones(common_dir) or Tombstones(add.key)
    stones = Tombstones(add.key, stones.users | add.users, stones.paths | add.paths, stones.texts | add.texts)
    told = stones.as_dict()
    files.write_private(common_dir / FILE, json.dumps(told).encode(), common_dir)
    path = machine_file()
    with files.lock(path.with_suffix(".lock")):
        known = _of_machine()
        vaults = known.get("vaults", {})
        begins = sorted(_first_commits(common_dir) | _begins(vaults.get(str(common_dir))))
        vaults = {**vaults, str(common_dir): {**told, _BEGINS: begins}}
        files.write_private(path, json.dumps({"key": add.key.hex(), "vaults": vaults}).encode())


def tombstones_of_history(common_dir: Path) -> list[Tombstones]:
    """Those of each vault on this machine whose history began as that in this git folder does, or did before an
    erasing; and of each where nobody can tell."""
    known, first = _of_machine(), _first_commits(common_dir)
    found = [
        _of(str(known.get("key")), json.dumps(stored).encode())
        for stored in known.get("vaults", {}).values()
        if not first or not _begins(stored) or first & _begins(stored)
    ]
    return [each for each in found if each]


def _begins(stored: Any) -> set[str]:
    return set(map(str, stored.get(_BEGINS, ()))) if isinstance(stored, dict) else set()


def _first_commits(common_dir: Path) -> set[str]:
    """The ids of the commits without a parent, under all references; none where there is no history."""
    if not (common_dir / "HEAD").is_file():
        return set()
    args = ("--git-dir=.", "rev-list", "--max-parents=0", "--all")  # named, or git takes no folder like it for one
    return set(git.run(common_dir, *args, timeout_s=_TIMEOUT_S).decode().split())


def new_tombstones() -> Tombstones:
    """None yet, with the key of this machine, which is made for the first ones."""
    try:
        key = bytes.fromhex(_of_machine()["key"])
    except (KeyError, ValueError, TypeError):
        key = b""
    return Tombstones(key if len(key) == KEY_BYTES else os.urandom(KEY_BYTES))


def _of(key: str, stored: bytes) -> Tombstones | None:
    try:
        return Tombstones.of(bytes.fromhex(key), json.loads(stored))
    except (ValueError, KeyError, TypeError):
        return None


def _of_machine() -> dict[str, Any]:
    try:
        known = json.loads(files.read_private(machine_file()) or b"{}")
    except (ValueError, Unwritable):
        return {}
    return known if isinstance(known, dict) and isinstance(known.get("vaults"), dict) else {}


def machine_file() -> Path:
    """Where this machine keeps the key, and the hashes of all vaults in which something was erased."""
    try:
        return state_folder() / "erased.json"
    except RuntimeError as error:  # this user has no home folder
        raise Unwritable(
            f"there is no place for what is known of erased texts ({error}): set XDG_STATE_HOME"
        ) from error
