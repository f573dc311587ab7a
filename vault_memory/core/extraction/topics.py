"""Free text: what the person asks to be taught, builds, is weak or strong at, and asks to be remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.masking import Message
from vault_memory.core.extraction.phrases import lazily
from vault_memory.core.extraction.privacy import is_private
from vault_memory.core.preference import Signal

KEYS = ("current_projects", "recent_topics", "weaknesses", "strengths", "note")
LONGEST = 60
"""Characters of a topic, a project, a weakness."""
LONGEST_NOTE = 120


def subjects(
    clause: Clause, following: str, named: list[Technology], message: Message, lexicon: Lexicon
) -> Iterator[Signal]:
    """Topics, projects, weaknesses and strengths of one clause; `following` is the rest of its sentence."""
    if clause.hypothetical or clause.sarcastic or is_private(message.written[clause.start : clause.end]):
        return
    if not clause.others:
        yield from _judged(clause, named, message, lexicon)
        yield from _project(clause, following, message, lexicon)
    yield from _topic(clause, named, message, lexicon)


# --- topics -----------------------------------------------------------------------------------------------------------


def _topic(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    text = clause.text
    if clause.past or (clause.others and not clause.asks_to_know):
        return
    words = lexicon.words
    if _DEBUGGING.search(text) or _ABOUT_OTHERS.search(text):
        return
    span = None
    if compared := words("subjects.frames.compare").search(text):
        span = (0, compared.start()) if _JOINED.search(text[: compared.start()]) else (compared.end(), len(text))
        if _THESE.search(text[: compared.start()]):
            yield from _asked_after(clause, named, message, lexicon, alone=False)
            return
        if not _JOINED.search(text[span[0] : span[1]]):
            span = None
        elif compared[0] in ("vs", "versus"):
            span = (0, len(text))
    if span is None and (asked := words("subjects.frames.teach_before").search(text)):
        span = (asked.end(), len(text))
    if (span is None or not text[span[0] :].strip()) and (asked := words("subjects.frames.teach_after").search(text)):
        span = (0, asked.start())
    if span is None:
        yield from _asked_after(clause, named, message, lexicon)
        return
    start, end = _trim(text, *span)
    value = text[start:end]
    if not value:
        yield from _asked_after(clause, named, message, lexicon)
        return
    technical = (
        words("subjects.technical").search(value)
        or _OPERATOR.search(value)
        or any(clause.start + start <= technology.start < clause.start + end for technology in named)
    )
    foreign = (
        not value.isascii()
        and _LATIN_TERM.search(value)
        or (value.isascii() and _HAN.search(text) and _LATIN_TERM.search(value))
    )
    academic = _TAUGHT.search(text[:start]) and _TERM.fullmatch(value)
    if _OWN.search(text[span[0] : span[1]]):
        return
    if not value or not (technical or foreign or academic) or words("subjects.not_technical").search(text):
        return
    if _NO_TERM.match(value) or words("subjects.no_topic").search(text):
        return
    if not clause.asks_to_know and not compared and (span[0] or text.isascii()) and not _TEACH.search(text):
        return
    yield Signal("recent_topics", "add", _written(message, clause, start, end, LONGEST), "observed")


def _asked_after(
    clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon, alone: bool = True
) -> Iterator[Signal]:
    """«X 有哪几种, 挨个讲讲»: the request stands alone, its topic in the clause before it."""
    if alone and not lexicon.words("subjects.frames.teach_alone").match(clause.text):
        return
    opening = _SENTENCE_OPENING.search(message.said, 0, clause.start)
    first = opening.end() if opening else 0
    before = message.said[first : clause.start].rstrip(" ,")
    at = before.rfind(",") + 1
    opens = _WHY.match(before, at)
    start, end = _trim(before, opens.end() if opens else at, len(before))
    value = before[start:end]
    if value and lexicon.words("subjects.technical").search(value) and not _OWN.search(value):
        yield Signal(
            "recent_topics", "add", message.written[first + start : first + end].strip()[:LONGEST].strip(), "observed"
        )


_THESE = lazily(r"^(?:这|那|它|两)(?:俩|两个|两者|些|二者|者|们)|^(?:the two|these two|these|those|they)(?![a-z])")
_WHY = lazily(r"\s*(?:为什么|为啥|为何|点解|why(?: is| are| does| do)?)\s*")
_SENTENCE_OPENING = lazily(r"(?s:.*)(?:[。!?;\n]|\.(?=\s))")
_NO_TERM = lazily(
    r"(?:(?:person|human|man|student|i|you|we|he|she|they|it|a person|people|someone|inside|in the|in this|with|without|by|using|through|like|as|from|before|after|step|each|every|things?|stuff|everything|anything|something|better|properly|slowly|more|less|shorter|longer|explain|coding|programming|code|it all|what|why|how|one|ones|to|me|my|that|this|these|those|yourself|myself)(?![a-z])(?! (?:loop|keyword|operator))|得|太|写程式$|编程$|程式$|写 ?code$|程序$|代码$|你|您)"
)
_TEACH = lazily(
    r"啥|什么(?:是|叫)|何谓|何为|乜|咩|求教|请教|求|eli5|教|解释|讲|说明|介绍|学|了解|认识|搞懂|弄懂|理解|科普|复习|入门|研究|differ|teach|explain|learn|understand|study|walk|describe|define|intro|overview|eli5|go over|compare|comparison|vs|versus|tell me|brush|primer|rundown|curious|reading"
)
_OWN = lazily(r"我(?:们|的|这|那|写|个)|(?<![a-z])(?:my|our|your)(?![a-z])")
_TAUGHT = lazily(
    r"(?<![a-z])(?:explain|teach me|help me understand|what(?:'s| is| are)) (?:the |a |an |about )*$|(?:什么是|解释|教我|捋一捋|讲讲)$"
)
_OPERATOR = lazily(r"(?<![^\s])[=<>!&|+*/%^?:.~-]{2,3}(?=\s|$)")
_TERM = lazily(r"[a-z]{8,}(?: [a-z]{3,})?|[a-z]{3,} [a-z]{7,}")
_DEBUGGING = lazily(
    r"报错|出错|错误讯息|坏掉|不能跑|跑不动|没反应|没有用|为什么我|怎么我|我的.{1,20}(?:为什么|怎么)|why (?:is|does|do|are|isn't|doesn't|won't|can't) (?:my|it|this|the)|my .{1,20} (?:doesn't|won't|keeps|isn't)|not working|doesn't work|won't (?:run|compile)|crash|broken|this (?:line|code|error|function|loop|snippet)|这(?:行|段|个错|个函|个 bug|句|题)|那(?:行|段)|第.{1,3}(?:行|题|段)|line \d"
)
_ABOUT_OTHERS = lazily(
    r"都不(?:知道|懂|会|识)|(?:你|妳)(?:是|叫)(?:什么|谁)|什么.{1,12}你?就.{1,10}什么|you (?:managed|failed|just|already|explained|forgot|were)|who are you|your name|教我(?:妹|弟|爸|妈|朋友)"
)
_JOINED = lazily(r"跟|和|与|同|(?<![a-z])(?:and|vs|versus|or|from|to|with)(?![a-z])|、|/|还是|,")
_LATIN_TERM = lazily(
    r"(?<![a-z])(?!(?:my|the|this|that|you|me|it|is|are|ok|app|lol|btw|please|thanks|homework|deadline|final|midterm|project|ta|office|hour|meeting|gpa|email|demo|presentation|report|quiz|exam)(?![a-z]))[a-z][a-z0-9\-.+#/]{1,}"
)
_HAN = lazily(r"[\u3400-\u9fff]")
_HEAD = lazily(
    r"(?:[\s,:的了呢啊吧]|所以|请问|想问一?下?|想问|那|那个|这个|到底|究竟|你知道|一下|关于|有关|其实|欸|诶|老师|助教|同学|什么叫做?|啥叫|啥是|何谓|何为|怎么看懂|怎么理解|怎么样|来|科普|挨个|求教?|下|请|帮我|麻烦|可以|可唔可以|可不可以|能不能|能否|我|你|再|怎么|如何|点样|什么是|啥是|给我听?|跟我|我想|想|用|写|"
    r"(?:explain|explaining|teach|describe|compare|what|how|why|when|where|is|are|does|do|a|an|the|about|exactly|actually|even|so|ok|okay|hey|please|me|to|us|again|some|between|of|with|you|can|could|using|in|is the|also|and|basics|concept|idea|difference|quick|bit|really|wait|like)(?![a-z0-9+#.]))+"
)
_CUT = lazily(
    r"\s*(?:到底|究竟|[吗呢啊吧啦嘛呀么]|(?:又|都|还|才|也)?是(?:怎么|什么|啥|如何|干嘛|做什么|在干|指|为什么)|是(?=$)|怎么(?:回事|运作|用|写)|的?(?:意思|概念|原理|差别|差异|区别|不同)?(?:是什么|为何|给我听|给我)|一下|可以吗|好吗|谢谢|好不好|请|(?<![a-z])(?:please|pls|thanks|thank you|to me|for me|works?|mean(?:s)?|do(?:es)?|again|exactly|actually|is|are|in simple terms|simply|like i'm.*|step by step|used for|for dummies|differ|and when|and why|under the hood|internally|behind the scenes|from scratch|because|when|so that|before|for (?:my|the|tomorrow|an?)|in detail|first|i'm|but|lol|by any chance|real quick|quickly|properly|in general|for a beginner|for beginners|at all|anyway|tho|though)(?![a-z]).*|一步一步.*|逐步.*|详细.*|简单(?:讲|说|解释).*|的?时候.*|(?:我|讲|说|解释|教)(?:看|听|不|完|都|真|想|好|还|没|一直|总|完全|给|一).*|差(?:在|别|异|哪|咩).*|有(?:什么|何|咩|乜).*|哪里.*|为什么.*|怎么.*|如何.*|点解.*|点样.*|系(?:乜|咩|点).*|的$)"
)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without question words at either end."""
    head = _HEAD.match(text, start, end)
    start = head.end() if head else start
    cut = _CUT.search(text, start + 1 if start < end else start, end)
    while cut and not text[start : cut.start()].strip():
        cut = _CUT.search(text, cut.end(), end)
    end = cut.start() if cut else end
    while start < end and text[end - 1] in " ,.:!?~'\"的、":
        end -= 1
    return start, end


def _written(message: Message, clause: Clause, start: int, end: int, longest: int) -> str:
    return message.written[clause.start + start : clause.start + end].strip()[:longest].strip()


# --- projects ---------------------------------------------------------------------------------------------------------


def _project(clause: Clause, following: str, message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    text = clause.text
    if clause.past and not clause.first_person or clause.asks_to_know and not clause.first_person:
        return
    made = lexicon.words("subjects.frames.making").search(text)
    if (
        not made
        or _TASK.search(text[: made.end()])
        or lexicon.words("words.negation.before").search(text[max(0, made.start() - 6) : made.start()])
    ):
        return
    start, end = made.end(), len(text)
    told = lexicon.words("subjects.frames.project_is").search(text)
    thing = _A_THING.match(text, made.end()) if lexicon.words("subjects.frames.builds").search(made[0]) else None
    if thing and lexicon.words("subjects.no_project").search(text[thing.start() : thing.end() + 24]):
        return
    if not (thing or told) and _FOR_YEARS.search(text[made.end() :]):
        return  # «writing firmware for twenty years» is experience
    built = lexicon.words("subjects.built").search(text, made.start())
    if not built and not thing and not (told and len(text) - told.end() >= 4):
        later = lexicon.words("subjects.built").search(following[:80])
        if not later:
            return
        end = min(len(text) + len(following), len(text) + later.end() + 1)
    value = message.written[clause.start + start : clause.start + end].strip(" ,，。:：的一")
    if _GENERIC.fullmatch(value) and lexicon.words("subjects.built").search(following[:80]):
        comma = following.find(",", 2)
        value = message.written[clause.start + start : clause.end + (comma if comma > 0 else 80)].strip(" ,，。:：")
    value = _MADE_WITH.sub("", value)
    if value.startswith(("拿", "用", "with ")) and not told:
        return
    if len(value) < 2:
        value = message.written[clause.start + made.start() : clause.start + end].strip()
    value = _ARTICLE.sub("", value, count=1)
    yield Signal("current_projects", "add", value[:LONGEST].strip(), "observed")


_FOR_YEARS = lazily(
    r"(?<![a-z])(?:for|since|over|these|the last|the past) [^,]{0,16}(?:years?|decades?|ages|college|school|university|(?:19|20)\d\d)(?![a-z])|[一二两三四五六七八九十几多\d]+年(?!级)"
)
_A_THING = lazily(r" ?(?:out |up |together )?(?:a|an|my|our|my own) (?=[a-z])")
_MADE_WITH = lazily(r"^(?:拿|用|以|基于)\s*[\w.+#\- ]{1,20}?\s*(?:做|写|寫|刻|开发|開發|搭|架)的\s*")
_ARTICLE = lazily(r"^(?:(?:a|an|the|my|our|this) (?=\w)|[一]?[個个套支款只間间]\s*(?=\S))", re.IGNORECASE)
_GENERIC = lazily(
    r"(?:个|個)?(?:毕业|畢業|期末|学期|學期|个人|大学|我的|小)?(?:设计|設計|专题|專題|专案|專案|项目|項目|论文|論文|大作业|毕设|畢設|畢專|课设)|(?:my |a |our )?(?:capstone|thesis|final|senior|side|school|group)?(?: ?project)?"
)
_TASK = lazily(
    r"帮我|请|麻烦|给我|可以(?:帮|教)|教我|怎么|如何|help me|can you|could you|please|how (?:do|to|can)|should i|teach me|想像|老师(?:要|叫)|作业要"
)


# --- weaknesses and strengths -----------------------------------------------------------------------------------------


def _judged(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    text = clause.text
    if clause.past or (clause.asks_to_know and not clause.first_person) or clause.once:
        return
    if lexicon.words("people.level.beginner_said").search(text):
        return  # 程式一竅不通 is the level
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
            if _ASKED.search(text[start:end]):
                continue
            value = _written(message, clause, start, end, LONGEST)
            if not _can_be_judged(text[start:end], found[0], lexicon) and not any(
                clause.start + start <= item.start < clause.start + end for item in named
            ):
                value = "" if span[0] else _clause_before(clause, found[0], message, lexicon)
            if value:
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
    opening = _SENTENCE_OPENING.search(message.said, 0, clause.start)
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


_PRONOUN = lazily(
    r"(?:it|that|this|they|he|she|you|what|which|them|these|those|there|who|one|这|那|它|这个|那个|这些|那些|什么|谁|你|他|她|我|大家|自己)"
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


# --- notes ------------------------------------------------------------------------------------------------------------


def note(sentence: list[Clause], message: Message, lexicon: Lexicon, told: bool) -> Signal | None:
    """An explicit «remember …» of a sentence that holds no other key; `told`: it names a technology all the same."""
    first = sentence[0]
    end = _BLANK.match(message.said, sentence[-1].end).end()  # type: ignore[union-attr]  # a link at the end is blank
    text = message.said[first.start : end]
    asked = lexicon.words("subjects.remember.before").search(text)
    if not asked or lexicon.words("subjects.remember.not_a_note").search(text[: asked.end() + 6]):
        return None
    if told and _I_USE.search(text) or _TAKEN_BACK.search(text[asked.end() :]) or "//" in text[: asked.start()]:
        return None
    opening = text[: asked.start()]
    if len(_FILLER.sub("", opening)) > 4 or sentence[-1].asks_to_know or first.hypothetical or first.sarcastic:
        return None
    content = message.written[first.start + asked.end() : end].strip(" ,，:：、。")
    if (
        len(content) < 4
        or is_private(message.written[first.start : end])
        or _CLAIM.search(text)
        or lexicon.words("subjects.remember.private").search(text)
        or not _STATEMENT.search(text[asked.end() :])
    ):
        return None
    return Signal("note", "add", content[:LONGEST_NOTE], "explicit")


_TAKEN_BACK = lazily(
    r"当我没说|算了|(?<![a-z])(?:no wait|forget (?:that|it)|never ?mind|scratch that|remember)(?![a-z])"
)
_I_USE = lazily(
    r"我(?:们|都|一般|平常|平时|主要|只|也|现在|是|在|的|最)*(?:用|写|学|选|喜欢|习惯|偏好|装|跑)|(?<![a-z])(?:i|we|i'm|we're|i'll) (?:\w+ ){0,2}(?:use|using|write|writing|code|coding|prefer|like|love|work|working|run|develop|build|switched|moved)(?![a-z])"
)
_BLANK = lazily(r" *")
_FILLER = lazily(
    r"[\s,!:~]|对了|呢|eh|ah|la|lah|还有|另外|顺便|那|请|麻烦|帮我|你|可以|先|欸|诶|喔|ok|okay|also|and|btw|hey|oh|please|by the way|one more thing|so|just|可唔可以|唔该|拜托|嗯|好|以后|之后"
)
_CLAIM = lazily(r"管理员|权限|admin|root|instructor|superuser|老师身份|助教身份|credentials?")
_STATEMENT = lazily(
    r"[\u3400-\u9fff]{2,}|(?<![a-z])(?:is|are|am|was|use|uses|has|have|must|should|need|needs|will|called|named|on|every|always|only|our|my|i'm|the|we|due|at|in|by|=)(?![a-z])|->|:"
)
