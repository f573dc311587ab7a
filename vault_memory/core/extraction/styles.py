"""Styles: theme, length and form of the answers, comments, examples, design.

All rows of `lexicon/styles.toml` are matched in the same way. A clause gives a style if it names it and wishes for
something, or holds a phrase that is a wish by itself; a negation turns the value (both in `wishes`). A clause about
something else (the row's `unless`, or an artefact: a text, page or product in the making) gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from vault_memory.core.extraction.clauses import Clause
from vault_memory.core.extraction.lexicon import Lexicon, Style, Technology
from vault_memory.core.extraction.speech import TEXT_ORDERED
from vault_memory.core.extraction.wishes import (
    StyleMention,
    complains_about_a_thing,
    insists,
    is_wished,
    polarity,
    retracts,
    speaks_of_reply,
    too_many,
)
from vault_memory.core.profile import Signal, Strength
from vault_memory.core.text import fold, lazily

MAX_MENTIONS = 8
"""Most phrases of one list read in a clause."""
REPLY_OPENING_CHARS = 80
"""The beginning of a reply, which says what it shows."""
STYLES = ("theme", "response_style", "code_style", "examples", "design_style")


def wishes(
    clause: Clause, named: list[Technology], lexicon: Lexicon, existing: Mapping[str, object], has_reply: bool
) -> Iterator[Signal]:
    """The style signals of one clause, at most one for each key, without their quotes."""
    if (joined := _BLANK_BESIDE_HAN.sub("", clause.text)) != clause.text:
        clause = replace(clause, text=joined)
    by_key: dict[str, list[StyleMention]] = {}
    for mention in mentions(clause, lexicon):
        by_key.setdefault(mention.style.key, []).append(mention)
    by_key = {key: _longest(found) for key, found in by_key.items()}
    if named and not (clause.likes and clause.is_first_person):
        by_key.pop("examples", None)  # «no more jQuery examples» is about jQuery
    for key, found in by_key.items():
        if signal := _judge(key, found, clause, lexicon, existing, has_reply):
            yield signal


def mentions(clause: Clause, lexicon: Lexicon) -> Iterator[StyleMention]:
    """The styles that a clause names, in the order of the lexicon."""
    near = {key for key in lexicon.sections("styles") if lexicon.near(key, clause.text)}
    for style in lexicon.styles:
        if style.key not in near:
            continue
        for pattern, is_wish in ((style.asked, True), (style.named, False)):
            for match in islice(pattern.finditer(clause.text), MAX_MENTIONS):
                blank = len(match[0]) - len(match[0].lstrip())  # a phrase may begin with an optional word
                yield StyleMention(style, match.start() + blank, match.end(), is_wish)


def _longest(mentions: list[StyleMention]) -> list[StyleMention]:
    """The mentions that do not lie inside a longer one of another value: «so many comments» also names «comments».

    A phrase that wishes for or against comments or examples also outweighs their bare name elsewhere in the clause.
    """
    return [
        mention
        for mention in mentions
        if not any(
            other.style != mention.style
            and other.is_wish
            and (
                (not mention.is_wish and mention.style.key in ("code_style", "examples"))
                or (
                    other.start <= mention.start
                    and mention.end <= other.end
                    and (other.end - other.start > mention.end - mention.start or not mention.is_wish)
                )
            )
            for other in mentions
        )
    ]


def _judge(
    key: str,
    mentions: list[StyleMention],
    clause: Clause,
    lexicon: Lexicon,
    existing: Mapping[str, object],
    has_reply: bool,
) -> Signal | None:
    """The signal for one key, whose styles the clause names in `mentions`; None if it wishes for none of them."""
    if clause.is_about_others or clause.is_hypothetical or clause.is_sarcastic:
        return None
    if _is_about_something_else(key, mentions, clause, lexicon) or _compares(mentions, clause.text):
        return None
    wanted: list[tuple[bool, int, str]] = []
    for mention in mentions:
        sign = polarity(
            clause.text,
            mention.start,
            mention.end,
            lexicon,
            [other.end for other in mentions if other.style != mention.style],
            within=mention.is_wish and mention.style.value.startswith("with_"),
        )
        if key in ("code_style", "examples") and insists(clause.text, mention.start, mention.end, lexicon):
            sign = 1 if mention.style.value.startswith("with_") else -1
        if mention.style.value.startswith("with_") and too_many(clause.text[: mention.end]):
            sign = -1  # «the code you give me has too many comments»
        stored = existing.get(key) == mention.style.value
        if stored and not clause.asks_to_know and (sign < 0 or retracts(clause, lexicon)) and not mention.style.negated:
            return Signal(key, "remove", mention.style.value, "explicit")
        if stored and clause.is_past and retracts(clause, lexicon):
            return Signal(key, "remove", mention.style.value, "explicit")
        if sign < 0 and key == "response_style" and _FORM.search(clause.text[mention.start : mention.end]):
            sign = 0  # «stop with the bullet points» is about the form, not about the length
        value = mention.style.value if sign > 0 else mention.style.negated if sign < 0 else ""
        if value and is_wished(mention, clause, has_reply, sign):
            wanted.append((sign > 0, mention.end, value))
    if not wanted:
        return None
    value = max(wanted)[2]
    return Signal(key, "set", value, "explicit" if clause.likes or clause.is_lasting else "adjustment")


def _compares(mentions: list[StyleMention], text: str) -> bool:
    """Whether two values of a key stand side by side, and neither is wished for: 深色與淺色介面的影響."""
    first, last = min(mentions, key=lambda mention: mention.start), max(mentions, key=lambda mention: mention.start)
    return first.style != last.style and bool(_BESIDE.fullmatch(text[first.end : last.start]))


def _is_about_something_else(key: str, mentions: list[StyleMention], clause: Clause, lexicon: Lexicon) -> bool:
    """Whether the clause names an artefact or a feature, outside the mentions."""
    if key == "response_style" and speaks_of_reply(clause.text):
        return False
    lists = ["unless"] if clause.likes or clause.is_lasting else ["unless", "unless_once"]
    return any(
        not any(
            mention.start <= match.start() and match.end() <= mention.end and not _ends_in(mention, match)
            for mention in mentions
        )
        for name in lists
        for match in lexicon.words(f"styles.{key}.{name}").finditer(clause.text)
    )


def _ends_in(mention: StyleMention, match: re.Match[str]) -> bool:
    """Whether the end of a phrase is only part of another word: 寫…用例 asks for no 例."""
    return mention.is_wish and mention.start < match.start() and mention.end == match.end()


def names(key: str, value: str, text: str, lexicon: Lexicon) -> bool:
    """Whether a text names this value of a style, not only its opposite."""
    return any(
        style.named.search(text) or style.asked.search(text)
        for style in lexicon.styles
        if style.key == key and style.value == value
    )


def echoes(spoken: list[Clause], lexicon: Lexicon) -> Iterator[tuple[Clause, Signal]]:
    """Wishes about comments or examples named at most two clauses before: «so many comments. Please leave them out»."""
    style, named_at = None, -3
    for position, clause in enumerate(spoken):
        if named := _comments_or_examples(clause, lexicon):
            style, named_at = named, position
        elif style and position - named_at <= 2 and (signal := _wish_about_them(style, clause, lexicon)):
            yield clause, signal


def _comments_or_examples(clause: Clause, lexicon: Lexicon) -> Style | None:
    """The style «with comments» or «with examples», if a clause names comments or examples."""
    if clause.is_about_others or clause.is_hypothetical:
        return None
    return next(
        (
            style
            for style in lexicon.styles
            if style.value in ("with_comments", "with_examples")
            and lexicon.near(style.key, clause.text)
            and style.named.search(clause.text)
            and not lexicon.words(f"styles.{style.key}.unless").search(clause.text)
        ),
        None,
    )


def _wish_about_them(style: Style, clause: Clause, lexicon: Lexicon) -> Signal | None:
    """The wish of a clause such as «leave them out», where «them» is about a style."""
    if not clause.is_meant or clause.is_once or (clause.asks_to_know and not clause.asks):
        return None
    strength: Strength = "explicit" if clause.likes or clause.is_lasting else "adjustment"
    if lexicon.words("words.wish.takes_it").search(clause.text):
        return Signal(style.key, "set", style.negated, strength)
    if lexicon.words("words.wish.gives_it").search(clause.text):
        return Signal(style.key, "set", style.value, strength)
    return None


_BLANK_BESIDE_HAN = lazily(r"(?<=[\u3400-\u9fff]) (?=[a-z0-9])|(?<=[a-z0-9]) (?=[\u3400-\u9fff])")
_FORM = lazily(r"条列|列点|列表|(?<![a-z])(?:bullets?(?: points?)?|bullet points?|lists?|numbered|tables?)(?![a-z])")
_BESIDE = lazily(r"(?:的|模式|主题|版)* ?(?:、|/|与|和|跟|或|还是|同|定|and|or|vs|versus|to) ?")


# --- artefacts --------------------------------------------------------------------------------------------------------


def orders_a_text(sentence: str) -> bool:
    """Whether a sentence asks for a text; what that text says is not about the person."""
    return bool(_TEXT.search(sentence))


def shows_a_text(reply: str) -> bool:
    """Whether the reply was a text for the person, such as a letter: then «make it shorter» is about the letter."""
    return bool(_SHOWN.search(fold(reply[:REPLY_OPENING_CHARS])))


def is_task(sentence: str) -> bool:
    """Whether a sentence asks to write or change a text; a length in it is that of the text, not of the answers."""
    return bool(_TASK.search(sentence) or _WORK_IS.search(sentence))


def is_product(sentence: str) -> bool:
    """Whether a sentence is about a product that the person builds; wishes in it are about the product."""
    return bool(_PRODUCT.search(sentence))


def is_made(sentence: str) -> bool:
    """Whether a sentence asks for one page or one picture; its looks are those of that page."""
    return bool(_MADE.search(sentence))


def is_of_a_document(
    signal: Signal, clause: Clause, before: str, sentence: str, lexicon: Lexicon, has_reply: bool
) -> bool:
    """Whether a style is that of a document named in the clause or earlier in its sentence (`before`).

    «Our docs must have examples», 履歷要簡潔, 給國中生的說明要淺白 are about the document, for once or for good.
    """
    if (clause.likes and clause.is_first_person) or _MINE.search(clause.text):
        return False
    if signal.key == "code_style":
        return not clause.is_lasting and bool(_DOCSTRING.search(clause.text))
    words = lexicon.words
    if _STILL_OF_IT.match(clause.text):
        carried = before
    elif _CONTRAST.match(clause.text):
        carried = ""
    else:
        carried = _CONTRAST_BEFORE.split(before)[-1]
    if signal.key == "theme" and _SET_BEFORE.search(before) and _YET.match(clause.text):
        return True  # «the config says dark but the page still comes up white» is a bug
    bare = len(clause.text) < 10 and not clause.is_lasting and not _PAGE.search(before)
    if (
        signal.key == "theme"
        and bare
        and (words("styles.theme.unless").search(carried) or complains_about_a_thing(carried))
    ):
        return True  # «the button is too bright, darker please»
    if signal.key == "design_style" and carried.strip() and not has_reply and _UGLY.fullmatch(clause.text):
        return not _PAGE.search(carried)
    if signal.key == "design_style" and not (
        has_reply or (clause.likes and clause.is_first_person) or _PAGE.search(sentence)
    ):
        return True  # 步驟太複雜了 names no page
    if words("words.artefact.audience").search(sentence) or _FOR_OTHERS.search(sentence):
        return True
    if signal.key == "response_style" and speaks_of_reply(clause.text):
        carried = ""  # «my thesis is due, so keep explanations short»
    named = _SIMILE.sub(" ", clause.text if clause.likes else f"{carried} {clause.text}")
    return bool(words("words.artefact.document").search(named) or words("words.artefact.thing").search(named))


_TASK = lazily(
    r"(?:^|please |you )(?:write|draft|compose|create|generate|prepare)(?: me| us)? (?:a|an|some|the|my|our|\d+"
    r"|two|three|five|ten) (?!answer|explanation|reply|response)"
    r"|(?:^|please |pls |you )(?:rewrite|edit|revise|polish|shorten|proofread|rephrase|tighten|condense"
    r"|trim)(?: up)? (?:my|the|this|our) (?!answer|explanation|reply|response)"
    r"|(?:draft|write|改写|润色|润饰|修改|缩短|精简)(?: ?个| ?封|一下|我的|这份|这篇|这段| a| an)"
    r"|(?:写|拟|草拟|起草|生成|设计|出|画)(?:一|两|三|几|我的|这)?(?:封|篇|份|段|首|张|组|套|则|题|道)"
    r"|(?:写|拟|草拟|起草|撰)[^,我你给得成]{0,6}(?:书|信|稿|条|函|报告|心得|诗|歌词|剧本|总结|计划|作文|检讨|文案"
    r"|致辞|致词)"
)
_WORK_IS = lazily(
    r"(?<![a-z])(?:the|this|that|my|our) (?:function|method|loop|class|component|file|query|script|variable|title"
    r"|essay|paper|paragraph|email|report|abstract|slide|intro|name|code|regex|list|table|lecture|video|movie"
    r"|book)s? [^,]{0,12}(?:is|are|was|looks|feels|gets|got|'s) "
)
_MADE = lazily(
    r"(?:^|please |pls |you |to )(?:make|build|create|design|draw|generate|mock up|prepare|code|need|want)(?: me"
    r"| us)? (?:an?|some|two|three|four|\d+) (?!dark |light |modern |minimal |clean |bit|little|lot|habit|note"
    r"|rule|change)"
    r"|(?:^|please |pls |you )(?:make|build|create|design|draw|generate|mock up|prepare|code)(?: me"
    r"| us)? an? [^,]{0,40}(?: for | about | with )"
    r"|(?:做|设计|画|生成|弄|搞|写|想)(?:一|两|三|几)?(?:个|张|份|款|组|套|幅|版)[^,]{0,24}(?:页|网站|海报|按钮"
    r"|组件|封面|卡片|活动|配色|app|page|程式|功能|toggle|logo|名片|邀请|简报)"
)
_TEXT = lazily(TEXT_ORDERED)
_SHOWN = lazily(
    r"(?<![a-z])(?:here(?:'s| is| are)|this is|i(?:'ve| have)|your|sure|done|drafted|translated"
    r"|updated)[^.!?\n]{0,30}?(?:draft|e-?mail|letter|poster|flyer|invitation|speech|toast|essay|resume|résumé|cv"
    r"|cover letter|report|minutes|haiku|poem|story|caption|blurb|slogan|tagline|proposal|menu|post|translation"
    r"|lyrics|logo|card)(?![a-z])"
    r"|(?:这是|以下是|已经?|帮你|好的|呢份|修改后|更新)[^。!?\n]{0,12}?(?:草稿|信|邮件|海报|传单|邀请|讲稿|演讲"
    r"|致词|履历|简历|自我介绍|自传|报告|会议纪|纪要|诗|故事|文案|标语|企划|提案|proposal|email|菜单|贴文|翻译"
    r"|歌词|名片|卡片|配色方案)|(?:文案|草稿|译文|讲稿|信件|内容)(?:如下|:)"
)
_PRODUCT = lazily(
    r"(?:做|设计|写|开发|搭|架)(?:一|了)?(?:个|款|套)[^,]{0,24}(?:网站|app|平台|系统|教材|小程序|游戏|机器人)"
    r"|(?<![a-z])(?:building|making|designing|creating|writing) (?:an?|my|our) [^,]{0,30}(?:site|app|game"
    r"|platform|website|course|book|deck)(?![a-z])"
)
# The assistant's answers, and what it makes for the person, are not somebody's document.
_MINE = lazily(
    r"(?:你|您)(?:的|啲|嘅|给|之后|以后|解释|说明|讲|说|答|回)|(?<![a-z])with me(?![a-z])"
    r"|给我(?:做|看|讲|写|说|解|回|生|画)|我看的|(?:跟|对|向)我(?:讲|解释|说明|说|回)"
    r"|(?<![a-z])(?:what you|your|explain|(?:show|give|tell|answer|render for|explain to|reply to) me"
    r"|you (?:show|give|make|write|explain))(?![a-z])"
)
_CONTRAST = lazily(r"(?:但是?|可是|不过|而|however|but|yet|though)")
_STILL_OF_IT = lazily(
    r"(?:但是?|可是|不过|就是|but|though|yet) ?(?:有点|太|稍微|略|好像|a bit|a little|too|kinda|kind of|rather"
    r"|way too)(?![a-z])"
)
"""A complaint about what was named before: «the poem is lovely but a bit long»."""
_CONTRAST_BEFORE = lazily(r"但是?|可是|不过|(?<![a-z])(?:but|however)(?![a-z])")
_SIMILE = lazily(r"(?:像|好似|跟|如同|写了|写成|当成|(?<![a-z])(?:like|wrote|as if|reading)(?![a-z]))[^,]{0,12}|公告栏")
_SET_BEFORE = lazily(
    r"写了|设了|设成|设为|改了|调成|开了|选了|切了|写着|(?<![a-z])(?:says|set to|is set|i set|i chose|enabled)(?![a-z])"
)
_YET = lazily(r"(?:但是?|可是|不过|却|结果|还是|but|yet|still)(?![^,]*(?:你|you))")
_PAGE = lazily(
    r"页|网站|画面|版|介面|界面|背景|底色|主题|设计|屏幕|萤幕|外观|风格|风(?![^,])|路线|排版|动效|特效|动画|渐变"
    r"|(?<![a-z])(?:pages?|sites?|websites?|screens?|ui|background|theme|layouts?|designs?|interfaces?|looks?"
    r"|gradients?|it|this)(?![a-z])"
)
_UGLY = lazily(
    r"(?:好|很|太|真|有点|超|真的)*(?:丑|难看|老气|俗|土)(?:了|死|啊|喔|哦|爆)*"
    r"|(?:so|pretty|kinda|really)? ?(?:ugly|dated|outdated)"
)
_FOR_OTHERS = lazily(
    r"(?:做|写|准备|设计|整理|弄)[^,]*给(?!我|你|您|个|一|点|出|下|再|他们?看)[\u3400-\u9fff]{2,8}(?:$|,)"
    r"|(?<![a-z])(?:explain|describe|teach|introduce|pitch|present) [^,]{2,40} to (?:an?|my|our|his|her|their"
    r"|someone|people|kids|non)(?![a-z])"
)
_DOCSTRING = lazily(r"(?:write|draft|add|写)[^,]{0,20}docstring|detailed enough for")
