"""How a clause is built. What it puts in front stands in its usual place again, and is heard as if it were said so:
芒果我超爱 is 我超爱芒果, 把咖啡戒了 is 我戒咖啡, «on weekends I row» is «I row on weekends», «I gave coffee up» is «I
gave up coffee». And whether it can be understood alone: «we use it every day» and 我每天都喝 do not say what is
meant."""

from __future__ import annotations

import re

from vault_memory.core.extraction import load_lexicon, speaker
from vault_memory.core.text import lazily

_SAID_OF = "(?P<me>(?:我|咱)们?)"
_FRONTED = lazily(rf"^(?P<thing>(?:吉他|[^我咱你您他她它,]){{1,16}}?) ?{_SAID_OF}(?P<rest>[^我咱,]{{1,14}})$")
_FRAME = r"{sayings.frame.adverb}|{sayings.frame.now}|{sayings.frame.not}|{sayings.frame.often}|[ ,]"
_NO_THING = (
    r"^(?:{sayings.frame.lead}|{memorable.own.leads}|{memorable.own.adverb}|" + _FRAME + r")*$"
    r"|(?<!小)说|(?<!演)讲|觉得|知道|认为|(?:以为|因为|发现|希望|时候|[之以然最][前后]|[问想看是对跟和与让给叫把被比在]"
    r"|(?:[去今昨明那前后每几整多这]|[0-9一二三四五六七八九十])[年天日周]|个?(?:月|星期|礼拜))$"
)
"""What stands before «I» and is not what is spoken of: 所以, 最近, 大家都知道, 那年."""
_VERB = "|".join(
    f"{{sayings.{name}}}"
    for name in (
        *(
            f"relation.{relation}.yes"
            for relation in ("like", "have", "drive", "ride", "learn", "play", "speak", "use")
        ),
        "relation.like.no",
        "frame.over",
        "frame.act",
    )
)
_DONE = "(?:[得不](?:惯|了|来|下去|腻|厌))?(?:[了过着掉到]|得来)*"
_MANY = "(?:(?:[一二两三四五六七八九十几半]|[0-9])+多?(?:个月|辈子|[只条个匹台把辆间本年次遍口杯首])半?)?"
_BEHIND = "(?:[的了啦耶喔哦]|得(?:要命|要死|不得了|很)|到不行|死了)*$"
_BARE = rf"^(?P<done>(?:{_FRAME})*(?:{_VERB}){_DONE}{_MANY}){_BEHIND}"
"""The person's part with its verb at the end, with nothing behind it but how often, how long or how many."""
_MAY_DENY = lazily(r"^(?:吉他|[^我咱你您他她它,]){1,16}[不没][^我咱,a-z]{1,6}$")
_UNSAID = rf"^(?P<thing>.{{1,16}}?) ?(?P<done>(?:{_FRAME})*?(?:{{sayings.frame.not}})(?:{_VERB}){_DONE}){_BEHIND}"
"""The same of one who does not name himself, and says that it is so no more: 原神早就不玩了."""
_SINCE = lazily(
    r"^(?P<me>[我咱](?!们?的))?[^我咱你您他她它,a-z]{2,10}?(?:之|以)?后(?:就|便|都|才|已经)*(?=不|没|改|换|戒|开始)"
    r"|^(?:ever )?(?:(?:since|after) |(?=my |the ))[a-z0-9' ]{2,30}?,? "
    r"(?=i (?:do not|don't|no longer|stopped|quit|gave up|have|'ve) )"
)
"""After what it is so no more: 退休後就不打羽球了, of one who does not name himself."""
_OF_PERSON = lazily(rf"^{_SAID_OF}(?:都|也|家)?(?=[^我咱,a-z]{{1,14}}$)")
_HELD = lazily(r"^我?把(?P<thing>.{1,12}?)(?P<done>戒掉?|停掉?)了?$")
_LED = lazily(
    r"^(?P<lead>(?:on|in|at|every|each|during|most|this|last|for|since|over) [a-z0-9 ]{2,24}?) (?P<rest>(?:i|we) .+)$"
)
_PARTED = (
    r"{sayings.frame.parted} (?P<thing>[^,;:.!?\n]{1,28}?) (?P<particle>{sayings.frame.particle})"
    r"(?=$|[,;:.!?\n]| (?:{sayings.left.since}|(?:and|but|because|since|so|for|as|when|after)(?![a-z])))"
)
_HOME = lazily(r"^home (?:is (?P<place>.{2,30}) (?:for|to) (?:me|us)|(?:for|to) (?:me|us) is (?P<town>.{2,30}))$")


_POINTING = r"(?:it|this|that|these|those|they|them)"
_IS_SUBJECT = lazily(
    rf"^(?:{_POINTING}(?:'s|'re|'ll"
    r"| (?:is|are|was|were|has|have|does|do|did|will|would|can|works?|suits?|fits?|helps?))(?![a-z])"
    r"|(?:这|那|它)们?(?:[个些样]|就|也|都|才|真的)*(?:是|叫|对|适合|让))"
)
"""«It is what we use», 这个是我的最爱."""
_IS_EXPLAINED = lazily(r"(?<![a-z])(?:to [a-z]+|when|that|how)(?![a-z])")
"""«It takes me an hour to get to work», «I love it when it rains»."""
_ADJUNCT = (
    r"(?:and|but|at|in|on|every|each|for|all|too|a lot|so|very|really|since|from|with|now|already|here|again|"
    r"daily|weekly|by|the most|most|together|twice|once|before|after|until|because|as|over|instead|everywhere)"
)
_IS_OBJECT = lazily(
    rf"(?<![a-z])(?:(?:it|them|there|(?:this|that) one|the same)(?=$| {_ADJUNCT}(?![a-z]))"
    r"|(?:this|that|these|those)"
    r"(?=$| (?:every|too|a lot|all the time|at work|at home|for (?:years|work|everything))(?![a-z])))"
    r"|(?<!都)[这那](?:一?[个些样种款家边里件位只本部]|么)?(?:事|做|用|办|吃|喝|写|选|弄|搞|过)?[的了啦]*$"
    r"|[住去来]在?[这那][里边儿]|^.{0,8}[它牠祂]们?(?:$|[了的做写来])"
)
"""What is done is done to something that only these words point at."""
_NAMED_BEFORE = lazily(
    r",|(?<![a-z])(?:and|but|so|because|which|then)(?![a-z])|.(?<![a-z])(?:an?|my|our|some|two|three)(?= )|[但而又且]"
)
_BARE_VERB = lazily(
    r"^(?:i|we)"
    r"(?: (?:really|always|usually|still|just|also|often|never|all|have|'ve|do not|don't|already|mostly|finally))*"
    r" (?:do|use|like|love|prefer|decided?|agreed?|know|want|need|hate|enjoy|make|chose|did)"
    r"(?: (?:every|each) [a-z]+| daily| too| a lot| at (?:work|home))?$"
)


def usual_order(text: str) -> str:
    """A folded clause in the usual order of its words; the same if nothing in it is put in front."""
    text = with_particles_beside(text)
    if home := _HOME.match(text):
        return f"my home is {home['place'] or home['town']}"
    if held := _HELD.match(text):
        return f"我{held['done']}{held['thing']}"
    if (since := _SINCE.match(text)) and speaker(since[0], load_lexicon()) != "others":  # 我老公手術後就不 …
        text = f"{since['me'] or ''}{text[since.end() :]}"
    if led := _LED.match(text):
        return f"{led['rest']} {led['lead']}"
    fronted = _FRONTED.match(text)
    if not fronted:
        return _with_what_is_denied(text)
    lexicon = load_lexicon()
    bare = lexicon.shape(_BARE).match(fronted["rest"])
    if not bare or lexicon.shape(_NO_THING).search(fronted["thing"]):
        return text
    return f"{fronted['me']}{bare['done']}{fronted['thing']}"


def with_particles_beside(text: str) -> str:
    """A folded text in which a particle stands beside its verb, also where it was behind what the verb is about."""

    def beside(parted: re.Match[str]) -> str:
        verb = parted[0][: parted.start("thing") - parted.start() - 1]
        return f"{verb} {parted['particle']} {parted['thing']}"

    return load_lexicon().shape(_PARTED).sub(beside, text)


def _with_what_is_denied(text: str) -> str:
    """A clause of one who does not name himself, with what he does no more behind it."""
    lexicon = load_lexicon()
    denied = lexicon.shape(_UNSAID).match(text) if _MAY_DENY.match(text) else None
    if not denied or lexicon.shape(_NO_THING).search(denied["thing"]):
        return text
    return f"{denied['done']}{denied['thing']}"


def has_no_object(text: str) -> bool:
    """Whether a folded Chinese clause ends with what is done, and does not say to what: 我每天都喝, 我们养了两只."""
    said = _OF_PERSON.match(text)
    return said is not None and load_lexicon().shape(_BARE).match(text[said.end() :]) is not None


def is_whole(text: str) -> bool:
    """Whether a folded clause, in the usual order of its words, names what it speaks of."""
    text = text.rstrip(" .!~。")
    if _BARE_VERB.match(text) or has_no_object(text):
        return False
    if _IS_SUBJECT.match(text):
        return bool(_IS_EXPLAINED.search(text))
    pointing = _IS_OBJECT.search(text)
    return not pointing or bool(_NAMED_BEFORE.search(text[: pointing.start()]))
