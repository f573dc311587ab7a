"""Skills: the technologies a person uses, prefers or has left, and what the person is weak or strong at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import CATEGORIES, Lexicon, Technology
from vault_memory.core.extraction.speech import Message
from vault_memory.core.extraction.topics import excerpt
from vault_memory.core.profile import Signal
from vault_memory.core.text import fold, lazily

TECHNOLOGY_LISTS = (*CATEGORIES, "preferred_frameworks")
BEFORE_CHARS, AFTER_CHARS = 60, 40
"""Characters around a technology that may say how the person uses it."""
_NEVER_A_LANGUAGE = frozenset({"SQL", "CSS", "HTML", "GraphQL", "LaTeX", "Sass"})


def roles(
    clause: Clause, named: list[Technology], lexicon: Lexicon, existing: Mapping[str, object], is_about_person: bool
) -> Iterator[Signal]:
    """The technology signals of one clause, for the technologies `named` in it."""
    if clause.is_about_others or clause.is_hypothetical and not clause.has_happened or clause.is_sarcastic:
        return
    last_end = 0
    for group in _groups(named, clause):
        start, end = group[0].start - clause.start, group[-1].end - clause.start
        first = max(0, start - BEFORE_CHARS)
        before, since_last = clause.text[first:start], clause.text[max(last_end, first) : start]
        last_end = end
        role = _role(before, since_last, clause.text[end:][:AFTER_CHARS], clause, lexicon, is_about_person)
        for item in group:
            if role == "left":
                yield from _removals({fold(item.name)}, existing, lexicon)
            elif role and item.name not in _NEVER_A_LANGUAGE:
                if role != "used":
                    key = "preferred_frameworks" if item.category == "frameworks" else item.category
                    yield Signal(key, "add", item.name, "explicit")
                if role == "used" or (role == "both" and item.category == "frameworks"):
                    yield Signal(item.category, "add", item.name, "observed")
                if _follows(lexicon, "back", before, 2):
                    yield from _removals(lexicon.instead.get(fold(item.name), ()), existing, lexicon)


def _role(
    before: str, since_last: str, after: str, clause: Clause, lexicon: Lexicon, is_about_person: bool
) -> Literal["left", "preferred", "used", "both", ""]:
    """What the person does with a technology, by the words around it; `both`: prefers and uses it.

    `since_last`: the part of `before` behind the technology named before; `is_about_person`: the sentence is.
    """

    def said(role: str, lead: str = before, gap: int = 10) -> bool:
        return _follows(lexicon, role, lead, gap) or _precedes(lexicon, role, after)

    asks = clause.asks_to_know
    if (said("drop") and not asks) or (_FROM.search(before) and _TO.match(after) and not clause.is_past):
        return "left"
    people = _PERSON.findall(since_last)
    if clause.is_past or said("compared", gap=6) or said("never") or (people and people[-1] in _SOMEBODY_ELSE):
        return ""  # «I was told that they only use Scala»
    about = bool(lexicon.words("roles.about.sentence").search(clause.text))
    in_trouble = not about and bool(lexicon.words("roles.trouble.sentence").search(clause.text))
    uses = said("use", gap=6)
    shown = _follows(lexicon, "own", before, 2) or (is_about_person and in_trouble)
    if asks:
        return "used" if shown else ""
    if not shown:
        at_work = is_about_person and not about and bool(lexicon.words("roles.work.sentence").search(clause.text))
        by_person = is_about_person or _HAN.search(clause.text) is not None
        shown = said("choice", gap=6) or at_work or (by_person and (in_trouble or (uses and not about)))
    wants = clause.is_lasting and clause.asks and uses and not in_trouble
    if not clause.is_once and (wants or said("prefer", since_last)):
        return "both" if shown else "preferred"
    return "used" if shown else ""


def _removals(names: Collection[str], existing: Mapping[str, object], lexicon: Lexicon) -> Iterator[Signal]:
    """A removal for each name or alias under which the profile holds one of these technologies (folded)."""
    for key in TECHNOLOGY_LISTS:
        stored = existing.get(key)
        for item in stored if isinstance(stored, (list, tuple)) else ():
            known = lexicon.names.get(fold(str(item)), (str(item), ""))[0]
            if fold(known) in names:
                yield Signal(key, "remove", str(item), "explicit")


def _groups(named: list[Technology], clause: Clause) -> Iterator[list[Technology]]:
    """Technologies joined by «and», 和 or a comma; what is said about one is said about all of them."""
    group: list[Technology] = []
    for technology in named:
        if group and not _JOINT.fullmatch(clause.text[group[-1].end - clause.start : technology.start - clause.start]):
            yield group
            group = []
        group.append(technology)
    if group:
        yield group


_JOINT = lazily(r"(?: ?(?:[、,/+&跟和与同加配搭]|and|with|plus|还有|以及))* ?")


def _follows(lexicon: Lexicon, role: str, before: str, gap: int = 10) -> bool:
    return lexicon.words(f"roles.{role}.before").ends(before, gap)


def _precedes(lexicon: Lexicon, role: str, after: str, gap: int = 8) -> bool:
    verb = lexicon.words(f"roles.{role}.after").search(after)
    return bool(verb and verb.start() <= gap and "," not in after[: verb.start()].lstrip(" ,"))


_PERSON = lazily(r"(?<![a-z'])(i|we|my|our|us|me|he|she|they|his|their)(?![a-z])")
_SOMEBODY_ELSE = frozenset({"he", "she", "they", "his", "their"})
_HAN = lazily(r"[\u3400-\u9fff]")
_FROM = lazily(r"(?:从|由|把|from|off|ditched|left|replaced|swapped)(?: my)? ?$")
_TO = lazily(r" ?(?:全部|[全都慢])*(?:[换转改搬移跳迁]|to |for |with |onto |over to |→|->)")


# --- abilities --------------------------------------------------------------------------------------------------------


_FRAMES = {"weaknesses": ("weak_before", "weak_tail", "weak"), "strengths": ("strong_before", "strong_tail", "strong")}
"""The lists of verdicts: those before the subject, and those behind it."""


def abilities(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The lasting weaknesses and strengths in one clause."""
    text = clause.text
    if clause.is_about_others or clause.is_past or clause.is_once:
        return
    if clause.asks_to_know and not clause.is_first_person:
        return
    if lexicon.words("people.level.beginner_said").search(text):
        return  # 程式一竅不通 is the level
    for key, frames in _FRAMES.items():
        if key == "weaknesses" and not lexicon.words("subjects.frames.lasting").search(text):
            continue
        for start, end, verdict in _judgements(text, frames, lexicon):
            if key == "strengths" and _NOT_SO.search(text[: verdict.start()]):
                continue
            first, last = _trim_judged(text, start, end, lexicon)
            at, stop = clause.start + first, clause.start + last
            is_named = any(at <= item.start < stop for item in named)
            if is_named or _can_be_judged(text[first:last], verdict[0], lexicon):
                yield Signal(key, "add", excerpt(message, at, stop), "observed")
                break


def judged(key: str, text: str, lexicon: Lexicon) -> tuple[int, int] | None:
    """Where the subject of a weakness or strength stands in a clause, whoever says it; None if that is not sure."""
    frames = _FRAMES.get(key, ())
    for start, end, verdict in _judgements(text, frames, lexicon):
        first, last = _trim_judged(text, start, end, lexicon)
        if first < last and (start >= verdict.end() or _can_be_judged(text[first:last], verdict[0], lexicon)):
            return first, last
    return None


def _judgements(text: str, frames: tuple[str, ...], lexicon: Lexicon) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Where the subject may stand (behind a verdict of the first list, before those of the others), and the verdict."""
    for name in frames:
        if verdict := lexicon.words(f"subjects.frames.{name}").search(text):
            yield (verdict.end(), len(text), verdict) if name == frames[0] else (0, verdict.start(), verdict)


def _can_be_judged(value: str, verdict: str, lexicon: Lexicon) -> bool:
    """Whether one can be good or bad at it: a technical or school subject, or any short noun with «my strong suit»."""
    words = lexicon.words
    if not value or words("subjects.not_technical").search(value) or _PRONOUN.fullmatch(value):
        return False
    if words("subjects.technical").search(value) or words("subjects.school").search(value):
        return True
    return bool(words("subjects.frames.suit").search(verdict)) and len(value) <= 28 and len(value.split()) <= 4


_PRONOUN = lazily(r"it|this|that|these|those|they|what|which|[这那](?:个|些)?|[它你他她]|什么|谁")
_NOT_SO = lazily(r"(?:[不没唔]|没有|not|never|n't)\s?(?:[太很算是得搞都]|very|so|really|that|a)*\s*$")


def _trim_judged(text: str, start: int, end: int, lexicon: Lexicon) -> tuple[int, int]:
    """The span without the words around the subject."""
    head = lexicon.shape(r"(?:[\s,:的]|{subjects.judged.before})+").match(text, start, end)
    start = head.end() if head else start
    cut = lexicon.words("subjects.judged.after").search(text, min(start + 1, end), end)
    end = cut.start() if cut else end
    return start, max(start, len(text[:end].rstrip(" ,.:!?~的")))
