"""Paths and ids: the scope and kind of each path, valid and invalid ids, outside names."""

from __future__ import annotations

from datetime import date
from pathlib import PurePosixPath

import pytest

from vault_memory.core.layout import (
    SHARED,
    Place,
    check_user_id,
    day_of,
    is_misplaced,
    is_private,
    is_user_id,
    is_written_by_turns,
    kind_of,
    place_of,
    resolve_user,
)
from vault_memory.errors import InvalidId
from vault_memory.services.starter import shipped

IDENTITIES = {"telegram:12345": "alice", "12345": "bob"}


@pytest.mark.parametrize("user_id", ["alice", "A", "a.b", "_x", "-y", "student-42_b", "a" * 64])
def test_valid_ids(user_id: str) -> None:
    assert check_user_id(user_id) == user_id


@pytest.mark.parametrize(
    "user_id",
    ["", ".", "..", ".hidden", "../x", "a/b", "a\\b", "a b", "a\0", "a\n", "a" * 65, "名字", "con", "NUL.txt", "a."]
    + ["4913", "index.db", "Index.DB-wal", "index.db2", "photo.icloud", "a.swp", "x.tmp"],
)
def test_invalid_ids(user_id: str) -> None:
    assert not is_user_id(user_id)
    with pytest.raises(InvalidId, match="user id"):
        check_user_id(user_id)


def test_no_user_id_is_a_name_that_a_vault_ignores() -> None:
    """Such a user could never learn, or `status` would say that git ignores their notes."""
    rules = [line for line in (shipped("vault") / ".gitignore").read_text().split("\n") if line and line[0] not in "#/"]
    assert "4913" in rules
    for rule in rules:
        assert not is_user_id(rule.strip("/").replace("*", "x").replace("?", "p")), rule


@pytest.mark.parametrize(
    ("path", "scope", "kind"),
    [
        ("memory/alice/USER.md", "alice", "profile"),
        ("memory/alice/MEMORY.md", "alice", "memory-log"),
        ("memory/alice/archive/MEMORY-2025.md", "alice", "memory-log"),
        ("memory/alice/LEARNING.md", "alice", "learning"),
        ("memory/alice/daily/2026-01-30.md", "alice", "daily"),
        ("memory/alice/archive/daily/2025-01-30.md", "alice", "daily"),
        ("memory/alice/conversations/2026-01-30.jsonl", "alice", "conversation"),
        ("memory/alice/memories/x.md", "alice", "memory"),
        ("memory/alice/memories/2026-01/x.md", "alice", "memory"),
        ("memory/alice/memories/work/web/x.md", "alice", "memory"),
        ("memory/alice/archive/memories/2026-01/x.md", "alice", "memory"),
        ("memory/alice/entities/work/x.md", "alice", "note"),
        ("memory/alice/entities/Redis.md", "alice", "entity"),
        ("memory/alice/mistakes/x.md", "alice", "mistake"),
        ("memory/alice/ideas/x.md", "alice", "note"),
        ("memory/alice/daily/deep/x.md", "alice", "note"),
        ("notes/想法.md", SHARED, "note"),
        ("Home.md", SHARED, "note"),
    ],
)
def test_what_a_path_is(path: str, scope: str, kind: str) -> None:
    place = place_of(PurePosixPath(path))
    assert place is not None
    assert (place.scope, kind_of(place)) == (scope, kind)


@pytest.mark.parametrize(
    "path",
    [
        "memory/alice/feedback.jsonl", "memory/alice/index.db", ".obsidian/x.md", "memory/alice/.trash/x.md",
        "memory/USER.md", "memory/.x/USER.md", "memory/名字/USER.md", "picture.png", "",
    ],
)  # fmt: skip
def test_what_is_never_indexed(path: str) -> None:
    assert place_of(PurePosixPath(path)) is None


def test_the_day_of_a_file() -> None:
    assert day_of("daily/2026-01-30.md") == date(2026, 1, 30)
    assert day_of("daily/2026-13-30.md") is None
    assert day_of("daily/notes.md") is None


def test_places_with_equal_parts_are_equal() -> None:
    assert Place("alice", "USER.md") == Place("alice", "USER.md")


def test_a_name_in_the_table_is_its_user_and_an_id_is_itself() -> None:
    """A15: tg_user_id → student_id."""
    assert resolve_user(IDENTITIES, "telegram:12345") == "alice"
    assert resolve_user(IDENTITIES, "12345") == "bob"
    assert resolve_user(IDENTITIES, "carol") == "carol"


@pytest.mark.parametrize("name", ["telegram:1", "", "..", "a/b", "telegram:12345 ", "ａlice", "x" * 65])
def test_a_name_that_is_neither_is_refused(name: str) -> None:
    with pytest.raises(InvalidId):
        resolve_user(IDENTITIES, name)


def test_what_stands_in_the_place_of_a_file_or_folder_of_the_layout() -> None:
    home = "memory/bob/"
    below_a_file = ["USER.md/x", "user.MD/x", "MEMORY.md/x/y.md", "feedback.jsonl/x", "daily/2026-01-30.md/y.md"]
    below_a_file += [
        "archive/daily/2025-01-30.md/y",
        "archive/MEMORY-2025.md/x",
        "memories/a.md/b",
        "entities/a.md/b",
        "memories/2026-01/a.md/b",
    ]
    files = ["daily", "Daily", "conversations", "memories", "archive", "archive/daily"]
    misplaced = [home + name for name in below_a_file + files]
    misplaced += ["memory/carol", "memory/notes.txt", "vault-memory.toml/x", ".gitattributes/x"]
    misplaced += [
        f"{folder}/vault-memory.toml" for folder in ("memory", "memory/bob", "memory/bob/a/b", "skills", "context/x")
    ]
    misplaced += ["Memory/bob/VAULT-Memory.toml.", "memory/bob/notes/VAULT-~1.TOM"]
    assert [name for name in misplaced if not is_misplaced(PurePosixPath(name))] == []
    sound = [
        home + name for name in ("USER.md", "daily/2026-01-30.md", "daily/x/y.md", "notes/USER.md/x", "facts", "a")
    ]
    sound += ["notes/vault-memory.toml", "notes/memory/bob/vault-memory.toml", "memory/bob/notes/vault-memory.toml.md"]
    sound += ["memory/README.md", "memory/.gitkeep", "notes/x.md", "vault-memory.toml", ".gitignore", "USER.md/x"]
    assert [name for name in sound if is_misplaced(PurePosixPath(name))] == []


def test_the_files_that_turns_write() -> None:
    home = "memory/alice/"
    written = [home + name for name in ("USER.md", "MEMORY.md", "feedback.jsonl", "daily/2026-01-30.md")]
    assert all(is_written_by_turns(PurePosixPath(name)) for name in written)
    others = [
        home + "notes/USER.md",
        home + "plan.md",
        "memory/USER.md",
        "USER.md",
        "x/alice/USER.md",
        home + "daily/a/b.md",
    ]
    assert not any(is_written_by_turns(PurePosixPath(name)) for name in others)


@pytest.mark.parametrize(
    ("path", "is_it"),
    [
        (".vault-memory.bak/injected/alice/x.json", True),
        (".vault-memory copy/x", True),
        ("Copy of .vault-memory/x", True),
        ("vault-memory.bak/tokens/alice", True),
        ("old/_vault-memory/logs/proxy.jsonl", True),
        (f".git.bak/objects/pack/pack-{'a' * 40}.pack", True),
        (f"old-git/objects/ab/{'c' * 38}", True),
        ("projects/vault-memory/logs/2026.md", False),
        ("notes/objects/ab.md", False),
        (".github/workflows/x.yml", False),
    ],
)
def test_copies_of_what_is_private_are_private(path: str, is_it: bool) -> None:
    assert is_private(PurePosixPath(path)) is is_it
