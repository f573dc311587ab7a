"""What a vault needs of its files, by which a text is refused."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from vault_memory.core.erasing import Erasure, words_of_every_vault, words_of_file, words_of_git

NOTE = PurePosixPath("memory/alice/memories/2026-01/mem_1769753100000_ab-garden.md")
FRONT = b"""---
id: mem_1769753100000_ab
title: the red garden
created_at: 2026-01-30T14:05:00+08:00
pin: 1795
---
red
"""


def words(data: bytes, path: PurePosixPath = NOTE) -> list[str]:
    return [*words_of_file(path, data)]


def test_keys_times_and_ids_are_needed_and_words_are_not() -> None:
    found = words(FRONT)
    assert found[:3] == ["id", "mem_1769753100000_ab", "title"] and found[-1] == "", "a key of the person's own"
    assert words(Erasure(["the red garden", "1795"]).masked(FRONT)) == found
    for text in ("title the red", "2026", "created_at", "mem_1769753100000_ab"):
        assert words(Erasure([text]).masked(FRONT)) != found, text
    line = b'{"said": "in 2026 seven", "at": "2026-01-30T14:05:00", "n": 1795, "source": "conversations/a.jsonl:12"}\n'
    record = PurePosixPath("memory/alice/feedback.jsonl")
    found = words(line, record)
    assert words(Erasure(["seven"]).masked(line), record) == found
    for text in ("said", "2026", "1795", "a.jsonl:12"):
        assert words(Erasure([text]).masked(line), record) != found, text
    for broken in (b"---\n: [\n---\n", b"{", b"\xff"):
        assert words(broken, record) == [] == words(broken)


@pytest.mark.parametrize(
    "word", ["vault-memory.toml", "Theme", "主題偏好", "created_at", "Vault-User", "true", "daily/*.md", "## x"]
)
def test_names_keys_and_labels_are_of_every_vault(word: str) -> None:
    assert (word in words_of_every_vault()) is (word != "## x")


def test_of_gits_settings_names_and_switches() -> None:
    told = [("core.filemode", "true"), ("branch.my-plan.description", "my plan"), ("remote.home.url", "/x")]
    assert {*words_of_git(told)} == {"core", "filemode", "true", "branch", "description", "remote", "url"}
