"""What many mistakes have in common: how many there are of a type, which are one mistake made again, whether they
become more, and how the next one is prevented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from vault_memory.core.mistakes.note import Mistake
from vault_memory.core.mistakes.resemblance import words as words_of
from vault_memory.core.text import normalize

SIMILAR = 0.35
"""Two mistakes are one made again if so much of their words is the same, as it is for memories."""
TREND_DAYS = 30
MAX_PATTERNS = 100
"""So many of each kind are told, the most frequent ones."""
MAX_SHOWN_CHARS = 500
"""How much of an action and of a prevention is told."""
MAX_COMPARED = 32
"""With so many others, those that share the most words, a mistake is compared; of those with one word with so many, the
nearest in time: thousands may have a common word."""

Trend = Literal["rising", "falling", "steady"]


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Mistakes of one kind: their number, ids (the newest first), when the first and the last of them was made; the
    action and the type of the newest, and what the newest that says so names as its prevention. `recent` of them are of
    the last 30 days, `earlier` of the 30 days before these."""

    error_type: str
    action: str
    count: int
    prevention_method: str
    first_at: datetime | None
    last_at: datetime | None
    recent: int
    earlier: int
    ids: tuple[str, ...]

    @property
    def trend(self) -> Trend:
        """Whether they become more."""
        return "rising" if self.recent > self.earlier else "falling" if self.recent < self.earlier else "steady"

    def as_dict(self) -> dict[str, Any]:
        """The pattern as JSON shows it."""
        first, last = (each.isoformat(timespec="seconds") if each else None for each in (self.first_at, self.last_at))
        return {
            "error_type": self.error_type,
            "action": self.action,
            "count": self.count,
            "prevention_method": self.prevention_method,
            "first_at": first,
            "last_at": last,
            "recent": self.recent,
            "earlier": self.earlier,
            "trend": self.trend,
            "ids": list(self.ids),
        }


@dataclass(frozen=True)
class Patterns:
    """What a user's mistakes have in common: their number, one pattern for each type, and one for each mistake that was
    made more than once; the most frequent first, at most 100 of each. `by_month` counts them (`2026-01`), the oldest
    month first."""

    total: int
    by_type: tuple[Pattern, ...]
    similar: tuple[Pattern, ...]
    by_month: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """The patterns as JSON shows them."""
        return {
            "total": self.total,
            "by_type": [each.as_dict() for each in self.by_type],
            "similar": [each.as_dict() for each in self.similar],
            "by_month": dict(self.by_month),
        }


def patterns(mistakes: Iterable[Mistake], at: datetime) -> Patterns:
    """What these mistakes have in common, as seen at a time."""
    newest_first = sorted(mistakes, key=newness, reverse=True)
    months = Counter(f"{each.created_at:%Y-%m}" for each in newest_first if each.created_at)
    groups: dict[str, list[Mistake]] = {}
    for each in newest_first:
        groups.setdefault(type_key(each.error_type), []).append(each)
    return Patterns(
        total=len(newest_first),
        by_type=_sorted(groups.values(), at),
        similar=_sorted((group for group in _alike(newest_first) if len(group) > 1), at),
        by_month=dict(sorted(months.items())),
    )


def type_key(error_type: str) -> str:
    """A type in the one spelling by which types are the same: `Deployment_Error`, `deployment error`."""
    return " ".join(normalize("NFKC", error_type).casefold().replace("_", " ").replace("-", " ").split())


def _sorted(groups: Iterable[Sequence[Mistake]], at: datetime) -> tuple[Pattern, ...]:
    found = [_pattern(group, at) for group in groups]
    return tuple(
        sorted(found, key=lambda each: -each.count)[:MAX_PATTERNS]
    )  # of the same number the newest first, as they came


def _pattern(newest_first: Sequence[Mistake], at: datetime) -> Pattern:
    times = [each.created_at for each in newest_first if each.created_at]
    days = [(at - each) / timedelta(days=TREND_DAYS) for each in times]
    said = (each.prevention_method or each.correct_method or each.user_correction for each in newest_first)
    return Pattern(
        error_type=newest_first[0].error_type,
        action=newest_first[0].action[:MAX_SHOWN_CHARS],
        count=len(newest_first),
        prevention_method=next(filter(None, said), "")[:MAX_SHOWN_CHARS],
        first_at=times[-1] if times else None,
        last_at=times[0] if times else None,
        recent=sum(each <= 1 for each in days),
        earlier=sum(1 < each <= 2 for each in days),
        ids=tuple(each.id for each in newest_first),
    )


def _alike(newest_first: Sequence[Mistake]) -> list[list[Mistake]]:
    """The mistakes in groups, each around its newest."""
    groups: list[list[Mistake]] = []
    of_newest: list[tuple[frozenset[str], frozenset[str]]] = []
    with_word: dict[str, list[int]] = {}
    for each in newest_first:
        action = words_of(each.action)
        words = action | words_of(f"{each.correct_method}\n{each.user_correction}")
        shared = Counter(at for word in words for at in with_word.get(word, ())[-MAX_COMPARED:])
        near = (at for at, _ in shared.most_common(MAX_COMPARED))
        best = max(((_overlap(action, words, *of_newest[at]), -at) for at in near), default=(0.0, 0))
        if best[0] >= SIMILAR:
            groups[-best[1]].append(each)
            continue
        for word in words:
            with_word.setdefault(word, []).append(len(groups))
        groups.append([each])
        of_newest.append((action, words))
    return groups


def _overlap(action: frozenset[str], words: frozenset[str], its_action: frozenset[str], its: frozenset[str]) -> float:
    """How much two mistakes share of what was done, or of that and how it is done rightly."""
    return max(_jaccard(action, its_action), _jaccard(words, its))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def newness(mistake: Mistake) -> tuple[float, str]:
    """What sorts mistakes by their time; those that name none are the oldest."""
    return (mistake.created_at.timestamp() if mistake.created_at else 0.0, mistake.id)
