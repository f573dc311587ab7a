"""The memory for Python programs, without HTTP: the verbs that need no daemon, and the design documents' own names.

A program calls `build_enhanced_prompt` before it asks a model and `extract_and_update` after the answer. What these write can be
searched when they return; what they read is fresh, by a running daemon's work or by a look of their own.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from vault_memory.core import layout
from vault_memory.core.profile.policy import Change
from vault_memory.services.daemon.daemon_record import is_running
from vault_memory.services.indexing.reconcile import Report, reconcile
from vault_memory.services.notes.conversations import newest_turns
from vault_memory.services.retrieval import build_prompt
from vault_memory.services.retrieval import search as searching
from vault_memory.services.retrieval.build_prompt import Prompt
from vault_memory.services.retrieval.search import Mode, SearchResult
from vault_memory.services.turns import feedback
from vault_memory.services.turns import record_turn as recording
from vault_memory.services.turns.record_turn import Recorded
from vault_memory.services.vault import Vault, open_vault


def record_turn(vault: Vault, user_id: str, user_message: str, assistant_message: str = "", **more: Any) -> Recorded:
    """Keep a turn, learn from it, and have it found. `more` is what `services.turns.record_turn` takes; raises what that raises."""
    recorded = recording.record_turn(vault, user_id, user_message, assistant_message, **more)
    if recorded.sources:
        reconcile(vault, user_id, recorded.sources)
    return recorded


def extract_and_update(
    vault: Vault, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
) -> Recorded:
    """The design's name for `record_turn`."""
    return record_turn(vault, student_id, user_msg, assistant_msg, skill=skill_used)


def search(vault: Vault, user_id: str, query: str, top_k: int = 5, mode: Mode = "hybrid", **more: Any) -> SearchResult:
    """The passages that answer `query` best; `more` is what `services.retrieval.search` takes. Raises `NotFound` or `UsageError`."""
    _refresh(vault, vault.known_user(user_id))
    return searching.search(vault, user_id, query, top_k, mode, **more)


def build_enhanced_prompt(
    vault: Vault,
    student_id: str,
    prompt: str,
    skill: str | None = None,
    *,
    private: bool = True,
    budget: int | None = None,
) -> Prompt:
    """What a model should be told along with `prompt`: `.text`, or chat `.messages`. Raises `InvalidId` or `NotFound`."""
    _refresh(vault, student_id)
    return build_prompt.build_enhanced_prompt(vault, student_id, prompt, skill, private=private, budget=budget)


def get_conversation_history(vault: Vault, student_id: str, limit: int = 5) -> list[dict[str, str]]:
    """The last turns, oldest first, as the design has them: {timestamp, user, assistant}; none of somebody new."""
    turns = [turn for _, turn in newest_turns(vault, student_id, limit)] if _knows(vault, student_id) else []
    names = {"timestamp": "created_at", "user": "user_message", "assistant": "assistant_message"}
    return [{ours: str(turn.get(kept) or "") for ours, kept in names.items()} for turn in reversed(turns)]


class PreferenceExtractor:
    """The design's extractor: made with the vault, or with the `memory` folder in it."""

    def __init__(self, memory_dir: str | Path) -> None:
        self.vault = _vault_of(memory_dir)

    def extract_and_update(
        self, student_id: str, user_msg: str, assistant_msg: str, skill_used: str | None = None
    ) -> Recorded:
        """Keep a turn of conversation and learn from it."""
        return extract_and_update(self.vault, student_id, user_msg, assistant_msg, skill_used)


class MemorySearchEngine:
    """The design's search engine. What makes vectors is a setting of the vault, the same for every program that uses it:
    `compute_client` and `embedding_provider` are taken, so that the design's call fits, and change nothing."""

    def __init__(
        self, memory_dir: str | Path, compute_client: object = None, embedding_provider: str = "compute"
    ) -> None:
        self.vault = _vault_of(memory_dir)

    def search(self, student_id: str, query: str, top_k: int = 5, mode: Mode = "hybrid") -> list[dict[str, Any]]:
        """Hits, best first: {content, source, score, line_range, kind, scope, explain}; none for somebody new."""
        if not _knows(self.vault, student_id):
            return []
        return [asdict(hit) for hit in search(self.vault, student_id, query, top_k, mode).hits]

    def index_student_memory(self, student_id: str) -> Report:
        """Bring the index up to what the student's files say; safe in a thread of its own."""
        return reconcile(self.vault, layout.check_user_id(student_id))


class FeedbackCollector:
    """The design's collector of adjustments: what somebody wants done otherwise, asked three times, becomes a strong preference."""

    def __init__(self, memory_dir: str | Path) -> None:
        self.vault = _vault_of(memory_dir)

    def classify_adjustment(self, text: str) -> str | None:
        """The preference that an adjustment aims at; None if it aims at none."""
        return feedback.classify_adjustment(text)

    def extract_params(self, text: str) -> dict[str, str]:
        """What an adjustment asks for: {"theme": "dark"}."""
        return feedback.extract_params(text)

    def record_adjustment(self, student_id: str, text: str, skill: str | None = None) -> list[Change]:
        """Keep an adjustment and learn from it; what it changed in the profile."""
        changes = feedback.record_adjustment(self.vault, student_id, text, skill)
        reconcile(self.vault, student_id)
        return changes


def _vault_of(memory_dir: str | Path) -> Vault:
    folder = Path(memory_dir).expanduser().resolve()
    is_inside = folder.name == layout.MEMORY_DIR and not (folder / layout.SETTINGS_FILE).exists()
    return open_vault(folder.parent if is_inside else folder)


def _knows(vault: Vault, user_id: str) -> bool:
    return layout.check_user_id(user_id) in vault.user_ids()


def _refresh(vault: Vault, user_id: str) -> None:
    """Look for what changed, where no daemon keeps the index fresh."""
    if _knows(vault, user_id) and not is_running(vault.root):
        for scope in (user_id, layout.SHARED):
            reconcile(vault, scope)
