"""Private facts: health, religion, family, sexuality, money, addresses, birthdays, telephone and identity numbers.

We keep them only in the conversation record and the index. One private fact makes its sentence private.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from vault_memory.core.text import Matcher, fold, lazily

PRIVATE = "[private]"
ERASED = "(erased)"
"""What stands in the place of an erased text: valid in a line of JSON, a property, a file's name and a branch's."""
PRIVATE_CATEGORIES = frozenset(
    {"health", "religion", "family", "sexuality", "money", "address", "birthday", "phone", "email", "number"}
)


def private_spans(text: str) -> list[tuple[int, int, str]]:
    """(start, end, category) of each sentence that states a private fact; offsets into `text`.

    The categories are `PRIVATE_CATEGORIES`.
    """
    folded = fold(text)
    return [
        (start, end, category)
        for start, end in _sentences(folded)
        if (category := _category(folded[start:end])) is not None
    ]


def is_private(clause: str) -> bool:
    """Whether a clause or sentence states a private fact."""
    return bool(private_spans(clause))


def states_a_value(text: str) -> bool:
    """Whether a number or a person stands in a text, without which a private matter is only a subject: 电话号码格式."""
    folded = fold(text)
    return bool(_DIGIT.search(folded) or _MINE.search(folded) or names_a_contact(text))


def names_a_contact(text: str) -> bool:
    """Whether an e-mail address or a telephone number, anybody's, stands in the text; also one that is spelled out."""
    folded = fold(text).translate(_DASHES).replace("%40", "@")
    plain = _HAN_NUMBER.sub(_in_digits, folded)
    return bool(_EMAIL.search(folded) or _DOTTED.search(plain)) or any(
        sum(char.isdigit() for char in match[0]) >= _MIN_PHONE_DIGITS and not _DATE.fullmatch(match[0])
        for match in _NUMBER.finditer(plain)
    )


def _in_digits(number: re.Match[str]) -> str:
    return number[0].translate(_HAN_DIGITS)


_DIGIT = lazily(r"[\d〇零○一二三四五六七八九]")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
_HAN_DIGITS = str.maketrans("〇零○一二三四五六七八九幺两", "000123456789" + "12")
_HAN_NUMBER = lazily(r"[〇零○一二三四五六七八九幺两](?:[ \-]?[〇零○一二三四五六七八九幺两]){6,14}")
_EMAIL = lazily(
    r"[\w.+\-]{1,64}(?: ?(?:@|[(\[{<](?:at|a|@)[)\]}>]) ?| (?:at|艾特) )(?!the |a |an )[\w\-]{1,64}"
    r"(?:(?:\.[a-z]+| ?[(\[{<](?:dot|\.)[)\]}>] ?[a-z]{2,})"
    r"| (?:dot|点) (?:com|net|org|edu|gov|io|me|co|cn|tw|hk|jp|uk|de|app|dev)(?![a-z]))"
)
_NUMBER = lazily(r"(?<![a-z0-9_.])\+?\(?\d[\d()\- ]{5,24}\d(?![\d.])")
_DOTTED = lazily(r"(?<![a-z0-9_.])(?:\+?\d{1,3}\.)?\(?\d{2,4}\)?[. ]\d{3,4}\.\d{4}(?![a-z0-9_])(?!\.\d)")
_DATE = lazily(r"(?:19|20)\d\d[\- ]\d{1,2}[\- ]\d{1,2}(?: \d{1,2})?")
_MIN_PHONE_DIGITS = 7


def without_private(text: str) -> tuple[str, Mapping[str, int]]:
    """The text with each private sentence replaced by `[private]`, and their number in each category."""
    counts: Counter[str] = Counter()
    pieces: list[str] = []
    done = 0
    for start, end, category in private_spans(text):
        pieces += [text[done:start], PRIVATE]
        counts[category] += 1
        done = end
    return "".join([*pieces, text[done:]]), dict(counts)


_END = lazily(r"[。!?;\n]+|(?<=[^\d\s])\.(?=\s|$)")
_MINE = lazily(
    r"我|咱|俺|本人|家人|爸|妈|爷爷|奶奶|阿公|阿嬷|外公|外婆|祖父|祖母|老公|老婆|女儿|儿子|孙子|孙女|哥哥|弟弟|姐姐|妹妹|邻居"
    r"|(?<![a-z])(?:i|i'm|i've|my|me|mine|we|our|im|mom|mum|dad|mother|father|wife|husband|parents|son|daughter|brother"
    r"|sister|(?:grand|step)(?:ma|pa|mother|father|son|daughter|mom|dad|parents)|aunt|uncle|nephew|niece|cousin"
    r"|(?<!nearest )neighbou?r)(?![a-z])"
)
_THEIRS = lazily(
    r"(?<![a-z'])(?!(?:it|app|game|player|user|customer|client|company|startup|business|plan|service|which|that|this|one"
    r"|who|product|bank|site|store|shop|team|people|everyone|nobody)(?:'s)? )[a-z]{2,20}"
    r"(?:'s (?:salary|income|pay|wage|pension) is| (?:earns|makes|is paid|gets paid))(?: [a-z]{1,9}){0,2} (?:[$€£¥] ?)?"
    r"\d[\d,.]{0,12} ?(?:k|grand|euros?|dollars?|pounds?|quid)?(?: net| gross)? (?:a|an|per) (?:year|month|week|hour)"
    r"(?![a-z])(?! from)|[a-z]{2,20}'s (?:salary|income|pension) is (?:[a-z]{1,9} )?(?:[$€£¥] ?)?\d"
    r"|(?:[小老阿][\u4e00-\u9fff]|先生|太太|小姐|女士)(?:一个月|每个?月|一年)?(?:年收|月收|月入|年入|领|赚|挣|欠|存了)(?:入|了|着)?"
    r"[\d一二三四五六七八九十两几][\d,.一二三四五六七八九十百两几]{0,12} ?(?:万|千|块|元)(?!字|行|次|个|笔|条)"
)
"""What somebody earns, who is called by name."""
_FORMS = (
    ("money", _THEIRS),
    (
        "phone",
        lazily(
            r"(?<![a-z0-9_.\-])(?:09\d{2}[ \-]?\d{3}[ \-]?\d{3}|1[3-9]\d[ \-]?\d{4}[ \-]?\d{4}"
            r"|\+\d{1,3}[ \-]?\(?\d{1,4}\)?(?:[ \-]?\d{2,4}){2,4}|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4}"
            r"|0\d-\d{4}-?\d{4}|0\d{2,3}-\d{7,8})(?![a-z0-9_\-])"
            r"|(?<![a-z])(?:line|wechat|telegram|skype|kakao|微信|qq) ?(?:id|帐号|账号) ?[:是] ?[a-z][\w.\-]{3}"
            r"|(?:number(?! of)|phone|call|电话|号码)[^\n\d]{0,40}(?<!\d)\d{3}[ \-]\d{4}(?![\d\-])"
        ),
    ),
    (
        "email",
        lazily(
            r"(?:我的?|my|mail|信箱|邮箱|邮件|contact|reach me|寄给?我)[^\n]{0,20}?[\w.+\-]{1,64}@[\w\-]{1,64}"
            r"\.[a-z]{2,}"
        ),
    ),
    (
        "address",
        lazily(
            r"(?<!\w)\d{1,5} [a-z]{2,20}(?: [a-z]{2,20})? (?:street|st|avenue|ave|road|rd|lane|ln|boulevard|blvd|drive"
            r"|court)(?![a-z])|[\u4e00-\u9fff](?:路|街|巷|弄)(?:[一二三四五六七八九十]段)? ?\d{1,4} ?(?:巷|弄|号)"
        ),
    ),
)
_INCOME = lazily(
    r"(?:月入|年入|年收|月收|到手|薪|领|赚|挣|收入|存了|欠|借(?:了|款|钱)|贷|还(?:款|了|债|清|贷))[^,;]{0,8}?"
    r"[\d一二三四五六七八九十两几][\d,.一二三四五六七八九十百两几]{0,12} ?[多来]?"
    r"(?:万|千|k|w|块|元)(?!字|行|次|个|笔|条)"
    r"|(?<![a-z])(?:i'm on|earns?|makes?|making|account has|(?:am|is|are|get|gets) paid|pay is|home|saved?|have|owes?"
    r"|borrowed|inherited|lost)(?: [a-z]{1,9}){0,3} (?:[$€£¥] ?\d"
    r"|\d[\d,.]{0,12} ?(?:k(?= (?:before|after|gross|net|saved|in|a)(?! [a-z]*s ))|grand|euros?|dollars?|pounds?|quid))"
)
"""A sum of money that a person has, gets or owes."""
_CODE = lazily(
    r"(?<![\w.$€£¥#:/-])(?!(?:(?<=in )|(?<=since )|(?<=until )|(?<=from )|(?<=自))(?:19|20)\d\d(?!\d))\d(?:-?\d){2,7}"
    r"(?![\d年月日]|[.,:/]\d| ?(?:px|cm|mm|km|kg|ms|gb|mb|%|元|块|个|次|人|行|rows|lines|users|times"
    r"|people|dollars|euros)(?![a-z]))"
)
"""A number as short as the code of a card or a door."""
_VALUE = lazily(r"(?:[a-z]{0,2}\d[ \-]?){3}|(?:[〇零○一二三四五六七八九幺两] ?){3}")
"""A number of three digits or more, with or without letters: a document's, or a telephone's."""
_ABOUT_THINGS = frozenset({"health", "religion", "family", "sexuality", "money"})
"""What things may be about: there are apps for diabetes. A number is a person's."""
_REACH_CHARS = 48


def _sentences(folded: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop, after in (*(end.span() for end in _END.finditer(folded)), (len(folded), 0)):
        if sentence := folded[start:stop].lstrip():
            yield stop - len(sentence), stop
        start = after


def _category(sentence: str) -> str | None:
    category = _first(sentence)
    if category in _ABOUT_THINGS:
        plain = _lists().ordinary.sub(_blank, sentence)
        return category if plain == sentence else _first(plain)
    return category


def _blank(words: re.Match[str]) -> str:
    return "," * len(words[0])  # no phrase reaches across a comma


def _first(sentence: str) -> str | None:
    lists = _lists()
    if category := lists.always.category(sentence):
        return category
    if (category := lists.valued.category(sentence)) and _VALUE.search(sentence):
        return category
    if _MINE.search(sentence):
        if category := lists.mine.category(sentence):
            return category
        if any(not _is_about_a_thing(sentence, *end.span()) for end in lists.ends.finditer(sentence)):
            return "health"
        if _INCOME.search(sentence):
            return "money"
        if lists.opens.search(sentence) and _CODE.search(sentence):
            return "number"
    return next((category for category, form in _FORMS if form.search(sentence)), None)


def _is_about_a_thing(sentence: str, start: int, end: int) -> bool:
    """Whether the words between say what a thing is about (a diabetes app, 薪資計算機), and so nothing of a person."""
    lists = _lists()
    before = sentence[max(0, start - _REACH_CHARS) : start].rstrip()
    return bool(lists.after.match(sentence, end) or lists.before.ends(before, 0))


class _Phrases:
    """The phrases of all categories. As one list: most sentences hold none of them, and are then read once."""

    def __init__(self, lists: Mapping[str, str]) -> None:
        self._any = Matcher("\n".join(lists.values()))
        self._each = {category: Matcher(phrases) for category, phrases in lists.items()}

    def category(self, sentence: str) -> str | None:
        for found in self._any.finditer(sentence):
            start, end = found.span()
            category = next((name for name, phrases in self._each.items() if phrases.match(sentence, start)), None)
            if category and (category not in _ABOUT_THINGS or not _is_about_a_thing(sentence, start, end)):
                return category
        return None


class _Lists(NamedTuple):
    """The lists of private.toml."""

    always: _Phrases
    mine: _Phrases
    valued: _Phrases
    ends: re.Pattern[str]
    ordinary: Matcher
    before: Matcher
    after: Matcher
    opens: Matcher


@cache
def _lists() -> _Lists:
    tables = tomllib.loads((resources.files(__package__) / "private.toml").read_text(encoding="utf-8"))
    words = tables.pop("words")
    always, mine, valued = (
        _Phrases({name: rows[which] for name, rows in tables.items() if which in rows})
        for which in ("always", "mine", "valued")
    )
    ends = lazily(rf"(?:{'|'.join(Matcher(words['ends']).phrases)})(?![a-z])")
    matchers = (Matcher(words[name]) for name in ("ordinary", "before", "after", "opens"))
    return _Lists(always, mine, valued, ends, *matchers)
