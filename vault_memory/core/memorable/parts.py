"""A memory in its parts, each of which may go alone: «I live in Leeds and teach maths», 我喜歡壽司，討厭橄欖,
«I like tea, coffee and cocoa». A clause without a subject is about the person of the one before, if it would be a
memory with that person before it (`kinds`), or if the request says it so. What says nothing by itself, as a reason
does, belongs to the part before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from vault_memory.core.extraction import load_lexicon, read_turn, speaker
from vault_memory.core.memorable import saying
from vault_memory.core.memorable.ending import acts, without_count
from vault_memory.core.memorable.kinds import kind_of
from vault_memory.core.memorable.order import is_whole
from vault_memory.core.memorable.saying import Verdict, says_as_much
from vault_memory.core.memorable.wording import DO, LIKE, MAX_CHARS, Saying, read_saying, says_something
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily

_BETWEEN_CLAUSES = (
    r"\s*(?:[,;，；、。!?！？]|[.](?=\s))\s*(?:(?:and|but|or)\s+)?(?:(?:also|too)\s+)?(?:而且|但是?|以及)?(?:[还還]有|也|[还還](?!是))?"
    r"|\s+(?:and|but|or|as well as|&)\s+(?:also\s+)?|\s*(?:以及|[还還]有|而且|但是)\s*"
    r"|(?<=[\u3400-\u9fff])也(?![还還][住在做是])(?=[\u3400-\u9fff]{2})"
)
_BETWEEN_THINGS = r"\s*[和跟與与]\s*|\s+with\s+|\s*(?:搭配|[配搭])\s*"
_SEPARATOR = re.compile(f"{_BETWEEN_CLAUSES}|(?P<things>{_BETWEEN_THINGS})")
_CLAUSE_ENDS = re.compile(f"{_BETWEEN_CLAUSES}|$")
_ACCOMPANIES = re.compile("with|[配搭]")
"""What goes with a thing may go alone, and does not stay alone: 蛋糕 of 喝咖啡配蛋糕, milk of «coffee with milk»."""
_ADDS = re.compile("and|also|too|而且|以及|[还還]|也")
"""Says that a clause is about the one who speaks, as the one before: 我有一個弟弟，會彈琴 is not."""
_BARE = re.compile(r"\W*$")
_ASPECT = re.compile("[了过得]")
_ENDS = re.compile(r"[\s.。!！]*$")
_NO_MORE = re.compile(r"(?:了|\s+any ?more|\s+any longer)?$", re.IGNORECASE)
"""What says at the end of a list that all of it is so no more."""
_PERSON = re.compile(r"^(?:(?:i|we)(?![a-z])|[我咱俺][們们]?(?![的家]))", re.IGNORECASE)
_GERUND = lazily("^[a-z]+ing(?![a-z])")
_OWN = lazily(r"^(?:(?:i|we)(?![a-z])|my |our |(?:我|咱|俺))")
_TIMED = lazily(r"^(?:on|in|at|every)(?: [a-z]+){1,2} (?:i|we)(?![a-z])")
_NO_MEMBER = lazily(
    r"^(?:it|he|she|they|you|this|that|these|those|there|which|who|because|since|as|so|when|if|not|to|for|with|in|on|at"
    r"|especially|particularly|mainly|mostly|including)(?![a-z])|^(?:尤其|特别|主要|还是|包括)|^[他她它你您这這那因所如當当只]"
    r"|^不(?=[是只但过如管然论同])"
)
_COUNTED = lazily(r"(?:[一二两三四五六七八九十几]|\d)[个只条位名间家台辆部把头匹架支缸盆棵套]|有个")
_DOES = (
    r"^(?:{memorable.fact.habit}|{sayings.frame.often}|{sayings.frame.adverb}|{memorable.own.adverb}|[ ,])*+"
    r"(?:(?=[\u3400-\u9fff])(?P<verb>{sayings.frame.act}|{sayings.frame.does})(?:[过了着]|到)?(?=.[\u3400-\u9fffa-z])"
    r"|(?P<act>[a-z]+) (?:an?|the|my|our|some|one|two|three|four|five|several|many)(?![a-z]))"
)
"""What is done, before what it is done to: 每天搭火車, «opened a café»."""
_IS_SO = lazily("(?:[很太超真蛮挺好更]|非常|有点|不错|不好)[\u3400-\u9fff]{0,3}$")
"""How something is: 拍照很清楚."""
_BOUNDARY = re.compile(r"(?<=\s)(?=\S)|(?<=[\u3400-\u9fff])(?!\s)")
_ALSO = "也"
"""Cuts a clause in two where each of these says something: not 一月也戒了糖, 貓也養了兩隻."""
_WHEN = r"^(?:{gates.left.time}|{gates.left.just}|{sayings.frame.often}|{memorable.fact.habit}| )+$"
_TIMES = frozenset(("weekday", "month", "season"))
_NO_SUBJECT = frozenset(("sport", "exercise", "dance", "hobby", "art", "martial_art")) | _TIMES
"""Categories of what one does, and when: a clause that begins with such a thing does not speak of it."""
_OF_ANYTHING = (LIKE, DO)
"""Of these, things of any kind may stand in one list."""
_OF_LIST = ("subject", "relation", "is_so", "act")


@dataclass(frozen=True)
class Cut:
    """What of a text goes (`gone`), each part a statement of its own, and what is left of it: "" if it all goes. `fit`
    is how well that is what was meant, as `Forget.fits` has it; `is_more`: what goes says more than was meant."""

    gone: str
    left: str
    fit: int
    is_more: bool = False


@dataclass(frozen=True)
class _Part:
    """A part: its words, what stands between it and the one before, and with which words of that (`lead`: «I like ») it
    is a statement of its own. `when` stands before them, and says only that: 一月也 of 一月也戒了糖. `hangs`: it goes
    along with the one before."""

    text: str
    separator: str = ""
    lead: str = ""
    hangs: bool = False
    when: str = ""

    @property
    def statement(self) -> str:
        return self.lead + self.text


def statements(content: str) -> list[str]:
    """The parts of a text, each as a statement of its own: of «I like tea and coffee» also «I like coffee»."""
    return [part.statement for part in _parts(_without_end(content))]


def goes_on_with_list(before: str, text: str) -> bool:
    """Whether a clause is more of a list of known things that the one before begins: «coffee and cocoa» of «I like tea,
    coffee and cocoa»."""
    begun, listed = read_saying(before), statements(f"{before}, {text}")
    if begun is None or _OWN.match(fold(text)) or len(listed) <= len(statements(before)):
        return False
    said = [each for each in map(read_saying, listed) if each and each.thing.kinds]
    is_of_it = all((each.relation, each.is_so) == (begun.relation, begun.is_so) for each in said)
    return len(said) == len(listed) and is_of_it and all(len(without_count(each.thing.words)) == 1 for each in said)


def may_say_more(content: str) -> bool:
    """Whether a text has words that may join one thing that is said to another."""
    return _SEPARATOR.search(_without_end(content)) is not None


def without(
    content: str,
    fits: Callable[[str], int],
    named: Sequence[str] = (),
    says_more: Callable[[str, int], bool] = lambda *_: False,
) -> Cut | None:
    """A text without the parts that fit best; None if no part does, or each of them does. What the request `named` as
    statements of its person tells what a part may be; `says_more` whether a part that fits so well says more than is
    meant."""
    body = _without_end(content)
    parts = _parts(body, named)
    found = [fits(part.statement) for part in parts]
    best = max(found)
    going = [0 < best == fit for fit in found]
    for at, part in enumerate(parts):
        going[at] = going[at] or (part.hangs and going[at - 1])
    if all(going) and any(fit != best for fit in found):  # they only hang
        return Cut(content, "", best, is_more=True)
    if all(going) or not any(going):
        return None
    gone = [part.statement for part, goes in zip(parts, going, strict=True) if goes]
    left = "".join(_written(_rejoined(parts, going))) + content[len(body) :]
    return Cut("; ".join(gone), left, best, any(says_more(each, best) for each in gone if fits(each) == best))


def compared(new: str, old: str) -> Verdict:
    """What a new text is to an old one, as `saying.compared` has it of one statement; it `replaces` also one of which
    it ends a part: «I gave up chess», of «I play chess and collect stamps»."""
    verdict = saying.compared(new, old)
    if verdict == "other" and any(_is_over(new, each, ("replaces",)) for each in _several(old) or [old]):
        return "replaces"
    return verdict


def topics_of(content: str, *, is_asked: bool = False) -> list[int]:
    """The numbers by which an index finds a text, as `saying.topics_of` has them of one statement: those of its parts,
    too, and of each that a new one ends (`is_asked`)."""
    said = _changes(content) if is_asked else [content, *_several(content)]
    return list(dict.fromkeys(topic for each in said for topic in saying.topics_of(each, is_asked=is_asked)))


def still_so(content: str, new: str) -> str | None:
    """What of a text is still so after a new one, which takes its place: the parts that this one does not end, and does
    not say itself; "" if nothing is. None where what is over cannot be told apart from what is not."""
    body, told = _without_end(content), statements(new)

    def is_over(statement: str) -> int:
        is_ended = _is_over(new, statement, ("replaces", "swaps"))
        return int(is_ended or any(saying.compared(each, statement) == "same" for each in told))

    parts = _parts(body)
    if not any(is_over(part.statement) for part in parts):
        return None
    if cut := without(content, is_over):
        return cut.left
    last = parts[-1].text
    joined = (found.end() for found in _SEPARATOR.finditer(last) if not found["things"])
    return None if any(says_something(fold(last[at:])) for at in joined) else ""


def _is_over(new: str, statement: str, verdicts: Sequence[Verdict]) -> bool:
    return any(saying.compared(each, statement) in verdicts for each in _changes(new))


def _changes(new: str) -> list[str]:
    """A new text, and each thing that it denies, if these are several, as a statement of its own: «I don't drink tea
    anymore», of «I don't drink coffee or tea anymore». None of these where a time is said, which may be that of all."""
    read = read_saying(new)
    body = _without_end(new)
    end = _NO_MORE.search(body)
    if read is None or read.is_so or end is None:
        return [new]
    several = [each + end[0] for each in _several(body[: end.start()])]
    said = [read_saying(each) for each in several]
    return [new] if any(each is None or each.is_so or each.when for each in said) else [new, *several]


def _several(content: str) -> list[str]:
    """The parts of a text that has more than one, each as a statement."""
    found = statements(content)
    return found if len(found) > 1 else []


def _without_end(content: str) -> str:
    end = _ENDS.search(content)
    return content[: end.start()] if end else content


def _rejoined(parts: list[_Part], going: list[bool]) -> list[_Part]:
    """The parts that do not go. The word that joins a part goes with it; but what joins the things of a list to the
    clause before stays in front of the first of them, and what joins the last of several in front of the last: of «I
    like tea, rice and figs, but hate cola» without figs «I like tea and rice, but hate cola»."""
    lists: list[list[int]] = []
    for at, part in enumerate(parts):
        is_listed = not (part.hangs or _is_clause(part))
        if lists and (is_listed or part.hangs):
            lists[-1].append(at)
        else:
            lists.append([at])
    kept = list(parts)
    stay = [[at for at in each if not going[at]] for each in lists]
    for each, left in zip(lists, stay, strict=True):
        if len(left) > 1 and going[each[-1]] and not parts[each[-1]].hangs:
            kept[left[-1]] = replace(kept[left[-1]], separator=parts[each[-1]].separator)
        first = parts[each[0]].separator
        if left and not (_BARE.match(first) and _ADDS.search(kept[left[0]].separator)):
            kept[left[0]] = replace(kept[left[0]], separator=first)
    clauses = [left[0] for left in stay if left]
    last = parts[lists[-1][0]]
    if len(clauses) > 1 and not stay[-1] and _ADDS.search(last.separator):  # «I cook and sing» of «…, sing and dance»
        kept[clauses[-1]] = replace(kept[clauses[-1]], separator=last.separator)
    return [part for part, goes in zip(kept, going, strict=True) if not goes]


def _written(parts: list[_Part]) -> Iterator[str]:
    before = ""
    for part in parts:
        yield part.separator if before else ""
        lead = "" if before.startswith(part.lead) and before else part.lead
        yield f"{lead}{part.when}{part.text}"
        before = part.statement


def _parts(content: str, named: Sequence[str] = ()) -> list[_Part]:
    if len(content) > MAX_CHARS:  # it is read as one
        return [_Part(content)]
    parts: list[_Part] = []
    begun: _Part | None = None
    at, between = 0, None
    for found in [*_SEPARATOR.finditer(content), None]:
        text = content[at : found.start()] if found else content[at:]
        separator = between[0] if between else ""
        part = _Part(text) if between is None else _part(content, between, text, parts[-1].statement, named)
        if found and between and found[0] == _ALSO and not (part and _is_clause(part)):
            begun = part  # 貓 of 貓也養了兩隻
            continue
        if begun and not part:
            part = replace(begun, text=text, hangs=True)
        begun = None
        is_first_read = len(parts) != 1 or read_saying(parts[0].text) is not None
        if part and is_first_read:
            parts.append(part)
        else:
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text}{separator}{text}")
        at, between = (found.end(), found) if found else (at, None)
    return parts


def _part(content: str, between: re.Match[str], text: str, before: str, named: Sequence[str]) -> _Part | None:
    """A text behind a separator as a part; None if it belongs to the one before."""
    if between["things"] and _ACCOMPANIES.search(between[0]):
        lead = _lead_of_companion(text, before, named)
        return None if lead is None else _Part(text, between[0], lead, hangs=True)
    clause = ""
    if not between["things"]:  # 我老婆跟我開了一間店
        ended = _CLAUSE_ENDS.search(content, between.end())
        clause = content[between.end() : max(ended.start(), between.end() + len(text))] if ended else ""
    when = _when_of(text) if clause else ""
    lead = _lead(text[len(when) :], clause[len(when) :], between[0] + when, before, named)
    if lead is not None:
        return _Part(text[len(when) :], between[0], lead, when=when)
    person = _person_of(before, is_added=True) if clause else ""
    said = read_saying(person + text) if person else None
    is_of_it = said is not None and said.relation == LIKE and not _is_of_a_thing(said, person + text)
    return _Part(text, between[0], person, hangs=True) if is_of_it else None


def _when_of(text: str) -> str:
    """The time with which a clause begins, before what is so then, too: 一月也 of 一月也戒了糖; "" where it begins
    otherwise."""
    time, also, _ = text.partition(_ALSO)
    if not (time and also):
        return ""
    is_time = load_lexicon().shape(_WHEN).match(fold(time)) or _kinds_at_start(fold(time)) & _TIMES
    return time + also if is_time else ""


def _is_clause(part: _Part) -> bool:
    """Whether a part says what is so, and not only of which thing, as one more of a list does."""
    return not part.lead or _PERSON.fullmatch(part.lead.rstrip()) is not None


def _lead(text: str, clause: str, separator: str, before: str, named: Sequence[str]) -> str | None:
    """With which first words of the statement before a text is one: none («I keep fish»), its person («keep fish»), or
    what is said of a thing (fish). None if it belongs to the one before. `clause` is the text to the clause's end, ""
    where it can only be a thing."""
    folded = fold(text)
    said = read_saying(text) if clause and _TIMED.match(folded) else None
    if said and said.when and said.subject == "me":  # «on Sundays I sail»
        return ""
    if not folded or _NO_MEMBER.match(folded) or speaker(folded, load_lexicon()) == "others":
        return None
    if clause and _OWN.match(folded):
        return "" if read_saying(text) else None
    is_added = bool(_ADDS.search(separator)) or (not _is_of_family(before) and _is_named(clause, before, named))
    lead = _person_of(before, is_added=is_added) if clause else ""
    if lead and _is_done(lead, text):
        return lead
    if (frame := next(_frames(text, before), None)) and not says_something(folded):
        return frame
    return lead if lead and _may_be_said(lead, clause, before, named) else None


def _lead_of_companion(text: str, before: str, named: Sequence[str]) -> str | None:
    """With which first words of a liking what goes with its thing is a statement: both are known, or it is named."""
    said = read_saying(before)
    lead = next(_frames(text, before, named, of=("subject", "relation", "is_so")), None)
    return lead if said is not None and said.relation == LIKE and not says_something(fold(text)) else None


def _person_of(before: str, *, is_added: bool) -> str:
    """The person of a statement, with whom a clause behind it that names none is one; "" where it may be about
    somebody or something else. `is_added`: a word says that it is about the same."""
    person = _PERSON.match(before)
    if person is None or speaker(fold(before), load_lexicon()) == "others":
        return ""
    if not is_added and (_is_of_family(before) or _COUNTED.search(fold(before))):
        return ""  # 我有一個妹妹，住在台南
    return f"{person[0]} " if person[0].isascii() else person[0]


def _is_named(clause: str, before: str, named: Sequence[str]) -> bool:
    """Whether the request says just this clause of its person."""
    person = _PERSON.match(before)
    return bool(person and any(says_as_much(f"{person[0]} {clause}", each) == 2 for each in named))


def _is_done(lead: str, text: str) -> bool:
    """Whether a text says what its person has to do with a thing, in words that are known: «keep fish», 會彈吉他."""
    if fold(text).isascii() and fold(text) in load_lexicon().listed("sayings.frame.taking"):
        return True  # «I smoke and drink»
    said = read_saying(text) or read_saying(lead + text)
    is_done = said is not None and said.relation != DO and not _GERUND.match(fold(text))
    return said is not None and is_done and _is_of_a_thing(said, lead + text)


def _may_be_said(lead: str, clause: str, before: str, named: Sequence[str]) -> bool:
    """Whether a clause with the person before it would be a memory, or is what the request has named. That something
    is so every day does not tell that a person does it («tea and cocoa every morning»), with a verb behind it does."""
    if any(says_as_much(lead + clause, each) == 2 for each in named):
        return True
    lexicon, folded = load_lexicon(), fold(clause)
    alone = read_saying(lead + clause)
    if _IS_SO.search(folded) or not is_whole(lead + folded) or (alone and not _names_a_thing(alone)):
        return False
    does = lexicon.shape(_DOES).match(folded)
    done = _kinds_at_start(folded[max(does.start("verb"), does.start("act")) :]) if does else frozenset[str]()
    if does and (not done or done & _NO_SUBJECT):
        return True
    act = " ".join(lexicon.words("memorable.fact.habit").sub(" ", folded).split())
    said, kinds = read_saying(before), _kinds_at_start(act)
    is_of_list = said is not None and said.relation == LIKE  # «I like rock and dance music»
    if kinds and (is_of_list or not (act.isascii() or kinds & _NO_SUBJECT)):
        return False  # 鍵盤壞了
    turn = read_turn(lead + act, "", {}, lexicon) if act else None
    told = turn.clauses[0] if turn and turn.clauses else None
    return told is not None and kind_of(told, False, lexicon) is not None


def _kinds_at_start(folded: str) -> frozenset[str]:
    """The categories of the thing with which a text begins, or that are named there; none for any other word."""
    known = categories.load()
    if not folded.isascii():
        return next((kinds for start, _, _, kinds in known.named(folded) if start == 0), frozenset())
    meant = known.meanings(folded.split(" ")[0])
    return meant.held | meant.named


def _frames(text: str, before: str, named: Sequence[str] = (), of: Sequence[str] = _OF_LIST) -> Iterator[str]:
    """The beginnings of a statement with which another thing of a list is one, the shortest first; they are alike in
    what `of` names. Both things are known, «rock and roll» is one, or the other is the one that is `named`."""
    said, alone = read_saying(before), read_saying(f"{'I like ' if text.isascii() else '我喜歡'}{text}")
    if said is None or alone is None:
        return
    is_named = any(says_as_much(f"{'I like ' if text.isascii() else '我喜歡'}{text}", each) == 2 for each in named)
    if not is_named and not (_is_one_known(alone) and (_is_one_known(said) or _is_doing_one(said))):
        return
    for found in _BOUNDARY.finditer(before):
        listed = read_saying(before[: found.start()] + text)
        if listed and listed.thing.is_same(alone.thing) and _is_of_list(listed, said, of):
            yield before[: found.start()]


def _is_one_known(said: Saying) -> bool:
    """Whether a statement is about one thing of a known kind."""
    return bool(said.thing.kinds) and len(without_count(said.thing.words)) == 1


def _is_doing_one(said: Saying) -> bool:
    """Whether a statement is about liking to do something with one thing of a known kind: 打籃球."""
    words = said.thing.words
    return said.relation == LIKE and bool(said.thing.kinds) and len(words[1:]) == 1 and bool(words[0] & acts())


def _is_of_list(listed: Saying, said: Saying, of: Sequence[str]) -> bool:
    """Whether two statements say the same of two things of one list: not «I play the oboe and swim»."""
    is_alike = all(getattr(listed, name) == getattr(said, name) for name in of)
    return is_alike and (said.relation in _OF_ANYTHING or bool(_kinds_in(listed) & _kinds_in(said)))


def _kinds_in(said: Saying) -> frozenset[str]:
    """All categories of what a statement names: a dog and a cat are pets."""
    names = (name for word in said.thing.words for name in word)
    return frozenset(kind for name in names for kind in categories.load().categories_of(name))


def _is_of_family(statement: str) -> bool:
    """Whether a statement says whom its person has: what follows may be said of them."""
    said = read_saying(statement)
    return said is not None and said.relation == "have" and "family" in said.thing.kinds


def _is_of_a_thing(said: Saying, text: str) -> bool:
    """Whether a text that is read so can be understood without the one before."""
    return is_whole(fold(text)) and _names_a_thing(said)


def _names_a_thing(said: Saying) -> bool:
    """Whether a statement says what it speaks of: not 用了七年, nor what is only done to the thing before (超愛買)."""
    words = without_count(said.thing.words)
    if not words or any(_ASPECT.match(name) for name in words[0]):
        return False
    return said.relation not in _OF_ANYTHING or bool(said.thing.kinds) or not all(word <= _verbs() for word in words)


@cache
def _verbs() -> frozenset[str]:
    """What is done to a thing, as a thing has it."""
    return acts() | {*map(fold, load_lexicon().listed("sayings.frame.does"))}
