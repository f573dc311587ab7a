"""Codes with which a person confirms what they have been shown: one code opens what one user has chosen, once, for a
few minutes, in the state in which it was shown. Without it nothing happens.

What waits for its code is a small file of the state for each user.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault

CODE_CHARS, CODE_LIVES = 6, timedelta(minutes=5)
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without the letters and digits that look alike."""
MAX_WRONG_CODES = 5
"""So many wrong codes end all that waits of the user: to guess one of a billion nobody has more tries."""
MAX_WAITING = 5
"""So many of one user wait at once; with one more the oldest ends."""


class Codes:
    """The codes of one user for one kind of act: `folder` names its part of the state; `act` and `verb` are how it is
    called («deletion», «delete»). What is `chosen` is a table of names and hashes."""

    def __init__(self, vault: Vault, folder: str, user_id: str, act: str, verb: str) -> None:
        self._now = vault.now
        self._state = StateFile(vault.root, f"{folder}/{layout.check_user_id(user_id)}")
        self._act, self._verb = act, verb

    def offer(self, chosen: Mapping[str, str], also: Sequence[str] = ()) -> tuple[str, datetime]:
        """A code for what is chosen, and until when it counts. What goes along (`also`) is named, too."""
        code = "".join(secrets.choice(_ALPHABET) for _ in range(CODE_CHARS))
        now = self._now()
        expires_at = now + CODE_LIVES
        waiting = {"expires_at": expires_at.isoformat(), "chosen": dict(chosen), "also": [*also], "wrong": 0}
        self._state.update(lambda stored: {**_newest(_unexpired(stored, now)), code: waiting})
        return code, expires_at

    def take(self, code: str) -> tuple[dict[str, str], tuple[str, ...]]:
        """What waits for a code, and waits no longer: what was chosen, and what goes along. Raises `UsageError` if
        nothing does."""
        if not isinstance(code, str):
            raise UsageError(f"a code is a text, not {str(code)[:60]!r}: name the one that was shown")
        taken: dict[str, Any] = {}

        def without(stored: dict[str, Any]) -> Mapping[str, Any]:
            waiting = _unexpired(stored, self._now())
            taken.update(waiting.pop(code.strip().upper(), {}))
            if taken:
                return waiting
            tried = {each: {**row, "wrong": row["wrong"] + 1} for each, row in waiting.items()}
            return {each: row for each, row in tried.items() if row["wrong"] < MAX_WRONG_CODES}

        self._state.update(without)
        if not taken:
            raise UsageError(
                f"no {self._act} waits for this code: it is wrong, was used, or is older than five minutes; choose "
                f"again what to {self._verb} ({MAX_WRONG_CODES} wrong codes end every {self._act} that waits)"
            )
        return taken["chosen"], tuple(map(str, taken.get("also", ())))

    def drop(self, names: Collection[str] | None = None) -> None:
        """End what waits and chose one of these names (None: all), and forget what is over: names may say what they
        are about."""
        if self._state.read():
            self._state.update(
                lambda stored: {
                    code: row
                    for code, row in _unexpired(stored, self._now()).items()
                    if names is not None and not {*names} & row["chosen"].keys()
                }
            )

    def names(self, name: str) -> bool:
        """Whether something that waits has chosen this name."""
        return any(name in row["chosen"] for row in _unexpired(self._state.read(), self._now()).values())


def _unexpired(stored: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """What waits and may still be done; what is not as we write it is left out."""
    found = {}
    for code, waiting in stored.items():
        try:
            ends = datetime.fromisoformat(waiting["expires_at"])
            if now < ends <= now + CODE_LIVES and isinstance(waiting["chosen"], dict) and waiting["wrong"] >= 0:
                found[code] = waiting
        except (TypeError, KeyError, ValueError):
            continue
    return found


def _newest(waiting: Mapping[str, Any]) -> dict[str, Any]:
    """Those that may go on waiting when one more comes."""
    by_age = sorted(waiting, key=lambda code: str(waiting[code]["expires_at"]))
    return {code: waiting[code] for code in by_age[-(MAX_WAITING - 1) :]}
