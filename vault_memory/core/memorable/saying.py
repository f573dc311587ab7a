"""What a person says of himself or herself, apart from the words: 我超愛芒果 and «I really like mango» say the same,
«I can't stand mangoes» takes it back, «I live in Tainan» takes the place of 我住在高雄.

`wording` reads it. Here is what two such sayings are to each other, and by which numbers an index finds them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from vault_memory.core.extraction import is_left, load_lexicon, read_turn, speaker
from vault_memory.core.memorable.ending import (
    Left,
    begins_with_getting,
    ended_with,
    is_beside,
    is_second,
    is_unreal,
    is_with_again,
    is_without,
    kinds_left,
    kinds_of,
    kinds_told,
    left_behind,
    means_of,
)
from vault_memory.core.memorable.slots import of_time, places_of, time_of
from vault_memory.core.memorable.things import Thing, known_kinds
from vault_memory.core.memorable.wording import (
    AT,
    BE,
    DECIDE,
    DO,
    FAVOURITE,
    LEVELS,
    LIKE,
    LIVE,
    MAX_CHARS,
    SLOT,
    USE,
    WORK,
    Saying,
    plain,
    read_saying,
    says_something,
)
from vault_memory.core.text import fold, lazily

SINGLE = (LIVE, FAVOURITE)
"""What a person has one of: another one takes its place."""
CHANGED = (BE, WORK, "drive", "ride")
"""The same, if the new one is said to be so from now on, and is a thing of the same kind; of work, any place."""
MANY = {"family"}
"""A person may be several of this kind."""
_MANIFOLD = frozenset(("food",))
"""One eats many things: rice takes the place of no apple."""
_TOOLS = frozenset(("programming_tool", "office_software", "software"))
"""Of these one uses many."""
GIVEN_UP = {"like", DO, "play"}
"""Who gives up doing a thing no longer does it, and is not known for liking it; who takes it up no longer leaves it."""
LEFT = frozenset((DO, "play", "learn", USE, "have", "drive", "ride", WORK, BE, LIVE, DECIDE, SLOT))
"""What a person has to do with a thing until it is left behind."""
OWNED = frozenset(("have", "drive", "ride", USE, SLOT))
"""The same of a thing that is only sold."""
_SUBJECTS = {
    "me": lazily(r"我(?!们)|咱(?!们)|俺|(?<![a-z])(?:i|my|me)(?![a-z])"),
    "us": lazily(r"[我咱]们|(?<![a-z])(?:we|our)(?![a-z])"),
}
_PART = re.compile(r"[,;。!?]|[.](?=\s)")

Verdict = Literal["same", "replaces", "swaps", "other"]


def topics_of(content: str, *, is_asked: bool = False) -> list[int]:
    """The numbers by which an index finds memories that may say the same as a text, or the contrary; each below 2⁶³,
    so that SQLite takes it. None for a text that says nothing of its person. `is_asked`: those of a new text; what is
    done with a thing of a kind is looked for only where the new one swaps it for another of that kind."""
    said = _read(content)
    topics = [topic for each in said.statements for topic in _topics(each)]
    topics += [topic for left in said.left for topic in (*left.thing.names, f"{LIVE} ")]
    topics += [f"without {kind}" for kind in sorted(kinds_told(content))]
    topics += [*said.changed, *((BE,) if WORK in said.changed else ())]
    swapped = [each for each in said.statements if each.is_swap or not is_asked]
    topics += [f"kind {kind}" for each in swapped for kind in sorted(_kinds_in_turn(each))]
    return [_number(f"{subject} {topic}") for topic in dict.fromkeys(topics) for subject in said.subjects]


def compared(new: str, old: str) -> Verdict:
    """Whether a new text says the `same` as an old one, `replaces` it (a change of mind, a move, the same and more), or
    something `other`; or `swaps` what is done for something of its kind without naming it, so that it replaces the old
    one only where no second one may be meant: 我改喝茶了, of 我每天喝咖啡."""
    verdict = _compared(new, old)
    is_still_so = verdict == "replaces" and (_is_still_used(new, old) or _is_second_home(new, old))
    return "other" if is_still_so else verdict


def _is_still_used(new: str, old: str) -> bool:
    """Whether a text names the technology that an old one says is used, and does not tell that it is left, as a fact
    and as a whole: «we moved the admin page from Vue to React»."""
    said, second, lexicon = read_saying(new), read_saying(old), load_lexicon()
    if second is None or second.slot or second.relation not in (USE, DO):
        return False
    if said is not None and said.is_so and said.thing.is_same(second.thing):
        return False
    used = {each.name for each in lexicon.technologies(fold(old), old)}
    turn = read_turn(new, "", {}, lexicon) if used else None
    named = {each.name for each in turn.message.technologies} & used if turn else set()
    return turn is not None and any(not is_left(name, turn) for name in named)


def _compared(new: str, old: str) -> Verdict:
    said, second = _read(new), read_saying(old)
    if second is None or second.subject not in said.subjects:
        return "other"
    if said.is_without and not said.is_beside and is_without(new, second):
        return "replaces"
    if not said.is_beside and (is_with_again(new, old) or _is_of_what_changed(second, said.changed)):
        return "replaces"
    for at, each in enumerate(said.statements):
        verdict = _verdict(each, second, is_beside=said.is_beside)
        is_led = all(before.is_new for before in said.statements[: at + 1])  # 我換車了，現在開特斯拉
        if verdict != "other" and (is_led or at == 0 or each.is_so != second.is_so):
            return verdict
    if any(_is_left(left.thing, second, OWNED if left.is_sold else said.leaves) for left in said.left):
        return "replaces"
    is_swapped = not said.is_beside and any(_is_swapped(each, second) for each in said.statements)
    return "swaps" if is_swapped else "other"


def _is_second_home(new: str, old: str) -> bool:
    """Whether a text says where its person lives beside an old place: «I also live in York», «… in York now, too»,
    我現在住高雄，台南也還住. Who moves there lives there alone, unless the old place is named as one that stays."""
    said = read_saying(old)
    if said is None or said.relation != LIVE:
        return False
    first, *rest = _PART.split(fold(new))
    is_move = load_lexicon().words("sayings.frame.begun").search(first) is not None
    name = " ".join(min(word) for word in said.thing.words)
    again = [part for part in map(read_saying, rest) if part and part.relation == LIVE and part.is_so]
    is_told_again = any(part.thing.is_same(said.thing) for part in again)  # «but I still live in Leeds in summer»
    return (is_beside(first) and not is_move) or is_told_again or any(is_second(part, name) for part in rest)


def change_in(text: str) -> Literal["preference", "fact"] | None:
    """Of what kind the memories are whose place a text may take, although it need be none itself: it says what is left
    behind, what is so no longer, or what the favourite of a kind is. None for any other text."""
    said = read_saying(text)
    if said and (said.relation == FAVOURITE or (said.is_new and not said.is_so)):
        return "preference" if said.relation in (FAVOURITE, LIKE) else "fact"
    is_taken_up_again = said is not None and said.is_again and said.relation in GIVEN_UP
    if said and said.is_new and (said.relation in (*CHANGED, LIVE, SLOT) or is_taken_up_again or kinds_left(text)):
        return "fact"
    return "fact" if _changed(text) or left_behind(text, is_new=False) else None


def is_timed(text: str) -> bool:
    """Whether a text says when something is to be: 上線定在週五."""
    said = read_saying(text)
    return said is not None and said.relation == SLOT and bool(of_time(said.slot))


def says_a_change(text: str) -> bool:
    """Whether a text says that something of its person's is no more as it was."""
    said = read_saying(text)
    return bool(change_in(text)) or (said is not None and said.is_new)


def is_corrected(text: str, by: str) -> bool:
    """Whether a text denies what its person is or does, and the next one says what is so instead: «I'm not at Nokia»,
    «I'm at Ericsson»."""
    denied, said = read_saying(text), read_saying(by)
    if denied is None or said is None or denied.is_so or not said.is_so:
        return False
    return denied.relation in (*CHANGED, LIVE) and (denied.subject, denied.relation) == (said.subject, said.relation)


def goes_on(text: str) -> bool:
    """Whether a text says, behind one that ends something, what is so from now on: 改開特斯拉, «it's Helix now»."""
    folded = fold(text)
    said = read_saying(text) or read_saying(f"i {folded}" if folded.isascii() else f"我{folded}")
    return (said is not None and said.is_new and said.is_so) or bool(begins_with_getting(folded))


def says_what_is_instead(text: str) -> bool:
    """Whether a text that ends something also says what is so instead: 我離職了，現在在聯發科, not «I sold it»."""
    return any(map(goes_on, _PART.split(fold(text))[1:]))


def home_in(content: str) -> list[str]:
    """The names of where a text says its person lives, folded, in the order of its words; none where it does not."""
    said = read_saying(content)
    is_home = said is not None and said.relation == LIVE and said.is_so
    return [name for word in said.thing.words for name in sorted(word)] if said is not None and is_home else []


def is_liking(content: str) -> bool:
    """Whether a text says that its person likes something."""
    said = read_saying(content)
    return said is not None and said.is_so and said.relation in (LIKE, FAVOURITE)


def says_as_much(content: str, words: str) -> int:
    """How well a text says what some words say of their person: 2 the same, 1 the same of a thing of which it says
    more, 0 something else."""
    if compared(words, content) == "same":
        return 2
    asked, said = read_saying(words), read_saying(content)
    if asked is None or said is None:
        return 0
    is_in_place = asked.relation == USE and said.relation == SLOT and said.link == USE  # 我習慣用, 我們前端用
    is_like = (asked.subject, asked.is_so) == (said.subject, said.is_so)
    is_like = is_like and (asked.relation == said.relation or is_in_place)
    is_then = all(any(day in other for other in said.when) for day in asked.when)
    is_it = asked.thing.is_beginning_of(said.thing) if asked.relation == LIVE else said.thing.is_kind_of(asked.thing)
    if asked.relation in (DECIDE, USE):
        is_it = is_it or asked.thing.is_before_purpose(said.thing)
    return int(is_like and is_then and is_it)


def is_near(content: str, words: str) -> bool:
    """Whether a text says of a thing that its person likes, does or plays it, as some words do in another way: «I drink
    coffee» of «I like coffee»."""
    asked, said = read_saying(words), read_saying(content)
    if asked is None or said is None or not {asked.relation, said.relation} <= GIVEN_UP | {FAVOURITE}:
        return False
    return (asked.subject, asked.is_so) == (said.subject, said.is_so) and said.thing.is_same(asked.thing)


def is_all_about(content: str, subject: str) -> bool:
    """Whether a thing is all that a text is about: coffee of «I love coffee», not of «I love coffee cups»."""
    said, of = read_saying(content), read_saying(f"i like {subject}")
    return said is not None and of is not None and said.thing.is_same(of.thing)


@dataclass(frozen=True)
class _Said:
    """What a new text says, of whom (`subjects`: both, where it does not say): its `statements`, of which those behind
    the first one count where they say the contrary of an old one; the things that are `left`, and which relations that
    ends (`leaves`); the relations in which all is another than before (`changed`)."""

    statements: tuple[Saying, ...] = ()
    left: tuple[Left, ...] = ()
    leaves: frozenset[str] = LEFT
    subjects: tuple[str, ...] = ()
    is_beside: bool = False
    is_without: bool = False
    changed: frozenset[str] = frozenset()


def _read(content: str) -> _Said:
    if len(content) > MAX_CHARS:
        return _Said()
    first, folded = read_saying(content), fold(content)
    is_of_others = _is_of_others(folded)  # «my sister left the bakery»
    parts = [part for part in _PART.split(folded)[1:] if not is_of_others or speaker(part, load_lexicon()) == "me"]
    behind = [said for part in parts if (said := read_saying(part))]
    left = [] if is_of_others else left_behind(content, is_new=first is not None and first.is_new)
    leaves = LEFT | {first.relation} if first else LEFT
    statements = (*([first] if first else []), *behind)
    own = [subject for subject, words in _SUBJECTS.items() if words.search(folded)] or [*_SUBJECTS]
    subjects = tuple(dict.fromkeys([*own, *(each.subject for each in statements)]))
    is_without_some = bool(kinds_left(content))
    is_second_one = is_beside(content) or any(map(is_second, _PART.split(folded)[1:]))
    return _Said(statements, tuple(left), leaves, subjects, is_second_one, is_without_some, _changed(content))


def _changed(text: str) -> frozenset[str]:
    """The relations in which a text says that its person has another thing now, whatever it was: 我換工作了."""
    lexicon, folded = load_lexicon(), plain(fold(text))
    found = [
        name
        for name in lexicon.sections("sayings.changed")
        if (said := lexicon.words(f"sayings.changed.{name}").search(folded)) and not is_unreal(folded[: said.start()])
    ]
    return frozenset(found) if found and not _is_of_others(folded) else frozenset()


def _is_of_others(folded: str) -> bool:
    """Whether a folded text is about somebody else, by what they are to its person, or by their name."""
    lexicon = load_lexicon()
    return speaker(folded, lexicon) == "others" or lexicon.words("voices.speaker.given").match(folded) is not None


def _is_of_what_changed(old: Saying, changed: frozenset[str]) -> bool:
    """Whether what was said is of what has changed as a whole: the work, and the job that it was."""
    is_job = old.relation == BE and "job" in old.thing.kinds and not says_something(old.more)
    return old.is_so and old.subject == "me" and (old.relation in changed or (WORK in changed and is_job))


def _verdict(new: Saying, old: Saying, *, is_beside: bool) -> Verdict:
    if new.relation == old.relation and new.relation in SINGLE and new.is_so and old.is_so:
        return _in_its_place(new, old)
    if not new.thing.is_same(old.thing):
        return "replaces" if not is_beside and (_has_changed(new, old) or _is_ended(new, old)) else "other"
    if new.is_so == old.is_so:
        return _said_again(new, old)
    return "replaces" if _is_taken_back(new, old) else "other"


def _topics(said: Saying) -> list[str]:
    if said.relation in SINGLE:
        return [f"{said.relation} {said.slot}"]
    own = [said.relation] if said.relation in CHANGED else [f"{SLOT} {said.slot}"] if said.slot else []
    own += [named] if (named := of_time(said.slot)) else []
    parts = [*ended_with(said), *means_of(said)] if said.is_so else [said.thing]
    kinds = [f"without {kind}" for kind in sorted(kinds_of(said))] if said.is_so else []
    return [*own, *(name for thing in parts for name in thing.names), *kinds]


def _in_its_place(new: Saying, old: Saying) -> Verdict:
    """What a new one of which a person has only one makes of the old one."""
    levels = [each.thing.kinds & {*LEVELS} for each in (new, old)]  # Cork is a town there, and no wood
    is_of_level = not all(levels) or bool(levels[0] & levels[1])
    if new.slot != old.slot or new.when != old.when or (new.relation == LIVE and not is_of_level):
        return "other"  # who lives in a town lives in a country, too
    if new.thing.is_beginning_of(old.thing) and new.more in ("", old.more):
        return "same"
    return "other" if says_something(old.more) else "replaces"


def _has_changed(new: Saying, old: Saying) -> bool:
    """Whether what was so is another thing now: «I drive a Tesla now»."""
    if new.is_new and old.is_so and old.when and new.slot in {time_of(name) for name in old.thing.names}:
        return old.relation in (DO, DECIDE)  # we have decided to launch on Friday
    is_in_place = new.relation == SLOT and old.relation == USE  # for what something is used is a place, too
    is_alike = new.relation == old.relation or is_in_place
    if not (new.is_new and new.is_so and old.is_so and is_alike) or old.more:
        return False
    is_of_kind = (new.relation == WORK and new.link != AT) or bool((new.thing.kinds & old.thing.kinds) - MANY)
    if new.relation == SLOT:
        is_alike = (is_in_place or _are_linked_alike(new, old)) and (is_of_kind or _may_be_there(new, old))
        return new.slot == old.slot and is_alike and new.when in (old.when, frozenset())
    return new.relation in CHANGED and is_of_kind and new.when == old.when


def _is_swapped(new: Saying, old: Saying) -> bool:
    """Whether something of its kind is done in the place of what was done: tea is drunk in that of coffee."""
    is_done = new.relation == old.relation or (new.relation == USE and old.relation in (DO, "play", "learn"))
    is_done = is_done or (old.relation == LIKE and new.relation == DO and new.act == old.act != "")
    kinds = _kinds_in_turn(old) & _kinds_in_turn(new) - _MANIFOLD
    is_of_kind = bool(kinds) and not new.thing.is_same(old.thing)
    return (
        (new.is_swap and new.is_so and old.is_so and is_done and is_of_kind)
        and new.when in (old.when, frozenset())
        and not says_something(old.more)
    )


def _kinds_in_turn(said: Saying) -> frozenset[str]:
    """The kinds of a thing of which another may take its place; of a tool that is used, where it stands."""
    known = known_kinds(said.thing)
    return (known - _TOOLS) | places_of(said.thing) if said.relation == USE else known


def _are_linked_alike(new: Saying, old: Saying) -> bool:
    """Whether two say the same of a place: what it is, or what it uses and where it is."""
    links = {new.link, old.link}
    return len(links) == 1 or "" in links or links == {"be", "how"}


def _may_be_there(new: Saying, old: Saying) -> bool:
    """Whether one thing of another kind may be in the place of the other: not how one is in that of who one is."""
    return new.link != "how" and not (new.link == "be" and new.thing.kinds and old.thing.kinds)


def _is_ended(new: Saying, old: Saying) -> bool:
    """Whether what is done no more is all or more of what was done: «I quit smoking»."""
    is_over = not new.is_so and new.is_new and old.is_so and not new.when and old.relation in LEFT | GIVEN_UP
    is_act = new.relation == old.relation or new.relation in GIVEN_UP
    return is_over and is_act and not says_something(old.more) and any(new.thing.is_same(x) for x in ended_with(old))


def _is_left(thing: Thing, old: Saying, leaves: frozenset[str]) -> bool:
    """Whether what a person has to do with a thing is over."""
    parts = (*ended_with(old), *means_of(old))
    return old.is_so and old.relation in leaves and not says_something(old.more) and any(map(thing.is_same, parts))


def _said_again(new: Saying, old: Saying) -> Verdict:
    if new.relation != old.relation or new.when != old.when:
        return "other"
    if new.more in ("", old.more):
        return "same"
    return "other" if old.more else "replaces"


def _is_taken_back(new: Saying, old: Saying) -> bool:
    """Whether the contrary of an old one is said, and nothing goes that is still so."""
    if says_something(old.more) or (new.when != old.when and (new.when or new.is_so)):
        return False  # «not on Mondays»
    is_over = {new.relation, old.relation} <= GIVEN_UP or (new.relation == DO and old.relation in LEFT)
    is_given_up = not new.is_so and new.is_new and is_over
    is_taken_up = new.is_so and new.is_new and old.relation == DO and new.relation in GIVEN_UP
    return new.relation == old.relation or is_given_up or is_taken_up


def _number(topic: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"~{topic}".encode(), digest_size=8).digest()) >> 1
