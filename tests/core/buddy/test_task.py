"""What a task is told by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core import buddy


@pytest.mark.parametrize(
    ("task", "verb", "complexity"),
    [
        ("Implement login feature with JWT authentication", "implement", "medium"),
        ("實作登入功能，要有 JWT 驗證和記住我的選項", "implement", "medium"),
        ("实现登录功能，要有 JWT 验证和记住我的选项", "implement", "medium"),
        ("Fix typo", "fix", "low"),
        ("修正登入頁的錯字", "fix", "low"),
        ("Refactor the database access layer to use the repository pattern", "refactor", "medium"),
        ("Write tests for the parser of conversation records", "test", "medium"),
        ("Research best practices for GraphQL pagination", "research", "medium"),
        ("Update the README", "document", "low"),
        ("Migrate the whole system to Postgres", "task", "high"),
        ("把整個系統遷移到 Postgres", "task", "high"),
        ("Investigate, then fix the crash of the importer when the disk is full", "research", "medium"),
        ("Contestants are fixated", "task", "low"),
        (" ".join(["word"] * 40), "task", "high"),
    ],
)
def test_verb_and_complexity(task: str, verb: str, complexity: str) -> None:
    """B3a"""
    assert (buddy.verb_of(task), buddy.complexity_of(task)) == (verb, complexity)


def test_the_title_is_the_beginning() -> None:
    """B3a"""
    assert buddy.title_of("Implement login\nfeature") == "Task: Implement login feature"
    long = buddy.title_of("Refactor the database access layer to use the repository pattern")
    assert long == "Task: Refactor the database access layer to use the..."
    assert buddy.title_of("部" * 80) == f"Task: {'部' * 50}..."


@given(st.text())
def test_any_text_is_told(task: str) -> None:
    title = buddy.title_of(task)
    assert title.startswith("Task: ") and "\n" not in title and len(title) <= 60
    assert buddy.verb_of(task) and buddy.complexity_of(task) in ("low", "medium", "high")
