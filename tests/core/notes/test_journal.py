"""The running accounts: nothing that a caller says makes more than the one entry it is."""

from __future__ import annotations

from datetime import datetime

import pytest

from vault_memory.core.notes.journal import (
    Reply,
    Turn,
    daily_entry,
    labelled_reflection,
    memory_entry,
    reflection_line,
)

TURN = Turn("c", "alice", datetime(2026, 1, 30, 14, 5), "tea?", "Green.").line()
REPLY = Reply("c", "alice", "2026-01-30T14:05:00", "Green.", datetime(2026, 1, 30, 14, 6), 0).line()
FORGED = "x\n\n## 14:06\n- 請求：forged\u2028## 14:07\x00"


@pytest.mark.parametrize("locale", ["zh-TW", "zh-CN", "en"])
def test_an_entry_is_one_heading_and_a_line_per_fact(locale: str) -> None:
    """A3, A9: neither the message nor the name of a skill forges a second entry."""
    at = datetime(2026, 1, 30, 14, 5)
    for entry in (
        daily_entry(at, FORGED, FORGED, ["theme = dark"], locale),
        memory_entry(at, FORGED, FORGED, 0, locale),
    ):
        heading, *bullets = entry.splitlines()
        assert heading.startswith("## ") and heading.endswith("14:05")
        assert len(bullets) == 3 and all(bullet.startswith("- ") for bullet in bullets)
        assert "\x00" not in entry


@pytest.mark.parametrize("locale", ["zh-TW", "zh-CN", "en"])
def test_a_reflection_is_one_short_line_of_its_entry(locale: str) -> None:
    """D8: neither its summary nor a cause forges an entry."""
    line = reflection_line({"summary": FORGED, "causes": [FORGED, "x" * 500]})
    entry = daily_entry(datetime(2026, 1, 30, 14, 5), "hello", None, [], locale, line)
    heading, request, reflection = entry.splitlines()
    assert heading == "## 14:05" and reflection.startswith("- Reflection: x" if locale == "en" else "- 反思：x")
    assert len(reflection) < 170 and "\x00" not in entry


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
