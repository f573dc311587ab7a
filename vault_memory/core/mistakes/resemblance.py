"""Whether a request is about to repeat a mistake: it asks to do what was done then.

What counts are the words of the matter that both share. A word in what was done, or in how it is done rightly, tells
more than one in what came of it; a word that stands in any request ("add", "file", 「幫我」) tells little. That the
same is to be done, in another word, tells something, too. Who asks for a poem about it, or what something is, does
nothing that could go wrong, and must share more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from vault_memory.core.mistakes.acts import acts_in, make_words
from vault_memory.core.text import QueryTerms, tokens

FIELD_SHARES: Mapping[str, float] = {
    "action": 1.0,
    "correct_method": 0.8,
    "user_correction": 0.7,
    "prevention_method": 0.7,
    "impact": 0.2,
}
"""How much a shared word counts by the text in which it stands."""
REPEATED_BONUS = 0.15
"""How much more it counts for each further text that has it: a mistake repeats what it is about."""
GENERAL_SHARE = 0.3
"""How much a word counts that stands in requests of any kind."""
SAME_ACT_BONUS = 0.5
"""How much it counts beside a shared word that the same was done in another word: remove, delete; 刪掉, 清空."""
OTHER_ACT_SHARE = 0.5
"""How much of the shared words counts for a request that only asks for words of one's own, such as a poem about mail,
where the mistake has nothing of that kind."""
MIN_OF_A_TASK = 1.0
"""From this score on a request that asks for work resembles a mistake: one word of its action is enough."""
MIN_OF_A_QUESTION = 2.0
USUAL_WORDS = 25
"""A request of more words must share more."""

_GENERAL_TEXT = """
    add all also any anything api app ask back bad between big bring call change check code create custom day differ
    do done each every everybody everything file find first fix follow full get give go good great group help idea
    image import improve item keep last late later left like line link list little long look made make many more
    move much name need never new next nice now number old one only open other out page part people place please
    point put read really recommend replace right run same save say script see send server set show simple site
    small something start step stop suggest sure take tell test text thing think time today tomorrow try two type up
    update use user want way week well word work write year
    一些 一样 不要 不用 不能 两个 个人 之前 之后 事情 今天 他们 以前 以后 使用 全部 其他 内容 写好 出来 列出 加上
    加入 功能 可以 同时 问题 因为 处理 大家 好的 如果 完成 客户 应该 开始 当成 意思 所有 所以 执行 找到 提供 改成
    整理 时候 时间 明天 显示 更新 检查 没有 然后 现在 用到 用户 用者 直接 看到 知道 确认 系统 给我 网站 自己 要求
    要用 觉得 记得 设定 设置 说明 资料 还是 这个 这些 这样 那个 部分 需要 项目 专案 数据 文件 方法 东西 推荐 建议
"""
_GENERAL_WORDS = frozenset(piece for word in _GENERAL_TEXT.split() for piece in tokens.phrase(word).split() if piece)
_GRAMMAR = "的了是与及或也都就而但被把这那我你他她它们不个一二三四五六七八九十两每"
_OFTEN_GRAMMAR = "在和对从到于之其有想要会能给让再先后说看"
"""As in 会议 and 摘要 they may be part of a word: two of them are none."""
_NO_MATTER = re.compile(f"[{_GRAMMAR}]|[{_OFTEN_GRAMMAR}]{{2}}")
_ASKS_TO_KNOW = re.compile(
    r"[?？]|^\W*(?:how|what|when|where|which|who|whom|whose|why|is|are|was|were|do|does|did|has|have|had|explain|"
    r"describe|define|compare|tell me about)\b|"
    r"什么|哪(?!怕)|谁|几(?!乎)|多少|(?<!任)何|吗|怎|是否|有没有|解释|介绍|差别|区别|差异"
)
_ASKS_TO_DO = re.compile(
    r"\b(?:please|(?:can|could|would|will) you|help me|write|implement|make|fix|recommend|suggest)\b|"
    r"推荐|建议|[帮替]我|请(?![问教客假])|麻烦"
)
_TELLS_OF_MISTAKES = re.compile(
    r"\b(?:mistakes?|(?:went|go|did|do|done) (?:\w+ ){0,3}wrong|lessons? learn(?:ed|t))\b|"
    r"[犯做搞弄]过?.{0,3}错|搞砸|教训|出过?.{0,4}错"
)


def asks_to_know(request: str) -> bool:
    """Whether a request asks for an explanation, and neither for work nor for what went wrong before."""
    folded = tokens.fold(request)
    is_more = _ASKS_TO_DO.search(folded) or _TELLS_OF_MISTAKES.search(folded)
    return _ASKS_TO_KNOW.search(folded) is not None and not is_more


def words(text: str) -> frozenset[str]:
    """The words of a text: stems, and pairs of Chinese characters that may be words."""
    return frozenset(filter(_is_word, tokens.query_terms(text).search_terms))


def likeness(request: str, terms: QueryTerms, texts: Mapping[str, str]) -> float:
    """How much of a request's matter a mistake has, by its `texts`; `terms` are those of the request. One word of what
    was done is about 1."""
    held = {name: tokens.stems(texts.get(name, "")) for name in FIELD_SHARES}
    shared = sum(_shares(terms, held))
    if shared and (asked := acts_in(request)):
        words = make_words(asked)
        if words and words.isdisjoint(acts_in("\n".join(texts.values()))):
            shared *= OTHER_ACT_SHARE
        done = acts_in(f"{texts.get('action', '')}\n{texts.get('correct_method', '')}")
        if any(not _is_shared(word, held) for act, word in asked.items() if act in done and act not in words):
            shared += SAME_ACT_BONUS
    return round(shared, 4)


def least(request: str) -> float:
    """The likeness from which on a mistake is like to be repeated by a request. The more a request says, the more it
    shares by chance."""
    count = len(words(request) - _GENERAL_WORDS)
    by_length = max(1.0, math.sqrt(count / USUAL_WORDS))
    return by_length * (MIN_OF_A_QUESTION if asks_to_know(request) else MIN_OF_A_TASK)


def _shares(terms: QueryTerms, held: Mapping[str, str]) -> Iterator[float]:
    """What each word of a request counts that stands in one of the texts, itself or by another of its meaning."""
    others = {term: each for each in terms.synonyms for term in each.asked}
    translated: set[str] = set()
    before = ""
    for term in filter(_is_word, terms.search_terms):
        is_same_word = before[-1:] == term[:1] and tokens.is_han_piece(term)  # one of four characters is three pairs
        before = ""
        if share := _share(term, held):
            before = term
            yield share / 2 if is_same_word else share
        elif (synonyms := others.get(term)) and translated.isdisjoint(synonyms.asked):
            translated.update(synonyms.asked)
            is_general = _GENERAL_WORDS.issuperset(synonyms.asked)
            found = max((_share(other, held) for other in synonyms.others), default=0.0)
            yield found * (GENERAL_SHARE if is_general else 1.0)


def _is_shared(word: str, held: Mapping[str, str]) -> bool:
    """Whether a word of a request stands in one of the texts as it is."""
    return any(_share(piece, held) for piece in tokens.pieces(tokens.phrase(word)))


def _is_word(term: str) -> bool:
    """Whether a term may be a word of its own: of Chinese characters a pair without grammar."""
    return not tokens.is_han_piece(term) or (len(term) > 1 and not _NO_MATTER.search(term))


def _share(word: str, held: Mapping[str, str]) -> float:
    """What a word counts by the texts that have it."""
    wanted = word if tokens.is_han_piece(word) else f" {word} "
    found = [FIELD_SHARES[name] for name, stems in held.items() if wanted in stems]
    if not found:
        return 0.0
    is_general = _GENERAL_WORDS.issuperset(tokens.pieces(word))
    return (max(found) + REPEATED_BONUS * (len(found) - 1)) * (GENERAL_SHARE if is_general else 1.0)
