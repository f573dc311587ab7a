"""The script of a text: which Chinese characters it is written in, or another script. No language is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from vault_memory.core.text.fold import simplified

OTHER = "und"
"""BCP-47 for an undetermined language: the text is in Latin letters, or in another script that is none of Chinese."""
_EXAMINED_CHARS = 2_000
"""At either end of a text: what a person says stands there; in between is mostly what was pasted."""
_TELLING_WORDS = 3
"""Fewer words of another script, such as a command, say little of a person who otherwise writes Chinese."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_HAN = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\d_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+")

_IN_BOTH = (
    "佛俊修僵克兑冢冬凌出刮制千升卜卧即卷叁只台吃合吊同向呆周咽哄唇喂噪回困囱埼奸姜娘媪家局峰巨布席幸床庵弦彩御志念恤悦愈愠戚户扇才扎托扣折抬抵拐拼挨挲挽捆捍捝揾"
    "搜教敚旋旗既昆暗曲札朱杆杯松板查栗核梁棁棋棱榅欲氲污沈沾泄泛注涚温溪溯漓灶煴狸玩璇症痴皂真矩私秋秘税粽糊糖系累群胄胡脱腽致舍芸苔葱蒀蒙蓑蔑蜕表谷踊逾酸雕面飧"
)
"""What the table calls Simplified, and Traditional texts hold as well: 只, 家, 台. A test derives it from OpenCC."""


def script_of(text: str, least_words: int = 1) -> str:
    """The script of a text as a BCP-47 tag: `zh-TW` or `zh-CN` by characters that the other script has not, `zh` for
    Chinese characters that both have, `ja`, `ko`, `OTHER`; empty if it has fewer than `least_words` words.

    A Chinese sentence with English terms is Chinese: only where the words of another script
    are more than twice its characters it is not. Of our 2,088 labelled Chinese turns 3 (pasted code) are taken for
    another script, 17 hold shared characters alone, and none is taken for the wrong Chinese.
    """
    if len(text) > 2 * _EXAMINED_CHARS:
        text = f"{text[:_EXAMINED_CHARS]}\n{text[-_EXAMINED_CHARS:]}"
    text = _CODE.sub(" ", text)
    han, kana, hangul = (len(pattern.findall(text)) for pattern in (_HAN, _KANA, _HANGUL))
    words = len(_WORD.findall(text))
    if 2 * (han + kana + hangul) < max(words, 1):
        return OTHER if words >= least_words else ""
    if hangul > han + kana:
        return "ko"
    if kana > han / 3:
        return "ja"
    return chinese_of(text)


def chinese_of(text: str) -> str:
    """Which Chinese the Chinese characters of a text are: `zh-TW`, `zh-CN`, or `zh` if both hold all of them."""
    only_traditional, only_simplified = _of_one_script()
    traditional = sum(char in only_traditional for char in text)
    simple = sum(char in only_simplified for char in text)
    return "zh" if not traditional + simple else "zh-TW" if traditional >= simple else "zh-CN"


def script_of_last(texts: Iterable[str]) -> str:
    """The script that a person wrote last, of texts with the newest first; empty if none shows any.

    A text of few words of another script leaves it to the ones before it, and Chinese characters that both scripts have
    leave to them which Chinese it is.
    """
    found = ""
    for text in texts:
        script = script_of(text, _TELLING_WORDS)
        if script in ("zh-TW", "zh-CN") or script not in ("", "zh") and not found:
            return script
        found = found or script
    return found


@cache
def _of_one_script() -> tuple[frozenset[str], frozenset[str]]:
    """The characters of Traditional Chinese alone, and those of Simplified Chinese alone."""
    pairs = [(chr(a), chr(b)) for a, b in simplified().items() if a != b and "\u4e00" <= chr(a) <= "\u9fff"]
    traditional = frozenset(a for a, _ in pairs)
    return traditional, frozenset(b for _, b in pairs) - traditional - frozenset(_IN_BOTH)
