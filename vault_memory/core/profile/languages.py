"""Languages as people name them, as BCP-47 tags, and whose labels their readers get.

`zh-TW`, `zh_Hant`, `繁體中文`, `Chinese (Traditional)` are one language, and so are `en-GB`, `British English`,
`English (UK)`. A name that is not known stays as it is: a person may have written anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from vault_memory.core.text import comparable

_LANGUAGES = {
    "en": "English, 英文, 英語, eng",
    "zh": "Chinese, Mandarin, 中文, 漢語, 華語, 華文, 國語, 普通話",
    "zh-TW": "Traditional Chinese, 正體, 正體字, 繁體, 繁體字, 繁中",
    "zh-CN": "Simplified Chinese, 簡體, 簡體字, 簡中",
    "zh-HK": "Cantonese, 廣東話, 粵語",
    "ja": "Japanese, 日文, 日語, 日本語, nihongo",
    "ko": "Korean, 韓文, 韓語, 韓國話, 한국어",
    "fr": "French, 法文, 法語, français",
    "de": "German, 德文, 德語, Deutsch",
    "es": "Spanish, 西班牙文, 西班牙語, 西文, español, castellano",
    "pt": "Portuguese, 葡萄牙文, 葡萄牙語, 葡文, 葡語, português",
    "it": "Italian, 義大利文, 意大利文, 意大利語, italiano",
    "ru": "Russian, 俄文, 俄語, русский",
    "vi": "Vietnamese, 越南文, 越南語, 越文, tiếng Việt",
    "th": "Thai, 泰文, 泰語, ภาษาไทย",
    "id": "Indonesian, 印尼文, 印尼語, Bahasa Indonesia",
    "ms": "Malay, 馬來文, 馬來語, Bahasa Melayu",
    "ar": "Arabic, 阿拉伯文, 阿拉伯語, العربية",
    "hi": "Hindi, 印地文, 印地語, हिन्दी",
    "nl": "Dutch, 荷蘭文, 荷蘭語, Nederlands",
    "pl": "Polish, 波蘭文, 波蘭語, polski",
    "tr": "Turkish, 土耳其文, 土耳其語, Türkçe",
    "uk": "Ukrainian, 烏克蘭文, 烏克蘭語, українська",
}
"""The names of each language, first the one that we use."""
_REGIONS = {
    "GB": "British, UK, GB, Britain, Great Britain, United Kingdom, 英國, 英式",
    "US": "American, US, USA, America, United States, 美國, 美式",
    "AU": "Australian, Australia, 澳洲",
    "CA": "Canadian, Canada, 加拿大",
    "IN": "Indian, India, 印度",
    "TW": "Taiwanese, Taiwan, TW, 台灣, 臺灣, 台式",
    "HK": "Hong Kong, HK, 香港, 港式",
    "CN": "Mainland China, Mainland, China, CN, 中國, 中國大陸, 大陸",
    "SG": "Singaporean, Singapore, 新加坡",
    "BR": "Brazilian, Brazil, 巴西",
    "PT": "European, Portugal",
    "MX": "Mexican, Mexico, 墨西哥",
    "CH": "Swiss, Switzerland, 瑞士",
    "AT": "Austrian, Austria, 奧地利",
}
_SCRIPTS = {"Hant": "Traditional, Hant, 繁體, 正體", "Hans": "Simplified, Hans, 簡體"}
_REGION_OF_SCRIPT = {"Hant": "TW", "Hans": "CN"}
_LABELS_OF_REGION = {"TW": "zh-TW", "HK": "zh-TW", "MO": "zh-TW", "CN": "zh-CN", "SG": "zh-CN", "MY": "zh-CN"}
"""Of those in which Chinese is written, the locale with its characters."""
_TAG = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?")
_MAX_NAME_CHARS = 60


def language_tag(value: str) -> str:
    """The BCP-47 tag of a language that a person named, in the form that the profile holds: `zh-TW` for `繁體中文` and
    `zh-Hant`, `zh` for `中文`, `en-GB` for `English (UK)`; empty for what is no name or tag of one."""
    if len(value) > _MAX_NAME_CHARS:
        return ""
    if found := _of_name(_key(value)):
        return found
    tag = _TAG.fullmatch(value.strip())
    return _tag(tag[1].lower(), (tag[2] or "").title(), (tag[3] or "").upper()) if tag else ""


def language_name(tag: str) -> str:
    """A tag in English, for a sentence: `Japanese`, `English (en-GB)`; the tag where the language is not known."""
    language, _, region = tag.partition("-")
    names = _LANGUAGES.get(language)
    if not names:
        return tag
    name = names.partition(",")[0]
    return f"{name} ({tag})" if region else name


def labels_for(tag: str) -> str:
    """The locale whose labels fit a language: `zh-TW`, `zh-CN`, `en` for all that are not Chinese; empty where the tag
    does not tell (`zh`, none)."""
    language, _, region = tag.partition("-")
    if language != "zh":
        return "en" if tag else ""
    return _LABELS_OF_REGION.get(region, "")


def _tag(language: str, script: str, region: str) -> str:
    """A tag; Chinese of a script and no region has that of most of its writers, as the profile names it."""
    if language == "zh":
        return f"zh-{region or _REGION_OF_SCRIPT[script]}" if region or script in _REGION_OF_SCRIPT else "zh"
    return "-".join(filter(None, (language, script, region)))


def _key(name: str) -> str:
    """A name without case, blanks, punctuation and the difference of Traditional and Simplified characters."""
    return re.sub(r"[\W_]+", "", comparable(name))


@lru_cache(maxsize=1_000)
def _of_name(key: str) -> str:
    """The tag of a name that holds a language, and around it any words for its script and region."""
    for name, language in _names().items():
        before, found, after = key.partition(name)
        script, region = _script_and_region(before + after)
        if found and (script or region or key == name):
            base, _, own_region = language.partition("-")
            return _tag(base, script, region or own_region)
    return ""


def _script_and_region(text: str) -> tuple[str, str]:
    """The script and the region that a text consists of; both empty if it holds anything else."""
    script = region = ""
    while text:
        word = next((word for word in _words() if text.startswith(word)), None)
        if word is None:
            return "", ""
        code = _words()[word]
        script, region = (code, region) if code in _SCRIPTS else (script, code)
        text = text.removeprefix(word)
    return script, region


@cache
def _names() -> dict[str, str]:
    """The languages by the keys of their names."""
    return _by_key(_LANGUAGES)


@cache
def _words() -> dict[str, str]:
    """The scripts and regions by the keys of their names."""
    return _by_key(_SCRIPTS | _REGIONS)


def _by_key(named: Mapping[str, str]) -> dict[str, str]:
    """What is named by the keys of its names, the longest first: of 中國大陸 no 大陸 is left."""
    pairs = [(_key(name), code) for code, names in named.items() for name in names.split(",")]
    return dict(sorted(pairs, key=lambda pair: -len(pair[0])))
