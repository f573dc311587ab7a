"""What was found in a conversation that is worth a memory, and finding it by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_memory.core.distilling.transcript import Said
from vault_memory.core.extraction import Lexicon
from vault_memory.core.memorable import memorable


@dataclass(frozen=True)
class Found:
    """What is worth a memory: its `type`, its `content` on one line, the words that say so, and their turn's line."""

    type: str
    content: str
    quote: str
    importance: float
    source: str = ""


def find_by_rules(turns: Sequence[Said], lexicon: Lexicon) -> list[Found]:
    """What the rules find (`core.memorable`), each content once."""
    found: dict[str, Found] = {}
    reply = ""
    for turn in turns:
        for each in memorable(turn.words, reply, lexicon):
            found.setdefault(each.content, Found(each.kind, each.content, each.quote, each.importance, turn.source))
        reply = turn.reply
    return list(found.values())
