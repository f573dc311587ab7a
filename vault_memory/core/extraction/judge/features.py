"""What speaks for and against a proposal: character and word sequences of its surroundings, and how clauses are meant.

A feature is a text; its first characters tell where it was seen: `L` left of the thing named, `R` right of it, `C` in
its clause, `P` and `N` in the clause before and after, `T` in the turn, `A` in the reply before; `f:` how it is meant.
"""

from __future__ import annotations

import re

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.judge.scene import Scene
from vault_memory.core.text import fold

WINDOW_CHARS, STYLE_WINDOW_CHARS = 24, 16
_WORD = re.compile(r"[a-z0-9+#'\ue000-\ue002]+")
_MEANT = (
    "is_about_others",
    "is_hypothetical",
    "asks_to_know",
    "is_once",
    "is_past",
    "is_sarcastic",
    "likes",
    "is_lasting",
    "is_lasting_here",
    "asks",
    "corrects",
    "is_first_person",
)


def sequences(text: str, shortest: int = 1, longest: int = 4, prefix: str = "") -> set[str]:
    """The character sequences of a text, whose ends are blanks."""
    text = f" {text} "
    return {
        prefix + text[at : at + length]
        for length in range(shortest, longest + 1)
        for at in range(len(text) - length + 1)
    }


def words(text: str, prefix: str = "") -> set[str]:
    """The Latin words of a text, and two and three of them in a row."""
    found = _WORD.findall(text)
    return {
        f"{prefix}{length}:{'_'.join(found[at : at + length])}"
        for length in (1, 2, 3)
        for at in range(len(found) - length + 1)
    }


def meant(clause: Clause) -> set[str]:
    """How a clause is meant."""
    return {f"f:{name}" for name in _MEANT if getattr(clause, name)} | {f"f:wish={clause.wish}"}


def of_turn(scene: Scene) -> set[str]:
    """The turn as a whole."""
    found = sequences(scene.text) | words(scene.text)
    if scene.has_reply:
        found |= sequences(scene.opening_of_reply, 3, 4, "A")
    for clause in scene.clauses:
        found |= meant(clause)
    return found | {f"has:{key}" for key in scene.existing}


def of_style(scene: Scene, key: str, value: str, mentions: list[tuple[int, int, int, str]]) -> set[str]:
    """A style and where it is named: (clause, start, end in the clause, how) of each mention."""
    stored = scene.existing.get(key)
    found = {
        "reply" if scene.has_reply else "no reply",
        f"length {min(6, len(scene.text) // 30)}",
        f"stored {'same' if stored == value else 'other' if stored else 'none'}",
    }
    for number, start, end, how in mentions:
        clause = scene.clauses[number]
        before = _plain(clause.text[max(0, start - STYLE_WINDOW_CHARS) : start])
        after = _plain(clause.text[end : end + STYLE_WINDOW_CHARS])
        sign = how[0]
        found |= {how} | sequences(before, prefix=f"{sign}L") | sequences(after, prefix=f"{sign}R")
        found |= _beside(before, after, sign)
        found |= {sign + feature for feature in meant(clause)} | words(clause.text, f"{sign}C")
    return found


def of_words_of_turn(scene: Scene) -> set[str]:
    """The turn as the surroundings of a name."""
    return words(scene.text, "T") | sequences(scene.text, 2, 3, "T")


def around(scene: Scene, start: int, end: int, name: str, key: str) -> set[str]:
    """A name in a clause, which lies from `start` to `end` of the message."""
    number = scene.clause_at(start)
    if number is None:
        return set()
    clause = scene.clauses[number]
    before, after = scene.masked(clause.start, start), scene.masked(end, max(end, clause.end))
    found = {"reply" if scene.has_reply else "no reply", f"name {fold(name)}", f"key {key}"}
    found |= meant(clause) | _neighbours(scene, number)
    found |= sequences(before[-WINDOW_CHARS:], prefix="L") | sequences(after[:WINDOW_CHARS], prefix="R")
    found |= _beside(before, after) | words(before, "L") | words(after, "R")
    found |= {f"stored {known}" for known, value in scene.existing.items() if _holds(value, name)}
    return found | {f"names {min(4, len(scene.message.technologies))}"}


def of_clauses(scene: Scene, first: int, last: int) -> set[str]:
    """The clauses from `first` to `last`, as one statement."""
    text = ",".join(scene.masked_clauses[first : last + 1])
    found = sequences(text) | words(text) | {f"length {min(8, len(text) // 12)}"}
    for clause in scene.clauses[first : last + 1]:
        found |= meant(clause)
    return found | {"reply" if scene.has_reply else "no reply"} | _neighbours(scene, first, last)


def _neighbours(scene: Scene, first: int, last: int | None = None) -> set[str]:
    found: set[str] = set()
    last = first if last is None else last
    if first:
        text = scene.masked_clauses[first - 1]
        found |= words(text, "P") | sequences(text[-20:], 2, 3, "P")
    if last + 1 < len(scene.clauses):
        text = scene.masked_clauses[last + 1]
        found |= words(text, "N") | sequences(text[:20], 2, 3, "N")
    return found


def _beside(before: str, after: str, prefix: str = "") -> set[str]:
    """The characters that touch the thing named."""
    left = {f"{prefix}L!{before[-length:]}" for length in (1, 2, 3, 4)}
    return left | {f"{prefix}R!{after[:length]}" for length in (1, 2, 3, 4)}


def _holds(value: str | list[str], name: str) -> bool:
    return any(fold(each) == fold(name) for each in ([value] if isinstance(value, str) else value))


def _plain(text: str) -> str:
    return re.sub(r"[0-9]+", "0", text)
