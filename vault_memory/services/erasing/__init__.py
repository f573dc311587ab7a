"""Erasing for good: a user, a text or a note goes from files, history, state and stores, and is kept from coming back.
What cannot be reached from here is named; a store that did not answer is noted, and is made up for when it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.erasing.again import reach_again, still_to_erase
    from vault_memory.services.erasing.asked import Erasing, erase_with_code, prepare_erasing
    from vault_memory.services.erasing.erase import Preview, Receipt, erase, finish_erasing, preview
    from vault_memory.services.erasing.remote import Overwrite, overwrite, prepare_overwrite
    from vault_memory.services.erasing.unreached import used_problem
    from vault_memory.services.erasing.wanted import Wanted, former_ids, of_note, of_texts, of_user

__all__ = [
    "Erasing",
    "Overwrite",
    "Preview",
    "Receipt",
    "Wanted",
    "erase",
    "erase_with_code",
    "finish_erasing",
    "former_ids",
    "of_note",
    "of_texts",
    "of_user",
    "overwrite",
    "prepare_erasing",
    "prepare_overwrite",
    "preview",
    "reach_again",
    "still_to_erase",
    "used_problem",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Erasing": "asked",
        "Overwrite": "remote",
        "Preview": "erase",
        "Receipt": "erase",
        "Wanted": "wanted",
        "erase": "erase",
        "erase_with_code": "asked",
        "finish_erasing": "erase",
        "former_ids": "wanted",
        "of_note": "wanted",
        "of_texts": "wanted",
        "of_user": "wanted",
        "overwrite": "remote",
        "prepare_erasing": "asked",
        "prepare_overwrite": "remote",
        "preview": "erase",
        "reach_again": "again",
        "still_to_erase": "again",
        "used_problem": "unreached",
    },
)
