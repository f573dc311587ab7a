"""Wishes: whether a clause wishes for the style it names, and whether a negation refuses it.

A clause does not wish for a style that it reports, praises, counts or states as a fact, or that another thing has.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Style
from vault_memory.core.text import lazily


@dataclass(frozen=True)
class StyleMention:
    """A style named in a clause, from `start` to `end`; `is_wish`: the phrase alone is a wish."""

    style: Style
    start: int
    end: int
    is_wish: bool


def is_wished(mention: StyleMention, clause: Clause, has_reply: bool, sign: int) -> bool:
    """Whether the clause wishes for the style. `sign` is its polarity; `has_reply`: the message follows a reply."""
    key, value, text = mention.style.key, mention.style.value, clause.text
    before, words, after = text[: mention.start], text[mention.start : mention.end], text[mention.end :]
    bare = has_reply and mention.is_wish and len(words) == len(text)  # «Night mode?»
    if not clause.is_meant or (clause.asks_to_know and not bare) or clause.is_once:
        return False
    if key in ("response_style", "theme") and _has_its_own_subject(before, words):
        return False
    if key == "theme" and mention.is_wish and not has_reply and complains(words):
        return False  # «too dark» is about the page only after a reply, which may have shown one
    if key in ("response_style", "examples") and _THEIR_ANSWER.search(text):
        return False
    changed = _CHANGED.search(text)
    if key == "response_style" and changed and _is_a_thing(changed["what"]):
        return False  # 把結論部分壓縮到兩百字以內
    if _ABOUT.search(before) or (key != "theme" and _OF_A_SUBJECT.match(text)):
        return False
    if _REPORTED.search(before) and not _ONLY_SO.search(before):
        return False
    if key == "response_style" and not clause.is_lasting and _PRAISED.search(text):
        return False
    if key == "design_style" and not (has_reply or clause.likes) and _VERY.search(before):
        return False  # 那個建案的設計很現代 describes
    if key in ("code_style", "examples") and _I.search(before) and _DONE.match(text, mention.end):
        return False  # 我把註解都刪了 says what was done
    if key in ("code_style", "examples") and _DOING.search(before):
        return False
    if key == "code_style" and not (has_reply or clause.is_lasting) and _THAT_CODE.search(text):
        return False  # 幫這段程式補上註解 is about one piece of code
    if key == "theme" and not mention.is_wish and _COLOURED.match(text, mention.end):
        return False  # 小明喜歡深色積木
    if key == "response_style" and _OF_A_THING.match(text, mention.end):
        return False  # «I like detailed maps», 簡單的生活
    if not (has_reply or clause.likes or clause.is_lasting):
        if key == "response_style" and _COUNTED.search(words):
            return bool(_ANSWERS.search(text))
        if key in ("code_style", "examples") and _WRITES.match(text):
            return False  # «write the function without comments» is about one piece of work
    is_about_answers = has_reply or clause.likes or clause.is_lasting or speaks_of_reply(text)
    if key == "response_style" and not is_about_answers and _ITS_OBJECT.search(before):
        return False  # «finish the parody in two lines», «the tagline shorter» are about one text
    if mention.is_wish and value != "auto" and not (has_reply or clause.wish):
        return False
    if mention.is_wish:
        return True
    if clause.wish is None and (sign > 0 or not has_reply):
        return False  # a refusal counts only after a reply: 兩小時還沒講到重點 reports
    if value != "auto" and _ASSERTED.match(after):
        return False
    if clause.is_first_person and not (clause.asks or clause.likes or clause.corrects or clause.is_lasting_here):
        return False  # «from now on» in another clause makes no wish of a statement about oneself
    if key == "response_style" and not (clause.likes or clause.is_lasting):
        return bool(_REPLY.search(before)) or _is_bare(after) or has_reply
    return True


def _has_its_own_subject(before: str, words: str) -> bool:
    """Whether a complaint is about something else than an answer: «the loop is too long», 我的名字好長."""
    is_complaint = complains(words) or bool(_PREDICATE.search(before))
    return is_complaint and _is_a_thing(_PREDICATE.sub("", before))


def _is_a_thing(subject: str) -> bool:
    """Whether a subject is neither the answers nor the page nor «it»."""
    return not _REPLY.search(subject) and len(_VAGUE_SUBJECT.sub("", subject)) >= 2


def complains_about_a_thing(text: str) -> bool:
    """Whether a text complains about neither a page nor an answer: 投影機太亮了."""
    quality = _QUALITY.search(text)
    return quality is not None and _is_a_thing(text[: quality.start()])


_QUALITY = lazily(
    r"(?:太|好|很|有点|超|过于|真|这么|那么)(?:亮|暗|刺眼|黑|白|长|短|啰嗦|囉嗦|花|复杂|乱|挤)"
    r"|(?<![a-z])(?:is|are|was|were|looks?|feels?)(?: \w+)? (?:too |so |very |way too )(?:bright|dark|white|black"
    r"|long|short|wordy|busy|cluttered|verbose)"
)
_PREDICATE = lazily(
    r"(?:写|看|读|用|讲|听)?(?:起来)?(?:真的?|好|很|超|有够|实在|特别|非常|这么|那么|如此) ?$"
    r"|(?<![a-z])(?:is|are|was|were|feels?|looks?|seems?|gets?)(?: (?:so|very|really|pretty|rather|quite|awfully"
    r"|just|always|still|such|all))? ?$"
)
"""Before a quality: the words before it are its subject."""


def speaks_of_reply(text: str) -> bool:
    """Whether the clause names the assistant's answers."""
    return bool(_REPLY.search(text))


def speaks_of_wording(text: str) -> bool:
    """Whether the clause names text as such: 文字短一點."""
    return bool(_WORDING.search(text))


def _is_bare(rest: str) -> bool:
    """Whether only particles follow: 請詳細一點 is about the answers, 詳細介紹 React is a task."""
    return len(_PARTICLES.sub("", rest)) <= 2


_VAGUE_SUBJECT = lazily(
    r"页面|网页|画面|屏幕|背景|底色|颜色|介面|界面|(?<![a-z])(?:page|site|screen|background|theme|colou?rs"
    r"|ui)(?![a-z])|[\s,你您这那也又都真实在的我觉得有点啊欸喔了吧就还是好个次每写讲说回打太超一直总是段给呢嗯内"
    r"容文字字]|(?<![a-z])(?:that|this|it|that's|this's|it's|is|was|are|were|still|your|you|a|bit|just|way|so|hmm"
    r"|ok|okay|sorry|but|and|honestly|feels|seems|i|think|find|the|last|one|message|messages|text|wrote|all|kinda"
    r"|man|dude|bro|lol|ugh|no|wait|these|those|they|they're)(?![a-z])|'s"
)
_REPLY = lazily(
    r"回答|回复|回覆|回应|解释|说明(?!书|文件)|讲解|答案|你(?:的)?(?:讲|说|答|回)"
    r"|(?:^|[请就都再])(?:讲|说|答|回|教)|(?<![a-z])(?:answer|answers|reply|replies|response|responses"
    r"|explanation|explanations|explain|explaining|responding|answering|describe)(?![a-z])"
)
_WORDING = lazily(r"文字|字数|篇幅|(?<![a-z])(?:wording|text|words)(?![a-z])")
_ASSERTED = lazily(
    r" ?(?:的|模式|主题|版|背景|底)?(?:我|在[^,]{0,8}?)?(?:根本|完全|实在|真的|都|快|要|会|直接|让我|害我|看到"
    r"|看起来)*(?:瞎|(?:看|瞅|瞧|睇)(?:不|唔)[清到见下]|伤眼|刺眼|头[晕痛疼昏]|眼[睛花痛酸]|吃力|难读|难看"
    r"|不舒服)"
    r"| ?(?:的|模式|主题|版|背景|底)?(?:看久|看了|看得|看起来很|太|会|让|害|真的(?:很|太|好)|伤|刺|闪|对我?眼"
    r"|什么的|比较(?:难|累|伤|刺|暗|吃)"
    r"|(?:mode|theme)? ?(?:is|are|makes?|hurts?|gives?|burns?|kills?|was|were|strains?|cause|causes|trigger"
    r"|triggers)(?! (?:better|best|easier|fine|nicer|my|what|the way|good|great|perfect|all i|how i|it)))"
)
_REPORTED = lazily(
    r"(?:config|配置(?:文件|档)|设定档|数据库|资料库|json|yaml|env)(?:档案?)?(?:里|中|上)面?"
    r"|(?<!帮)(?<!替)(?:我|(?<![a-z])i)(?:已经|刚|之前|不小心|手滑|误)?(?:把|加了|写了|改了|做了)"
    r"|(?:when|if|after|because|since|before|once) i $|(?:^|\s)i (?:added|wrote|made|changed|removed)"
    r"|(?:^|\s)i (?:know|see|noticed?|get) (?:that )?(?:the|this|it|they|my|their|our)|我知道(?!了)"
    r"|(?:^|\s)(?:it|everything|this|that|the [a-z]+) (?:[a-z]+ (?:me|us) and )?(?:went|turned|became"
    r"|came (?:up|out|back)) $|accidentally|by (?:accident|mistake)"
    r"|(?:config|配置|设定档?|设置|日志|log|json|yaml|env|规格书?|文档|合[同约])(?:档案?|文件)?(?:里|中"
    r"|上)面?(?:有|写|显示|是|记)|不小心|手滑"
)
_THEIR_ANSWER = lazily(
    r"(?:它|他|她|佢|书|课本|解答本?|老师|教授|网站|影片|教程|文档)(?:们|上|里)?(?:的|嘅) ?(?:解释|说明|讲解|回答"
    r"|答案|例子|范例)"
    r"|(?<![a-z])(?:his|her|their|its|(?:the )?(?:book|teacher|professor|textbook|tutorial|video|manual"
    r"|doc)'?s) (?:explanations?|answers?|repl(?:y|ies)|examples?)"
)
_CHANGED = lazily(r"把(?P<what>[^,]{1,12}?)(?:压|缩|改|精简|浓缩|弄|写|整理|减|删|换|调|变|拉|扩|展开|做)")
_ABOUT = lazily(
    r"(?<![a-z])(?:about|regarding|called|titled|on the topic of)(?: the| an?)? $"
    r"|(?:关于|有关|谈|论|名为|题为|叫做?) ?$"
)
"""«A quote about brevity»: the word names a topic."""
_OF_A_SUBJECT = lazily(
    r"(?:and |but |so |also )?(?:the|my|our|his|her|their) (?!answers?|repl|respon|expla|code|snippets?|comments?"
    r"|examples?|pages?|text|output|ui|layout|design|look|style|theme|website|site|interface|screen|first|last"
    r"|next|rest|one|more|less|fewer|same|shorter|longer|simpler"
    r"|clearer)[a-z]+(?: (?:for|of|in|on|to|from) [^,]{2,24}?)? (?:must|should|needs?|has to|have to|ought to"
    r"|shall|is supposed to)(?![a-z])"
)
"""«The summary for the patient must …» is about the summary."""
_OF_A_THING = lazily(
    r"的(?=[\u3400-\u9fff])(?!回|答|解|说|讲|描述|教|推导|分析|内容|那种|这种|方式|风格|形式|版|论证|过程|资|信息"
    r"|比较|对比|就|话|原理|步骤|文字|文档|东西|理由|介绍|最|比|更|我|吧|啦|也|都|好|可|才|会|对|较|给|来|先|不"
    r"|那|这|一|句|结|重)"
    r"|(?<=detailed) (?!answer|expla|repl|resp|version|ones?(?![a-z])|break|walk|reason|stuff|info|step|text"
    r"|descr|instr|guid|feed|and|but|or|over|when|with|please|to|for|in|if|by|than|as|so|because|not|rather|too"
    r"|from|is|are|works|help|best|better|always|way|style|format|approach|form|every|each|from|pls|thanks|though"
    r"|enough|all|mode|since|unless|even|about|on|at|writ|sol|deriv|proof|comment)[a-z]"
)
_PRAISED = lazily(
    r"^(?!.*(?:可以|请|能|要|希望|麻烦|给我)).*得(?:很|好|真|超|非常|蛮|挺|相当|够)(?:的)?(?:清楚|详细|仔细|完整"
    r"|透彻?|明白|易懂|简洁|精简|扼要)"
    r"|(?<![a-z])(?:was|that's|this is|it's) (?:so |super |very |really |nice and |pretty |wonderfully "
    r"|perfectly )?(?:brief|concise|detailed|thorough|clear|succinct"
    r"|helpful)(?![^,]*(?:please|should|could|next))"
)
"""Praise asks for nothing: 解釋得好清楚."""
_VERY = lazily(r"(?:很|好|非常|真|超|蛮|挺|满|有够) ?$")
_I = lazily(r"我(?:已经|刚刚?|自己|都|全)*$")
_DONE = lazily(r"(?:掉|光|完)?了(?!吧|好|可|喔|啦|嘛)")
_ANSWERS = lazily(r"回答|回复|答案|答我|(?<![a-z])(?:answers?|repl(?:y|ies)|responses?)(?![a-z])")
_THAT_CODE = lazily(
    r"(?:这|那|第.|上面那?|下面那?)(?:段|份|支|个|行|章|篇|档)(?:程式|代码|函[式数]|脚本|code|档案|文件|作业)?"
    r"|附录|(?<![a-z])(?:this|that|the) (?:function|script|file|class|module|macro|query|snippet|config|regex"
    r"|line|json|program|method)(?![a-z])"
)
_WRITES = lazily(
    r"(?:please |can you |could you )?(?:write|make|create|generate|draft|implement) (?:me )?(?:the|an?|this|that"
    r"|some|my) (?!code|program)|(?:请|帮我|麻烦)*(?:写|生成|实作|实现)(?:一|两|几)?(?:个|段|份|支|篇|封)"
)
_COUNTED = lazily(
    r"(?<![a-z])(?:in|to|into|under|within|max|most|than|one|two|three|four|five|few|single"
    r"|\d+)[^,]{0,12} (?:lines?|sentences?|words?|bullets?)(?![a-z])"
    r"|[一两三四五几十百\d](?:句|行|字|段|点)(?:话|以?内|之内|搞定|讲完|说完)"
)
"""A number of lines is about the present request."""
_ITS_OBJECT = lazily(
    r"(?<![a-z])(?:the|my|our|its|his|her|their|this|that|an?) (?!answers?|repl|respon|expla|text|words?|last"
    r"|first|above|whole|one|thing|wording|rest)[a-z]+ (?:a bit |a little |much |way |even |be |look |sound )*$"
)
_COLOURED = lazily(
    r"(?<=色)(?!的?(?:模式|主题|版|系|背景|底|介面|界面|页|网|风|布景|配色|调|外观|样式|画|萤|屏|皮肤|编辑|面板"
    r"|终端|设|预|默|话|就|吧|啦|好|比|看|我|你|会|也|都|才|最|给|来|为|呢|吗|不|而|跟|走|谢|可|行|得|那|这|一|对"
    r"|更|较|舒|真|太|请|麻|喔|哦|啊|嘛|呗|啰|咯|了|喇|呀|嘅|省|护|顺|当|做|先|永|统|全|到|起|伺|安|即|便|优|居"
    r"|啲|咗|哂|唔|以|要|换|改|切|显|界|放|用|吃|因|所|但|还|是|在|和|或|别|没|让|帮|出|久|党|派|控|粉|迷|伤|刺"
    r"|眼|看|读|瞎|害|跟|很|实|完|根|直|快|东|玩|那))的?[\u4e00-\u9fff]"
)
"""Something else than a page has the colour: 深色積木."""
_ONLY_SO = lazily(
    r"(?<![a-z])(?:only|best|better|faster|can't|don't|never)(?![a-z])[^,]{0,28}(?:when|if|once|after) i $"
)
"""«I only get it when I see …» says how one learns; it is no report."""
_DOING = lazily(
    r"i'm (?:just |currently |now )?(?:(?:writing|adding|putting|making|giving|using|looking at|reading) )?$"
)
_PARTICLES = lazily(
    r"[\s的地得啦吧呢啊喔哦唷嘛了一点些下好吗行可以就请谢你我.!~?]|please|pls|thanks|thank you|for me|ok|okay|now"
    r"|instead|next time|then"
)


# --- negation ---------------------------------------------------------------------------------------------------------


NEGATION_BEFORE_CHARS, NEGATION_AFTER_CHARS = 28, 14
"""Around the words that are wished or refused: so far a negation reaches."""


def polarity(text: str, start: int, end: int, lexicon: Lexicon, breaks: list[int], within: bool = False) -> int:
    """The sign of the words from `start` to `end`: +1 wished, -1 negated, 0 weakened («I don't hate dark mode»).

    Two negations are a demand; «not too long» means the same as «too long». No negation reaches across the
    offsets in `breaks`; `within`: a negation inside the words counts too.
    """
    if complains(text[start:end]):
        return 1
    since = max([start - NEGATION_BEFORE_CHARS, 0, *(stop for stop in breaks if stop <= start)])
    before = lexicon.words("words.negation.neutral").sub(lambda match: " " * len(match[0]), text[since:start])
    if lexicon.words("words.negation.weakening").search(text[since:end]):
        return 0
    inside = text[start:end]
    if within and not _WITHOUT_IT.search(inside):  # 要忘記加註解: the gap of a phrase may hold a negation
        before += lexicon.words("words.negation.neutral").sub("", inside)
    negations = sum(1 for _ in lexicon.words("words.negation.before").finditer(before))
    after = lexicon.words("words.negation.neutral").sub(
        lambda match: "~" * len(match[0]), text[end : end + NEGATION_AFTER_CHARS]
    )
    tail = lexicon.words("words.negation.after").search(after)
    if tail and tail.start() <= 4:
        negations += 1
    return 1 if negations % 2 == 0 else -1


def insists(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Whether a negation is a demand: «don't forget the comments»."""
    return any(
        match.start() < end and start < match.end()
        for match in lexicon.words("words.negation.insisting").finditer(text)
    )


def retracts(clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause takes back a stored value."""
    return bool(lexicon.words("words.negation.retracts").search(clause.text))


def complains(phrase: str) -> bool:
    """Whether a phrase begins like «too long»."""
    return bool(_COMPLAINT.match(phrase))


def too_many(text: str) -> bool:
    """Whether a text ends like «the code you give me has too many comments»."""
    return bool(_TOO_MANY.search(text))


_TOO_MANY = lazily(r"(?:太多|过多|一堆|too many|so many|too much)的? ?(?:注[解释]|例子|范例|示例|comments?|examples?)$")
_WITHOUT_IT = lazily(r"不懂|看不|听不|难|抽象|学不|无法|唔明|消化不")
_COMPLAINT = lazily(
    r"一(?:大)?[堆串坨]|注[解释]多过|太|有点|过于|好(?=[长短刺亮暗光])|too |a bit |kinda |kind of |way too"
    r"|so (?=long|short)|不够|唔够|讲得不够"
)
