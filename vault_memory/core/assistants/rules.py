"""The rules by which a model remembers and recalls: a section of an AGENTS.md, or a skill of its own."""

from __future__ import annotations

import re
from importlib import resources

from vault_memory.core.assistants.clients import NAME
from vault_memory.core.profile import LOCALES
from vault_memory.errors import UsageError

RULES_LOCALES = LOCALES
_BEGIN, _END = "<!-- vault-memory: begin -->", "<!-- vault-memory: end -->"
_SECTION = re.compile(rf"\n*{_BEGIN}\n.*?\n{_END}\n?", re.DOTALL)
_DESCRIPTIONS = {
    "zh-TW": "使用者的長期記憶：何時回想、何時記住。答案可能取決於使用者以前說過的話、偏好或決定，"
    "或他要你記住、忘記某事時使用。",
    "zh-CN": "用户的长期记忆：何时回想、何时记住。答案可能取决于用户以前说过的话、偏好或决定，"
    "或他要你记住、忘记某事时使用。",
    "en": "The user's long-term memory: when to recall and when to remember. Use it when an answer may depend on what "
    "the user said, prefers or decided before, or when they ask you to remember or forget something.",
}


def rules_text(locale: str) -> str:
    """The rules in a language. Raises `UsageError` for one that they are not written in."""
    if locale not in _DESCRIPTIONS:
        raise UsageError(f"the rules are not written in {locale[:60]!r}, but in {', '.join(_DESCRIPTIONS)}")
    return (resources.files(__package__) / f"rules.{locale}.md").read_text(encoding="utf-8")


def skill_text(locale: str) -> str:
    """The rules as a SKILL.md."""
    body = rules_text(locale)
    return f"---\nname: {NAME}\ndescription: {_DESCRIPTIONS[locale]}\n---\n\n{body.removeprefix('#')}"


def with_rules(text: str, locale: str) -> str:
    """A file of rules with ours as a section at its end, in place of an older one."""
    kept = without_rules(text).rstrip("\n")
    return f"{kept}\n\n{_section(locale)}" if kept else _section(locale)


def without_rules(text: str) -> str:
    """The file without that section."""
    made = _SECTION.sub("\n", text)
    return made if made.strip() else ""


def _section(locale: str) -> str:
    return f"{_BEGIN}\n{rules_text(locale)}{_END}\n"
