"""Outside names led back to user ids."""

from __future__ import annotations

import pytest

from vault_memory.core.identity import resolve
from vault_memory.errors import InvalidId

TABLE = {"telegram:12345": "alice", "12345": "bob"}


def test_a_name_in_the_table_is_its_user_and_an_id_is_itself() -> None:
    """A15: tg_user_id → student_id."""
    assert resolve(TABLE, "telegram:12345") == "alice"
    assert resolve(TABLE, "12345") == "bob"
    assert resolve(TABLE, "carol") == "carol"


@pytest.mark.parametrize("name", ["telegram:1", "", "..", "a/b", "telegram:12345 ", "ａlice", "x" * 65])
def test_what_is_neither_is_nobody(name: str) -> None:
    with pytest.raises(InvalidId):
        resolve(TABLE, name)
