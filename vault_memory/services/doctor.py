"""Checks of a vault and its surroundings, and the mending of what can be mended safely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Finding:
    """What a check saw; `next_step` is what to do when it is not `ok`; `fixable` ones are mended by `doctor --fix`."""

    name: str
    ok: bool
    message: str
    next_step: str = ""
    fixable: bool = False


def doctor(vault: Vault, *, fix: bool = False) -> list[Finding]:
    """Run every check; with `fix`, mend what is safe to mend and check it again."""
    raise NotImplementedError
