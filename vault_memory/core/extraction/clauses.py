"""Clauses: how each is meant. Who speaks, whether it is a wish or a question, whether it holds for good or once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.speech import MAX_CLAUSES, Message, Span, clause_spans, sentences
from vault_memory.core.profile import Strength
from vault_memory.core.text import Matcher, lazily

MAX_CARRIED_CHARS = 32
"""A longer clause does not continue the liking of the clause before."""
Words = Callable[[str], Matcher]
"""Gives the phrase list at a path, such as `words.speaker.me`."""


@dataclass(frozen=True, kw_only=True)
class Clause:
    """A stretch of speech between two commas, and how it is meant. `start` and `end` are offsets into the message."""

    text: str
    start: int
    end: int
    sentence: int
    """The number of its sentence in the message, from 0."""
    is_about_others: bool
    """Somebody else is the subject."""
    is_hypothetical: bool
    has_happened: bool
    """Hypothetical in form only: «after I pushed it to GitHub» says when something happened."""
    asks_to_know: bool
    """A question about the world; a wish in the form of a question does not count."""
    is_once: bool
    """Meant for this time only."""
    is_past: bool
    is_sarcastic: bool
    likes: bool
    is_lasting: bool
    """Meant to last («from now on»): this clause says so, or another of its sentence."""
    is_lasting_here: bool
    """The same, and this clause itself says so."""
    asks: bool
    corrects: bool
    is_first_person: bool

    @property
    def is_meant(self) -> bool:
        """Whether it is about the person, now, and meant seriously."""
        return not (self.is_about_others or self.is_hypothetical or self.is_past or self.is_sarcastic)

    @property
    def wish(self) -> Strength | None:
        """How strong the wish in this clause is; None without a wish."""
        if not self.is_meant or self.asks_to_know or self.is_once:
            return None
        if self.likes or self.is_lasting:
            return "explicit"
        return "adjustment" if self.asks or self.corrects else None


_ENDS_AS_QUESTION = lazily(r"(?:吗|么|嘛|(?<!达)咩|(?<!着)呢|没有|吗啊|没|先)(?:[\s~～!?.啊呀]|[^\w\s])*$")
_SUBORDINATE = lazily(
    r"(?:(?:之后|以后|过后|后|的时候|时候|的时|时|之前|以前|的话|[写做改跑弄]完)$)"
    r"|^(?:and |but |so |then )?(?:when|while|once|after|as soon as|every time|since|although|though|even though"
    r"|whenever|in case) (?:i|we|the|it|my|a|this|he|she|they)\b|^(?:当|等|自从|每当|虽然|尽管)(?!我需要)"
)
_AHEAD = lazily(
    r"^[^,]{0,3}(?:等|当|下次|下|明|以后)|之前$|以前$|前$|会|要|想|(?<![a-z])(?:once|as soon as|in case"
    r"|before)(?![a-z])"
)
"""A time after now, or after a past moment."""
_STRONG_QUESTION = lazily(
    r"好还是|好定|定系(?=[^,]*(?:好|啱))|(?:^|[^a-z])(?:why|how(?! about)|what(?! about| if)|which|who"
    r"|where)(?:'s| |$)|为什么|为啥|为何|怎么(?!样都|都|这么|那么|又|还"
    r"|[学看背练记写做想听弄教试改说讲](?:都|也))|如何|哪里|哪儿|哪个|哪种|哪些|哪一|什么(?!都|的)|是不是"
    r"|有没有(?!办法|可能)|会不会|该不该|要不要|系咩|系乜|咩嚟|点解|点样|边个|边度|差在|好奇|想知道|想问|请问"
    r"|不(?:太|是很|大)?确定|纠结|犹豫|说不[清上]|拿不定|看心情|还没(?:想好|决定)"
    r"|不知道(?:我|自己)?(?:喜欢|想要|要|该|选)|(?:don't|do not) know (?:if|whether|which)|你觉得|你认为|你看呢"
    r"|not sure (?:if|whether|which)|can't decide|torn between|would you rather"
    r"|(?:do|would) you (?:prefer|like|enjoy|usually|tend)"
    r"|你(?:自己|个人)?(?:比较|更|会)?(?:喜欢|偏好|习惯|爱)[^,]*还是"
)
_NOT_ASKING = lazily(
    r"where (?:are|did|have) (?:the|my|all the) (?:comments|examples)"
    r"|(?:can|could|might) (?:it|this|that|they|these|those|everything"
    r"|(?:the|your|my|all) [a-z]+(?: [a-z]+)?) (?:be|go|get|look|have|stay|use|follow|switch) "
    r"|是不是(?:可以|能|该)|每一?(?:行|步|段|句|个)[^,]{0,8}?(?:什么|怎么|为什么|干嘛|干啥)"
    r"|怎么(?=又是|又变|还是)|what(?= (?:it|that|this|each|every|the))|how (?=it |that |this )"
    r"|有(?:没有|冇|无)(?:[^,]{0,2}(?:实际|具体|真实|简单|生活)[^,]{0,3})(?:例|案)"
    r"|有(?:没有|冇)[^,]{0,6}(?:例子|范例|示例|example|办法)|不管|无论|不论|随便|no matter|whatever|什么都|怎样都"
    r"|怎么都|没什么|whichever|that's what|this is how|that's how|是什么都|it's what"
    r"|what i (?:want|need|like|prefer|mean|meant|asked|said|use)|the (?:why|how|what|where)(?![a-z])|which is"
    r"|which i(?! prefer$)|(?:don't|do not|doesn't) (?:mind|care|matter)[^,]{0,4}(?:which|what|how|who)"
    r"|where (?:i|possible|needed|necessary)|why not|why don't (?:you|we)|how about|what about|who cares"
    r"|when(?:ever)? "
)


def clauses(message: Message, lexicon: Lexicon) -> list[Clause]:
    """The clauses of a message, in order. Within a sentence, subject, condition and «from now on» carry over."""
    result: list[Clause] = []
    is_wry = bool(_WRY.search(message.written))
    for number, sentence in enumerate(sentences(message.speech)):
        if len(result) < MAX_CLAUSES:
            result.extend(_of_sentence(message.speech, number, sentence, is_wry, lexicon))
    return _for_once(result, lexicon)


def _for_once(in_order: list[Clause], lexicon: Lexicon) -> list[Clause]:
    """Marks as `is_once` what a later «just for today» is about: «Light mode please, just for today»."""
    result = list(in_order)
    for position, clause in enumerate(in_order):
        once = lexicon.words("words.mood.once").search(clause.text) if clause.is_once else None
        if not once or len(_BESIDE_ONCE.sub("", clause.text[: once.start()] + clause.text[once.end() :])) > 1:
            continue
        alone = all(other.sentence != clause.sentence for other in in_order if other is not clause)
        about = clause.sentence - 1 if alone else clause.sentence
        for earlier in range(position):
            if in_order[earlier].sentence == about and not in_order[earlier].is_lasting_here:
                result[earlier] = replace(in_order[earlier], is_once=True)
    return result


_BESIDE_ONCE = lazily(
    r"[\s,!.?~的地]|就好|就行|就可以|而已|啦|吧|喔|哦|啊|呀|先|只有?|只限|我|要|在|[页题份段张封次回个]|谢谢|可以"
    r"|只|就|(?<![a-z])(?:page|slide|one|question|answer|task|email|message|screenshot|meeting|demo|part|time"
    r"|please|only|just|thanks|though|ok|okay|and|but|it's|its|i need it|i want it|that's all|maybe|then|so|i'm"
    r"|no more|not always|not forever|not every time)(?![a-z])"
)


def _of_sentence(speech: str, number: int, sentence: Span, is_wry: bool, lexicon: Lexicon) -> list[Clause]:
    """The clauses of one sentence. What a clause says about speaker, mood or time may hold for the clauses after it."""
    spans = clause_spans(speech, sentence)
    if not spans:
        return []
    words = lexicon.words
    others = hypothetical = once = standing = likes = past = corrects = False
    has_own_part_before = has_asked_before = polite = quoted = False
    sarcastic = is_wry or bool(words("words.mood.sarcasm").search(speech[sentence.start : sentence.end]))
    last = speech[spans[-1].start : spans[-1].end]
    standing_after = len(spans) > 1 and bool(words("words.wish.standing").search(last))
    attributed = len(spans) > 1 and bool(words("words.artefact.attributed").search(last))
    result = []
    for start, end, _ in spans:
        text = speech[start:end]
        subject = speaker(text, words)
        if subject:
            others = subject == "others"
        else:
            others = others and not has_own_part_before and not _ASKED_OF_YOU.search(text)
        has_own_part_before = subject == "others" and bool(_OWN_PART.search(text))
        if speech[end : end + 1] == ":" and subject != "me":
            quoted = quoted or subject == "others" or bool(_SAYS.search(text) or _SOURCE.search(text))
        polite_if = bool(words("words.mood.polite_if").search(text))
        conditional = not polite_if and bool(words("words.mood.hypothetical").search(text))
        stands_here = bool(words("words.wish.standing").search(text))
        subordinate = not stands_here and bool(_SUBORDINATE.search(text))
        hypothetical = conditional or (hypothetical and not _ORDER.match(text))
        once = once or bool(words("words.mood.once").search(text))
        now = bool(words("words.mood.now").search(text))
        was = bool(words("words.mood.past").search(text))
        past = (was and not (now and _is_now_later(text, words))) or (
            past and not now and subject is None and not words("words.wish.asks").search(text)
        )
        standing = standing or stands_here
        likes_here = bool(words("words.wish.likes").search(_RELATIVE.sub("", text)))
        likes = likes_here or (likes and subject is None and len(text) < MAX_CARRIED_CHARS and not has_asked_before)
        corrects = corrects or bool(words("words.wish.corrects").search(text))
        polite = polite or bool(words("words.mood.polite_question").search(text))
        orders = bool(words("words.wish.orders").match(_LEAD.sub("", text)))
        mark = sentence.mark if end == spans[-1].end else ""
        asking = not _IMPERATIVE.match(text) and _asks_to_know(text, mark, polite, words)
        asking = asking or (has_asked_before and text.endswith(("的", "那种")))  # 怎麼讓它只顯示一行, 簡短一點的那種
        has_asked_before = asking
        result.append(
            Clause(
                text=text,
                start=start,
                end=end,
                sentence=number,
                is_about_others=others or attributed or quoted,
                is_hypothetical=hypothetical or subordinate,
                has_happened=subordinate and not hypothetical and subject == "me" and not _AHEAD.search(text),
                asks_to_know=asking,
                is_once=once,
                is_past=past,
                is_sarcastic=sarcastic,
                likes=likes,
                is_lasting=standing or (standing_after and not was),
                is_lasting_here=stands_here,
                asks=orders or bool(words("words.wish.asks").search(text)),
                corrects=corrects,
                is_first_person=subject == "me",
            )
        )
    if _HOW.match(result[-1].text) and result[-1].asks_to_know:  # 系統自動換成深色模式，怎麼關
        result = [clause if _REQUESTS.search(clause.text) else replace(clause, asks=False) for clause in result]
    return result


_HOW = lazily(
    r"(?:要|该|这|那|应该|请问|and |so )*(?:怎么|如何|为什么|为啥|点解|点样|how |why )(?![^,]*(?:你|you))[^,]{0,24}$"
)
_REQUESTS = lazily(
    r"请|帮|麻烦|拜托|给我|我想|我要|希望|不要|别|唔该|可以|能不能|(?<![a-z])(?:please|pls|can you|could you"
    r"|i want|i'd like|i need|make|keep|use|add|show|give)(?![a-z])"
)
"""A clause with one of these still asks for something when a question about the matter follows."""


# An English imperative is not a question, even with a question mark: «comment every line so I see what it does?»
_IMPERATIVE = lazily(
    r"(?:and |but |so |then |also |ok |okay |just |please |pls |hey |from now on )*(?:add|write|make|keep|use|put"
    r"|skip|drop|leave|stop|include|stick|stay|switch|change|set|turn|cut|avoid|start|comment|annotate|label"
    r"|follow|match|break|split|walk|slow|number|shorten|trim|remove|strip|go|give"
    r"|(?:would|could) (?:it kill|you mind))(?![a-z'])(?! (?:is|are|was|does|has)(?![a-z]))"
)
_WRY = lazily("[🙃🙄😒]")
_RELATIVE = lazily(
    r"(?<![a-z])(?:that|which|who) (?:i|we) (?:really |also |still |always )?(?:like|love|enjoy|prefer)(?![a-z])"
    r"|我(?:最|很|超)?喜欢的(?:那|这)"
)
"""In «make an app that I like» the liking is about the app, not about what the clause wishes for it."""
_LEAD = lazily(
    r"^[\s,]*(?:(?:and|but|so|then|also|plus|ok|okay|hey|well|oh|just|btw|pls|那|那就|就|也|还有|然后|另外|所以"
    r"|但|但是|不过|而且|并且|你|你就|同埋|仲有|都|我想|阿|啊|欸|诶|呃|嗯|you can|you could|you should|you|to"
    r"|from now on|以后|之后|今后|往后)[\s,]*){0,4}"
)
_ORDER = lazily(r"\s*(?:so |and |then |ok )*(?:请|麻烦|帮我|就|给我|please|pls|plz|then |make|use|add|give|keep)")


def _is_now_later(text: str, words: Words) -> bool:
    """Whether «now» comes after «before» in a clause; then the present counts."""
    was = words("words.mood.past").search(text)
    now = [match for match in words("words.mood.now").finditer(text) if not _HABIT.search(text[: match.start()])]
    return bool(was and now and now[-1].start() > was.start())


_HABIT = lazily(r"(?:爱|喜欢|总|老|常|流行|习惯)[^,]{0,6}$")
"""A habit before «change to» shows the past: 以前超愛把什麼都換成黑底."""


def _asks_to_know(text: str, mark: str, polite: bool, words: Words) -> bool:
    """Whether a clause is a question about the world; `mark` ends its sentence."""
    if _STRONG_QUESTION.search(_NOT_ASKING.sub("", text)):
        return True
    marked = "?" in mark or bool(_ENDS_AS_QUESTION.search(_NOT_ASKING.sub("", text)))
    opens = bool(words("words.mood.question").match(text))
    return (marked or opens) and not polite


# --- speaker ----------------------------------------------------------------------------------------------------------


def speaker(text: str, words: Words) -> str | None:
    """The first subject of a clause: `me`, `others` or None. A person whom one helps or talks to is not a subject."""
    if any(pattern.search(text) for pattern in _SOMEBODY_ELSE):
        return "others"
    mine = next(
        (own for own in words("words.speaker.me").finditer(text) if not _DONE_TO_ME.search(text[: own.start()])), None
    )
    for other in words("words.speaker.others").finditer(text):
        rest = text[other.end() :]
        if _BENEFICIARY.search(text[: other.start()]) or not rest.strip() or rest.startswith(("我", "你", "您")):
            continue  # somebody helped or spoken to: 幫老師, «媽媽我手腳慢»
        if mine and _OURS.fullmatch(text[mine.start() : other.end()]):
            continue
        if mine and mine.start() < other.start() and not _is_their_clause(text[mine.end() : other.start()]):
            return "me"
        return "others"
    return "me" if mine else None


def _is_their_clause(between: str) -> bool:
    """Whether the words between «I» and another person make that person the subject: 我的室友, «I wish my boss …»."""
    return bool(_POSSESSIVE.fullmatch(between) or _EMBEDDED.fullmatch(between))


# Anybody or anything but the speaker says, wants or demands it: «the rubric says», 規範裡規定.
_REPORTED = lazily(
    r"^(?!能不能|能否|可不可|想|以后|之后|以前|之前|先前|刚才|刚刚|上次|前面|昨天|忘|先说|话说|今后|往后|现在|从"
    r"|接下来|另外|还有|那就|这样|最后|以及|然后|麻烦|拜托|如果|为什么|怎么|什么|每次|记住|记得|不要|可以|一直"
    r"|应该|有什么|有没有)"
    r"(?:(?:我[们哋]?|咱们?)(?:的)?[^,我你您]{0,8}(?:规范|规定|规则|守则|手册|指南|公司|学校|团队|组里|实验室"
    r"|律所|医院|诊所|店里|社团|班上|系上|作业|题目|课程|合同|合约|契约|甲方|老板|主管)"
    r"|[^,我你您咱俺请帮]{2,18}?)"
    r"(?:里|中|上|那边|内)?(?: ?[a-z]{2,10} ?|法务|人资|总务|资讯|行政)?(?:都|也|又|还|一直|总是|老是|就|只|硬|非"
    r"|明明|有|是|会|已经|特别)*"
    r"(?:规定|要求(?!很|不|是|简|高|低|太|取消|作废|拿)|嫌(?!你)|坚持(?:要|说|用)|抱怨|批评"
    r"|说(?:以后|从|要|请|一律|我的?|全|必须|不能|不可以|不用|不要|不必|别)|话(?:以后|要|唔|想|佢|份|个|啲|自己)"
    r"|让(?:我们?|大家|全|写|做|交|改|用|准备|整理)|叫(?:我们?|大家|全)(?![\u3400-\u9fff]{1,3}(?:就|得))"
    r"|逼(?:我|大家)|要(?:我们|大家)|写明|写着|写住|写道|注明|通知|嘱咐|命令|禁止|强调"
    r"|(?<!请)(?<!先)(?:问|劝|催|骂|笑|推坑|建议|推荐)我)"
)
_REPORTED_EN = lazily(
    r"(?<![a-z'])(?!(?:i|we|you|it|this|that|which|what|who|brain|eyes|head|gut|heart|taste|memory|style|default"
    r"|always|just|really|also|never|one|everything|nothing|anything) )"
    r"[a-z][a-z'\-]*(?: \d+| also| always| just| really| still| now| even| all)? "
    r"(?:says|insists|demands|requires(?! (?:me|less|more))|hates|loves|prefers|thinks|expects|complains|wants"
    r"|refuses|swears|codes|works (?:entirely|only|exclusively|mostly|all day) (?:in|with)"
    r"|keeps (?:saying|asking|telling|insisting)"
    r"|(?:told|taught|asked|warned|forced|forces|makes|made|ordered) (?:me|us|everyone) )(?! it )"
)
_KIN = lazily(
    r"^我(?:家|的)?(?![想要是觉说讲喜都就也比还常平一只最更很不在用看听会能可刚已曾直从本真个每今昨明先再必以跟和"
    r"把对给让被们自己没有得])[\u3400-\u9fff]{1,3}?(?:说|要求|嫌)"
)
"""A relative or a friend says: 我愛人說."""
_OF_THEIRS = lazily(
    r"^(?:and |but |so )?(?:my|our|the|his|her|their|this) (?:school|company|university|uni|college|hospital|city"
    r"|town|council|bank|employer|office|church|gym|library|government|airline)(?:'s)? (?:[a-z]+ )?(?:website"
    r"|site|system|app|laptop|computer|portal|intranet|policy|network|email|software|platform|page)s?(?![a-z])|"
    r"(?<![a-z])(?:i'm|we're|i am|we are|we were|i was) (?:required|obliged|forced|expected) to(?![a-z])"
    r"|(?<![a-z])i (?:told|asked|advised|reminded|begged) (?:my|the|our|his|her|their"
    r"|a) [a-z]+ (?:not )?to(?![a-z])|"
    r"(?<![a-z])(?:love|like|enjoy|appreciate|hate) (?:that|how|when|it when) (?:my|his|her|their|our|a"
    r"|some) (?!code|answers?|page|eyes)"
)
"""«I love that my dog answers to German» is an opinion about the dog."""
_HOUSE = lazily(
    r"^(?:听说|据说|因为|现在|目前)?(?:公司|学校|医院|单位|部门|工厂|厂里|店里|银行|政府|总部|机构|事务所|图书馆"
    r"|系统商|厂商|外包)(?:的|里的|那边|内部)?"
    r"(?:(?<=[的边部])(?!专案|项目|案子|产品|后台|前端|后端|码|代码|程式|网站|官网)|电脑|系统|设备|内网|网路|网络"
    r"|政策|制度|资讯|法务|人资|总务|年会|同仁|员工|客服|系统|伺服器|服务器)"
)
"""An institution owns the thing: «the company's servers run on …». With «our company's» it may be the person's."""
_SOMEBODY_ELSE = (_KIN, _REPORTED, _REPORTED_EN, _HOUSE, _OF_THEIRS)
_EMBEDDED = lazily(
    r" ?(?:just |really |do |so |also |kinda |honestly )*(?:wish|hope|think|know|heard|hear|suspect|guess|bet"
    r"|swear|believe|feel like|notice|noticed|love how|hate how|love when|hate when|love that|saw"
    r"|see)(?: that)?(?: my| the| our| a| some)? ?"
    r"|(?:个人)?(?:希望|觉得|认为|知道|听说?|猜|怀疑|看到?|发现|记得|讨厌|最怕|真希望|好希望|多希望)(?:我的?"
    r"|我们的?|那个?)?"
)
_OURS = lazily(r"(?:我|咱)们?(?:的)?(?:系上|班上|全班|公司|学校|全队|团队)")
"""A group that includes the person counts as the person: 我們系上做的是…"""
_BENEFICIARY = lazily(
    r"(?:帮|给|替|为|和|跟|与|教|同|让|对|比|像|身为|作为|当|做|是|for|with|help|helping|to|than|unlike|like|by"
    r"|of|and|as)"
    r"(?: (?:my|the|our|a|an|his|her))?(?:我|我们|我的|我们的)? ?$"
)
_DONE_TO_ME = lazily(r"(?:叫|让|要|教|逼|推荐|催|劝|骂|笑|害|嫌|问|跟|对)$")
_OWN_PART = lazily(r"我(?:负责|是|自己|觉得|都|就|比较|还是|则|倒|个人|只|用|写|喜欢|偏好|习惯)")
"""In a clause about somebody else, the person's own part: 老師出題，我負責寫."""
_POSSESSIVE = lazily(
    r"(?:们|的|那|这|数学|英文|英语|国文|物理|化学|程式|大学|高中|国中|小学|研究所|实验室|系上|专题|家|班|系|校"
    r"|之前|以前|公司|学校|个|位|隔壁|一|有|听|看|常|\s)*|[^,我你是在用写想要喜说讲把给跟和会都觉请做看学教的]{0,"
    r"4}的[^,我你是在用写想要喜说讲把给跟和会都觉请]{0,8}"
)
_ASKED_OF_YOU = lazily(
    r"^(?:所以|因此|那|so )[^,]{0,6}(?:麻烦|请|帮我|你|please|can you|could you)"
    r"|(?:帮我|麻烦(?:你|您)|请(?:你|您)|拜托(?:你|您))(?!们)"
)
"""Speaks to the assistant, even if the subject before was another: 小孩會醒，所以網頁麻煩一直維持深色."""
_SAYS = lazily(
    r"(?:说|写|写着|写道|写住|话|要求|规定|注明|提示|问|喊|回|道) ?$|(?<![a-z])(?:said|says|reads|read|wrote"
    r"|writes|states|stated|asks|asked|goes|went|demands|demanded|shouts|warns|told (?:me|us)) ?$"
)
"""Before a colon: somebody says («the exam said: explain in detail»)."""
_SOURCE = lazily(
    r"来信|来函|来电|来讯|传讯|留言|回信|备注|批注|批示|公告|群里|(?<![a-z])(?:note|slack|e?mail|mail|message"
    r"|transcri(?:pt|bed)|voicemail|memo|review|feedback|ticket|request|quote|from|ceo|cto|cfo|coo|vp|legal"
    r"|procurement|finance)(?: from [^,]{2,20})?$"
)
"""Before a colon: the source of the words."""
