"""Check a vault and its environment, and repair what can be repaired safely."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from vault_memory.errors import VaultMemoryError
from vault_memory.services.admin.checks import CHECKS, Check
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Finding:
    """The result of a check. When not `ok`, `next_step` says what to do; `doctor(fix=True)` does it if `fixable`."""

    name: str
    ok: bool
    message: str
    next_step: str = ""
    fixable: bool = False


def doctor(vault: Vault, *, fix: bool = False, checks: Iterable[Check] = CHECKS) -> list[Finding]:
    """Run every check; with `fix`, repair what can be repaired safely and check that again."""
    findings = []
    for check in checks:
        finding = _run(vault, check)
        if fix and finding.fixable and check.repair:
            try:
                check.repair(vault)
            except (VaultMemoryError, OSError) as error:
                finding = replace(finding, message=f"{finding.message} (repairing it failed: {error})")
            else:
                finding = _run(vault, check)
        findings.append(finding)
    return findings


def _run(vault: Vault, check: Check) -> Finding:
    try:
        message, next_step = check.inspect(vault)
    except (VaultMemoryError, OSError) as error:
        message, next_step = f"{error}", "do what the message says, then run `vault-memory doctor` again"
    return Finding(check.name, not next_step, message, next_step, bool(next_step and check.repair))
