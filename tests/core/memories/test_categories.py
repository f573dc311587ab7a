"""Everyday categories: a thing answers for its kind, in both languages, and ordinary words are not misread."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import pace
from vault_memory.config import Config
from vault_memory.core.memories import categories, word_lists
from vault_memory.core.memories.vocabulary import MAX_TEXT_CHARS, Sense, Vocabulary
from vault_memory.core.text import fold, tokens
from vault_memory.errors import ConfigError

LATIN_NAMES = {"programming_language", "programming_tool", "office_software"}
"""Their members have no Chinese names."""
FOLDER = resources.files("vault_memory.core.memories") / "categories"


def tables() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for file in FOLDER.iterdir():
        if file.name.endswith(".toml") and file.name != "ordinary.toml":
            read = tomllib.loads(file.read_text(encoding="utf-8"))
            assert not found.keys() & read.keys()
            found |= read
    return found


def members(table: dict[str, str]) -> list[tuple[str, ...]]:
    return [word_lists.spellings(part) for part in table["members"].split(",") if part.strip()]


def test_there_are_enough_categories_in_both_languages() -> None:
    """Issue 15: at least 45 categories of 25 members or more, together more than 2,500."""
    found = tables()
    assert len(found) >= 45
    assert sum(len(members(table)) for table in found.values()) > 2_500
    for name, table in found.items():
        listed = members(table)
        assert len(listed) >= 25, name
        assert sum(any(word.isascii() for word in words) for words in listed) >= 25, name
        if name not in LATIN_NAMES:
            assert sum(any(not word.isascii() for word in words) for words in listed) >= 25, name
        called = [word.strip() for word in table["names"].split(",")]
        assert any(word.isascii() for word in called) and any(not word.isascii() for word in called), name


def test_the_files_hold_what_they_seem_to_hold() -> None:
    for name, table in tables().items():
        assert set(table) <= {"names", "asked", "members", "includes"}
        assert set(table.get("includes", ())) <= tables().keys() - {name}
        lines = table["members"].strip().splitlines()
        assert all(line.rstrip().endswith(",") for line in lines[:-1]), f"{name}: a line lacks its comma"
        words = [word for spelt in members(table) for word in dict.fromkeys(spelt)]
        for word in words:
            assert 1 <= len(word) <= 30, (name, word)
            assert word.isascii() or re.search("[\u3400-\u9fff]", word), (
                f"{name}: {word} has accents, which folding removes"
            )
        numbers = [tuple(sorted(spelt)) for spelt in members(table)]
        assert len(numbers) == len(set(numbers)), f"{name}: a member stands twice"


def test_a_member_has_each_of_its_spellings() -> None:
    assert word_lists.spellings("珍珠奶茶 珍奶 bubble tea/boba") == ("珍珠奶茶", "珍奶", "bubble tea", "boba")
    assert word_lists.spellings("iPhone 蘋果手機") == ("iPhone", "蘋果手機")
    assert word_lists.spellings("black tea/iced tea") == ("black tea", "iced tea")
    assert word_lists.spellings("T恤 t-shirt/tee") == ("T恤", "t-shirt", "tee")


PAIRS = [
    ("我喜欢咖啡", "我喜欢什么饮料"),
    ("週末都在拉小提琴", "我會什麼樂器"),
    ("家裡有一隻柯基", "我養什麼寵物"),
    ("I go bouldering on Tuesdays", "what sport do I do"),
    ("我騎摩托車上班", "我的交通工具是什麼"),
    ("Everything I own is navy blue", "我喜歡什麼顏色"),
    ("做了十年的護士", "what is my job"),
    ("迷上了克苏鲁桌游和狼人杀", "我玩什么游戏"),
    ("I'm a sucker for peonies", "我喜歡哪種花"),
    ("去年夏天搬到曼谷", "which city do I live in"),
]


@pytest.mark.parametrize(("memory", "question"), PAIRS)
def test_what_is_asked_for_counts_more_than_the_words_around_it(memory: str, question: str) -> None:
    """E10: the answer shares no word with the question, and comes before memories that words favour as much as can be,
    if only they do not hold what is asked for."""
    asked = categories.expand(question)
    others = [f"我喜歡{thing}" for thing in ("安靜", "早點睡", "慢慢來", "把話講清楚", "準時", "下午的空檔", "簡單")]
    assert max(asked.score(1.0, other) for other in others) < asked.score(0.0, memory)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("我喝茶", {"tea", "drink"}),
        ("茶水間沒人", set()),
        ("我馬上到", set()),
        ("我喜歡騎馬", {"sport"}),
        ("晚上海邊很冷", {"weekday", "place"}),
        ("我住上海", {"city"}),
        ("水平不錯，薪水普通", set()),
        ("小狗很可愛", {"dog", "pet", "animal"}),
        ("Ｔ恤都是黑色", {"clothing", "colour"}),
        ("計程車", {"vehicle"}),
        ("出租车", {"vehicle"}),
        ("Two beagles and a CAT", {"dog", "cat", "pet", "animal"}),
        ("I am training hard", set()),
        ("I take the train", {"vehicle"}),
        ("May I go? We march on.", set()),
        ("born in May", {"month"}),
        ("用LINE聯絡", {"social_app"}),
        ("in one line", set()),
        ("fresh mangoes and cherries", {"fruit", "food"}),
        ("old movies, brownies", {"film", "dessert", "food"}),
        ("a short ring at the glass door", set()),
        ("grey shorts", {"clothing", "colour"}),
        ("C++ and C# at work", {"programming_language"}),
        ("11月去", {"month"}),
        ("111月", set()),
        ("Valentine’s Day", {"holiday"}),
        ("", set()),
    ],
)
def test_words_are_read_as_a_person_reads_them(text: str, held: set[str]) -> None:
    assert set(categories.categories_of(text)) == held


def test_a_thing_is_found_in_its_other_spellings_and_its_kind_counts_less() -> None:
    asked = categories.expand("Do I like boba?")
    assert asked.categories == ()
    assert asked.fit("每天一杯珍奶") == 1.0
    assert asked.fit("我只喝拿鐵") == categories.KINDRED_FIT
    assert asked.fit("我住台北") == 0.0


def test_the_more_of_a_question_a_memory_holds_the_better_it_fits() -> None:
    asked = categories.expand("我喜歡什麼顏色的花")
    assert set(asked.categories) == {"colour", "flower"}
    assert asked.fit("最愛白色的百合") == 1.0
    assert asked.fit("最愛百合") == asked.fit("衣服都是白色的") == 0.5


def test_a_verb_before_a_question_word_asks_whatever_stands_before_it() -> None:
    assert "food" in categories.expand("我中午吃什麼").categories
    assert "food" not in categories.expand("這很吃力").categories


def test_a_verb_asks_for_less_than_a_name() -> None:
    named, verb = categories.expand("我的飲料"), categories.expand("我都喝什麼")
    assert named.fit("拿鐵") == 1.0
    assert verb.fit("拿鐵") == categories.ASKED_WEIGHT
    assert 0 < verb.fit("我都喝可爾必思") < verb.fit("拿鐵")  # a drink that no list knows


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("我喜歡什麼飲料", "饮料"),
        ("what is my favourite colour?", "colour?"),
        ("我最近在讀誰的小說", "在读谁的小说"),
        ("我有 laptop 嗎", "laptop"),
        ("我喜歡什麼", "我喜歡什麼"),  # nothing else is left
        ("do I like it", "do I like it"),
    ],
)
def test_the_content_is_the_question_without_its_wrapping(question: str, content: str) -> None:
    assert categories.expand(question).content == content


def test_a_question_without_a_listed_word_asks_for_nothing() -> None:
    asked = categories.expand("terraform state 放哪個 bucket")
    assert categories.expand("qwertz").score(0.4, "拿鐵") == 0.4
    assert "drink" not in asked.categories
    assert categories.expand("").wishes == ()


def test_the_words_to_look_for_are_bounded_and_the_usual_ones_first() -> None:
    asked = categories.expand(
        "我吃什麼、做什麼工作、去哪個城市、養什麼動物、用什麼工具、聽什麼音樂、住哪個國家、喝什麼飲料"
    )
    assert len(asked.members) == len(set(asked.members)) == categories.MAX_MEMBERS
    drinks = categories.expand("飲料").members
    assert {"咖啡", "coffee", "普洱", "beer"} <= set(drinks)


@pytest.mark.parametrize("name", sorted(tables()))
def test_every_thing_of_a_category_is_looked_for(name: str) -> None:
    """pizza is a food as rice is, wherever it stands in the list."""
    asked = categories.expand(f"what {tables()[name]['names'].split(',')[0].strip()} do I like")
    looked_for = set(asked.members)
    for words in members(tables()[name]) if name in asked.categories else ():
        assert looked_for.issuperset(map(fold, words)), words[0]


SENSES = {
    "茶": "tea",
    "喝": "drink",
    "馬": "horse",
    "上海": "city",
    "狗": "pet",
    "1月": "month",
    "tea": "tea",
    "c": "letter",
}
VOCABULARY = Vocabulary(
    {tokens.fold(word): [Sense("member", name)] for word, name in SENSES.items()}, word_lists.ordinary_words()
)


@given(st.text(max_size=80) | st.text("喝茶馬上海狗我的a i'C+#1月、。s", max_size=40))
def test_any_text_is_read(text: str) -> None:
    folded = tokens.fold(text)
    found = VOCABULARY.read(text)
    assert found == sorted(found)
    assert all(folded[each.start : each.end] == each.word and each.senses for each in found)
    asked = categories.expand(text)
    assert 0 <= asked.fit(text) == asked.fit(categories.meanings_of(text)) <= 1


def test_reading_is_in_proportion_and_a_text_is_read_up_to_a_limit() -> None:
    pace.assert_in_proportion(lambda size: VOCABULARY.read(pace.repeated("我喜歡喝馬a tea ", size)), 4_000)
    pace.assert_at_most(20, lambda: VOCABULARY.read(pace.repeated("大C", 1_000_000)))
    assert "drink" not in categories.categories_of("x" * MAX_TEXT_CHARS + " coffee")


def test_loading_and_asking_are_quick() -> None:
    """The fixed work is about a hundredth of a second: a cold load takes two and a half, a question a thirtieth; the
    bounds leave room for what else the process does the first time."""
    ordinary = tomllib.loads((FOLDER / "ordinary.toml").read_text(encoding="utf-8"))
    pace.assert_at_most(20, lambda: categories.Categories(tables(), ordinary))
    categories.expand("我平常喝什麼飲料")
    pace.assert_at_most(5, lambda: categories.expand("我平常喝什麼飲料").fit("我喜歡嗑鹽酥雞配啤酒，週末跟朋友看球"))


# -- a person's own words


OWN = """
[categories.drink]
members = "可爾必思 Calpis"
[categories.board_game]
names = "桌遊, board game"
members = "璀璨寶石 Splendor"
"""


def test_a_person_adds_words_and_categories(tmp_path: Path) -> None:
    (tmp_path / "vault-memory.toml").write_text(f"format = 1\n{OWN}", encoding="utf-8")
    own = Config.load(tmp_path / "vault-memory.toml", {}).categories
    asked = categories.expand("我喜歡什麼飲料", own)
    assert asked.fit("CALPIS every day") == asked.fit("都喝可尔必思") == asked.fit("拿鐵") == 1.0
    assert categories.expand("which board game do I like", own).fit("昨晚玩璀璨宝石") > 0.4
    assert categories.categories_of("可爾必思", own) == {"drink": ("可尔必思",)}
    assert categories.categories_of("可爾必思") == {}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("[categories]\ndrink = 'cola'", r"categories of 'drink' must be a table of texts"),
        ("[categories.drink]\nmembers = ['cola']", r"categories of 'drink' must be a table of texts"),
        ("[categories.drink]\nmember = 'cola'", r"categories of 'drink' has names, asked, members, not 'member'"),
        ("[categories.drink]\nincludes = 'tea'", r"has names, asked, members, not 'includes'"),
        ("[categories.rune]\nmembers = 'opal'", r"'rune' is new and needs names and members; the shipped ones are acc"),
        ("[categories.rune]\nmembers = ' ,'\nnames = 'gem'", r"'rune' is new and needs names and members"),
        (f"[categories.drink]\nmembers = '{'x' * 61}'", r"has a word of 61 characters; 60 are the most"),
        (f"[categories.drink]\nmembers = '{'a, ' * 3_000}'", r"has 6,000 words; 5,000 are the most"),
        (
            "\n".join(f"[categories.c{n}]\nnames = 'a'\nmembers = 'b'" for n in range(101)),
            r"has 101 categories; 100 are the most",
        ),
    ],
)
def test_wrong_words_are_named(tmp_path: Path, settings: str, problem: str) -> None:
    (tmp_path / "vault-memory.toml").write_text(f"format = 1\n{settings}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=problem):
        Config.load(tmp_path / "vault-memory.toml", {})


@pytest.mark.parametrize(
    ("question", "own", "others"),
    [
        ("What car do I drive?", "I drive a Subaru", "My boss drives a Porsche"),
        ("我養什麼寵物", "我家有一隻柯基", "客戶養了一隻鸚鵡在櫃檯"),
        ("What exercise do I do?", "I run along the river", "Tests run on every push"),
        ("我喜歡什麼音樂", "我太太跟我都聽爵士樂", "主管喜歡聽歌劇"),
    ],
)
def test_a_question_about_oneself_prefers_what_speaks_of_oneself(question: str, own: str, others: str) -> None:
    asked = categories.expand(question)
    assert asked.is_of_person and asked.score(0.3, own) > asked.score(0.3, others)
    about = categories.expand("What does my boss drive?")
    assert about.score(0.3, "My boss drives a Porsche") >= about.score(0.3, "I drive a Porsche")


def test_own_asks_for_no_thing() -> None:
    asked = categories.expand("Which pet do I own?")
    assert "own" not in asked.content
    assert asked.score(0.0, "We adopted a beagle") > asked.score(0.2, "I own the rota this quarter")


def test_a_name_that_a_longer_word_begins_with_is_not_that() -> None:
    """E10: 運動中心 is a place, and 飲料店 a shop."""
    asked = categories.expand("我喜歡什麼運動")
    assert asked.score(0.9, "我喜歡去運動中心") < asked.score(0.0, "我喜歡打羽球")
    assert asked.fit("我每天運動") > asked.fit("我喜歡去運動中心") == 0


def test_what_is_in_no_list_may_be_of_any_category() -> None:
    asked = categories.expand("我喜歡什麼蔬菜")
    assert asked.may_hold("我喜歡莴笋") and asked.may_hold("I like Zorbo")
    for known in ("我喜歡咖啡", "我喜歡去運動中心", "我喜歡音樂", "我姊姊喜歡莴笋"):
        assert not asked.may_hold(known), known
    assert not categories.expand("我喜歡莴笋嗎").may_hold("I like Zorbo")


@pytest.mark.parametrize(
    ("question", "memory", "category"),
    [
        ("What cheese do I like", "I like brie", "cheese"),
        ("我喜歡什麼起司", "我最愛卡門貝爾", "cheese"),
        ("Which wood do I like", "I love teak", "wood"),
        ("我喜歡哪種木頭", "我喜歡黑胡桃", "wood"),
        ("What gem do I like", "I love opals", "gem"),
        ("我喜歡什麼寶石", "我喜歡月光石", "gem"),
    ],
)
def test_one_of_a_kind_is_found_among_fifty_others(question: str, memory: str, category: str) -> None:
    asked = categories.expand(question)
    assert category in asked.categories
    others = [f"I like {name}" for name in LIKED.split(", ")]
    assert len(others) == 50
    assert all(asked.score(0.3, memory) > asked.score(0.3, other) for other in others)


LIKED = (
    "tea, coffee, jazz, chess, rowing, blue, red, cats, dogs, corgis, roses, lilies, Berlin, Lisbon, Rust, Vim, tofu, "
    "ramen, sushi, pizza, mango, apples, carrots, spinach, salmon, steak, honey, butter, yogurt, skating, sewing, "
    "painting, cellos, pianos, novels, poems, trains, bicycles, hats, scarves, sofas, lamps, hammers, spring, snow, "
    "Fridays, Christmas, goldfish, parrots, cactus"
)
