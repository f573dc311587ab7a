"""What other programs keep of their conversations, read as turns: the exports of ChatGPT and Claude, and the records of
Super Happy Coder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.exports import super_happy_coder
    from vault_memory.core.exports.elements import Damaged, elements
    from vault_memory.core.exports.formats import FORMATS, Format
    from vault_memory.core.exports.messages import Conversation

__all__ = ["FORMATS", "Conversation", "Damaged", "Format", "elements", "super_happy_coder"]

__getattr__ = lazy_exports(
    __name__,
    {
        "FORMATS": "formats",
        "Conversation": "messages",
        "Damaged": "elements",
        "Format": "formats",
        "elements": "elements",
    },
)
