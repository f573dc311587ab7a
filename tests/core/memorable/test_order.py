"""What is put in front is heard as if it stood in its usual place (rows E4, B5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.memorable import compared, memorable, topics_of
from vault_memory.core.memorable.order import usual_order

FRONTED = {
    "芒果我超愛": "preference",
    "咖啡我很喜歡": "preference",
    "香菜我討厭": "preference",
    "啤酒我不喝": "preference",
    "貓我也養了兩隻": "fact",
    "我家住桃园": "fact",
    "我家在桃園": "fact",
    "My home is in Lyon": "fact",
    "Home is Lyon for me": "fact",
    "榴槤我真的受不了": "preference",
    "恐怖片我不敢看": "preference",
    "爵士樂我一直都很喜歡": "preference",
    "狗我養了三隻": "fact",
    "鋼琴我彈了十年": "fact",
    "日文我學了三年": "fact",
    "羊肉我不吃": "preference",
    "拿铁我每天都喝": "preference",
    "早起我最討厭": "preference",
    "老實說，苦瓜我很討厭": "preference",
    "電動車我開了五年": "fact",
    "奶茶我从来不喝": "preference",
    "Python我很喜歡": "preference",
    "K-pop 我超愛": "preference",
    "開會我最受不了": "preference",
    "網球我打了八年": "fact",
    "其實火鍋我超愛": "preference",
    "貓我超喜歡，幫我取個名字": "preference",
    "甜食我戒了": "decision",
    "咖啡我戒掉了": "decision",
    "我們家住台南": "fact",
    "我家就在高雄": "fact",
    "my home is in Kaohsiung": "fact",
    "Home for me is Porto": "fact",
    "臭豆腐我吃不慣": "preference",
    "吉他我自學了兩年": "fact",
    "辣的我都愛": "preference",
    "棒球我從小就愛看": "preference",
    "兔子我養過一隻": "fact",
    "牛奶我喝不慣": "preference",
}
NOTHING = """
    芒果你喜歡嗎
    咖啡他很喜歡
    這個我喜歡
    「芒果我超愛」他說
    他說芒果我超愛
    如果芒果我很愛
    香菜我討厭嗎
    這種我不喜歡
    第二個我比較喜歡
    剛剛那個我很喜歡
    你給的版本我很喜歡
    咖啡我妹很喜歡
    貓我朋友養了兩隻
    那首歌我很喜歡
    上面的我都喜歡
    這張我很喜歡
    芒果我媽超愛
    咖啡我今天不喝
    檔案我刪了
    程式我跑了三次
    錯誤我看不懂
    所以我喜歡
    最近我很喜歡
    昨天我喝了
    大家都知道我很愛
    信我寫好了
    老闆覺得我很愛
    作業我寫了三天
    為什麼芒果我不愛
    芒果我該買嗎
    假如咖啡我不喝
    報告我看了三次
    它我很喜歡
    那個我討厭
    哪個我會喜歡
    她我很喜歡
    資料我有
    這題我不會
    飯我吃了
    電影我看了，幫我寫心得
    老師說芒果我超愛的
"""


@pytest.mark.parametrize(("message", "kind"), FRONTED.items())
def test_what_is_put_in_front_is_a_memory_in_the_persons_words(message: str, kind: str) -> None:
    (only,) = memorable(message)
    assert only.kind == kind
    assert only.content in message


@pytest.mark.parametrize("message", [line.strip() for line in NOTHING.splitlines() if line.strip()])
def test_the_same_gates_hold_for_what_is_put_in_front(message: str) -> None:
    assert memorable(message) == []


@pytest.mark.parametrize(
    ("said", "usual"),
    [
        ("芒果我超爱的", "我超爱芒果"),
        ("猫我也养了两只", "我也养了两只猫"),
        ("把咖啡戒了", "我戒咖啡"),
        ("on weekends i row", "i row on weekends"),
        ("home is lyon for me", "my home is lyon"),
        ("最近我迷上咖啡", "最近我迷上咖啡"),
        ("所以我喜欢", "所以我喜欢"),
        ("过年我最讨厌", "我最讨厌过年"),
        ("i gave coffee up", "i gave up coffee"),
        ("i traded the volvo in for a fiat", "i traded in the volvo for a fiat"),
        ("i picked the kids up at noon", "i picked the kids up at noon"),
        ("i took part in the run", "i took part in the run"),
    ],
)
def test_the_usual_order(said: str, usual: str) -> None:
    assert usual_order(said) == usual
    assert usual_order(usual) == usual


@pytest.mark.parametrize(
    ("fronted", "plain"), [("芒果我超愛", "我超愛芒果"), ("香菜我討厭", "我很討厭香菜"), ("貓我養了", "我養貓")]
)
def test_it_is_the_same_memory_in_either_order(fronted: str, plain: str) -> None:
    assert compared(fronted, plain) == compared(plain, fronted) == "same"
    assert set(topics_of(fronted)) & set(topics_of(plain)), "an index finds it"


@given(st.text(st.sampled_from("我你芒果猫超爱不喝养了两只的最近说 a,把戒"), max_size=24))
def test_no_word_is_added_or_lost_but_what_says_nothing(text: str) -> None:
    ordered = usual_order(text)
    assert set(ordered) <= {*text, "我"}
    assert len(ordered) <= len(text) + 1


def test_time_is_in_proportion_to_the_message() -> None:
    assert_in_proportion(lambda size: memorable("芒果我每天都爱喝" * (size // 8)), 8_000)
