"""The memory for Python programs, without HTTP or a daemon, under the names of the design documents.

A program calls `build_enhanced_prompt` before it asks a model, and `extract_and_update` after the response. What they
write can be searched when they return. What they read is up to date: a running daemon updates the index, else they do
themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vault_memory.core import layout
from vault_memory.core.profile import Change
from vault_memory.services.indexing import Report, reconcile
from vault_memory.services.notes import newest_turns
from vault_memory.services.retrieval import Mode, Prompt, SearchQuery, SearchResult
from vault_memory.services.retrieval import build_enhanced_prompt as build
from vault_memory.services.retrieval import search as find
from vault_memory.services.turns import Recorded, feedback, record_turn
from vault_memory.services.vault import Vault, open_vault, vault_around


def extract_and_update(
    vault: Vault, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
) -> Recorded:
    """Keep a turn and learn from it: the design's name for `record_turn`."""
    return record_turn(vault, student_id, user_msg, assistant_msg, skill=skill_used)


def search(vault: Vault, user_id: str, query: str, top_k: int = 5, mode: Mode = "hybrid", **more: Any) -> SearchResult:
    """The passages that answer `query` best; `more`: other fields of `SearchQuery`. Raises `NotFound`, `UsageError`."""
    return find(vault, user_id, SearchQuery(query, top_k, mode, **more))


def build_enhanced_prompt(
    vault: Vault,
    student_id: str,
    prompt: str,
    skill: str | None = None,
    *,
    private: bool = True,
    budget: int | None = None,
) -> Prompt:
    """The prompt for a model, with the memory in it: `.text`, or chat `.messages`. Raises `InvalidId` or `NotFound`."""
    return build(vault, student_id, prompt, skill, private=private, budget=budget)


def get_conversation_history(vault: Vault, student_id: str, limit: int = 5) -> list[dict[str, str]]:
    """The last turns, oldest first, in the design's form: {timestamp, user, assistant}; none for an unknown user."""
    turns = [turn for _, turn in newest_turns(vault, student_id, limit)] if _knows(vault, student_id) else []
    names = {"timestamp": "created_at", "user": "user_message", "assistant": "assistant_message"}
    return [{name: str(turn.get(field) or "") for name, field in names.items()} for turn in reversed(turns)]


class PreferenceExtractor:
    """The design's extractor; `memory_dir` is the vault, or the `memory` folder in it."""

    def __init__(self, memory_dir: str | Path) -> None:
        self.vault = _vault_of(memory_dir)

    def extract_and_update(
        self, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
    ) -> Recorded:
        """Keep a turn of conversation and learn from it."""
        return extract_and_update(self.vault, student_id, user_msg, assistant_msg, skill_used)


class MemorySearchEngine:
    """The design's search engine. The embedder is a setting of the vault, the same for every program that uses it.
    `compute_client` and `embedding_provider` are accepted because the design's call has them; they have no effect."""

    def __init__(
        self, memory_dir: str | Path, compute_client: object = None, embedding_provider: str = "compute"
    ) -> None:
        self.vault = _vault_of(memory_dir)

    def search(self, student_id: str, query: str, top_k: int = 5, mode: Mode = "hybrid") -> list[dict[str, Any]]:
        """Hits, best first: {content, source, score, line_range, kind, scope, explain}; none for an unknown user."""
        if not _knows(self.vault, student_id):
            return []
        return [hit.as_dict() for hit in search(self.vault, student_id, query, top_k, mode).hits]

    def index_student_memory(self, student_id: str) -> Report:
        """Update the index from the student's files; it may run in a thread of its own."""
        return reconcile(self.vault, layout.check_user_id(student_id))


class FeedbackCollector:
    """The design's collector of adjustments. An adjustment that is made three times becomes a strong preference."""

    def __init__(self, memory_dir: str | Path) -> None:
        self.vault = _vault_of(memory_dir)

    def classify_adjustment(self, text: str) -> str | None:
        """The key of the preference in an adjustment; None if there is none."""
        return feedback.classify_adjustment(text)

    def extract_params(self, text: str) -> dict[str, str]:
        """What an adjustment asks for: {"theme": "dark"}."""
        return feedback.extract_params(text)

    def record_adjustment(self, student_id: str, text: str, skill: str | None = None) -> list[Change]:
        """Record an adjustment and learn from it; return what it changed in the profile."""
        return feedback.record_adjustment(self.vault, student_id, text, skill)


def _vault_of(memory_dir: str | Path) -> Vault:
    folder = Path(memory_dir).expanduser().resolve()
    is_inside = folder.name == layout.MEMORY_DIR and vault_around(folder) == folder.parent
    return open_vault(folder.parent if is_inside else folder)


def _knows(vault: Vault, user_id: str) -> bool:
    return vault.is_user(layout.check_user_id(user_id))
