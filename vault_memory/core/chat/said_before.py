"""Whether a message stands in a request as it stood in an earlier one, after the same messages.

A provider's prompt cache holds the beginning of a request. Clients send the same message in two forms, as a text and
as a list with one part, and move `cache_control` on: for the provider these are the same.
"""

from __future__ import annotations

import hashlib
import json

from vault_memory.core.chat.messages import INSTRUCTIONS, PERSON, TEXT, Messages, Part, without_cache_marks


def digests(messages: Messages) -> dict[int, bytes]:
    """For each message on the person's side that has a text, by its index: a digest of all messages up to it.

    Instructions do not count: clients put the time there, and reminders, which they leave out later.
    """
    found: dict[int, bytes] = {}
    so_far = hashlib.blake2b(digest_size=16)
    for message in messages.messages:
        if message.role == INSTRUCTIONS:
            continue
        pieces = [_piece(part) for part in message.parts if part.text or part.kind != TEXT]
        for piece in (message.role.encode("utf-8", "surrogatepass"), *pieces):
            so_far.update(b"%d:" % len(piece) + piece)
        so_far.update(b".")
        if message.role == PERSON and any(part.text for part in message.parts):
            found[message.index] = so_far.digest()
    return found


def _piece(part: Part) -> bytes:
    if part.kind == TEXT:
        return b"t" + part.text.encode("utf-8", "surrogatepass")
    return b"v" + json.dumps(without_cache_marks(part.value), sort_keys=True).encode()
