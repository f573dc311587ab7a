"""What a request asks for without saying it: «where I live», «my job», 我的寵物; and what answers that."""

from __future__ import annotations

from typing import NamedTuple

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.kinds import LIFE, VEHICLES
from vault_memory.core.memorable.things import is_named_in
from vault_memory.core.memorable.wording import BE, DO, FAVOURITE, LIKE, LIVE, WORK, read_saying
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily

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


class Wanted(NamedTuple):
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


def asked_for(text: str) -> Wanted | None:
    """What a folded text asks for of its person: «where I live», 我住哪裡, «what my job is»; None for any other."""
    if _HOME.match(text):
        return Wanted(frozenset([LIVE]))
    if favourite := favourite_in(text):
        return favourite
    if named := _NAME_OF.match(text):
        of = named["of"] or named["late"] or named["han"]
        return Wanted(frozenset([NAME]), _kinds_of(of), of=of)
    if own := _OF_OWN.match(text):
        return of_kind(own["kind"])
    if fronted := _FRONTED.match(text):
        return _asked_in_front(fronted["kind"] or "", fronted["act"] or "", is_being=fronted["am"] is not None)
    said = read_saying(text)
    name = min(said.thing.words[-1]) if said else ""
    if said is None or not _IN_PLACE.search(name):
        return None
    rest = _IN_PLACE.sub("", name).removesuffix("的")
    if said.relation == DO and rest in ("叫", "叫名字"):
        return Wanted(frozenset([NAME]))
    if said.relation == BE and rest in ("", "做"):
        return of_kind("工作")
    wanted = _asked_of(said.relation, rest, said.act)
    return _or_favourite(wanted) if wanted and _MOST.search(text) else wanted


def asks_in_place(text: str) -> bool:
    """Whether a folded text of its person has a word that asks in the place of what is asked for: 我最怕什麼."""
    return text.startswith("我") and _IN_PLACE.search(text) is not None


def is_named(text: str) -> bool:
    """Whether a folded text names something of its person's, as it may beside memory: not «where I live», 我住哪裡."""
    return _NAMED.match(text) is not None and _IN_PLACE.search(text) is None


def favourite_in(text: str) -> Wanted | None:
    """The favourite that a folded text names by its kind: «my favourite film», 我最喜歡的電影; None where none."""
    asked = _FAVOURITE_ASKED.match(text)
    said = read_saying(f"{asked['own']} is Where" if text.isascii() else f"{asked['own']}是某") if asked else None
    is_one = said is not None and said.relation == FAVOURITE and said.slot
    return Wanted(frozenset([FAVOURITE]), slot=said.slot) if said is not None and is_one else None


def _or_favourite(wanted: Wanted) -> Wanted:
    return wanted._replace(relations=wanted.relations | {FAVOURITE}) if LIKE in wanted.relations else wanted


def _asked_in_front(kind: str, act: str, *, is_being: bool) -> Wanted | None:
    """What an English question asks for: of which kind, and what is done with it."""
    if is_being and act in ("", "called"):
        return Wanted(frozenset([NAME])) if act else None
    if _DOES.match(act):
        return of_kind(kind or "job")
    person = "I'm" if is_being else "I"
    placed = (read_saying(f"{person} {act}{link} Where") for link in ("", " in", " at"))
    said = next((said for said in placed if said and said.relation not in _NOT_ASKED), None)
    return _asked_of(said.relation, kind, said.act) if said else None


def _asked_of(relation: str, kind: str, act: str = "") -> Wanted | None:
    """What is asked for by what the person has to do with a thing, and of which kind that is ("": any); what is done
    with it may tell the kind: 我喜歡喝什麼."""
    is_kind = bool(kind) and of_kind(kind) is not None
    done = act or kind  # 聽什麼
    if relation == LIKE and not is_kind and (kinds := categories.load().meanings(done).asked):
        return Wanted(frozenset([relation]), kinds)
    if not kind:
        return Wanted(frozenset([relation])) if relation in _ANY_OF else None
    wanted = of_kind(kind)
    if wanted is None or relation == DO:
        return None
    is_all = LIFE.get(relation, wanted.kinds | {""}) <= wanted.kinds  # what one rides is a vehicle, known or not
    return (
        wanted
        if relation == BE
        else Wanted(frozenset([relation]), frozenset() if is_all else wanted.kinds, wanted.names)
    )


def of_kind(name: str) -> Wanted | None:
    """What a person may mean by a kind of things of their own: by their job what they are and where they work, by their
    pets what they have; None for a word that is the name of no kind."""
    if _NAMES.match(name):
        return Wanted(frozenset([NAME]))
    if _HOME.match(name):
        return Wanted(frozenset([LIVE]))
    kinds = _kinds_of(name)
    if not kinds:
        relations = _driven(name)
        return Wanted(relations, frozenset(["vehicle_brand"])) if relations else None
    kinds |= VEHICLES if kinds & VEHICLES else frozenset()
    life = {relation for relation, held in LIFE.items() if held & kinds} | ({"have"} if "family" in kinds else set())
    if "job" in kinds:
        life |= {WORK}
    if not life & _BEING:
        return Wanted(frozenset(), kinds)
    return Wanted(frozenset(life | (set() if LIVE in life else {DO})), kinds, _there(name))


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
    return of_kind(name) is not None


def _is_another_job(content: str) -> bool:
    """Whether a text says that its person has gone from one company to another: names, of no town or technology."""
    moved = _CHANGED_JOB.match(content)
    if moved is None or read_saying(content) is None:
        return False
    known, technologies = categories.load(), load_lexicon().names
    is_named = all(name[0].isupper() for name in moved.groups())
    return is_named and not any(known.categories_of(name) or fold(name) in technologies for name in moved.groups())
