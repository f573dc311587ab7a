"""The language in which a person wants the replies."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, longest
from vault_memory.core.extraction.speech import Message
from vault_memory.core.extraction.wishes import polarity
from vault_memory.core.profile import Signal, Strength, language_tag
from vault_memory.core.text import chinese_of, lazily

_REPLY = lazily(
    r"回答|回复|回覆|回应|答复|作答|回我|回给我|回|答|讲|说|话|解释|说明|讲解|沟通|对话|交谈|聊|唠|跟我|教|输出"
    r"|语言|用语|全程|(?<![a-z])(?:answer|answers|answering|reply|replies|replying|respond|responses|responding"
    r"|speak|talk|write|explain|explanations|communicate|chat|converse|tell me|text|output|language"
    r"|everything)(?![a-z])"
)
# A text for somebody else in a language, or the language as a subject, is not about the replies.
_ARTEFACT = lazily(
    r"(?<![a-z])(?:spoke|speaks|spoken)(?![a-z])|make it (?:reply|answer|respond|speak|talk)|让它"
    r"|(?<!你这个)(?<!你这)(?:机器人|客服)|(?<![a-z])(?:bot|bots|app|server|plugin|docs?)(?![a-z])|小程序|插件"
    r"|chatbot|persona|翻|译|写(?!给我看)(?:一)?(?:封|篇|个|份|段|首|张|则|句|条|幅|信|自传|履历|文案|贴文|稿|卡"
    r"|作文|报告|文章)|信|邮件|email|e-mail|letter|essay|作文|论文|报告|paper|report|注解|注释|comment|变数|变量"
    r"|variable|函数名|命名|naming|名称|介面|界面|(?<![a-z])ui(?![a-z])|网站|页面|网页|website|page|(?<![a-z])app"
    r"|按钮|button|标题|title|label|简报|slides?(?![a-z])|投影片|presentation|演讲|speech|考(?!多益|托福|雅思)"
    r"|test|exam|homework|课|class|subtitle|字幕|字体|font|文件(?=用|要|改)|readme|doc|commit|提交|讯息|message to"
    r"|自我介绍|自传|贺卡|生日卡|卡片|贴文|文案|履历|resume|cv|怎么(?:说|讲|写|念)|点讲|how do (?:you|i|we) say"
    r"|say .{1,30} in|键盘|keyboard|输入法|系统语言|手机|phone|版本|version|影片|video|书(?!面)|book|字典|资料集"
    r"|dataset|translat|caption|essay|poem|诗|歌|song|menu|菜单|error message|strings?"
    r"|(?:跟|对|给|向|和|与)(?:他|她|客户|老师|教授|对方|老板|同学|外国|老外|房东|hr|导师|室友|朋友|评审)"
    r"|(?:这|那|一|几|两)(?:句|段|篇|些|单|串)[^,]{0,4}(?:英|中|日)"
    r"|[文语](?:通|对不对|句|字(?!体)|单字|名|老师|听力|口说|口语|文法|语法|发音|能力|程度|检定)"
    r"|(?:to|for|with) (?:him|her|them|the client|my (?:prof|boss|teacher|landlord|supervisor))"
    r"|(?:润色|润饰|改写|造句|选单|选项|下拉|设定页|设置页|后台|放(?:一)?个|加(?:一)?个|dropdown|option|polish"
    r"|rewrite|rephrase|proofread|correct my|improve my|fix my|sentence|grammar|word|idiom|phrase|pronunciation"
    r"|accent)"
)
_SWITCH = lazily(
    r"(?:改|换|转|切换|切|用|讲|说|回|整|来|以|答|打|写|采|为|成|给|(?<![a-z])(?:be|in|to|speak|use|switch|go"
    r"|talk|prefer|answer|reply|only|just|with|try|please|back|want|like|have|auf|make it|rather)(?![a-z])|喜欢"
    r"|习惯|偏好|看|读|吃|要|只|全部|全程|一律|统一)[^,]{0,12}$"
)
_AFTER = lazily(
    r" ?(?:就好|就行|即可|if (?:you can|possible)|please|pls|plz|only|谢谢|吧|啦|呗|得啦|得喇|就得|thanks|thx"
    r"|就可以|from (?:now|today|here)|replies|answers|responses|回答|回复|,? ?ok|for me|going forward|always"
    r"|in future|permanently|everywhere|by default|is fine|works|would be|preferred|instead|不|嘅|答|讲|回|reply"
    r"|mode|版|!|onwards)|$"
)
_MERELY_NAMED = lazily(
    r"(?:以外|之外|看得|看到|很|好难|太难|不好|不懂|看不|读不|资料|文献|原文|课本|夹|名词|缩写|苦手|烂|差"
    r"| is (?:hard|difficult|not)|课|老师|系|的(?:文件|文章|资料|影片|书|论文|解释看)| mixed| isn't| classes?"
    r"| teacher)"
)
_ABOUT_ME = lazily(
    r"(?:我|i|my)[^,]{0,8}(?:母语|native|first language|很烂|很差|不好|看不懂|听不懂|读不懂|speak|专业|考|学|读"
    r"|老师|doesn't|isn't|bad|poor)"
)
_STUDIED = lazily(
    r"(?:learn|learning|study|studying|practi[cs]e|practi[cs]ing|teach me|take|taking|know|speak(?=ing)|学|念|修"
    r"|背|考|教我|会|懂|练)[^,]{0,6}$"
)
_NO_MORE = lazily(r"(?:别|不要|唔好|不准|stop|don't|no more|quit|enough)[^,]{0,10}$")


_BUILT = lazily(
    r"(?:加|做|写|弄|新增|设计|开发)(?:上|一)?个|(?<![a-z])(?:add|build|make|create|implement) (?:a|an"
    r"|the)(?![a-z])|(?:小程序|网站|机器人|(?<![a-z])(?:app|site|bot|game))(?![a-z])"
)
_EITHER = lazily(r"还是(?!用|说|讲|请|给|以)|(?<![a-z])or(?![a-z])")
_QUALIFIED = lazily(r" ?\([^()]{1,30}\)")
"""Which English, which Chinese: «English (UK)». A bracket begins a clause of its own."""


def _names_more(rest: str) -> bool:
    """Whether a clause names more than the switch to a language."""
    return len(_SWITCHING.sub("", rest)) >= 2


_SWITCHING = lazily(
    r"[\s,.!?~、()]|[我你您请把就都全部再给帮先改换转切成用到回为以来吧啦呗好的了啊喔哦嘛吗么要想可能行不是系咗返"
    r"啲喇呀嚟嘅得比较这那里边呢边看读写打字还跟着起后所有一律统一直接麻烦拜托谢唔该欸诶嗯喂蛤干嘛怎么又突然现在"
    r"今天明天开始练习版模式语整点来]"
    r"|(?<![a-z])(?:i|i'd|i'm|we|you|it|this|that|can|could|would|will|should|do|be|go|have|get|make|keep|put|try"
    r"|let|let's|lets|switch|change|turn|back|to|in|into|on|of|the|a|an|my|me|for|with|from|here|now|please|pls"
    r"|plz|thanks|thx|ok|okay|just|only|also|too|again|instead|rather|if|possible|and|or|but|so|then|maybe"
    r"|actually|sorry|no|not|want|like|need|prefer|use|using|is|are|was|fine|better|best|easier|good|great|all"
    r"|everything|mode|version|practice|practise|chat|conversation|both|stick|stay|continue|start|set|lets|how"
    r"|about|what|wait|hey|hi|oh|well|yes|yeah|nope|kindly|revert|return|go|going|speak|talk)(?![a-z])|'"
)
_OPENING = lazily(r"[。!?;\n]")


def reply_language(clause: Clause, message: Message, lexicon: Lexicon) -> Iterator[Signal]:
    """The reply language that one clause wishes for: at most one signal."""
    text = clause.text
    if not clause.is_meant or clause.asks_to_know or clause.is_once:
        return
    speaks_of_reply = bool(_REPLY.search(text))
    named = _named(text, lexicon) if speaks_of_reply or clause.wish else []
    if not named or _ARTEFACT.search(text):
        return
    opening = _OPENING.split(message.speech[: clause.start])[-1]
    if not speaks_of_reply and (_BUILT.search(opening) or _ARTEFACT.search(opening)):
        return  # «add a language switch, default English», «the label in Japanese but the tooltip in English»
    if len(named) > 1 and _EITHER.search(text[min(named)[1] : max(named)[0]]):
        return  # 寫中文還是英文
    if not (speaks_of_reply or clause.likes):
        lasting = lexicon.words("words.wish.standing").sub("", text)
        if any(_names_more(lasting.replace(text[start:end], "")) for start, end, _ in named):
            return  # 圖例換成英文, «can the invitation be in English» name a thing that is not a reply
    strength: Strength = "explicit" if clause.likes or clause.is_lasting else "adjustment"
    for start, end, tag in sorted(named, reverse=True):
        if _MERELY_NAMED.match(text, end) or _STUDIED.search(text[:start]):
            continue
        if not (speaks_of_reply or _SWITCH.search(text[:start]) or _AFTER.match(text, end)):
            continue
        if polarity(text, start, end, lexicon, [other[1] for other in named if other[1] <= start]) <= 0:
            if (
                tag == "en"
                and speaks_of_reply
                and _NO_MORE.search(text[:start])
                and _HAN.search(message.written)
                and len(named) == 1
            ):
                yield Signal("language", "set", chinese_of(message.written), strength)  # 別再講英文了, said in Chinese
                return
            continue
        if not (clause.wish or speaks_of_reply and clause.asks) or (_ABOUT_ME.search(text) and not speaks_of_reply):
            continue
        if qualified := _QUALIFIED.match(message.speech, clause.start + end):
            tag = language_tag(text[start:end] + qualified[0]) or tag
        yield Signal("language", "set", chinese_of(message.written) if tag == "zh" else tag, strength)
        return


def _named(text: str, lexicon: Lexicon) -> list[tuple[int, int, str]]:
    """Start, end and tag of each language named; of «traditional Chinese» only the longer name."""
    return longest(
        (match.start(), match.end(), tag)
        for tag in lexicon.sections("people.language")
        for match in lexicon.words(f"people.language.{tag}").finditer(text)
    )


_HAN = lazily("[\u3400-\u9fff]")
