"""Of which memories it is meant that something is to be forgotten (`Forget`): those that say it, in other words too, or
name it; those that answer it («where I live»), and those of a kind («my job», 我的寵物)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memorable.kinds import LIFE, VEHICLES
from vault_memory.core.memorable.parts import Cut, may_say_more, statements, without
from vault_memory.core.memorable.saying import is_all_about, is_near, says_as_much
from vault_memory.core.memorable.things import is_capital_otherwise, is_in_longer_name, is_named_in
from vault_memory.core.memorable.wording import BE, DO, FAVOURITE, LIKE, LIVE, WORK, read_saying, says_something
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
        part = without(content, self.fits, named)
        return part if part and part.fit >= whole else Cut(content, "", whole, self._is_less_than(content, whole))

    @property
    def found_by(self) -> list[str]:
        """Texts with which the memories that may be meant share a word, or what they are about."""
        wanted = self._wanted
        about = [self.what if self.is_said else f"I like {self.what}"]
        return [self.what, *about, *(wanted.found_by if wanted else ())]

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
            return fit > 0 and (may_say_more(content) or (said is not None and says_something(said.more)))
        is_more = fit == 1 or may_say_more(content)
        return self.is_said and fit > 0 and is_more and not is_carried(content, self.what)

    @cached_property
    def _parts(self) -> list[str]:
        """The statements that are named, where there are several."""
        found = statements(self.what) if self.is_said else []
        return found if len(found) > 1 else []

    @cached_property
    def _wanted(self) -> _Wanted | None:
        if self.is_said:
            return asked_for(self.what)
        return _of_kind(self.what) if self.is_own else None

    def _fits(self, content: str) -> int:
        if self._wanted and (self.is_said or self._wanted.fits(content)):
            return int(self._wanted.fits(content))
        if self.is_said:
            if same(content, self.what):
                return 2
            if is_in_longer_name(self.what, content):
                return 0
            asked = read_saying(self.what)
            is_read = (asked is not None and asked.relation == LIVE) or (
                is_statement(self.what) and is_statement(content)
            )
            return says_as_much(content, self.what) or int(not is_read and is_carried(self.what, content))
        if self.is_had:
            return int(_has(content, self.what, is_liked=not self.is_own))
        if self.is_sure:
            return int(is_named_in(self.what, content) and not is_in_longer_name(self.what, content))
        return 2 if is_all_about(content, self.what) else 0

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
    r"(?:(?:in|at|on|over) (?:the|an?|my|our) |near |with |by |next to |outside |close to |alone|abroad)"
    r"|^(?:我|我们)(?:现在|目前|一个人|都)?住(?!院)"
)
"""Says where its person lives, though no town."""
_NAMES = lazily(r"^(?:(?:full |first |last )?name|名字|姓名)$")
_FRONTED = lazily(
    r"^(?:where|what|which|who)(?: (?:kinds?|sorts?|types?) of)?(?: (?P<kind>[a-z ]{2,30}?))?"
    r" (?:i|we)(?P<am>'m| am)?(?: (?P<act>[a-z ]+))?$"
)
"""«Where I live», «what instrument I play»."""
_OF_OWN = lazily("^(?:what|which|who) (?:my|our) (?P<kind>[a-z ]{2,30}) (?:is|are)$")
_IN_PLACE = lazily("什么|哪(?:里|儿|一?[个种家间些])?|何处|谁|啥")
"""Asks in its place: 我住哪, 我養什麼寵物."""
_DOES = lazily("^do(?: for (?:a living|work))?$")
_ANY_OF = (LIVE, WORK, "drive", "ride", "learn", "play", "speak")
"""What a person has to do with few things: all of them may be meant. Of what one likes, has or uses a kind is named."""
_BEING = frozenset((BE, LIVE, "have", "drive", "ride", "use"))


class _Wanted(NamedTuple):
    """What is meant by what it is about: what the person has to do with a thing (`relations`, none: anything) of these
    `kinds` (none: any); of these `names` alone, where there are any: an editor is one of the tools."""

    relations: frozenset[str]
    kinds: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @property
    def found_by(self) -> list[str]:
        """Texts by which an index finds what it fits."""
        members = sorted(self.names) or categories.load().words_of(self.kinds)
        places = {LIVE: "I live in Where", WORK: "I work at Where"}
        dwelt = ["I live near with 我住在 我住"] if self.relations == {LIVE} else []
        return [
            *filter(None, [" ".join(members)]),
            *dwelt,
            *(places[each] for each in (LIVE, WORK) if each in self.relations),
        ]

    def fits(self, content: str) -> bool:
        """Whether a text says it."""
        if self.relations == {NAME}:
            called = _IS_CALLED.match(fold(content))
            return called is not None and not categories.load().categories_of(content[called.end() :])  # 我叫外賣
        if self.relations == {LIVE} and _LIVES.match(fold(content)):
            return True
        said = read_saying(content)
        if said is None or (self.relations and said.relation not in self.relations):
            return False
        if said.relation == WORK or not self.kinds:
            return said.is_so
        words = said.thing.words[:1] if said.relation == DO else said.thing.words  # «I teach maths», «I met a doctor»
        if self.names:
            return any(name in self.names for word in words for name in word)
        known = categories.load()
        return any(self.kinds & known.categories_of(name).keys() for word in words for name in word)


def asked_for(text: str) -> _Wanted | None:
    """What a folded text asks for of its person: «where I live», 我住哪裡, «what my job is»; None for any other."""
    if _HOME.match(text):
        return _Wanted(frozenset([LIVE]))
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
    return _asked_of(said.relation, rest)


def _asked_in_front(kind: str, act: str, *, is_being: bool) -> _Wanted | None:
    """What an English question asks for: of which kind, and what is done with it."""
    if is_being:
        return _Wanted(frozenset([NAME])) if act == "called" else None
    if _DOES.match(act):
        return _of_kind(kind or "job")
    placed = (read_saying(f"I {act}{link} Where") for link in ("", " in", " at"))
    relation = next((said.relation for said in placed if said and said.relation != DO), DO)
    return _asked_of(relation, kind)


def _asked_of(relation: str, kind: str) -> _Wanted | None:
    """What is asked for by what the person has to do with a thing, and of which kind that is ("": any)."""
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
    kinds = categories.load().kinds_named(name)
    if not kinds:
        return None
    kinds |= VEHICLES if kinds & VEHICLES else frozenset()
    life = {relation for relation, held in LIFE.items() if held & kinds} | ({"have"} if "family" in kinds else set())
    if "job" in kinds:
        life |= {WORK}
    if not life & _BEING:
        return _Wanted(frozenset(), kinds)
    return _Wanted(frozenset(life | (set() if LIVE in life else {DO})), kinds, _there(name))


def _there(name: str) -> frozenset[str]:
    """What may be in the place of work that a text is the name of: Vim and others of «editor»."""
    lexicon = load_lexicon()
    places = lexicon.sections("gates.place")
    named = (place for place in places if fold(name) in lexicon.listed(f"gates.place.{place}.named"))
    return frozenset(fold(each) for place in named for each in lexicon.listed(f"gates.place.{place}.one_of"))


def is_kind(name: str) -> bool:
    """Whether a folded text is what a person may call a kind of things of their own: job, 寵物, 地址."""
    return _of_kind(name) is not None


def _has(content: str, thing: str, *, is_liked: bool) -> bool:
    """Whether a text says that its person has to do with just this thing, and, unless `is_liked`, not only that he or
    she likes it."""
    said = read_saying(content)
    is_about = said is not None and (is_liked or (said.is_so and said.relation not in (LIKE, FAVOURITE)))
    return said is not None and is_about and any(thing in word for word in said.thing.words)


def is_statement(text: str) -> bool:
    """Whether a text says what its person has to do with a thing, in words that are known."""
    said = read_saying(text)
    return said is not None and said.relation != DO
