"""What was found in a conversation that is worth a memory, and finding it by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault_memory.core.distilling.transcript import Said
from vault_memory.core.extraction import Lexicon
from vault_memory.core.memorable import memorable
from vault_memory.core.text import fold


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


def joined(first: Sequence[Found], second: Sequence[Found]) -> list[Found]:
    """The first, and of the second what none of the first says of the same words."""
    return [*first, *(each for each in second if not any(_share_words(each, other) for other in first))]


def _share_words(one: Found, other: Found) -> bool:
    short, long = sorted((letters(one.quote), letters(other.quote)), key=len)
    return one.source == other.source and short in long


def letters(text: str) -> str:
    """The letters and digits of a text alone, folded: by these a quotation is known again."""
    return "".join(filter(str.isalnum, fold(text)))
