"""How a text is read that says something of its person.

From its left: what says nothing of the matter is passed over, until a phrase tells what the person has to do with a
thing; what is left is the thing. Words that are not listed are never passed over: a text that is read otherwise is only
the same as itself. The lists are data (`lexicon/sayings.toml`); a vault's own words do not count, because the index
knows no settings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from vault_memory.core.extraction import Lexicon, load_lexicon
from vault_memory.core.memorable.order import usual_order
from vault_memory.core.memorable.slots import (
    COMMUTE,
    kind_of_favourite,
    name_of,
    purpose_of,
    read_slot,
    read_timed,
    way_to_work,
)
from vault_memory.core.memorable.things import Thing, read_thing
from vault_memory.core.memories import categories
from vault_memory.core.text import fold

MAX_CHARS = 200
"""A longer text is a note, and says more than one thing."""
LIKE, LIVE, FAVOURITE, WORK, BE, DO, USE, SLOT = "like", "live", "favourite", "work", "be", "do", "use", "slot"
DECIDE = "decide"
"""Relations that are read in a way of their own; the others are as the lexicon names them."""
AT = "at"
"""The link of a workplace where one is said to be: «I'm at Ericsson». One may also be at a café just now."""
LEVELS = ("city", "province", "country")
MAX_PLACE_CHARS = 8


@dataclass(frozen=True)
class Saying:
    """What is said: of whom (`me`, `us`), what the one has to do with a thing (`relation`), whether it is so, and what
    follows (`more`). `is_new`: it is so from now on. `when`: on which days, how often. `slot`: of what kind of thing
    it is the favourite, or where it stands or what it is used for (`slots`), with the `link` between the two. `act`:
    what is done with it."""

    subject: str
    relation: str
    is_so: bool
    thing: Thing
    more: str = ""
    is_new: bool = False
    when: frozenset[str] = frozenset()
    slot: str = ""
    link: str = ""
    act: str = ""
    is_swap: bool = False
    """It is so in the place of what was done before, which is not named: 我改喝茶了."""
    is_again: bool = False
    """It has been so before, and then not: «I eat meat again»."""


@lru_cache(maxsize=256)
def read_saying(content: str) -> Saying | None:
    """What a text says of its person; None for one that is no short statement of now."""
    written = " ".join(content.split())
    return _reader().read(written) if 0 < len(written) <= MAX_CHARS else None


def says_something(text: str) -> bool:
    """Whether a folded text holds a phrase that may say something of a person."""
    return _reader().holds_a_relation(text)


class _Step(NamedTuple):
    """A listed phrase at the beginning of a text: what it is (the name of its list), where it ends, and for a relation
    whether it says that it is so."""

    what: str
    end: int
    is_so: bool


@dataclass
class _Heard:
    """What the words passed over have said."""

    written: str
    more: str = ""
    subject: str = ""
    group: str = ""
    """Of what of ours is spoken: 公司 of 我們公司."""
    is_so: bool = True
    is_new: bool = False
    is_gone: bool = False
    """«Anymore» stands at the end."""
    is_given_up: bool = False
    has_am: bool = False
    is_swap: bool = False
    is_again: bool = False
    is_under_way: bool = False
    """It goes on: who is giving up smoking still smokes."""


class _Reader:
    """The lists of the lexicon, by their phrases; immutable, safe to share between threads."""

    def __init__(self, lexicon: Lexicon) -> None:
        def frame(name: str) -> list[str]:
            return sorted(lexicon.listed(f"sayings.frame.{name}"), key=len, reverse=True)

        self._known: dict[str, tuple[str, bool]] = {}
        self._relations = lexicon.sections("sayings.relation")
        for name in ("lead", "me", "us", "adverb", "now", "not", "over"):
            self._known |= dict.fromkeys(frame(name), (name, True))
        after: dict[str, bool] = {}
        for name in self._relations:
            for is_so, key in ((True, "yes"), (False, "no")):
                self._known |= dict.fromkeys(lexicon.listed(f"sayings.relation.{name}.{key}"), (name, is_so))
                after |= dict.fromkeys(lexicon.listed(f"sayings.relation.{name}.{key}_after"), is_so)
        self._after = sorted(after.items(), key=lambda each: -len(each[0]))
        self._longest = max(map(len, self._known))
        us = frame("us")
        self._us = [each for each in us if not any(other != each and each.startswith(other) for other in us)]
        self._tail, self._gone, self._taking, self._able = map(frame, ("tail", "gone", "taking", "able"))
        self._articles, self._dwelling, self._now = map(frame, ("article", "dwelling", "now"))
        self._begun, self._since = tuple(frame("begun")), tuple(frame("since"))
        self._swap, self._again, self._under_way = map(frozenset, map(frame, ("swap", "again", "under_way")))
        self._second = lexicon.shape(r", ?{sayings.left.second}[ .!。]*$")
        self._more, self._was = _any_of(frame("more")), _any_of(frame("was"))

    def read(self, written: str) -> Saying | None:
        text, more = self._parted(self._second.sub("", plain(fold(written))))
        if self._was.search(text):
            return None
        heard = _Heard(written, more)
        text = self._without_tail(text, heard)
        if favourite := _FAVOURITE.match(text):
            slot, thing = favourite["slot"] or favourite["also"] or "", favourite["thing"] or favourite["which"]
            if slot:
                said = self._made(FAVOURITE, True, thing, replace(heard, subject="me"))
                now = next((each for each in self._now if _ends(slot, each)), "")
                return replace(said, slot=kind_of_favourite(slot.removesuffix(now).strip())) if said else None
            text = f"i like {thing}"
        text = self._without(text, "lead")
        for phrase, is_so in self._after:
            if _ends(text, phrase) and (
                thing := _ABOUT.sub("", self._without(text[: -len(phrase)], "me", "adverb", "now"))
            ):
                return self._made(LIKE, is_so, thing, replace(heard, subject="me"))
        if timed := self._in_time(text, heard):
            return timed
        step = self._step(text)
        if (step is None or step.what not in self._relations) and (place := self._in_a_slot(text, heard)):
            return place
        return self._read(usual_order(text), heard)

    def _in_a_slot(self, text: str, heard: _Heard) -> Saying | None:
        """What stands in a place, whose it is being said or understood."""
        found = read_slot(text, heard.subject)
        heard_here = replace(heard, subject=found.subject, is_new=heard.is_new or found.is_new) if found else heard
        said = self._made(SLOT, not heard.is_gone, found.thing, heard_here) if found else None
        if not said or not found:
            return None
        is_how = found.link == "be" and found.thing.isascii() and not self._is_name(found.thing, heard.written)
        return replace(said, slot=found.name, link="how" if is_how else found.link)

    def _in_time(self, text: str, heard: _Heard) -> Saying | None:
        """When something is to be. The days are the thing here, and not how often it is done."""
        found = read_timed(text)
        day = read_thing(found.thing, self._articles) if found else None
        if not found or not day:
            return None
        is_new = heard.is_new or found.is_new
        subject = heard.subject or found.subject
        return Saying(subject, SLOT, True, day, heard.more, is_new, frozenset(), found.name, found.link)

    def _is_name(self, thing: str, written: str) -> bool:
        """Whether a Latin thing has a name or is of a known kind, and is not how one is: a Pixel, not a bit slow."""
        name = _without_one_of(self._articles, thing)
        return bool(categories.load().categories_of(name)) or f"{name[:1].upper()}{name[1:]}" in written

    def _read(self, text: str, heard: _Heard) -> Saying | None:
        """What is said where nothing stands in another place than usual."""
        while text:
            if found := _WORK.match(text):
                return self._made(WORK, heard.is_so, found["thing"], heard, text)
            if (found := _WORK_AS.match(text)) and "job" in categories.load().categories_of(found["thing"]):
                return self._made(WORK, heard.is_so, f"{found['at']} {found['thing']}", heard, text)
            if (found := _DWELLS.match(text)) and _is_known_place(found["thing"]):
                return self._made(LIVE, heard.is_so, found["thing"], replace(heard, more=heard.more or found["how"]))
            if (found := _MOVED.match(text)) and (found["to"] is None or _is_known_place(found[0])):
                return self._made(LIVE, heard.is_so, found["thing"], replace(heard, is_new=True))
            if heard.group and (found := _IN.match(text)) and _is_known_place(found["thing"]):
                return self._made(LIVE, heard.is_so, found["thing"], heard)
            step = self._step(text)
            if step is None or (step.what in ("me", "us") and heard.subject not in ("", step.what)):
                if heard.subject and heard.is_so and (place := self._in_a_slot(text, heard)):
                    return place
                break
            if step.what in self._relations and (text[: step.end] not in self._articles or heard.has_am):
                if not heard.is_so and not step.is_so:
                    return None  # 不討厭 is no liking
                if step.what == DECIDE and (timed := self._in_time(text[step.end :].strip(), heard)):
                    return timed
                rest = text[step.end :].strip()
                thing = _NONE.sub("", rest) if step.what == "have" else rest  # not «I love No Frills»
                is_so = step.is_so and heard.is_so and not heard.is_gone and thing == rest
                heard.is_new = heard.is_new or text.startswith(self._begun)
                heard.is_swap = heard.is_swap or text[: step.end] in self._swap
                return self._made(step.what, is_so, thing, heard, text)
            is_denied = not heard.is_so and not heard.is_given_up  # «I never quit»
            if step.what == "over" and (is_denied or heard.is_under_way):
                return None
            self._hear(step, text[: step.end], heard)
            text = text[step.end :].lstrip(" ,")
        if not heard.subject and not heard.is_given_up:
            return None
        if heard.has_am and (found := _AT.match(text)) and self._is_workplace(found["thing"], heard.written):
            said = self._made(WORK, heard.is_so and not heard.is_gone, found["thing"], heard)
            return replace(said, link=AT) if said else None
        is_state = heard.has_am and not (heard.is_new and _GERUND.match(text))  # who is eating meat again does so
        return self._made(BE if is_state else DO, heard.is_so and not heard.is_gone, text, heard)

    def _hear(self, step: _Step, phrase: str, heard: _Heard) -> None:
        if step.what in ("me", "us"):
            heard.subject = step.what
            heard.group = next((phrase.removeprefix(each) for each in self._us if phrase.startswith(each)), "")
        heard.is_given_up = heard.is_given_up or step.what == "over"
        heard.is_so = heard.is_so and step.what not in ("not", "over")
        heard.is_new = heard.is_new or step.what in ("now", "over") or phrase in self._since
        heard.has_am = heard.has_am or phrase in _AM
        heard.is_swap = heard.is_swap or phrase in self._swap
        heard.is_again = heard.is_again or phrase in self._again
        heard.is_under_way = heard.is_under_way or phrase in self._under_way

    def _made(self, relation: str, is_so: bool, thing: str, heard: _Heard, whole: str = "") -> Saying | None:
        if relation == LIVE:
            is_place = self._is_place(thing, heard.written)
            relation, thing = (LIVE, _SINCE.sub("", thing)) if is_place else (DO, whole or thing)
            if is_place and heard.group:  # where our company has moved to is nobody's home
                said = self._made(SLOT, is_so, thing, heard)
                return replace(said, slot=name_of(heard.group), link="" if heard.is_new else "use") if said else None
        if relation == WORK and not self._is_workplace(thing, heard.written):
            relation, thing = DO, whole or thing
        if relation in _GOING and (way := way_to_work(whole or thing)):
            said = self._made(SLOT, heard.is_so, way, heard)
            return replace(said, slot=COMMUTE) if said else None
        thing, when = _parted_when(thing)
        if relation == DO:
            relation, thing = self._done(thing)
        taken = _without_one_of(self._taking, thing) if relation in (LIKE, DO) else thing
        act = thing.removesuffix(taken).strip()
        read = read_thing(taken, self._articles)
        subject = "me" if relation == LIVE else heard.subject or "me"
        slot = purpose_of(thing) if relation == USE else ""
        link = "use" if slot else ""
        told = (heard.more, heard.is_new, when, slot, link, act, heard.is_swap, heard.is_again)
        return Saying(subject, relation, is_so, read, *told) if read else None

    def _done(self, thing: str) -> tuple[str, str]:
        """Relation and thing of what somebody does: who can play the piano plays it, and who does on weekends, too."""
        rest = _without_one_of(self._able, self._without(thing, "adverb") or thing)
        step = self._step(rest)
        left = rest[step.end :].strip() if step else ""
        is_act = step is not None and step.what in self._relations and step.is_so and step.what not in _STATES
        return (step.what, left) if step and is_act and left else (DO, _without_one_of(self._able, thing))

    def _parted(self, text: str) -> tuple[str, str]:
        """The statement, and what follows."""
        cut = _CUT.search(text)
        while cut and self._is_lead(text[: cut.start()].strip()):
            text = text[cut.end() :]
            cut = _CUT.search(text)
        named = self._more.search(text, 4)
        at = min((each.start() for each in (cut, named) if each), default=len(text))
        return text[:at].strip(), text[at:].strip(" ,;.!。~")

    def _is_lead(self, text: str) -> bool:
        step = self._step(text)
        return not text or (step is not None and step.what in ("lead", "now") and step.end == len(text))

    def _without_tail(self, text: str, heard: _Heard) -> str:
        while True:
            text = text.rstrip(" ,.!。~?")
            is_gone = next((each for each in self._gone if _ends(text, each)), "")
            ended = is_gone or next((each for each in self._tail if _ends(text, each)), "")
            if not ended:
                return text
            heard.is_gone, heard.is_new = (
                heard.is_gone or bool(is_gone),
                heard.is_new or ended in (is_gone, *self._since),
            )
            heard.is_again = heard.is_again or ended in self._again
            text = text[: -len(ended)]

    def _without(self, text: str, *names: str) -> str:
        """The text without what is in these lists at its beginning."""
        while (step := self._step(text)) and step.what in names:
            text = text[step.end :].lstrip(" ,")
        return text

    def _step(self, text: str) -> _Step | None:
        """The longest listed phrase with which a text begins."""
        for end in range(min(self._longest, len(text)), 0, -1):
            if (known := self._known.get(text[:end])) and not _is_inside(text, end):
                return _Step(known[0], end, known[1])
        return None

    def holds_a_relation(self, text: str) -> bool:
        while text:
            step = self._step(text)
            if step and step.what in self._relations and text[: step.end] not in self._articles:
                return True
            text = text[step.end if step else 1 :].lstrip()
        return False

    def _is_place(self, thing: str, written: str) -> bool:
        """Whether somebody lives in a town or country of this name; not in peace, a flat, or a house by the sea."""
        if (
            not thing
            or _NO_PLACE.match(thing)
            or _STREET.search(thing)
            or _MEANWHILE.search(thing)
            or _is_somebody_there(thing)
            or any(_holds(thing, each) for each in self._dwelling)
        ):
            return False
        if _is_known_place(thing):
            return True
        kinds = categories.load().categories_of(thing).keys()
        if kinds & (_WORKPLACES | _NO_WORKPLACES | _SOFTWARE) or thing.split()[0] in load_lexicon().names:
            return False  # 旅館, Vim; not Cork or 淡水
        if _HAN.match(thing):
            return len(thing) <= MAX_PLACE_CHARS and not _INSIDE.search(thing)
        return re.search(rf"(?<![A-Za-z]){re.escape(thing.split()[0].capitalize())}", written) is not None

    def _is_workplace(self, thing: str, written: str) -> bool:
        """Whether somebody works for or at what has this name; not at home, at night, for fun, at a desk."""
        name = _without_one_of(self._articles, thing)
        kinds = categories.load().categories_of(name).keys()
        if kinds & _WORKPLACES or not name:
            return True
        if kinds & _NO_WORKPLACES or _AT_HOME.match(name):
            return False
        if name != thing or not name.isascii() or written.islower():
            return True
        shown = re.search(rf"(?<!\w){re.escape(name.split()[0])}", written, re.IGNORECASE)
        return shown is not None and shown[0][0].isupper()


@cache
def _reader() -> _Reader:
    return _Reader(load_lexicon())


_GOING = (DO, "drive", "ride")
_STATES = (LIKE, BE, LIVE, WORK, DECIDE)
"""Relations that are nothing that one does."""
_GERUND = re.compile(r"^[a-z]{2,}ing(?![a-z])")
_AM = ("am", "have been", "been", "am no longer")
_HAN = re.compile("[\u3400-\u9fff]")
_NONE = re.compile(r"^no (?=[a-z])")
_CUT = re.compile(r"[,;:—(]|[.!?。](?=\s|$)|。| - ")
_ONE_OF = "[一两这那哪某][个间栋套座幢层处家]"
"""With a classifier stands what kind of dwelling it is, as behind an English article: 一個眷村, 這間青旅. No town is
counted: 一中街, 三重, 两江新区."""
_NO_PLACE = re.compile(rf"^(?:[得了过满院着在]|{_ONE_OF}|(?:a|an|the|my|our|this|that|with|alone|near)\b)")
_SINCE = re.compile(
    r" (?:last (?:week|month|year|spring|summer|autumn|fall|winter)|(?:a|a few|two|three|some|[0-9]+) "
    r"(?:week|month|year)s? ago|in (?:19|20)[0-9]{2})$"
)
_STREET = re.compile(r" (?:street|road|avenue|lane|boulevard|square)(?![a-z])|[路街巷弄]$")
"""Who moves to a street may stay in the town."""
_MEANWHILE = re.compile(
    "(?:的?时候|(?<!长)时(?![间代尚区空刻常])|期间|的?那(?:几|[一二两三四五六])?(?:年|个?月|阵子?|段(?:时间|日子)))(?=.)"
)
"""Says when something else was so: 住在台中的時候學會騎車 tells of riding, and of no home of now."""
_INSIDE = re.compile("..里[面头]?$")
"""Who is in something (眷村裡) names no town, unless it is a known one (馬德里) or a short one (八里)."""
_CONTRACTED = (
    (re.compile(r"\b(?:can't|cant|cannot)\b"), "can not"),
    (re.compile(r"\b(?:won't|wont)\b"), "will not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|would|could|should|have|has|had)n'?t\b"), r"\1 not"),
    (re.compile(r"\bi'?m\b"), "i am"),
    (re.compile(r"\b(i|we)'?ve\b"), r"\1 have"),
    (re.compile(r"\bwe're\b"), "we are"),
)
_MOST = "最喜欢的|最爱的|最喜爱的|最喜欢吃的|最爱吃的|最喜欢喝的|最爱喝的|最常听的"
_MY = rf"(?:my |我(?:现在|目前|最近)?的?)(?:all time |absolute )?(?:favou?rite|{_MOST})"
_FAVOURITE = re.compile(
    rf"^(?:{_MY} ?(?P<slot>[^,]{{0,24}}?) ?(?:is|are|就?是|一直是|(?:改|换|变)[成为]了?) ?(?P<thing>.+)"
    rf"|(?P<which>.+?) ?(?:is|are|就?是) ?{_MY} ?(?P<also>[^,]{{1,24}}))$"
)
_ABOUT = re.compile(r"^(?:对于?|关于) ?|(?:很|非常|超级?|特别|真的|完全|一直|都|蛮|最|毫)+$")
_WORK = re.compile(r"^(?:在|于)(?P<thing>.{1,20}?)(?:工作|上班|任职|任教|教书|服务)$")
_WORK_AS = re.compile(r"^(?:在|于)(?P<at>.{1,12}?)(?:做|当|担任|任)(?P<thing>.{1,12})$")
_AT = re.compile(r"^(?:at|with) (?P<thing>[^,]{2,24})$")
_LATELY = "(?:上个?(?:月|周|星期|礼拜)|去年|今年|年初|前阵子)"
_MOVED = re.compile(
    rf"^(?:(?:{_LATELY}(?:从.{{1,12}}?)?|从.{{1,12}}?)搬(?:到|去|来|家到)了?"
    r"|(?P<to>moved from .{1,24}? to ))(?P<thing>.{1,30})$"
)
_IN = re.compile(r"^在(?P<thing>[^,]{1,8})$")
_WORKPLACES, _NO_WORKPLACES = {"place"}, {"weekday", "furniture", "room", "family"}
_SOFTWARE = {"programming_tool", "programming_language", "office_software", "software"}
_AT_HOME = re.compile(r"(?:home|my own|myself)(?![a-z])|家里?$")
_DWELLS = re.compile(
    r"^(?:live|am living|rent|share) (?P<how>(?:alone|with|an?|in an?|on) ?[a-z' ]{0,24}?) ?in (?P<thing>[^,]{2,24}?)"
    r"(?: with .{2,20})?$"
)
_HAN_DAY = r"(?:早上|晚上|上午|下午|中午|傍晚)"
_HAN_SPAN = r"(?:天|日|晚|早|年|周[一二三四五六日天末]?|个?(?:星期|礼拜)[一二三四五六日天]?|个?月)"
_PART = "(?:morning|evening|night|afternoon)"
_WHEN = re.compile(
    rf"每隔?[一二两三四五六七八九十几]?{_HAN_SPAN}{_HAN_DAY}?|天天|(?:每个?)?周末|平日|(?:周|星期|礼拜)[一二三四五六日天]{_HAN_DAY}?|{_HAN_DAY}"
    rf"|(?<![a-z])(?:a|per) (?:day|night|week|month|year)$"
    rf"|睡前|下班后|饭后|(?<![a-z])(?:(?:every|each) (?:single |other )?[a-z]+(?: {_PART})?|in the {_PART}s?|at night"
    rf"|on (?:[a-z]+days?|weekends?|weekdays?)(?: {_PART}s?)?|after (?:work|dinner|lunch)|before bed|daily|weekly"
    r"|(?:in|during|over) (?:the |every )?(?:summer|winter|spring|autumn|fall)s?|during the week|at weekends"
    r"|(?:for )?(?:half|part|most|some|the rest) (?:of )?(?:the|each|every) (?:year|month|week|time)"
    r"|in my (?:dreams?|mind|head|imagination)"
    r"|(?:once|twice|[a-z0-9]+ times) (?:a|per) [a-z]+)(?![a-z])"
)


def _is_known_place(text: str) -> bool:
    held = categories.load().categories_of(text)
    return any(level in held for level in LEVELS)


def _is_somebody_there(place: str) -> bool:
    """Whether what follows «live in» is a person who lives there: 住在台中的阿姨會騎車."""
    return any("的" in place[:start] and "family" in kinds for start, _, _, kinds in categories.load().named(place))


def _parted_when(thing: str) -> tuple[str, frozenset[str]]:
    """A thing without the words for its time, and these; all of it if nothing else is in it."""
    rest = " ".join(_WHEN.sub(" ", thing).split())
    found = frozenset(each[0].rstrip("s") for each in _WHEN.finditer(thing))
    return (rest, found) if rest else (thing, frozenset())


def plain(text: str) -> str:
    """The text with contractions written out."""
    text = text.replace("’", "'")
    for pattern, long in _CONTRACTED:
        text = pattern.sub(long, text)
    return text


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    han = [each for each in phrases if not each.isascii()]
    latin = [each for each in phrases if each.isascii()]
    return re.compile(rf"{'|'.join(han)}|(?<![a-z])(?:{'|'.join(latin)})(?![a-z])")


def _without_one_of(phrases: list[str], text: str) -> str:
    """The text without one of the phrases at its beginning, if something is left."""
    found = next((each for each in phrases if text.startswith(each) and not _is_inside(text, len(each))), "")
    return text[len(found) :].strip() or text


def _is_inside(text: str, at: int) -> bool:
    """Whether a place is within a Latin word."""
    return len(text[at - 1 : at + 1]) > 1 and all(char.isascii() and char.isalnum() for char in text[at - 1 : at + 1])


def _ends(text: str, phrase: str) -> bool:
    return len(text) > len(phrase) and text.endswith(phrase) and not _is_inside(text, len(text) - len(phrase))


def _holds(text: str, phrase: str) -> bool:
    at = text.find(phrase)
    is_latin = phrase.isascii()
    return at >= 0 and not (is_latin and (_is_inside(text, at) or _is_inside(text, at + len(phrase))))
