"""What stays of conversations: the person's own words in them, the question to a language model about these and the
check of its answer, the summary, and which memories belong into the profile. Rules do the same where no model is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.distilling import insights, question
    from vault_memory.core.distilling.finding import Found, find_by_rules, joined, letters
    from vault_memory.core.distilling.summary import MAX_SUMMARY_CHARS, summary_by_rules
    from vault_memory.core.distilling.transcript import MAX_TURNS, Said, heard, own_words, said_in

__all__ = [
    "MAX_SUMMARY_CHARS",
    "MAX_TURNS",
    "Found",
    "Said",
    "find_by_rules",
    "heard",
    "insights",
    "joined",
    "letters",
    "own_words",
    "question",
    "said_in",
    "summary_by_rules",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Found": "finding",
        "MAX_SUMMARY_CHARS": "summary",
        "MAX_TURNS": "transcript",
        "Said": "transcript",
        "find_by_rules": "finding",
        "heard": "transcript",
        "joined": "finding",
        "letters": "finding",
        "own_words": "transcript",
        "said_in": "transcript",
        "summary_by_rules": "summary",
    },
)
