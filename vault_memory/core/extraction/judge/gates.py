"""Gates: what is kept out although the judge finds it likely. They add nothing, and the judge does not learn from them.

A technology that the turn says is not used is no tool; the level is that of work with computers, not of cooking; a
choice of a technology is no project; and what is only imagined or heard is not so. The words are in `gates.toml`.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault_memory.core.extraction import skills, styles
from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.judge.facts import is_of_person
from vault_memory.core.extraction.judge.leaving import is_left, tells_of_moving
from vault_memory.core.extraction.judge.owners import is_of_somebody_else
from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.person import places
from vault_memory.core.extraction.rules import HeardTurn, shared_words
from vault_memory.core.text import fold, lazily, tokens

WORD_CHARS = 24
"""Before a name, so far is looked for what makes it another word."""


def is_gated(proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether a proposal that would be written or suggested must be neither. Of what is taken back only technologies
    and notes are looked at."""
    signal, lexicon = proposal.signal, turn.lexicon
    if signal.op == "remove" and signal.key == "note":
        return not _takes_back_note(signal.value, turn)
    if signal.op == "remove":
        return signal.key in skills.TECHNOLOGY_LISTS and not is_left(signal.value, turn)
    if signal.key in styles.STYLES:
        return False  # «imagine I am five: short words» and 好像在看說明書 are wishes
    if any(start <= proposal.start < end for start, end in unreal_spans(turn.clauses, lexicon)):
        return True
    clause = turn.message.speech[proposal.start : proposal.end]
    if signal.key in skills.TECHNOLOGY_LISTS:
        if _is_unused(clause, proposal.offset, lexicon) or _is_elsewhere(clause, proposal.offset, lexicon):
            return True
        if signal.op == "add" and is_of_somebody_else(proposal, turn):
            return True
        if _is_another_word(proposal, turn) or _is_everyday(proposal, turn):
            return True
        return not tells_of_moving(proposal, turn)
    if signal.key == "timezone":
        if any(
            lexicon.words(name).search(turn.message.speech) for name in ("people.time.spoken_of", "gates.home.clock")
        ):
            return False  # «I live by New York time»; on a trip, too, times may be asked for as they are there
        return lexicon.words("gates.elsewhere.trip").search(clause) is not None or not _is_home(proposal, turn)
    if signal.key == "level":
        return _is_of_another_craft(signal.value, turn)
    if signal.key == "current_projects" and proposal.origin == "words":
        return _is_a_choice(clause, proposal, turn)
    return False


# --- notes ------------------------------------------------------------------------------------------------------------

_FORGETS = "(?:{memorable.forget.verbs}|{memorable.forget.deletes}|{memorable.forget.at_end})"
_ASKING = rf"{_FORGETS}|{{words.negation.retracts}}|{{subjects.remember.before}}|[我咱你]们?的"
_KEPT = (
    r"(?:{subjects.refused.orders}|{subjects.refused.unwanted}(?: to)?|(?<![a-z])(?:not|never|cannot|[a-z]+n't)"
    rf"(?: (?:to|ever|you|let me|let us))*|[不别勿没莫][要能会可想准]?)[ 再把将]*{_FORGETS}"
    r"(?! to |要?{memorable.forget.deletes})"  # «don't forget to delete …» takes back
)
"""Says that something is not to be forgotten: «remind me not to forget», 別忘掉."""


def _takes_back_note(note: str, turn: HeardTurn) -> bool:
    """Whether a turn that shares words with a note names what that is about, and not only how it asks for it
    («forget»), and does not say that it is not to be forgotten."""
    lexicon, said = turn.lexicon, fold(turn.message.written)
    if shared_words(fold(note), said) is None:  # the rules have named it otherwise
        return True
    asks = lexicon.shape(_ASKING)
    matter, named = (tokens.query_terms(asks.sub(" ", each)).search_terms for each in (fold(note), said))
    return lexicon.shape(_KEPT).search(said) is None and not {*matter}.isdisjoint(named)


# --- what is not so ---------------------------------------------------------------------------------------------------

_IMAGINED = r"^(?:[\s,:~-]|{memorable.own.leads})*{gates.unreal.imagined}"
_HEARD = r"^(?:[\s,:~-]|{memorable.own.leads})*(?:{memorable.own.subject} ?)?{gates.unreal.heard}"


def unreal_spans(clauses: Iterable[Clause], lexicon: Lexicon) -> list[tuple[int, int]]:
    """Where a message tells what is only imagined (to the end of the sentence) or only heard (that clause): 想像我住在
    巴黎, 聽說公司要搬家."""
    found: list[tuple[int, int]] = []
    imagined: int | None = None
    for clause in clauses:
        if lexicon.words("gates.unreal.imagined").search(clause.text) and lexicon.shape(_IMAGINED).match(clause.text):
            imagined = clause.sentence
        is_heard = lexicon.words("gates.unreal.heard").search(clause.text) is not None
        if clause.sentence == imagined or (is_heard and lexicon.shape(_HEARD).match(clause.text)):
            found.append((clause.start, clause.end))
    return found


# --- place ------------------------------------------------------------------------------------------------------------


_OF_TIME = ("people.time.spoken_of", "gates.home.clock")


def _is_home(proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether the person lives where a clause says that somebody lives, has moved or, in Chinese, is: not 我想搬到東京,
    «my team moved to Berlin», 我在東京出生. Where no such verb stands before a place, nothing may have been brought
    there (我把錢轉到新加坡了); else nothing is asked of it."""
    lexicon, speech = turn.lexicon, turn.message.speech
    text = speech[proposal.start : proposal.end]
    before_place, behind = text[: proposal.offset], text[_end_of_place(text, proposal.offset, lexicon) :]
    if lexicon.words("gates.home.invented").search(text) or lexicon.shape(_BRINGS).search(before_place):
        return False
    verbs = lexicon.words("gates.home.verbs").finditer(text)
    found = [each for each in verbs if each.end() <= proposal.offset]
    if not found:
        if to := _TO_PLACE.search(before_place):
            return _is_here(before_place[: to.start()], behind, lexicon)
        is_in = _IS_IN.search(before_place)
        return is_in is None or _is_here(before_place[: is_in.start()], behind, lexicon)
    verb = found[-1]
    before, between = before_place[: verb.start()], before_place[verb.end() :]
    is_planned = verb[0] == "moving" and lexicon.words("gates.home.later").search(text) is not None
    others = ("words.speaker.others", "gates.home.others")
    return (
        not is_planned
        and not _PAST.search(between + behind)
        and not _moves_a_thing(verb[0], before, between, lexicon)
        and lexicon.words("gates.home.others").search(between) is None
        and not any(lexicon.words(name).search(before) for name in ("gates.home.unreal", "sayings.frame.was"))
        and all(is_of_person(before, lexicon, each) for each in others)
    )


_BRINGS = r"[把将](?!{gates.home.oneself})[^,]*$"
_TO_PLACE = lazily(r"(?:[到往至]|(?<![过出])去|(?<![a-z])(?:to|into)(?: the)?) ?$")
_ON_THE_WAY = (
    r"^[ 了过]*(?!(?:all|both) (?!the way))"
    r"(?:{gates.home.way}|{gates.home.oneself}|{gates.left.time}|{gates.left.just}|[a-z]+ly(?![a-z])|$)"
)
_THING_OF_MINE = (
    r"我们?的(?!{gates.home.oneself})[^我,]+$"
    r"|^(?:[\s,:~-]|{memorable.own.leads})*(?:my|our) (?!.*(?<![a-z])(?:i|we|me|us|family|household)(?![a-z]))"
)


def _moves_a_thing(verb: str, before: str, between: str, lexicon: Lexicon) -> bool:
    """Whether a thing is what moves: it is named as the subject («my piano moved to Paris»), or it stands behind a verb
    that may have an object where the way, the time or the place of a person's move would begin («moved my piano to
    Paris», 搬了一箱書到東京)."""
    if lexicon.shape(_THING_OF_MINE).search(before):
        return True
    carries = lexicon.shape("{gates.home.carries}").fullmatch(verb) is not None
    is_on_the_way = lexicon.shape(_ON_THE_WAY).match(between) is not None
    return carries and not is_on_the_way and not any(start == 0 for start, _, _ in places(between, lexicon))


_IS_IN = lazily(r"(?:(?<![现正实存])在|喺)[^,在]{0,6}$")
_PAST = lazily("过(?!来|去|得|着)|的时候")
_NOW = (
    r"^(?:.*(?:{words.speaker.me})们?|(?:[\s,:~-]|{memorable.own.leads})*)(?:[ ,]|{gates.home.now}|{gates.left.just})*$"
)
_STAYS = (
    r"^ ?(?:{gates.home.around})?"
    r"(?:[^,了过]{0,8}?{gates.home.stays}|(?:当|做|担任)[^,了过]{0,8}?{memorable.fact.roles})?"
    r"(?:了?[^,了过]{1,5}[年月周天]了)?(?:[了啦呢喔耶啊呀哦的]| )*$"
)


def _is_here(before: str, behind: str, lexicon: Lexicon) -> bool:
    """Whether a clause in which somebody is in a place (在) says that it is the person, and that he or she stays there:
    nothing stands between the two but «now» and the like, and behind the place nothing that was once done there."""
    is_now = lexicon.shape(_NOW).match(before) is not None
    return is_now and lexicon.shape(_STAYS).match(behind) is not None


def _end_of_place(text: str, at: int, lexicon: Lexicon) -> int:
    """Where the name of a place ends that begins at `at`, with the place within it that follows: 日本東京."""
    for start, end, _ in sorted(places(text, lexicon)):
        at = end if start == at else at
    return at


# --- technologies -----------------------------------------------------------------------------------------------------

_FORGOTTEN = (
    r"(?<![别勿不没])(?<!不[要能会可])(?<!别再)(?<!千万)(?<!don't )(?<!never )(?<!not )"
    r"(?:{memorable.forget.verbs}|{memorable.forget.keeps})"
    r"(?: (?:about|that|i|we|use|using|my|our|the)|我们?|在|用|的| )*+$"
)
_UNUSED = (
    r"(?<![没有非得不能会可法])(?<!why )(?:{gates.unused.no}) ?(?:(?:{gates.unused.between}) ?)*(?:{gates.unused.uses})"
    r"(?: ?(?:{gates.unused.between}))* ?$"
)


def _is_unused(clause: str, at: int, lexicon: Lexicon) -> bool:
    """Whether a clause says of the technology at a place that it is not used: 我們沒用 Docker, not «we didn't use it
    until May»."""
    if lexicon.shape(_FORGOTTEN).search(clause[:at]):
        return True  # 忘了 Docker 吧
    if not lexicon.shape(_UNUSED).search(clause[:at]):
        return False
    return lexicon.words("gates.unused.until").search(clause[at:]) is None


def _is_elsewhere(clause: str, at: int, lexicon: Lexicon) -> bool:
    """Whether a clause names a technology as that of a dream, a job that is not the person's, or what nearly came."""
    found = lexicon.words("gates.elsewhere.before").search(clause[:at])
    return found is not None and lexicon.words("gates.elsewhere.still").search(clause[found.end() : at]) is None


def _is_another_word(proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether the name of a technology is that of a game, a car or a person: «I play Go», «I like Julia, my boss»."""
    speech, at = turn.message.speech, proposal.start + proposal.offset
    end = next((each.end for each in turn.message.technologies if each.start == at), at)
    before, behind = speech[:at].rstrip(" (,"), speech[end:].lstrip(" (,")
    words = turn.lexicon.words
    other = words("gates.elsewhere.word_after").match(behind)
    is_all = other is not None and not behind[other.end() :].lstrip()[:1].isalnum()
    return is_all or words("gates.elsewhere.word_before").ends(before[-WORD_CHARS:], 0)


_OF_WORK = ("gates.elsewhere.of_computers", "gates.craft.of_computers", "subjects.technical")


def _is_everyday(proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether the name of a technology is an ordinary word in a turn that names no other and says nothing of computers:
    a thing of everyday life that is loved («I love spring»), what goes on with a word («I prefer express trains») or
    where somebody lives («I live in Phoenix»)."""
    message, words = turn.message, turn.lexicon.words
    at = proposal.start + proposal.offset
    named = next((each for each in message.technologies if each.start == at), None)
    if named is None or len({each.name for each in message.technologies}) > 1:
        return False
    name, before, behind = message.speech[at : named.end], message.speech[:at], message.speech[named.end : proposal.end]
    if not message.speech.isascii() or words("gates.elsewhere.at_work").ends(before, 1):
        return False
    rest = before + behind
    if any(words(each).search(rest) for each in _OF_WORK):
        return False
    if words("gates.elsewhere.places").match(name) and words("gates.elsewhere.dwells").ends(before, 1):
        return True
    if not turn.lexicon.is_ordinary(name):
        return False
    is_thing = words("gates.elsewhere.everyday").match(name) is not None
    is_inside = message.written[at].isupper() and before.strip(" ,.!?")
    if is_inside or not words("gates.elsewhere.loved").search(rest):
        return False
    follows = ("gates.left.follows", "gates.elsewhere.how_much")
    return is_thing or (_LATIN.match(behind) is not None and not any(words(e).match(behind.lstrip()) for e in follows))


_LATIN = lazily(" [a-z]")
_FOR_A_PART = r" ?(?:{gates.choice.as})?( (the|our|an?) )? ?(?:(?:{gates.choice.parts}|{subjects.technical}) ?){1,3}$"


def _is_a_choice(clause: str, proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether a clause says which technology somebody uses or takes for a part of a system, and names nothing that is
    built: 用 Kafka 做消息队列."""
    named = [each for each in turn.message.technologies if proposal.start <= each.start < proposal.end]
    words = turn.lexicon.words
    if not named or words("subjects.frames.making").search(clause):
        return False
    before, behind = clause[: named[0].start - proposal.start], clause[named[-1].end - proposal.start :]
    if not any(words(f"roles.{role}.before").ends(before, 2) for role in ("choice", "use")):
        return False
    return turn.lexicon.shape(_FOR_A_PART).match(behind) is not None


# --- level ------------------------------------------------------------------------------------------------------------

_OF_COMPUTERS = ("gates.craft.of_computers", "gates.craft.asked", "people.level.beginner_said", "subjects.technical")
_AT_A_CRAFT = r"(?:'s)? ?(?:{gates.craft.at}) (?!(?:this|that|it)(?![a-z]))[^,;]"
_OF_A_TRADE = r" ?的?(?:{gates.craft.parents}|{memorable.fact.roles})"
_LEARNT = r"(?:{memorable.fact.being})(?:{people.level.barely}|[一个名位])*(?:(?![我你是])[\u3400-\u9fff]){2,6}?的?$"
_IN_A_TRADE = r"(?:{people.level.is_me}|been an?|当|做|教)[^,;]{0,12}?(?:{memorable.fact.roles})"


def _is_of_another_craft(level: str, turn: HeardTurn) -> bool:
    """Whether a turn says how good its person is at something else than computers: each time the level is named it is
    that of another craft («a beginner at yoga», 新手爸爸, 鋼琴初學者); or it is not named, and the person's trade is
    («I've been a chef for twenty years»)."""
    speech, words = turn.message.speech, turn.lexicon.words
    if turn.message.technologies or any(words(each).search(speech) for each in _OF_COMPUTERS):
        return False
    named = [match.span() for match in words(f"people.level.{level}").finditer(speech)]
    if not named:
        return turn.lexicon.shape(_IN_A_TRADE).search(speech) is not None
    return all(_names_another_craft(speech[:start], speech[end:], turn.lexicon) for start, end in named)


def _names_another_craft(before: str, after: str, lexicon: Lexicon) -> bool:
    """Whether a craft stands beside a level that is named between the two."""
    beside = (_AT_A_CRAFT, _OF_A_TRADE)
    return any(lexicon.shape(each).match(after) for each in beside) or bool(lexicon.shape(_LEARNT).search(before))
