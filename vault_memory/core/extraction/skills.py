"""Skills: the technologies a person uses, prefers or has left, and what the person is weak or strong at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import CATEGORIES, Lexicon, Technology
from vault_memory.core.extraction.speech import Message
from vault_memory.core.extraction.topics import SENTENCE_OPENING, excerpt
from vault_memory.core.profile import Signal
from vault_memory.core.text import fold, lazily

TECHNOLOGY_LISTS = (*CATEGORIES, "preferred_frameworks")
BEFORE_CHARS, AFTER_CHARS = 60, 40
"""Characters around a technology that may say how the person uses it."""
_NEVER_A_LANGUAGE = frozenset({"SQL", "CSS", "HTML", "GraphQL", "LaTeX", "Sass"})


def roles(
    clause: Clause, named: list[Technology], lexicon: Lexicon, existing: Mapping[str, object], is_about_person: bool
) -> Iterator[Signal]:
    """The technology signals of one clause, for the technologies `named` in it."""
    last_end = 0
    for group in _groups(named, clause):
        start, end = group[0].start - clause.start, group[-1].end - clause.start
        first = max(0, start - BEFORE_CHARS)
        before, since_last = clause.text[first:start], clause.text[max(last_end, first) : start]
        after = clause.text[end:][:AFTER_CHARS]
        for technology in group:
            found = list(_signals(technology, before, since_last, after, clause, lexicon, existing, is_about_person))
            yield from found
            if any(each.op == "add" for each in found) and _follows(lexicon, "back", before, 2):
                yield from _removals(lexicon.instead.get(fold(technology.name), ()), existing, lexicon)
        last_end = end


def _signals(
    technology: Technology,
    before: str,
    since_last: str,
    after: str,
    clause: Clause,
    lexicon: Lexicon,
    existing: Mapping[str, object],
    is_about_person: bool,
) -> Iterator[Signal]:
    """The signals for one technology: prefers, chose, uses, owns or has left it.

    `since_last`: the part of `before` behind the technology named before; `is_about_person`: the sentence is.
    """
    if clause.is_about_others or clause.is_hypothetical and not clause.has_happened or clause.is_sarcastic:
        return
    left = _follows(lexicon, "drop", before) or _precedes(lexicon, "drop", after)
    if (left or clause.is_past) and not clause.asks_to_know:
        if left:
            yield from _removals({fold(technology.name)}, existing, lexicon)
        return
    if _from_to(before, after):
        yield from _removals({fold(technology.name)}, existing, lexicon)
        return
    if clause.is_past or _follows(lexicon, "compared", before, 6) or _precedes(lexicon, "compared", after):
        return
    if _follows(lexicon, "never", before) or _precedes(lexicon, "never", after):
        return
    if (
        technology.name in _NEVER_A_LANGUAGE
        or _SIMILE.search(before)
        or _is_somebody_elses(since_last)
        or _DECIDED.fullmatch(before)
        or (since_last != before and _EITHER.fullmatch(since_last))
        or (_CALLED.search(before) and not _USED_IN.search(before))
    ):
        return
    about = bool(lexicon.words("roles.about.sentence").search(clause.text))
    in_trouble = not about and bool(lexicon.words("roles.trouble.sentence").search(clause.text))
    key = technology.category
    preferred = _follows(lexicon, "prefer", since_last) or _precedes(lexicon, "prefer", after)
    preferred = preferred or (
        clause.is_lasting
        and clause.asks
        and not clause.asks_to_know
        and not in_trouble
        and _USED.search(before) is not None
    )
    if preferred and not clause.asks_to_know and not clause.is_once and not _OPINION.search(before):
        if key != "frameworks":
            yield Signal(key, "add", technology.name, "explicit")
            return
        yield Signal("preferred_frameworks", "add", technology.name, "explicit")
    if _follows(lexicon, "own", before, 2) and not _NOT_OWN.search(before):
        yield Signal(key, "add", technology.name, "observed")
        return
    at_work = is_about_person and not about and bool(lexicon.words("roles.work.sentence").search(clause.text))
    if clause.asks_to_know:
        if is_about_person and in_trouble:
            yield Signal(key, "add", technology.name, "observed")
        return
    if _REQUEST.search(before):
        return
    chosen = _follows(lexicon, "choice", before, 6) or _precedes(lexicon, "choice", after)
    used = _follows(lexicon, "use", before, 6) or _STACK.match(after) is not None or _precedes(lexicon, "use", after)
    used = used and not about
    if (
        chosen
        or at_work
        or ((used or in_trouble) and (is_about_person or _HAN.search(clause.text) or _ELLIPTIC.match(clause.text)))
    ):
        yield Signal(key, "add", technology.name, "observed")


def _is_somebody_elses(before: str) -> bool:
    """Whether the last person named before it is somebody else: «I was told that they only use Scala»."""
    people = list(_PERSON.finditer(before))
    return bool(people) and not people[-1]["me"]


def _removals(names: Collection[str], existing: Mapping[str, object], lexicon: Lexicon) -> Iterator[Signal]:
    """A removal for each name or alias under which the profile holds one of these technologies (folded)."""
    for key in TECHNOLOGY_LISTS:
        stored = existing.get(key)
        for item in stored if isinstance(stored, (list, tuple)) else ():
            known = lexicon.names.get(fold(str(item)), (str(item), ""))[0]
            if fold(known) in names:
                yield Signal(key, "remove", str(item), "explicit")


def _groups(named: list[Technology], clause: Clause) -> Iterator[list[Technology]]:
    """Technologies joined by «and», 和 or a comma; what is said about one is said about all of them."""
    group: list[Technology] = []
    for technology in named:
        if group and not _JOINT.fullmatch(clause.text[group[-1].end - clause.start : technology.start - clause.start]):
            yield group
            group = []
        group.append(technology)
    if group:
        yield group


_JOINT = lazily(r" ?(?:、|,|/|\+|&|and|with|plus|跟|和|与|同|加|配|搭|搭配|,? ?and|还有|以及)* ?")


def _follows(lexicon: Lexicon, role: str, before: str, gap: int = 10) -> bool:
    return lexicon.words(f"roles.{role}.before").ends(before, gap)


def _precedes(lexicon: Lexicon, role: str, after: str) -> bool:
    verb = lexicon.words(f"roles.{role}.after").search(after)
    return bool(verb and _SUBJECT.fullmatch(after[: verb.start()]))


_SUBJECT = lazily(
    r"(?:[ 的是就,了都]|我哋|我们?|咱们?|俺|(?:我们?)?(?:组|团队|这边|这组|实验室|公司|专题|那边)|team|已经|早就"
    r"|老早|最近|终于|现在|全部|全|整个|后来|we|i|(?<![a-z])(?:have|has|already|just|finally|had|was"
    r"|got)(?![a-z]))*"
)


def _from_to(before: str, after: str) -> bool:
    return bool(_FROM.search(before) and _TO.match(after))


_ELLIPTIC = lazily(
    r"(?:so |and |also |ok |been |just |currently |still |finally |mostly |mainly )*(?:been|made|built|wrote"
    r"|coded|shipped|using|writing|coding|building|hacking|working|learning|running|started|starting|switched"
    r"|switching|moved|moving|migrated|migrating|deployed|deploying|trying|stuck|got|rewrote|rewriting|ported"
    r"|porting)(?![a-z])"
)
_PERSON = lazily(
    r"(?<![a-z'])(?P<me>i|we|i'm|i've|i'd|we're|we've|my|our|us|me)(?![a-z])"
    r"|(?<![a-z'])(?:he|she|they|he's|she's|they're|his|their)(?![a-z])"
)
_EITHER = lazily(r" ?(?:比较)?(?:好|强|香|快)? ?(?:还是|或者?|or|定|抑或) ?")
"""Between two technologies: a choice that is still open."""
_DECIDED = lazily(r"[^我咱]{2,}(?:定|选|决定|挑|指定|规定)的(?:是|就是)? ?")
"""Somebody else chose it: 最後還是老大一個人定的 Oracle."""
_HAN = lazily(r"[\u3400-\u9fff]")
_SIMILE = lazily(
    r"(?:^|, ?)(?:just |a bit |kind of )?(?:like|as) (?:an?|the|some|my) $"
    r"|(?<![a-z])(?:is|are|was|feels?|looks?|sounds?|reads?|be|being"
    r"|seems?)(?: (?:just|a bit|kind of|a lot|so much|basically))? like (?:an? |the )?$"
    r"|(?:就像|好像|很像|像是|像|如同) ?$"
)
_CALLED = lazily(
    r"(?:叫(?:做|作)?|名叫|取名(?:叫|为)?|命名为|念作|读作|called|named|nicknamed|name is|names? of)[ \"']*$"
)
_USED_IN = lazily(r"用|写|(?<![a-z])(?:use|using|framework|library|tool|language|editor)(?![a-z])")
_FROM = lazily(r"(?:从|由|from|off|away from|把|ditched|dropped|left|replaced|swapped|traded)(?: my)? ?$")
_TO = lazily(
    r" ?(?:全部|整个|全|都|一次|慢慢)?(?:换|转|改|搬|移|跳|迁|migrate|switch|move|port|to |for |with |onto "
    r"|over to |→|->|跳槽)"
)
_USED = lazily(r"(?:用|换|给我|都给|写|以|走|in|use|using|with|to) ?(?:vanilla |plain |pure )?$")
_OPINION = lazily(
    r"(?:喜欢|like|love|enjoy) ?(?:how|that|what|the way|the idea|when|to know|的是)"
    r"|would (?:like|love) to (?:know|learn|understand)|like to (?:know|learn|ask|understand)"
)
_NOT_OWN = lazily(
    r"(?:my|our) (?:professor|teacher|friend|classmate|roommate|teammate|boss|class|school|course|brother|sister"
    r"|question)"
)
_REQUEST = lazily(
    r"(?:帮我|给我|帮忙|write me|give me|show me|make me|can you|could you|translate|convert|rewrite this"
    r"|请).{0,16}$|把(?:这|那|下面|以下|上面|我?这)(?:段|个|份|篇|支)[^,]{0,16}$"
    r"|^(?:写|生成|来)(?:一)?(?:个|段|份|支)[^,]{0,12}$"
)
_STACK = lazily(
    r" ?(?:on the (?:back|front)|for the (?:back|front)|backend|frontend|后端|前端|做后端|做前端|当后端|当前端)"
)


# --- abilities --------------------------------------------------------------------------------------------------------


def abilities(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The lasting weaknesses and strengths in one clause."""
    text = clause.text
    if (
        clause.is_about_others
        or clause.is_past
        or (clause.asks_to_know and not clause.is_first_person)
        or clause.is_once
    ):
        return
    if _OTHERWISE.match(text):
        return  # 不然我過兩天就看不懂 gives the reason of a wish
    for key, before, after in (
        ("weaknesses", "weak_before", ("weak_tail", "weak")),
        ("strengths", "strong_before", ("strong_tail", "strong")),
    ):
        for span, verdict in _judgements(text, before, after, lexicon):
            if key == "weaknesses" and _IS_PRAISE.search(verdict[0]) and not _DENIED.search(verdict[0]):
                continue
            if key == "weaknesses" and not _LASTING.search(verdict[0]) and not _LASTING.search(text):
                continue
            if key == "strengths" and _NOT_SO.search(text[: verdict.start()]):
                continue
            if _OF_A_THING.search(text[: verdict.start()]):
                continue
            if key == "weaknesses" and _NO_MORE.search(text[: verdict.start()]):
                continue
            start, end = _trim_judged(text, *span)
            if _ASKED.search(text[start:end]) or _PEOPLE.match(text[start:end].lstrip()):
                continue
            value = excerpt(message, clause.start + start, clause.start + end)
            if not _can_be_judged(text[start:end], verdict[0], lexicon) and not any(
                clause.start + start <= item.start < clause.start + end for item in named
            ):
                value = "" if span[0] else _earlier_subject(clause, message, lexicon)
            if value and not lexicon.words("people.level.beginner_said").search(text):  # 程式一竅不通 is the level
                yield Signal(key, "add", value, "observed")
                break


def _judgements(
    text: str, before: str, after: tuple[str, ...], lexicon: Lexicon
) -> Iterator[tuple[tuple[int, int], re.Match[str]]]:
    """The spans where the subject may stand (behind the verdict, or before it), each with its verdict."""
    if (verdict := lexicon.words(f"subjects.frames.{before}").search(text)) and text[verdict.end() :].strip():
        yield (verdict.end(), len(text)), verdict
    for name in after:
        if verdict := lexicon.words(f"subjects.frames.{name}").search(text):
            yield (0, verdict.start()), verdict


def _can_be_judged(value: str, verdict: str, lexicon: Lexicon) -> bool:
    """Whether one can be good or bad at it: a technical or school subject, or any short noun with «my strong suit»."""
    words = lexicon.words
    if not value or words("subjects.not_technical").search(value) or _PRONOUN.fullmatch(value):
        return False
    if words("subjects.technical").search(value) or words("subjects.school").search(value):
        return True
    return bool(words("subjects.frames.suit").search(verdict)) and len(value) <= 28 and len(value.split()) <= 4


def _earlier_subject(clause: Clause, message: Message, lexicon: Lexicon) -> str:
    """The subject, in an earlier clause of the sentence: «Type theory, on the other hand, I'm good at»."""
    opening = SENTENCE_OPENING.search(message.speech, 0, clause.start)
    first = opening.end() if opening else 0
    stop = clause.start
    while stop > first:
        speech = message.speech[first:stop].rstrip(" ,")
        at = speech.rfind(",") + 1
        start, end = _trim_judged(speech, at, len(speech))
        if _ASKED.search(speech[at:]):
            return ""
        if _can_be_judged(speech[start:end], "", lexicon):
            return excerpt(message, first + start, first + end)
        stop = first + at - 1 if at else first
    return ""


_PEOPLE = lazily(
    r"(?:people|those|anyone|anybody|folks|men|women|kids|why|how come)(?![a-z])|那些"
    r"|(?:有些|某些)?人(?![\u3400-\u9fff]?[机工])"
)
"""«I never understood people who love regex» is about people."""
_OTHERWISE = lazily(r"(?:不然|否则|要不|免得|省得|otherwise|or else|or i)")
_PRONOUN = lazily(
    r"(?:it|that|this|they|he|she|you|what|which|them|these|those|there|who|one|这|那|它|这个|那个|这些|那些|应该"
    r"|可能|大概|也许|似乎|好像|显然|估计|算|什么|谁|你|他|她|我|大家|自己)"
)
_IS_PRAISE = lazily(r"(?:good|great|comfortable) (?:at|with|in)")
_DENIED = lazily(r"never been|was never|(?:^|[^a-z])not ")
_NOT_SO = lazily(
    r"(?:不|没有?|唔|比(?:啥|什么|谁|任何)?都?|(?:not|never|isn't|aren't|n't)(?= ))\s*(?:太|很|算|是|得|搞|搞得"
    r"|都|very|so|really|that|a|exactly)*\s*$|never (?:搞|做|写|学)?得?$"
)
_NO_MORE = lazily(r"(?:不再|不用|不是|不算|已经不|别再|no longer|not|isn't|aren't)[^,]{0,8}$")
_ASKED = lazily(
    r"可唔可以|可不可以|能不能|可以|请|帮我|麻烦|给我|没有|冇|(?<![a-z])(?:please|can you|could you)(?![a-z])"
)
"""A request or a missing thing is not a weakness."""
_OF_A_THING = lazily(
    r"(?:这|那|该|呢|嗰)(?:句|段|篇|首|题|行|份|页|章|条|道|台|部|款|支|间|家|套|组|本|牌子"
    r"|个(?:框架|语言|工具|套件|软体|软件|模型|产品))[^,]{0,8}的?$|门语言的?$"
    r"|(?<![a-z])(?:(?:the|this|that) [a-z ]{2,20}|(?!it)[a-z]{3,})'s (?:biggest |main |only |real )?$"
)
"""The strength of a thing: 這台筆電的強項."""
_LASTING = lazily(
    r"一直|总|永远|老是|每次|从来|始终|向来|一向|从小|弱|差|烂|擅长|苦手|罩门|死穴|短板|痛(?!苦)|软肋|噩梦|恶梦"
    r"|心魔|天敌|克星|不起来|学不会|没辙|没救|不太?行|最|菜|渣|障碍|唔叻|就|forever|成日|次次|到现在|至今"
    r"|(?:年|学期|遍|次)(?:了|还|也|都)|学到|一辈子|多年|还是|都未|never|开窍|一窍|雾水|抹黑|发怵|考砸|栽|挂过"
    r"|挂了|(?<![a-z])(?:is|are|has been|have been|since|years)(?![a-z])|i'm|im |always|every|keep|suck|weak"
    r"|struggle|constantly|been|blind|bad|dread"
)
_JUDGED_HEAD = lazily(
    r"(?:[\s,:的]|只要|一?看到|看见|碰到|碰上|遇到|一写|一碰|每次|写|搞|我|自己|对于?|在|其实|就是|是|老实说"
    r"|说真的|不过|可是|只是|反而|但是?|讲真|跟你说|the|my|it's|its|with|at|in|that|honestly|tbh|and|but|so"
    r"|because|stuff like|things like|anything (?:to do )?with|writing(?= [a-z])|doing|using)+(?![a-z])"
)
_JUDGED_CUT = lazily(
    r"\s*(?:这(?:块|一块|方面|部分|件事|个|题型|类|种|东西)|那(?:块|一块|方面|部分)|方面"
    r"|的(?:部分|题目|东西|时候|地方|概念)|我|对我|就|都|又|却|还|倒|也|一直|总|真的|每次|老是|始终|从来|永远"
    r"|完全|根本|上面?(?=$)|算是|是|很|超|最|特别|(?<![a-z])(?:stuff|is|are|has|have|always|just|never|that|which"
    r"|and (?:i|it)|so|since|because|no matter|lol|tbh|honestly|though|tho|please|i|in general|but"
    r"|for some reason|ever|to be honest|if|when|yet|even)(?![a-z])).*"
)


def _trim_judged(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the words around the subject."""
    head = _JUDGED_HEAD.match(text, start, end)
    start = head.end() if head else start
    cut = _JUDGED_CUT.search(text, min(start + 1, end), end)
    end = cut.start() if cut else end
    while start < end and text[end - 1] in " ,.:!?~的":
        end -= 1
    return start, end
