"""Build the prompt for one request: who the assistant is, who the person is, and which memories bear on the request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.embedding import OFFLINE
from vault_memory.core import layout, mistakes, reading
from vault_memory.core.chat import Cut, Section, escape, escape_line, prompt
from vault_memory.core.diary import digest
from vault_memory.core.privacy import ERASED
from vault_memory.core.profile import LANGUAGE, Profile
from vault_memory.core.ranking import rank
from vault_memory.core.text import comparable, script_of, script_of_last, tokens
from vault_memory.errors import Busy, ForeignFile, TooLarge, Unwritable
from vault_memory.services.memories import note_accesses
from vault_memory.services.notes import Commits, Skill, newest_turns
from vault_memory.services.notes import context_summary as summary_of_the_last
from vault_memory.services.notes import skill as skill_named
from vault_memory.services.profiles import profile_timezone
from vault_memory.services.retrieval.prompt_memories import recall_for_prompt
from vault_memory.services.retrieval.prompt_mistakes import mistakes_like
from vault_memory.services.retrieval.query import MAX_QUERY_CHARS, Hit, SearchQuery
from vault_memory.services.retrieval.recall import MIN_SHARED, Recalled
from vault_memory.services.retrieval.search import QueryVectors, find_passages, refresh
from vault_memory.services.starter import starter_texts
from vault_memory.services.vault import Vault

HISTORY_TURNS = 5
MAX_REPLY_CHARS = 300
"""How much of a reply the history shows."""
MAX_PROFILE_LINE_CHARS = 2_000
"""How much of a line of the profile is shown: all else is cut before the profile, and a remote may send any line."""
MAX_RECALLED = 3
"""How many typed memories are shown."""
MAX_RECALLED_CHARS = 500
"""How much of one is shown."""
MIN_FIT = 0.4
"""A memory is shown if it holds so much of the kinds of thing that the request asks for, whatever its words."""
MAX_MEMORIES = 5
SPARE_HITS = 10
"""Hits searched for beyond `MAX_MEMORIES`: some stand in the prompt already, and some do not bear on the request."""
MIN_SHARED_WEIGHT = 2 / 3
"""A passage is relevant when the words shared with the request weigh this share of a word found in one chunk only.

Measured on six public sets: it leaves out 0 to 4 % of the passages that answer, and half to four fifths of what is
found for questions about something else."""
TERMS_PER_HAN_WORD = 3
"""A Chinese word is three terms: a pair of characters, and each of them."""
TRUSTED_WEIGHT = 0.35
"""Vectors of a model with this weight or more are believed without shared words."""
_CONTEXT = (("soul", str(layout.SOUL)), ("agents", str(layout.AGENTS)))
_RECALLED = ("relevant-memories", "recalled-memories", "past-mistakes")
_HEADING = "## "
_EMPTY_FIELD = re.compile(rf"[-*+] (?:[^：:\n]+[：:]\s*(?:{re.escape(ERASED)})?|{re.escape(ERASED)})")


@dataclass(frozen=True)
class Passage:
    """What was injected and where it stands: `place` is `path:first-last@commit`.

    Without `@commit` git does not hold the file as it is on disk (a new edit, a conversation).
    """

    section: str
    place: str
    score: float | None = None


@dataclass(frozen=True)
class Prompt:
    """A prompt as one text and as chat messages, about `tokens` long; what was injected, what was cut, what
    failed."""

    text: str
    messages: list[dict[str, str]]
    tokens: int
    passages: list[Passage] = field(default_factory=list)
    cut: list[Cut] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Memory:
    """What is known that bears on a request, as one block of text (empty: nothing); what was injected, what was
    cut."""

    text: str = ""
    passages: list[Passage] = field(default_factory=list)
    cut: list[Cut] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


def build_memory(
    vault: Vault, user_id: str, request: str, *, said: str = "", budget: int, has_opening: bool = False
) -> Memory:
    """Profile, memories and recent activity for a request that is built by somebody else, such as a chat client.

    `said` is the text already in that request, with its earlier turns: it is not recalled again. `budget` is in
    tokens. `has_opening`: profile and activity stand there already (`build_opening`). A user whom the vault does not
    know yet has none. Raises `InvalidId`, and `NotFound` for a user who gets another id meanwhile.
    """
    layout.check_user_id(user_id)
    if not vault.is_user(user_id):
        return Memory()
    with vault.reading(user_id):
        builder = _Builder(vault, user_id, request, said)
        builder.add_profile()
        builder.add_activity()
        builder.add_recalled()
        builder.add_mistakes()
        builder.add_memories()
        if has_opening:
            builder.leave_out("user-profile", "recent-activity")
        return builder.build_memory(budget)


def build_opening(vault: Vault, user_id: str, *, budget: int) -> Memory:
    """Profile and recent activity, for a conversation in which nothing has been asked yet; else as `build_memory`."""
    layout.check_user_id(user_id)
    if not vault.is_user(user_id):
        return Memory()
    with vault.reading(user_id):
        builder = _Builder(vault, user_id, "")
        builder.add_profile()
        builder.add_activity()
        return builder.build_memory(budget)


def build_enhanced_prompt(
    vault: Vault,
    user_id: str,
    request: str,
    skill: str | Skill | None = None,
    *,
    private: bool = True,
    budget: int | None = None,
    context_summary: str = "",
) -> Prompt:
    """The prompt for what a user asks now. A user whom the vault does not know yet gets one without a profile.

    `private=False`, for group chats, leaves out what is the person's: profile, memories, logs and history. `budget` is
    in tokens (default: the vault's setting). `context_summary` is what this conversation has been about, where the
    caller keeps that (default: what the last one that has ended was about); with `skill` the memories of other skills
    are left out. Raises `InvalidId`, and `NotFound` for an unknown skill, or when the user gets another id meanwhile.
    """
    layout.check_user_id(user_id)
    builder = _Builder(vault, user_id, request)
    if private and vault.is_user(user_id):
        with vault.reading(user_id):
            builder.add_profile()
            builder.add_activity()
            builder.add_history()
            builder.add_recalled(skill if isinstance(skill, str) or skill is None else skill.name)
            builder.add_mistakes()
            builder.add_memories()
            context_summary = context_summary or summary_of_the_last(vault, user_id)
    builder.add_summary(context_summary)
    builder.add_context()
    if skill:
        builder.add_skill(skill)
    return builder.build(budget or vault.config.prompt_tokens)


class _Builder:
    """Gathers the sections of one prompt and the source of everything in them."""

    def __init__(self, vault: Vault, user_id: str, request: str, said: str = "") -> None:
        self._vault = vault
        self._user = user_id
        self._request = request
        self._said = said or request
        self._vectors = QueryVectors(vault, request[:MAX_QUERY_CHARS])
        self._profile: Profile | None = None
        self._sections: list[Section] = []
        self._passages: list[Passage] = []
        self._turns: list[tuple[str, str]] = []
        self._told: list[str] = []
        self._present: set[str] = {layout.PROFILE}
        self._degraded = vault.config.waits()
        self._commits = Commits(vault)

    def add_profile(self) -> None:
        """USER.md, without the fields that nobody has filled or that an erasing has emptied, and the headings with
        nothing below them; a very long line is cut."""
        try:
            stored = files.read(self._vault.path(self._user, layout.PROFILE))
            if stored is None:
                return
            self._profile = Profile.decode(stored)
        except TooLarge as error:
            self._degraded.append(f"no profile: {error}")
            return
        rows = reading.lines(stored.decode("utf-8", "replace").strip())
        filled: list[str] = []
        below = _HEADING
        for line in reversed(rows):
            if _EMPTY_FIELD.fullmatch(line.strip()) or (line.startswith(_HEADING) and below.startswith(_HEADING)):
                continue
            if line.strip():
                below = line
            elif filled[-1:] in ([], [""]):
                continue  # one blank line is enough
            filled.append(_shortened(line, MAX_PROFILE_LINE_CHARS))
        shown = reading.lines(escape("\n".join(reversed(filled))))  # a tag may reach over two lines
        self._add("user-profile", shown, [(layout.PROFILE, 1, len(rows), None)])

    def add_activity(self) -> None:
        """What the daily logs of yesterday and today tell, conversation by conversation."""
        today = self._vault.now().astimezone(self._vault.config.zone(profile_timezone(self._vault, self._user))).date()
        pieces, places = [], []
        for day in (today - timedelta(days=1), today):
            source = layout.daily_source(day)
            text = (files.read(self._vault.path(self._user, source)) or b"").decode("utf-8", "replace").rstrip()
            if told := digest(text, day.isoformat()):
                pieces += [escape(each.text) for each in told]
                places.append((source, 1, text.count("\n") + 1, None))
                self._present.update(f"{source}:{line}" for each in told for line in each.whole)
        self._add("recent-activity", pieces, places)

    def add_history(self) -> None:
        """The last turns, oldest first; long replies are cut."""
        turns = list(newest_turns(self._vault, self._user, HISTORY_TURNS))[::-1]
        pieces, places = [], []
        for source, turn in turns:
            person, reply = str(turn.get("user_message") or ""), str(turn.get("assistant_message") or "")
            reply = _shortened(reply, MAX_REPLY_CHARS)
            self._told.append(f"{person}\n{reply}")
            person, reply = escape(person), escape(reply)
            self._turns.append((person, reply))
            answered = f"\nAssistant: {reply}" if reply else ""
            pieces.append(f"Human: {person}{answered}")
            name, _, line = source.rpartition(":")
            places.append((name, int(line), int(line), None))
            if len(str(turn.get("assistant_message") or "")) <= MAX_REPLY_CHARS:  # else the rest may be recalled
                self._present |= {source, *(f"{name}:{number}" for number in turn.get("reply_lines", ()))}
        self._add("conversation-history", pieces, places)

    def add_recalled(self, skill: str | None = None) -> None:
        """The typed memories that answer the request best, of no other skill, each with the day when it was said or
        stored. What the profile or the request itself says is not told again, nor is it by a passage."""
        self._degraded += refresh(self._vault, SearchQuery("", scope="all").scopes(self._user))
        asked = tokens.query_terms(self._request[:MAX_QUERY_CHARS]).search_terms
        found = recall_for_prompt(self._vault, self._user, self._request, skill, MAX_RECALLED, self._vectors)
        self._degraded += [line for line in found.degraded if line not in self._degraded]
        told = [each for each in found if self._is_told(each.content)]
        self._present.update(self._source_of(each) for each in told)
        shown = [each for each in found if each not in told and self._answers(each, asked)]
        pieces: list[str] = []
        for each in shown[:MAX_RECALLED]:
            source = self._source_of(each)
            place = self._place(source, 1, self._length(source), None)
            day = each.said_on[-1] if each.said_on else each.created_at.date().isoformat() if each.created_at else ""
            content = _shortened(each.content, MAX_RECALLED_CHARS)
            pieces.append(f"[{escape_line(place)}] {' '.join(filter(None, [day, each.type]))}: {escape(content)}")
            self._passages.append(Passage("recalled-memories", place, each.score))
            self._told.append(content)
            if content == each.content:
                self._present.add(source)
        self._sections.append(Section("recalled-memories", tuple(pieces)))
        with suppress(Busy, Unwritable, ForeignFile):  # nobody has asked for them: that they lived on is not vital
            note_accesses(self._vault, self._user, [each.id for each in shown[:MAX_RECALLED]], once_a_day=True)

    def add_mistakes(self) -> None:
        """The mistakes that the request is about to repeat: how it is done rightly, and how they are prevented. The
        caller has brought the index up to date (`add_recalled`)."""
        pieces: list[str] = []
        for each in mistakes_like(self._vault, self._user, self._request):
            place = self._place(each.source, 1, self._length(each.source), None)
            told = mistakes.told(each.mistake, prompt.locale_of(self._language))
            pieces.append(f"[{escape_line(place)}] {escape(told)}")
            self._passages.append(Passage("past-mistakes", place, each.score))
            self._told.append(told)
        self._sections.append(Section("past-mistakes", tuple(pieces)))

    def add_memories(self) -> None:
        """Passages that bear on the request and are not in the prompt already. Typed memories and
        mistakes are shown by rules of their own (`add_recalled`, `add_mistakes`)."""
        query = SearchQuery(self._request, MAX_MEMORIES + SPARE_HITS, scope="all")
        result = find_passages(self._vault, self._user, query, self._vectors)
        self._degraded += [line for line in result.degraded if line not in self._degraded]
        asked = tokens.query_terms(self._request[:MAX_QUERY_CHARS]).search_terms
        found = [hit for hit in result.hits if hit.kind not in ("memory", "mistake") and not self._is_present(hit)]
        hits = [hit for hit in found if self._bears(hit, asked)][:MAX_MEMORIES]
        shown = [(hit, part) for hit in hits for part in hit.passages]  # each stays within its entry or turn
        places = [(hit.source, *part.line_range, hit) for hit, part in shown]
        pieces = [
            f"[{escape_line(self._place(*place))}] {escape(part.text)}"
            for (_, part), place in zip(shown, places, strict=True)
        ]
        self._add("relevant-memories", pieces, places)

    def add_summary(self, summary: str) -> None:
        """What the conversation has been about, as the caller has it."""
        self._sections.append(Section("context-summary", tuple(reading.lines(escape(summary.strip())))))

    def add_context(self) -> None:
        """SOUL and AGENTS, the vault's own words."""
        for name, source in _CONTEXT:
            try:
                stored = files.read(self._vault.path(layout.SHARED, source), layout.MAX_PROMPTED_BYTES) or b""
            except TooLarge as error:
                self._degraded.append(f"no {source}: {error}")
                continue
            text = stored.decode("utf-8", "replace").strip()
            self._sections.append(Section(name, tuple(reading.lines(escape(text)))))  # type: ignore[arg-type]

    def add_skill(self, skill: str | Skill) -> None:
        """How this kind of work is done here."""
        found = skill_named(self._vault, skill) if isinstance(skill, str) else skill
        self._sections.append(Section("active-skill", tuple(reading.lines(escape(found.content))), found.name))

    def leave_out(self, *names: str) -> None:
        """Take sections out again that others were chosen by: what they say is known where the prompt goes."""
        self._sections = [each for each in self._sections if each.name not in names]
        self._passages = [each for each in self._passages if each.section not in names]

    def build(self, budget: int) -> Prompt:
        """The request and all sections, within `budget` tokens."""
        request = Section("user-request", (escape(self._request),))
        sections, cut = prompt.fit([*self._sections, request], budget)
        kept: dict[str, int] = {section.name: len(section.pieces) for section in sections}
        sections = [self._introduced(section) for section in sections]
        text = prompt.as_text(sections, self._language)
        turns = self._turns[len(self._turns) - kept.get("conversation-history", 0) :]
        messages = prompt.as_messages(sections, turns, self._request, self._language)
        return Prompt(text, messages, prompt.tokens(text), self._shown(kept), cut, self._degraded)

    def build_memory(self, budget: int) -> Memory:
        """All sections without the request, within `budget` tokens."""
        sections, cut = prompt.fit(self._sections, budget)
        kept: dict[str, int] = {section.name: len(section.pieces) for section in sections}
        sections = [self._introduced(each) if each.name == "past-mistakes" else each for each in sections]
        text = prompt.as_block(sections, self._language) if sections else ""
        return Memory(text, self._shown(kept), cut, self._degraded)

    def _shown(self, kept: Mapping[str, int]) -> list[Passage]:
        """The passages that were kept: of memories the first ones, of turns the last."""
        found = []
        for name in prompt.ORDER:
            passages = [passage for passage in self._passages if passage.section == name]
            count = kept.get(name, 0)
            if name in _RECALLED:
                passages = passages[:count]
            elif name == "conversation-history":
                passages = passages[len(passages) - count :]
            found += passages if count else []
        return found

    def _introduced(self, section: Section) -> Section:
        if section.name not in _RECALLED:
            return section
        says = prompt.past_mistakes if section.name == "past-mistakes" else prompt.recalled
        return Section(section.name, (says(self._language), *section.pieces))

    def _add(self, name: Any, pieces: Sequence[str], places: Sequence[tuple[str, int, int, Hit | None]]) -> None:
        self._sections.append(Section(name, tuple(pieces)))
        for source, first, last, hit in places:
            self._passages.append(Passage(name, self._place(source, first, last, hit), hit.score if hit else None))

    def _answers(self, memory: Recalled, asked: Sequence[str]) -> bool:
        """Whether a recalled memory bears on the request, by its words or by the kind of thing that is in it."""
        if memory.fit >= MIN_FIT:
            return True
        shared = len(set(asked).intersection(memory.hit.evidence.terms)) if memory.hit else 0
        return memory.hit is not None and (shared >= MIN_SHARED * len(asked) or self._bears(memory.hit, asked))

    def _source_of(self, memory: Recalled) -> str:
        return str(PurePosixPath(memory.path).relative_to(layout.user_dir(self._user)))

    def _is_told(self, content: str) -> bool:
        """Whether the profile, or the request itself, says what a memory says."""
        said = comparable(content)
        return content in self._said or said in self._profile_words

    @cached_property
    def _profile_words(self) -> str:
        shown = (piece for section in self._sections if section.name == "user-profile" for piece in section.pieces)
        return comparable("\n".join(shown))

    def _length(self, source: str) -> int:
        """How many lines a note of the user's has."""
        text = self._commits.read(self._vault.path(self._user, source)) or b""
        return max(1, text.rstrip().count(b"\n") + 1)

    def _bears(self, hit: Hit, asked: Sequence[str]) -> bool:
        """Whether a hit bears on the request: a search finds the nearest passages, however far away they are."""
        evidence = hit.evidence
        space = evidence.vector_space
        if space and not space.startswith(OFFLINE) and evidence.vector_weight >= TRUSTED_WEIGHT:
            return True
        shared = evidence.terms or asked  # a hit without terms of its own was found by its heading or its neighbour
        terms = 1.0
        if all(tokens.is_han_piece(term) for term in shared):  # in a passage that is not Chinese, by their synonyms
            terms = (
                TERMS_PER_HAN_WORD if any(tokens.is_han(each.words) for each in hit.passages) else rank.SYNONYM_SHARE
            )
        return evidence.keyword_score >= MIN_SHARED_WEIGHT * terms * evidence.rarest

    @cached_property
    def _language(self) -> str:
        """The language of our own lines: the profile's, without a profile the vault's; where that is empty, or Chinese
        in no script, the script of what the person wrote last."""
        stated = self._profile.get(LANGUAGE) if self._profile else self._vault.config.locale
        language = str(stated or "")
        if language == "zh":
            scripts = map(script_of, self._written())
            return next((script for script in scripts if script.startswith("zh-")), language)
        return language or script_of_last(self._written())

    def _written(self) -> Iterator[str]:
        """What the person wrote, the newest first; of a group only the request."""
        yield self._request
        if self._profile:
            for _, turn in newest_turns(self._vault, self._user, HISTORY_TURNS):
                yield str(turn.get("user_message") or "")

    def _is_present(self, hit: Hit) -> bool:
        if hit.scope == layout.SHARED:
            if layout.is_instruction(PurePosixPath(hit.source)):
                return True
            return self._is_starters(hit.source)
        if hit.source in self._present:
            return True
        first, last = hit.line_range
        if all(f"{hit.source}:{line}" in self._present for line in range(first, last + 1)):
            return True
        return all(self._is_said(each.words) for each in hit.passages)

    def _is_said(self, words: str) -> bool:
        return words.strip() in self._said or any(words.strip() in told for told in self._told)

    def _is_starters(self, source: str) -> bool:
        """Whether a page is unchanged from the starter vault: it describes the vault and is nobody's memory."""
        return self._commits.read(self._vault.path(layout.SHARED, source)) in starter_texts(source)

    def _place(self, source: str, first: int, last: int, hit: Hit | None) -> str:
        lines = f"{first}-{last}" if last != first else str(first)
        commit = self._commits.of(layout.scope_dir(hit.scope if hit else self._user) / source)
        return f"{source}:{lines}" + (f"@{commit[:8]}" if commit else "")


def _shortened(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[:max_chars] + "…"
