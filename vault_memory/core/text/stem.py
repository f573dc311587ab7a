"""English stems by Porter's algorithm (M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980)."""

from __future__ import annotations

import re

_C, _V = "[^aeiou]", "[aeiouy]"
_CC, _VV = "[^aeiou][^aeiouy]*", "[aeiouy][aeiou]*"
_ONE = re.compile(rf"^({_CC})?{_VV}{_CC}")
_EXACTLY_ONE = re.compile(rf"^({_CC})?{_VV}{_CC}({_VV})?$")
_MORE = re.compile(rf"^({_CC})?{_VV}{_CC}{_VV}{_CC}")
_VOWEL = re.compile(rf"^({_CC})?{_V}")
_SHORT = re.compile(rf"^{_CC}{_V}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

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
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2, _ONE)
    word = _replace(word, _STEP_3, _ONE)
    word = _replace(word, _STEP_4, _MORE)
    return _last_e(word)


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _ONE.match(word[:-3]) else word
    base = next((word[: -len(end)] for end in ("ed", "ing") if word.endswith(end)), "")
    if not base or not _VOWEL.match(base):
        return word
    if base.endswith(("at", "bl", "iz")) or _SHORT.match(base):
        return base + "e"
    return base[:-1] if _DOUBLE.search(base) else base


def _replace(word: str, suffixes: dict[str, str], measure: re.Pattern[str]) -> str:
    for size in range(min(7, len(word) - 1), 1, -1):
        suffix = word[-size:]
        if suffix in suffixes:
            base = word[:-size]
            if suffix in ("sion", "tion"):  # Porter's "(s or t) ion" keeps the s or t
                base += suffix[0]
            return base + suffixes[suffix] if measure.match(base) else word
    return word


def _last_e(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _MORE.match(base) or (_EXACTLY_ONE.match(base) and not _SHORT.match(base)):
            word = base
    if word.endswith("ll") and _MORE.match(word):
        word = word[:-1]
    return word
