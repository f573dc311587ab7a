"""A vault in which somebody has talked for half a year, and the steps that archiving takes."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import TAIPEI, Clock
from vault_memory.core import layout
from vault_memory.services.archiving import Step, archive_user
from vault_memory.services.turns import record_turns
from vault_memory.services.vault import Vault, open_vault

BEGAN = datetime(2025, 8, 1, 9, tzinfo=TAIPEI)


def talk(vault: Vault, *messages: str, at: datetime = BEGAN, every: timedelta = timedelta(days=1)) -> None:
    """Each is said a day after the one before."""
    turns = [
        {
            "user_id": "alice",
            "user_message": message,
            "assistant_message": "好的。",
            "conversation_id": f"c{number}",
            "created_at": at + number * every,
        }
        for number, message in enumerate(messages)
    ]
    assert len([*record_turns(vault, turns)]) == len(messages)


def archived(vault: Vault) -> list[Step]:
    return [*archive_user(vault, "alice")]


@dataclass
class Home:
    """Alice's folder."""

    path: Path

    def days(self) -> dict[str, bytes]:
        """The records that have a file of their own."""
        return {path.name: path.read_bytes() for path in sorted((self.path / "conversations").glob("*.jsonl"))}

    def months(self) -> list[str]:
        return sorted(path.name for path in (self.path / layout.ARCHIVED_RECORDS).glob("*"))


@pytest.fixture
def home(vault: Vault) -> Home:
    return Home(vault.root / "memory/alice")


@pytest.fixture
def talked(vault: Vault, clock: Clock, home: Home) -> Vault:
    """Turns on 1 to 5 August 2025 and on 29 January 2026; now is 30 January."""
    talk(vault, *(f"八月的第 {number} 句話" for number in range(1, 6)))
    talk(vault, "昨天的話", at=datetime(2026, 1, 29, 9, tzinfo=TAIPEI))
    return vault


@pytest.fixture
def make_vault(new_vault: Path, tmp_path: Path) -> Callable[[], tuple[Vault, Clock]]:
    """Makes new vaults, each with a clock of its own."""
    numbers = itertools.count()

    def make() -> tuple[Vault, Clock]:
        clock = Clock()
        return open_vault(shutil.copytree(new_vault, tmp_path / f"v{next(numbers)}", symlinks=True), now=clock), clock

    return make
