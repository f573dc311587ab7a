"""Wishes of style: theme, length and form of answers, comments, examples, design.

One matcher for all rows of `lexicon/styles.toml`: a style is wished for where its name stands in a clause that wishes, or
where a phrase wishes by itself (`wished`); the negation before or after it decides the value (`negation`); a clause that
speaks of something else (the row's `unless`) gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Style, Technology
from vault_memory.core.extraction.negation import insists, polarity, taken_back, too_many
from vault_memory.core.extraction.wished import Hit, is_wished, speaks_of_reply
from vault_memory.core.profile.policy import Signal, Strength
from vault_memory.core.text.phrases import lazily

MOST = 8
"""Hits read of one list in one clause."""


def wishes(
    clause: Clause, named: list[Technology], lexicon: Lexicon, existing: Mapping[str, object], in_reply: bool
) -> Iterator[Signal]:
    """The style signals of one clause, without their quotes; at most one per key."""
    if (joined := _BLANK_BESIDE_HAN.sub("", clause.text)) != clause.text:
        clause = replace(clause, text=joined)
    by_key: dict[str, list[Hit]] = {}
    for hit in _hits(clause, lexicon):
        by_key.setdefault(hit.style.key, []).append(hit)
    by_key = {key: _longest(hits) for key, hits in by_key.items()}
    if named and not (clause.likes and clause.first_person):
        by_key.pop("examples", None)  # «no more jQuery examples» is about jQuery
    for key, hits in by_key.items():
        if signal := _judge(key, hits, clause, lexicon, existing, in_reply):
            yield signal


def _hits(clause: Clause, lexicon: Lexicon) -> Iterator[Hit]:
    near = {key for key in lexicon.sections("styles") if lexicon.near(key, clause.text)}
    for style in lexicon.styles:
        if style.key not in near:
            continue
        for pattern, asked in ((style.asked, True), (style.named, False)):
            for found in islice(pattern.finditer(clause.text), MOST):
                blank = len(found[0]) - len(found[0].lstrip())  # of a phrase whose first words are absent
                yield Hit(style, found.start() + blank, found.end(), asked)


def _longest(hits: list[Hit]) -> list[Hit]:
    """Without the hits that lie inside a longer one of another value: «so many comments» is no «comments».

    Comments and examples are only things: a phrase that wishes for or against them outweighs their bare name.
    """
    return [
        hit
        for hit in hits
        if not any(
            other.style != hit.style
            and other.asked
            and (
                (not hit.asked and hit.style.key in ("code_style", "examples"))
                or (
                    other.start <= hit.start
                    and hit.end <= other.end
                    and (other.end - other.start > hit.end - hit.start or not hit.asked)
                )
            )
            for other in hits
        )
    ]


def _judge(
    key: str, hits: list[Hit], clause: Clause, lexicon: Lexicon, existing: Mapping[str, object], in_reply: bool
) -> Signal | None:
    if clause.others or clause.hypothetical or clause.sarcastic:
        return None
    if _something_else(key, hits, clause, lexicon) or _compares(hits, clause.text):
        return None
    wanted: list[tuple[bool, int, str]] = []
    for hit in hits:
        sign = polarity(
            clause.text,
            hit.start,
            hit.end,
            lexicon,
            [other.end for other in hits if other.style != hit.style],
            within=hit.asked and hit.style.value.startswith("with_"),
        )
        if key in ("code_style", "examples") and insists(clause.text, hit.start, hit.end, lexicon):
            sign = 1 if hit.style.value.startswith("with_") else -1
        if hit.style.value.startswith("with_") and too_many(clause.text[: hit.end]):
            sign = -1  # «the code you give me has too many comments»
        stored = existing.get(key) == hit.style.value
        if stored and not clause.asks_to_know and (sign < 0 or taken_back(clause, lexicon)) and not hit.style.negated:
            return Signal(key, "remove", hit.style.value, "explicit")
        if stored and clause.past and taken_back(clause, lexicon):
            return Signal(key, "remove", hit.style.value, "explicit")
        if sign < 0 and key == "response_style" and _FORM.search(clause.text[hit.start : hit.end]):
            sign = 0  # «stop with the bullet points» wishes for another form, not for another length
        value = hit.style.value if sign > 0 else hit.style.negated if sign < 0 else ""
        if value and is_wished(hit, clause, in_reply, sign):
            wanted.append((sign > 0, hit.end, value))
    if not wanted:
        return None
    value = max(wanted)[2]
    return Signal(key, "set", value, "explicit" if clause.likes or clause.standing else "adjustment")


def _compares(hits: list[Hit], text: str) -> bool:
    """Whether two values of a key stand beside one another: 深色與淺色介面的影響 wishes for neither."""
    first, last = min(hits, key=lambda hit: hit.start), max(hits, key=lambda hit: hit.start)
    return first.style != last.style and bool(_BESIDE.fullmatch(text[first.end : last.start]))


def _something_else(key: str, hits: list[Hit], clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause names an artefact or a feature outside the hits."""
    if key == "response_style" and speaks_of_reply(clause.text):
        return False
    lists = ["unless"] if clause.likes or clause.standing else ["unless", "unless_once"]
    return any(
        not any(hit.start <= found.start() and found.end() <= hit.end and not _ends_in(hit, found) for hit in hits)
        for name in lists
        for found in lexicon.words(f"styles.{key}.{name}").finditer(clause.text)
    )


def _ends_in(hit: Hit, found: re.Match[str]) -> bool:
    """Whether what a phrase reached over a gap is only part of another word: 寫…用例 asks for no 例."""
    return hit.asked and hit.start < found.start() and hit.end == found.end()


def names(key: str, value: str, text: str, lexicon: Lexicon) -> bool:
    """Whether a text names this value of a style itself, not only its opposite."""
    return any(
        style.named.search(text) or style.asked.search(text)
        for style in lexicon.styles
        if style.key == key and style.value == value
    )


def echoes(heard: list[Clause], lexicon: Lexicon) -> Iterator[tuple[Clause, Signal]]:
    """Wishes for what was named at most two clauses before: «so many comments. Please leave them out»."""
    style, at = None, -3
    for place, clause in enumerate(heard):
        if named := _comments_or_examples(clause, lexicon):
            style, at = named, place
        elif style and place - at <= 2 and (signal := _wish_of_it(style, clause, lexicon)):
            yield clause, signal


def _comments_or_examples(clause: Clause, lexicon: Lexicon) -> Style | None:
    if clause.others or clause.hypothetical:
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


def _wish_of_it(style: Style, clause: Clause, lexicon: Lexicon) -> Signal | None:
    if not clause.meant or clause.once or (clause.asks_to_know and not clause.asks):
        return None
    strength: Strength = "explicit" if clause.likes or clause.standing else "adjustment"
    if lexicon.words("words.wish.takes_it").search(clause.text):
        return Signal(style.key, "set", style.negated, strength)
    if lexicon.words("words.wish.gives_it").search(clause.text):
        return Signal(style.key, "set", style.value, strength)
    return None


_BLANK_BESIDE_HAN = lazily(r"(?<=[\u3400-\u9fff]) (?=[a-z0-9])|(?<=[a-z0-9]) (?=[\u3400-\u9fff])")
_FORM = lazily(r"条列|列点|列表|(?<![a-z])(?:bullets?(?: points?)?|bullet points?|lists?|numbered|tables?)(?![a-z])")
_BESIDE = lazily(r"(?:的|模式|主题|版)* ?(?:、|/|与|和|跟|或|还是|同|定|and|or|vs|versus|to) ?")
