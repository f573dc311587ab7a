"""The fields of USER.md: their keys, their labels in three languages, and what a value may be. Data only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LOCALES = ("zh-TW", "zh-CN", "en")
"""The labels that there are, first those of a profile whose person has shown no script yet."""
Form = Literal["scalar", "list", "text"]
"""`scalar`: one value · `list`: canonical names · `text`: a list of the person's own words."""

MAX_VALUE_CHARS = 200
"""A longer value is cut, because the profile is part of every prompt."""


@dataclass(frozen=True)
class Field:
    """One line of the profile. `values`: the valid ones (empty: any). `max_items`: the bound of a newest-first list."""

    key: str
    section: str
    form: Form
    labels: tuple[str, str, str]
    values: tuple[str, ...] = ()
    max_items: int | None = None


TITLES = ("使用者資料", "用户资料", "User profile")
SECTIONS: dict[str, tuple[str, str, str]] = {
    "basics": ("基本資訊", "基本信息", "Basics"),
    "background": ("技術背景", "技术背景", "Background"),
    "preferences": ("使用偏好", "使用偏好", "Preferences"),
    "learning": ("學習紀錄", "学习记录", "Learning"),
    "interaction": ("互動特徵", "互动特征", "Interaction"),
    "other": ("其他記憶", "其他记忆", "Other memories"),
}
LANGUAGE = "language"
"""The key of the language of the replies; a value is read by `languages.language_tag`."""
NOTE = "note"
"""The key of the section `other`: each bullet there is one note, whatever its text."""

_ROWS: list[Field] = [
    Field("display_name", "basics", "scalar", ("稱呼", "称呼", "Name")),
    Field(LANGUAGE, "basics", "scalar", ("語言偏好", "语言偏好", "Language")),
    Field("timezone", "basics", "scalar", ("時區", "时区", "Time zone")),
    Field("joined", "basics", "scalar", ("加入日期", "加入日期", "Joined")),
    Field("languages", "background", "list", ("程式語言", "编程语言", "Programming languages")),
    Field("frameworks", "background", "list", ("框架經驗", "框架经验", "Frameworks")),
    Field("tools", "background", "list", ("工具", "工具", "Tools")),
    Field("level", "background", "scalar", ("技術等級", "技术等级", "Level"), ("beginner", "intermediate", "advanced")),
    Field("current_projects", "background", "text", ("目前專案", "目前项目", "Current projects"), max_items=10),
    Field(
        "response_style",
        "preferences",
        "scalar",
        ("回應風格", "回应风格", "Response style"),
        ("detailed", "concise", "step-by-step"),
    ),
    Field(
        "code_style",
        "preferences",
        "scalar",
        ("程式碼風格", "代码风格", "Code style"),
        ("with_comments", "minimal_comments"),
    ),
    Field(
        "examples", "preferences", "scalar", ("範例偏好", "示例偏好", "Examples"), ("with_examples", "without_examples")
    ),
    Field("preferred_frameworks", "preferences", "list", ("喜歡的框架", "喜欢的框架", "Preferred frameworks")),
    Field("theme", "preferences", "scalar", ("主題偏好", "主题偏好", "Theme"), ("dark", "light", "auto")),
    Field("design_style", "preferences", "scalar", ("設計風格", "设计风格", "Design style"), ("minimal", "modern")),
    Field("common_issues", "learning", "text", ("常見問題", "常见问题", "Common issues"), max_items=10),
    Field("strengths", "learning", "text", ("擅長領域", "擅长领域", "Strengths"), max_items=10),
    Field("weaknesses", "learning", "text", ("需要加強", "需要加强", "Weaknesses"), max_items=10),
    Field("recent_topics", "learning", "text", ("最近學習主題", "最近学习主题", "Recent topics"), max_items=10),
    Field(
        "question_style",
        "interaction",
        "scalar",
        ("提問風格", "提问风格", "Question style"),
        ("brief", "detailed", "code-first"),
    ),
    Field(
        "feedback_frequency",
        "interaction",
        "scalar",
        ("回饋頻率", "反馈频率", "Feedback frequency"),
        ("frequent_adjustments", "rarely_adjusts"),
    ),
    Field("most_used_modules", "interaction", "list", ("常用模組", "常用模块", "Most used modules")),
    Field(NOTE, "other", "text", ("其他記憶", "其他记忆", "Other memories")),
]
FIELDS: dict[str, Field] = {row.key: row for row in _ROWS}

LABELS = tuple(
    dict.fromkeys(
        label for row in (TITLES, *SECTIONS.values(), *(each.labels for each in FIELDS.values())) for label in row
    )
)
"""Titles and labels in each language."""
STRONG_MARKS = ("強偏好", "强偏好", "strong")
"""The mark of a strong preference, per locale: `dark（強偏好）`, `dark (strong)`."""
SEPARATORS = re.compile(r"[、,，;；]")
"""The characters between the members of a list."""
