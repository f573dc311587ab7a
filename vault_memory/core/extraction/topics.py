"""Free text: what the person asks to be taught, and what the person builds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.masking import Message
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.phrases import lazily

KEYS = ("current_projects", "recent_topics", "weaknesses", "strengths", "note")
LONGEST = 60
"""Characters of a topic, a project, a weakness."""


def subjects(
    clause: Clause, following: str, named: list[Technology], message: Message, lexicon: Lexicon
) -> Iterator[Signal]:
    """Topics and projects of one clause; `following` is the rest of its sentence."""
    if not clause.others:
        yield from _project(clause, following, message, lexicon)
    yield from _topic(clause, named, message, lexicon)


# --- topics -----------------------------------------------------------------------------------------------------------


def _topic(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    text = clause.text
    if clause.past or (clause.others and (not clause.asks_to_know or "问" in clause.text)):
        return
    words = lexicon.words
    if _NOT_TAUGHT.search(text) or _KNOWN.search(text) or _DEBUGGING.search(text) or _ABOUT_OTHERS.search(text):
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
    if not value.strip("吗么嘛呢吧啊呀"):
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
    yield Signal("recent_topics", "add", written(message, clause, start, end), "observed")


def _asked_after(
    clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon, alone: bool = True
) -> Iterator[Signal]:
    """«X 有哪几种, 挨个讲讲»: the request stands alone, its topic in the clause before it."""
    if alone and not lexicon.words("subjects.frames.teach_alone").match(clause.text):
        return
    opening = SENTENCE_OPENING.search(message.said, 0, clause.start)
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
SENTENCE_OPENING = lazily(r"(?s:.*)(?:[。!?;\n]|\.(?=\s))")
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
_NOT_TAUGHT = lazily(
    r"(?:别|不要|不用|不必|唔好|唔使|不想|懒得)(?:再|跟我|给我|一直|老是)*(?:教|解释|讲|介绍|科普|学)|(?<![a-z])(?:don't|do not|stop|no need to|quit|never) (?:teach|explain|lectur|tell|learn|study|describ)"
)
_KNOWN = lazily(
    r"(?<![a-z])(?:i|we) (?:already |do |certainly )*(?:know|understand|get) what|我(?:们)?(?:早就|已经|当然)?(?:知道|懂|了解)什么是|(?<![a-z])(?:asked|asks|quizzed) (?:me|us|him|her|them) (?:what|how|why)|问我(?:什么|啥|怎么|为什么)"
)
"""«I know what a loop is» and «the intern asked me what a mutex is» ask for nothing."""
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
    r"(?:[\s,:的了呢啊吧]|所以|请教一?下?|想请教一?下?|不太?[懂会熟]|搞不[懂清]楚?|分不清楚?|不太?(?:清楚|了解|明白)|请问|想问一?下?|想问|那|那个|这个|到底|究竟|你知道|一下|关于|有关|其实|欸|诶|老师|助教|同学|什么叫做?|啥叫|啥是|何谓|何为|怎么看懂|怎么理解|怎么样|来|科普|挨个|求教?|下|请|帮我|麻烦|可以|可唔可以|可不可以|能不能|能否|我|你|再|怎么|如何|点样|什么是|啥是|给我听?|跟我|我想|想|用|写|"
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


def written(message: Message, clause: Clause, start: int, end: int) -> str:
    """A stretch of a clause as the person wrote it, at most `LONGEST` characters."""
    return message.written[clause.start + start : clause.start + end].strip()[:LONGEST].strip()


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
    if thing and not (message.technologies or lexicon.words("subjects.technical").search(text)):
        thing = None  # a treehouse is built as well; what is made with a technology need not be known by name
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
    if _STATE.match(value):
        return  # «my website is down»
    yield Signal("current_projects", "add", value[:LONGEST].strip(), "observed")


_FOR_YEARS = lazily(
    r"(?<![a-z])(?:for|since|over|these|the last|the past) [^,]{0,16}(?:years?|decades?|ages|college|school|university|(?:19|20)\d\d)(?![a-z])|[一二两三四五六七八九十几多\d]+年(?!级)"
)
_A_THING = lazily(r" ?(?:out |up |together )?(?:a|an|my|our|my own) (?=[a-z])")
_MADE_WITH = lazily(r"^(?:拿|用|以|基于)\s*[\w.+#\- ]{1,20}?\s*(?:做|写|寫|刻|开发|開發|搭|架)的\s*")
_STATE = lazily(
    r"(?:down|broken|offline|slow|late|due|done|finished|almost|nearly|stuck|failing|crashing|not|working|dead|up|live|online|too|very|so|really|still)(?![a-z])"
)
_ARTICLE = lazily(r"^(?:(?:a|an|the|my|our|this) (?=\w)|[一]?[個个套支款只間间]\s*(?=\S))", re.IGNORECASE)
_GENERIC = lazily(
    r"(?:个|個)?(?:毕业|畢業|期末|学期|學期|个人|大学|我的|小)?(?:设计|設計|专题|專題|专案|專案|项目|項目|论文|論文|大作业|毕设|畢設|畢專|课设)|(?:my |a |our )?(?:capstone|thesis|final|senior|side|school|group)?(?: ?project)?"
)
_TASK = lazily(
    r"帮我|请|麻烦|给我|可以(?:帮|教)|教我|怎么|如何|help me|can you|could you|please|how (?:do|to|can)|should i|teach me|想像|老师(?:要|叫)|作业要"
)
