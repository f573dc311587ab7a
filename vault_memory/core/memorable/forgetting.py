"""Of which memories it is meant that something is to be forgotten (`Forget`): those that say it, in other words too, or
name it; those that answer it («where I live»), and those of a kind («my job», 我的寵物)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.ending import ended_with
from vault_memory.core.memorable.kinds import LIFE, VEHICLES
from vault_memory.core.memorable.parts import Cut, may_say_more, statements, without
from vault_memory.core.memorable.saying import compared, is_all_about, is_near, says_as_much
from vault_memory.core.memorable.things import Thing, is_capital_otherwise, is_in_longer_name, is_named_in
from vault_memory.core.memorable.wording import BE, DO, FAVOURITE, LIKE, LIVE, WORK, Saying, read_saying, says_something
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, is_carried, lazily, same

_WORDS = lazily("[A-Za-z]+")


@dataclass(frozen=True)
class Forget:
    """A request to forget: `what` it names, folded, and in the person's `words`; whether that is a statement about the
    person (`is_said`: «I like tea») or only a subject (coffee); `is_sure`: a memory is meant, and not only a subject
    dropped; `is_had`: only what its person has to do with it (我的狗), since its name is in other words (熱狗); to like
    it counts where it is not named as the person's. `is_own`: it is the person's («my job»). `is_everything`: all that
    is known of the person, which no sentence deletes."""

    what: str
    words: str = ""
    is_said: bool = False
    is_sure: bool = True
    is_everything: bool = False
    is_had: bool = False
    is_own: bool = False

    def fits(self, content: str) -> int:
        """How well a memory with this content is what is to be forgotten: 2 if it says just that, or a part of what is
        named, 1 if it says that and more, or is about it, 0 if it is something else."""
        named = [self, *(replace(self, what=each) for each in self._parts)]
        return 0 if self.is_everything else max(each._fits(content) for each in named)

    def cut(self, content: str) -> Cut:
        """What of a memory with this content goes, and what is left of it: the parts that fit, where others do not.
        Its `fit` is 0 where nothing of it is to be forgotten."""
        whole = 0 if self.is_everything else self.fits(content)
        if self.is_everything or same(content, self.what):
            return Cut(content, "", whole)
        named = [self.what, *self._parts] if self.is_said else []
        part = without(content, self.fits, named, self._is_less_than_part)
        return part if part and part.fit >= whole else Cut(content, "", whole, self._is_less_than(content, whole))

    @property
    def found_by(self) -> list[str]:
        """Texts with which the memories that may be meant share a word, or what they are about."""
        wanted = self._wanted
        about = [self.what if self.is_said else f"I like {self.what}"]
        named = _members_of(self.what) if self.is_said else categories.load().spellings_of(self.what)
        return [*dict.fromkeys([self.what, *about, " ".join(named), *(wanted.found_by if wanted else ())])]

    def is_in_doubt(self, content: str) -> bool:
        """Whether a capital may make something else of what a memory with this content likes: Turkey, not turkey."""
        said = read_saying(self.what if self.is_said else f"i like {self.what}")
        named = _WORDS.findall(self.words)
        is_one = said is not None and said.relation == LIKE and len(said.thing.words) == 1
        return is_one and bool(named) and self.means(content) and is_capital_otherwise(named[-1], content)

    def is_said_in(self, content: str) -> bool:
        """Whether a memory with this content says what is to be forgotten, with more or in another way."""
        said = [content, *statements(content)]
        return any(self.means(each) or (self.is_said and is_near(each, self.what)) for each in said)

    def _is_less_than(self, content: str, fit: int) -> bool:
        """Whether a text that says what is named says something else besides."""
        if self.is_said and self._wanted:  # «where I live» shares no word with what answers it
            said = read_saying(content)
            is_had = said is not None and said.relation == "have" and bool(self._wanted.of)  # a dog, and its name
            return fit > 0 and (is_had or may_say_more(content) or (said is not None and says_something(said.more)))
        is_more = fit == 1 or may_say_more(content)
        return self.is_said and fit > 0 and is_more and not is_carried(content, self.what)

    def _is_less_than_part(self, statement: str, fit: int) -> bool:
        """Whether a part that could not be taken apart any more says something else besides; when and how often that is
        so is nothing else."""
        return may_say_more(statement) and self._is_less_than(statement, fit)

    @cached_property
    def _parts(self) -> list[str]:
        """The statements that are named, where there are several."""
        found = statements(self.what) if self.is_said else []
        return found if len(found) > 1 else []

    @cached_property
    def _wanted(self) -> _Wanted | None:
        if self.is_said:
            return asked_for(self.what)
        return _of_kind(self.what) if self.is_own or self.is_had else None

    def _fits(self, content: str) -> int:
        if self._wanted and (self.is_said or self._wanted.fits(content)):
            return int(self._wanted.fits(content))
        if self.is_said:
            if same(content, self.what) or compared(self.what, content) == "same":
                return 2
            if _says_closer(content, self.what):
                return 1
            if is_in_longer_name(self.what, content):
                return 0
            asked = read_saying(self.what)
            is_read = (asked is not None and asked.relation == LIVE) or (
                is_statement(self.what) and is_statement(content)
            )
            return says_as_much(content, self.what) or int(not is_read and is_carried(self.what, content))
        if _says_closer(content, f"i {self.what}" if self.what.isascii() else f"我{self.what}", is_act=True):
            return 1  # 看電影
        if self.is_had:
            return int(_has(content, self.what, is_liked=not self.is_own))
        if self.is_sure:
            return int(is_named_in(self.what, content) and not is_in_longer_name(self.what, content))
        return 2 if is_all_about(content, self.what) or _is_done_with(content, self.what) else 0

    def means(self, content: str) -> bool:
        """Whether a memory with this content is to be forgotten."""
        return self.fits(content) > 0


NAME = "name"
"""What one is called, beside the relations of `wording`."""
_IS_CALLED = lazily(
    r"^(?:my name|i(?:'m| am) called|(?:please )?call me)(?![a-z])|^(?:请?叫我|我叫|我的名字[是叫]|我名叫)"
)
_HOME = lazily(r"^(?:(?:home )?address|地址|住址|居住地|住处|住所|(?:我|我们)?(?:现在)?住的(?:地方|城市|地址))$")
"""Where one lives, as a matter of its own."""
_LIVES = lazily(
    r"^(?:i|we)(?:'m| am|'re| are)?(?: (?:currently|now|still))* (?:live|living|reside) "
    r"(?:(?:in|at|on|over) (?:[\"'“‘]|(?:the|an?|my|our) )|near |with |by |next to |outside |close to |alone|abroad)"
    r"|^(?:我|我们)(?:现在|目前|一个人|都)?住(?!院)"
)
"""Says where its person lives, though no town."""
_WORKS_AS = lazily(
    r"^(?:i|we)(?:'m| am|'re| are)?(?: (?:currently|now|still))* "
    r"(?:(?:work|working|employed) as|(?:earn|make) (?:my|a) living as) "
    r"|^my (?:job|profession|occupation) is |^我们?的?(?:工作|职业|本业|正职)是"
)
"""Says what its person's job is, though it is in no list."""
_CHANGED_JOB = lazily(
    r"^I(?:'ve| have)?(?: just| recently)? (?:moved|switched|went|transferred|jumped ship) from "
    r"([^,.]+?) to ([^,.]+?)(?: (?:last|this|in) [^,.]+)?[.! ]*$"
)
_NAMES = lazily(r"^(?:(?:full |first |last )?name|名字|姓名)$")
_FRONTED = lazily(
    r"^(?:where|what|which|who)(?: (?:kinds?|sorts?|types?) of)?(?: (?P<kind>[a-z ]{2,30}?))?"
    r" (?:i|we)(?P<am>'m| am)?(?: (?P<act>[a-z ]+))?$"
)
"""«Where I live», «what instrument I play»."""
_OF_OWN = lazily("^(?:what|which|who) (?:my|our) (?P<kind>[a-z ]{2,30}) (?:is|are)$")
_IN_PLACE = lazily("什么|哪(?:里|儿|一?[个种家间些部本首支款道位辆台只条把门项])?|何处|谁|啥")
"""Asks in its place: 我住哪, 我養什麼寵物."""
_DOES = lazily("^do(?: for (?:a living|work))?$")
_NAME_OF = lazily(
    r"^(?:what )?(?:my|our) (?P<of>[a-z ]{2,24}?)(?:'s?)? (?:name|is called|is named)(?: is)?$"
    r"|^(?:what )?the name of (?:my|our) (?P<late>[a-z ]{2,24}?)(?: is)?$"
    r"|^我们?家?的?(?P<han>[^我们的叫]{1,6}?)(?:的?名字(?:[叫是](?:什么|啥))?|叫(?:什么|啥)(?:名字)?)$"
)
"""«My cat's name», 我的貓叫什麼."""
_CALLED_SO = lazily(
    r"^(?:my|our) (?P<thing>[a-z ]{2,24}?)(?:'s name is|'s name's| is called| is named)(?![a-z])"
    r"|^我们?家?的?(?P<han>[^我们的叫]{1,6}?)(?:的名字[是叫]|名字[是叫]|叫)"
)
_GIVEN_NAME = lazily(r"^(?:named|called)(?![a-z])|^(?:名?叫|名字)")
_FAVOURITE_ASKED = lazily(
    r"^(?:what |which |who )?(?P<own>(?:my|our) favou?rites? .{2,30}?"
    r"|我们?最(?:喜欢|爱|喜爱)(?:[吃喝看听玩])?的.{1,12}?)"
    r"(?: is| are|就?是(?:什么|啥|哪.{1,2}|谁))?$"
)
_NAMED = lazily(r"^(?:(?:my|our)(?![a-z])|我们?(?:的|最))")
_MOST = lazily(r"(?<![a-z])(?:the most|most|the best|best)$|^我们?最")
_ANY_OF = (LIVE, WORK, "drive", "ride", "learn", "play", "speak")
"""What a person has to do with few things: all of them may be meant. Of what one likes, has or uses a kind is named."""
_NOT_ASKED = (DO, BE)
"""Relations in which a question is read that asks for no thing."""
_BEING = frozenset((BE, LIVE, "have", "drive", "ride", "use"))


class _Wanted(NamedTuple):
    """What is meant by what it is about: what the person has to do with a thing (`relations`, none: anything) of these
    `kinds` (none: any); of these `names` alone, where there are any: an editor is one of the tools."""

    relations: frozenset[str]
    kinds: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    slot: str = ""
    """Of what it is the favourite."""
    of: str = ""
    """The thing of its person of which only the name is meant."""

    @property
    def found_by(self) -> list[str]:
        """Texts by which an index finds what it fits."""
        members = sorted(self.names) or categories.load().words_of(self.kinds)
        places = {LIVE: "I live in Where", WORK: "I work at Where"}
        dwelt = ["I live near with 我住在 我住"] if self.relations == {LIVE} else []
        favourite = [f"my favourite {self.slot} is Where"] if self.slot else []
        return [
            *filter(None, [" ".join(members), self.of]),
            *dwelt,
            *favourite,
            *(places[each] for each in (LIVE, WORK) if each in self.relations),
            *(("I moved from Where to Where",) if WORK in self.relations else ()),
        ]

    def fits(self, content: str) -> bool:
        """Whether a text says it."""
        if self.of:
            return self._is_named_so(content)
        if self.relations == {NAME}:
            called = _IS_CALLED.match(fold(content))
            return called is not None and not categories.load().categories_of(content[called.end() :])  # 我叫外賣
        if self.relations == {LIVE} and _LIVES.match(fold(content)):
            return True
        if WORK in self.relations and _WORKS_AS.match(fold(content)):
            return True
        if WORK in self.relations and _is_another_job(content):
            return True
        said = read_saying(content)
        if said is None or (self.relations and said.relation not in self.relations):
            return False
        if said.relation == FAVOURITE and self.relations:
            return said.slot in {self.slot, *self.kinds}
        if said.relation == WORK or not self.kinds:
            return said.is_so
        kinds = self.kinds | (VEHICLES if said.relation == "drive" else frozenset())
        words = said.thing.words[:1] if said.relation == DO else said.thing.words  # «I teach maths», «I met a doctor»
        if self.names:
            return any(name in self.names for word in words for name in word)
        known = categories.load()
        return any(kinds & known.categories_of(name).keys() for word in words for name in word)

    def _is_named_so(self, content: str) -> bool:
        """Whether a text says what its person's own thing is called."""
        folded, said = fold(content), read_saying(content)
        called = _CALLED_SO.match(folded)
        if said and said.relation == "have" and _GIVEN_NAME.match(said.more):
            name = " ".join(min(word) for word in said.thing.words)
        else:
            name = (called["thing"] or called["han"] or "") if called else ""
        known = categories.load()
        is_of_kind = bool(self.kinds & known.categories_of(name).keys())
        return bool(name) and (is_of_kind or is_named_in(self.of, name))


def asked_for(text: str) -> _Wanted | None:
    """What a folded text asks for of its person: «where I live», 我住哪裡, «what my job is»; None for any other."""
    if _HOME.match(text):
        return _Wanted(frozenset([LIVE]))
    if favourite := favourite_in(text):
        return favourite
    if named := _NAME_OF.match(text):
        of = named["of"] or named["late"] or named["han"]
        return _Wanted(frozenset([NAME]), _kinds_of(of), of=of)
    if own := _OF_OWN.match(text):
        return _of_kind(own["kind"])
    if fronted := _FRONTED.match(text):
        return _asked_in_front(fronted["kind"] or "", fronted["act"] or "", is_being=fronted["am"] is not None)
    said = read_saying(text)
    name = min(said.thing.words[-1]) if said else ""
    if said is None or not _IN_PLACE.search(name):
        return None
    rest = _IN_PLACE.sub("", name).removesuffix("的")
    if said.relation == DO and rest in ("叫", "叫名字"):
        return _Wanted(frozenset([NAME]))
    if said.relation == BE and rest in ("", "做"):
        return _of_kind("工作")
    wanted = _asked_of(said.relation, rest, said.act)
    return _or_favourite(wanted) if wanted and _MOST.search(text) else wanted


def asks_in_place(text: str) -> bool:
    """Whether a folded text of its person has a word that asks in the place of what is asked for: 我最怕什麼."""
    return text.startswith("我") and _IN_PLACE.search(text) is not None


def is_named(text: str) -> bool:
    """Whether a folded text names something of its person's, as it may beside memory: not «where I live», 我住哪裡."""
    return _NAMED.match(text) is not None and _IN_PLACE.search(text) is None


def favourite_in(text: str) -> _Wanted | None:
    """The favourite that a folded text names by its kind: «my favourite film», 我最喜歡的電影; None where none."""
    asked = _FAVOURITE_ASKED.match(text)
    said = read_saying(f"{asked['own']} is Where" if text.isascii() else f"{asked['own']}是某") if asked else None
    is_one = said is not None and said.relation == FAVOURITE and said.slot
    return _Wanted(frozenset([FAVOURITE]), slot=said.slot) if said is not None and is_one else None


def _or_favourite(wanted: _Wanted) -> _Wanted:
    return wanted._replace(relations=wanted.relations | {FAVOURITE}) if LIKE in wanted.relations else wanted


def _asked_in_front(kind: str, act: str, *, is_being: bool) -> _Wanted | None:
    """What an English question asks for: of which kind, and what is done with it."""
    if is_being and act in ("", "called"):
        return _Wanted(frozenset([NAME])) if act else None
    if _DOES.match(act):
        return _of_kind(kind or "job")
    person = "I'm" if is_being else "I"
    placed = (read_saying(f"{person} {act}{link} Where") for link in ("", " in", " at"))
    said = next((said for said in placed if said and said.relation not in _NOT_ASKED), None)
    return _asked_of(said.relation, kind, said.act) if said else None


def _asked_of(relation: str, kind: str, act: str = "") -> _Wanted | None:
    """What is asked for by what the person has to do with a thing, and of which kind that is ("": any); what is done
    with it may tell the kind: 我喜歡喝什麼."""
    is_kind = bool(kind) and _of_kind(kind) is not None
    done = act or kind  # 聽什麼
    if relation == LIKE and not is_kind and (kinds := categories.load().meanings(done).asked):
        return _Wanted(frozenset([relation]), kinds)
    if not kind:
        return _Wanted(frozenset([relation])) if relation in _ANY_OF else None
    wanted = _of_kind(kind)
    if wanted is None or relation == DO:
        return None
    is_all = LIFE.get(relation, wanted.kinds | {""}) <= wanted.kinds  # what one rides is a vehicle, known or not
    return (
        wanted
        if relation == BE
        else _Wanted(frozenset([relation]), frozenset() if is_all else wanted.kinds, wanted.names)
    )


def _of_kind(name: str) -> _Wanted | None:
    """What a person may mean by a kind of things of their own: by their job what they are and where they work, by their
    pets what they have; None for a word that is the name of no kind."""
    if _NAMES.match(name):
        return _Wanted(frozenset([NAME]))
    if _HOME.match(name):
        return _Wanted(frozenset([LIVE]))
    kinds = _kinds_of(name)
    if not kinds:
        relations = _driven(name)
        return _Wanted(relations, frozenset(["vehicle_brand"])) if relations else None
    kinds |= VEHICLES if kinds & VEHICLES else frozenset()
    life = {relation for relation, held in LIFE.items() if held & kinds} | ({"have"} if "family" in kinds else set())
    if "job" in kinds:
        life |= {WORK}
    if not life & _BEING:
        return _Wanted(frozenset(), kinds)
    return _Wanted(frozenset(life | (set() if LIVE in life else {DO})), kinds, _there(name))


def _kinds_of(name: str) -> frozenset[str]:
    """The categories that a text is a name of, or that have the name of the thing that it names: a corgi is a dog."""
    known = categories.load()
    return known.kinds_named(name) or known.kinds_like(name)


def _driven(name: str) -> frozenset[str]:
    """What a person has to do with what a text names, if that is driven or ridden: who says what it is («my car is a
    Mazda») says so. None for anything else."""
    said = read_saying(f"my {name} is Where" if name.isascii() else f"我的{name}是某")
    relation = said.relation if said else ""
    return frozenset({"drive": ("drive", "have"), "ride": ("ride",)}.get(relation, ()))


def _there(name: str) -> frozenset[str]:
    """What may be in the place of work that a text is the name of: Vim and others of «editor»."""
    lexicon = load_lexicon()
    places = lexicon.sections("gates.place")
    named = (place for place in places if fold(name) in lexicon.listed(f"gates.place.{place}.named"))
    return frozenset(fold(each) for place in named for each in lexicon.listed(f"gates.place.{place}.one_of"))


def is_kind(name: str) -> bool:
    """Whether a folded text is what a person may call a kind of things of their own: job, 寵物, 地址."""
    return _of_kind(name) is not None


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


def _says_closer(content: str, what: str, *, is_act: bool = False) -> bool:
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


def _kind_of(asked: Saying) -> _Wanted | None:
    """The kind whose name is all of the thing of which something is said, and what its person has to do with it: who
    has a car may drive it."""
    if not asked.is_so or asked.relation in _OF_ITS_OWN or len(asked.thing.words) > 1:
        return None
    name = min(asked.thing.words[0])
    wanted = next(filter(None, map(_of_kind, (name, *categories.load().spellings_of(name)))), None)
    if wanted is None:
        return None
    used = {"drive", "ride"} if asked.relation == "have" else set[str]()
    relations = {asked.relation} | used
    return wanted._replace(relations=frozenset(relations & wanted.relations if wanted.relations else relations))


def _members_of(what: str) -> list[str]:
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


def _has(content: str, thing: str, *, is_liked: bool) -> bool:
    """Whether a text says that its person has to do with just this thing, and, unless `is_liked`, not only that he or
    she likes it."""
    said = read_saying(content)
    is_about = said is not None and (is_liked or (said.is_so and said.relation not in (LIKE, FAVOURITE)))
    return said is not None and is_about and any(thing in word for word in said.thing.words)


def _is_done_with(content: str, subject: str) -> bool:
    """Whether all that a text says is what its person does with a thing: 收集郵票."""
    said, of = read_saying(content), read_saying(f"i like {subject}")
    if said is None or of is None or said.relation != DO or len(said.thing.words) < 2:
        return False
    return replace(said.thing, words=said.thing.words[1:]).is_same(of.thing)


def _is_another_job(content: str) -> bool:
    """Whether a text says that its person has gone from one company to another: names, of no town or technology."""
    moved = _CHANGED_JOB.match(content)
    if moved is None or read_saying(content) is None:
        return False
    known, technologies = categories.load(), load_lexicon().names
    is_named = all(name[0].isupper() for name in moved.groups())
    return is_named and not any(known.categories_of(name) or fold(name) in technologies for name in moved.groups())


def is_statement(text: str) -> bool:
    """Whether a text says what its person has to do with a thing, in words that are known."""
    said = read_saying(text)
    return said is not None and said.relation != DO
