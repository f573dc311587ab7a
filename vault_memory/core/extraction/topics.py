"""Free text: what the person asks to be taught, what the person builds, and what the person asks to be remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause, speaker
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.speech import Message
from vault_memory.core.privacy import is_private, names_a_contact
from vault_memory.core.profile import Signal
from vault_memory.core.text import lazily

MAX_SUBJECT_CHARS, MAX_NOTE_CHARS, MIN_NOTE_CHARS, MAX_ASKING_CHARS = 60, 120, 4, 40
"""A subject is a topic, a project, a weakness or a strength."""
MAX_ADDRESS_CHARS = 24
FOLLOWING_CHARS = 80
"""Of the rest of a sentence, read for the thing that is built."""


def subjects(
    clause: Clause, following: str, named: list[Technology], message: Message, lexicon: Lexicon
) -> Iterator[Signal]:
    """The topics and projects of one clause; `following` is the rest of its sentence."""
    if not clause.is_about_others:
        yield from _project(clause, following, message, lexicon)
    yield from _topic(clause, named, message, lexicon)


def trim(text: str, start: int, end: int, lexicon: Lexicon) -> tuple[int, int]:
    """The span without question words at either end."""
    head = lexicon.shape(r"(?:[\s,:的了呢啊吧]|{subjects.matter.before})+").match(text, start, end)
    start = head.end() if head else start
    tail = lexicon.words("subjects.matter.after").search(text, min(start + 1, end), end)
    while tail and not text[start : tail.start()].strip():
        tail = lexicon.words("subjects.matter.after").search(text, tail.end(), end)
    return start, start + len(text[start : tail.start() if tail else end].rstrip(" ,.:!?~'\"的、吗么呢吧啊呀"))


def excerpt(message: Message, start: int, end: int, most: int = MAX_SUBJECT_CHARS) -> str:
    """A stretch of the message as the person wrote it, at most `most` characters."""
    return message.written[start:end].strip()[:most].strip()


def _is_negated(text: str, at: int, lexicon: Lexicon) -> bool:
    """Whether a negation stands just before a place of a text."""
    return bool(lexicon.shape(r"{words.negation.before}[要用必使好想]? *$").search(text, 0, at))


# --- topics -----------------------------------------------------------------------------------------------------------


def _topic(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The topic that a clause asks to be taught: a technical term, or a foreign word."""
    text, speech, words = clause.text, message.speech, lexicon.words
    if clause.is_past or (clause.is_about_others and (not clause.asks_to_know or "问" in text)):
        return
    spans = (trim(speech, *span, lexicon) for span in _asked(clause, message, lexicon))
    start, end = next((span for span in spans if span[0] < span[1]), (0, 0))
    value = speech[start:end]
    no_terms = map(words, ("subjects.matter.none", "words.speaker.me", "words.speaker.others"))
    if not value or any(each.match(value) for each in no_terms):
        return
    if words("subjects.not_technical").search(text) or words("subjects.no_topic").search(text):
        return
    if (
        words("subjects.technical").search(value)
        or (not text.isascii() and _LATIN_TERM.search(value))
        or any(start <= technology.start < end for technology in named)
    ):
        yield Signal("recent_topics", "add", excerpt(message, start, end), "observed")


def _asked(clause: Clause, message: Message, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Where a message may name what a clause asks to be taught: behind or before the words that ask, or in the clause
    before a request that stands alone (X 有哪几种，挨个讲讲)."""
    text, start, end, words = clause.text, clause.start, clause.end, lexicon.words
    if compared := words("subjects.frames.compare").search(text):
        sides = (start, start + compared.start()), (start + compared.end(), end)
        is_between = compared[0] in ("vs", "versus")
        yield from [(start, end)] if is_between else [side for side in sides if _JOINED.search(message.speech, *side)]
    if before := words("subjects.frames.teach_before").search(text):
        if _is_negated(text, before.start(), lexicon):
            return
        yield start + before.end(), end
    after = words("subjects.frames.teach_after").search(text)
    if after and (clause.asks_to_know or not text.isascii()):
        yield start, start + after.start()
    if words("subjects.frames.teach_alone").match(text):
        opening = SENTENCE_OPENING.search(message.speech, 0, start)
        until = len(message.speech[:start].rstrip(" ,"))
        yield max(opening.end() if opening else 0, message.speech.rfind(",", 0, until) + 1), until


_LATIN_TERM = lazily(r"(?<![a-z])[a-z][a-z0-9\-.+#/]+")
_JOINED = lazily(r"[跟和与同、]|(?<![a-z])(?:and|or|to|with|vs)(?![a-z])")
SENTENCE_OPENING = lazily(r"(?s:.*)(?:[。!?;\n]|\.(?=\s))")


# --- projects ---------------------------------------------------------------------------------------------------------


def _project(clause: Clause, following: str, message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The project that the person is building."""
    text, words = clause.text, lexicon.words
    if not clause.is_first_person and (clause.is_past or clause.asks_to_know):
        return
    made = words("subjects.frames.making").search(text)
    if not made or _TASK.search(text[: made.end()]) or _is_negated(text, made.start(), lexicon):
        return
    end = len(text)
    named = words("subjects.frames.project_is").search(text)
    thing = _A_THING.match(text, made.end()) if words("subjects.frames.builds").search(made[0]) else None
    if thing and not (message.technologies or words("subjects.technical").search(text)):
        thing = None  # one also builds a treehouse: an unknown thing counts only beside something technical
    if not (thing or words("subjects.built").search(text, made.start()) or (named and end - named.end() >= 4)):
        later = words("subjects.built").search(following[:FOLLOWING_CHARS])
        if not later:
            return
        end = min(end + len(following), end + later.end() + 1)
    value = message.written[clause.start + made.end() : clause.start + end].strip(" ,，。:：的一")
    if len(value) < 2:
        value = message.written[clause.start + made.start() : clause.start + end].strip()
    if words("subjects.no_project").match(value.lower()):
        return  # «my website is down»
    yield Signal("current_projects", "add", _ARTICLE.sub("", value)[:MAX_SUBJECT_CHARS].strip(), "observed")


_TASK = lazily(r"[帮给]我|请|please|help me|can you")
_A_THING = lazily(r" ?(?:out |up |together )?(?:a|an|my|our|my own) (?=[a-z])")
_ARTICLE = lazily(r"^(?:(?:called|named|an?|the|my|our|this) (?=\w)|叫|一?[个個套支款只間间] *(?=\S))", re.IGNORECASE)


# --- notes ------------------------------------------------------------------------------------------------------------


def note(sentence: list[Clause], message: Message, lexicon: Lexicon, has_signals: bool) -> Signal | None:
    """The note that a sentence asks for with «remember …»; `has_signals`: it names a topic or a technology too."""
    first, last = sentence[0], sentence[-1]
    end = len(message.speech) - len(message.speech[last.end :].lstrip(" "))  # with the blanks of a link
    text = message.speech[first.start : end]
    asked = lexicon.words("subjects.remember.before").search(text)
    if (
        not asked
        or lexicon.words("subjects.remember.not_a_note").search(text[: asked.end() + 12])
        or (has_signals and first.is_first_person)
        or len(_polite(lexicon).sub("", text[: asked.start()])) > 4
        or last.asks_to_know
        or first.asks_to_know
        or first.is_hypothetical
        or first.is_sarcastic
    ):
        return None
    past = lexicon.words("words.mood.past").search(text, asked.end())
    written = message.written[first.start : end]
    if (
        (past and past.start() - asked.end() <= 4)  # 記得小時候院子裡有棵樹 is a memory of the person
        or len(text[asked.end() :].strip(" ,:、。")) < MIN_NOTE_CHARS
        or is_private(written)
        or names_a_contact(written + message.written[end : end + MAX_ADDRESS_CHARS])
        or lexicon.words("subjects.remember.private").search(text)
        or not _STATEMENT.search(text, asked.end())
    ):
        return None
    start, end = wish_span(message, first.start + asked.end(), end, lexicon)
    return _note(message, start, end)


def _note(message: Message, start: int, end: int) -> Signal | None:
    """The note of a stretch of the message; None where hardly more than blanks is left of it."""
    value = excerpt(message, start, end, MAX_NOTE_CHARS)
    return Signal("note", "add", value, "explicit") if len(value) >= MIN_NOTE_CHARS else None


def standing_wish(sentence: list[Clause], message: Message, lexicon: Lexicon) -> Signal | None:
    """The note of a sentence that wishes for something lasting («always cite your sources»)."""
    if any(clause.is_once for clause in sentence):
        return None
    wishes = (clause.is_lasting_here and clause.is_meant and not _OWN_HABIT.match(clause.text) for clause in sentence)
    return fact(sentence, message, lexicon) if any(wishes) else None


def fact(sentence: list[Clause], message: Message, lexicon: Lexicon) -> Signal | None:
    """The note of a sentence that states something; None for a question, a private fact or somebody's address."""
    if any(clause.asks_to_know or clause.is_hypothetical for clause in sentence):
        return None
    start, end = wish_span(message, sentence[0].start, sentence[-1].end, lexicon)
    written = message.written[sentence[0].start : sentence[-1].end + MAX_ADDRESS_CHARS]  # an address has dots
    if end - start < MIN_NOTE_CHARS or is_private(written) or names_a_contact(written):
        return None
    return _note(message, start, end)


def wish_span(message: Message, start: int, end: int, lexicon: Lexicon) -> tuple[int, int]:
    """A stretch of the message without what only asks to remember it or is polite, at either end: of «btw, please
    remember that our port is 6380» the port."""
    asked = lexicon.words("subjects.remember.before")
    while True:
        text = message.speech[start:end]
        opening = _polite(lexicon).match(text)
        cut = opening.end() if opening else 0
        found = asked.search(text[cut : cut + MAX_ASKING_CHARS])
        if found and found.start() == 0:
            cut += found.end()
        if cut == 0 or end - start - cut < MIN_NOTE_CHARS:
            break
        start += cut
    for comma in reversed([match.start() for match in _COMMA.finditer(message.speech, start, end)]):
        tail = message.speech[comma + 1 : end]
        if len(tail) > MAX_ASKING_CHARS or not only_asks_to_remember(tail, lexicon) or comma - start < MIN_NOTE_CHARS:
            break
        end = comma
    return start, start + len(message.speech[start:end].rstrip(" ,.;:!~"))


def asks_to_remember(text: str, lexicon: Lexicon) -> bool:
    """Whether a text asks to remember something."""
    asks = lexicon.words("subjects.remember.before").search(text)
    return bool(asks) and not lexicon.words("subjects.remember.not_a_note").search(text)


def only_asks_to_remember(text: str, lexicon: Lexicon) -> bool:
    """Whether a text is nothing but a request to remember: «keep that in mind please», 幫我記一下."""
    found = lexicon.words("subjects.remember.before").search(text)
    return found is not None and len(_polite(lexicon).sub("", text[: found.start()] + text[found.end() :])) <= 2


def refuses_to_be_remembered(text: str, lexicon: Lexicon) -> bool:
    """Whether a clause asks not to remember, whatever of the person's it is about: «don't save that I like metal»,
    別把我想離職的事記下來, 這段不要記, «keep that between us». «Don't save the file» is a task."""
    if not lexicon.words("subjects.refused.near").search(text):
        return False
    found = (match for shape in _REFUSALS for match in lexicon.shape(shape).finditer(text))
    return any(speaker(text[: match.start()], lexicon) != "others" for match in found)


def says_no_more(text: str, lexicon: Lexicon) -> bool:
    """Whether a text has no word but those by which one asks not to remember, and words of courtesy."""
    for name in _OF_REFUSALS:
        text = lexicon.words(name).sub(" ", text)
    return not _LETTER.search(text)


def _polite(lexicon: Lexicon) -> re.Pattern[str]:
    """What opens a sentence and says nothing of its matter."""
    return lexicon.shape(r"(?:[\s,!:~-]|{subjects.matter.polite})+")


_CLOSES = r"(?:[\s,!:~-]*{subjects.refused.after_said})*[\s,!:~-]*$"
_SAID = r"(?:{subjects.refused.own}|{subjects.refused.said})"
_REFUSALS = (
    # «don't save that I …», 別記這個, 別記, 別把我…記下來, «don't let it into your notes»
    r"(?:^\s*|{subjects.refused.leads})[\s,!:~-]*(?:{subjects.refused.said}[\s,!:~-]*)?(?:我们?)?{subjects.refused.orders}"
    r"(?:"
    r"\s?{subjects.refused.keeps}\s?{subjects.refused.own}"
    r"|(?:\s?再?{subjects.refused.keeps}\s?{subjects.refused.said}"
    r"|(?:(?<=[\u3400-\u9fff])|(?<= to)|(?<=shouldn't)|(?<=please don't))\s?再?{subjects.refused.keeps})" + _CLOSES + ""
    r"|\s?[把将让叫]\s?" + _SAID + r"[^,;]{0,40}?(?<!忘){subjects.refused.keeps}" + _CLOSES + ""
    r"|[^,;]{1,60}{subjects.refused.yours})",
    # 我喜歡什麼不用記
    r"^\s*{subjects.refused.own}[^,;]{1,40}?(?=[\u3400-\u9fff]){subjects.refused.orders}\s?再?{subjects.refused.keeps}"
    + _CLOSES,
    # «that should not be stored», «I don't want this saved», «nothing I say may be kept»
    r"(?:^|{subjects.refused.leads})[\s,!:~-]*{subjects.refused.said}\s?{subjects.refused.ought_not}"
    r" {subjects.refused.kept}",
    r"(?:(?P<no>{subjects.refused.unwanted})|{subjects.refused.wanted}) "
    + _SAID
    + r"[^,;]{0,30}? (?(no)(?:(?:to be|being) )?|{subjects.refused.ought_not} ?){subjects.refused.kept}",
    r"{subjects.refused.nothing} {subjects.refused.kept}",
    # «forget my last message», 把剛才說的忘了吧
    r"^(?:[\s,!:~-]|{words.mood.polite_question}|{subjects.refused.leads})*(?:"
    r"{subjects.refused.forgets} (?={subjects.refused.back}){subjects.refused.said}(?: {subjects.refused.part})*"
    r"|[把将]?\s?(?=[\u3400-\u9fff]*?{subjects.refused.back}){subjects.refused.said}\s?{subjects.refused.forgets})"
    + _CLOSES,
    # «forget I said that», 當我沒說
    r"^(?:[\s,!:~-]|{subjects.refused.leads})*(?:{subjects.refused.hush}|{subjects.refused.whole}[\s,!:~-]*$)",
)
"""How it is said that something is not to be remembered. The words are in the lexicon."""
_OF_REFUSALS = (
    "words.negation.takes_back_the_last",
    *(f"subjects.refused.{name}" for name in ("whole", "hush", "unwanted", "orders", "ought_not", "yours")),
    *(f"subjects.refused.{name}" for name in ("said", "keeps", "kept", "forgets")),
    "words.mood.polite_question",
    "words.negation.polite",
    "subjects.matter.polite",
    *(f"subjects.refused.{name}" for name in ("after_said", "leads", "around", "part")),
)
"""The lists of whose words a refusal consists, the longest phrases first."""
_LETTER = lazily(r"[^\W_]")
_OWN_HABIT = lazily(
    r"\s*(?:and |but )?(?:i|we)(?:'ve|'m|'re)?(?! (?:want|need|like|prefer) )(?![a-z'])|我(?!都?[要想希需喜只])"
)
"""What the person does is no wish: «I've never used Docker»."""
_STATEMENT = lazily(r"[\u3400-\u9fff]{2}|:|(?<![a-z])(?:i|is|are|we|our|my|the|must|every|always)(?![a-z])")
_COMMA = lazily(r"[,;:]| [-–—] ")
