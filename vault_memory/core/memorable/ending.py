"""What ends something that was said: «I quit smoking» ends «I smoke a pack a day», and who leaves Emacs no longer uses
Emacs for everything; and what a text says that its person has left behind: Vim of «I switched from Vim to Emacs», 本田
of 我把本田賣了. Less may be ended by more, never more by less: «I don't use it for Go» ends no use for Python."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.order import with_particles_beside
from vault_memory.core.memorable.slots import COMMUTE
from vault_memory.core.memorable.things import Thing, is_named_in, read_thing
from vault_memory.core.memorable.wording import BE, DO, LIKE, Saying, read_saying
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily

_NUMBER = r"(?:[一二两三四五六七八九十几半]|\d+)"
_HAN_MEASURE = lazily(rf"^{_NUMBER}(?:大|小)?[包杯瓶罐根支口次趟遍盘碗份条只个台辆节堂场局圈公里小时分钟]+")
_HAN_TIMES = lazily(rf"^(?P<verb>[^\W\da-z_])[过了]?{_NUMBER}[次趟遍场局圈回](?P<object>[^\W\da-z_]+)$")
"""How often, inside of what is done: 跳两次舞."""
_COUNT = lazily(
    r"^(?:\d[\da-z]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|several|some)$"
    r"|^[一二两三四五六七八九十几半]+(?:年|个月|天|次|小时)"
)
_BEHIND = lazily(r"^(?:for|at|in|on|to|with|from|by|of|about|as|near|before|after|during|all|most|whenever|when)$")
_WITHIN = ("in", "on", "with", "at", "from", "by", "to", "into")
_HAN = lazily("^[\u3400-\u9fff]")
_DOER = lazily(r"([a-z]{2,})(?:er|or)$")
_VERB = lazily("^[a-z]{2,}$")
_SINCE = (
    r"(?: ?(?:in [0-9]{4}|{sayings.left.since}))+[.! ]*$"
    r"|[一二两三四五六七八九十几半0-9]+多?(?:年|个月|天)(?=多?了?[.! ]*$)"
    r"|(?<=^我)(?:去年|前年|今年|年初|前阵子|上个?月|[一二两三四五六七八九十几0-9]{1,3}(?:年|个月)前)(?:就)?"
)
_DISHES = {"dish", "food", "breakfast", "snack"}
MIN_ACT_CHARS = 3


def ended_with(said: Saying) -> list[Thing]:
    """The things whose end is the end of what was said: the thing, without how much, how and what for; the act."""
    return list(dict.fromkeys(_parts(said)))


def means_of(said: Saying) -> list[Thing]:
    """With what, or where, it is done: who leaves that does it no longer there. Oracle of «we keep data in Oracle»."""
    words = said.thing.words
    at = next((at for at in reversed(range(1, len(words) - 1)) if words[at] & {*_WITHIN}), None)
    return [Thing(words[at + 1 :], frozenset())] if at else []


def is_without(new: str, old: Saying) -> bool:
    """Whether a new text says that its person does without such things: «I'm a vegetarian now», of one who eats."""
    return old.is_so and old.relation in (LIKE, DO) and bool(kinds_of(old) & {*kinds_left(new)})


def is_with_again(new: str, old: str) -> bool:
    """Whether a new text says that its person does no longer without what an old one says is done without: «I eat meat
    again», 我不吃素了. Who is no longer a vegan may still be a vegetarian, and who no longer eats no meat eats some."""
    without, said = kinds_without(old), read_saying(new)
    if not without or said is None or said.subject != "me" or not said.is_new or said.when:
        return False
    if said.is_so:
        held = (kinds_of(said) if _is_all_taken(said) else set()) | _kinds_of_act(said)
        return said.relation in (LIKE, DO) and bool(held & without) and not kinds_without(new)
    denied = _kinds_of_state(new)
    return said.relation in (BE, DO) and bool(denied) and denied <= without


def _is_all_taken(said: Saying) -> bool:
    """Whether just a thing is taken: not «craving meat», 煮肉."""
    word = said.thing.words[0]
    is_named = bool(said.act or said.thing.kinds) or any(name.isascii() for name in word)
    return len(said.thing.words) == 1 and (is_named or said.relation == LIKE)


def kinds_of(said: Saying) -> set[str]:
    """Of the kinds that some people do without those of which a thing is; a dish is of what its name begins with, the
    beef of 牛肉麵."""
    kinds = {*load_lexicon().sections("sayings.without")}
    held = set(said.thing.kinds)
    for thing in ended_with(said):
        held.update(thing.kinds, *(_named(name) for word in thing.words for name in word))
    if not held & kinds and held & _DISHES:
        held.update(*(_begins_with(name) for word in said.thing.words for name in word))
    return held & kinds


def kinds_left(new: str) -> set[str]:
    """The kinds that a text says its person does without from now on: by what he or she is, or as what is given up."""
    said, whole = _of_its_person(new), read_saying(new)
    if said is None or whole is None or not (said.is_new or whole.is_new):
        return set()
    return kinds_without(new)


def kinds_without(text: str) -> set[str]:
    """The kinds that a text says its person does without, by what he or she is, or as what is not taken."""
    said = _of_its_person(text)
    if said is None:
        return set()
    if said.is_so:
        return _kinds_of_state(text)
    named = {kind for word in said.thing.words for name in word for kind in _named(name)}
    denied = (named & {*load_lexicon().sections("sayings.without")}) | _kinds_of_act(said)
    return denied if said.relation == DO else set()


def kinds_told(text: str) -> set[str]:
    """The kinds of which a text may end or begin a life without: by these an index finds what it contradicts."""
    said = _of_its_person(text)
    return kinds_without(text) | _kinds_of_state(text) | _kinds_of_act(said) if said else set()


def _kinds_of_state(text: str) -> set[str]:
    lexicon, folded = load_lexicon(), fold(text)
    kinds = lexicon.sections("sayings.without")
    return {kind for kind in kinds if lexicon.words(f"sayings.without.{kind}.states").search(folded)}


def _kinds_of_act(said: Saying) -> set[str]:
    """Of what somebody takes by doing just that: «I quit drinking» leaves alcohol."""
    lexicon = load_lexicon()
    lists = {kind: f"sayings.without.{kind}" for kind in lexicon.sections("sayings.without")}
    named = ((kind, path) for kind, path in lists.items() if "acts" in lexicon.sections(path))
    acts = ((kind, act) for kind, path in named for act in lexicon.listed(f"{path}.acts"))
    things = ((kind, read_thing(act, ())) for kind, act in acts)
    return {kind for kind, thing in things if thing and thing.is_same(said.thing)}


def _of_its_person(text: str) -> Saying | None:
    """What a text says its person is or does, with nothing beside it but since when: «I went vegan last year»."""
    said = read_saying(load_lexicon().shape(_SINCE).sub("", fold(text)))
    is_one = said is not None and (len(said.thing.words) == 1 or _is_state(said.thing))
    is_alone = said is not None and is_one and said.relation in (BE, DO) and not said.when
    return said if said is not None and is_alone and said.subject == "me" else None


def _is_state(thing: Thing) -> bool:
    """Whether a thing is what somebody is who does without something, though a known thing is in its name: 素食者."""
    lexicon, name = load_lexicon(), "".join(min(word) for word in thing.words)
    return any(name in lexicon.listed(f"sayings.without.{kind}.states") for kind in lexicon.sections("sayings.without"))


def _begins_with(name: str) -> frozenset[str]:
    """The categories of the longest thing with which the name of a dish begins."""
    known = categories.load()
    parts = (name[:at] for at in reversed(range(2, len(name))) if not name.isascii() or name[at] == " ")
    return next((held for part in parts if (held := frozenset(known.categories_of(part)))), frozenset())


def _named(name: str) -> frozenset[str]:
    return categories.load().meanings(name).named


def _parts(said: Saying) -> Iterator[Thing]:
    kinds = said.thing.kinds
    yield said.thing
    if said.relation == LIKE and len(said.thing.words) > 1 and said.thing.words[0] & acts():
        yield Thing(said.thing.words[1:], kinds)  # who plays it no more is not known for liking to
    if said.slot == COMMUTE or said.relation in ("drive", "ride"):  # what one goes by stands at the end: an old Skoda
        yield from (Thing(said.thing.words[at:], kinds) for at in range(1, len(said.thing.words)))
    bare = without_count(said.thing.words)
    cut = next((at for at in range(1, len(bare)) if _is_behind(bare[at - 1], bare[at], said.relation)), len(bare))
    for words in (bare, bare[:cut]):
        if words:
            yield Thing(words, kinds)
            yield from _as_act(words) if said.relation == DO else ()
    yield from _without_times(bare)
    verb = said.act if not kinds else ""
    if said.relation == BE and bare and (doer := _DOER.match(min(bare[-1]))):
        verb = doer[1]
    yield from _as_act((frozenset([verb]),)) if verb else ()


@cache
def acts() -> frozenset[str]:
    """The words that say what is done with a thing that is liked: to play it, to watch it."""
    lexicon = load_lexicon()
    listed = (*lexicon.listed("sayings.relation.play.yes"), *lexicon.listed("sayings.frame.act"))
    things = (read_thing(each, ()) for each in listed)
    return frozenset(name for thing in things if thing and len(thing.words) == 1 for name in thing.words[0])


def _as_act(words: tuple[frozenset[str], ...]) -> Iterator[Thing]:
    """What is done as its giving up names it: smoking, wearing lenses; and what it is done to: 檳榔 of 嚼檳榔."""
    first = min(words[0])
    if _VERB.match(first) and (act := read_thing(f"to {first}", ())):
        yield Thing((*act.words, *words[1:]), frozenset())
    elif _HAN.match(first) and len(first) >= MIN_ACT_CHARS and len(words) == 1:
        yield Thing((frozenset([first[1:]]),), frozenset())


def _without_times(words: tuple[frozenset[str], ...]) -> Iterator[Thing]:
    """What is done, without how often: 跳舞 of 跳两次舞."""
    times = _HAN_TIMES.match(min(words[0])) if len(words) == 1 else None
    act = read_thing(times["verb"] + times["object"], ()) if times else None
    if act:
        yield act


def without_count(words: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    """Words without how much of it: two cups of, 一包."""
    if words and any(_COUNT.match(name) for name in words[0]):
        words = words[3:] if len(words) > 3 and "of" in words[2] else words[1:]
    if not words:
        return ()
    first = frozenset(_HAN_MEASURE.sub("", name) for name in words[0])
    return (first - {""}, *words[1:]) if any(first) else words[1:]


def _is_behind(before: frozenset[str], word: frozenset[str], relation: str) -> bool:
    """Whether a word begins what is said beside the thing: for …, a number; in Chinese, what something is used for
    (Jenkins 做 CI)."""
    if any(_BEHIND.match(name) or _COUNT.match(name) for name in word):
        return True
    is_act = relation == "use" or any(name.isascii() for name in before)
    return is_act and all(_HAN.match(name) for name in word)


# --- what is left behind ---------------------------------------------------------------------------------------------

_THING = r" ?(?P<thing>[^,;:。!?\n我]{1,28}?) ?"
_SPAN = (
    r" (?:(?:an?|the|one|two|three|four|five|six|few|couple|of|several|some|half|whole|next|[0-9]+) ){0,3}"
    r"(?:days?|weeks?|months?|years?|while|bit|now|today|lent)(?![a-z])"
)
"""Behind «for»: it is given up for so long, and not for good."""
_END = (
    r"(?:(?: ?{sayings.left.since})*(?:[了啦吧. ]*)"
    rf"(?:(?=$|[,;:。!?\n]| (?:and|but|because|for(?!{_SPAN})|as|to|onto)(?![a-z]))|(?<=[.] )))"
)
_DROPPED = r"(?:{sayings.left.all_of_it} ?)?{sayings.left.dropped}"
_FORMS = (
    r"{sayings.left.from}" + _THING + r"{sayings.left.to}" + rf"(?!(?<=for){_SPAN})",
    r"{sayings.left.drops}" + _THING + _END,
    r"(?:^|[,;。!?]|我们?|咱们?|已经) ?(?:的|把|将|从)?"
    + _THING
    + r"(?:{sayings.left.all_of_it} ?)?{sayings.left.dropped}"
    + _END,
)
_INSTEAD = r"(?:{sayings.left.instead}|(?<=, )not|(?<=,)not)" + _THING + _END
_GOVERNED = (
    r"(?:(?<!had )(?<!managed )(?<!decided )(?<!able )(?<!forced )(?<!chose )(?<!chosen )(?<![a-z])to|'d"
    r"|(?<![a-z])(?:can|can't|cannot|could|couldn't|must))(?: (?:{sayings.frame.adverb}|{sayings.frame.now}))* ?$"
)
"""Before a verb: it says what somebody promises, wishes or is able to do, and not what is done; who managed to has."""
_GETS = (
    r"^(?:[ ,;.。!]|(?:and|then|but|so|now|i|we)(?![a-z])|我们?|就|又|再|也|现在|后来|最近|然后)*+{sayings.left.gets} ?"
)
_UNTIL = lazily("^[^,;.。!?]{1,28}")
_LIKE_IT = lazily(
    r"^[^,;.。!?]*?(?:(?<![a-z])(?:ones?|another)(?![a-z])"
    r"|(?:[^,;是]的|[一两几][台辆把架只条双支部个张])了?(?=$|[ ,;.。!?]))"
)
_OF = lazily(r"^(?:(?:all|both|my|our|the)(?![a-z])|我们?的|那(?:台|只|辆|个|家)|(?:old|position|job) (?:at |as )?)+ ?")
_WORK = lazily(r"(?:的?(?:那份|那个)?(?:工作|职位|职务)| job)$")
_ARTICLES = ("a", "an", "the", "some", "any", "my", "our", "old")


class Left(NamedTuple):
    """A thing that is left behind. `is_sold`: it is only owned no more: who has sold the piano may still play."""

    thing: Thing
    is_sold: bool


def left_behind(text: str, *, is_new: bool) -> list[Left]:
    """The things that a text says are no more what its person has, does or uses, without what was sold to get another
    of the kind. `is_new`: it says that something else is so from now on; then what it is instead of is left behind,
    too."""
    lexicon, folded = load_lexicon(), with_particles_beside(fold(text).replace("’", "'"))
    forms = (*_FORMS, _INSTEAD) if is_new else _FORMS
    sold = lexicon.words("sayings.left.sold")
    return [
        Left(thing, sold.search(found[0]) is not None)
        for form in forms
        for found in lexicon.shape(form).finditer(folded)
        if not is_unreal(folded[: found.start()])
        and (thing := read_thing(_WORK.sub("", _OF.sub("", found["thing"].strip())), _ARTICLES))
        and not _is_had_again(thing, folded[found.end() :], is_named=form == _FORMS[0])
    ]


def _is_had_again(thing: Thing, rest: str, *, is_named: bool) -> bool:
    """Whether a text goes on with another of a thing: «and bought a new one», 買了一把更好的. `is_named`: it begins
    with what is there instead."""
    got = rest if is_named else begins_with_getting(rest)
    had = _UNTIL.match(got)
    another = read_thing(had[0].strip(), _ARTICLES) if had else None
    return another is not None and (_LIKE_IT.search(got) is not None or another.is_kind_of(thing))


def begins_with_getting(text: str) -> str:
    """What a folded text says at its beginning that somebody has got; empty where it does not."""
    found = load_lexicon().shape(_GETS).match(text)
    return text[found.end() :] if found else ""


def is_unreal(before: str) -> bool:
    """Whether the folded words before a verb say that it may come to that, or never did: «I'd love to», 我打算."""
    lexicon = load_lexicon()
    return bool(lexicon.words("sayings.left.unreal").search(before) or lexicon.shape(_GOVERNED).search(before))


_SECOND = (
    r"(?:and |but |而且|但是?|不过)?(?:{sayings.left.second}|[^我,]{1,12}?(?:那边我?|那里我?)?{sayings.left.remains})"
)


def begins_with_leaving(text: str) -> bool:
    """Whether a folded text says at its beginning what is left behind, and not who leaves it: 不用 MySQL 了."""
    return any(load_lexicon().shape(form).match(text) for form in _FORMS[1:])


def is_second(text: str, name: str = "") -> bool:
    """Whether a clause says that the one before is so beside what was before: «too», «still at Nokia though»,
    台積電也還在做; with a `name`, beside just that, or without naming anything."""
    folded = fold(text).strip(" .!。")
    found = load_lexicon().shape(_SECOND).match(folded)
    return found is not None and (not name or found.end() == len(folded) or is_named_in(name, folded))


def is_beside(text: str) -> bool:
    """Whether a text says that something is so beside what was before."""
    return load_lexicon().words("sayings.left.beside").search(fold(text)) is not None
