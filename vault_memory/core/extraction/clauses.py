"""Clauses: how each is meant. Who speaks, whether it is a wish or a question, whether it holds for good or once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.speech import MAX_CLAUSES, Message, Span, clause_spans, sentences
from vault_memory.core.profile import Strength
from vault_memory.core.text import lazily

MAX_CARRIED_CHARS = 32
"""A longer clause does not continue the liking of the clause before."""
MAX_BESIDE_ONCE_CHARS = 2
"""More than «for today» in a clause: it is about itself, not about what stands before."""


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A stretch of speech between two commas, and how it is meant. `start` and `end` are offsets into the message."""

    text: str
    start: int
    end: int
    sentence: int
    """The number of its sentence in the message, from 0."""
    is_about_others: bool
    """Somebody else is the subject."""
    is_hypothetical: bool
    has_happened: bool
    """Hypothetical in form only: «after I pushed it to GitHub» says when something happened."""
    asks_to_know: bool
    """A question about the world; a wish in the form of a question does not count."""
    is_once: bool
    """Meant for this time only."""
    is_past: bool
    is_sarcastic: bool
    likes: bool
    is_lasting: bool
    """Meant to last («from now on»): this clause says so, or another of its sentence."""
    is_lasting_here: bool
    """The same, and this clause itself says so."""
    asks: bool
    corrects: bool
    is_first_person: bool

    @property
    def is_meant(self) -> bool:
        """Whether it is about the person, now, and meant seriously."""
        return not (self.is_about_others or self.is_hypothetical or self.is_past or self.is_sarcastic)

    @property
    def wish(self) -> Strength | None:
        """How strong the wish in this clause is; None without a wish."""
        if not self.is_meant or self.asks_to_know or self.is_once:
            return None
        if self.likes or self.is_lasting:
            return "explicit"
        return "adjustment" if self.asks or self.corrects else None


def clauses(message: Message, lexicon: Lexicon) -> list[Clause]:
    """The clauses of a message, in order. Within a sentence, subject, condition and «from now on» carry over."""
    result: list[Clause] = []
    for number, sentence in enumerate(sentences(message.speech)):
        if len(result) < MAX_CLAUSES:
            result.extend(_of_sentence(message.speech, number, sentence, lexicon))
    return _for_once(result, lexicon)


def _for_once(in_order: list[Clause], lexicon: Lexicon) -> list[Clause]:
    """Marks as `is_once` what a later «just for today» is about: «Light mode please, just for today»."""
    result = list(in_order)
    for position, clause in enumerate(in_order):
        once = lexicon.words("words.mood.once").search(clause.text)
        body = lexicon.shape(_LEADS).sub("", clause.text)
        if not once or len(body) - len(once[0]) > MAX_BESIDE_ONCE_CHARS:
            continue
        alone = all(other.sentence != clause.sentence for other in in_order if other is not clause)
        about = clause.sentence - 1 if alone else clause.sentence
        for earlier in range(position):
            if in_order[earlier].sentence == about and not in_order[earlier].is_lasting_here:
                result[earlier] = replace(in_order[earlier], is_once=True)
    return result


def _of_sentence(speech: str, number: int, sentence: Span, lexicon: Lexicon) -> list[Clause]:
    """The clauses of one sentence. What a clause says about speaker, mood or time may hold for the clauses after it."""
    spans = clause_spans(speech, sentence, lexicon)
    if not spans:
        return []

    def says(path: str, text: str) -> bool:
        return lexicon.words(path).search(text) is not None

    others = hypothetical = once = standing = likes = past = corrects = False
    has_asked_before = polite = quoted = has_own_part = False
    sarcastic = says("words.mood.sarcasm", speech[sentence.start : sentence.end])
    last = speech[spans[-1].start : spans[-1].end]
    standing_after = len(spans) > 1 and says("words.wish.standing", last)
    attributed = len(spans) > 1 and says("words.artefact.attributed", last)
    result = []
    for start, end, _ in spans:
        text = speech[start:end]
        body = lexicon.shape(_LEADS).sub("", text)
        subject = speaker(text, lexicon)
        others = subject == "others" if subject else others and not (has_own_part or _TO_YOU.search(text))
        has_own_part = subject == "others" and bool(_OWN_PART.search(text))
        if speech[end : end + 1] == ":" and subject != "me":
            quoted = quoted or subject == "others" or bool(lexicon.shape(_SOURCE).search(text))
        conditional = says("words.mood.hypothetical", text) and not says("words.mood.polite_if", text)
        stands_here = says("words.wish.standing", text)
        subordinate = not stands_here and bool(lexicon.shape(_SUBORDINATE).search(text))
        orders = bool(lexicon.words("words.wish.orders").match(body))
        commands = bool(_COMMAND.match(body))
        hypothetical = conditional or (hypothetical and not commands and not _TO_YOU.search(text))
        once = once or says("words.mood.once", text)
        now = says("words.mood.now", text)
        was = says("words.mood.past", text)
        past = (was and not (now and _is_now_later(text, lexicon))) or (
            past and not now and subject is None and not says("words.wish.asks", text)
        )
        standing = standing or stands_here
        likes = says("words.wish.likes", text) or (
            likes and subject is None and len(text) < MAX_CARRIED_CHARS and not has_asked_before
        )
        corrects = corrects or says("words.wish.corrects", text)
        polite = polite or says("words.mood.polite_question", text)
        mark = sentence.mark if end == spans[-1].end else ""
        asking = not commands and _asks_to_know(text, mark, polite, lexicon)
        asking = asking or (has_asked_before and text.endswith(("的", "那种")))  # 怎麼讓它只顯示一行, 簡短一點的那種
        has_asked_before = asking
        result.append(
            Clause(
                text=text,
                start=start,
                end=end,
                sentence=number,
                is_about_others=others or attributed or quoted,
                is_hypothetical=hypothetical or subordinate,
                has_happened=subordinate and not hypothetical and subject == "me",
                asks_to_know=asking,
                is_once=once,
                is_past=past,
                is_sarcastic=sarcastic,
                likes=likes,
                is_lasting=standing or (standing_after and not was),
                is_lasting_here=stands_here,
                asks=orders or says("words.wish.asks", text),
                corrects=corrects,
                is_first_person=subject == "me",
            )
        )
    if result[-1].asks_to_know and not polite and _HOW.match(body):  # 系統自動換成深色模式，怎麼關
        result = [replace(clause, asks=False) for clause in result]
    return result


_LEADS = r"^[\s,]*(?:{words.clause.leads}[\s,]*){0,4}"
_SUBORDINATE = r"^{words.clause.aside}|{words.clause.time}$"
_SOURCE = r"{words.clause.source} ?$"
"""Before a colon: where the words come from («the exam said: explain in detail»)."""
_COMMAND = lazily(r"(?:add|put|set|write|make|keep|use|skip|break|remove|give|would it kill)(?![a-z'])")
"""No question even with a question mark: «comment every line so I see what it does?»"""
_TO_YOU = lazily("麻烦|帮我|给我|请[你您]|please")
"""Speaks to the assistant, even if the subject before was another: 小孩會醒，所以網頁麻煩一直維持深色."""
_OWN_PART = lazily("我(?:负责|[是都就用写])")
"""In a clause about another, what the person does: 老師出題，我負責寫."""
_HOW = lazily("(?:要|该|应该)?(?:怎么|如何|为什么|为啥|点解|点样)[^你]{0,24}$")


def _is_now_later(text: str, lexicon: Lexicon) -> bool:
    """Whether «now» comes after «before» in a clause; then the present counts."""
    was = lexicon.words("words.mood.past").search(text)
    return bool(was and lexicon.words("words.mood.now").search(text, was.end()))


def _asks_to_know(text: str, mark: str, polite: bool, lexicon: Lexicon) -> bool:
    """Whether a clause is a question about the world; `mark` ends its sentence."""
    plain = lexicon.words("words.clause.not_asking").sub("", text)
    if lexicon.words("words.clause.asks_to_know").search(plain):
        return True
    marked = "?" in mark or bool(_ENDS_AS_QUESTION.search(plain))
    return (marked or bool(lexicon.words("words.mood.question").match(text))) and not polite


_ENDS_AS_QUESTION = lazily(r"(?:[吗么嘛没先]|没有|(?<!达)咩|(?<!着)呢)[\W啊呀]*$")


# --- speaker ----------------------------------------------------------------------------------------------------------


def speaker(text: str, lexicon: Lexicon) -> str | None:
    """The first subject of a clause: `me`, `others` or None. A person whom one helps or talks to is not a subject."""
    if any(lexicon.shape(shape).search(text) for shape in _REPORTED):
        return "others"
    own = lexicon.words("words.speaker.me").finditer(text)
    mine = next((me for me in own if not _DONE_TO_ME.search(text[: me.start()])), None)
    for other in lexicon.words("words.speaker.others").finditer(text):
        rest = text[other.end() :]
        if not rest.strip() or rest.startswith(("我", "你", "您")):
            continue  # spoken to: «媽媽我手腳慢»
        if lexicon.shape(_BENEFICIARY).search(text[: other.start()]):
            continue  # helped: 幫老師
        if (
            mine
            and mine.start() < other.start()
            and not lexicon.shape(_BETWEEN).fullmatch(text, mine.end(), other.start())
        ):
            return "me"
        return "others"
    return "me" if mine else None


_REPORTED = (
    r"^(?!{words.clause.no_reporter})(?:[我咱]们)?[^,我你您咱俺请帮]{2,24}?(?=[\u3400-\u9fff]){words.clause.reports}",
    r"(?<![a-z'])(?!{words.clause.no_reporter} )[a-z][a-z'\-]* (?:always )?{words.clause.reports}",
)
"""Somebody or something else says, wants or demands it: «the rubric says», 規範裡規定."""
_BENEFICIARY = r"{words.speaker.beneficiary}(?: (?:my|the|our|a|his|her))?(?:我们?的?)? ?$"
_BETWEEN = r"(?:[- ]?{words.clause.between})* ?"
_DONE_TO_ME = lazily("(?:推荐|[叫让要教逼催劝骂笑害嫌问跟对])$")
