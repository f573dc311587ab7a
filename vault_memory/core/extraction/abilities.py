"""What a person is lastingly weak or strong at."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.masking import Message
from vault_memory.core.extraction.topics import LONGEST, SENTENCE_OPENING, written
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.phrases import lazily


def judged(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """Weaknesses and strengths of one clause; what happened once or was so once is neither."""
    text = clause.text
    if clause.others or clause.past or (clause.asks_to_know and not clause.first_person) or clause.once:
        return
    if _OTHERWISE.match(text):
        return  # 不然我過兩天就看不懂 tells why something is wished
    for key, before, after in (
        ("weaknesses", "weak_before", ("weak_tail", "weak")),
        ("strengths", "strong_before", ("strong_tail", "strong")),
    ):
        for span, found in _judgements(text, before, after, lexicon):
            if key == "weaknesses" and _IS_PRAISE.search(found[0]) and not _DENIED.search(found[0]):
                continue
            if key == "weaknesses" and not _LASTING.search(found[0]) and not _LASTING.search(text):
                continue
            if key == "strengths" and _NOT_SO.search(text[: found.start()]):
                continue
            if _OF_A_THING.search(text[: found.start()]):
                continue
            if key == "weaknesses" and _NO_MORE.search(text[: found.start()]):
                continue
            start, end = _trim_judged(text, *span)
            if _ASKED.search(text[start:end]) or _PEOPLE.match(text[start:end].lstrip()):
                continue
            value = written(message, clause, start, end)
            if not _can_be_judged(text[start:end], found[0], lexicon) and not any(
                clause.start + start <= item.start < clause.start + end for item in named
            ):
                value = "" if span[0] else _clause_before(clause, found[0], message, lexicon)
            if value and not lexicon.words("people.level.beginner_said").search(text):  # 程式一竅不通 is the level
                yield Signal(key, "add", value, "observed")
                break


def _judgements(
    text: str, before: str, after: tuple[str, ...], lexicon: Lexicon
) -> Iterator[tuple[tuple[int, int], re.Match[str]]]:
    """Where what is judged may stand, with the words that judge it: behind them, or before them."""
    if (found := lexicon.words(f"subjects.frames.{before}").search(text)) and text[found.end() :].strip():
        yield (found.end(), len(text)), found
    for name in after:
        if found := lexicon.words(f"subjects.frames.{name}").search(text):
            yield (0, found.start()), found


def _can_be_judged(value: str, judged: str, lexicon: Lexicon) -> bool:
    """Whether one can be good or bad at it: a technical or school subject; beside «my strong suit» any short noun."""
    words = lexicon.words
    if not value or words("subjects.not_technical").search(value) or _PRONOUN.fullmatch(value):
        return False
    if words("subjects.technical").search(value) or words("subjects.school").search(value):
        return True
    return bool(words("subjects.frames.suit").search(judged)) and len(value) <= 28 and len(value.split()) <= 4


def _clause_before(clause: Clause, judged: str, message: Message, lexicon: Lexicon) -> str:
    """«Type theory, on the other hand, I'm good at»: the subject of an earlier clause of the sentence."""
    opening = SENTENCE_OPENING.search(message.said, 0, clause.start)
    first = opening.end() if opening else 0
    stop = clause.start
    while stop > first:
        said = message.said[first:stop].rstrip(" ,")
        at = said.rfind(",") + 1
        start, end = _trim_judged(said, at, len(said))
        if _ASKED.search(said[at:]):
            return ""
        if _can_be_judged(said[start:end], "", lexicon):
            return message.written[first + start : first + end].strip()[:LONGEST].strip()
        stop = first + at - 1 if at else first
    return ""


_PEOPLE = lazily(
    r"(?:people|those|anyone|anybody|folks|men|women|kids|why|how come)(?![a-z])|那些|(?:有些|某些)?人(?![\u3400-\u9fff]?[机工])"
)
"""«I never understood people who love regex» judges people."""
_OTHERWISE = lazily(r"(?:不然|否则|要不|免得|省得|otherwise|or else|or i)")
_PRONOUN = lazily(
    r"(?:it|that|this|they|he|she|you|what|which|them|these|those|there|who|one|这|那|它|这个|那个|这些|那些|应该|可能|大概|也许|似乎|好像|显然|估计|算|什么|谁|你|他|她|我|大家|自己)"
)
_IS_PRAISE = lazily(r"(?:good|great|comfortable) (?:at|with|in)")
_DENIED = lazily(r"never been|was never|(?:^|[^a-z])not ")
_NOT_SO = lazily(
    r"(?:不|没有?|唔|比(?:啥|什么|谁|任何)?都?|(?:not|never|isn't|aren't|n't)(?= ))\s*(?:太|很|算|是|得|搞|搞得|都|very|so|really|that|a|exactly)*\s*$|never (?:搞|做|写|学)?得?$"
)
_NO_MORE = lazily(r"(?:不再|不用|不是|不算|已经不|别再|no longer|not|isn't|aren't)[^,]{0,8}$")
_ASKED = lazily(
    r"可唔可以|可不可以|能不能|可以|请|帮我|麻烦|给我|没有|冇|(?<![a-z])(?:please|can you|could you)(?![a-z])"
)
"""What is asked for, and the lack of a thing, are no subject one is bad at."""
_OF_A_THING = lazily(
    r"(?:这|那|该|呢|嗰)(?:句|段|篇|首|题|行|份|页|章|条|道|台|部|款|支|间|家|套|组|本|牌子|个(?:框架|语言|工具|套件|软体|软件|模型|产品))[^,]{0,8}的?$|门语言的?$|(?<![a-z])(?:(?:the|this|that) [a-z ]{2,20}|(?!it)[a-z]{3,})'s (?:biggest |main |only |real )?$"
)
"""A thing whose strengths are told: 這台筆電的強項."""
_LASTING = lazily(
    r"一直|总|永远|老是|每次|从来|始终|向来|一向|从小|弱|差|烂|擅长|苦手|罩门|死穴|短板|痛(?!苦)|软肋|噩梦|恶梦|心魔|天敌|克星|不起来|学不会|没辙|没救|不太?行|最|菜|渣|障碍|唔叻|就|forever|成日|次次|到现在|至今|(?:年|学期|遍|次)(?:了|还|也|都)|学到|一辈子|多年|还是|都未|never|开窍|一窍|雾水|抹黑|发怵|考砸|栽|挂过|挂了|(?<![a-z])(?:is|are|has been|have been|since|years)(?![a-z])|i'm|im |always|every|keep|suck|weak|struggle|constantly|been|blind|bad|dread"
)
_JUDGED_HEAD = lazily(
    r"(?:[\s,:的]|只要|一?看到|看见|碰到|碰上|遇到|一写|一碰|每次|写|搞|我|自己|对于?|在|其实|就是|是|老实说|说真的|不过|可是|只是|反而|但是?|讲真|跟你说|the|my|it's|its|with|at|in|that|honestly|tbh|and|but|so|because|stuff like|things like|anything (?:to do )?with|writing(?= [a-z])|doing|using)+(?![a-z])"
)
_JUDGED_CUT = lazily(
    r"\s*(?:这(?:块|一块|方面|部分|件事|个|题型|类|种|东西)|那(?:块|一块|方面|部分)|方面|的(?:部分|题目|东西|时候|地方|概念)|我|对我|就|都|又|却|还|倒|也|一直|总|真的|每次|老是|始终|从来|永远|完全|根本|上面?(?=$)|算是|是|很|超|最|特别|(?<![a-z])(?:stuff|is|are|has|have|always|just|never|that|which|and (?:i|it)|so|since|because|no matter|lol|tbh|honestly|though|tho|please|i|in general|but|for some reason|ever|to be honest|if|when|yet|even)(?![a-z])).*"
)


def _trim_judged(text: str, start: int, end: int) -> tuple[int, int]:
    head = _JUDGED_HEAD.match(text, start, end)
    start = head.end() if head else start
    cut = _JUDGED_CUT.search(text, min(start + 1, end), end)
    end = cut.start() if cut else end
    while start < end and text[end - 1] in " ,.:!?~的":
        end -= 1
    return start, end
