"""What the program itself writes says nothing: a price or a time that was erased does not stand in its times."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from vault_memory.core.erasing import KEY_BYTES, Tombstones

NONE = Tombstones(b"k" * KEY_BYTES)
NUMBERS = ["12.25", "09:15", "57.15", "0800", "4711", "2026-12-25", "1250008", "15.25"]
ALL = NONE.with_texts("alice", NUMBERS)
HOME = PurePosixPath("memory/alice")
MADE = {
    "daily/2026-12-25.md": (
        "# 2026-12-25\n\n## 09:15 %%1a2b4711%%\n- 09:15 tea → done · conversations/2026-12-25.jsonl:4711\n"
    ),
    "MEMORY.md": "# Tasks\n\n## 2026-12-25 09:15\n- Task: tea\n",
    "USER.md": "# User profile\n\n## Basics\n- Joined: 2026-12-25\n",
    "LEARNING.md": "---\nupdated_at: '2026-12-25T09:15:57+08:00'\n---\n| tea | weak | 0.4 | 2026-12-25 |\n",
    "memories/2026-12/said_1795809882233_1250008-tea.md": (
        "---\nid: said_4711_1250008\nsource: conversations/2026-12-25.jsonl:3\nimportance: 12.25\n"
        "created_at: '2026-12-25T09:15:57+08:00'\naccess_count: 4711\nsaid_on:\n- '2026-12-25'\n---\ntea\n"
    ),
    "entities/tea.md": "---\nid: ent_4711_1250008\n---\n- knows [[cup]] %%rel_4711_1250008 2026-12-25%%\n",
    "feedback.jsonl": '{"quote": "tea", "count": 4711, "created_at": "2026-12-25T09:15:57.15+08:00"}\n',
    "archive/feedback-2026.jsonl": '{"quote": "tea", "count": 4711}\n',
    "conversations/2026-12-25.jsonl": (
        '{"conversation_id": "3f1c0812-0800-4711-9f00-0a1b2c3d4e5f", "user_message": "tea", '
        '"created_at": "2026-12-25T09:15:57.154711+08:00"}\n'
    ),
    "archive/conversations/2026-12.jsonl.gz": '{"conversation_id": "conv_766ade254711", "at": "2026-12-25 09:15"}\n',
}


@pytest.mark.parametrize("source", MADE)
def test_times_ids_and_names_by_date_say_nothing(source: str) -> None:
    path, text = HOME / source, MADE[source]
    assert ALL.are_in(path.parts[1], [text]), "as bytes it stands there"
    assert not ALL.are_in_file(path, text) and not ALL.are_in_name(path)
    for line in text.split("\n"):
        assert not ALL.are_in_file(path, line)
    if "tea" in text:
        assert NONE.with_texts("alice", ["tea 15"]).are_in_file(path, text.replace("tea", "tea 15"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("notes/ring.md", "the ring cost 12.25 in all"),
        ("notes/ring.md", "---\npin: 4711\n---\n"),
        ("daily/2026-12-24.md", "- 08:00 the train leaves at 09:15 → done · conversations/2026-12-24.jsonl:1"),
        ("memories/2026-12/mem_1_a-x.md", "---\ntitle: gate 0800\n---\n"),
        ("conversations/2026-12-24.jsonl", '{"user_message": "my pin is 4711"}'),
        ("own.jsonl", '{"pin": 4711}'),
    ],
)
def test_what_was_said_is_known_again(source: str, text: str) -> None:
    assert ALL.are_in_file(HOME / source, text)


@pytest.mark.parametrize(
    ("name", "is_said"),
    [
        ("notes/ring 12.25.md", True),
        ("memories/2026-12/mem_1_a-gate-0800.md", True),
        ("memories/2026-12/mem_4711_0800.md", False),
        ("archive/memory-2026.md", False),
    ],
)
def test_of_a_name_what_is_said(name: str, *, is_said: bool) -> None:
    assert ALL.are_in_name(HOME / name) is is_said


OF_BOB = [
    "memories(bob): add fact gate 4711\n\nVault-User: bob\nVault-Memory: mem_1_a\n",
    "memories(bob): add 2 memories\n\n- fact gate 4711\n- fact tea\n\nVault-User: bob\n",
    "memory(bob): note += gate 4711\n\nReason: 「gate 4711」\nVault-User: bob\nVault-Old:\nVault-New: gate 4711\n",
    "edit gate 4711 (memory/bob/notes/gate-4711.md)\n",
    "add 2 files\n\n- add gate 4711 (memory/bob/notes/a.md)\n- add memory/bob/notes/4711.md\n",
]


@pytest.mark.parametrize("message", OF_BOB)
def test_another_users_commit_may_say_the_same(message: str) -> None:
    assert not ALL.are_in_message(message)
    assert NONE.with_texts("bob", ["4711"]).are_in_message(message)
    assert ALL.are_in_message(message.replace("bob", "alice"))


@pytest.mark.parametrize(
    "message",
    [
        "log(alice): 2026-12-25 09:15\n\nVault-User: alice\nVault-Source: conversations/2026-12-25.jsonl:4711\n",
        "memories(alice): add fact tea\n\nVault-User: alice\nVault-Memory: said_4711_1250008\nVault-Turn: 63964711\n",
        "notes\n\nSigned-off-by: Gate 4711 <a@x>\n",
        "restore memory/alice/x.md to 4711abcdef00\n\nVault-Restores: 4711abcdef00\n",
        'Revert "x"\n\nThis reverts commit 4711abcdef004711abcdef004711abcdef004711.\n',
        "edit memory/alice/daily/2026-12-25.md\n",
    ],
)
def test_of_a_message_trailers_and_times_say_nothing(message: str) -> None:
    assert not ALL.are_in_message(message)
    assert not NONE.with_texts("alice", ["add fact", "Vault-User", "to 4711abcdef00"]).are_in_message(message)


def test_of_another_commit_all_is_asked() -> None:
    for message in ("gate 4711\n", "notes\n\nthe gate is\n4711\n", "x\n\nGate: 4711\n", "fix(parser): gate 4711\n"):
        assert ALL.are_in_message(message), message
