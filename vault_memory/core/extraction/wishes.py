"""Wishes: whether a clause wishes for the style it names, and whether a negation refuses it.

A clause does not wish for a style that it praises, counts or states as a fact, or that another thing has.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Style
from vault_memory.core.text import lazily


@dataclass(frozen=True)
class StyleMention:
    """A style named in a clause, from `start` to `end`; `is_wish`: the phrase alone is a wish."""

    style: Style
    start: int
    end: int
    is_wish: bool


def is_wished(mention: StyleMention, clause: Clause, has_reply: bool, sign: int) -> bool:
    """Whether the clause wishes for the style. `sign` is its polarity; `has_reply`: the message follows a reply."""
    key, value, text, lists = mention.style.key, mention.style.value, clause.text, mention.style.words
    before, words, after = text[: mention.start], text[mention.start : mention.end], text[mention.end :]
    bare = has_reply and mention.is_wish and len(words) == len(text)  # «Night mode?»
    if not clause.is_meant or (clause.asks_to_know and not bare) or clause.is_once:
        return False
    lasts = clause.likes or clause.is_lasting
    if key in ("response_style", "theme") and complains(words):
        if _is_a_thing(before):
            return False  # «the loop is too long», 我的名字太长
        if key == "theme" and mention.is_wish and not has_reply:
            return False  # «too dark» is about the page only after a reply, which may have shown one
    if key == "response_style" and not clause.is_lasting and lists("words.style.praised").search(text):
        return False
    if not (has_reply or lasts) and lists(f"words.style.once.{key}").search(text):
        return speaks_of_reply(text)  # «finish the parody in two lines», «the comments of this function»
    if mention.is_wish:
        return value == "auto" or has_reply or clause.wish is not None
    if clause.wish is None and (sign > 0 or not has_reply):
        return False  # a refusal counts only after a reply: 兩小時還沒講到重點 reports
    if value != "auto" and lists("words.style.asserted").match(after):
        return False
    if clause.is_first_person and not (clause.asks or clause.likes or clause.corrects or clause.is_lasting_here):
        return False  # «from now on» in another clause makes no wish of a statement about oneself
    if key == "response_style" and not (has_reply or lasts):
        return speaks_of_reply(before) or len(lists("words.style.particles").sub("", after)) <= 2
    return True


def _is_a_thing(subject: str) -> bool:
    """Whether a subject is neither the answers nor the page nor «it»."""
    return not _REPLY.search(subject) and bool(_THING.search(subject) or len(_VAGUE.sub("", subject)) >= 2)


def speaks_of_reply(text: str) -> bool:
    """Whether the clause names the assistant's answers."""
    return bool(_REPLY.search(text))


_THING = lazily(r"(?<![a-z])(?:the|my|our|his|her|their) (?!page|site|screen|background|theme|ui|text|last|one)[a-z]")
_VAGUE = lazily(r"[^\u3400-\u9fff]|[页画面背景颜色你我这那都也又真的是有点还个次写讲说太超给字文]")
"""What is left of a Chinese subject without these characters names a thing."""
_REPLY = lazily(r"答|回[复覆应]|解释|说明|讲解|你的?[讲说回]|(?:^|[请就都再])[讲说回教]|answer|repl[yi]|response|expla")


# --- negation ---------------------------------------------------------------------------------------------------------


NEGATION_BEFORE_CHARS, NEGATION_AFTER_CHARS = 28, 14
"""Around the words that are wished or refused: so far a negation reaches."""


def polarity(text: str, start: int, end: int, lexicon: Lexicon, breaks: list[int], within: bool = False) -> int:
    """The sign of the words from `start` to `end`: +1 wished, -1 negated, 0 weakened («I don't hate dark mode»).

    Two negations are a demand; «not too long» means the same as «too long». No negation reaches across the
    offsets in `breaks`; `within`: a negation inside the words counts too.
    """
    if complains(text[start:end]):
        return 1
    since = max([start - NEGATION_BEFORE_CHARS, 0, *(stop for stop in breaks if stop <= start)])
    before = lexicon.words("words.negation.neutral").sub(lambda match: " " * len(match[0]), text[since:start])
    if lexicon.words("words.negation.weakening").search(text[since:end]):
        return 0
    inside = text[start:end]
    if within:  # 要忘記加註解: the gap of a phrase may hold a negation
        before += lexicon.words("words.negation.neutral").sub("", inside)
    negations = sum(1 for _ in lexicon.words("words.negation.before").finditer(before))
    after = lexicon.words("words.negation.neutral").sub(
        lambda match: "~" * len(match[0]), text[end : end + NEGATION_AFTER_CHARS]
    )
    tail = lexicon.words("words.negation.after").search(after)
    if tail and tail.start() <= 4:
        negations += 1
    return 1 if negations % 2 == 0 else -1


def insists(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Whether a negation is a demand: «don't forget the comments»."""
    return any(
        match.start() < end and start < match.end()
        for match in lexicon.words("words.negation.insisting").finditer(text)
    )


def retracts(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause takes back a stored value."""
    return bool(lexicon.words("words.negation.retracts").search(clause.text))


def complains(phrase: str) -> bool:
    """Whether a phrase begins like «too long»."""
    return bool(_TOO.match(phrase))


_TOO = lazily(r"一大?堆|太|[不唔]够|有点|好(?=[长短刺亮暗光])|(?:a bit|kinda|kind of|(?:way )?too) |so (?=long|short)")
