"""What a person does with suggestions (`core.profile.suggestions`): see what waits, accept it, or dismiss it for good.

Both are the person's own commits. An accepted one names the turn in which it was heard.
"""

from __future__ import annotations

from collections.abc import Sequence

from vault_memory.adapters import files
from vault_memory.core.profile import Change, Evidence, Signal, Suggestion, suggestions
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.profiles.profile_files import ProfileFiles, change_profile
from vault_memory.services.vault import Vault


def list_suggestions(vault: Vault, user_id: str) -> list[Suggestion]:
    """What waits for the person's decision, newest first."""
    with vault.reading(user_id):
        return ProfileFiles.read(vault, user_id, vault.now(), files.read).open_suggestions()


def accept_suggestion(vault: Vault, user_id: str, name: str) -> list[Change]:
    """Write a suggestion, named by its id or its key, into the profile, as the person's edit; return what changed.

    Raises `NotFound` where none of this name waits, and `UsageError` where several of the key do.
    """
    chosen = _named(list_suggestions(vault, user_id), name)

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        found = _named(state.open_suggestions(), chosen.id)
        return state.merge([Signal(found.key, found.op, found.value, "manual", found.quote)])

    return change_profile(vault, user_id, decide, vault.history.person(), chosen.source).result


def dismiss_suggestion(vault: Vault, user_id: str, name: str) -> Suggestion:
    """Say no to a suggestion, named by its id or its key: it is not suggested again. Raises what accepting raises."""
    chosen = _named(list_suggestions(vault, user_id), name)

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Suggestion]]:
        return [], [suggestions.dismissal(_named(state.open_suggestions(), chosen.id))]

    change_profile(vault, user_id, decide, vault.history.person(), chosen.source)
    return chosen


def _named(waiting: Sequence[Suggestion], name: str) -> Suggestion:
    found = [each for each in waiting if name in (each.id, each.key)]
    if not found:
        raise NotFound(f"no suggestion {name!r} waits: `vault-memory pref suggestions` shows which do")
    if len(found) > 1:
        ids = ", ".join(f"{each.id} ({each.value})" for each in found)
        raise UsageError(f"{len(found)} suggestions for {name} wait, name one by its id: {ids}")
    return found[0]
