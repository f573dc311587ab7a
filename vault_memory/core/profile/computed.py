"""The fields of USER.md that are computed from the last turns: how a person talks with the assistant.

A rule has two thresholds with a gap between them. In the gap the present value stays, so the profile does not flicker.

- `most_used_modules`: at most five modules, each used in at least three of the turns; the most used first.
- `feedback_frequency`: `frequent_adjustments` when at least 20 % of the turns adjusted something, `rarely_adjusts` when
  at most 5 % did.
- `question_style`: `code-first` when at least 40 % of the messages hold code; else `brief` when at least 60 % have at
  most 20 tokens, or `detailed` when at least 50 % have 60 or more (a token is a Han character or four letters).
- `common_issues`: a topic that the person asked about in at least three turns, on at least two days.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from vault_memory.core.text import comparable, tokens

MAX_TURNS = 200
"""The fields are computed from this many turns, the newest ones."""
MIN_TURNS = 10
"""With fewer turns than this no style is computed."""
MAX_MODULES, MIN_MODULE_TURNS = 5, 3
FREQUENT_SHARE, RARE_SHARE = 0.20, 0.05
CODE_FIRST_SHARE, BRIEF_SHARE, DETAILED_SHARE = 0.4, 0.6, 0.5
MAX_BRIEF_TOKENS, MIN_DETAILED_TOKENS = 20, 60
MIN_ISSUE_TURNS, MIN_ISSUE_DAYS = 3, 2

_CODE = re.compile(
    r"```|^(?: {4}|\t)\S|[;{][ \t]*$|^[ \t]*(?:def|class|import|from|return|function|const|let|#include)\b", re.M
)


@dataclass(frozen=True)
class PastTurn:
    """One turn: the person's message, the module that was used, and whether the person adjusted something."""

    message: str
    module: str | None
    has_adjustment: bool


@dataclass(frozen=True)
class TopicMention:
    """One topic that the person asked about in one turn."""

    topic: str
    day: date


def modules(turns: Sequence[PastTurn]) -> list[str]:
    """The modules most used, the most used first; empty where none was used often enough."""
    counts = Counter(turn.module for turn in turns if turn.module)
    often = [(-count, module) for module, count in counts.items() if count >= MIN_MODULE_TURNS]
    return [module for _, module in sorted(often)[:MAX_MODULES]]


def feedback_frequency(turns: Sequence[PastTurn]) -> str | None:
    """How often the person adjusts something; None: too few turns, or in the gap between the thresholds."""
    if len(turns) < MIN_TURNS:
        return None
    share = sum(turn.has_adjustment for turn in turns) / len(turns)
    return "frequent_adjustments" if share >= FREQUENT_SHARE else "rarely_adjusts" if share <= RARE_SHARE else None


def question_style(turns: Sequence[PastTurn]) -> str | None:
    """How the person asks; None: too few turns, or no style is common enough."""
    if len(turns) < MIN_TURNS:
        return None
    lengths = [tokens.count(turn.message) for turn in turns]
    if sum(bool(_CODE.search(turn.message)) for turn in turns) / len(turns) >= CODE_FIRST_SHARE:
        return "code-first"
    if sum(length <= MAX_BRIEF_TOKENS for length in lengths) / len(turns) >= BRIEF_SHARE:
        return "brief"
    if sum(length >= MIN_DETAILED_TOKENS for length in lengths) / len(turns) >= DETAILED_SHARE:
        return "detailed"
    return None


def common_issues(mentions: Iterable[TopicMention]) -> list[str]:
    """The topics that return, in the order in which the person last asked about them, oldest first."""
    days: dict[str, list[date]] = {}
    last: dict[str, str] = {}
    for mention in mentions:
        name = comparable(mention.topic)
        days.setdefault(name, []).append(mention.day)
        last.pop(name, None)
        last[name] = mention.topic
    return [
        topic
        for name, topic in last.items()
        if len(days[name]) >= MIN_ISSUE_TURNS and len(set(days[name])) >= MIN_ISSUE_DAYS
    ]
