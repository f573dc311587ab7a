"""What a person asks to be forgotten of what was said: «forget that I like coffee», 把我喜歡咖啡的事忘了.

A request names what is meant as something told, known or remembered («what I told you about my dog», 關於芒果的記憶),
or says it of the person again («that I like tea»), or is all that the message says («forget about my guitar lessons»).
To drop a subject and go on with another is none. The words are data (`lexicon/memorable.toml`, `[forget]`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from vault_memory.core.extraction import Clause, HeardTurn, Lexicon, load_lexicon, read_turn, takes_back_the_last
from vault_memory.core.memorable.asked.forget import Forget, is_statement
from vault_memory.core.memorable.asked.wanted import asked_for, asks_in_place, favourite_in, is_kind, is_named
from vault_memory.core.memorable.kinds import LIFE, VEHICLES, opening
from vault_memory.core.memorable.parts import goes_on_with_list
from vault_memory.core.memorable.wording import DO, read_saying
from vault_memory.core.memories import categories
from vault_memory.core.text import fold, lazily, tokens

_ASKS = r"(?:(?:{memorable.forget.asks}|{subjects.matter.polite})[ ,]*)*"
_BEGINS = (
    rf"^(?:{{memorable.forget.too}} ?)*{_ASKS}(?:(?P<unsaid>{{memorable.forget.unsaid}})"
    r"|(?P<verb>{memorable.forget.verbs})"
    r"|(?P<keeps>{memorable.forget.keeps})(?P<record> {memorable.forget.record_of})?|{memorable.forget.deletes})"
)
_ENDS = (
    rf"^{_ASKS}(?P<front>{{memorable.forget.from_memory}})?{_ASKS}(?P<whole>把|将)?(?P<object>(?!别|不要|不准|千万|没).*?)(?<![别不没勿邀申])(?:{{memorable.forget.too}}|{_ASKS})*"
    r"(?P<place>{memorable.forget.from_memory}(?:把|将)?)?"
    r"(?:(?P<unsaid>{memorable.forget.unsaid_at_end})|(?P<verb>{memorable.forget.at_end})"
    r"|(?P<dropped>{memorable.forget.dropped})|{memorable.forget.deletes})"
    r"(?:[ ,]|{memorable.forget.rest})*$"
)
_POLITE_QUESTION = r"^(?:{subjects.matter.polite}|[ ,])*{memorable.forget.asks}"
_BEFORE = (
    r"^(?:[\s,:~]|(?P<named>{memorable.forget.named})|(?P<thing>{memorable.forget.thing})"
    r"|(?P<detail>{memorable.forget.detail})|(?P<spoken>{memorable.forget.about})|(?P<that>{memorable.forget.that}))"
)
_BEHIND = (
    r"(?:(?P<named>{memorable.forget.named_behind})|(?P<matter>{memorable.forget.spoken_behind})"
    r"|(?P<record>{memorable.forget.record})"
    r"|(?<!my )(?<!our )(?<! a )(?<!the )(?P<pointed>{memorable.forget.pointed}))$"
)
_HELD = r"^{memorable.forget.held}"
"""Of what the assistant's memory is: 你對我愛看棒球的記憶."""
_ONE_POINTED_AT = r"^(?:(?:(?:the|that|this|all that) )?[a-z].* |[^我]+){memorable.forget.pointed}$"
"""A matter that is only pointed at: «the pizza thing», 吃辣那個."""
_MATTER = r"^{memorable.forget.about}.+(?:{memorable.forget.spoken_behind}|{memorable.forget.record})$"
"""Names a matter in front: 關於茶的事."""
_REST = r"(?:[\s,:~.!?]|{memorable.forget.rest}|{subjects.matter.polite})*$"
_IDIOM = r"^(?:{memorable.own.leads}|[ ,])*forget it$"
"""Says no more than «never mind»."""
_LAST = lazily("(?<![a-z])(?:just|last)(?![a-z])|刚|前面|上面|上一")
"""Says that no more is meant than what was said just now."""
_POINTS = r"^(?:[\s,:~.!?的]|{memorable.forget.pointing})*$"
_EVERYTHING = r"^(?P<own>(?:我|咱)们?(?:自己)?的?)?(?:{memorable.forget.all})的?$"
_SAYS_NO_MORE = r"^(?:[\s,:~.!?]|{memorable.forget.rest}|{subjects.matter.polite}|{memorable.own.leads})*$"
_NAMED = r"(?:that |the fact that )?(?:i|we|my|our)(?![a-z])|(?:where|what|which|who) (?:i|my)"
_GOES_ON = (
    r"^(?:and|or|plus|also|as well as|[ ,])+ (?=(?:that|the fact that) (?:i|we|my|our)(?![a-z])"
    r"|(?:where|what|which|who) (?:i|my)|(?:my|our) [a-z]+$)|^(?:还有|以及|和|跟|也)+(?=我)"
)
"""Names more of what is to be forgotten: «and where I live», 還有我住羅馬."""
_JOINED = (
    rf"(?:[,、]|\s+(?:and|or|as well as))\s*(?:(?:{{memorable.forget.too}} ?)*{_ASKS}"
    rf"(?:(?P<verb>{{memorable.forget.verbs}})|(?P<task>{{memorable.forget.deletes}}))\s*|(?={_NAMED}))"
    rf"|(?:和|跟|以及|还有|也|、)+(?:{_ASKS}(?:(?P<han_verb>{{memorable.forget.verbs}})|(?P<han_task>{{memorable.forget.deletes}}))|(?=我))"
)
"""Between the several things that a request names; its verb may be said again: «where I live and forget my job»."""
_AND = lazily(r"(?: and (?:my )?|[和跟与及、](?:我的)?|以及(?:我的)?|,)")
_ME, _I = lazily(r"^me (?=[a-z]+ing(?![a-z]))"), lazily(r"^i (?=[a-z]+ing(?![a-z]))")
_STATES = lazily(
    r"^(?:(?:i|we)(?:'m|'ve|'d|'re)?(?![a-z])|(?:我|咱|俺)(?!们?家?的)们?(?:家(?![人庭乡长教]))?"
    r"|(?:my|our)(?= .*(?:is|are|has|have)\b)|我的(?=.*[叫是在有]))"
)
_CALLED = lazily(r"^(?:please )?call me (?=.)|^请?(?:都)?叫我(?=.)")
_OWN = lazily(r"^(?:(?:my|our|all (?:of )?my)(?![a-z]) ?|(?:我|咱)们?家?的)")
_ELSEWHERE = lazily(r" (?:from|in|on|out of|inside|within|of) (?:the|this|that|these|those|an?|its|their)(?![a-z])|的.")
"""Says of what a part is meant, that is no memory: 關於茶的段落, «everything about tea from the README»."""
_PERSON = ("me", "myself", "us", "我", "我自己", "我们", "我这个人")
_ARTICLE = lazily(r"^(?:(?:the|all|any)(?![a-z]) ?)+")
_TOLD = lazily("^(?:what|everything|anything|whatever|all)(?![a-z])")
_TAKES = lazily("[把将]")
_HAS_TAKEN = lazily("^(?:我|咱|俺)们?(?:已经|就|又|都)?[把将]")
"""Says what its person has done: 我把茶的事忘了."""
_THIS = lazily("^(?:(?:it|that|this)|[这那](?:个|句|点|条)?)$")
_THIS_FIRST = lazily("^(?:(?:it|that|this)(?![a-z])|[这那](?:个|句|点|条)?(?![件个些]))")
_TO_YOU = lazily("[请你您帮]|麻烦|拜托|劳烦")
_LATIN = lazily("[a-z0-9]")
_HAN = lazily("[\u3400-\u9fff]")
MIN_HAN_CHARS, MIN_LATIN_CHARS = 2, 3
"""Less says nothing of what is meant."""
_TIMES = frozenset(("weekday", "month", "season", "holiday"))
"""Categories of when."""
_DONE = frozenset(("sport", "exercise", "dance", "hobby", "art", "martial_art"))
"""Categories of what one does: 跑步."""
_HAD = LIFE["have"] | VEHICLES
MAX_AROUND = 12
"""Phrases and blanks that stand around what is to be forgotten."""


class _Request(NamedTuple):
    """What a clause asks to be forgotten, as it is written; `is_of_memory`: its verb alone says that it is about what
    is remembered; `is_unsaid`: that it was told; `may_be_slip`: by its verb it may say as well what its person has
    forgotten to do (忘了喝咖啡)."""

    object: str
    is_of_memory: bool
    is_unsaid: bool = False
    may_be_slip: bool = False


def asks_to_forget(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether a clause asks that something said before be forgotten."""
    request = _request(clause, lexicon)
    if request is None or _only_points(request, lexicon):
        return request is not None and (request.is_of_memory or bool(request.object))
    is_told = _STATES.match(request.object) is not None and not _TAKES.search(request.object)
    return is_told or _read(request, lexicon, is_all=True) is not None


def to_forget(user_msg: str, lexicon: Lexicon | None = None) -> list[Forget]:
    """What a message asks to be forgotten. Nothing of one that orders the system about, or that takes back what was
    said just before, whatever that is."""
    lexicon = lexicon or load_lexicon()
    turn = _turn_that_asks(user_msg, lexicon)
    return [each.forget for each in _asked(turn)] if turn else []


def without_requests(user_msg: str, lexicon: Lexicon | None = None) -> str:
    """A message with what its requests to forget say blanked, of the same length: what is to be forgotten is no news
    of its person."""
    lexicon = lexicon or load_lexicon()
    turn = _turn_that_asks(user_msg, lexicon)
    if turn is None:
        return user_msg
    for asked in _asked(turn):
        start, end = turn.message.place(asked.start), turn.message.place(asked.end)
        user_msg = user_msg[:start] + " " * (end - start) + user_msg[end:]
    return user_msg


def asked_spans(turn: HeardTurn) -> list[tuple[int, int]]:
    """Where in the speech of a turn it asks that something be forgotten, with what that names."""
    if not turn.lexicon.words("memorable.forget.near").search(turn.message.speech):
        return []
    return [(each.start, each.end) for each in _asked(turn)]


def _turn_that_asks(user_msg: str, lexicon: Lexicon) -> HeardTurn | None:
    """The message cut into clauses; None if none of them can be a request to forget."""
    if not lexicon.words("memorable.forget.near").search(fold(user_msg)):
        return None
    turn = read_turn(user_msg, "", {}, lexicon)
    return None if turn is None or takes_back_the_last(user_msg, lexicon) else turn


class _Asked(NamedTuple):
    """A request of a message, and where in its speech that begins and ends, with the clauses that belong to it."""

    forget: Forget
    start: int
    end: int


def _asked(turn: HeardTurn) -> Iterator[_Asked]:
    lexicon = turn.lexicon
    clauses = [each for each in turn.clauses if not lexicon.shape(_SAYS_NO_MORE).match(each.text)]
    asked = {at: request for at, each in enumerate(clauses) if (request := _request(each, lexicon))}
    for at, each in enumerate(clauses[1:], 1):
        if at not in asked and at - 1 in asked and (more := lexicon.shape(_GOES_ON).match(each.text)):
            asked[at] = asked[at - 1]._replace(object=each.text[more.end() :].strip())
        if at not in asked and at - 1 not in asked and turn.is_refused and _is_told_before(clauses[at - 1], each, turn):
            asked[at] = _Request("", True)
    pointed = {at - 1 for at in asked if at and _only_points(asked[at], lexicon) and at - 1 not in asked}
    is_all = len(asked) + len(pointed) == len(clauses)
    for at, request in asked.items():
        first = clauses[at]
        if at - 1 in pointed:  # 我討厭香菜這件事，請忘掉
            first = clauses[at - 1]
            objects = _of_what_it_points_at(request, first.text, clauses[at].text, turn, is_all=is_all)
        else:
            objects = [request]
        several = _several(objects[0], lexicon, is_all=is_all)
        forgets = several or [each for each in (_read(each, lexicon, is_all=is_all) for each in objects) if each][:1]
        for forget in forgets:
            start, end = clauses[max(at - 1, 0)].start, clauses[at].end
            what = forget.what
            if forget.is_said:
                behind = [each for each in clauses[at + 1 :] if each.sentence == clauses[at].sentence]
                what, end = _with_list(what, behind, turn, start, end)
            yield _Asked(replace(forget, what=what, words=_as_written(what, turn, start)), first.start, end)


def _of_what_it_points_at(
    request: _Request, before: str, text: str, turn: HeardTurn, *, is_all: bool
) -> list[_Request]:
    """A request that points at the clause `before` its `text`, as one that names what that says: without what opens it
    (我跟你說), which may be what names it, and with that."""
    lexicon = turn.lexicon
    whole, tail = before[opening(before, lexicon) :], _THIS_FIRST.sub("", request.object)
    told, marks = _unwrapped(whole, lexicon)
    is_from_memory = "named" in _unwrapped(tail, lexicon)[1]  # «please remove it from your memory»
    is_sure = is_from_memory or (request.is_of_memory and not request.may_be_slip)
    is_pointed_at = is_all and is_sure and _points_at_known(whole, lexicon)  # «the pizza thing, forget it»
    if is_from_memory:
        return [request._replace(object=whole + tail, is_of_memory=True)] if is_pointed_at else [request]
    is_meant = _is_of_person(told if "named" in marks else before, is_task=not request.is_of_memory)
    is_meant = is_meant or lexicon.shape(_MATTER).match(before) is not None
    is_meant = is_meant and not lexicon.shape(_IDIOM).match(text)
    is_asked = is_all and asked_for(whole) is not None  # «Where I live: forget it»
    is_meant = is_meant or is_asked or is_pointed_at
    is_meant = is_meant and ("named" in marks or not turn.is_refused)  # 我剛剛說我在學跳舞，你別記下來
    request = request._replace(is_of_memory=request.is_unsaid or is_meant)
    return [request._replace(object=each + tail) for each in (whole, before)]


def _several(request: _Request, lexicon: Lexicon, *, is_all: bool) -> list[Forget]:
    """What a request means that names several things of its person, each as one alone would: 我愛披薩和我住哪裡. None
    where it names one, or one of them says nothing."""
    kinds = _kinds_named(request.object)
    parts = [request._replace(object=each) for each in kinds] if kinds else list(_parts(request, lexicon))
    found = [(each, _read(each, lexicon, is_all=is_all)) for each in parts]
    meant = [
        forget for each, forget in found if forget or each.is_of_memory >= request.is_of_memory
    ]  # no task beside it
    named = [each for each in meant if each and (each.is_said or each.is_own)]
    return named if len(parts) > 1 and len(named) == len(meant) else []


def _parts(request: _Request, lexicon: Lexicon) -> Iterator[_Request]:
    """A request for each of the things that one names, or the one."""
    at, is_of_memory = 0, request.is_of_memory
    joints = list(lexicon.shape(_JOINED).finditer(request.object))
    verbs = [joined for joined in joints if joined["verb"] or joined["han_verb"]]
    is_any = is_of_memory or bool(verbs)
    for joined in [*joints, None]:
        text = request.object[at : joined.start() if joined else None]
        is_meant = is_of_memory or (is_any and asked_for(text) is not None)  # «delete where I live and forget …»
        yield request._replace(object=text, is_of_memory=is_meant)
        if joined:
            is_task = bool(joined["task"] or joined["han_task"])
            at, is_of_memory = joined.end(), joined in verbs or (request.is_of_memory and not is_task)


def _kinds_named(text: str) -> list[str]:
    """The kinds of things of its person that a folded text names, each as his or her own: 我的工作跟寵物. None where it
    names one, or something else."""
    own = _OWN.match(text)
    names = _AND.split(text[own.end() :]) if own else []
    return [f"{own[0]}{name}" for name in names] if own and len(names) > 1 and all(map(is_kind, names)) else []


def _with_list(what: str, behind: Sequence[Clause], turn: HeardTurn, start: int, end: int) -> tuple[str, int]:
    """What is to be forgotten with the clauses behind it that go on with its list («tea, coffee and milk»), and the end
    of the last one; `end` is that of its own clause."""
    speech = turn.message.speech
    at = speech.find(what, start)
    for clause in behind if at >= 0 else ():
        if not goes_on_with_list(what, clause.text):
            break
        what, end = speech[at : clause.end].strip(), clause.end
    return what, end


def _only_points(request: _Request, lexicon: Lexicon) -> bool:
    """Whether a request names nothing itself: 請忘掉, 這件事忘掉吧."""
    spoken = lexicon.shape(_BEHIND).match(request.object)
    return (
        not request.object
        or any(_THIS.match(each) for each in (request.object, _unwrapped(request.object, lexicon)[0]))
        or (spoken is not None and spoken["matter"] is not None)
    )


def _is_told_before(told: Clause, refusing: Clause, turn: HeardTurn) -> bool:
    """Whether a clause says that something was said before, which the next one asks not to keep: 我剛剛說我在學跳舞，
    你別記下來. What is told just now is only not learned."""
    is_before = "named" in _unwrapped(told.text[opening(told.text, turn.lexicon) :], turn.lexicon)[1]
    return is_before and replace(turn, clauses=[refusing]).is_refused


def _as_written(what: str, turn: HeardTurn, start: int) -> str:
    """What is to be forgotten in the person's own characters, if it stands so in the message."""
    for said in (what, _I.sub("me ", what)):
        if (at := turn.message.speech.find(said, start)) >= 0:
            return turn.message.written[at : at + len(said)]
    return what


def _request(clause: Clause, lexicon: Lexicon) -> _Request | None:
    text = clause.text[opening(clause.text, lexicon) :]
    if lexicon.words("memorable.forget.passing").search(text):
        return None
    request = _unread(text, lexicon)
    if request is None or (clause.is_hypothetical and not request.is_unsaid):
        return None
    request = request._replace(may_be_slip=_is_slip(clause.text, lexicon))
    if request.is_of_memory and any(asked_for(each.object) for each in _parts(request, lexicon)):
        return request
    if request.is_of_memory and not request.may_be_slip and asks_in_place(request.object):
        return request  # 忘掉我最怕什麼
    if clause.asks_to_know and _HAN.search(text) and not lexicon.shape(_POLITE_QUESTION).match(text):
        return None  # in English no question begins with a verb
    return request


def _is_slip(text: str, lexicon: Lexicon) -> bool:
    """Whether the verb of a request may say what its person has forgotten to do: nobody is asked, no matter named."""
    verb = lexicon.words("memorable.forget.slips").search(text)
    if verb is None or _TO_YOU.search(text[: verb.start()]):
        return False
    return lexicon.words("memorable.forget.spoken_behind").search(text) is None


def _is_of_person(text: str, *, is_task: bool) -> bool:
    """Whether a text says, in words that are known, what its person has to do with a thing: 我住羅馬, not 我寫的檔案.
    What `is_task` may be about something else («I have a file, delete it»): there the thing is known, too."""
    said = read_saying(text)
    if said is None or said.relation == DO or not _STATES.match(text.strip()) or "的" in text[:6]:
        return False
    return bool(said.thing.kinds) or not is_task


def _unread(text: str, lexicon: Lexicon) -> _Request | None:
    if begun := lexicon.shape(_BEGINS).match(text):
        is_unsaid = begun["unsaid"] is not None
        rest = lexicon.shape(_REST).sub("", text[begun.end() :]).strip()
        if begun["keeps"] is not None:
            is_of_me = begun["record"] is not None and _is_mine(_unwrapped(rest, lexicon)[0])
            return _Request(rest, True) if is_of_me or _is_told_of_person(rest, lexicon) else None
        return _Request(rest, is_unsaid or begun["verb"] is not None, is_unsaid)
    ended = None if _HAS_TAKEN.match(text) else lexicon.shape(_ENDS).match(text)
    if ended:
        if ended["dropped"] is not None:
            named, marks = _unwrapped(ended["object"], lexicon)
            is_meant = bool(marks) and _is_told_of_person(named, lexicon)
            return _Request(ended["object"].strip(), True) if is_meant else None
        is_unsaid, named = ended["unsaid"] is not None, ended["object"].strip()
        is_whole, is_task = ended["whole"] is not None, ended["verb"] is None
        is_asked_for = _OWN.match(named) and _TO_YOU.search(text[ended.end("object") :])  # 我的貓請忘掉
        is_slip = _is_slip(text, lexicon)
        is_matter = lexicon.shape(_MATTER).match(named) or (
            not (is_task or is_slip) and _points_at_known(named, lexicon)
        )
        is_whole = is_whole or bool(is_asked_for or is_matter)
        is_asked = asked_for(named) is not None
        if is_task and not _TO_YOU.search(text):  # 我最喜歡的電影刪掉了
            is_asked = is_asked and favourite_in(named) is None
        is_told = (_is_of_person(named, is_task=is_task) or is_asked) and not is_whole and not is_slip
        is_of_memory = is_unsaid or is_told or (is_whole and not is_task)
        return _Request(named + (ended["place"] or ended["front"] or ""), is_of_memory, is_unsaid)
    return None


def _is_mine(text: str) -> bool:
    """Whether a text says something of its person, or names what such a one has: me speaking Welsh, my hamster."""
    own = _OWN.match(text)
    return _STATES.match(text) is not None or bool(own and _is_had(text[own.end() :].strip()))


def _is_told_of_person(text: str, lexicon: Lexicon) -> bool:
    """Whether a text asks for what is so of its person, or says it as something that was told: where I live, 我念法律的
    資訊, not 我寫的檔案."""
    named, marks = _unwrapped(text, lexicon)
    if (
        asked_for(named)
        or ("named" in marks and _TOLD.match(text))
        or ("that" in marks and _STATES.match(named) and _LATIN.match(named))
    ):
        return True
    said = read_saying(named)
    is_known = said is not None and (said.relation != DO or bool(said.thing.kinds))
    return is_known and _STATES.match(named) is not None and "的" not in named


def _unwrapped(text: str, lexicon: Lexicon) -> tuple[str, set[str]]:
    """What is meant, without the phrases around it, and which of them there are (the names of their groups)."""
    marks = set[str]()
    for _ in range(MAX_AROUND):
        around = lexicon.shape(_BEHIND).search(text) or lexicon.shape(_BEFORE).match(text)
        around = around or (lexicon.shape(_HELD).match(text) if "named" in marks else None)
        if around is None:
            break
        marks |= {name for name, found in around.groupdict().items() if found}
        text = (text[: around.start()] + text[around.end() :]).strip()
    return _ME.sub("i ", text.strip()), marks


def _read(request: _Request, lexicon: Lexicon, *, is_all: bool) -> Forget | None:
    """What a request means; None if no memory can be meant. `is_all`: the message says nothing else."""
    text, marks = _unwrapped(request.object, lexicon)
    if not text and "named" in marks and request.is_of_memory and is_all and not request.may_be_slip:
        is_last = _LAST.search(request.object) is not None
        return None if is_last else Forget(request.object, is_everything=True)  # 別再記得我說的話
    marks |= {"named"} if request.is_unsaid else set()
    marks |= {"spoken"} if "matter" in marks or ("pointed" in marks and request.is_of_memory) else set()
    if request.is_of_memory and marks & {"thing", "detail", "record"} or marks >= {"spoken", "record"}:
        marks.add("named")
    if _is_everything(text, marks, request, lexicon, is_all=is_all):
        return Forget(text, is_everything=True)
    if text in _PERSON and marks & {"named", "spoken", "thing"}:
        return Forget(text, is_everything=True)
    if (request.is_of_memory or marks - {"detail"}) and _CALLED.match(text):  # 叫我小美這件事
        return Forget(text, is_said=True)
    is_alone = is_all or bool(marks - {"detail"}) or not is_named(text)  # «forget my favourite film, what is on?»
    if (request.is_of_memory or marks - {"detail"}) and is_alone and asked_for(text):  # «where I live»
        return Forget(text, is_said=True)
    states = _STATES.match(text)
    if states and marks - {"detail"} and _is_a_thing(text, text[states.end() :]):  # 關於我柴犬的事
        if _LATIN.match(text):  # «that I sail» says what is done
            return Forget(text, is_said=True)
        return Forget(text[states.end() :].strip(), is_own=True)
    if states:
        is_meant = request.is_of_memory or bool(marks - {"detail"})
        return Forget(text, is_said=True) if is_meant and _says_enough(text, states.end()) else None
    subject = _ARTICLE.sub("", _OWN.sub("", text)).strip()
    is_own = _OWN.match(text) is not None
    is_short = len(subject) < (MIN_LATIN_CHARS if _LATIN.search(subject) else MIN_HAN_CHARS)
    is_of_memory = request.is_of_memory and is_all and not request.may_be_slip
    is_known = (is_of_memory or bool(marks & {"named", "matter"})) and _is_a_topic(subject)  # 忘掉狗, 狗的事
    if is_short and not (subject and is_own) and not is_known:
        return None
    if lexicon.shape(_POINTS).match(subject):
        return None
    if "named" in marks:
        elided = f"i {subject}" if _LATIN.match(subject) else f"我{subject}"  # 我說過喜歡茶那件事
        is_topic = "matter" in marks and _is_a_topic(subject)  # 我提過打球的事
        return Forget(elided, is_said=True) if is_statement(elided) and not is_topic else Forget(subject, is_own=is_own)
    is_told = bool(marks & {"spoken", "thing"}) and not _ELSEWHERE.search(subject)
    if not (is_all and (request.is_of_memory or is_told)):
        return None
    if request.may_be_slip and not (marks or is_own or _begins_with_thing(subject)):
        return None
    is_topic = ("matter" in marks or is_short) and request.is_of_memory and _is_a_topic(subject)  # 忘掉吉他的事
    return Forget(subject, is_sure=is_own or is_topic, is_had=(is_own or is_topic) and is_short, is_own=is_own)


def _is_everything(text: str, marks: set[str], request: _Request, lexicon: Lexicon, *, is_all: bool) -> bool:
    """Whether all is meant that is known: 關於我的所有東西, or alone 忘掉一切; not all that was said just now, nor the
    data of a task (刪除所有資料)."""
    named = lexicon.shape(_EVERYTHING).match(text)
    is_of_memory = request.is_of_memory and not request.may_be_slip
    if named and named["own"]:
        return is_of_memory or bool(marks & {"named", "spoken", "thing"})
    is_meant = is_of_memory or "matter" in marks  # 刪掉所有的事
    return named is not None and is_meant and is_all and not marks & {"named", "thing"}


def _says_enough(text: str, at: int) -> bool:
    """Whether a statement, behind its «I», says something: 我喝酒, but not «I asked»."""
    if _OWN.match(text):
        return True  # «my name is …»
    said = read_saying(text)
    is_named = said is not None and (said.relation != DO or bool(said.thing.kinds))
    return (
        is_named or len(_HAN.findall(text[at:])) >= MIN_HAN_CHARS or len(tokens.query_terms(text[at:]).search_terms) > 1
    )


def _is_a_topic(subject: str) -> bool:
    """Whether a subject is a thing that is known, and no time, or the name of what one has: 吉他, 車, not 昨天."""
    return bool(categories.load().categories_of(subject).keys() - _TIMES) or _is_had(subject)


def _is_had(subject: str) -> bool:
    """Whether a subject is what somebody may have, a pet or a vehicle, or the name of their kind."""
    known = categories.load()
    return bool((known.kinds_named(subject) or known.categories_of(subject).keys()) & _HAD)


def _points_at_known(text: str, lexicon: Lexicon) -> bool:
    """Whether a text only points at a thing that is known, or at what is done with one: 吃辣那個, not 第三章那個."""
    if not lexicon.shape(_ONE_POINTED_AT).match(text):
        return False
    subject = _ARTICLE.sub("", _unwrapped(text, lexicon)[0]).strip()
    said = read_saying(f"i {subject}" if _LATIN.match(subject) else f"我{subject}")
    is_whole = any((start, end) == (0, len(subject)) for start, end, *_ in categories.load().named(subject))
    return is_whole or bool(said and said.act)


def _begins_with_thing(subject: str) -> bool:
    """Whether a subject begins with a thing that is known, and not with what is done: 咖啡, not 喝咖啡 or 跑步."""
    return any(start == 0 and not kinds & _DONE for start, _, _, kinds in categories.load().named(subject))


def _is_a_thing(text: str, named: str) -> bool:
    """Whether a statement says nothing of a thing, and only names it."""
    said, named = read_saying(text), named.strip()
    is_named = said is not None and any(named in word for word in said.thing.words)
    begins = any(start == 0 for start, *_ in categories.load().named(named))  # not 上健身房
    return said is not None and said.relation == DO and (is_named or begins)
