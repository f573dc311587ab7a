"""A vault for tests that need files and indexes but no history."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_memory.core import layout
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def bare_vault(tmp_path: Path) -> Vault:
    """A folder that is a vault, and nothing in it; made in a millisecond."""
    root = tmp_path / "bare"
    root.mkdir()
    (root / layout.SETTINGS_FILE).write_text("format = 1\n")
    return open_vault(root)
