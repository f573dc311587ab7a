"""The terms of a text as the index holds them, in Chinese and English.

A text is folded (width, case, accents, Traditional to Simplified), then cut into words. A Latin word is stemmed.
Chinese has no blanks to cut at, so pairs of neighbouring characters stand for words: SQLite's own tokenisers find
nothing inside running Chinese (unicode61) or miss its two-character words (trigram).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.core.text.fold import normalize, simplify
from vault_memory.core.text.phrases import lazily

VERSION = 1
"""Changes when a text's tokens change; an index of another version is built anew."""

MAX_TERM_CHARS = 64

# Chinese characters; Japanese kana and Korean Hangul are cut into pairs like them.
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005\u3040-\u30ff\uac00-\ud7af"
_RUN = lazily(rf"[{_CJK}]+|[a-z]\+\+|[a-z]#|\d+(?:[.,]\d+)+|[^\W{_CJK}_]+(?:['’][a-z]+)?")
_HAN_RUN = lazily(rf"[{_CJK}]")

# English words that carry no subject; they are neither indexed nor searched for.
_STOP_TEXT = """
    a about am an and any are as at be been being but by can could d did didn do does doesn doing don for from get had
    has have having he her hers him his i if in into is isn it its just ll m me my of on or our ours re s she should so
    some such t than that the their theirs them then there these they this those to too us ve very was wasn we were will
    with would you your yours
"""
_STOP_WORDS = frozenset(_STOP_TEXT.split())
_ACCENT = lazily("[\u0300-\u036f]")

_QUESTION_TEXT = "how many much what when where which who whom whose why kind type name ever"
_QUESTION_WORDS = frozenset(_QUESTION_TEXT.split())
# Characters that carry no subject when they stand alone.
_HAN_STOP = frozenset("的了是在和与及或也都就而但被把对从到于之其这那我你他她它们有不个一")
_QUESTION_HAN = lazily(
    "什么时候|为什么|什么样|是什么|什么|怎么样|怎么|怎样|如何|哪一?(?:个|年|月|天|日|种|里|儿|些|位|次)?|"
    "何时|何地|何处|何人|何种|谁|多少|几[个次月日号点]|几(?!何)|是否|有没有|吗|呢|请问|一下"
)


def fold(text: str) -> str:
    """The text in one form (NFKC), in lower case, without accents, in Simplified characters."""
    if text.isascii():
        return text.lower()
    bare = _ACCENT.sub("", normalize("NFKD", text.casefold()))
    return simplify(normalize("NFC", bare))


def stems(text: str) -> str:
    """The text's words in order, each between blanks (` gina open store `); a Han run stands as one word.

    The index keeps this beside a segment: `str.count` finds a query's terms in it without cutting the text again.
    """
    words = [*_words(fold(text)), *date_terms(text)]
    return f" {'  '.join(words)} " if words else ""


def expand(line: str) -> str:
    """`stems` as FTS5 indexes them: each Han run as its characters and pairs."""
    return " ".join(" ".join(_grams(word)) if _HAN_RUN.match(word) else word for word in line.split())


class Synonyms(NamedTuple):
    """What stands for one word or phrase of a question: `asked` are its terms; each of `others` is a whole word
    or phrase as `stems` writes it, and counts as `asked`."""

    asked: tuple[str, ...]
    others: tuple[str, ...]


class QueryTerms(NamedTuple):
    """A question's terms. `ranking_terms` only rank what the others found: single Han characters occur nearly
    everywhere, so searching for them costs ten times as much and finds nothing more. `synonyms` add no terms: they say
    what else counts as one of the search terms. `name` is the whole question as a name of a note; each of `phrases`
    (see `typed`) stands in a passage that answers. A search term may be the beginning of a word with a star."""

    search_terms: tuple[str, ...]
    ranking_terms: tuple[str, ...]
    synonyms: tuple[Synonyms, ...] = ()
    name: str = ""
    phrases: tuple[str, ...] = ()


def query_terms(text: str) -> QueryTerms:
    """The terms of a question, each once: dates, stems, Han pairs (a single character only when it stands alone)."""
    text = text.encode("utf-8", "replace").decode("utf-8")  # SQLite refuses a lone surrogate
    folded = fold(text)
    find = dict.fromkeys(date_terms(text))
    weigh: dict[str, None] = {}
    # Without question words, unless nothing else is left.
    for word in _words(_QUESTION_HAN.sub(" ", folded), _QUESTION_WORDS) or _words(folded):
        find.update(dict.fromkeys(pieces(word)))
        if is_han_piece(word):
            weigh.update(dict.fromkeys(word))
    for word in regional_variants(folded):
        find.update(dict.fromkeys(pieces(word)))
    return QueryTerms(tuple(find), tuple(char for char in weigh if char not in find and char not in _HAN_STOP))


def pieces(term: str) -> list[str]:
    """The terms of the index that a word or phrase, as `stems` writes it, consists of, in order."""
    return _pairs(term) if is_han_piece(term) else term.split()


def phrase(text: str) -> str:
    """A word or phrase of one script as it stands in `stems`; empty if it has only stop words."""
    return "  ".join(_words(fold(text)))


def places(text: str, terms: Collection[str]) -> list[tuple[int, int]]:
    """Where the terms of a question stand in a text, themselves or as the beginning of a word, from and to which
    character, in order; what overlaps or touches is one."""
    folded, origin = "", list[int]()
    for at, char in enumerate(text):
        folded += (form := fold(char))
        origin += [at] * len(form)
    begun = tuple(term[:-1] for term in terms if term.endswith("*"))
    found: list[tuple[int, int]] = []
    for run in _RUN.finditer(folded):
        if is_han_piece(run[0]):
            ends = ((at, at + size) for at in range(*run.span()) for size in (1, 2) if at + size <= run.end())
            found += [(start, end) for start, end in ends if folded[start:end] in terms]
        elif _indexed_form(run[0]) in terms or (begun and run[0].startswith(begun)):
            found.append(run.span())
    merged: list[tuple[int, int]] = []
    for start, end in ((origin[start], origin[end - 1] + 1) for start, end in sorted(found)):
        first, last = merged.pop() if merged and start <= merged[-1][1] else (start, end)
        merged.append((first, max(last, end)))
    return merged


def count(text: str) -> int:
    """About how many tokens a language model sees: one per Han character, one per four others."""
    han = len(_HAN_RUN.findall(text))
    return han + (len(text) - han + 3) // 4


def is_han(text: str) -> bool:
    """Whether a text is Chinese for the greater part of its meaning (a Han character weighs as three letters)."""
    han = len(_HAN_RUN.findall(text))
    return han * 3 > len(text) - han


def _words(folded: str, left_out: frozenset[str] = frozenset()) -> list[str]:
    words = []
    has_han = not folded.isascii()
    for run in _RUN.findall(folded):
        if has_han and _HAN_RUN.match(run):
            words.append(run)
            continue
        word = _indexed_form(run)
        if word and run not in left_out:
            words.append(word)
    return words


@lru_cache(maxsize=32_768)  # words of a large vault; 6 MB
def _indexed_form(run: str) -> str:
    """The stem of a Latin run, empty for a stop word."""
    word = re.split("['’]", run)[0] if not run[0].isdigit() else run.replace(",", "")
    return "" if word in _STOP_WORDS else stem(word)[:MAX_TERM_CHARS]


def _pairs(word: str) -> list[str]:
    return [word[i : i + 2] for i in range(len(word) - 1)] if len(word) > 1 else [word]


def _grams(word: str) -> list[str]:
    return [*word, *_pairs(word)] if len(word) > 1 else [word]


def is_han_piece(term: str) -> bool:
    """Whether a term is a piece of a Han run, to be found anywhere in it; a Latin word stands between blanks."""
    return _HAN_RUN.match(term) is not None


# -- words that Taiwan and the mainland call differently: folding characters does not bring them together. From OpenCC's
# Taiwan phrases (Apache-2.0), those of people who work with computers, in Simplified characters as `fold` leaves them.

_VARIANT_TEXT = """
资料库 数据库  程式码 代码  程式 程序  软体 软件  硬体 硬件  韧体 固件  伺服器 服务器  网路 网络  网际网路 互联网
影片 视频  滑鼠 鼠标  档案 文件  资料夹 文件夹  资讯 信息  记忆体 内存  介面 界面  使用者 用户  登入 登录  专案 项目
预设 默认  函式 函数  变数 变量  物件 对象  阵列 数组  字串 字符串  回圈 循环  执行绪 线程  萤幕 屏幕  列印 打印
硬碟 硬盘  光碟 光盘  笔记型电脑 笔记本电脑  演算法 算法  人工智慧 人工智能  快取 缓存  伫列 队列  位元组 字节
频宽 带宽  连结 链接  连线 连接  讯息 消息  简讯 短信  行动电话 移动电话  品质 质量  计程车 出租车  捷运 地铁
脚踏车 自行车  公车 公交车  影印 复印  部落格 博客  搜寻 搜索  设定 设置  选单 菜单  视窗 窗口  模组 模块
原始码 源代码  相容 兼容  支援 支持  最佳化 优化  除错 调试  汇入 导入  汇出 导出  储存 存储  范例 示例  马铃薯 土豆
凤梨 菠萝  酪梨 牛油果  优格 酸奶  泡面 方便面  幼稚园 幼儿园  国中 初中
"""
_VARIANT_WORDS = _VARIANT_TEXT.split()
_TAIWAN, _MAINLAND = _VARIANT_WORDS[::2], _VARIANT_WORDS[1::2]
_VARIANTS = dict(zip(_MAINLAND, _TAIWAN, strict=True)) | dict(zip(_TAIWAN, _MAINLAND, strict=True))


def regional_variants(folded: str) -> list[str]:
    """What Taiwan calls the mainland's words in a folded text, and the other way round: 資料庫 and 数据库.

    The longest word first, none inside another. The index holds what was written; only a question is asked in both.
    """
    found = []
    for word in sorted((word for word in _VARIANTS if word in folded), key=len, reverse=True):
        if word in folded:
            found.append(_VARIANTS[word])
            folded = folded.replace(word, " ")
    return found


# -- English stems by Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980)

_C, _V = "[^aeiou]", "[aeiouy]"
_CC, _VV = "[^aeiou][^aeiouy]*", "[aeiouy][aeiou]*"
_ONE = lazily(rf"^({_CC})?{_VV}{_CC}")
_EXACTLY_ONE = lazily(rf"^({_CC})?{_VV}{_CC}({_VV})?$")
_MORE = lazily(rf"^({_CC})?{_VV}{_CC}{_VV}{_CC}")
_VOWEL = lazily(rf"^({_CC})?{_V}")
_SHORT = lazily(rf"^{_CC}{_V}[^aeiouwxy]$")
_DOUBLE = lazily(r"([^aeiouylsz])\1$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4_SUFFIXES = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize sion tion"
_STEP_4 = dict.fromkeys(_STEP_4_SUFFIXES.split(), "")


def stem(word: str) -> str:
    """The stem of a lower-case word; a word with anything but a-z, or of two letters, is its own stem."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _without_plural(word)
    word = _without_past(word)
    if word.endswith("y") and _VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _with_suffix_replaced(word, _STEP_2, _ONE)
    word = _with_suffix_replaced(word, _STEP_3, _ONE)
    word = _with_suffix_replaced(word, _STEP_4, _MORE)
    return _without_last_e(word)


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _ONE.match(word[:-3]) else word
    base = next((word[: -len(end)] for end in ("ed", "ing") if word.endswith(end)), "")
    if not base or not _VOWEL.match(base):
        return word
    if base.endswith(("at", "bl", "iz")) or _SHORT.match(base):
        return base + "e"
    return base[:-1] if _DOUBLE.search(base) else base


def _with_suffix_replaced(word: str, suffixes: dict[str, str], measure: re.Pattern[str]) -> str:
    for size in range(min(7, len(word) - 1), 1, -1):
        suffix = word[-size:]
        if suffix in suffixes:
            base = word[:-size]
            if suffix in ("sion", "tion"):  # Porter's "(s or t) ion" keeps the s or t
                base += suffix[0]
            return base + suffixes[suffix] if measure.match(base) else word
    return word


def _without_last_e(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _MORE.match(base) or (_EXACTLY_ONE.match(base) and not _SHORT.match(base)):
            word = base
    if word.endswith("ll") and _MORE.match(word):
        word = word[:-1]
    return word


# Dates in words ------------------------------------------------------------------------------------------------------
# "May 8th 2023", 2023年5月8日 and 2023-05-08 have terms in common. The day 2023-05-08 has four: the day, the day of any
# year (05-08), the month (2023-05) and the month of any year (05).

DATE_MARK = "\ue000"
"""How the term of a date begins: a private-use character, which no ordinary text holds."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_MONTH_NAME = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"((?:19|20)\d\d)\b"

# Each pattern with the groups that hold (year, month, day); 0 where it has none.
_DATE_FORMS: list[tuple[re.Pattern[str], tuple[int, int, int]]] = [
    (lazily(r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)"), (1, 2, 3)),
    (lazily(r"((?:19|20)\d\d)\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号號])?"), (1, 2, 3)),
    (lazily(r"(?<![\d年])(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號]?"), (0, 1, 2)),
    (lazily(rf"\b{_MONTH_NAME}\s+(?:the\s+)?{_DAY}(?!:)(?:\s*(?:,\s*)?{_YEAR})?", re.I), (3, 1, 2)),
    (lazily(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH_NAME}(?:\s*(?:,\s*)?{_YEAR})?", re.I), (3, 2, 1)),
    (lazily(rf"\b{_MONTH_NAME}\s*(?:,\s*)?(?:of\s+)?{_YEAR}", re.I), (2, 1, 0)),
    (lazily(r"\b[io]n (" + "|".join(name.title() for name in _MONTHS if name != "sep") + r")\b"), (0, 1, 0)),
    (lazily(r"(?<![\d年个個])(\d{1,2})\s*月(?![\d\s]*[\d日号號])"), (0, 1, 0)),
]
_MONTH_SIGNS = tuple({name[:3] for name in _MONTHS})
_LATIN = lazily("[a-z]+")


def day_terms(day: date) -> list[str]:
    """The terms of a note of this day."""
    return _date_terms_of(day.year, day.month, day.day)


def date_terms(text: str) -> list[str]:
    """The terms of the dates that a text names, each once, the most exact of each mention first."""
    forms = _forms_for(text)
    if not forms:
        return []
    found: dict[str, None] = {}
    taken = bytearray(len(text))
    for pattern, (year, month, day) in forms:
        for match in pattern.finditer(text):
            if taken.find(1, *match.span()) >= 0:
                continue
            terms = _date_terms_of(*(_month_or_number(match[group]) if group else 0 for group in (year, month, day)))
            if terms:
                taken[slice(*match.span())] = b"\1" * len(match[0])
                found.update(dict.fromkeys(terms))
    return list(found)


def _forms_for(text: str) -> list[tuple[re.Pattern[str], tuple[int, int, int]]]:
    """The forms that may stand in a text: what each of them holds is found much quicker than its pattern."""
    lowered = text.lower()
    has_name = any(sign in lowered for sign in _MONTH_SIGNS) and not _MONTHS.keys().isdisjoint(_LATIN.findall(lowered))
    has_year, has_han = "19" in text or "20" in text, "月" in text
    if not (has_name or has_year or has_han):
        return []
    return [
        form
        for form in _DATE_FORMS
        if (has_han if "月" in form[0].pattern else has_name if "jan" in form[0].pattern.lower() else has_year)
    ]


def _month_or_number(text: str | None) -> int:
    if not text:
        return 0
    return int(text) if text.isdigit() else _MONTHS[text.lower()]


def _date_terms_of(year: int, month: int, day: int) -> list[str]:
    if not 1 <= month <= 12 or not 0 <= day <= 31:
        return []
    terms = []
    if year and day:
        terms.append(f"{DATE_MARK}{year:04}{month:02}{day:02}")
    if day:
        terms.append(f"{DATE_MARK}d{month:02}{day:02}")
    if year:
        terms.append(f"{DATE_MARK}{year:04}{month:02}")
    return [*terms, f"{DATE_MARK}m{month:02}"]
