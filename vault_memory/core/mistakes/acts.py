"""What a text does or asks to be done, in classes of acts: two that say it in other words, or in the other language,
have the same act. A request for words of one's own, such as a poem about mail, does nothing that went wrong with mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from vault_memory.core.text import tokens

_OF_WORDS: Mapping[str, str] = {
    "invent": """poem poetry verse haiku limerick story tale fairytale novel song lyrics joke pun riddle slogan motto
        tagline jingle nickname rap
        诗 歌词 首歌 故事 小说 笑话 谜语 标语 口号 广告语 广告词 取名 名字 命名 昵称 标题 剧本 主持稿""",
    "recommend": "recommend recommendation suggest suggestion 推荐 有什么好 哪些好",
    "translate": "translate translation translated 翻译 译成 英文怎么说 中文怎么说",
    "summarise": "summarise summarize summary abstract tldr 摘要 总结 概括 概述",
    "draw": "draw drawing drew drawn sketch illustrate illustration doodle 画一 画个 画张 插图 插画 图解 素描",
}
"""Acts that make nothing but words or a picture."""
_OF_WORK: Mapping[str, str] = {
    "delete": """delete deleted deletion remove removal drop dropped clean cleanup purge wipe erase prune
        删 清空 清掉 清理 去掉 移除 清除""",
    "restart": "restart reboot bounce kick 重启 重开 重新开机 重新启动 重新开启",
    "stop": "disable shutdown deactivate 关掉 关闭 停用 全关 停了 关闭掉",
    "send": "send sent mail mailed email forward post message newsletter 发给 发到 发送 寄 群发 转发 回信 传给",
    "answer": "answer answered reply replied respond response 回复 回覆 答复 回信 回应",
    "deploy": "deploy deployment ship shipped release publish rollout launch 部署 上线 发布 上架 推上",
    "upgrade": "upgrade update bump 升级 更新 重灌",
    "shrink": "compress compression shrink resize downscale squeeze 压缩 缩小 变小 瘦身",
    "plan": "plan planned schedule arrange itinerary timetable 安排 规划 排程 排行程 时间表 排了 排一",
    "buy": "buy bought purchase order ordered 买 采购 订购 下单",
    "calculate": "calculate compute estimate 计算 估算 算出 换算",
    "move": "migrate migration convert rename move 迁移 转换 改名 搬",
    "copy": "backup back-up restore export 备份 还原 汇出",
}


def acts_in(text: str) -> dict[str, str]:
    """The classes of the acts that a text names, each with the word, folded, that names it first."""
    folded = tokens.fold(text)
    return {name: match[0] for name, form in _forms().items() if (match := form.search(folded))}


def make_words(acts: Iterable[str]) -> set[str]:
    """Those acts that make nothing but words or a picture."""
    return _OF_WORDS.keys() & acts


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    return {name: _form(words) for name, words in {**_OF_WORDS, **_OF_WORK}.items()}


def _form(words: str) -> re.Pattern[str]:
    listed = sorted(words.split(), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in listed if word.isascii())
    han = "|".join(re.escape(tokens.fold(word)) for word in listed if not word.isascii())
    parts = [rf"(?<![a-z])(?:{latin})(?:s|es|ed|ing)?(?![a-z])"] if latin else []
    return re.compile("|".join([*parts, *([han] if han else [])]))
