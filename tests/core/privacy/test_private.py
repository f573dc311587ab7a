"""Private facts: which sentences state one, in Traditional and Simplified Chinese and English."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.privacy.private import is_private, names_a_contact, private_spans, without_private


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("記住我有氣喘", "health"),
        ("我有糖尿病，要定时打胰岛素", "health"),
        ("remember that I'm diabetic", "health"),
        ("我是基督徒，週日不排課", "religion"),
        ("It's Ramadan, I study at night", "religion"),
        ("我爸媽在辦離婚", "family"),
        ("I'm a single mom", "family"),
        ("我是跨性别", "sexuality"),
        ("I'm gay", "sexuality"),
        ("我卡債三十萬", "money"),
        ("I'm $40k in debt", "money"),
        ("我住在中山路三段12號", "address"),
        ("my home address is 5 Elm Street", "address"),
        ("我的生日是五月三日", "birthday"),
        ("I was born in 1999", "birthday"),
        ("my phone is 0912-345-678", "phone"),
        ("我的手机号 13900001234", "phone"),
        ("我的护照号码在这", "number"),
        ("打给我13812345678", "phone"),
        ("有事電話0912-345-678找我", "phone"),
        ("我电话010-62345678", "phone"),
        ("LINE ID: alice88", "phone"),
        ("我住新北市中和區", "address"),
        ("my boyfriend hits me", "family"),
        ("我有前科", "family"),
        ("I'm undocumented", "family"),
        ("I was raped in 2019", "health"),
        ("我被性侵過", "health"),
        ("my HIV test was positive", "health"),
        ("I'm on PrEP", "health"),
        ("我有菜花", "health"),
        ("我剛結紮", "health"),
        ("I have BPD", "health"),
        ("I have Hashimoto's", "health"),
    ],
)
def test_a_private_fact_is_recognised(text: str, category: str) -> None:
    """G7: private facts stay out of profile, log, memory and commit."""
    assert [name for _, _, name in private_spans(text)] == [category]


@pytest.mark.parametrize(
    "text",
    [
        "我喜歡暗色主題",
        "幫我妹做一個點餐網站",
        "add a health check endpoint",
        "the family of sorting algorithms",
        "登入頁加一個記住密碼的勾選框",
        "IP 位址和記憶體位址有什麼不同",
        "My brother uses Vue",
        "糾結一禮拜了，後端用 Spring Boot",
        "line id: 12345",
        "each order line id is unique",
        "I'm on prep duty",
        "the API is undocumented",
        "我有菜花椰菜的圖片",
        "it hits me that this is slow",
    ],
)
def test_technical_talk_is_not_private(text: str) -> None:
    assert not is_private(text)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("remind me later, I have gastritis and my stomach hates deadlines", "health"),
        ("my aunt was diagnosed with a rare thing", "health"),
        ("I take 40mg of omeprazole", "health"),
        ("my blood type is A", "health"),
        ("我有椎間盤突出", "health"),
        ("我是 O 型血", "health"),
        ("我媽有關節炎", "health"),
        ("我阿嬤天天拜觀音", "religion"),
        ("我和前夫有聯絡", "family"),
        ("我喜歡男生", "sexuality"),
        ("我一個月領四萬", "money"),
    ],
)
def test_names_are_known_by_their_form_not_one_by_one(text: str, category: str) -> None:
    """G7: endings of illnesses and medicines, characters of illness, organs with a trouble, gods, sums."""
    assert [name for _, _, name in private_spans(text)] == [category]


@pytest.mark.parametrize(
    "text",
    [
        *("I'm building a diabetes tracker", "my class project predicts cancer with sklearn", "我在做薪資計算機"),
        *(
            "我的專題是糖尿病預測",
            "我的 bug 症狀是白畫面",
            "我的電腦中病毒了",
            "我要看到很多動畫",
            "我想把中間突出的按鈕拿掉",
        ),
        *(
            "我的背景問題",
            "我在查瓶頸的問題",
            "提供神經網路的例子給我",
            "我通過動態路由載入",
            "我的技術後端",
            "我查出 bug 了",
        ),
        *("這禮拜我要拜訪王先生", "我拜讀了你的文章", "我信任教授", "然後父元件傳給我", "大家在路上討論我的專案"),
        *(
            "my separation of concerns is bad",
            "I use std::vector",
            "I need an operation to merge",
            "I turn the radio on",
        ),
        *("my diagnosis is a null pointer", "our tech debt grows", "I owe you one", "my database is in recovery mode"),
    ],
)
def test_words_in_which_nothing_private_is_meant(text: str) -> None:
    assert not is_private(text)


@pytest.mark.parametrize(
    "text",
    [
        *("I take the stairs every morning", "I take a walk every evening", "I take public transport every day"),
        *(
            "我把舊護照弄丟了",
            "My passport is lost",
            "我把身分證忘在家裡",
            "我的提款卡被吃了",
            "I got my driving licence",
        ),
        *("My birthday cake was chocolate", "我的生日蛋糕是巧克力的", "我生日禮物收到一把吉他"),
        *("我的手机是小米", "我手機換成 iPhone 了", "My phone is a Pixel", "我現在吃素"),
    ],
)
def test_a_word_that_names_a_thing_is_no_private_fact(text: str) -> None:
    assert not is_private(text)


@pytest.mark.parametrize(
    "text",
    [
        *("I take Lexapro every morning", "I take the pill every night", "I take a statin every day"),
        *("I take my antidepressant every day", "I take the tablets every evening", "I take two tablets daily"),
        *(
            "my passport is K09876543",
            "我護照 312345678",
            "我身分證 A123456789",
            "我身份证尾号 4412",
            "我的手機是 0912345678",
        ),
        *("My birthday is in May", "my birthday is next Friday", "我的生日快到了", "我生日在五月", "我生日 3 月 9 號"),
        *("My phone number is with HR", "my driver's license number is with HR", "我初一十五吃素"),
    ],
)
def test_the_same_word_with_what_is_private_is(text: str) -> None:
    assert is_private(text)


@pytest.mark.parametrize("name", ["first", "second", "third", "fourth"])
def test_what_the_lists_hold_is_told_apart(name: str) -> None:
    """G7: how the lists came about, and what was found at first sight, is in their README."""
    folder = Path(__file__).parents[2] / "data/private"
    private, ordinary = (
        (folder / f"{name}-{kind}.txt").read_text(encoding="utf-8").splitlines() for kind in ("private", "ordinary")
    )
    assert sum(map(is_private, private)) >= 0.95 * len(private)
    assert sum(map(is_private, ordinary)) <= 0.05 * len(ordinary)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I tried to kill myself last year", "health"),
        ("我自殺過", "health"),
        ("My daughter was bullied and cuts herself", "family"),
        ("I am on parole", "family"),
        ("我被判緩刑兩年", "family"),
        ("My neighbour was arrested", "family"),
        ("我被裁員了", "money"),
        ("My mom's account has 30,000 dollars", "money"),
        ("Tom earns 85k a year", "money"),
        ("隔壁鄰居欠了三百萬", "money"),
        ("小李一個月領五萬", "money"),
        ("Anna's birthday is March 3rd 1990", "birthday"),
        ("小華的生日是三月五號", "birthday"),
        ("我投給民進黨", "religion"),
        ("I voted for Trump", "religion"),
    ],
)
def test_crime_self_harm_and_facts_of_others_are_private(text: str, category: str) -> None:
    """G7: of a neighbour, a relative or somebody named, too; each of these was quoted in a log."""
    assert category in [name for _, _, name in private_spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        *("my script kills itself after ten seconds", "my event handler fired last week", "I cut the video in half"),
        *("Redis makes 85k ops a second", "Python was born in 1991"),
        *(
            "my neighbour uses Vim",
            "use the nearest neighbour with a loan of 3 rows",
            "I voted for dark mode in the poll",
        ),
        *(
            "我投給那個專案一票",
            "被開除的員工資料表要怎麼刪",
            "生日欄位是必填",
            "我的爬蟲被抓到了",
            "我兒子在學 Python",
        ),
    ],
)
def test_the_same_words_of_things_are_ordinary(text: str) -> None:
    assert not is_private(text)


def test_only_the_private_sentence_is_replaced() -> None:
    text, counts = without_private("以後都用暗色。我有氣喘，不能熬夜。謝謝！")
    assert text == "以後都用暗色。[private]。謝謝！"
    assert counts == {"health": 1}


CONTACTS = [
    *("call 555.123.4567", "+1.555.123.4567", "tel (02) 2345.6789", "phone 0912–345–678", "市話 02—2345—6789"),
    *("手机一三八零零零零一二三四", "電話 零九一二三四五六七八", "手机13800001234"),
    *("bob at example dot com", "write to amy.li AT mail DOT org", "bob 艾特 example 点 com"),
    *("bob%40example.com", "to=amy%40mail.example.org", "bob (at) example (dot) com"),
]
NO_CONTACTS = [
    *("2024–01–30", "version 1.2.3.4", "192.168.1.20:8080", "3.14159265", "10.20.3000 rows", "pages 100–200"),
    *("一二三四五", "他一九九九年來的", "二〇二四年一月三十日", "十二個單字", "100%40", "meet at noon"),
    *("look at the dot com boom", "at least one dot is missing", "我在 example 等你"),
]


@pytest.mark.parametrize("text", CONTACTS)
def test_a_contact_is_recognised_however_it_is_spelled(text: str) -> None:
    assert names_a_contact(text)


@pytest.mark.parametrize("text", NO_CONTACTS)
def test_dates_versions_and_talk_are_no_contacts(text: str) -> None:
    assert not names_a_contact(text)


@given(st.text())
def test_spans_are_in_order_and_replacing_again_changes_nothing(text: str) -> None:
    spans = private_spans(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in spans)
    assert spans == sorted(spans)
    once, _ = without_private(text)
    assert without_private(once)[0] == once
