"""Chats: lines that begin with who speaks. «Tom: …», 「小明：…」, [10:02] Tom: …, «Q: … A: …», @tom."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from vault_memory.core.extraction.voices.lines import NAME, Lines, is_spoken
from vault_memory.core.text import lazily

MOST_WORDS_OF_A_NAME = 4

_TIME = r"(?:[上下]午|凌晨|晚上|早上)? ?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?"
_DATE = r"(?:\d{1,4}[./\-]\d{1,2}(?:[./\-]\d{1,4})?|\d{4}年\d{1,2}月\d{1,2}日|[Tt]oday|[Yy]esterday|今天|昨天)"
_STAMP = rf"[\[(]?(?:{_DATE}(?:,? (?:at )?|T))?{_TIME}[\])]?"
_STAMPED = lazily(
    rf"[ \t]*(?P<stamp>{_STAMP})[ \t]*[\-–—]?[ \t]*(?P<name>[^:：\t\n]{{1,40}}?)(?P<sign>[ \t]*[:：]|\t|$)"
)
"""A time, and who speaks: «[10:02] Tom: …», «10:02⇥小明⇥…»."""
_STAMPED_HAN = lazily(rf"[ \t]*{_TIME}[ \t]+[\u3400-\u9fff]{{2,4}}[ \t]+\S")
_NAME_STAMPED = lazily(rf"[ \t]*(?P<name>{NAME})(?P<sign>[ \t,—–\-]*)(?P<stamp>{_STAMP})[ \t]*[:：]?")
"""Who speaks, and a time: «Tom — Today at 10:02 AM», «Anna (10:31): …»."""
_ONLY_STAMP = lazily(rf"[ \t]*{_STAMP}[ \t]*$")
_DATED = lazily(_DATE)
_WHOLE_NAME = lazily(rf"(?:{NAME})$")
_LABEL = lazily(
    r"[ \t]*(?:[-*•][ \t]+)?(?:\*\*)?(?:"
    r"[【\[(](?P<inside>[^\]】)\n]{1,24})[】\])][:：]?"
    r"|(?P<name>[^\s:：.,!?，。！？<>()（）\[【][^:：.,!?，。！？\n]{0,38}?)(?:\*\*)?[ \t]*[:：](?!//|\d\d)(?:\*\*)?)"
)
_NUMBER = lazily(r" ?#? ?\d{1,4}$| ?\([^)]*\)$| [a-z]$")
"""Behind a name: «customer #4», «Tom (he)»."""
_INNER_LABEL = lazily(
    r"(?<![^\s.?!。？！,，;；])(?P<name>[A-ZÀ-Þ]\w{0,15}|[\u3400-\u9fff]{1,4})[:：](?=\s|[\u3400-\u9fff])"
)
_HANDLE = lazily(r"[ \t]*(?:[Rr][Tt] )?@(?P<name>\w{2,30})\b|[^\n:]{1,40}\(@\w{2,30}\)|[ \t]*<[\w. \-]{1,24}> \S")
_GIVEN_HAN = lazily(
    "(?!健康|平安|文明|光明|信义|家庭|家乐|春天|英文|国文|中文|美国|英国|德国|德文|安心|安全|平静|冷静)"
    "[志明春娇怡君家豪美玲芳华伟俊杰雅婷淑惠惠玉珍秀英丽建国强军红梅兰菊雪莲燕霞慧敏静婉柔佩珊珮瑜诗涵宇轩子睿浩然承恩"
    "冠廷柏翰品妍心晴欣宜文彬信宏宗宪振荣正雄金水土火旺财发添丁福禄寿喜阿凯文龙凤虎德义仁礼智忠孝廉嘉祥瑞云月星晨曦阳]{2}"
)
_NUMBERED_NAME = lazily(r"(?=[\w/]*[a-z])(?=[\w/]*[_\d])[\w/]+$")
"""A name on a platform: `dark_fox`, `user123`."""


class _Label(NamedTuple):
    """Who a line begins with, folded and as written; `is_inside` brackets."""

    name: str = ""
    written: str = ""
    is_inside: bool = False


def speakers(lines: Lines) -> list[bool]:
    """Of each line whether it begins with somebody else who speaks.

    The form of a chat says so (a time and a name, a handle), or a name: one that people have, a part («interviewer»),
    one that speaks again after another. What the person calls their own («me: …») counts only beside others.
    """
    labels = [_label(line.written, line.folded) for line in lines]
    surely = _in_the_form_of_a_chat(lines)
    repeated = _repeated(lines, labels)
    named = [bool(label.name) and (_is_persons(lines, label) or label.name in repeated) for label in labels]
    if sum(map(_may_be_given, labels)) > 1:
        named = [is_named or _may_be_given(label) for is_named, label in zip(named, labels, strict=True)]
    others = sum(surely) + sum(named)
    stamped = [bool(_STAMPED_HAN.match(line.written)) for line in lines]
    are_stamped = sum(stamped) > 1
    result: list[bool] = []
    for at, (line, label) in enumerate(zip(lines, labels, strict=True)):
        is_told = named[at] and (others > 1 or is_spoken(line.folded[line.folded.find(label.name) + len(label.name) :]))
        is_mine = others > 0 and lines.is_all("speaker.me", label.name)
        is_beside = bool(result and result[-1] and label.name) and not _is_own(lines, label.name)
        is_another = is_beside and _WHOLE_NAME.match(label.written) is not None  # a name that no list has
        is_stamped = stamped[at] and are_stamped
        result.append(surely[at] or is_told or is_mine or is_another or is_stamped or _is_dialogue(lines, at))
    return result


def is_person(lines: Lines, name: str) -> bool:
    """Whether a name, folded, is a part that somebody plays in a talk, or a Chinese name."""
    surname = lines.begins("speaker.surnames", name)
    has_surname = surname is not None and 1 <= len(name) - surname.end() <= 2
    return (
        lines.is_all("speaker.roles", name)
        or lines.is_all("speaker.han", name)
        or (has_surname and not lines.says("speaker.no_name", name))
    )


def _label(written: str, folded: str) -> _Label:
    found = _LABEL.match(written)
    if found is None:
        return _Label()
    group = "name" if found["name"] else "inside"
    start, end = found.span(group)
    return _Label(folded[start:end].strip(), written[start:end].strip(), group == "inside")


def _may_be_given(label: _Label) -> bool:
    """Whether a label is of two characters that Chinese given names are made of; so are other words."""
    return not label.is_inside and _GIVEN_HAN.fullmatch(label.name) is not None


def _is_own(lines: Lines, name: str) -> bool:
    return lines.says("text.own", name) or lines.is_all("speaker.me", name) or is_spoken(name)


def _is_persons(lines: Lines, label: _Label) -> bool:
    """Whether a label is somebody's name."""
    name = _NUMBER.sub("", label.name)
    if not name or _is_own(lines, name):
        return False
    if is_person(lines, name):
        return True
    if lines.is_all("speaker.given", name.split(" ")[0]):
        return " " not in name or _WHOLE_NAME.match(label.written) is not None
    if label.is_inside:
        return lines.is_all("text.label", name)
    words = name.split()
    is_part = len(words) <= MOST_WORDS_OF_A_NAME and lines.is_all("speaker.roles", words[-1])
    return is_part or _NUMBERED_NAME.match(words[-1]) is not None


def _repeated(lines: Lines, labels: list[_Label]) -> set[str]:
    """All names of a chat in which one speaks again after another: A, B, A."""
    names = [each.name for each in labels if each.name and not each.is_inside and not _is_own(lines, each.name)]
    turns = [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
    return set(turns) if len(turns) > 2 and max(Counter(turns).values()) > 1 else set()


def _is_dialogue(lines: Lines, at: int) -> bool:
    """Whether two people speak in one line: «Q: … A: …»."""
    line = lines[at]
    names = [line.folded[slice(*found.span("name"))] for found in _INNER_LABEL.finditer(line.written)]
    return len(names) > 1 and sum(is_person(lines, name) or lines.is_all("speaker.given", name) for name in names) > 1


def _in_the_form_of_a_chat(lines: Lines) -> list[bool]:
    """Of each line whether it has a form that programs write: a time and a name, a handle."""
    headed = [_NAME_STAMPED.match(line.written) for line in lines]
    are_headed = sum(found is not None for found in headed) > 1
    return [_has_form(lines, at, headed[at], are_headed) for at in range(len(lines))]


def _has_form(lines: Lines, at: int, headed: re.Match[str] | None, are_headed: bool) -> bool:
    written = lines[at].written
    if handle := _HANDLE.match(written):
        return not lines.is_all("letter.assistant", (handle["name"] or "").lower())
    if found := _STAMPED.match(written):
        name = found["name"].strip()
        is_marked = bool(found["sign"].strip(" ") or _DATED.search(found["stamp"]) or "[" in found["stamp"])
        return is_marked and bool(name) and len(name.split()) <= MOST_WORDS_OF_A_NAME and not is_spoken(name.lower())
    if headed and (not written[headed.end() :].strip() or written[: headed.end()].rstrip().endswith((":", "："))):
        is_marked = are_headed or bool(headed["sign"].strip() or _DATED.search(headed["stamp"]))
        name = lines[at].folded[slice(*headed.span("name"))]
        return is_marked or is_person(lines, name) or lines.is_all("speaker.given", name)
    following = lines[at + 1].written if at + 1 < len(lines) else ""
    return _WHOLE_NAME.match(written.strip()) is not None and _ONLY_STAMP.match(following) is not None
