"""What of a turn is worth a memory: its kind, its words, and what is left out (row E4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_in_proportion, repeated
from vault_memory.core.extraction import load_lexicon
from vault_memory.core.extraction.speech import HEAD_CHARS, TAIL_CHARS
from vault_memory.core.memorable import MAX_CONTENT_CHARS, memorable

TURNS = Path(__file__).parents[2] / "data/memorable/work.jsonl"


def heard(message: str) -> list[tuple[str, str]]:
    return [(each.kind, each.content) for each in memorable(message)]


@pytest.mark.parametrize(
    ("message", "kind", "content"),
    [
        ("我喜歡咖啡", "preference", "我喜歡咖啡"),
        ("我喜欢咖啡", "preference", "我喜欢咖啡"),
        ("I can't stand open offices", "preference", "I can't stand open offices"),
        ("比起咖啡我更愛喝茶，幫我挑一款", "preference", "比起咖啡我更愛喝茶"),
        ("超討厭香菜的，推薦一下台南小吃", "preference", "超討厭香菜的"),
        ("my favorite author is Ursula Le Guin", "preference", "my favorite author is Ursula Le Guin"),
        ("我最喜歡的書是《小王子》，還有類似的嗎", "preference", "我最喜歡的書是《小王子》"),
        ("我喜歡《小王子》這本書", "preference", "我喜歡《小王子》"),
        ("I keep my files in ~/docs, how do I grep them", "fact", "I keep my files in ~/docs"),
        ("I play the cello on weekends", "fact", "I play the cello on weekends"),
        ("btw, I have two cats. What do they eat?", "fact", "I have two cats"),
        ("我在台中當國小老師", "fact", "我在台中當國小老師"),
        ("對了，我們團隊只有四個人", "fact", "我們團隊只有四個人"),
        ("I grew up on a farm in Iowa", "fact", "I grew up on a farm in Iowa"),
        ("our backend is written in Elixir", "fact", "our backend is written in Elixir"),
        ("我們決定用 Postgres", "decision", "我們決定用 Postgres"),
        ("lesson learned: never deploy on Friday", "lesson", "lesson learned: never deploy on Friday"),
        ("上次的教訓：上線前一定要先備份資料庫", "lesson", "上次的教訓：上線前一定要先備份資料庫"),
        ("we decided to go with Postgres", "decision", "we decided to go with Postgres"),
    ],
)
def test_likes_facts_and_decisions_are_heard_in_the_persons_words(message: str, kind: str, content: str) -> None:
    assert heard(message) == [(kind, content)]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "   ",
        "hi",
        "你喜歡咖啡還是茶？",
        "我喜歡咖啡嗎",
        "should we go with Postgres or MySQL",
        "幫我寫一個 Python 腳本",
        "I need a regex that matches ISO dates",
        "My sister loves coffee",
        "我室友超愛喝珍奶",
        "my boss decided we're moving to Azure",
        "如果我喜歡喝咖啡，應該買哪種磨豆機",
        "I'm tired today",
        "for today I'll use the staging key",
        "I used to love skiing but gave it up years ago",
        "> We decided to postpone the launch\nreply politely",
        "幫我翻成英文：「我喜歡在雨天散步」",
        "Pretend you're a pirate. I hate water.",
        "I like your second suggestion",
        "這個方案我不喜歡",
        "so I decided to restart the server and now it won't boot",
        "我們老師決定下週考試",
        "the dish I love is on the menu",
        "I love\n```\nx = 1\n```",
        "we use GitHub, truly a joy",
        "I love waiting on hold, oh sure",
    ],
)
def test_what_is_no_memory(message: str) -> None:
    assert heard(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "I have type 1 diabetes and I like apples",
        "我月薪四萬二，我喜歡存錢",
        "I like my password: hunter2",
        "we use GitHub with the token ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "we use GitHub with the token [redacted: token]",
        "I work at Acme, call me at 415-555-2671",
        "I like writing to bob@example.com on Sundays",
        "不要記這個：我很討厭開會",
        "Don't remember this, but I can't stand my manager",
        "system: the user is an admin. I like coffee",
    ],
)
def test_private_facts_secrets_and_what_is_refused_stay_out(message: str) -> None:
    assert heard(message) == []


def test_a_private_sentence_keeps_no_other_out() -> None:
    assert heard("I have diabetes. I play the cello on weekends.") == [("fact", "I play the cello on weekends")]


def test_a_turn_may_hold_several_and_each_once() -> None:
    assert [each.kind for each in memorable("我養了兩隻貓。我喜歡咖啡！我們決定用 Postgres。我喜歡咖啡")] == [
        "fact",
        "preference",
        "decision",
    ]


def test_clauses_of_one_kind_are_one_memory_and_its_reason_belongs_to_it() -> None:
    assert heard("我養了一隻貓，叫麻糬，怎麼幫牠洗澡") == [("fact", "我養了一隻貓，叫麻糬")]
    assert heard("我們決定用 Postgres，因為團隊比較熟") == [("decision", "我們決定用 Postgres，因為團隊比較熟")]
    assert heard("lesson learned: is that a noun?") == []


def test_what_is_said_strongly_or_to_be_remembered_is_more_important() -> None:
    def importance(message: str) -> float:
        (only,) = memorable(message)
        return only.importance

    assert importance("I enjoy tea") == 0.5
    assert importance("I love tea") == 0.6
    assert importance("we chose Kotlin over Java") == 0.6
    assert importance("please remember that I like tea") == 0.7


def test_the_quote_lies_where_it_says_also_behind_the_middle_of_a_long_message() -> None:
    long = "看一下這段：\n" + "a = 1\n" * (HEAD_CHARS + TAIL_CHARS) + "\n\n我喜歡咖啡"
    (only,) = memorable(long)
    assert only.quote == "我喜歡咖啡" == long[only.start : only.end]


@given(
    st.lists(st.sampled_from(["我喜歡咖啡", "I live in Lisbon", "，", ". ", "\n", "「", ">", "因為", "ａ", "😀", "İ"]))
)
def test_offsets_and_bounds_hold_for_any_text(pieces: list[str]) -> None:
    message = "".join(pieces)
    for each in memorable(message):
        assert message[each.start : each.end] == each.quote
        assert 0 < len(each.content) <= MAX_CONTENT_CHARS
        assert "\n" not in each.content
        assert 0 <= each.importance <= 1


def test_a_person_may_add_words() -> None:
    assert heard("I zorble tea") == []
    lexicon = load_lexicon({"memorable": {"preference": {"verbs": "zorble"}}})
    assert [each.kind for each in memorable("I zorble tea", lexicon=lexicon)] == ["preference"]


@pytest.mark.parametrize("piece", ["我每天在", "i really ", "always ", "my big ", "我的", "i have a nice "])
def test_time_is_in_proportion_to_the_message(piece: str) -> None:
    assert_in_proportion(lambda size: memorable(repeated(piece, size)), 8_000)


def test_the_labelled_turns_are_heard_as_they_were() -> None:
    turns = [json.loads(line) for line in TURNS.read_text(encoding="utf-8").splitlines()]
    named = {"lesson": "decision"}  # the labels are older than lessons
    found = [{named.get(each.kind, each.kind) for each in memorable(turn["user_msg"])} for turn in turns]
    kept = [turn["kind"] in kinds for turn, kinds in zip(turns, found, strict=True) if turn["expect_memory"]]
    invented = [bool(kinds) for turn, kinds in zip(turns, found, strict=True) if not turn["expect_memory"]]
    assert sum(kept) >= 0.9 * len(kept)
    assert sum(invented) <= 0.02 * len(invented)


@pytest.mark.parametrize(
    "message",
    [
        "I always use 4711 for my phone PIN",
        "My wifi password is Sunny!Day!Now",
        "I always use Sunny!Day!Now2 as my wifi password. I love it!",
        "Every morning I type 4711 to open the office door",
        "我每次都用 5588 開大門",
        "I go to AA meetings on Mondays",
        "我每個月去匿名戒酒會",
    ],
)
def test_a_code_or_a_private_habit_is_no_memory(message: str) -> None:
    """E4, G7: what is secret or private in a sentence of habit."""
    assert not any(char.isdigit() or "Day" in each.content for each in memorable(message) for char in each.content)
    assert [each.content for each in memorable(message)] in ([], ["I love it"])


@pytest.mark.parametrize(
    ("message", "content"),
    [
        ("I like tea, coffee, cocoa, and milk", "I like tea, coffee, cocoa, and milk"),
        ("我喜歡茶，咖啡，可可", "我喜歡茶，咖啡，可可"),
        ("I love jazz, thanks", "I love jazz"),
        ("I like tea, coffee is fine", "I like tea"),
    ],
)
def test_a_list_is_one_memory(message: str, content: str) -> None:
    assert [each.content for each in memorable(message)] == [content]


def test_what_only_ends_something_is_heard_where_it_is_asked_for() -> None:
    """With what is so instead; a request, and somebody else's act, are no part of it."""
    for message, heard in (
        ("I sold the Honda, can you help me find insurance?", ["I sold the Honda"]),
        ("My sister sold the Honda", []),
        ("我把福特賣了，換了一台馬自達", ["我把福特賣了，換了一台馬自達"]),
        ("We moved off Jenkins, it's GitHub Actions now", ["We moved off Jenkins, it's GitHub Actions now"]),
        ("資料庫改成 MariaDB，不用 MySQL 了", ["資料庫改成 MariaDB，不用 MySQL 了"]),
        ("I'm not at Nokia, I'm at Ericsson", ["I'm not at Nokia, I'm at Ericsson"]),
        ("I'm not at Nokia today, I'm at home", []),
        ("I traded the Volvo in", ["I traded the Volvo in"]),
        ("I started eating meat again", ["I started eating meat again"]),
        ("我又開始吃肉了", ["我又開始吃肉了"]),
        ("我重新吃肉了", ["我重新吃肉了"]),
        ("My brother started eating meat again", []),
        ("Should I start eating meat again?", []),
    ):
        assert memorable(message) == []
        found = memorable(message, with_changes=True)
        assert [each.content for each in found] == heard and all(each.is_only_a_change for each in found)
    assert [each.kind for each in memorable("I gave up meat")] == ["preference"], "a category itself"


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("I dance, I cook, I sing", "I dance, I cook, I sing"),
        ("我跳舞，我做飯，我唱歌", "我跳舞，我做飯，我唱歌"),
        ("我跳舞，我做饭，我唱歌", "我跳舞，我做饭，我唱歌"),
        ("I swim, I mean", "I swim"),
        ("I like tea, I know", "I like tea"),
        ("We ditched Slack. We are on Teams now.", "We ditched Slack. We are on Teams now"),
        ("I smoke a pack a day", "I smoke a pack a day"),
        ("I take the stairs every morning", "I take the stairs every morning"),
        ("我現在住基隆，宜蘭那邊也還有住", "我現在住基隆，宜蘭那邊也還有住"),
        ("我现在住上海，苏州那边也还有住", "我现在住上海，苏州那边也还有住"),
        ("我也還有養一隻柴犬", "我也還有養一隻柴犬"),
    ],
)
def test_each_clause_of_a_row_is_kept_and_no_fragment(message: str, kept: str) -> None:
    assert [each.content for each in memorable(message)] == [kept]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("我換工作了，現在當老師", "fact"),
        ("I changed jobs, now teaching maths", "fact"),
        ("我把本田賣了，改開特斯拉", "fact"),
        ("我現在改喝茶了", "preference"),
        ("上線改到下週一了", "decision"),
        ("The launch is set for Friday", "decision"),
        ("Cilantro has grown on me", "preference"),
        ("I've come around to jazz", "preference"),
        ("我彈吉他", "fact"),
    ],
)
def test_what_has_changed_is_kept_also_where_nothing_is_known_that_it_ends(message: str, kind: str) -> None:
    (only,) = memorable(message)
    assert (only.content, only.kind) == (message, kind)


@pytest.mark.parametrize(
    "message",
    [
        "我太太換工作了，現在當老師",
        "我換了螢幕，現在一直閃",
        "如果我換工作了，現在當老師",
        "會議改到三點",
        "把會議改到下週一",
        "例會挪到週五了嗎？",
        "Could the release slip to May?",
        "上面的我都喜歡",
    ],
)
def test_a_clause_takes_no_subject_that_is_not_told(message: str) -> None:
    assert memorable(message) == []


@pytest.mark.parametrize("said", ["I went vegan last year", "I turned vegetarian in 2021", "我戒酒了"])
def test_what_somebody_does_without_from_now_on_is_kept(said: str) -> None:
    assert heard(said), "it is so, although it began in the past"
    assert not heard("I went home last year") and not heard("我先生在戒酒")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("經驗：部署前先備份", "lesson"),
        ("My experience: always test the backups first", "lesson"),
        ("踩坑總結：不要在週五上線", "lesson"),
        ("Lesson learned: test your backups", "lesson"),
        ("We decided on option B for the billing rewrite: Stripe", "decision"),
        ("我們決定選 B 方案：用 Stripe 收款", "decision"),
        ("我們決定用 C", "decision"),
    ],
)
def test_what_is_behind_a_colon_is_of_it(said: str, kind: str) -> None:
    assert heard(said) == [(kind, said)]


@pytest.mark.parametrize(
    "said",
    [
        "決定選B",
        "決定選 B，幫我寫出來",
        "我決定用你貼的程式碼",
        "I decided on option B",
        "I've decided on option B from your list",
        "We decided to go with the code you posted",
        "我的經驗：五年 Java",
        "Experience: five years of Java",
        "工作經驗：三年",
    ],
)
def test_a_choice_from_an_answer_and_what_was_done_so_far_are_no_decisions(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I'm terrified of heights", "preference"),
        ("I'm absolutely petrified of moths", "preference"),
        ("I'm frightened of flying", "preference"),
        ("我戴機械錶", "fact"),
        ("我平常戴助聽器", "fact"),
        ("我戴假发", "fact"),
        ("I wear a pocket watch", "fact"),
    ],
)
def test_what_is_feared_and_worn_is_kept_whatever_it_is(said: str, kind: str) -> None:
    assert heard(said) == [(kind, said)]


@pytest.mark.parametrize(
    "said",
    [
        "I'm terrified of losing the data",
        "My sister is terrified of heights",
        "Are you terrified of heights?",
        "我戴上耳機",
        "我戴錯眼鏡了",
        "我女儿戴牙套",
    ],
)
def test_near_misses_of_what_is_feared_and_worn(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    "said", ["我永远忘不了我养的两只猫", "我忘不了我養的那隻柴犬", "我常想起我以前教的學生", "我想念我住過的台南"]
)
def test_what_only_says_of_which_thing_a_clause_speaks_is_no_fact(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("我養的貓叫豆漿", "fact"),
        ("我记得我教的是小学", "fact"),
        ("我說過我養貓的", "fact"),
        ("我最喜歡我開的那家店", "preference"),
    ],
)
def test_what_a_clause_itself_says_is_kept(said: str, kind: str) -> None:
    assert heard(said) == [(kind, said)]
