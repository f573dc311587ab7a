"""Whether a model's wording says no more than somebody's words: it may leave out and turn «I» into «the user», but
names nothing new, denies nothing that was not denied, and makes nothing of the past hold now."""

from __future__ import annotations

import re

from vault_memory.core.text import lazily, tokens

_FRAME = re.compile(
    r"(?<![a-z])(?:users?|student|person|they|their|them|theirs|he|she|his|her|hers|him|has|have|had|does|do|did|is|are"
    r"|was|were|be|been|of|to|in|on|at|for|with|and|or|that|this|it|as|by|from|than|so|s)(?![a-z])"
    r"|使用者|用户|学员|对方|[他她其您你我]们?|[的了是在和与把对于也都会有这那]"
)
"""What a model may say around the words, folded."""
_DENIES = lazily(
    r"(?<![a-z])(?:no|not|never|none|without|stop(?:ped|s)?|quit|avoids?|hates?|dislikes?|\w+n't|dont|nor|neither"
    r"|unable|against|rather)(?![a-z])|[不没沒未别勿無无非戒拒]|讨厌|停止|避免"
)
_IS_PAST = lazily(
    r"(?<![a-z])(?:was|were|had|did|used to|once|formerly|[a-z]{2,}ed|ate|went|drank|kept|left|bought|got)(?![a-z])"
    r"|曾|以前|过去|从前|小时候|当年|原本"
)
OWN_SHARE = 2 / 3
"""So much of a wording must stand in the quote itself; the rest may be said elsewhere in the conversation."""


def is_carried(wording: str, quote: str, elsewhere: str = "") -> bool:
    """Whether every word of a `wording` stands in the `quote` or `elsewhere` in what was said, most of them in the
    quote, and both deny, or are of the past, or neither does or is."""
    said, meant = tokens.fold(quote), tokens.fold(wording)
    if any(bool(mark.search(said)) != bool(mark.search(meant)) for mark in (_DENIES, _IS_PAST)):
        return False
    own = share(wording, quote)
    return own == 1 or (own >= OWN_SHARE and share(wording, f"{quote}\n{elsewhere}") == 1)


def share(wording: str, said: str) -> float:
    """The share of a wording's words that stand in what was said, 0 to 1; 0 for one without words."""
    terms = _terms(wording)
    folded = tokens.fold(said)
    words = {term for term in tokens.query_terms(said).search_terms if not tokens.is_han_piece(term)}
    known = sum(term in folded if tokens.is_han_piece(term) else term in words for term in terms)
    return known / len(terms) if terms else 0.0


def _terms(wording: str) -> tuple[str, ...]:
    return tokens.query_terms(_FRAME.sub(" ", tokens.fold(wording))).search_terms


_NAMES = lazily(r"[a-z]+://\S+|www\.\S+|[\w.+-]+@[\w.-]+|[\w./:-]*\d[\w./:-]*|(?<=[\w,;:] )[A-Z][\w'-]+")
"""Addresses, numbers, and words with a capital inside a sentence."""


def names_anew(wording: str, said: str) -> list[str]:
    """The addresses, numbers and names of a `wording` that do not stand in what was `said`."""
    known = tokens.fold(said)
    return [name for name in _NAMES.findall(wording) if tokens.fold(name).strip(".:/-") not in known]
