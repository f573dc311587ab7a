"""The rules by which a model remembers and recalls: a section of an AGENTS.md, or a skill of its own."""

from __future__ import annotations

import re
from importlib import resources

from vault_memory.core.assistants.command import NAME
from vault_memory.core.assistants.ours import Ours, checksum, signed
from vault_memory.core.profile import LOCALES
from vault_memory.errors import UsageError

RULES_LOCALES = LOCALES
_BEGIN = "<!-- vault-memory: begin"
_END = "<!-- vault-memory: end -->"
_SECTION = re.compile(rf"{_BEGIN}(?: ([0-9a-f]{{16}}))? -->\r?\n((?:(?!{_BEGIN}).)*?){_END}(?:\r?\n|\Z)", re.DOTALL)
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
    text = f"---\nname: {NAME}\ndescription: {_DESCRIPTIONS[locale]}\n---\n\n{body.removeprefix('#')}"
    return signed(text, "<!-- {} -->")


def with_rules(text: str, locale: str) -> str:
    """A file of rules with ours as a section at its end, or where an older one is. Raises `UsageError` for a text in
    which there is half a section of ours."""
    body = rules_text(locale)
    section = f"{_BEGIN} {checksum(body)} -->\n{body}{_END}\n"
    _refuse_half(text)
    if found := _SECTION.search(text):
        return text[: found.start()] + section + text[found.end() :]
    return text + ("" if not text else "\n" if text.endswith("\n") else "\n\n") + section


def without_rules(text: str, was: str = "") -> str:
    """The file without that section; `was`, the file before it came, if they differ in blanks at the end only."""
    made = text
    while found := _SECTION.search(made):
        before = made[: found.start()]
        made = (before[:-1] if before.endswith("\n\n") else before) + made[found.end() :]
    return was if made.rstrip() == was.rstrip() else made


def _refuse_half(text: str) -> None:
    """Raise `UsageError` where a section of ours has lost its end or its begin: what of the text is ours cannot be
    told."""
    whole = len(_SECTION.findall(text))
    if text.count(_BEGIN) != whole:
        lost, line, place = "end", _END, "behind the last"
    elif text.count(_END) != whole:
        lost, line, place = "begin", f"{_BEGIN} -->", "before the first"
    else:
        return
    raise UsageError(
        f"our section there has no {lost}: put a line `{line}` {place} line of ours, or delete ours by hand"
    )


def _holds(text: str) -> bool:
    _refuse_half(text)
    return bool(_SECTION.search(text))


def _is_edited(text: str) -> bool:
    return any(found[1] != checksum(found[2]) for found in _SECTION.finditer(text))


SECTION = Ours(_holds, without_rules, _is_edited)
"""Of a file of rules that is a person's."""
