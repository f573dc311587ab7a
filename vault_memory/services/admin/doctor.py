"""Look a vault and its surroundings over, and mend what can be mended safely."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from vault_memory.errors import VaultMemoryError
from vault_memory.services.admin.checks import CHECKS, Check
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Finding:
    """What a check saw. When it is not `ok`, `next_step` tells what to do; `doctor(fix=True)` does it if `fixable`."""

    name: str
    ok: bool
    message: str
    next_step: str = ""
    fixable: bool = False


def doctor(vault: Vault, *, fix: bool = False, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Make every check; with `fix`, mend what can be mended safely and look again."""
    findings = []
    for check in checks:
        finding = _look(vault, check)
        if fix and finding.fixable and check.mend:
            try:
                check.mend(vault)
            except (VaultMemoryError, OSError) as error:
                finding = replace(finding, message=f"{finding.message} (mending it failed: {error})")
            else:
                finding = _look(vault, check)
        findings.append(finding)
    return findings


def _look(vault: Vault, check: Check) -> Finding:
    try:
        message, next_step = check.look(vault)
    except (VaultMemoryError, OSError) as error:
        message, next_step = f"{error}", "do what the message says, then run `vault-memory doctor` again"
    return Finding(check.name, not next_step, message, next_step, bool(next_step and check.mend))
