"""Typed memories in the index: what it knows of them, and that past ones do not answer."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests import pace
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.index.base import FileState
from vault_memory.adapters.index.sqlite import SqliteIndex
from vault_memory.core import layout
from vault_memory.core.memories import sketch
from vault_memory.core.notes import document
from vault_memory.core.ranking.candidate import Filter
from vault_memory.core.text import tokens

DAY = 86_400.0


def put(index: SqliteIndex, **notes: str) -> None:
    entries = []
    for name, front in notes.items():
        folder = "archive/memories" if name.startswith("old") else "memories"
        source = f"{folder}/{name}.md" if name != "plain" else "plain.md"
        data = f"---\n{front}\n---\ntea {name}\n".encode()
        kind = layout.kind_of(layout.Place("alice", source))
        entries.append((document.read(source, kind, data), FileState(hashlib.sha256(data).digest(), 1, 2, 3, 4)))
    index.replace(entries)


@pytest.fixture
def index(tmp_path: Path) -> SqliteIndex:
    index = SqliteIndex(tmp_path / "index.db")
    put(
        index,
        a="id: A\ntype: fact\nimportance: 0.9\ncreated_at: 1970-01-01T00:00:01+00:00",
        b="id: B\ntype: lesson\nimportance: 0.2\nskill_id: code\nexpires_at: 1970-01-02T00:00:00+00:00",
        c="id: C\ntype: fact\nsuperseded_by: A",
        old1="id: D\ntype: fact",
        plain="title: Tea",
    )
    return index


def found(index: SqliteIndex, only: Filter, mode: str) -> list[str]:
    vector = None
    if mode == "vectors":
        while index.embed_pending(OfflineEmbedder()):
            pass
        vector = (OfflineEmbedder.space, OfflineEmbedder().embed(["tea"], "query")[0])
    terms = tokens.query_terms("tea" if mode == "words" else "zeppelin")
    chunks = index.search(terms, vector, only).chunks
    return sorted(Path(chunk.source).stem for chunk in chunks)


@pytest.mark.parametrize("mode", ["words", "vectors"])
def test_past_memories_do_not_answer(index: SqliteIndex, mode: str) -> None:
    for _ in range(2):  # the first search of vectors is done by sqlite-vec, the next by numpy
        assert found(index, Filter(at=DAY - 1), mode) == ["a", "b", "plain"]
        assert found(index, Filter(at=DAY), mode) == ["a", "plain"]
        assert found(index, Filter(), mode) == ["a", "b", "c", "old1", "plain"]
        assert found(index, Filter(kinds=("memory",), at=DAY), mode) == ["a"]


@pytest.mark.slow
def test_a_filter_that_lets_all_through_takes_little_time(tmp_path: Path) -> None:
    """B1: a search among memories is about as fast as one among all notes."""
    index = SqliteIndex(tmp_path / "many.db")
    put(index, **{f"m{number}": f"title: word{number % 50} tea" for number in range(6_000)})
    terms = tokens.query_terms("word7 tea")

    def search(only: Filter) -> float:
        return min(pace.seconds(lambda: index.search(terms, None, only)) for _ in range(3))

    assert search(Filter(kinds=("memory",), at=DAY)) <= 3 * search(Filter()) + pace.usual_fixed_work()


def test_memories_of_a_type_or_a_skill(index: SqliteIndex) -> None:
    assert found(index, Filter(memory_types=("fact", "note")), "words") == ["a", "c", "old1"]
    assert found(index, Filter(skills=("code",)), "words") == ["b"]
    assert found(index, Filter(skills=("code",), at=DAY), "words") == []


def over(index: SqliteIndex, at: float, most: int, limit: int, **more: Any) -> tuple[int, list[str]]:
    count, rows = index.memories_over(at, most, limit, **more)
    return count, [row.memory_id for row in rows]


def test_what_is_known_of_each(index: SqliteIndex) -> None:
    assert [row.memory_id for row in index.memories()] == ["D", "B", "C", "A"]
    (row,) = index.memories(["A"])
    assert row[:5] == ("memories/a.md", "A", "fact", "a", 0.9) and (row.created, row.until) == (1.0, None)
    assert index.active_memories(0) == 2 and index.active_memories(DAY) == 1
    assert over(index, 0, 1, 9) == (1, ["B"])
    assert over(index, 0, 0, 1) == (1, ["B"]), "no more than asked for"
    assert over(index, 0, 0, 1, spare=1) == (1, ["B", "A"])
    assert over(index, 0, 0, 9, passing=True) == (2, []), "one has no time, the other no day: a person wrote it"
    assert over(index, 0, 2, 9) == over(index, DAY, 1, 9) == (0, [])
    assert [row.memory_id for row in index.latest_memories(0, 9)] == ["A", "B"]
    assert [text.source for text in index.memory_texts(0)] == ["memories/a.md", "memories/b.md"]
    changed = index.changed_memories(0, 9)
    assert sorted(source for source, _ in changed) == [row.source for row in sorted(index.memories())]
    assert index.changed_memories(changed[-1][1], 9) == [] and len(index.changed_memories(0, 1)) == 1
    (words,) = index.memory_texts(DAY)
    assert (words.type, words.is_whole) == ("fact", True) and words.text.startswith("a\n")
    put(index, a="id: E")
    assert [row.memory_id for row in index.memories(["A", "E"])] == ["E"]
    assert index.active_memories(0) == 3, "no note is A, which took the place of C"
    index.remove(["memories/a.md"])
    assert index.active_memories(0) == 2


def test_alike_ones_by_their_sketch(index: SqliteIndex) -> None:
    """B5: the same text first, and none that is past."""

    def alike(text: str, at: float = 0, limit: int = 9) -> list[str]:
        return [row.memory_id for row in index.alike_memories(sketch(text), at, limit)]

    assert alike("tea a") == ["A", "B"] and alike("Tea, b!") == ["B", "A"] and alike("tea b", limit=1) == ["B"]
    assert alike("tea b", DAY) == ["A"] and alike("coffee") == []
    put(index, a="id: A\ntype: fact\nsuperseded_by: B")
    assert alike("tea a") == ["B"]
    index.remove(["memories/b.md"])
    assert alike("tea b") == ["A"], "it answers again, and C does not while it is there"
    put(index, b="id: B")
    assert alike("tea b") == ["B"]


@pytest.mark.slow
def test_alike_ones_among_many_take_no_longer(tmp_path: Path) -> None:
    """B5: however many have the same words."""
    index = SqliteIndex(tmp_path / "many.db")

    def seconds() -> float:
        return min(pace.seconds(lambda: index.alike_memories(sketch("tea m7"), 0, 9)) for _ in range(5))

    put(index, **{f"m{number}": "title: tea" for number in range(300)})
    few = seconds()
    put(index, **{f"n{number}": "title: tea" for number in range(6_000)})
    assert index.alike_memories(sketch("tea m7"), 0, 9)[0].memory_id == "m7"
    assert seconds() <= 3 * few + pace.usual_fixed_work()
