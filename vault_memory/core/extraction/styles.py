"""Styles: theme, length and form of the answers, comments, examples, design.

All rows of `lexicon/styles.toml` are matched in the same way. A clause gives a style if it names it and wishes for
something, or holds a phrase that is a wish by itself; a negation turns the value (both in `wishes`). A clause about
something else (the row's `unless`, or an artefact: a text, page or product in the making) gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Style, Technology
from vault_memory.core.extraction.wishes import (
    StyleMention,
    insists,
    is_wished,
    polarity,
    retracts,
    speaks_of_reply,
)
from vault_memory.core.profile import Signal, Strength
from vault_memory.core.text import fold, lazily

MAX_MENTIONS = 8
"""Most phrases of one list read in a clause."""
REPLY_OPENING_CHARS = 80
"""The beginning of a reply, which says what it shows."""
STEPS = "step-by-step"
STYLES = ("theme", "response_style", "code_style", "examples", "design_style")


def wishes(
    clause: Clause, named: list[Technology], lexicon: Lexicon, existing: Mapping[str, object], has_reply: bool
) -> Iterator[Signal]:
    """The style signals of one clause, at most one for each key, without their quotes."""
    if (joined := _BLANK_BESIDE_HAN.sub("", clause.text)) != clause.text:
        clause = replace(clause, text=joined)
    by_key: dict[str, list[StyleMention]] = {}
    takes_steps = only_takes_steps(clause.text, lexicon)
    for mention in mentions(clause, lexicon):
        if takes_steps and mention.style.value == STEPS:
            continue
        by_key.setdefault(mention.style.key, []).append(mention)
    if named and not (clause.likes and clause.is_first_person):
        by_key.pop("examples", None)  # «no more jQuery examples» is about jQuery
    for key, found in by_key.items():
        if signal := _judge(key, found, clause, lexicon, existing, has_reply):
            yield signal


def mentions(clause: Clause, lexicon: Lexicon) -> Iterator[StyleMention]:
    """The styles that a clause names, in the order of the lexicon."""
    near = {key for key in lexicon.sections("styles") if lexicon.near(key, clause.text)}
    for style in lexicon.styles:
        if style.key not in near:
            continue
        for pattern, is_wish in ((style.asked, True), (style.named, False)):
            for match in islice(pattern.finditer(clause.text), MAX_MENTIONS):
                blank = len(match[0]) - len(match[0].lstrip())  # a phrase may begin with an optional word
                yield StyleMention(style, match.start() + blank, match.end(), is_wish)


def _judge(
    key: str,
    mentions: list[StyleMention],
    clause: Clause,
    lexicon: Lexicon,
    existing: Mapping[str, object],
    has_reply: bool,
) -> Signal | None:
    """The signal for one key, whose styles the clause names in `mentions`; None if it wishes for none of them."""
    if clause.is_about_others or clause.is_hypothetical or clause.is_sarcastic:
        return None
    if _is_about_something_else(key, mentions, clause, lexicon) or _compares(mentions, clause.text):
        return None
    wanted: list[tuple[bool, int, str]] = []
    for mention in mentions:
        sign = polarity(
            clause.text,
            mention.start,
            mention.end,
            lexicon,
            [other.end for other in mentions if other.style != mention.style],
            within=mention.is_wish and mention.style.value.startswith("with_"),
        )
        if key in ("code_style", "examples") and insists(clause.text, mention.start, mention.end, lexicon):
            sign = 1 if mention.style.value.startswith("with_") else -1
        stored = existing.get(key) == mention.style.value
        if stored and not clause.asks_to_know and (sign < 0 or retracts(clause, lexicon)) and not mention.style.negated:
            return Signal(key, "remove", mention.style.value, "explicit")
        if stored and clause.is_past and retracts(clause, lexicon):
            return Signal(key, "remove", mention.style.value, "explicit")
        value = mention.style.value if sign > 0 else mention.style.negated if sign < 0 else ""
        if value and is_wished(mention, clause, has_reply, sign):
            wanted.append((sign > 0, mention.end, value))
    if not wanted:
        return None
    value = max(wanted)[2]
    return Signal(key, "set", value, "explicit" if clause.likes or clause.is_lasting else "adjustment")


def _compares(mentions: list[StyleMention], text: str) -> bool:
    """Whether two values of a key stand side by side, and neither is wished for: 深色與淺色介面的影響."""
    first, last = min(mentions, key=lambda mention: mention.start), max(mentions, key=lambda mention: mention.start)
    return first.style != last.style and bool(_BESIDE.fullmatch(text[first.end : last.start]))


def _is_about_something_else(key: str, mentions: list[StyleMention], clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause names an artefact or a feature, outside the mentions."""
    if key == "response_style" and speaks_of_reply(clause.text):
        return False
    lists = ["unless"] if clause.likes or clause.is_lasting else ["unless", "unless_once"]
    return any(
        not any(
            mention.start <= match.start() and match.end() <= mention.end and not _ends_in(mention, match)
            for mention in mentions
        )
        for name in lists
        for match in lexicon.words(f"styles.{key}.{name}").finditer(clause.text)
    )


def _ends_in(mention: StyleMention, match: re.Match[str]) -> bool:
    """Whether the end of a phrase is only part of another word: 寫…用例 asks for no 例."""
    return mention.is_wish and mention.start < match.start() and mention.end == match.end()


def names(key: str, value: str, text: str, lexicon: Lexicon) -> bool:
    """Whether a text names this value of a style, not only its opposite."""
    return any(
        style.named.search(text) or style.asked.search(text)
        for style in lexicon.styles
        if style.key == key and style.value == value
    )


def only_takes_steps(text: str, lexicon: Lexicon) -> bool:
    """Whether a text names steps only as those of an answer, which its person takes: «I'll follow your steps»."""
    taken = lexicon.words("words.style.taken")
    rest = taken.sub(" ", text) if taken.search(text) else text
    return rest != text and not names("response_style", STEPS, rest, lexicon)


def echoes(spoken: list[Clause], lexicon: Lexicon) -> Iterator[tuple[Clause, Signal]]:
    """Wishes about comments or examples named at most two clauses before: «so many comments. Please leave them out»."""
    style, named_at = None, -3
    for position, clause in enumerate(spoken):
        if named := _comments_or_examples(clause, lexicon):
            style, named_at = named, position
        elif style and position - named_at <= 2 and (signal := _wish_about_them(style, clause, lexicon)):
            yield clause, signal


def _comments_or_examples(clause: Clause, lexicon: Lexicon) -> Style | None:
    """The style «with comments» or «with examples», if a clause names comments or examples."""
    if clause.is_about_others or clause.is_hypothetical:
        return None
    return next(
        (
            style
            for style in lexicon.styles
            if style.value in ("with_comments", "with_examples")
            and lexicon.near(style.key, clause.text)
            and style.named.search(clause.text)
            and not lexicon.words(f"styles.{style.key}.unless").search(clause.text)
        ),
        None,
    )


def _wish_about_them(style: Style, clause: Clause, lexicon: Lexicon) -> Signal | None:
    """The wish of a clause such as «leave them out», where «them» is about a style."""
    if not clause.is_meant or clause.is_once or (clause.asks_to_know and not clause.asks):
        return None
    strength: Strength = "explicit" if clause.likes or clause.is_lasting else "adjustment"
    if lexicon.words("words.wish.takes_it").search(clause.text):
        return Signal(style.key, "set", style.negated, strength)
    if lexicon.words("words.wish.gives_it").search(clause.text):
        return Signal(style.key, "set", style.value, strength)
    return None


_BLANK_BESIDE_HAN = lazily(r"(?<=[\u3400-\u9fff]) (?=[a-z0-9])|(?<=[a-z0-9]) (?=[\u3400-\u9fff])")
_BESIDE = lazily(r"(?:的|模式|主题)*(?:、|/|与|和|跟|或|还是|同| (?:and|or|vs|to) )")


# --- artefacts --------------------------------------------------------------------------------------------------------


def orders_a_text(sentence: str, lexicon: Lexicon) -> bool:
    """Whether a sentence asks for a text; what that text says is not about the person."""
    return lexicon.words("words.speech.ordered").search(sentence) is not None


def shows_a_text(reply: str) -> bool:
    """Whether the reply was a text for the person, such as a letter: then «make it shorter» is about the letter."""
    return bool(_SHOWN.search(fold(reply[:REPLY_OPENING_CHARS])))


_SHOWN = lazily(r"\bhere(?:'s| is)[^.!?]{0,30}(?:draft|email|letter|poem|post)|(?:文案|草稿|译文|邮件|内容)如下")


def is_of_a_document(
    signal: Signal, clause: Clause, before: str, sentence: str, lexicon: Lexicon, has_reply: bool
) -> bool:
    """Whether a style is that of a document named in the clause or earlier in its sentence (`before`).

    «Our docs must have examples», 履歷要簡潔, 給國中生的說明要淺白 are about the document, for once or for good.
    """
    if signal.key == "code_style" or (clause.likes and clause.is_first_person):
        return False
    words = lexicon.words
    if signal.key == "design_style" and not (has_reply or words("words.looks.page").search(sentence)):
        return True  # 步驟太複雜了 names no page
    if words("words.artefact.audience").search(sentence):
        return True
    if clause.likes or (signal.key == "response_style" and speaks_of_reply(clause.text)):
        before = ""  # «my thesis is due, so keep explanations short»
    named = f"{before} {clause.text}"
    return bool(words("words.artefact.document").search(named) or words("words.artefact.thing").search(named))
