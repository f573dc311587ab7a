"""Free text: what the person asks to be taught, what the person builds, and what the person asks to be remembered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Technology
from vault_memory.core.extraction.speech import Message
from vault_memory.core.privacy import is_private, names_a_contact
from vault_memory.core.profile import Signal
from vault_memory.core.text import lazily

MAX_SUBJECT_CHARS, MAX_NOTE_CHARS, MIN_NOTE_CHARS, MAX_ASKING_CHARS = 60, 120, 4, 40
"""A subject is a topic, a project, a weakness or a strength."""
MAX_ADDRESS_CHARS = 24
FOLLOWING_CHARS = 80
"""Of the rest of a sentence, read for the thing that is built."""


def subjects(
    clause: Clause, following: str, named: list[Technology], message: Message, lexicon: Lexicon
) -> Iterator[Signal]:
    """The topics and projects of one clause; `following` is the rest of its sentence."""
    if not clause.is_about_others:
        yield from _project(clause, following, message, lexicon)
    yield from _topic(clause, named, message, lexicon)


# --- topics -----------------------------------------------------------------------------------------------------------


def _topic(clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The topic that a clause asks to be taught: a technical or academic term, or a foreign word."""
    text = clause.text
    if clause.is_past or (clause.is_about_others and (not clause.asks_to_know or "问" in clause.text)):
        return
    words = lexicon.words
    if _NOT_TAUGHT.search(text) or _KNOWN.search(text) or _DEBUGGING.search(text) or _ABOUT_OTHERS.search(text):
        return
    span = None
    if compared := words("subjects.frames.compare").search(text):
        span = (0, compared.start()) if _JOINED.search(text[: compared.start()]) else (compared.end(), len(text))
        if _THESE.search(text[: compared.start()]):
            yield from _asked_after(clause, named, message, lexicon, is_alone=False)
            return
        if not _JOINED.search(text[span[0] : span[1]]):
            span = None
        elif compared[0] in ("vs", "versus"):
            span = (0, len(text))
    if span is None and (asked := words("subjects.frames.teach_before").search(text)):
        span = (asked.end() + text.startswith("习", asked.end()), len(text))  # 想学 | 习 TypeScript
    if (span is None or not text[span[0] :].strip()) and (asked := words("subjects.frames.teach_after").search(text)):
        span = (0, asked.start())
    if span is None:
        yield from _asked_after(clause, named, message, lexicon)
        return
    start, end = trim(text, *span)
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
    yield Signal("recent_topics", "add", excerpt(message, clause.start + start, clause.start + end), "observed")


def _asked_after(
    clause: Clause, named: list[Technology], message: Message, lexicon: Lexicon, is_alone: bool = True
) -> Iterator[Signal]:
    """The topic, in the clause before, of a request that stands alone (`is_alone`): X 有哪几种，挨个讲讲."""
    if is_alone and not lexicon.words("subjects.frames.teach_alone").match(clause.text):
        return
    opening = SENTENCE_OPENING.search(message.speech, 0, clause.start)
    first = opening.end() if opening else 0
    before = message.speech[first : clause.start].rstrip(" ,")
    at = before.rfind(",") + 1
    opens = _WHY.match(before, at)
    start, end = trim(before, opens.end() if opens else at, len(before))
    value = before[start:end]
    if value and lexicon.words("subjects.technical").search(value) and not _OWN.search(value):
        yield Signal("recent_topics", "add", excerpt(message, first + start, first + end), "observed")


_THESE = lazily(r"^(?:这|那|它|两)(?:俩|两个|两者|些|二者|者|们)|^(?:the two|these two|these|those|they)(?![a-z])")
_WHY = lazily(r"\s*(?:为什么|为啥|为何|点解|why(?: is| are| does| do)?)\s*")
SENTENCE_OPENING = lazily(r"(?s:.*)(?:[。!?;\n]|\.(?=\s))")
_NO_TERM = lazily(
    r"(?:(?:person|human|man|student|i|you|we|he|she|they|it|a person|people|someone|inside|in the|in this|with"
    r"|without|by|using|through|like|as|from|before|after|step|each|every|things?|stuff|everything|anything"
    r"|something|better|properly|slowly|more|less|shorter|longer|explain|coding|programming|code|it all|what|why"
    r"|how|one|ones|to|me|my|that|this|these|those|yourself|myself)(?![a-z])(?! (?:loop|keyword|operator))|得|太"
    r"|写程式$|编程$|程式$|写 ?code$|程序$|代码$|你|您)"
)
_TEACH = lazily(
    r"啥|什么(?:是|叫)|何谓|何为|乜|咩|求教|请教|求|eli5|教|解释|讲|说明|介绍|学|了解|认识|搞懂|弄懂|理解|科普"
    r"|复习|入门|研究|differ|teach|explain|learn|understand|study|walk|describe|define|intro|overview|eli5"
    r"|go over|compare|comparison|vs|versus|tell me|brush|primer|rundown|curious|reading"
)
_OWN = lazily(r"我(?:们|的|这|那|写|个)|(?<![a-z])(?:my|our|your)(?![a-z])")
_TAUGHT = lazily(
    r"(?<![a-z])(?:explain|teach me|help me understand|what(?:'s| is| are)) (?:the |a |an |about )*$"
    r"|(?:什么是|解释|教我|捋一捋|讲讲)$"
)
_OPERATOR = lazily(r"(?<![^\s])[=<>!&|+*/%^?:.~-]{2,3}(?=\s|$)")
_TERM = lazily(r"[a-z]{8,}(?: [a-z]{3,})?|[a-z]{3,} [a-z]{7,}")
_NOT_TAUGHT = lazily(
    r"(?:别|不要|不用|不必|唔好|唔使|不想|懒得)(?:再|跟我|给我|一直|老是)*(?:教|解释|讲|介绍|科普|学)"
    r"|(?<![a-z])(?:don't|do not|stop|no need to|quit|never) (?:teach|explain|lectur|tell|learn|study|describ)"
)
_KNOWN = lazily(
    r"(?<![a-z])(?:i|we) (?:already |do |certainly )*(?:know|understand|get) what"
    r"|我(?:们)?(?:早就|已经|当然)?(?:知道|懂|了解)什么是|(?<![a-z])(?:asked|asks|quizzed) (?:me|us|him|her"
    r"|them) (?:what|how|why)|问我(?:什么|啥|怎么|为什么)"
)
"""No request: «I know what a loop is», «the intern asked me what a mutex is»."""
_DEBUGGING = lazily(
    r"报错|出错|错误讯息|坏掉|不能跑|跑不动|没反应|没有用|为什么我|怎么我|我的.{1,20}(?:为什么|怎么)"
    r"|why (?:is|does|do|are|isn't|doesn't|won't|can't) (?:my|it|this|the)"
    r"|my .{1,20} (?:doesn't|won't|keeps|isn't)|not working|doesn't work|won't (?:run|compile)|crash|broken"
    r"|this (?:line|code|error|function|loop|snippet)|这(?:行|段|个错|个函|个 bug|句|题)|那(?:行|段)"
    r"|第.{1,3}(?:行|题|段)|line \d"
)
_ABOUT_OTHERS = lazily(
    r"都不(?:知道|懂|会|识)|(?:你|妳)(?:是|叫)(?:什么|谁)|什么.{1,12}你?就.{1,10}什么"
    r"|you (?:managed|failed|just|already|explained|forgot|were)|who are you|your name|教我(?:妹|弟|爸|妈|朋友)"
)
_JOINED = lazily(r"跟|和|与|同|(?<![a-z])(?:and|vs|versus|or|from|to|with)(?![a-z])|、|/|还是|,")
_LATIN_TERM = lazily(
    r"(?<![a-z])(?!(?:my|the|this|that|you|me|it|is|are|ok|app|lol|btw|please|thanks|homework|deadline|final"
    r"|midterm|project|ta|office|hour|meeting|gpa|email|demo|presentation|report|quiz"
    r"|exam)(?![a-z]))[a-z][a-z0-9\-.+#/]{1,}"
)
_HAN = lazily(r"[\u3400-\u9fff]")
_HEAD = lazily(
    r"(?:[\s,:的了呢啊吧]|所以|请教一?下?|想请教一?下?|不太?[懂会熟]|搞不[懂清]楚?|分不清楚?"
    r"|不太?(?:清楚|了解|明白)|请问|想问一?下?|想问|那|那个|这个|到底|究竟|你知道|一下|关于|有关|其实|欸|诶|老师"
    r"|助教|同学|什么叫做?|啥叫|啥是|何谓|何为|怎么看懂|怎么理解|怎么样|来|科普|挨个|求教?|下|请|帮我|麻烦|可以"
    r"|可唔可以|可不可以|能不能|能否|我|你|再|怎么|如何|学习(?!率|曲线|理论|型)|点样|什么是|啥是|给我听?|跟我|我想|想|用|写|"
    r"(?:explain|explaining|teach|describe|compare|what|how|why|when|where|is|are|does|do|a|an|the|about|exactly"
    r"|actually|even|so|ok|okay|hey|please|me|to|us|again|some|between|of|with|you|can|could|using|in|is the|also"
    r"|and|basics|concept|idea|difference|quick|bit|really|wait|like)(?![a-z0-9+#.]))+"
)
_CUT = lazily(
    r"\s*(?:到底|究竟|[吗呢啊吧啦嘛呀么]|(?:又|都|还|才|也)?是(?:怎么|什么|啥|如何|干嘛|做什么|在干|指|为什么)"
    r"|是(?=$)|怎么(?:回事|运作|用|写)|的?(?:意思|概念|原理|差别|差异|区别|不同)?(?:是什么|为何|给我听|给我)|一下"
    r"|可以吗|好吗|谢谢|好不好|请|(?<![a-z])(?:please|pls|thanks|thank you|to me|for me|works?|mean(?:s)?"
    r"|do(?:es)?|again|exactly|actually|is|are|in simple terms|simply|like i'm.*|step by step|used for"
    r"|for dummies|differ|and when|and why|under the hood|internally|behind the scenes|from scratch|because|when"
    r"|so that|before|for (?:my|the|tomorrow|an?)|in detail|first|i'm|but|lol|by any chance|real quick|quickly"
    r"|properly|in general|for a beginner|for beginners|at all|anyway|tho|though)(?![a-z]).*|一步一步.*|逐步.*"
    r"|详细.*|简单(?:讲|说|解释).*|的?时候.*|(?:我|讲|说|解释|教)(?:看|听|不|完|都|真|想|好|还|没|一直|总|完全|给"
    r"|一).*|差(?:在|别|异|哪|咩).*|有(?:什么|何|咩|乜).*|哪里.*|为什么.*|怎么.*|如何.*|点解.*|点样.*"
    r"|系(?:乜|咩|点).*|的$)"
)


def trim(text: str, start: int, end: int) -> tuple[int, int]:
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


def excerpt(message: Message, start: int, end: int, most: int = MAX_SUBJECT_CHARS) -> str:
    """A stretch of the message as the person wrote it, at most `most` characters."""
    return message.written[start:end].strip()[:most].strip()


# --- projects ---------------------------------------------------------------------------------------------------------


def _project(clause: Clause, following: str, message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The project that the person is building."""
    text = clause.text
    if clause.is_past and not clause.is_first_person or clause.asks_to_know and not clause.is_first_person:
        return
    made = lexicon.words("subjects.frames.making").search(text)
    if (
        not made
        or _TASK.search(text[: made.end()])
        or lexicon.words("words.negation.before").search(text[max(0, made.start() - 6) : made.start()])
    ):
        return
    start, end = made.end(), len(text)
    named = lexicon.words("subjects.frames.project_is").search(text)
    thing = _A_THING.match(text, made.end()) if lexicon.words("subjects.frames.builds").search(made[0]) else None
    if thing and lexicon.words("subjects.no_project").search(text[thing.start() : thing.end() + 24]):
        return
    if thing and not (message.technologies or lexicon.words("subjects.technical").search(text)):
        thing = None  # one also builds a treehouse: an unknown thing counts only beside something technical
    if not (thing or named) and _FOR_YEARS.search(text[made.end() :]):
        return  # «writing firmware for twenty years» is experience
    built = lexicon.words("subjects.built").search(text, made.start())
    if not built and not thing and not (named and len(text) - named.end() >= 4):
        later = lexicon.words("subjects.built").search(following[:FOLLOWING_CHARS])
        if not later:
            return
        end = min(len(text) + len(following), len(text) + later.end() + 1)
    value = message.written[clause.start + start : clause.start + end].strip(" ,，。:：的一")
    if _GENERIC.fullmatch(value) and lexicon.words("subjects.built").search(following[:FOLLOWING_CHARS]):
        comma = following.find(",", 2)
        value = message.written[clause.start + start : clause.end + (comma if comma > 0 else FOLLOWING_CHARS)].strip(
            " ,，。:："
        )
    value = _MADE_WITH.sub("", value)
    if value.startswith(("拿", "用", "with ")) and not named:
        return
    if len(value) < 2:
        value = message.written[clause.start + made.start() : clause.start + end].strip()
    value = _ARTICLE.sub("", _CALLED.sub("", value), count=1)
    if _STATE.match(value):
        return  # «my website is down»
    yield Signal("current_projects", "add", value[:MAX_SUBJECT_CHARS].strip(), "observed")


_FOR_YEARS = lazily(
    r"(?<![a-z])(?:for|since|over|these|the last|the past) [^,]{0,16}(?:years?|decades?|ages|college|school"
    r"|university|(?:19|20)\d\d)(?![a-z])|[一二两三四五六七八九十几多\d]+年(?!级)"
)
_A_THING = lazily(r" ?(?:out |up |together )?(?:a|an|my|our|my own) (?=[a-z])")
_MADE_WITH = lazily(r"^(?:拿|用|以|基于)\s*[\w.+#\- ]{1,20}?\s*(?:做|写|寫|刻|开发|開發|搭|架)的\s*")
_CALLED = lazily(r"^(?:called|named|titled|名[为為]|名叫|叫[做作]?) ?(?=\S)")
_STATE = lazily(
    r"(?:down|broken|offline|slow|late|due|done|finished|almost|nearly|stuck|failing|crashing|not|working|dead|up"
    r"|live|online|too|very|so|really|still)(?![a-z])"
)
_ARTICLE = lazily(r"^(?:(?:a|an|the|my|our|this) (?=\w)|[一]?[個个套支款只間间]\s*(?=\S))", re.IGNORECASE)
_GENERIC = lazily(
    r"(?:个|個)?(?:毕业|畢業|期末|学期|學期|个人|大学|我的|小)?(?:设计|設計|专题|專題|专案|專案|项目|項目|论文"
    r"|論文|大作业|毕设|畢設|畢專|课设)|(?:my |a |our )?(?:capstone|thesis|final|senior|side|school"
    r"|group)?(?: ?project)?"
)
_TASK = lazily(
    r"帮我|请|麻烦|给我|可以(?:帮|教)|教我|怎么|如何|help me|can you|could you|please|how (?:do|to|can)|should i"
    r"|teach me|想像|老师(?:要|叫)|作业要"
)


# --- notes ------------------------------------------------------------------------------------------------------------


def note(sentence: list[Clause], message: Message, lexicon: Lexicon, has_signals: bool) -> Signal | None:
    """The note that a sentence asks for with «remember …»; `has_signals`: it names a topic or a technology too."""
    first = sentence[0]
    end = _BLANK.match(message.speech, sentence[-1].end).end()  # type: ignore[union-attr]  # the blanks of a link
    text = message.speech[first.start : end]
    asked = lexicon.words("subjects.remember.before").search(text)
    if not asked or lexicon.words("subjects.remember.not_a_note").search(text[: asked.end() + 12]):
        return None
    if has_signals and _I_USE.search(text) or _TAKEN_BACK.search(text[asked.end() :]) or "//" in text[: asked.start()]:
        return None
    if _ABLE.search(text):
        return None  # 你能記住我說過的話嗎 asks about the assistant
    opening = text[: asked.start()]
    if (
        len(_FILLER.sub("", opening)) > 4
        or sentence[-1].asks_to_know
        or first.asks_to_know
        or first.is_hypothetical
        or first.is_sarcastic
    ):
        return None
    if (past := lexicon.words("words.mood.past").search(text, asked.end())) and past.start() - asked.end() <= 4:
        return None  # 記得小時候院子裡有棵樹 is a memory of the person
    content = message.written[first.start + asked.end() : end].strip(" ,，:：、。")
    if (
        len(content) < 4
        or is_private(message.written[first.start : end])
        or names_a_contact(message.written[first.start : end + MAX_ADDRESS_CHARS])
        or _CLAIM.search(text)
        or lexicon.words("subjects.remember.private").search(text)
        or not _STATEMENT.search(text[asked.end() :])
    ):
        return None
    start, end = wish_span(message, first.start + asked.end(), end, lexicon)
    return Signal("note", "add", excerpt(message, start, end, MAX_NOTE_CHARS), "explicit")


def standing_wish(sentence: list[Clause], message: Message, lexicon: Lexicon) -> Signal | None:
    """The note of a sentence that wishes for something lasting («always cite your sources»)."""
    meant = [
        clause
        for clause in sentence
        if clause.is_lasting_here and clause.is_meant and not _OWN_HABIT.match(clause.text)
    ]
    if _ABLE.search(message.speech[sentence[0].start : sentence[-1].end]):
        return None
    return fact(sentence, message, lexicon) if meant and not any(clause.is_once for clause in sentence) else None


def fact(sentence: list[Clause], message: Message, lexicon: Lexicon) -> Signal | None:
    """The note of a sentence that states something; None for a question, a private fact or somebody's address."""
    if any(clause.asks_to_know or clause.is_hypothetical for clause in sentence):
        return None
    start, end = wish_span(message, sentence[0].start, sentence[-1].end, lexicon)
    written = message.written[sentence[0].start : sentence[-1].end + MAX_ADDRESS_CHARS]  # an address has dots
    if end - start < MIN_NOTE_CHARS or is_private(written) or names_a_contact(written):
        return None
    return Signal("note", "add", excerpt(message, start, end, MAX_NOTE_CHARS), "explicit")


def wish_span(message: Message, start: int, end: int, lexicon: Lexicon) -> tuple[int, int]:
    """A stretch of the message without what only asks to remember it or is polite, at either end: of «btw, please
    remember that our port is 6380» the port."""
    asked = lexicon.words("subjects.remember.before")
    while True:
        text = message.speech[start:end]
        opening = _POLITE.match(text)
        cut = opening.end() if opening else 0
        found = asked.search(text[cut : cut + MAX_ASKING_CHARS])
        if found and found.start() == 0:
            cut += found.end()
        if cut == 0 or end - start - cut < MIN_NOTE_CHARS:
            break
        start += cut
    for comma in reversed([match.start() for match in _COMMA.finditer(message.speech, start, end)]):
        tail = message.speech[comma + 1 : end]
        if len(tail) > MAX_ASKING_CHARS or not only_asks_to_remember(tail, lexicon) or comma - start < MIN_NOTE_CHARS:
            break
        end = comma
    while end > start and message.speech[end - 1] in " ,.;:!~":
        end -= 1
    return start, end


def asks_to_remember(text: str, lexicon: Lexicon) -> bool:
    """Whether a text asks to remember something."""
    asked = lexicon.words("subjects.remember.before").search(text)
    return bool(asked) and not lexicon.words("subjects.remember.not_a_note").search(text) and not _ABLE.search(text)


def only_asks_to_remember(text: str, lexicon: Lexicon) -> bool:
    """Whether a text is nothing but a request to remember: «keep that in mind please», 幫我記一下."""
    found = lexicon.words("subjects.remember.before").search(text)
    return found is not None and len(_REST.sub("", text[: found.start()] + text[found.end() :])) <= 2


_OWN_HABIT = lazily(
    r"\s*(?:(?:and|but|so|because) )?(?:i|i've|i'm|i was|we|we've|we're)"
    r"(?! (?:always |never |only |really )?(?:want|need|like|love|prefer|expect|wish|would|hate))(?![a-z'])"
    r"|(?:因为|但|所以)?我(?:们|一直|从来|总是|每次|都|从小|平常)*(?!都?(?:要|想|希望|需要|喜欢|偏好|爱|习惯|比较喜欢|只看|只想))"
)
"""What the person does is no wish: «I've never used Docker»."""
_COMMA = lazily(r"[,;:]| [-–—] ")
_POLITE = lazily(
    r"(?:[\s,!:~-]|(?:hey|hi|oh|ok|okay|so|well|also|and|but|btw|by the way|one more thing|please|pls|just|quick note)"
    r"(?![a-z'])|对了|另外|还有|顺便|麻烦|请|拜托|欸|诶|嗯|喔|那个?(?=,| ))+"
)
_REST = lazily(
    r"[\s,.!~]|(?<![a-z])(?:this|that|it|please|pls|thanks|thank you|for me|for later|ok|okay|in mind|now|will you"
    r"|would you|could you|can you)(?![a-z])|这(?:点|个|件事|条)?|那|吧|喔|哦|啊|啦|了|谢谢"
    r"|麻烦|请|好吗|可以吗|一下|你|我|帮"
)
_TAKEN_BACK = lazily(
    r"当我没说|算了|(?<![a-z])(?:no wait|forget (?:that|it)|never ?mind|scratch that|remember)(?![a-z])"
)
_ABLE = lazily(
    r"^[\s,]*(?:你|妳|您)(?:有办法|会不会|能不能|可不可以|会|能|可以|都)+(?!帮|替|给|为我|请|麻烦)[^,]*(?:吗|么|$)"
    r"|^[\s,]*(?:do|will|are|is|does|did) (?:you|it|this)(?! please| mind)[^,]*(?:remember|keep|store|save|note)"
)
_I_USE = lazily(
    r"我(?:们|都|一般|平常|平时|主要|只|也|现在|是|在|的|最)*(?:用|写|学|选|喜欢|习惯|偏好|装|跑)"
    r"|(?<![a-z])(?:i|we|i'm|we're|i'll) (?:\w+ ){0,2}(?:use|using|write|writing|code|coding|prefer|like|love"
    r"|work|working|run|develop|build|switched|moved)(?![a-z])"
)
_BLANK = lazily(r" *")
_FILLER = lazily(
    r"[\s,!:~]|对了|呢|eh|ah|la|lah|还有|另外|顺便|那|请|麻烦|帮我|你|可以|先|欸|诶|喔|ok|okay|also|and|btw|hey"
    r"|oh|please|by the way|one more thing|so|just|可唔可以|唔该|拜托|嗯|好|以后|之后"
)
_CLAIM = lazily(r"管理员|权限|admin|root|instructor|superuser|老师身份|助教身份|credentials?")
_STATEMENT = lazily(
    r"[\u3400-\u9fff]{2,}|(?<![a-z])(?:i|we|is|are|am|was|use|uses|has|have|must|should|need|needs|will|called"
    r"|named|on|every|always|only|our|my|i'm|the|we|due|at|in|by|=)(?![a-z])|->|:"
)
