"""Requests: whether a sentence asks something of a text, names one, or says who says what follows."""

from __future__ import annotations

from itertools import islice

from vault_memory.core.extraction.voices.chats import is_person
from vault_memory.core.extraction.voices.lines import Lines
from vault_memory.core.text import lazily

MAX_REQUEST_CHARS = 90
"""So much before a colon is looked at for what is asked of the text behind it."""
MOST_SENTENCES = 8
"""Of a line, and so many colons, are looked at for a request."""
MOST_WORDS_BEFORE_A_NAME, MOST_WORDS_OF_A_TITLE = 3, 8

SENTENCE_END = lazily(r"[.!?。;…]+(?=\s|$|[\u3400-\u9fff])|[。!?]")
_LINKED = lazily(r"https?:|www\.|(?<![\w\-])[\w\-]{1,60}\.(?:pdf|docx?|txt|md)\b")
_QUOTING = lazily("[\"“「『`]|(?<![a-z0-9])'(?=\\w)")
"""The text that is asked about is not in the message, or in the sentence itself."""
_MINE = lazily(
    r"(?<![a-z'])(?:i|we|i'd|i've|i'll|let me)(?: [a-z']+){0,2} ?$"
    r"|[我咱你您]们?(?:[就也都要想再先会常]|已经|之前|刚才|刚刚|昨天|今天)* ?$"
)
"""The person is the subject of the verb that follows."""
_OURS = lazily(r"(?<![a-z'])(?:i|we|you|i'd|i've|i'll|let me|your)(?![a-z])|[你您]")
_MY_RULE = lazily(r"(?<![a-z'])(?:i|we|my|our)(?![a-z])(?! (?:got|received|found|copied|wrote down|read|saw))")
_RIGHT_BEHIND = lazily(
    r"(?:this|these|following|below|[这那][段句封篇首则份]?|以下|下面|下列|如下|底下)[^,]{0,10}$|(?<![a-z])(?:of|in) ?$"
)
"""What is asked about follows: «fix this», «the sentiment of», 看看下面."""
_WHOSE = lazily(
    r"(?: (?:by|from|with|of|to|at) [^,]{1,24}| ?[#\d][\d.]{0,4}| (?:says|reads|goes|text|below|content|i found)"
    r"| (?:practice|exercise|example|idea|draft|version|sample|prompt|analysis|translation|review|[a-z])"
    r"| ?(?:内容|文字|全文|如下|[一二三四五六\d]+)| ?\([^)]{1,20}\))? ?"
)
_SHORT = lazily(
    r"(?<![a-z])(?:this|these|the following) (?:\w+ )?(?:sentences?|paragraph|passage|reviews?|bio|caption|tweet|haiku"
    r"|comment|message)(?![a-z])|passage below|sentences? below|make this [a-z]+$|[这下](?:一?[段句则]|面)"
)
_ASKS = lazily(r"\W*(?:what|which|who|how|why|where|does|do|is|are|can|could)(?![a-z])")
_ASKS_WHETHER = lazily(r"\W*(?:is|are|does)(?![a-z])")
_POLITE = lazily(
    r"(?:[\s,]|please|pls|(?:can|could|would|will) you|help me(?: to)?|now|then|and|ok|next|[请先再你能]|麻烦|可以)*"
)
_ADDRESS = lazily(r"[<(][^<>()]{1,80}[>)]")
_LATIN = lazily("[a-z]$")
_HAN = lazily("[\u3400-\u9fff]")
_SOMEBODY = lazily(r"(?<![a-z])(?:he|she|they|someone|somebody|everyone)$")
_SOURCE = lazily("[》里中上内]$")
_NOBODY = lazily(
    r"(?<![a-z'])(?:i|we|you|one|it|this|that|to|as|so|and|which|who|let's|always|how|what|when)(?: [a-z']+)?$"
)
_TO_ME = (" me", "我", "yesterday", "today", "earlier", " this", "话", "文", "schrieb")
_BEHIND_A_REPORT = lazily(
    r"(?: (?:to|me|us|back|him|her|them|yesterday|today|earlier|this|on \w+|in \w+|at [\w: ]{1,9})|[了的过给我你他她]"
    r"|一?[句段则])*\s*"
)


def _opening(sentence: str) -> int:
    """How many characters of a sentence are polite and say nothing of what is asked."""
    found = _POLITE.match(sentence)
    return found.end() if found else 0


def last_sentence(text: str) -> str:
    return SENTENCE_END.split(text)[-1]


def opens_a_text(lines: Lines, before: str, *, is_dash: bool) -> bool:
    """Whether the sentence before a colon (or a dash) says that the words behind it are a text, or another's."""
    clause = before[before.rfind(",") + 1 :]
    is_next = lines.says("text.follows", before)
    if lines.says("text.manner", before) or (lines.says("text.general", clause) and not is_next):
        return False
    points = is_next or lines.says("text.pointing", before)
    if is_dash and not points:
        return clause == before and not lines.says("text.own", before) and _names_a_text(lines, clause)
    if _is_asked(lines, before) or (points and (is_dash or _RIGHT_BEHIND.search(before)) and _works(lines, before)):
        return True
    if is_dash:
        return False
    order = before[_opening(before) :]
    if lines.begins("text.verbs", order) and not lines.begins("text.wide", order):
        return True
    if lines.says("text.played", before) or lines.lexicon.words("words.speech.ordered").search(before):
        return True
    if lines.says("text.own", before):
        return False
    is_asked = _RIGHT_BEHIND.search(before) is not None and (_works(lines, before) or _ASKS.match(before) is not None)
    is_asked = is_asked or _ASKS_WHETHER.match(before) is not None
    if (is_next or (is_asked and not _OURS.search(before))) and not _MY_RULE.search(before):
        return True
    return _names_a_text(lines, clause) or _reports(lines, clause)


def asks_about_a_text(lines: Lines, line: str) -> int | None:
    """Behind which offset a line asks something of a text that can only follow; None if it does not."""
    if _LINKED.search(line):
        return None
    start = 0
    ends = (mark.end() for mark in SENTENCE_END.finditer(line))
    for end in (*islice(ends, MOST_SENTENCES), len(line)):
        sentence, start = line[max(start, end - MAX_REQUEST_CHARS) : end], end
        if _QUOTING.search(sentence) or lines.says("text.general", sentence):
            continue
        if _is_title(lines, sentence):
            return end
        points = lines.says("text.pointing", sentence) or lines.says("text.follows", sentence)
        is_bare = _HAN.search(sentence) and lines.begins("text.verbs", sentence[_opening(sentence) :])  # 看看自介
        if (points or is_bare) and not lines.says("text.manner", sentence) and _is_asked(lines, sentence):
            return end
    return None


def is_said_there(request: str) -> bool:
    """Whether a request asks of a text that is short enough to stand behind it on its line."""
    return bool(_SHORT.search(last_sentence(request.rstrip(" .!?。"))))


def asks_about_what_was_written(lines: Lines, line: str) -> bool:
    """Whether a line asks something of the text before it: «please correct the above», 幫我翻成英文."""
    if _QUOTING.search(line) or lines.says("text.manner", line) or lines.says("text.general", line):
        return False
    return lines.says("text.before", line) and (lines.says("text.alone", line) or _works(lines, line))


def _works(lines: Lines, sentence: str) -> bool:
    return lines.says("text.verbs", sentence)


def _is_asked(lines: Lines, sentence: str) -> bool:
    """Whether a sentence asks for work on a text: with a verb that needs no object, or that and the text's name."""
    alone = lines.all_of("text.alone", sentence)
    if any(not _MINE.search(sentence[: found.start()]) for found in alone) or lines.is_all("text.verbs", sentence):
        return True
    return _works(lines, sentence) and lines.says("text.names", sentence)


def _is_title(lines: Lines, sentence: str) -> bool:
    """Whether a line only names the text below it: «lyrics», «here's a haiku I found», 群聊记录."""
    bare = sentence.strip(" #*.!。").removeprefix("the ").removesuffix(" like this")
    if len(bare.split()) > MOST_WORDS_OF_A_TITLE or not bare:
        return False
    return lines.is_all("text.alone", bare) or _names_a_text(lines, bare) or lines.is_all("text.titles", bare)


def _names_a_text(lines: Lines, clause: str) -> bool:
    """Whether a clause is only the name of a text, and whose it is: «the customer's complaint», «exercise 4»."""
    return any(
        len(clause[: found.start()].split()) <= MOST_WORDS_BEFORE_A_NAME
        and not _OURS.search(clause[: found.start()])
        and _WHOSE.fullmatch(clause, found.end()) is not None
        for found in lines.all_of("text.label", clause)
    )


def _reports(lines: Lines, clause: str) -> bool:
    """Whether a clause says that somebody else says something: «my boss wrote me», 同事問我."""
    return any(
        _BEHIND_A_REPORT.fullmatch(clause, found.end()) is not None
        and not _MINE.search(clause[: found.start()])
        and (found[0].endswith(_TO_ME) or _is_somebody(lines, clause[: found.start()]))
        for found in lines.all_of("text.reported", clause)
    )


def _is_somebody(lines: Lines, subject: str) -> bool:
    """Whether the subject of a clause is somebody else: «on Monday, Tom <tom@x.org>», 我老闆, 《活著》裡."""
    subject = _ADDRESS.sub("", subject).strip()
    if _LATIN.search(subject):
        return _SOMEBODY.search(subject) is not None or not _NOBODY.search(subject)
    others = lines.lexicon.words("words.speaker.others").search(subject)
    return others is not None or bool(_SOURCE.search(subject)) or is_person(lines, subject.rpartition(" ")[2])
