"""Whether a turn tells that its person has left a technology: as a fact, and for all that it was used for. A question,
a plan, what nearly happened or what others do takes nothing away, nor does what is left for a part of the work («on my
laptop», 寫腳本), in one version, or under a longer name (Git GUI). Rules alone, behind the judge, who does not learn
from them; the words are in `gates.toml`, `[left]`.
"""

from __future__ import annotations

import re

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.judge.facts import is_of_person
from vault_memory.core.extraction.judge.places import places_of
from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.rules import HeardTurn
from vault_memory.core.text import fold, lazily

_MOVED = (
    r"(?:(?:{gates.left.moved})(?P<what> [a-z ]{1,28}?)??(?: over| back| away)? (?:from|off)(?: of)?"
    r"|(?:{gates.left.exchanged})|把|将|(?P<place>[^,;]{0,12}?)[从由])(?: (?:my|our))? ?$"
)
_DROPPED = r"(?:{roles.drop.before})[^,;]{0,10}$"
_DROPPED_BEHIND = r"[^,;]{0,8}?(?:{roles.drop.after})"
_WHO = r"(?:{memorable.own.subject})(?: ?的?{gates.left.whole})*|(?:the|our|my) {gates.left.group}|公司|团队"
_BESIDE = r"(?:{gates.left.just}|{gates.left.time}|{memorable.own.subject}|[把将])"
_TOLD = (
    rf"^(?:[\s,:~-]|{{memorable.own.leads}}|{{gates.left.time}})*+(?:{_WHO})?"
    r"(?:的|[ ,]|{gates.left.just}|{gates.left.time})*+$"
)
_MAKER = r"(?:(?:{gates.left.maker}|{gates.left.just}|{gates.left.time}|[0-9.]+) ?)*"
_DROPS = rf" ?{_MAKER}(?:{{roles.drop.before}})"
_UNDONE = ("sayings.left.unreal", "gates.left.undone")
_PLEASE = r"^(?:(?:{memorable.forget.asks}|{subjects.matter.polite})[ ,]*)+"
_WHOLE = r"^(?: (?:my|our)(?: [a-z]+){0,2}| the (?:whole|entire)(?: [a-z]+){1,2}|(?:[ 的]|{gates.left.whole})*)$"
_ENDS = r"(?:,|(?<![a-z])(?:because|since|which|so|but|and|as)(?![a-z])|因为|所以|但).*$"
_FROM = lazily(r"(?<![a-z])(?:from|off)(?: of)?(?: my| our)? ?$|[从由] ?$")
_TO = lazily(
    r"(?: [0-9.]+)? ?(?:to |for |with |onto |over to |in favou?r of |by |→|->"
    r"|[^,;a-z]{0,4}(?:换|改|转|搬|迁|移|跳|升)[^,;a-z]{0,4})"
)
_SAID_OF_IT = rf" ?{_MAKER}(?:{{gates.left.itself}})"
_OURS = lazily(r"(?:could|can|should|shall|would|do|did|may|must) (?:i|we)(?![a-z])")
_ASKS = lazily("[吗呢]$")
_VERSION = lazily(r"^(?: ?v?|[.])[0-9]")
_LATIN = lazily(r"^ [a-z]")


TO_CHARS = 16
"""So far behind «back» stands to what."""


def is_left(value: str, turn: HeardTurn) -> bool:
    """Whether a turn tells that the technology of a profile's value is left, wherever it names it. So it does where it
    names another one alone: «we're going back to npm» leaves pnpm."""
    name = fold(turn.lexicon.names.get(fold(value), (value, ""))[0])
    named = [each for each in turn.message.technologies if fold(each.name) == name]
    placed = [(each, clause) for each in named for clause in turn.clauses if clause.start <= each.start < clause.end]
    if not placed:
        return not any(clause.asks_to_know for clause in turn.clauses)
    if _is_brushed_off(placed[0][1], turn):
        return False  # «Forget it, Redis is fine»
    telling = [(each, clause) for each, clause in placed if _is_said_to_be_left(clause, each, turn)]
    is_told = any(_is_said_before(clause, each, turn) for each, clause in telling)
    if any(_is_asked_for(clause, placed[0], turn, is_told) for clause in turn.clauses):
        return True  # «take Nuxt away»
    is_sure = len({clause.sentence for _, clause in telling}) > 1  # who says so twice leaves it as a whole
    telling = telling or placed
    return not _is_taken_up_again(telling[0][0], turn) and (
        any(_is_left_in(clause, each, turn) for each, clause in telling)
        or (is_sure and all(_is_told_to_be_left(clause, each, turn) for each, clause in telling))
    )


def tells_of_moving(proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether a technology is not named as that to which something has moved, or it is told as a fact."""
    clause = next((each for each in turn.clauses if each.start == proposal.start), None)
    to = proposal.start + proposal.offset
    named = [each for each in turn.message.technologies if proposal.start <= each.start < to]
    if clause is None or not named or not _TO.fullmatch(turn.message.speech, named[-1].end, to):
        return True
    moved = _moved(clause, named[-1], turn.lexicon)
    if moved is None:
        return _FROM.search(clause.text[: named[-1].start - clause.start]) is None
    place = moved["place"] or ""
    return not _is_undone(place, turn.lexicon) and _is_told(clause, moved.start(), turn)


def _is_asked_for(clause: Clause, named: tuple[Technology, Clause], turn: HeardTurn, is_told: bool) -> bool:
    """Whether a clause asks that a technology, named there or before, be taken out of what is kept. Where the turn
    tells that it is left, only a clause that speaks of what is kept asks for it."""
    technology, where = named
    lexicon, found = turn.lexicon, turn.lexicon.words("words.negation.takes_back").search(clause.text)
    if found is None or clause.start < where.start or _OURS.match(clause.text):
        return False
    names_profile = lexicon.words("gates.left.profile").search(clause.text) is not None
    before = lexicon.shape(_PLEASE).sub("", clause.text[: found.start()])
    if is_told and not names_profile:
        return False
    if lexicon.words("words.speaker.me").search(before):  # 我手機也跟著刪了
        return clause is not where and clause.text.endswith("了") and not _is_undone(before, lexicon)
    is_wished = before.isascii() and _is_undone(before, lexicon)  # 要 before a Chinese verb asks
    if clause is not where:
        return not is_wished
    return names_profile or not (
        is_wished
        or not is_of_person(before, lexicon)
        or acts_itself(clause, technology, turn)
        or _is_a_thing(clause, technology, turn)
    )


def _is_brushed_off(clause: Clause, turn: HeardTurn) -> bool:
    """Whether the clause before says to leave a matter alone, and no more, and this one drops nothing."""
    brushes_off = turn.lexicon.shape(r"[\s,]*{gates.left.brush_off}[\s,]*")
    before = next((each for each in reversed(turn.clauses) if each.end <= clause.start), None)
    drops = any(turn.lexicon.words(name).search(clause.text) for name in ("roles.drop.before", "roles.drop.after"))
    return before is not None and not drops and brushes_off.fullmatch(before.text) is not None


def _is_told_to_be_left(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    """Whether a clause tells as a fact of its person that a technology is left, for whatever part of the work."""
    dropped = turn.lexicon.shape(_DROPPED).search(clause.text[: technology.start - clause.start])
    return dropped is not None and _is_told(clause, dropped.start(), turn)


def _is_said_to_be_left(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    """Whether words beside a technology say that it is left, whoever leaves it."""
    if _is_said_before(clause, technology, turn):
        return True
    behind = clause.text[technology.end - clause.start :]
    return turn.lexicon.shape(_DROPPED_BEHIND).match(behind) is not None


def _is_said_before(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    before = clause.text[: technology.start - clause.start]
    return bool(_moved(clause, technology, turn.lexicon) or turn.lexicon.shape(_DROPPED).search(before))


def _moved(clause: Clause, technology: Technology, lexicon: Lexicon) -> re.Match[str] | None:
    """Where words before a technology say that it is the one from which something moves."""
    at = technology.start - clause.start
    found = lexicon.shape(_MOVED).search(clause.text[:at])
    is_taken = found is not None and found[0][0] in "把将"  # 把 Ember 踢出去 moves to nothing
    return None if is_taken and not _TO.match(clause.text[technology.end - clause.start :]) else found


def _is_left_in(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    lexicon = turn.lexicon
    if clause.asks_to_know or _ASKS.search(clause.text):
        return False
    if lexicon.words("gates.left.profile").search(clause.text):
        return True  # «I'd like Excel gone from my tools»: the judge has heard that it is to go
    if _is_a_thing(clause, technology, turn) or _is_one_version(clause, technology, turn):
        return False
    before = clause.text[: technology.start - clause.start]
    if moved := _moved(clause, technology, lexicon):
        before = before[: moved.start()]
        is_all = _is_all(moved["what"] or moved["place"], technology, lexicon)
        is_so = is_all and _is_told(clause, moved.start(), turn)
    else:
        dropped = lexicon.shape(_DROPPED).search(before)
        is_from = dropped is None and _FROM.search(before) is not None
        verb = dropped[0] if dropped else ""
        before = lexicon.shape(_PLEASE).sub("", before[: dropped.start()] if dropped else before)
        is_so = not is_from and not _is_undone(before, lexicon) and not lexicon.words("gates.left.failed").search(verb)
        is_so = is_so and not acts_itself(clause, technology, turn) and is_of_person(before, lexicon)
        is_so = is_so and (dropped is not None or _is_left_by_person(clause, technology, lexicon))
        is_so = is_so and (bool(before.strip()) or clause.text.isascii() or _is_done(clause, turn))
    before = lexicon.shape(_BESIDE).sub(" ", before)
    parts = ("gates.left.part_before", before), ("gates.left.part_behind", _behind(clause, technology, turn))
    return is_so and not any(lexicon.words(name).search(text) for name, text in parts)


def _is_undone(text: str, lexicon: Lexicon) -> bool:
    """Whether words before what is left say that it has not happened."""
    return any(lexicon.words(name).search(text) for name in _UNDONE)


def _behind(clause: Clause, technology: Technology, turn: HeardTurn) -> str:
    """What a clause says behind a technology, without the one that has taken its place, its own place, and why."""
    lexicon, speech = turn.lexicon, turn.message.speech
    text = speech[technology.end : clause.end]
    taken = next((each for each in turn.message.technologies if technology.end <= each.start < clause.end), None)
    if taken and _TO.fullmatch(speech, technology.end, taken.start):
        text = speech[taken.end : clause.end]
    places = places_of(fold(technology.name), lexicon)
    if len(places) == 1:
        text = lexicon.shape(rf" ?(?:for|in|on|做|当)(?: our| my| the)? ?{{gates.place.{places[0]}.named}}").sub(
            "", text
        )
    return lexicon.shape(_ENDS).sub("", text)


def acts_itself(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    """Whether a technology is the subject of what is said, or another one is that says it: «Docker no longer supports
    Windows 7», Kubernetes 不再使用 Docker."""
    lexicon, named = turn.lexicon, turn.message.technologies
    here = [each for each in named if clause.start <= each.start < clause.end]
    first = here[0]
    before = clause.text[: first.start - clause.start]
    if lexicon.words("words.speaker.me").search(before):
        return False
    if first is technology:
        behind = clause.text[technology.end - clause.start :]
        says = lexicon.shape(_SAID_OF_IT).match(behind)
        return says is not None or (len(here) > 1 and lexicon.shape(_DROPS).match(behind) is not None)
    between = clause.text[first.end - clause.start : technology.start - clause.start]
    return not lexicon.words("words.speaker.me").search(between) and lexicon.shape(_DROPS).match(between) is not None


def _is_told(clause: Clause, at: int, turn: HeardTurn) -> bool:
    """Whether a clause tells what begins at `at` as a fact of its person: nobody and nothing else stands before it."""
    is_hypothetical = clause.is_hypothetical and not clause.has_happened
    if clause.asks_to_know or is_hypothetical or not turn.lexicon.shape(_TOLD).match(clause.text[:at]):
        return False
    return _is_done(clause, turn)


def _is_left_by_person(clause: Clause, technology: Technology, lexicon: Lexicon) -> bool:
    """Whether nobody else stands between a technology and the words that it is left: not Docker 我同事不用了."""
    behind = clause.text[technology.end - clause.start :]
    dropped = lexicon.words("roles.drop.after").search(behind)
    return dropped is None or is_of_person(behind[: dropped.start()], lexicon)


def _is_done(clause: Clause, turn: HeardTurn) -> bool:
    """Whether a clause says that something has happened; without a word for it, its sentence may ask about it."""
    if clause.text.endswith("了") or turn.lexicon.words("gates.left.done").search(clause.text):
        return True
    sentence = [each for each in turn.clauses if each.sentence == clause.sentence]
    return not any(each.asks_to_know or _ASKS.search(each.text) for each in sentence)


def _is_all(what: str | None, technology: Technology, lexicon: Lexicon) -> bool:
    """Whether what is moved is all for which a technology is used: everything, or the one place that it has."""
    if not what or lexicon.shape(_WHOLE).match(what) or lexicon.shape(_TOLD).match(what):
        return True
    places = places_of(fold(technology.name), lexicon)
    shape = rf"^(?:[ 的]|{_BESIDE}|{{gates.left.whole}}|{{gates.place.{places[0]}.named}})*$" if places else ""
    return len(places) == 1 and lexicon.shape(shape).match(what) is not None


def _is_a_thing(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    """Whether a name is part of that of a thing: Git GUI, Vim plugins, Redis 那一行, 簡報裡的 Docker."""
    words, at = turn.lexicon.words, technology.start - clause.start
    behind = clause.text[technology.end - clause.start :]
    is_kept = words("gates.left.profile").search(clause.text) is not None  # 我清單裡的 Docker
    beside = words("gates.left.thing").match(behind.lstrip()) or words("gates.left.holder").ends(clause.text[:at], 1)
    if beside and not is_kept:
        return True
    return bool(_LATIN.match(behind)) and not turn.lexicon.words("gates.left.follows").match(behind.lstrip())


def _is_one_version(clause: Clause, technology: Technology, turn: HeardTurn) -> bool:
    """Whether only a version is left: the same name stands behind it again, or a number and no other name."""
    text = turn.message.speech[technology.end : clause.end]
    others = [each for each in turn.message.technologies if technology.end <= each.start < clause.end]
    name = turn.message.speech[technology.start : technology.end]
    is_again = re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
    if is_again or any(each.name == technology.name for each in others):
        return True
    is_numbered = _VERSION.match(text) or (name[-1].isdigit() and not technology.name[-1].isdigit())
    return not others and bool(is_numbered)


def _is_taken_up_again(technology: Technology, turn: HeardTurn) -> bool:
    """Whether a turn says that its person is back, and not that he or she is back to something else."""
    behind = turn.message.speech[technology.end :]
    found = turn.lexicon.words("gates.left.again").search(behind)
    if found is None:
        return False
    at = technology.end + found.end()
    to = next((each for each in turn.message.technologies if at <= each.start < at + TO_CHARS), technology)
    return fold(to.name) == fold(technology.name) and not turn.lexicon.words("gates.left.not_again").ends(
        behind[: found.start()], 6
    )
