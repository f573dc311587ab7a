"""What a person says of himself or herself, apart from the words: 我超愛芒果 and «I really like mango» say the same,
«I can't stand mangoes» takes it back, «I live in Tainan» takes the place of 我住在高雄.

`wording` reads it. Here is what two such sayings are to each other, and by which numbers an index finds them.
"""

from __future__ import annotations

import hashlib
from typing import Literal

from vault_memory.core.memorable.wording import FAVOURITE, LIVE, Saying, read_saying, says_something

SINGLE = (LIVE, FAVOURITE)
"""What a person has one of: another one takes its place."""
CHANGED = ("be", "work", "drive", "ride")
"""The same, if the new one is said to be so from now on, and is a thing of the same kind."""
GIVEN_UP = {"like", "do", "play"}
"""Who gives up doing a thing no longer does it, and is not known for liking it."""

Verdict = Literal["same", "replaces", "other"]


def topics_of(content: str) -> list[int]:
    """The numbers by which an index finds memories that may say the same as a text, or the contrary; each below 2⁶³,
    so that SQLite takes it. None for a text that says nothing of its person."""
    said = read_saying(content)
    return [_number(f"{said.subject} {topic}") for topic in _topics(said)] if said else []


def compared(new: str, old: str) -> Verdict:
    """Whether a new text says the `same` as an old one, `replaces` it (a change of mind, a move, the same and more), or
    something `other`."""
    first, second = read_saying(new), read_saying(old)
    if first is None or second is None or first.subject != second.subject:
        return "other"
    if first.relation == second.relation and first.relation in SINGLE and first.is_so and second.is_so:
        return _in_its_place(first, second)
    if not first.thing.is_same(second.thing):
        return "replaces" if _has_changed(first, second) else "other"
    if first.is_so == second.is_so:
        return _said_again(first, second)
    return "replaces" if _is_taken_back(first, second) else "other"


def _topics(said: Saying) -> list[str]:
    if said.relation in SINGLE:
        return [f"{said.relation} {said.slot}"]
    own = [said.relation] if said.relation in CHANGED else []
    return [*own, *said.thing.names]


def _in_its_place(new: Saying, old: Saying) -> Verdict:
    """What a new one of which a person has only one makes of the old one."""
    is_of_level = not new.thing.kinds or not old.thing.kinds or bool(new.thing.kinds & old.thing.kinds)
    if new.slot != old.slot or new.when != old.when or (new.relation == LIVE and not is_of_level):
        return "other"  # who lives in a town lives in a country, too
    if new.thing.is_beginning_of(old.thing) and new.more in ("", old.more):
        return "same"
    return "other" if says_something(old.more) else "replaces"


def _has_changed(new: Saying, old: Saying) -> bool:
    """Whether what was so is another thing now: «I drive a Tesla now»."""
    is_new = new.is_new and new.is_so and old.is_so and new.relation == old.relation and new.relation in CHANGED
    is_of_kind = bool(new.thing.kinds & old.thing.kinds) or (
        new.relation == "work" and new.thing.kinds == old.thing.kinds
    )
    return is_new and is_of_kind and not old.more


def _said_again(new: Saying, old: Saying) -> Verdict:
    if new.relation != old.relation or new.when != old.when:
        return "other"
    if new.more in ("", old.more):
        return "same"
    return "other" if old.more else "replaces"


def _is_taken_back(new: Saying, old: Saying) -> bool:
    """Whether the contrary of an old one is said, and nothing goes that is still so."""
    if says_something(old.more) or (new.when != old.when and (new.when or new.is_so)):
        return False  # «not on Mondays»
    is_given_up = not new.is_so and new.is_new and {new.relation, old.relation} <= GIVEN_UP
    return new.relation == old.relation or is_given_up


def _number(topic: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"~{topic}".encode(), digest_size=8).digest()) >> 1
