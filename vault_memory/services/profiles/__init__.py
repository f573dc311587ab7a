"""A user's preferences: reading, setting, restoring and taking them back, and computing some of them from the turns.
Also what waits as a suggestion, and their history: who changed which one, when and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.profiles.computed import compute_interaction
    from vault_memory.services.profiles.evidence import evidence_sources
    from vault_memory.services.profiles.history import PreferenceChange, history
    from vault_memory.services.profiles.preferences import (
        Learned,
        blame,
        commit_at,
        learned,
        list_preferences,
        refuse_unsettled,
        restore_preference,
        set_preference,
        take_back,
        unset_preference,
    )
    from vault_memory.services.profiles.profile_files import (
        LaterChanges,
        ProfileFiles,
        change_profile,
        goes_by,
        profile_timezone,
    )
    from vault_memory.services.profiles.suggestions import accept_suggestion, dismiss_suggestion, list_suggestions
    from vault_memory.services.profiles.unlearned import Unlearned, unlearned, value_in_words
    from vault_memory.services.profiles.user_profile import (
        NO_PROFILE,
        UserProfile,
        put_content,
        put_preferences,
        user_profile,
    )

__all__ = [
    "NO_PROFILE",
    "LaterChanges",
    "Learned",
    "PreferenceChange",
    "ProfileFiles",
    "Unlearned",
    "UserProfile",
    "accept_suggestion",
    "blame",
    "change_profile",
    "commit_at",
    "compute_interaction",
    "dismiss_suggestion",
    "evidence_sources",
    "history",
    "learned",
    "list_preferences",
    "list_suggestions",
    "goes_by",
    "profile_timezone",
    "put_content",
    "put_preferences",
    "refuse_unsettled",
    "restore_preference",
    "set_preference",
    "take_back",
    "unlearned",
    "unset_preference",
    "user_profile",
    "value_in_words",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "NO_PROFILE": "user_profile",
        "LaterChanges": "profile_files",
        "Learned": "preferences",
        "PreferenceChange": "history",
        "ProfileFiles": "profile_files",
        "Unlearned": "unlearned",
        "UserProfile": "user_profile",
        "accept_suggestion": "suggestions",
        "blame": "preferences",
        "change_profile": "profile_files",
        "commit_at": "preferences",
        "compute_interaction": "computed",
        "dismiss_suggestion": "suggestions",
        "evidence_sources": "evidence",
        "history": "history",
        "learned": "preferences",
        "list_preferences": "preferences",
        "list_suggestions": "suggestions",
        "goes_by": "profile_files",
        "profile_timezone": "profile_files",
        "put_content": "user_profile",
        "put_preferences": "user_profile",
        "refuse_unsettled": "preferences",
        "restore_preference": "preferences",
        "set_preference": "preferences",
        "take_back": "preferences",
        "unlearned": "unlearned",
        "unset_preference": "preferences",
        "user_profile": "user_profile",
        "value_in_words": "unlearned",
    },
)
