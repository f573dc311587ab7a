"""What a task is told by, from its words: a title, what is to be done, and how much that is."""

from __future__ import annotations

import re

from vault_memory.core.text import fold, one_line

MAX_TITLE_CHARS = 50
OTHER = "task"
_LOW_WORDS, _HIGH_WORDS = 10, 30
_HAN_PER_WORD = 2
"""A Chinese word has about two characters."""

_VERBS = {
    "fix": "fix fixes fixing bug debug error issue repair resolve crash broken hotfix 修復 修正 修理 除錯 錯誤 解決",
    "refactor": "refactor refactoring improve optimize optimise simplify restructure cleanup 重構 優化 改善 簡化 整理",
    "document": "document documentation docs doc readme changelog 文件 文檔 註解",
    "test": "test tests testing spec specs coverage 測試",
    "research": "research investigate explore compare evaluate analyze analyse study 研究 調查 比較 評估 分析",
    "implement": (
        "implement implementing build create add develop feature make design deploy "
        "實作 實現 建立 新增 開發 加入 製作 設計 撰寫 部署"
    ),
}
_LOW = "simple easy quick trivial small typo rename 簡單 容易 快速 小小 錯字 改名"
_HIGH = (
    "complex difficult large hard entire whole architecture migrate migration redesign "
    "複雜 困難 大型 整個 全部 架構 遷移"
)
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z0-9][a-z0-9'_-]*")


def title_of(task: str) -> str:
    """`Task: Implement login feature`, on one line; a long task's beginning."""
    text = one_line(task)
    if len(text) > MAX_TITLE_CHARS:
        cut = text[: MAX_TITLE_CHARS + 1].rsplit(" ", 1)[0] if " " in text[: MAX_TITLE_CHARS + 1] else text
        text = cut[:MAX_TITLE_CHARS].rstrip() + "..."
    return f"Task: {text}"


def verb_of(task: str) -> str:
    """What is to be done: `implement`, `fix`, `refactor`, `test`, `document` or `research`, by the word that stands
    first; `task` where none of them does."""
    text = fold(task)
    first = [(at, verb) for verb, words in _VERBS.items() if (at := _first(text, words)) is not None]
    return min(first)[1] if first else OTHER


def complexity_of(task: str) -> str:
    """How much a task is, by its words and their number: `low`, `medium` or `high`."""
    text = fold(task)
    count = len(_WORD.findall(text)) + len(_HAN.findall(text)) // _HAN_PER_WORD
    if _first(text, _HIGH) is not None or count > _HIGH_WORDS:
        return "high"
    return "low" if _first(text, _LOW) is not None or count < _LOW_WORDS // 2 else "medium"


def _first(text: str, words: str) -> int | None:
    """Where the first of these words stands in a folded text; English ones not inside others."""
    found = []
    for word in map(fold, words.split()):
        pattern = re.escape(word) if _HAN.match(word) else rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])"
        if match := re.search(pattern, text):
            found.append(match.start())
    return min(found, default=None)
