"""A text that is to be erased. It is read as units (a run of letters, a whole number, one Chinese character), and
stands where these follow one another with any signs between them, whole or cut as titles are; also in the escapes of
JSON, HTML and addresses. A mark takes its place. The tombstone, by which the same units are known again, does not say
what it was. Also the words that a vault itself needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.erasing.forms import MASK, MIN_BYTES, Erasure
    from vault_memory.core.erasing.literal import Literal
    from vault_memory.core.erasing.needed import (
        is_read,
        words_of_every_vault,
        words_of_file,
        words_of_git,
        words_of_name,
    )
    from vault_memory.core.erasing.parts import (
        WHOLE,
        Part,
        Parts,
        PartsOfFile,
        asked_in,
        is_cut,
        is_known_by,
        share_in,
        turn_of,
    )
    from vault_memory.core.erasing.said import (
        is_an_id,
        is_of_a_user,
        said_in_file,
        said_in_message,
        said_in_name,
        said_in_record,
    )
    from vault_memory.core.erasing.tombstones import KEY_BYTES, Tombstones

__all__ = [
    "Erasure",
    "KEY_BYTES",
    "Literal",
    "MASK",
    "MIN_BYTES",
    "Part",
    "Parts",
    "PartsOfFile",
    "Tombstones",
    "WHOLE",
    "share_in",
    "asked_in",
    "is_an_id",
    "is_cut",
    "is_known_by",
    "is_of_a_user",
    "is_read",
    "said_in_file",
    "said_in_message",
    "said_in_name",
    "said_in_record",
    "turn_of",
    "words_of_every_vault",
    "words_of_file",
    "words_of_git",
    "words_of_name",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Erasure": "forms",
        "KEY_BYTES": "tombstones",
        "Literal": "literal",
        "MASK": "forms",
        "MIN_BYTES": "forms",
        "Part": "parts",
        "Parts": "parts",
        "PartsOfFile": "parts",
        "Tombstones": "tombstones",
        "WHOLE": "parts",
        "asked_in": "parts",
        "share_in": "parts",
        "is_an_id": "said",
        "is_cut": "parts",
        "is_known_by": "parts",
        "is_of_a_user": "said",
        "is_read": "needed",
        "said_in_file": "said",
        "said_in_message": "said",
        "said_in_name": "said",
        "said_in_record": "said",
        "turn_of": "parts",
        "words_of_every_vault": "needed",
        "words_of_file": "needed",
        "words_of_git": "needed",
        "words_of_name": "needed",
    },
)
