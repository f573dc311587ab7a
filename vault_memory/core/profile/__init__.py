"""USER.md: its fields in three languages, its text with every line kept, its values.
Also preference signals, the evidence of them, and the policy by which they change the profile; what is in doubt and
waits as a suggestion; and the fields that are computed from the turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.profile import computed, suggestions
    from vault_memory.core.profile.computed import PastTurn, TopicMention
    from vault_memory.core.profile.evidence import (
        MAX_QUOTE_CHARS,
        Evidence,
        Row,
        counts_in,
        newest_rows,
        read_row,
        unreadable_lines,
    )
    from vault_memory.core.profile.fields import FIELDS, LABELS, LANGUAGE, LOCALES, NOTE, STRONG_MARKS
    from vault_memory.core.profile.languages import labels_for, language_name, language_tag
    from vault_memory.core.profile.policy import (
        Change,
        ChangeOp,
        Op,
        Signal,
        Strength,
        changed,
        changes_between,
        merge,
        subject,
        taken_back,
        versions,
    )
    from vault_memory.core.profile.profile import (
        MAX_PROFILE_CHARS,
        FieldLine,
        Item,
        Profile,
        canonical,
        clean,
        new_profile,
        with_value,
        without_value,
    )
    from vault_memory.core.profile.replacing import with_replaced
    from vault_memory.core.profile.suggestions import Suggestion, SuggestionState

__all__ = [
    "Change",
    "ChangeOp",
    "Evidence",
    "FIELDS",
    "FieldLine",
    "Item",
    "LABELS",
    "LANGUAGE",
    "LOCALES",
    "MAX_PROFILE_CHARS",
    "MAX_QUOTE_CHARS",
    "NOTE",
    "Op",
    "PastTurn",
    "Profile",
    "Row",
    "Signal",
    "Strength",
    "STRONG_MARKS",
    "Suggestion",
    "SuggestionState",
    "TopicMention",
    "changed",
    "changes_between",
    "taken_back",
    "canonical",
    "clean",
    "computed",
    "counts_in",
    "labels_for",
    "language_name",
    "language_tag",
    "merge",
    "new_profile",
    "newest_rows",
    "read_row",
    "subject",
    "suggestions",
    "unreadable_lines",
    "versions",
    "with_replaced",
    "with_value",
    "without_value",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Change": "policy",
        "ChangeOp": "policy",
        "Evidence": "evidence",
        "FIELDS": "fields",
        "FieldLine": "profile",
        "Item": "profile",
        "LABELS": "fields",
        "LANGUAGE": "fields",
        "LOCALES": "fields",
        "MAX_PROFILE_CHARS": "profile",
        "MAX_QUOTE_CHARS": "evidence",
        "NOTE": "fields",
        "Op": "policy",
        "PastTurn": "computed",
        "Profile": "profile",
        "Row": "evidence",
        "Signal": "policy",
        "Strength": "policy",
        "STRONG_MARKS": "fields",
        "Suggestion": "suggestions",
        "SuggestionState": "suggestions",
        "TopicMention": "computed",
        "changed": "policy",
        "changes_between": "policy",
        "taken_back": "policy",
        "canonical": "profile",
        "clean": "profile",
        "counts_in": "evidence",
        "labels_for": "languages",
        "language_name": "languages",
        "language_tag": "languages",
        "merge": "policy",
        "new_profile": "profile",
        "newest_rows": "evidence",
        "read_row": "evidence",
        "subject": "policy",
        "unreadable_lines": "evidence",
        "versions": "policy",
        "with_replaced": "replacing",
        "with_value": "profile",
        "without_value": "profile",
    },
)
