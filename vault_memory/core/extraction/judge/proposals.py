"""Proposals: what may be a preference in a turn, and what there is to judge it by.

The rules propose what they would write; the same rules propose once more, with every clause taken at its word
(whoever speaks, asked or not, now or once: `loose`). Each value of a style, each technology, language, place and name
that the turn names is a proposal, and so is each clause, as a topic, project, weakness or strength, and each sentence,
as a note; and the removal of each stored value that the turn names, of which the judge learns when one is only named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice
from typing import Literal

from vault_memory.core.extraction import person, rules, skills, styles, topics
from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.judge import features
from vault_memory.core.extraction.judge.scene import Scene, Span
from vault_memory.core.extraction.judge.weights import Evidence, Features
from vault_memory.core.profile import FIELDS, Signal, Strength
from vault_memory.core.text import chinese_of, fold, lazily

Origin = Literal["rule", "loose", "named", "words"]
Kind = Literal["style", "technology", "name", "statement", "removal"]
CHOICES = ("theme", "response_style", "code_style", "examples", "design_style", "level")
"""The keys whose every value is a proposal."""
STATEMENTS = ("current_projects", "recent_topics", "weaknesses", "strengths", "note")
MAX_CLAUSES, MAX_MENTIONS, MAX_NAMES, MAX_REMOVALS, MIN_CHARS = 12, 4, 6, 12, 4
_LEVELS = ("beginner", "intermediate", "advanced")


@dataclass(frozen=True)
class Proposal:
    """What may be a preference. `origin`: the rules wrote it, the rules with clauses taken at their word, a name, or
    the words of the turn alone. `start` and `end` are the stretch of the message that shows it."""

    signal: Signal
    kind: Kind
    origin: Origin
    evidence: Evidence
    start: int
    end: int
    is_against_rules: bool = False
    """The rules give its key, which has one value, another value."""
    offset: int = 0
    """Where it is named, from `start` on."""


class Proposals:
    """The proposals of one turn; `ruled` are the signals of the rules. `whole`: what there is to judge the turn by."""

    def __init__(self, scene: Scene, ruled: Iterable[Signal]) -> None:
        self._scene = scene
        self._ruled = list(ruled)
        self._loose = list(_taken_at_their_word(scene))

    def __iter__(self) -> Iterator[Proposal]:
        if self._scene.clauses:
            yield from self._choices()
            yield from self._technologies()
            yield from self._names()
            yield from self._statements()
            yield from self._removals()

    @cached_property
    def _turn(self) -> Features:
        return Features(features.of_turn(self._scene))

    @property
    def whole(self) -> Evidence:
        return Evidence("turn", self._turn)

    @cached_property
    def _surroundings(self) -> Features:
        return Features(features.of_words_of_turn(self._scene))

    def _origin(self, signal: Signal, otherwise: Origin) -> tuple[Signal, Origin]:
        """The same signal as the rules give it, if they do."""
        for other in self._ruled:
            if _about(other) == _about(signal):
                return other, "rule"
        if any(_about(other) == _about(signal) for other, _ in self._loose):
            return signal, "loose"
        return signal, otherwise

    # --- styles and level ---------------------------------------------------------------------------------------------

    def _choices(self) -> Iterator[Proposal]:
        scene, mentions = self._scene, self._mentions
        lasting = any(clause.is_lasting or clause.likes for clause in scene.clauses)
        for key in CHOICES:
            for value in FIELDS[key].values:
                named = mentions.get((key, value), [])
                number = named[0][0] if named else 0
                strength: Strength = "explicit" if lasting or key == "level" else "adjustment"
                signal, origin = self._origin(Signal(key, "set", value, strength), "named" if named else "words")
                shared = Features(features.of_style(scene, key, value, named))
                clause = scene.clauses[number]
                yield Proposal(
                    signal,
                    "style",
                    origin,
                    Evidence(f"{key}={value}", self._turn, "styles", shared),
                    clause.start,
                    clause.end,
                    origin != "rule" and self._rules_choose(key),
                )

    def _rules_choose(self, key: str) -> bool:
        """Whether the rules give a key a value."""
        return any(other.key == key and other.op != "remove" for other in self._ruled)

    @cached_property
    def _mentions(self) -> dict[tuple[str, str], list[tuple[int, int, int, str]]]:
        """Where each value is named: its clause, the place in the clause, and how."""
        found: dict[tuple[str, str], list[tuple[int, int, int, str]]] = {}

        def add(key: str, value: str, number: int, start: int, end: int, how: str) -> None:
            places = found.setdefault((key, value), [])
            if len(places) < MAX_MENTIONS:
                places.append((number, start, end, how))

        words = self._scene.lexicon.words
        for number, clause in enumerate(self._scene.clauses):
            for mention in styles.mentions(clause, self._scene.lexicon):
                how = "asked" if mention.is_wish else "named"
                style = mention.style
                add(style.key, style.value, number, mention.start, mention.end, f"+{how}")
                if style.negated:
                    add(style.key, style.negated, number, mention.start, mention.end, f"-{how}")
            for level in _LEVELS:
                for match in words(f"people.level.{level}").finditer(clause.text):
                    add("level", level, number, *match.span(), "+level")
            for match in words("people.level.beginner_said").finditer(clause.text):
                add("level", "beginner", number, *match.span(), "+level said")
        return found

    # --- names --------------------------------------------------------------------------------------------------------

    def _technologies(self) -> Iterator[Proposal]:
        for each in self._scene.message.technologies:
            span = Span(each.start, each.end, "", each.name)
            yield from self._named(each.category, each.name, span, "technology", "technology", "observed")
            if each.category == "frameworks":
                key = "preferred_frameworks"
                yield from self._named(key, each.name, span, "technology", key, "explicit")

    def _names(self) -> Iterator[Proposal]:
        scene, written = self._scene, self._scene.message.written
        seen: set[tuple[str, str]] = set()
        for span in scene.languages:
            tag = self._exact(chinese_of(written) if span.name == "zh" else span.name)
            seen.add(("language", tag))
            yield from self._named("language", tag, span, "name", "language", self._strength(span.start))
        for span in _places(scene):
            seen.add(("timezone", span.name))
            yield from self._named("timezone", span.name, span, "name", "timezone", "explicit")
        masked = {offset for span in scene.names for offset in range(span.start, span.end)}
        no_name = scene.lexicon.words("words.proposal.no_name")
        capitalised = (match for match in _NAME.finditer(written) if not no_name.match(fold(match[0])))
        for match in islice(capitalised, MAX_NAMES):
            if match.start() not in masked and scene.message.speech[match.start()] != " ":
                seen.add(("display_name", fold(match[0])))
                span = Span(*match.span(), "", match[0])
                yield from self._named("display_name", match[0], span, "name", "display_name", "explicit")
        for signal, clause in (*((each, None) for each in self._ruled), *self._loose):
            if signal.op == "remove" or signal.key not in ("language", "timezone", "display_name"):
                continue
            if (signal.key, fold(signal.value) if signal.key == "display_name" else signal.value) not in seen:
                seen.add((signal.key, fold(signal.value) if signal.key == "display_name" else signal.value))
                at = scene.message.speech.find(fold(signal.value)) if signal.key == "display_name" else -1
                holder = clause or self._quoted(signal)
                start, end = (at, at + len(signal.value)) if at >= 0 else (holder.start, holder.start)
                yield from self._named(
                    signal.key, signal.value, Span(start, end, "", signal.value), "name", signal.key, signal.strength
                )

    def _exact(self, tag: str) -> str:
        """The language as the rules name it, if they name it with its script or region: zh-TW for zh."""
        named = (signal.value for signal in self._ruled if signal.key == "language")
        return next((value for value in named if value.startswith(f"{tag}-")), tag)

    def _strength(self, offset: int) -> Strength:
        number = self._scene.clause_at(offset)
        clause = self._scene.clauses[number or 0]
        return "explicit" if clause.likes or clause.is_lasting else "adjustment"

    def _named(self, key: str, value: str, span: Span, kind: Kind, head: str, strength: Strength) -> Iterator[Proposal]:
        number = self._scene.clause_at(span.start)
        if number is None:
            return
        clause = self._scene.clauses[number]
        op: Literal["set", "add"] = "set" if FIELDS[key].form == "scalar" else "add"
        signal, origin = self._origin(Signal(key, op, value, strength), "named")
        name = value if kind == "technology" else ""
        offset = max(0, span.start - clause.start)
        is_against = op == "set" and origin != "rule" and self._rules_choose(key)
        seen = Features(features.around(self._scene, span.start, span.end, name, key), self._surroundings)
        yield Proposal(signal, kind, origin, Evidence(head, seen), clause.start, clause.end, is_against, offset)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statements(self) -> Iterator[Proposal]:
        scene = self._scene
        taken: set[tuple[str, int]] = set()
        for origin, signals in (("rule", [(each, None) for each in self._ruled]), ("loose", self._loose)):
            for signal, clause in signals:
                if signal.op == "remove" or signal.key not in STATEMENTS:
                    continue
                holder = clause or self._quoted(signal)
                first = scene.clauses.index(holder)
                number = holder.sentence if signal.key == "note" else first
                if (signal.key, number) in taken:
                    continue
                taken.add((signal.key, number))
                last = self._last_of(first) if signal.key == "note" else first
                yield self._statement(signal, "rule" if origin == "rule" else "loose", first, last)
        for at, clause in enumerate(scene.clauses[:MAX_CLAUSES]):
            for key in STATEMENTS[:-1]:
                if (key, at) not in taken and len(clause.text) >= MIN_CHARS and (value := _value(key, clause, scene)):
                    yield self._statement(Signal(key, "add", value, "observed"), "words", at, at)
        numbered = enumerate(scene.clauses[:MAX_CLAUSES])
        for sentence, group in groupby(numbered, key=lambda pair: pair[1].sentence):
            if ("note", sentence) not in taken:
                numbers = [number for number, _ in group]
                start, end = scene.clauses[numbers[0]].start, scene.clauses[numbers[-1]].end
                start, end = topics.wish_span(scene.message, start, end, scene.lexicon)
                value = topics.excerpt(scene.message, start, end, topics.MAX_NOTE_CHARS)
                if len(value) >= MIN_CHARS:
                    yield self._statement(Signal("note", "add", value, "explicit"), "words", numbers[0], numbers[-1])

    def _statement(self, signal: Signal, origin: Origin, first: int, last: int) -> Proposal:
        key = ("note" if signal.key == "note" else "clause", first, last)
        found = self._of_clauses.get(key)
        if found is None:
            found = self._of_clauses[key] = Features(features.of_clauses(self._scene, first, last))
        start, end = self._scene.clauses[first].start, self._scene.clauses[last].end
        return Proposal(signal, "statement", origin, Evidence(signal.key, found), start, end)

    @cached_property
    def _of_clauses(self) -> dict[tuple[str, int, int], Features]:
        return {}

    def _last_of(self, first: int) -> int:
        """The last clause of a clause's sentence."""
        sentence = self._scene.clauses[first].sentence
        return max(at for at, clause in enumerate(self._scene.clauses) if clause.sentence == sentence)

    def _quoted(self, signal: Signal) -> Clause:
        """The clause that a signal of the rules quotes; the first one if it quotes none."""
        written = self._scene.message.written
        value = fold(signal.value)
        for clause in self._scene.clauses:
            stretch = written[clause.start : clause.end].strip()
            if stretch and signal.quote.startswith(stretch[:40]) or value in fold(stretch):
                return clause
        return self._scene.clauses[0]

    # --- removals -----------------------------------------------------------------------------------------------------

    def _removals(self) -> Iterator[Proposal]:
        """The stored values that the turn names by themselves, or by the name of their field."""
        stored = [
            (key, value)
            for key, held in self._scene.existing.items()
            if key in FIELDS
            for value in ([held] if isinstance(held, str) else held)
        ]
        named = ((key, value, self._where_named(key, value)) for key, value in stored)
        for key, value, place in islice((each for each in named if each[2]), MAX_REMOVALS):
            assert place is not None
            start, end, how = place
            signal, origin = self._origin(Signal(key, "remove", value, "explicit"), "named")
            own = features.around(self._scene, start, end, "", "removal") | {f"how {how}", f"{how} {key}"}
            number = self._scene.clause_at(start) or 0
            clause = self._scene.clauses[number]
            evidence = Evidence("removal", Features(own, self._surroundings))
            yield Proposal(signal, "removal", origin, evidence, clause.start, clause.end)

    def _where_named(self, key: str, value: str) -> tuple[int, int, str] | None:
        """The stretch of the message that names a stored value, and how; None where none does."""
        scene = self._scene
        if key in skills.TECHNOLOGY_LISTS:
            known = fold(scene.lexicon.names.get(fold(value), (value, ""))[0])
            spans = [(each.start, each.end) for each in scene.message.technologies if fold(each.name) == known]
            return (*spans[0], "value") if spans else self._where_ruled(key, value)
        for number, start, end, _ in self._mentions.get((key, value), ()):
            begin = scene.clauses[number].start
            return begin + start, begin + end, "value"
        text = fold(scene.message.written)  # with quotations, which are no speech: «forget 'call me Prof'»
        if FIELDS[key].form == "text":
            found = rules.shared_words(fold(value), text)
        else:
            at = text.find(fold(value))
            found = (at, at + len(value)) if at >= 0 else None
        if found:
            return *found, "value"
        if match := scene.lexicon.words(f"words.labels.{key}").search(scene.message.speech):
            return *match.span(), "field"
        return self._where_ruled(key, value)

    def _where_ruled(self, key: str, value: str) -> tuple[int, int, str] | None:
        """The clause for which the rules take back a value that the turn does not name: pnpm, of «back to npm»."""
        for other in self._ruled:
            if _about(other) == (key, True, fold(value)):
                clause = self._quoted(other)
                return clause.start, clause.end, "rule"
        return None


def _about(signal: Signal) -> tuple[str, bool, str]:
    """What a signal is about: equal for two that say the same."""
    return signal.key, signal.op == "remove", fold(signal.value)


def _taken_at_their_word(scene: Scene) -> Iterator[tuple[Signal, Clause]]:
    """What the rules for statements find if nobody else speaks, nothing is asked, past, for once or a condition; and
    the sentences that wish for something lasting, as notes."""
    message, lexicon = scene.message, scene.lexicon
    for clause in scene.clauses:
        said = replace(
            clause,
            is_about_others=False,
            is_hypothetical=False,
            asks_to_know=False,
            is_past=False,
            is_once=False,
            is_sarcastic=False,
            is_first_person=True,
        )
        named = [each for each in message.technologies if clause.start <= each.start < clause.end]
        following = message.speech[clause.end : clause.end + topics.FOLLOWING_CHARS]
        for signal in person.statements(said, message, lexicon, scene.existing):
            yield signal, clause
        for signal in skills.abilities(said, named, message, lexicon):
            yield signal, clause
        for signal in topics.subjects(replace(said, asks_to_know=True), following, named, message, lexicon):
            yield signal, clause
    for _, group in groupby(scene.clauses, key=lambda clause: clause.sentence):
        sentence = list(group)
        if wish := topics.standing_wish(sentence, message, lexicon):
            yield wish, sentence[0]


def _places(scene: Scene) -> Iterator[Span]:
    """The places whose time zone is known, where they are named; `name` is the zone."""
    words = scene.lexicon.words
    for clause in scene.clauses:
        if words("people.zone").search(clause.text):
            yield from (
                Span(clause.start + start, clause.start + end, "", zone)
                for start, end, zone in person.places(clause.text, scene.lexicon)
            )


def _value(key: str, clause: Clause, scene: Scene) -> str:
    """A clause as a topic, project, weakness or strength, without the words around the matter."""
    if key == "current_projects":
        opening = scene.lexicon.shape(_OPENING).match(clause.text)
        start, end = opening.end() if opening else 0, len(clause.text)
    else:
        trimmed = topics.trim(clause.text, 0, len(clause.text), scene.lexicon)
        start, end = skills.judged(key, clause.text, scene.lexicon) or trimmed
    return topics.excerpt(scene.message, clause.start + start, clause.start + end)


_OPENING = r"(?:{words.proposal.opening}|[\s,:])*"
"""Words and marks before the matter of a clause."""
_NAME = lazily(r"(?<![A-Za-z])(?:(?:Mrs?|Ms|Mx|Dr|Prof|Miss)\.? )?[A-ZÀ-Þ][a-zà-ÿ'’\-]{1,19}(?![A-Za-z0-9])")
