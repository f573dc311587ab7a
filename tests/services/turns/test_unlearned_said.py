"""What a turn asks to forget teaches the profile nothing, and what was learned from that alone goes."""

from __future__ import annotations

import pytest

from tests.services.test_person_edits import read
from vault_memory.core import layout
from vault_memory.services.forgetting import prepare_forgetting
from vault_memory.services.memories import list_memories
from vault_memory.services.turns.record import Recorded, record_turn
from vault_memory.services.vault import Vault


def said(vault: Vault, *messages: str) -> Recorded:
    """The last of these turns."""
    return [record_turn(vault, "alice", message) for message in messages][-1]


def changes(recorded: Recorded) -> list[str]:
    return [each.summary() for each in recorded.changes]


@pytest.mark.parametrize(
    "request_to_forget",
    [
        "Forget that my name is Bob",
        "忘記我偏好深色主題",
        "Forget that I prefer short answers",
        "不要再記我喜歡簡短的回答",
        "忘記我在用 Docker",
        "把我住在台南這件事忘掉",
        "忘記我叫小美",
        "忘記我是初學者",
        "忘記叫我小美這件事",
        "Forget that I use Docker, Python and Redis",
        "我在用 Docker，這件事忘掉吧",
        "別再記得我說的話",
    ],
)
def test_nothing_is_learned_from_what_is_to_be_forgotten(vault: Vault, request_to_forget: str) -> None:
    recorded = said(vault, "My name is Robert", request_to_forget)
    assert (changes(recorded), recorded.suggestions, recorded.memories) == ([], (), ())
    assert recorded.not_forgotten, "it is answered"
    feedback = read(vault, layout.user_dir("alice") / layout.FEEDBACK)
    assert feedback.count("\n") == 1 and "Robert" in feedback


@pytest.mark.parametrize(
    ("message", "learned"),
    [
        ("Forget that I use Docker. I prefer short answers.", ["response_style = concise"]),
        ("忘記我喜歡簡短的回答，改成詳細一點", ["response_style = detailed"]),
        ("请忘了我在用 Docker，我现在用 Podman", ["tools += Podman"]),
        ("Don't forget that my name is Bob", ["display_name = Bob"]),
        ("別忘了我在用 Docker", ["tools += Docker"]),
    ],
)
def test_what_else_the_message_says_is_learned(vault: Vault, message: str, learned: list[str]) -> None:
    assert changes(said(vault, message)) == learned


@pytest.mark.parametrize(
    ("told", "message", "stays"),
    [
        ("I live in Leeds", "Forget that I live in Leeds, I live in York now", "I live in York now"),
        ("I live in Leeds", "I moved to York, so forget that I live in Leeds", "I moved to York"),
        ("I live in Leeds", "Forget that I live in Leeds. I live in York now", "I live in York now"),
        ("我在台積電上班", "別再記得我在台積電上班，我離職了，現在在聯發科", "我離職了，現在在聯發科"),
        ("我養狗", "忘掉我養狗的事，我現在養的是貓", "我現在養的是貓"),
        ("我喜歡壽司", "忘掉我喜歡壽司，我現在喜歡拉麵", "我現在喜歡拉麵"),
        ("I live in Leeds", "Forget where I live, I live in York now", "I live in York now"),
        ("我住台北", "忘記我住哪裡，我現在住高雄", "我現在住高雄"),
    ],
)
def test_what_else_it_says_is_a_memory_that_takes_the_place_of_nothing(
    vault: Vault, told: str, message: str, stays: str
) -> None:
    kept = {each.became: each for each in said(vault, told, message).memories}
    assert (kept["remembered"].content, kept["forgotten"].content) == (stays, told)
    (left,) = list_memories(vault, "alice")
    assert (left.memory.content, left.memory.supersedes) == (stays, None), "what it would have ended is gone"


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("I drive a Mazda", "I sold the Mazda, so forget that I drive a Mazda"),
        ("我在台積電上班", "忘記我在台積電上班，我離職了"),
    ],
)
def test_that_what_is_forgotten_is_over_is_no_memory(vault: Vault, told: str, message: str) -> None:
    assert [each.became for each in said(vault, told, message).memories] == ["forgotten"]


@pytest.mark.parametrize(
    "message",
    [
        "我養狗，我住台北，都忘掉吧",
        "Forget that I like tea, that I work at Nokia, and that I live in Leeds",
        "Forget that I live in Leeds, have a dog, and I like tea",
        "I live in York now. Forget where I live.",
    ],
)
def test_what_may_be_meant_by_a_request_is_no_memory(vault: Vault, message: str) -> None:
    assert not any(each.became == "remembered" for each in said(vault, message).memories)


@pytest.mark.parametrize(
    ("told", "request_to_forget"),
    [
        ("我養了一隻狗叫麻糬", "把我的狗忘掉"),
        ("我養了一隻狗叫麻糬", "忘記我的狗"),
        ("我有一輛車", "忘記我的車"),
        ("我住在台南", "別再記得我住哪裡"),
        ("我住在台南", "忘記我住在哪裡"),
        ("我在台積電上班", "忘記我在哪裡上班"),
        ("I have a corgi named Biscuit", "forget that I have a dog"),
        ("我每天抽一包菸", "你不用記得我抽菸"),
        ("我每個禮拜去健身房三次", "麻煩把我上健身房的事從記憶裡刪掉"),
        ("I moved from Google to Meta", "forget where I work"),
        ("我在學跳舞", "我剛剛說我在學跳舞，你別記下來"),
        ("I speak Welsh", "no need to keep a record of me speaking Welsh"),
    ],
)
def test_what_is_named_by_a_word_or_a_question_goes_or_is_told(vault: Vault, told: str, request_to_forget: str) -> None:
    assert [each.became for each in said(vault, told, request_to_forget).memories] == ["forgotten"]
    assert "nothing found to forget" in said(vault, request_to_forget).not_forgotten[0]


@pytest.mark.parametrize(
    ("told", "request_to_forget"),
    [
        ("我喜歡吃熱狗", "忘記我的狗"),
        ("我在台積電上班", "忘記我住哪裡"),
        ("我住在台南", "忘記我在哪裡上班"),
        ("我住在台南", "忘記我住哪裡怎麼辦？"),
        ("我住在台南", "別忘了我住哪裡"),
        ("我住在台南", "我忘記我住哪裡了"),
        ("我養了一隻狗叫麻糬", "我忘記我的狗了"),
    ],
)
def test_nothing_else_goes(vault: Vault, told: str, request_to_forget: str) -> None:
    assert not any(each.became == "forgotten" for each in said(vault, told, request_to_forget).memories)


@pytest.mark.parametrize(
    ("told", "request_to_forget", "gone"),
    [
        ("我喜歡用 Python", "忘記我喜歡用 Python", "languages -= Python"),
        ("我偏好深色主題", "忘記我偏好深色主題", "theme -= dark"),
        ("叫我小美", "忘記叫我小美這件事", "display_name -= 小美"),
        ("我叫小美", "忘記我叫小美", "display_name -= 小美"),
    ],
)
def test_a_value_goes_with_the_only_turn_that_says_it(
    vault: Vault, told: str, request_to_forget: str, gone: str
) -> None:
    recorded = said(vault, told, request_to_forget)
    assert (changes(recorded), recorded.not_forgotten) == ([gone], ())


@pytest.mark.parametrize(
    ("told", "request_to_forget", "gone"),
    [
        ("我平常都用 Figma 畫圖", "不要再記得我用 Figma", "tools -= Figma"),
        ("我習慣用 TypeScript", "忘了我用 TypeScript", "languages -= TypeScript"),
        ("I mostly use Figma for logos", "Don't remember that I use Figma", "tools -= Figma"),
        ("我們的前端用 React", "忘記我們用 React", "frameworks -= React"),
    ],
)
def test_what_one_uses_goes_with_how_and_for_what(vault: Vault, told: str, request_to_forget: str, gone: str) -> None:
    recorded = said(vault, told, request_to_forget)
    assert (changes(recorded), recorded.not_forgotten) == ([gone], ())
    assert list_memories(vault, "alice") == []


@pytest.mark.parametrize(
    ("told", "request_to_forget", "gone"),
    [
        ("I draw everything with Figma", "Don't remember that I use Figma", "tools -= Figma"),
        ("I write Python at work", "forget that I use Python", "languages -= Python"),
        ("我的編輯器是 Vim", "不要記得我用 Vim", "tools -= Vim"),
    ],
)
def test_a_value_that_is_stated_goes_in_whatever_words_it_was_learned(
    vault: Vault, told: str, request_to_forget: str, gone: str
) -> None:
    """The memory that says so all the same is named."""
    recorded = said(vault, told, request_to_forget)
    assert (changes(recorded), recorded.suggestions) == ([gone], ())
    left = [f"still said elsewhere: {file.memory.content}" for file in list_memories(vault, "alice")]
    assert [each.partition(" (")[0] for each in recorded.not_forgotten] == left


def test_what_follows_from_another_fact_is_not_stated(vault: Vault) -> None:
    recorded = said(vault, "我住在台北，時區設成 Asia/Taipei", "忘記我住在台中")
    assert changes(recorded) == [] and "nothing found to forget" in recorded.not_forgotten[0]


def test_a_value_that_another_turn_says_stays_and_is_told(vault: Vault) -> None:
    recorded = said(vault, "我偏好深色主題", "我真的比較喜歡深色主題", "忘記我偏好深色主題")
    assert changes(recorded) == []
    assert "theme = dark stays" in recorded.not_forgotten[0] and "pref unset" in recorded.not_forgotten[0]


@pytest.mark.parametrize(
    ("told", "request_to_forget", "texts"),
    [
        ("我喜歡芒果", "別再記得芒果", ("芒果",)),
        ("我喜歡芒果", "別再記得芒果了", ("芒果",)),
        ("我喜欢芒果", "别再记得芒果", ("芒果",)),
        ("I like mangos", "don't remember mangos any more", ("mangos",)),
        ("I live in Leeds", "forget about mangos", ("mangos",)),
        ("我住在台北，養了一隻貓叫咪咪。", "忘記我說過關於貓的事", ("貓",)),
        ("I live in Ripon near the canal", "forget where I live", ("where I live",)),
        ("I work as a beekeeper", "Forget what I said about my job", ("job",)),
        ("My bike is a red Brompton", "别再记得我的自行车", ("自行车",)),
        ("我喜歡喝茶", "別再記得我喝茶", ("我喝茶",)),
        ("我住在高雄左營", "請別再記得我住哪裡", ("我住哪裡",)),
        ("我養了一隻貓", "別再記得貓", ("貓",)),
        ("我養了一隻貓", "忘掉貓", ("貓",)),
        ("我住在台北", "忘記我說過關於貓的事", ("貓",)),
        ("我住在上海", "忘掉一切", ("一切",)),
        ("我住在上海", "请删除关于我的所有资料", ("请删除关于我的所有资料",)),
    ],
)
def test_what_is_to_be_forgotten_is_named_and_found_elsewhere_by_the_turn_that_asks(
    vault: Vault, told: str, request_to_forget: str, texts: tuple[str, ...]
) -> None:
    recorded = said(vault, told, request_to_forget)
    assert recorded.to_forget == texts
    found = prepare_forgetting(vault, "alice", asked=recorded.source)
    assert found.places
    if found.is_all:
        assert "deletes no more than it names" in recorded.not_forgotten[0]
