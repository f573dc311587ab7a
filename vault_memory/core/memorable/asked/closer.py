"""What says the same of a person as some words, but more closely: of a sort of the thing, or how much of it."""

from __future__ import annotations

from dataclasses import replace

from vault_memory.core.memorable.asked.wanted import Wanted, of_kind
from vault_memory.core.memorable.ending import ended_with
from vault_memory.core.memorable.things import Thing
from vault_memory.core.memorable.wording import DO, FAVOURITE, LIKE, LIVE, Saying, read_saying
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily

_NUMBER = "(?<![每第])(?:[一二两三四五六七八九十百千几半]|[0-9]+|许多|很多|好多)+[多来]?"
_MEASURE = (
    "(?:[个只条匹头位名张把辆架台间家支根颗粒片块包盒袋箱杯瓶罐碗盘壶锅缸盆盏桌株朵串份顿餐套双对副件本册首篇幅集部出场局节堂门种样次趟遍回圈天晚周年岁分]"
    "|个?(?:月|礼拜|星期)|小时|分钟|公里|公尺|公斤|学期)"
)
_AMOUNT = lazily(f"[了过着]?{_NUMBER}{_MEASURE}[多半]?的?(?=[\u3400-\u9fffa-z]|$)")
"""How much, how many or how long, between a verb and its thing, or behind them: 抽一包菸, 打了三年的網球."""
_VERB_AGAIN = lazily("^(?P<first>.*(?P<verb>[\u3400-\u9fff]).{1,8})(?P=verb)$")
"""Says its verb again, for how long it is done: 學鋼琴學了十年."""
_GERUND = lazily("^(?P<who>i|we) (?P<stem>[a-z]{2,})ing(?= )")
_HAS_DONE = lazily("(?<=^我)有(?=[\u3400-\u9fff]{2})")
"""Says no more than that it is so, before what is done: 我有喝咖啡."""
_GOES = frozenset(("上", "到", "跑"))
"""Verbs of going to a place, beside those that are no word of it: 上健身房."""
_OF_ITS_OWN = (LIKE, FAVOURITE, LIVE)
"""Who likes a sort of a thing may not like all of it; a town is no sort of country."""


def says_closer(content: str, what: str, *, is_act: bool = False) -> bool:
    """Whether a text says what some words say of their person, but more closely: of a sort of thing (a corgi is a dog),
    or how much of it and how long (抽一包菸 of 抽菸). `is_act`: the words only name what is done, or a thing."""
    asked, folded = _statement(what), fold(content)
    bare = _AMOUNT.sub("", folded.rstrip(" .!。"))
    again = _VERB_AGAIN.match(bare)
    said = (read_saying(each) for each in dict.fromkeys([content, again["first"] if again else bare]))
    return asked is not None and any(each is not None and _is_closer(each, asked, is_act=is_act) for each in said)


def _is_closer(said: Saying, asked: Saying, *, is_act: bool) -> bool:
    is_then = all(any(day in other for other in said.when) for day in asked.when)
    is_ours = asked.relation == "have" and said.subject == "us"  # our dog is mine, too
    if said.is_so != asked.is_so or not (said.subject == asked.subject or is_ours) or not is_then:
        return False
    if asked.more not in ("", said.more):
        return False
    things = [_bare(each, said.act) for each in (said.thing, *ended_with(said))]
    is_alike = (said.relation, said.act) == (asked.relation, asked.act)
    if is_alike and any(_bare(asked.thing, asked.act).is_same(each) for each in things):
        return True
    kind = None if is_act else _kind_of(asked)
    if kind is None or not said.is_so or said.relation not in kind.relations or said.act != asked.act:
        return False
    known = min((each for each in things if each.kinds), key=lambda each: len(each.words), default=said.thing)
    return bool(kind.kinds & categories.load().categories_of(min(known.words[-1])).keys())


def _statement(what: str) -> Saying | None:
    """What some words say, as «that I speak Welsh» has it: «me speaking Welsh», 我養的貓."""
    gerund = _GERUND.match(what)
    verbs = [gerund["stem"], f"{gerund['stem']}e", gerund["stem"][:-1]] if gerund else []
    told = [read_saying(f"{gerund['who']} {verb}{what[gerund.end() :]}") for verb in verbs] if gerund else []
    done = read_saying(_HAS_DONE.sub("", what)) if _HAS_DONE.search(what) else None
    said = done if done and done.act else next((each for each in told if each and each.relation != DO), None)
    said = said or read_saying(what)
    if said and said.relation != DO and said.thing.words[0] == {"的"} and len(said.thing.words) > 1:
        return replace(said, thing=replace(said.thing, words=said.thing.words[1:]))
    return said


def _kind_of(asked: Saying) -> Wanted | None:
    """The kind whose name is all of the thing of which something is said, and what its person has to do with it: who
    has a car may drive it."""
    if not asked.is_so or asked.relation in _OF_ITS_OWN or len(asked.thing.words) > 1:
        return None
    name = min(asked.thing.words[0])
    wanted = next(filter(None, map(of_kind, (name, *categories.load().spellings_of(name)))), None)
    if wanted is None:
        return None
    used = {"drive", "ride"} if asked.relation == "have" else set[str]()
    relations = {asked.relation} | used
    return wanted._replace(relations=frozenset(relations & wanted.relations if wanted.relations else relations))


def members_of(what: str) -> list[str]:
    """What is of the kind of which some words say something."""
    asked = _statement(what)
    kind = _kind_of(asked) if asked else None
    return categories.load().words_of(kind.kinds) if kind else []


def _bare(thing: Thing, act: str) -> Thing:
    """A thing without how much of it is done, and without going there; of an animal that is eaten its meat, too."""
    words = tuple(word for word in thing.words if not any(map(_AMOUNT.fullmatch, word))) or thing.words
    if len(words) > 1 and words[0] & _GOES and "place" in thing.kinds:
        words = words[1:]
    if act.endswith("吃") and len(words) == 1 and "animal" in thing.kinds:
        words = (words[0] | {f"{name}肉" for name in words[0]},)
    return replace(thing, words=words)
