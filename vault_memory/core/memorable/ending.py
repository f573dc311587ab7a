"""What ends something that was said: «I quit smoking» ends «I smoke a pack a day», and who leaves Emacs no longer uses
Emacs for everything; and what a text says that its person has left behind: Vim of «I switched from Vim to Emacs», 本田
of 我把本田賣了. Less may be ended by more, never more by less: «I don't use it for Go» ends no use for Python."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.things import Thing, read_thing
from vault_memory.core.memorable.wording import BE, DO, LIKE, Saying, read_saying
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily

_NUMBER = r"(?:[一二两三四五六七八九十几半]|\d+)"
_HAN_MEASURE = lazily(rf"^{_NUMBER}(?:大|小)?[包杯瓶罐根支口次趟遍盘碗份条只个台辆节堂场局圈公里小时分钟]+")
_COUNT = lazily(
    r"^(?:\d[\da-z]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|several|some)$"
    r"|^[一二两三四五六七八九十几半]+(?:年|个月|天|次|小时)"
)
_BEHIND = lazily(r"^(?:for|at|in|on|to|with|from|by|of|about|as|near|before|after|during|all|most|whenever|when)$")
_WITHIN = ("in", "on", "with", "at", "from", "by", "to", "into")
_HAN = lazily("^[\u3400-\u9fff]")
_DOER = lazily(r"([a-z]{2,})(?:er|or)$")
_VERB = lazily("^[a-z]{2,}$")
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


def kinds_of(said: Saying) -> set[str]:
    """Of the kinds that some people do without those of which a thing is."""
    held = set(said.thing.kinds)
    for thing in ended_with(said):
        held.update(thing.kinds, *(_named(name) for word in thing.words for name in word))
    return held & {*load_lexicon().sections("sayings.without")}


def kinds_left(new: str) -> list[str]:
    """The kinds that a text says its person does without: by what he or she is, or as what is given up."""
    lexicon, text, said = load_lexicon(), fold(new), read_saying(new)
    is_alone = said is not None and len(said.thing.words) == 1 and said.relation in (BE, DO) and not said.when
    if said is None or not said.is_new or said.subject != "me" or not is_alone:
        return []
    kinds = lexicon.sections("sayings.without")
    if said.is_so:
        return [kind for kind in kinds if lexicon.words(f"sayings.without.{kind}.states").search(text)]
    named = {kind for word in said.thing.words for name in word for kind in _named(name)}
    return [kind for kind in kinds if said.relation == DO and kind in named]


def _named(name: str) -> frozenset[str]:
    return categories.load().meanings(name).named


def _parts(said: Saying) -> Iterator[Thing]:
    kinds = said.thing.kinds
    yield said.thing
    bare = without_count(said.thing.words)
    cut = next((at for at in range(1, len(bare)) if _is_behind(bare[at - 1], bare[at], said.relation)), len(bare))
    for words in (bare, bare[:cut]):
        if words:
            yield Thing(words, kinds)
            yield from _as_act(words) if said.relation == DO else ()
    verb = said.act if not kinds else ""
    if said.relation == BE and bare and (doer := _DOER.match(min(bare[-1]))):
        verb = doer[1]
    yield from _as_act((frozenset([verb]),)) if verb else ()


def _as_act(words: tuple[frozenset[str], ...]) -> Iterator[Thing]:
    """What is done as its giving up names it: smoking, wearing lenses; and what it is done to: 檳榔 of 嚼檳榔."""
    first = min(words[0])
    if _VERB.match(first) and (act := read_thing(f"to {first}", ())):
        yield Thing((*act.words, *words[1:]), frozenset())
    elif _HAN.match(first) and len(first) >= MIN_ACT_CHARS and len(words) == 1:
        yield Thing((frozenset([first[1:]]),), frozenset())


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
_END = r"(?:(?: ?{sayings.left.since})*(?:[了啦吧. ]*)(?=$|[,;:。!?\n]| (?:and|but|because|for|as|to|onto)(?![a-z])))"
_FORMS = (
    r"{sayings.left.from}" + _THING + r"{sayings.left.to}",
    r"{sayings.left.drops}" + _THING + _END,
    r"(?:^|[,;。!?]|我们?|咱们?|已经) ?(?:的|把|将|从)?" + _THING + r"{sayings.left.dropped}" + _END,
)
_INSTEAD = r"(?:{sayings.left.instead}|(?<=, )not|(?<=,)not)" + _THING + _END
_OF = lazily(r"^(?:(?:my|our|the)(?![a-z])|我们?的|那(?:台|只|辆|个|家)|(?:old|position|job) (?:at |as )?)+ ?")
_WORK = lazily(r"(?:的?(?:那份|那个)?(?:工作|职位|职务)| job)$")
_ARTICLES = ("a", "an", "the", "some", "any", "my", "our", "old")


def left_behind(text: str, *, is_new: bool) -> list[Thing]:
    """The things that a text says are no more what its person has, does or uses. `is_new`: it says that something else
    is so from now on; then what it is instead of is left behind, too."""
    lexicon, folded = load_lexicon(), fold(text).replace("’", "'")
    forms = (*_FORMS, _INSTEAD) if is_new else _FORMS
    return [
        thing
        for form in forms
        for found in lexicon.shape(form).finditer(folded)
        if not lexicon.words("sayings.left.unreal").search(folded[: found.start()])
        and (thing := read_thing(_WORK.sub("", _OF.sub("", found["thing"].strip())), _ARTICLES))
    ]


def begins_with_leaving(text: str) -> bool:
    """Whether a folded text says at its beginning what is left behind, and not who leaves it: 不用 MySQL 了."""
    return any(load_lexicon().shape(form).match(text) for form in _FORMS[1:])


def is_beside(text: str) -> bool:
    """Whether a text says that something is so beside what was before."""
    return load_lexicon().words("sayings.left.beside").search(fold(text)) is not None
