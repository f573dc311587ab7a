"""What is spoken of instead of the answers: a text, a page or a product that is being made, and whose wish it meets."""

from __future__ import annotations

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.extraction.masking import TEXT_ORDERED
from vault_memory.core.extraction.wished import speaks_of_reply, tells_of_a_thing
from vault_memory.core.profile.policy import Signal
from vault_memory.core.text.fold import fold
from vault_memory.core.text.phrases import lazily

_TASK = lazily(
    r"(?:^|please |you )(?:write|draft|compose|create|generate|prepare)(?: me| us)? (?:a|an|some|the|my|our|\d+|two|three|five|ten) (?!answer|explanation|reply|response)"
    r"|(?:^|please |pls |you )(?:rewrite|edit|revise|polish|shorten|proofread|rephrase|tighten|condense|trim)(?: up)? (?:my|the|this|our) (?!answer|explanation|reply|response)"
    r"|(?:draft|write|改写|润色|润饰|修改|缩短|精简)(?: ?个| ?封|一下|我的|这份|这篇|这段| a| an)"
    r"|(?:写|拟|草拟|起草|生成|设计|出|画)(?:一|两|三|几|我的|这)?(?:封|篇|份|段|首|张|组|套|则|题|道)"
    r"|(?:写|拟|草拟|起草|撰)[^,我你给得成]{0,6}(?:书|信|稿|条|函|报告|心得|诗|歌词|剧本|总结|计划|作文|检讨|文案|致辞|致词)"
)
_WORK_IS = lazily(
    r"(?<![a-z])(?:the|this|that|my|our) (?:function|method|loop|class|component|file|query|script|variable|title|essay|paper|paragraph|email|report|abstract|slide|intro|name|code|regex|list|table|lecture|video|movie|book)s? [^,]{0,12}(?:is|are|was|looks|feels|gets|got|'s) "
)
_MADE = lazily(
    r"(?:^|please |pls |you |to )(?:make|build|create|design|draw|generate|mock up|prepare|code|need|want)(?: me| us)? (?:an?|some|two|three|four|\d+) (?!dark |light |modern |minimal |clean |bit|little|lot|habit|note|rule|change)"
    r"|(?:^|please |pls |you )(?:make|build|create|design|draw|generate|mock up|prepare|code)(?: me| us)? an? [^,]{0,40}(?: for | about | with )"
    r"|(?:做|设计|画|生成|弄|搞|写|想)(?:一|两|三|几)?(?:个|张|份|款|组|套|幅|版)[^,]{0,24}(?:页|网站|海报|按钮|组件|封面|卡片|活动|配色|app|page|程式|功能|toggle|logo|名片|邀请|简报)"
)


_TEXT = lazily(TEXT_ORDERED)
_SHOWN = lazily(
    r"(?<![a-z])(?:here(?:'s| is| are)|this is|i(?:'ve| have)|your|sure|done|drafted|translated|updated)[^.!?\n]{0,30}?(?:draft|e-?mail|letter|poster|flyer|invitation|speech|toast|essay|resume|résumé|cv|cover letter|report|minutes|haiku|poem|story|caption|blurb|slogan|tagline|proposal|menu|post|translation|lyrics|logo|card)(?![a-z])"
    r"|(?:这是|以下是|已经?|帮你|好的|呢份|修改后|更新)[^。!?\n]{0,12}?(?:草稿|信|邮件|海报|传单|邀请|讲稿|演讲|致词|履历|简历|自我介绍|自传|报告|会议纪|纪要|诗|故事|文案|标语|企划|提案|proposal|email|菜单|贴文|翻译|歌词|名片|卡片|配色方案)|(?:文案|草稿|译文|讲稿|信件|内容)(?:如下|:)"
)
OPENING = 80
"""Characters of a reply that tell what it shows."""
_PRODUCT = lazily(
    r"(?:做|设计|写|开发|搭|架)(?:一|了)?(?:个|款|套)[^,]{0,24}(?:网站|app|平台|系统|教材|小程序|游戏|机器人)"
    r"|(?<![a-z])(?:building|making|designing|creating|writing) (?:an?|my|our) [^,]{0,30}(?:site|app|game|platform|website|course|book|deck)(?![a-z])"
)


def orders_a_text(sentence: str) -> bool:
    """Whether a sentence orders a text: whoever speaks in it, it is not the person."""
    return bool(_TEXT.search(sentence))


def shows_a_text(reply: str) -> bool:
    """Whether the reply shown was a text of the person's: «make it shorter» is then said of the letter."""
    return bool(_SHOWN.search(fold(reply[:OPENING])))


def is_task(sentence: str) -> bool:
    """Whether a sentence asks to write or change a text of the person: its length is the text's, not the answers'."""
    return bool(_TASK.search(sentence) or _WORK_IS.search(sentence))


def is_product(sentence: str) -> bool:
    """Whether a sentence tells of a thing the person builds: what it shall hold is no wish of the answers."""
    return bool(_PRODUCT.search(sentence))


def is_made(sentence: str) -> bool:
    """Whether a sentence asks for one page or one picture: its looks are that page's."""
    return bool(_MADE.search(sentence))


def is_spoken_of(signal: Signal, clause: Clause, before: str, sentence: str, lexicon: Lexicon, in_reply: bool) -> bool:
    """Whether a style is that of a document, in the clause or earlier in its sentence (`before`).

    «Our docs must have examples», 履歷要簡潔, 給國中生的說明要淺白: standing or not, it is the document that shall be so.
    """
    if (clause.likes and clause.first_person) or _MINE.search(clause.text):
        return False
    if signal.key == "code_style":
        return not clause.standing and bool(_DOCSTRING.search(clause.text))
    words = lexicon.words
    carried = (
        ""
        if _CONTRAST.match(clause.text) and not _STILL_OF_IT.match(clause.text)
        else (before if _STILL_OF_IT.match(clause.text) else _CONTRAST_BEFORE.split(before)[-1])
    )
    if signal.key == "theme" and _SET_BEFORE.search(before) and _YET.match(clause.text):
        return True  # «the config says dark but the page still comes up white» is a bug
    bare = len(clause.text) < 10 and not clause.standing and not _PAGE.search(before)
    if signal.key == "theme" and bare and (words("styles.theme.unless").search(carried) or tells_of_a_thing(carried)):
        return True  # «the button is too bright, darker please»
    if signal.key == "design_style" and carried.strip() and not in_reply and _UGLY.fullmatch(clause.text):
        return not _PAGE.search(carried)
    if signal.key == "design_style" and not (
        in_reply or (clause.likes and clause.first_person) or _PAGE.search(sentence)
    ):
        return True  # 步驟太複雜了: nobody speaks of a page
    if words("words.artefact.audience").search(sentence) or _FOR_OTHERS.search(sentence):
        return True
    if signal.key == "response_style" and speaks_of_reply(clause.text):
        carried = ""  # «my thesis is due, so keep explanations short»
    text = _SIMILE.sub(" ", clause.text if clause.likes else f"{carried} {clause.text}")
    return bool(words("words.artefact.document").search(text) or words("words.artefact.thing").search(text))


# The answers themselves, and what is made for the person who speaks, are no document of somebody's.
_MINE = lazily(
    r"(?:你|您)(?:的|啲|嘅|给|之后|以后|解释|说明|讲|说|答|回)|(?<![a-z])with me(?![a-z])|给我(?:做|看|讲|写|说|解|回|生|画)|我看的|(?:跟|对|向)我(?:讲|解释|说明|说|回)"
    r"|(?<![a-z])(?:what you|your|explain|(?:show|give|tell|answer|render for|explain to|reply to) me|you (?:show|give|make|write|explain))(?![a-z])"
)
_CONTRAST = lazily(r"(?:但是?|可是|不过|而|however|but|yet|though)")
_STILL_OF_IT = lazily(
    r"(?:但是?|可是|不过|就是|but|though|yet) ?(?:有点|太|稍微|略|好像|a bit|a little|too|kinda|kind of|rather|way too)(?![a-z])"
)
"""A complaint that names nothing new: «the poem is lovely but a bit long»."""
_CONTRAST_BEFORE = lazily(r"但是?|可是|不过|(?<![a-z])(?:but|however)(?![a-z])")
_SIMILE = lazily(r"(?:像|好似|跟|如同|写了|写成|当成|(?<![a-z])(?:like|wrote|as if|reading)(?![a-z]))[^,]{0,12}|公告栏")
_SET_BEFORE = lazily(
    r"写了|设了|设成|设为|改了|调成|开了|选了|切了|写着|(?<![a-z])(?:says|set to|is set|i set|i chose|enabled)(?![a-z])"
)
_YET = lazily(r"(?:但是?|可是|不过|却|结果|还是|but|yet|still)(?![^,]*(?:你|you))")
_PAGE = lazily(
    r"页|网站|画面|版|介面|界面|背景|底色|主题|设计|屏幕|萤幕|外观|风格|风(?![^,])|路线|排版|动效|特效|动画|渐变|(?<![a-z])(?:pages?|sites?|websites?|screens?|ui|background|theme|layouts?|designs?|interfaces?|looks?|gradients?|it|this)(?![a-z])"
)
_UGLY = lazily(
    r"(?:好|很|太|真|有点|超|真的)*(?:丑|难看|老气|俗|土)(?:了|死|啊|喔|哦|爆)*|(?:so|pretty|kinda|really)? ?(?:ugly|dated|outdated)"
)
_FOR_OTHERS = lazily(
    r"(?:做|写|准备|设计|整理|弄)[^,]*给(?!我|你|您|个|一|点|出|下|再|他们?看)[\u3400-\u9fff]{2,8}(?:$|,)"
    r"|(?<![a-z])(?:explain|describe|teach|introduce|pitch|present) [^,]{2,40} to (?:an?|my|our|his|her|their|someone|people|kids|non)(?![a-z])"
)
_DOCSTRING = lazily(r"(?:write|draft|add|写)[^,]{0,20}docstring|detailed enough for")
