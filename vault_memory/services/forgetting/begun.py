"""What is being forgotten: a small private file beside the user's records, from before the first change until the last
one is made. Who finds it there after a kill or a full disk goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import layout, reading
from vault_memory.core.forgetting import Sought
from vault_memory.errors import ForeignFile
from vault_memory.services.vault import Vault

BEGUN_FILE = ".forgetting.json"
WAIT_S = 30.0


@dataclass(frozen=True)
class Begun:
    """What is sought, and the `sources` of the user's files that change: the index is to hear of them."""

    sought: Sought
    sources: tuple[str, ...]


def write_begun(vault: Vault, user_id: str, begun: Begun) -> None:
    """Note durably what is to be forgotten. Raises `Unwritable` or `ForeignFile`."""
    noted = {"sought": begun.sought.as_dict(), "sources": [*begun.sources]}
    content = json.dumps(noted, ensure_ascii=False).encode("utf-8", "backslashreplace")
    files.write_private(_path(vault, user_id), content, _home(vault, user_id), within=vault.root)


def read_begun(vault: Vault, user_id: str) -> Begun | None:
    """What is still being forgotten; None for nothing. Raises `ForeignFile` for a file that is not of this form."""
    stored = files.read_private(_path(vault, user_id), _home(vault, user_id))
    if stored is None:
        return None
    try:
        noted = reading.json_value(stored)
        return Begun(Sought.read(noted["sought"]), tuple(map(str, noted["sources"])))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        path = _path(vault, user_id)
        raise ForeignFile(f"{path} does not say what is to be forgotten: delete it, and forget that again") from error


def end_begun(vault: Vault, user_id: str) -> None:
    """It is done, or none of it is."""
    files.remove_private(_path(vault, user_id), _home(vault, user_id), vault.root)


@contextmanager
def forgetting_lock(vault: Vault, user_id: str) -> Iterator[None]:
    """One forgets at a time. Raises `Busy`."""
    name = f"{layout.check_user_id(user_id).casefold()}.lock"
    with files.lock(vault.root / layout.STATE_DIR / "locks" / "forgetting" / name, WAIT_S, vault.root):
        yield


def _home(vault: Vault, user_id: str) -> Path:
    return vault.root / layout.user_dir(user_id)


def _path(vault: Vault, user_id: str) -> Path:
    return _home(vault, user_id) / layout.CONVERSATIONS_DIR / BEGUN_FILE
