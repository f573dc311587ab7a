"""What stands in one place of a person's life or work, where another takes its place: the database of «our database is
MySQL», 前端 of 前端改成 React 了, the way to work; and of what kind of thing something is the favourite."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.things import Thing, read_thing
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily

COMMUTE = "commute"
_LINK = (
    r"(?:(?P<change>{sayings.slot.changed})|(?P<use>{sayings.slot.uses})|(?P<be>{sayings.slot.is})) ?"
    r"(?P<thing>.+?)(?:{sayings.slot.behind})?(?P<since>了?)$"
)
_OWN = r"^(?P<whose>my|our) (?P<slot>[a-z][a-z \-]{1,24}?) " + _LINK
_BARE = r"^(?:the )?(?P<slot>[a-z][a-z \-]{1,24}?|[^我你您他她它,a-z]{1,6}?) ?" + _LINK
_HAN = r"^的?(?P<slot>[^我你您他她它不没,]{1,8}?) ?" + _LINK
_MADE = (
    r"^(?:have )?{sayings.slot.made} (?P<whose>the|our|my) (?P<slot>[a-z \-]{2,24}?)"
    r"(?: from .{2,20}?)? {sayings.slot.into} (?P<thing>.+)$"
)
_TIMED = (
    r"^(?:(?P<whose>my|our|the|我们?)(?: |的))?(?P<slot>[a-z][a-z \-]{1,24}?|[^我你您他她它不没把被,a-z]{1,8}?) ?"
    r"(?:(?P<set>{sayings.time.set})|(?P<moved>{sayings.time.moved}))(?: |(?<=[^a-z])) ?(?P<thing>.+?)了?$"
)
_TIME_OF = "time of"
_TIMES = frozenset(("weekday", "month"))
_IS_TIME = lazily(
    r"[0-9]|[一二两三四五六七八九十][月点号]|[月年季]底|^(?:early |mid |late )?(?:march|may)$|^next [a-z]+$"
)
_WHOSE = {"my": "me", "我": "me", "our": "us"}
_SORT_OF = lazily(r"^(?:kind|sort|type|style)s? of ")
_WHICH = lazily(r" (?:for|to|in|from|on|with|of|at|when|as|by|that|which|after|before|during|while)(?![a-z])")
_NO_PART = ("main", "primary", "主要", "主力", "的")
"""Says nothing of which place it is."""
_PURPOSE = lazily(
    r" (?:for|as (?:an?|the|our|my)) (?P<for>[a-z][a-z \-]{1,24})$"
    r"|(?<=[a-z0-9 ])(?:来)?(?:做|当作?|作为?)(?:我们的?)? ?(?P<han>[^,我做当]{1,8})$"
)
_TO_WORK = lazily(
    r"^(?P<way>.{1,24}?) ?(?:to (?:work|school|the office|campus|uni)|去?(?:上班|上学|通勤))$"
    r"|^commute (?:by|on) (?P<by>.+)$"
)


class Slot(NamedTuple):
    """A place, and what is in it: whose it is (`me`, `us`), how the two are linked (`use`, `be`, empty where the text
    says that it has not been so before: `is_new`)."""

    subject: str
    name: str
    link: str
    thing: str

    @property
    def is_new(self) -> bool:
        return not self.link


def read_slot(text: str, subject: str = "") -> Slot | None:
    """What a plain text says is in a place: of one of which a `subject` has been read, the rest; else of one that names
    the place as the person's, or says that it has another thing."""
    lexicon = load_lexicon()
    if made := lexicon.shape(_MADE).match(text):
        return _slot(subject or _WHOSE.get(made["whose"], "us"), made["slot"], "", made["thing"])
    own = None if subject else lexicon.shape(_OWN).match(text)
    found = own or lexicon.shape(_HAN if subject else _BARE).match(text)
    if not found or (not subject and not own and not found["change"]):
        return None
    link = "be" if found["be"] else "use" if found["use"] else ""
    return _slot(subject or (_WHOSE[own["whose"]] if own else "us"), found["slot"], link, found["thing"])


def read_timed(text: str) -> Slot | None:
    """When something is to be, in a plain text: the day for which the launch is set, or to which it has moved."""
    found = load_lexicon().shape(_TIMED).match(text)
    thing = read_thing(found["thing"], ()) if found else None
    if not found or not thing or not (thing.kinds & _TIMES or _IS_TIME.search(found["thing"])):
        return None
    slot = _slot(_WHOSE.get(found["whose"] or "", "us"), found["slot"], "be" if found["set"] else "", found["thing"])
    return slot._replace(name=time_of(slot.name)) if slot else None


def time_of(name: str) -> str:
    """The place of the time of something."""
    return f"{_TIME_OF} {name}"


def of_time(slot: str) -> str:
    """That whose time is in a place; empty for any other place."""
    return slot.removeprefix(f"{_TIME_OF} ") if slot.startswith(f"{_TIME_OF} ") else ""


def way_to_work(text: str) -> str:
    """How somebody goes to work, in a plain text behind «I»; empty where it does not say."""
    found = _TO_WORK.match(text)
    return (found["by"] or found["way"] or "") if found else ""


def purpose_of(used: str) -> str:
    """The place in which something stands that is used for it: the cache of «Redis for caching», of Redis 做快取; empty
    where no purpose is said."""
    found = _PURPOSE.search(used)
    return name_of(found["for"] or found["han"]) if found else ""


def places_of(used: Thing) -> frozenset[str]:
    """The places of work in which a tool may stand alone, of which its purpose, if one is said, is none other: chat, of
    飞书 and of 飞书沟通. None of a tool that may stand beside others."""
    lexicon = load_lexicon()
    whole = _standing().get(" ".join(used.names), frozenset()) if len(used.words) > 1 else frozenset()
    alone = frozenset(place for name in used.words[0] for place in _standing().get(name, ()))
    behind = " ".join(min(word) for word in used.words[1:])
    is_for = {place for place in alone if lexicon.words(f"{place}.named").search(behind)}
    return whole | (frozenset(is_for) if behind else alone)


@cache
def _standing() -> dict[str, frozenset[str]]:
    """By the name of a tool, as a thing has it, the places in which it may stand."""
    lexicon = load_lexicon()
    tables = ("gates.place", "sayings.place")
    places = [f"{table}.{place}" for table in tables for place in lexicon.sections(table)]
    things = ((place, read_thing(fold(each), ())) for place in places for each in lexicon.listed(f"{place}.one_of"))
    named = [(name, place) for place, thing in things if thing for name in thing.names]
    return {name: frozenset(place for other, place in named if other == name) for name, _ in named}


def kind_of_favourite(slot: str) -> str:
    """Of what kind of thing something is the favourite, the same in either language, with what says which of that kind:
    fruit for baking is not fruit, and 配咖啡的點心 no 點心."""
    slot = _SORT_OF.sub("", slot.removesuffix("的"))
    cut = _WHICH.search(slot)
    head, behind = (slot[: cut.start()], slot[cut.start() :]) if cut else (slot, "")
    before, _, head = head.rpartition("的")
    words = [head] if not head.isascii() else head.split()
    for at in reversed(range(len(words))):
        known = categories.load()
        named = known.meanings(" ".join(words[at:])).named
        if named and not named & known.meanings(" ".join(words[at:-1])).named:  # a tea shop is no tea
            return " ".join([min(named), *sorted([*words[:at], before, behind.strip()])]).strip()
    return slot


def _slot(subject: str, name: str, link: str, thing: str) -> Slot | None:
    known_as = "" if load_lexicon().words("sayings.slot.no_name").match(name) else name_of(name)
    return Slot(subject, known_as, link, thing) if known_as else None


def name_of(place: str) -> str:
    """What a place is called, the same for the cache and for caching; empty where nothing names it."""
    named = read_thing(place, _NO_PART)
    return " ".join(sorted(min(word).removeprefix("~").removesuffix("e") for word in named.words)) if named else ""
