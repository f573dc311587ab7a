"""Where tombstones are: the hashes in git's folder, `.git/vault-memory-tombstones`, where they go along when the vault
is moved; and outside every vault, with the key, in the machine's state folder: a restored vault is held against
those."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.machine import state_folder
from vault_memory.core.erasing import KEY_BYTES, Tombstones
from vault_memory.errors import Unwritable

FILE = "vault-memory-tombstones"


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
        vaults = {**known.get("vaults", {}), str(common_dir): told}
        files.write_private(path, json.dumps({"key": add.key.hex(), "vaults": vaults}).encode())


def tombstones_of_machine() -> list[Tombstones]:
    """Those of every vault in which this machine has erased something."""
    known = _of_machine()
    found = (_of(str(known.get("key")), json.dumps(each).encode()) for each in known.get("vaults", {}).values())
    return [each for each in found if each]


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
