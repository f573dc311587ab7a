"""How a person talks with the assistant, computed from the last turns: the fields of USER.md that nobody has to tell.

Each rule has two thresholds with room between them, in which what stands stays: a profile must not flicker.

- `most_used_modules`: the up to five modules that were at work in at least three of the turns, the most used first.
- `feedback_frequency`: `frequent_adjustments` when a fifth of the turns or more adjusted something, `rarely_adjusts` when
  it was a twentieth or less.
- `question_style`: `code-first` when two fifths of the messages or more hold code; else `brief` when three fifths say it
  in 20 tokens, or `detailed` when half take 60 or more (a token is a Han character or four letters).
- `common_issues`: a topic that was asked about in three turns or more, on two days or more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from vault_memory.core.profile.fields import comparable
from vault_memory.core.text import tokens

WINDOW = 200
"""How many turns back the fields are computed from."""
ENOUGH = 10
"""Fewer turns than this tell nothing of a person's style."""
MODULES, MODULE_TURNS = 5, 3
FREQUENT, RARE = 0.20, 0.05
CODE_FIRST, BRIEF, DETAILED = 0.4, 0.6, 0.5
BRIEF_TOKENS, DETAILED_TOKENS = 20, 60
ISSUE_TURNS, ISSUE_DAYS = 3, 2

_CODE = re.compile(
    r"```|^(?: {4}|\t)\S|[;{]\s*$|^\s*(?:def|class|import|from|return|function|const|let|#include)\b", re.M
)


@dataclass(frozen=True)
class Talk:
    """One turn: what was said, the module at work, and whether the person adjusted something in it."""

    message: str
    module: str | None
    adjusted: bool


@dataclass(frozen=True)
class Asked:
    """One topic that was asked about in one turn."""

    topic: str
    day: date


def modules(talks: Sequence[Talk]) -> list[str]:
    """The modules most used, the most used first; empty where none was used often enough."""
    counts = Counter(talk.module for talk in talks if talk.module)
    often = [(-count, module) for module, count in counts.items() if count >= MODULE_TURNS]
    return [module for _, module in sorted(often)[:MODULES]]


def feedback_frequency(talks: Sequence[Talk]) -> str | None:
    """How often the person adjusts; None: cannot be told, or in between."""
    if len(talks) < ENOUGH:
        return None
    share = sum(talk.adjusted for talk in talks) / len(talks)
    return "frequent_adjustments" if share >= FREQUENT else "rarely_adjusts" if share <= RARE else None


def question_style(talks: Sequence[Talk]) -> str | None:
    """How the person asks; None: cannot be told, or in between."""
    if len(talks) < ENOUGH:
        return None
    lengths = [tokens.count(talk.message) for talk in talks]
    if sum(bool(_CODE.search(talk.message)) for talk in talks) / len(talks) >= CODE_FIRST:
        return "code-first"
    if sum(length <= BRIEF_TOKENS for length in lengths) / len(talks) >= BRIEF:
        return "brief"
    if sum(length >= DETAILED_TOKENS for length in lengths) / len(talks) >= DETAILED:
        return "detailed"
    return None


def common_issues(asked: Iterable[Asked]) -> list[str]:
    """The topics that keep coming back, in the order in which they were last asked about, oldest first."""
    days: dict[str, list[date]] = {}
    last: dict[str, str] = {}
    for one in asked:
        name = comparable(one.topic)
        days.setdefault(name, []).append(one.day)
        last.pop(name, None)
        last[name] = one.topic
    return [
        topic for name, topic in last.items() if len(days[name]) >= ISSUE_TURNS and len(set(days[name])) >= ISSUE_DAYS
    ]
