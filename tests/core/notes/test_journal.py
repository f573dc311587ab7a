"""What a record tells of a turn: its reflection says what it is."""

from __future__ import annotations

import pytest

from vault_memory.core.notes.journal import labelled_reflection


@pytest.mark.parametrize(
    ("reflection", "line"),
    [
        ({"summary": "部署失敗", "causes": ["沒有金鑰", "憑證過期"]}, "反思：部署失敗；沒有金鑰；憑證過期"),
        ({"summary": "It failed", "causes": ["no key"]}, "Reflection: It failed; no key"),
        ("it failed\n\nagain", "Reflection: it failed again"), ({"causes": ["no key"]}, "Reflection: no key"),
        (None, ""), ({}, ""), (5, ""), ({"summary": 5}, ""), (["x"], ""),
    ],
)  # fmt: skip
def test_a_reflection_says_what_it_is_in_its_own_language(reflection: object, line: str) -> None:
    assert labelled_reflection(reflection) == line
