"""Whose a technology is: only what the person, the person's group or a thing of theirs uses, or what is told without a
subject, teaches. Rules alone, behind the judge, who does not learn from them; the words are in `gates.toml`, `[who]`.
"""

from __future__ import annotations

import re

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.rules import HeardTurn
from vault_memory.core.text import lazily

_OPENS = r"^(?:[\s,:~-]|{memorable.own.leads})*"
_SOMEBODY = (
    rf"{_OPENS}(?:我们?的?|my|our|an?|the|one of my)? ?"
    r"(?:{gates.who.persons}|{voices.speaker.given}|[小阿](?![组队弟])[\u3400-\u9fff])"
)
_SOMEBODY_DOES = rf"{_SOMEBODY}的? ?(?:{{gates.who.does}})"
_OF_SOMEBODY = (
    rf"(?:{_SOMEBODY}(?:们|公司|团队|家|那边|学校)*的[^,我]{{1,8}}?|{_OPENS}(?:their|his|her) [a-z ]{{2,24}}?)"
    r"(?:{gates.who.adverbs}| )*(?:是|用|(?:is|are|was|were|uses?|runs?)(?![a-z]))"
)
_USES = (
    rf"{_OPENS}(?!(?:my|our|the|this|an?|one)(?![a-z]))(?P<who>[^,:]{{1,24}}?)(?:{{gates.who.adverbs}}| )*"
    r"(?P<how>是用|用的是|使?用|是|(?<= )(?:uses|runs on|(?:is|was) (?:{gates.who.made})))(?!来|过|户)[^,]{0,24}$"
)
_MADE_OF = r"^[^,]{0,24}?(?:{gates.who.makes})[^,]{0,4}的(?:$|[ ,啊喔吧呢])"
_MAKES_A_PART = r"^[^,]{0,24}?(?:{gates.who.makes})(?:了|出|它|自己|的)*(?:{gates.who.parts})"
"""Of a tool, too: who writes a part of it in Rust has made it, and who writes a script there uses it."""
_IS_MADE = (
    r"[a-z0-9+#. ]+(?:[的 ]|{gates.who.parts}|{gates.who.adverbs})*"
    r"(?:是用?(?!来|过)[^,]{1,24}(?:{gates.who.makes})的|(?<= )(?:is|was) (?:{gates.who.made}) )"
)
_PART = r"(?:[的 ]|(?:'s|s') |{gates.who.parts}|{gates.who.adverbs})+$"
_OF_MARKET = r"^[这那](?:个|款|套|支|种)?(?:{gates.who.market})$"
_NAMES = lazily(r"(?<![A-Za-z])[A-Z][A-Za-z]*[a-z][A-Za-z]*(?![a-z])|(?<![A-Za-z])[A-Z](?=[\u3400-\u9fff])")
_NO_NAME = lazily(r"[年月周天日期假候时晚末前后初次来始图片稿表器端机件码页面档库版层站论率算析程型模]$")
"""Ends a time or a thing of whatever name: 大二上学期, 效果图."""
_OF_MINE = (
    r"(?:(?<![a-z])(?:my|our) (?:(?!favou?rite|usual|go)[a-z\-]+ ){0,3}?|我们?(?:的|有一?个)[^,.;:!?。的最用]{0,6}?)"
    r"(?:{subjects.built}|{gates.who.market}|{gates.who.projects})"
)
_CALLED = r"(?:called|named|叫做?|名叫|名为|名字是|名字叫)"
_MAKES = r"(?:{subjects.frames.builds}|{gates.who.makes})(?:在|了|过|着|出|一?[个款套支]|a|an|the| )*"
_I_MAKE = rf"(?:{{words.speaker.me}})[^,.;:!?。]{{0,12}}?{_MAKES}"
_THING_CALLED = (
    rf"(?:{_OF_MINE}[ ,]*(?:(?:is|是) ?)?(?:{_CALLED} ?)?|{_I_MAKE}[^,.;:!?。]{{0,24}}?{_CALLED} ?)(?<![a-z0-9])$"
)
_MADE_BY_ME = rf"{_I_MAKE}(?<![a-z0-9])$"
_NAME_ENDS = lazily(r"$| ?[,.;:!?。这]| (?:and|for|in|with|on|at|to|which|that|now|since)(?![a-z])")
_IS_MINE = rf" ?(?:is|是) ?(?:{_OF_MINE}|我们?(?:自己)?{_MAKES}的)"
BEFORE_NAME_CHARS = 80
"""So far before a name is read whose it is."""
_KNOWN = ("gates.who.own", "gates.who.parts", "subjects.built", "subjects.technical", "gates.choice.parts")


def is_of_somebody_else(proposal: Proposal, turn: HeardTurn) -> bool:
    """Whether, wherever a technology is named, its sentence tells what somebody else uses or has left, or what a thing
    is made with that is not the person's: 我同事不用 Docker 了，改用 Podman; Netflix 用 Java 寫後端."""
    named, at = turn.message.technologies, proposal.start + proposal.offset
    name = next((each.name for each in named if each.start == at), None)
    places = [each.start for each in named if each.name == name] or [at]
    return all(_is_told_of_somebody_else(place, turn) for place in places)


def _is_told_of_somebody_else(at: int, turn: HeardTurn) -> bool:
    """Whether the sentence of a place tells, before it, what somebody else does or has, or what is made with it."""
    clause = next((each for each in turn.clauses if each.start <= at < each.end), None)
    if clause is None:
        return False
    lexicon = turn.lexicon
    first = next(each for each in turn.clauses if each.sentence == clause.sentence)
    said = turn.message.speech[first.start : at]
    me = lexicon.words("words.speaker.me")
    does = lexicon.shape(_SOMEBODY_DOES).match(said)
    if does is not None and not me.search(said, does.end()):
        return True
    has = lexicon.shape(_OF_SOMEBODY).match(said)
    if has is not None and not me.search(said, has.end()):
        last = next(each for each in reversed(turn.clauses) if each.sentence == clause.sentence)
        behind = turn.message.speech[at : last.end]
        mine = me.search(behind)  # 我哥公司的網站是 Drupal，我接手維護
        return mine is None or lexicon.words("roles.work.sentence").search(behind, mine.end()) is None
    if lexicon.shape(rf"{_OPENS}$").match(said) and lexicon.shape(_IS_MADE).match(clause.text, at - clause.start):
        return True
    return _is_of_a_product(clause, at, turn)


def _is_of_a_product(clause: Clause, at: int, turn: HeardTurn) -> bool:
    """Whether a clause tells what a thing with a name of its own is made with, and the name is not the person's: its
    subject is a name alone, or the name and one of its parts (抖音的後端用 Go)."""
    lexicon, message = turn.lexicon, turn.message
    uses = lexicon.shape(_USES).match(clause.text[: at - clause.start])
    if uses is None or lexicon.words("words.speaker.me").search(clause.text[: at - clause.start]):
        return False
    who = uses["who"]
    made = lexicon.shape(_MADE_OF).match(clause.text[at - clause.start :]) is not None
    is_subject = uses["how"] == "是用" or made or uses["how"][0].isascii()
    if is_subject and lexicon.shape(_OF_MARKET).match(who):
        return not any(lexicon.words("words.speaker.me").search(each.text) for each in turn.clauses)
    owner = re.sub(lexicon.shape(_PART), "", who)
    is_known = any(lexicon.words(name).search(owner) for name in _KNOWN)
    if not owner or is_known or _is_introduced_as_own(owner, turn):
        return False
    start = clause.start + uses.start("who")
    written = message.written[start : start + len(owner)]
    if _NAMES.search(written):
        named = next((each for each in message.technologies if start <= each.start < start + len(owner)), None)
        makes_part = lexicon.shape(_MAKES_A_PART).match(clause.text[at - clause.start :]) is not None
        is_place = named is not None and not (named.category == "tools" and makes_part)
        return made or (uses["how"] != "是" and (is_subject or not is_place))
    has_part = "的" in who[len(owner) :] and uses["how"] != "是"
    if owner.isascii():
        return has_part and written.isupper()  # LINE 的伺服器, not MQTT 用 EMQX
    return not _NO_NAME.search(owner) and (is_subject or has_part)


def _is_introduced_as_own(name: str, turn: HeardTurn) -> bool:
    """Whether a turn says that a name is that of a thing which the person makes or has made: «my project Foodie»,
    我做了一个 app 叫 Foodie, «Foodie is our app». No known technology is."""
    name, speech = name.strip(), turn.message.speech
    if name in turn.lexicon.names:
        return False
    places = (found.span() for found in re.finditer(re.escape(name), speech))
    return any(
        _is_mine(speech[max(0, start - BEFORE_NAME_CHARS) : start], speech[end:], turn.lexicon) for start, end in places
    )


def _is_mine(before: str, behind: str, lexicon: Lexicon) -> bool:
    """Whether the words around a name say that it is that of a thing of the person's."""
    called = lexicon.shape(_THING_CALLED).search(before)
    made = lexicon.shape(_MADE_BY_ME).search(before) if _NAME_ENDS.match(behind) else None
    said = [each[0] for each in (called, made, lexicon.shape(_IS_MINE).match(behind)) if each]
    return any(lexicon.words("gates.who.persons").search(each) is None for each in said)
