"""Which characters are one letter."""

from __future__ import annotations

from vault_memory.core.text import alike, first_alike
from vault_memory.core.text.fold import simplified
from vault_memory.core.text.variants import _ONE, _OTHER

_HAN = [*range(0x2E80, 0xD800), *range(0xE000, 0x10000), *range(0x20000, 0x32000)]


def _is_chinese(character: str) -> bool:
    """Whether China or Taiwan write it: Japanese gave such a one, as 欠 for 缺, another meaning."""
    for encoding in ("big5", "gb2312"):
        try:
            character.encode(encoding)
        except UnicodeEncodeError:
            continue
        return True
    return False


def test_the_pairs_are_opencc_s() -> None:
    import opencc

    above: dict[str, str] = {}

    def top(character: str) -> str:
        while (higher := above.get(character, character)) != character:
            character = higher
        return character

    pairs = [(chr(one), chr(other), False) for one, other in simplified().items()]
    for name in ("s2t", "s2tw", "s2hk", "hk2t", "tw2t", "t2jp"):
        convert = opencc.OpenCC(name).convert
        told = ((char, convert(char)) for char in map(chr, _HAN))
        pairs += [
            (one, other, True)
            for one, other in told
            if one != other and len(other) == 1 and not (name == "t2jp" and _is_chinese(other))
        ]
    found = []
    for one, other, is_new in pairs:
        low, high = sorted((top(one), top(other)))
        if low != high:
            above[high] = low
            found += [(one, other)] if is_new else []
    assert [*found, ("帐", "账")] == [*zip(_ONE, _OTHER, strict=True)]


def test_all_that_are_alike_are_one_class() -> None:
    for members in ("着著", "账帳賬帐", "发發髮発髪", "汙污汚", "衞衛卫", "温溫", "eEｅＥ", "ヘﾍ", "1１"):
        assert all({*members} <= {*alike(each)} for each in members)
        assert len({each.translate(first_alike()) for each in members}) == 1
    for one, other in ("缺欠", "aá", "ab", "芸藝", "子仔"):
        assert one not in alike(other)
