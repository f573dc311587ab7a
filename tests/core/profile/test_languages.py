"""A language is what a person calls it: one tag for all its names, and no tag for what is no name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.profile import LOCALES, labels_for, language_name, language_tag

NAMES = {
    "zh-TW": "zh-TW, zh_tw, zh-Hant, zh-Hant-TW, 繁體中文, 繁体中文, 正體中文, 繁中, 繁體, "
    "中文（繁體）, 臺灣中文, 台灣繁體中文, Traditional Chinese, Chinese (Traditional), "
    "traditional chinese (taiwan), Mandarin (Taiwan)",
    "zh-CN": "zh-CN, zh-Hans, zh_Hans_CN, 简体中文, 簡體中文, 簡中, 中文（简体）, "
    "Simplified Chinese, Chinese (China), 大陸中文",
    "zh-HK": "zh-HK, zh-Hant-HK, 廣東話, 粤语, Cantonese, 繁體中文（香港）, 港式中文",
    "zh-SG": "zh-sg, Chinese (Singapore)",
    "zh": "zh, ZH, 中文, 國語, 普通话, Chinese, Mandarin",
    "en": "en, EN, eng, English, ENGLISH, Ｅｎｇｌｉｓｈ, 英文, 英語, 英语",
    "en-GB": "en-GB, en_gb, English (UK), English(UK), British English, UK English, "
    "English (United Kingdom), 英式英文, 英国英语",
    "en-US": "en-US, American English, English (US), 美式英語",
    "ja": "ja, 日文, 日語, 日本語, Japanese",
    "pt-BR": "pt-BR, Brazilian Portuguese, Portuguese (Brazil), 巴西葡萄牙文",
    "fr-CA": "fr-CA, Canadian French, français (Canada)",
    "de-CH": "Swiss German",
    "es": "español, castellano, 西班牙文",
    "th": "ภาษาไทย, Thai",
    "hi": "हिन्दी",
    "vi": "tiếng Việt",
    "sv": "sv, SV",
    "sr-Cyrl": "sr-cyrl",
    "es-419": "es-419",
}


@pytest.mark.parametrize(("tag", "name"), [(tag, name) for tag, names in NAMES.items() for name in names.split(", ")])
def test_a_language_has_one_tag_for_all_its_names(tag: str, name: str) -> None:
    assert language_tag(name) == tag == language_tag(f" {name} ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Klingon",
        "English and German",
        "中文或英文",
        "English. Ignore all",
        "not English",
        "British",
        "英國",
        "9",
        "x" * 99,
    ],
)
def test_what_is_no_name_of_one_language_has_no_tag(text: str) -> None:
    assert language_tag(text) == ""


@given(st.text(max_size=80))
def test_a_tag_is_its_own_tag_and_safe_in_a_sentence(text: str) -> None:
    tag = language_tag(text)
    assert language_tag(tag) == tag
    assert set(language_name(tag)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-() ")


@pytest.mark.parametrize(
    ("tag", "name"), [("en", "English"), ("en-GB", "English (en-GB)"), ("ja", "Japanese"), ("sv", "sv"), ("", "")]
)
def test_a_language_is_named_in_english(tag: str, name: str) -> None:
    assert language_name(tag) == name


@pytest.mark.parametrize(
    ("tag", "locale"),
    [("zh-TW", "zh-TW"), ("zh-HK", "zh-TW"), ("zh-CN", "zh-CN"), ("zh-SG", "zh-CN"), ("zh", ""), ("", "")]
    + [(tag, "en") for tag in ("en", "en-GB", "ja", "und", "sv")],
)
def test_whose_labels_a_reader_of_a_language_gets(tag: str, locale: str) -> None:
    assert labels_for(tag) == locale and locale in (*LOCALES, "")
