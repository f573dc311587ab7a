"""Erasing in two steps, for programs: what would go, with a code; then that, with the code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.services.codes import Codes
from vault_memory.services.erasing.erase import Preview, Receipt, erase, preview
from vault_memory.services.erasing.wanted import Wanted, check_known, of_note, of_texts, of_user
from vault_memory.services.vault import Vault

_WANTED = "wanted"


@dataclass(frozen=True)
class Erasing:
    """What would be erased, and the code that does it until `expires_at`."""

    code: str
    expires_at: datetime
    preview: Preview


def prepare_erasing(
    vault: Vault,
    user_id: str,
    *,
    texts: Sequence[str] = (),
    note: str = "",
    everything: bool = False,
    long_term: bool = False,
) -> Erasing:
    """Look for what is to be erased, named in exactly one way: `texts` of the user's, a `note` of theirs or a shared
    one (its path in the vault, or the id of a memory), or `everything`; with `long_term` rows of the long-term store,
    too. `everything` may be of a user who is erased already, of whom stores may have something still. Nothing is
    changed yet.

    Raises `UsageError` for what cannot be meant, `NotFound` for a note that is nowhere, and `HistoryError` for a
    repository of which not all can be made anew."""
    wanted = _wanted(vault, user_id, texts, note, long_term, everything=everything)
    shown = preview(vault, wanted)
    code, expires_at = _codes(vault, user_id).offer({_WANTED: _digest(wanted)})
    return Erasing(code, expires_at, shown)


def erase_with_code(
    vault: Vault,
    user_id: str,
    code: str,
    *,
    texts: Sequence[str] = (),
    note: str = "",
    everything: bool = False,
    long_term: bool = False,
) -> Receipt:
    """Erase what was shown with the code, named in the same way again. It cannot be undone, and no backup is made. The
    code is used up, whatever happens.

    Raises `UsageError` for a wrong, used or expired code, and where it was for something else; and what `erase` raises:
    a process that is killed, or a disk that is full, leaves the rest to the next one that opens the vault."""
    check_known(vault, user_id)
    chosen, _ = _codes(vault, user_id).take(code)
    wanted = _wanted(vault, user_id, texts, note, long_term, everything=everything)
    if _digest(wanted) != chosen.get(_WANTED):
        raise UsageError("something else would be erased by now, or it was another wish: look at it again")
    return erase(vault, wanted)


def _wanted(
    vault: Vault, user_id: str, texts: Sequence[str], note: str, long_term: bool, *, everything: bool
) -> Wanted:
    if sum(map(bool, (texts, note, everything))) != 1:
        raise UsageError("say in one way what to erase: texts, a note, or everything")
    if everything:
        return of_user(vault, user_id, long_term=long_term)
    vault.known_user(user_id)
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"the texts to erase are a list of texts, not {type(texts).__name__}")
    if texts:
        return of_texts(vault, user_id, texts, long_term=long_term)
    wanted = of_note(vault, note, user_id, long_term=long_term)
    if wanted.user_id not in (user_id, layout.SHARED):
        raise UsageError(f"{note} is another user's: name that user")
    return wanted


def _digest(wanted: Wanted) -> str:
    """What tells whether something else is wanted by now: the state holds no word of it."""
    return hashlib.sha256(json.dumps(wanted.as_dict()).encode()).hexdigest()


def _codes(vault: Vault, user_id: str) -> Codes:
    return Codes(vault, "erasures", user_id, "erasing", "erase")
