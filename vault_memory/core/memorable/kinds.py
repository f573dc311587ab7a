"""Kinds: which kind of memory a clause states, if any. The words are data (`lexicon/memorable.toml`).

A kind has phrases that need the person before them, with nothing but adverbs between (`verbs`), phrases that count
wherever they stand (`whole`), and phrases that may begin a clause without «I» (`bare`).
"""

from __future__ import annotations

import re
from typing import Literal

from vault_memory.core.extraction import Clause, Lexicon, speaker
from vault_memory.core.memorable.ending import begins_with_leaving, kinds_left
from vault_memory.core.memorable.order import is_whole, usual_order
from vault_memory.core.memorable.saying import change_in, is_corrected, is_timed
from vault_memory.core.memorable.slots import COMMUTE
from vault_memory.core.memorable.things import Thing
from vault_memory.core.memorable.wording import DO, LIKE, SLOT, read_saying
from vault_memory.core.memories import categories
from vault_memory.core.text import lazily

Kind = Literal["preference", "fact", "decision", "lesson"]

_PERSON = r"(?<![给叫让帮替对跟比问把被当劝骂催醒在]){memorable.own.subject}"
"""«I» or 我, to whom nothing is done."""
_ADVERBS = r"(?:[ ,]*(?:{memorable.own.adverb}))*"
_SUBJECT = _PERSON + _ADVERBS + r" ?$"
"""Before a verb: the person, and adverbs."""
_ELIDED = r"^(?!不?用|[和与跟])" + _ADVERBS + r" ?$"
"""The same without the person, who is the subject of the clause before or, in Chinese, understood."""
_OPENING = r"^(?:[\s,:~\-]|{memorable.own.leads}|{subjects.matter.polite})*"
_BEING = r"(?:{memorable.fact.being})[^,]{0,24}?{memorable.fact.roles}"
_HAVING = r"(?:{memorable.fact.having})[^,]{0,24}?{memorable.fact.things}"
_BELONGING = r"(?:{memorable.fact.things}|{memorable.fact.belongings})(?:'s)?(?: [a-z]{1,14}){0,2}(?:的[^,我]{1,6}?)?"
_MINE = r"{memorable.fact.mine} ?(?P<which>[a-z\- ]{0,20}?|[^,我a-z]{0,6}?)" + _BELONGING + r" ?{memorable.fact.states}"
_STATEMENT = r"^{memorable.own.subject}(?:[ ,]*(?:{memorable.own.adverb}))*? ?{memorable.statement.verbs}"
_ACTIVITY_TEXT = """
    language programming_language instrument sport martial_art dance hobby art exercise school_subject game
"""
_ACTIVITIES = frozenset(_ACTIVITY_TEXT.split())
VEHICLES = frozenset(("vehicle", "vehicle_brand"))
LIFE = {
    "drive": VEHICLES,
    "ride": VEHICLES,
    "have": frozenset(("pet", "dog", "cat", "instrument", "vehicle_brand")),
    "learn": _ACTIVITIES,
    "play": _ACTIVITIES,
    "speak": frozenset(("language",)),
    "be": frozenset(("job",)),
    "use": frozenset(("programming_tool", "programming_language", "office_software", "software", "device")),
    "live": frozenset(("city", "province", "country")),
}
"""What a person has to do with a thing of such a category is a fact of life."""
_DIET_TEXT = "drink tea alcohol breakfast food dish meat seafood fruit vegetable snack dessert spice staple"
_DIET = frozenset(_DIET_TEXT.split())
MAX_THING_WORDS, MAX_HAN_CHARS = 4, 8
_LATIN_END = lazily("[a-z0-9']$")
_HAN = lazily("[\u3400-\u9fff]")
_PERSON_DOES = lazily(r"^.*?[我咱]们?[^我咱,]+(?<![跟和与对给])[我咱]")
_ATTRIBUTE = lazily(r"^[^,的]{1,3}的(?!是|[吗呢啊呀啦吧哦喔]*$)")
_ANOTHER = lazily("[你您他她它]")


def opening(text: str, lexicon: Lexicon) -> int:
    """How many characters of a clause open it and say nothing of its matter: «btw», 老實說."""
    found = lexicon.shape(_OPENING).match(text)
    return found.end() if found else 0


def kind_of(clause: Clause, goes_on: bool, lexicon: Lexicon) -> Kind | None:
    """The kind of memory that a clause states; a lesson counts as a decision.

    `goes_on`: the clause before states one, and its subject carries over.
    """
    said, body = _body(clause, lexicon)
    is_mine = _is_of_mine(body, lexicon)

    def says(name: str) -> bool:
        return _says(clause, name, lexicon)

    if not _is_told(clause, said, body, is_mine, lexicon):
        return None
    is_passing, was = says("own.passing"), says("own.past")
    is_of_chat = says("own.yours") and not is_lesson(clause.text, lexicon)  # «let's go with the code you posted»
    if not (was or is_of_chat or says("decision.small")) and _states("decision", body, goes_on, lexicon):
        is_for_good = says("decision.whole") or lexicon.words("memorable.decision.bare").match(body)
        return "decision" if is_for_good or not is_passing else None
    if clause.is_once or says("own.yours") or says("own.deictic"):
        return None
    if is_timed(body) and (not was) and _is_stated(said):
        return "decision"
    if is_passing:
        return None
    if not clause.is_past and _states("preference", body, goes_on, lexicon):
        return "preference"
    if (clause.is_past or was) and not says("fact.life"):
        return _of_one_without(clause, body)
    opens = clause.start == 0 or goes_on
    if is_mine or _is_fact(body, goes_on, lexicon) or (opens and not clause.is_past and _is_statement(body, lexicon)):
        return "fact"
    of_life = _of_life(body, lexicon) if clause.is_first_person and not clause.is_past else None
    return of_life or _of_one_without(clause, body)


def _is_stated(said: str) -> bool:
    """Whether a clause tells that something is set or has moved; 會議改到三點 may ask for it."""
    return said.isascii() or said.rstrip(" .!").endswith("了") or not change_in(said)


def _of_one_without(clause: Clause, body: str) -> Kind | None:
    """The kind of a clause that says what its person does without from now on: «I went vegan last year»."""
    return "fact" if clause.is_first_person and kinds_left(body) else None


def change_of(clause: Clause, following: Clause | None, lexicon: Lexicon) -> Kind | None:
    """The kind of memories whose place a clause may take that is none itself: 我把本田賣了, «I no longer like wine»; it
    may need the `following` one to say so."""
    said, body = _body(clause, lexicon)
    is_told = _is_told(clause, said, body, False, lexicon) and not _says(clause, "own.passing", lexicon)
    if not is_told or clause.is_once or not (clause.is_first_person or _elides_me(said)):
        return None
    is_wrong = following is not None and not following.asks_to_know and is_corrected(said, following.text)
    return change_in(said) or ("fact" if is_wrong else None)


def _elides_me(said: str) -> bool:
    """Whether a clause says a change and leaves out whose: 前端改成 React 了, 不用 MySQL 了, 退休後就不打羽球了."""
    read = read_saying(said)
    is_over = read is not None and read.is_new and not read.is_so and not said.isascii()
    return begins_with_leaving(said) or is_over or (read is not None and read.relation == SLOT)


def _is_told(clause: Clause, said: str, body: str, is_mine: bool, lexicon: Lexicon) -> bool:
    """Whether a clause tells something of its person, as it is."""
    if body != said and speaker(body, lexicon) == "others":
        return False
    is_unreal = clause.is_hypothetical and not _says(clause, "own.granted", lexicon)
    asks = clause.asks_to_know and not _says(clause, "own.embedded", lexicon)
    is_odd = is_unreal or asks or clause.is_sarcastic or _says(clause, "own.trouble", lexicon)
    return not is_odd and not _is_of_others(clause, said, is_mine, lexicon)


def _says(clause: Clause, name: str, lexicon: Lexicon) -> bool:
    return lexicon.words(f"memorable.{name}").search(clause.text) is not None


def stands_alone(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether a clause that states something can be understood without the one before, or says that the next one is
    its matter."""
    return announces(clause.text, lexicon) or is_whole(_body(clause, lexicon)[1])


def _body(clause: Clause, lexicon: Lexicon) -> tuple[str, str]:
    """The clause without what opens it, as it is said and in the usual order of its words."""
    said = clause.text[opening(clause.text, lexicon) :]
    return said, usual_order(said)


def announces(text: str, lexicon: Lexicon) -> bool:
    """Whether a clause only announces a decision or lesson, which the next one holds: «lesson learned: …»."""
    words = lexicon.words
    is_listed = any(words(f"memorable.decision.{name}").search(text) for name in ("announces", "labels"))
    return is_listed or words("memorable.decision.recounts").match(text) is not None


def is_matter(text: str, announced: str, lexicon: Lexicon, *, is_behind_colon: bool) -> bool:
    """Whether a clause may be what the one before has announced: of option B and of an experience what stands behind a
    colon, and of the latter only what is to be done. «Option B: Stripe», 經驗：部署前先備份, not 經驗：五年."""
    if lexicon.words("memorable.decision.labels").search(announced):
        return is_behind_colon
    if lexicon.words("memorable.decision.recounts").match(announced):
        return is_behind_colon and lexicon.words("memorable.decision.advises").search(text) is not None
    return True


def is_lesson(text: str, lexicon: Lexicon) -> bool:
    """Whether what somebody has decided for good was learned: «never again», 教訓."""
    return lexicon.words("memorable.decision.lesson").search(text) is not None


def _is_of_others(clause: Clause, body: str, is_mine: bool, lexicon: Lexicon) -> bool:
    """Whether somebody else is the subject. «Honestly» and 老實說, which open a clause, are nobody."""
    if not clause.is_about_others or is_mine or lexicon.words("memorable.own.together").search(clause.text):
        return False
    return len(body) == len(clause.text) or speaker(body, lexicon) != "me"


def _is_of_mine(body: str, lexicon: Lexicon) -> bool:
    """Whether a clause says what a thing of the person's is: «our backend is …», 我的吉他是 …"""
    if not lexicon.words("memorable.fact.mine").match(body):  # before the shape is compiled
        return False
    found = lexicon.shape(_MINE).match(body)
    return bool(
        found and not lexicon.words("words.speaker.others").search(found["which"]) and not _ANOTHER.search(found[0])
    )


def _is_fact(body: str, goes_on: bool, lexicon: Lexicon) -> bool:
    if _states("fact", body, goes_on, lexicon):
        return True
    words = lexicon.words
    for named, shape in (("roles", _BEING), ("things", _HAVING)):
        if words(f"memorable.fact.{named}").search(body):  # before the shape is compiled
            said = lexicon.shape(shape).finditer(body)
            if any(_is_said(body, match, goes_on, lexicon) for match in said):
                return True
    persons = lexicon.shape(_PERSON).finditer(body)
    is_own = goes_on or any(_may_precede(body[: person.start()], lexicon) for person in persons)
    return is_own and bool(words("memorable.fact.habit").search(body)) and not words("memorable.own.wants").search(body)


def _is_statement(body: str, lexicon: Lexicon) -> bool:
    """Whether a clause says something of the person that is neither a passing act nor about the matter in hand."""
    words = lexicon.words
    return bool(
        words("memorable.statement.verbs").search(body)
        and lexicon.shape(_STATEMENT).match(body)
        and not words("memorable.statement.task").search(body)
        and not words("memorable.own.wants").search(body)
    )


def _of_life(body: str, lexicon: Lexicon) -> Kind | None:
    """The kind of a clause that names a thing of an everyday category, in words that say what the person has to do with
    it (`wording`), or that it is begun or given up: «I took up pottery», 我開的是比亞迪."""
    words = lexicon.words
    if words("memorable.statement.task").search(body) or words("memorable.own.wants").search(body):
        return None
    said = read_saying(body)
    is_own = said is not None and (said.subject == "me" or said.relation == "use")
    if (
        said is None
        or not is_own
        or len(said.thing.words) > MAX_THING_WORDS
        or (said.relation == "use" and _runs_on(body))
    ):
        return None
    if said.slot == COMMUTE:
        return "fact"
    if said.relation == DO:
        held = _kinds_of(said.thing) if said.is_new else frozenset[str]()
        is_taste = bool(held & _DIET) and (said.is_swap or not said.is_so)
        return "fact" if held & _ACTIVITIES else "preference" if is_taste else None
    if said.relation == LIKE:
        return "preference" if said.is_new and _kinds_of(said.thing) and len(said.thing.words) == 1 else None
    is_alone = said.relation != "have" or len(said.thing.words) == 1
    return "fact" if is_alone and said.thing.kinds & LIFE.get(said.relation, frozenset()) else None


def _runs_on(text: str) -> bool:
    """Whether more Chinese is told behind what is used than what for: 用 pandas 讀檔結果中文亂碼."""
    return len(_HAN.findall(text)) > MAX_HAN_CHARS


def _kinds_of(thing: Thing) -> frozenset[str]:
    """The categories that a thing is of, or is itself: meat."""
    names = thing.words[0] if len(thing.words) == 1 else ()
    return thing.kinds.union(*(categories.load().meanings(name).named for name in names))


def _states(kind: Kind, body: str, goes_on: bool, lexicon: Lexicon) -> bool:
    """Whether a clause holds a phrase of a kind, said of the person and not about what is at hand."""
    words = lexicon.words
    found = [match.end() for match in words(f"memorable.{kind}.whole").finditer(body)]
    if kind == "decision" and announces(body, lexicon):
        return True
    for match in words(f"memorable.{kind}.verbs").finditer(body):
        understood = goes_on or (kind == "preference" and match.start() > 0 and bool(_HAN.match(match[0])))
        if _is_said(body, match, understood, lexicon):
            found.append(match.end())
    if bare := words(f"memorable.{kind}.bare").match(body):
        found.append(bare.end())
    if kind == "decision":
        return bool(found)
    at_hand = lexicon.shape(r" ?{memorable.own.at_hand}")
    return not at_hand.match(body) and any(not at_hand.match(body, end) for end in found)


def _is_own(before: str, understood: bool, lexicon: Lexicon) -> bool:
    """Whether the person stands before a phrase, with adverbs between; `understood`: or adverbs alone."""
    found = lexicon.shape(_SUBJECT).search(before)
    if found and not _ANOTHER.search(found[0]):
        return _may_precede(before[: found.start()], lexicon)
    return understood and lexicon.shape(_ELIDED).match(before) is not None


def _is_said(body: str, found: re.Match[str], understood: bool, lexicon: Lexicon) -> bool:
    """Whether a phrase is what a clause says of the person. In Chinese it may only say of which thing the clause
    speaks, whose own verb stands before: 养 of 我忘不了我养的猫."""
    before = body[: found.start()]
    is_attribute = _PERSON_DOES.match(before) and _ATTRIBUTE.match(body[found.start() :])
    return not is_attribute and _is_own(before, understood, lexicon)


def _may_precede(lead: str, lexicon: Lexicon) -> bool:
    """Whether words before «I» leave it the subject: in English «the dish I love» is about a dish."""
    lead = lead.strip()
    return not _LATIN_END.search(lead) or lexicon.words("memorable.own.before").match(lead) is not None
