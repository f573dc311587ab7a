"""What a sentence in a conversation has asked to be forgotten goes by its turn: that turn, those in which it was said,
in whatever words, and nothing of what else is remembered."""

from __future__ import annotations

import pytest

from vault_memory.errors import NotFound, UsageError
from vault_memory.services.forgetting import Forgotten, forget, prepare_forgetting
from vault_memory.services.memories import memory_rows
from vault_memory.services.notes import turn_at
from vault_memory.services.profiles import list_preferences, set_preference
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import Recorded, record_turn
from vault_memory.services.vault import Vault


def said(vault: Vault, *messages: str) -> list[Recorded]:
    return [record_turn(vault, "alice", message, "ok") for message in messages]


def forgotten(vault: Vault, turn: Recorded) -> Forgotten:
    code = prepare_forgetting(vault, "alice", asked=turn.source).code
    return forget(vault, "alice", code, asked=turn.source)


def words_of_turns(vault: Vault, turns: list[Recorded]) -> list[str]:
    return [str(row["user_message"]) for turn in turns if (row := turn_at(vault, "alice", turn.source))]


@pytest.mark.parametrize(
    ("told", "request_to_forget", "other", "asks"),
    [
        (("I live in Ripon and keep a goat",), "forget that I keep a goat", "I like jazz", "goat"),
        (("我是園丁，養了兩隻鵝",), "忘了我養了兩隻鵝", "我喜歡爵士樂", "鵝"),
        (("I have two goats",), "Please forget that I have goats", "I like jazz", "goats"),
        (("我養了一隻貓",), "忘掉貓", "我喜歡爵士樂", "貓"),
        (("我養了一隻貓叫小花。", "我的貓怕打雷。", "今天看到一隻貓"), "忘記我說過關於貓的事", "我喜歡爵士樂", "貓"),
        (("今天看到一隻貓",), "忘記我說過關於貓的事", "我喜歡爵士樂", "貓"),
        (("I live in Ripon near the canal",), "forget where I live", "I like jazz", "Ripon"),
        (("我喜歡喝茶", "I like tea", "茶是我的最愛"), "forget that I like tea", "我喜歡爵士樂", "tea"),
        (("我一直用 Obsidian 寫日記",), "忘記我用什麼工具", "我喜歡爵士樂", "Obsidian"),
        (("I love tea and coffee",), "forget that I love coffee", "I like jazz", "coffee"),
    ],
)
def test_each_turn_that_said_it_goes_and_the_one_that_asks(
    vault: Vault, told: tuple[str, ...], request_to_forget: str, other: str, asks: str
) -> None:
    turns = said(vault, *told, other, request_to_forget)
    done = forgotten(vault, turns[-1])
    assert not done.problems and all(look.is_absent for look in done.looks)
    assert words_of_turns(vault, turns) == [other]
    assert asks not in " ".join(
        path.read_text() for path in vault.path("alice", ".").rglob("*.*") if path.suffix in (".md", ".jsonl")
    )
    found = search(vault, "alice", SearchQuery(asks)).hits
    assert not any(asks in str(hit) for hit in found)
    assert other.lstrip("我") in " ".join(row.title for row in memory_rows(vault, "alice"))


@pytest.mark.parametrize(
    ("told", "other", "request_to_forget"),
    [
        ("我喜歡茶", "我喜歡茶道", "忘了我喜歡茶"),
        ("I like tea", "I like tea ceremonies", "forget that I like tea"),
    ],
)
def test_a_memory_that_says_something_else_with_the_same_words_stays_with_its_turn_and_is_named(
    vault: Vault, told: str, other: str, request_to_forget: str
) -> None:
    turns = said(vault, told, other, request_to_forget)
    (stays,) = prepare_forgetting(vault, "alice", asked=turns[-1].source).stays
    assert turns[1].source in stays
    done = forgotten(vault, turns[-1])
    assert all(look.is_absent for look in done.looks) and any(turns[1].source in line for line in done.kept)
    assert words_of_turns(vault, turns) == [other] and [row.title for row in memory_rows(vault, "alice")] == [other]
    (log,) = vault.path("alice", "daily").iterdir()
    assert other in log.read_text() and request_to_forget not in log.read_text()


def test_what_shares_a_sentence_with_a_value_stays(vault: Vault) -> None:
    """A memory that cannot be taken apart stays with its turn, and is named; so do the other values."""
    told = ("I use Rust and Docker.", "I like tea.", "I use Vim and Docker every day.")
    turns = said(vault, *told, "forget that I use Docker")
    found = prepare_forgetting(vault, "alice", asked=turns[-1].source)
    left = {(each.key, each.value) for each in list_preferences(vault, "alice")}
    forgotten(vault, turns[-1])
    assert left == {(each.key, each.value) for each in list_preferences(vault, "alice")}
    profile = vault.path("alice", "USER.md").read_text()
    assert "Docker" not in profile and "Vim" in profile and "Rust" in profile
    titles = ["I like tea", "I use Rust and Docker", "I use Vim"]
    assert sorted(row.title for row in memory_rows(vault, "alice")) == titles
    assert words_of_turns(vault, turns) == [*told[:2]] and turns[0].source in found.stays[0]


@pytest.mark.parametrize(
    ("told", "others", "request_to_forget"),
    [
        ("I live in Leeds.", "My brother lives in Leeds.", "forget where I live"),
        ("我住在台南。", "我媽媽住在台南。", "忘記我住在哪裡"),
        ("我在银行上班。", "我女儿也在银行上班。", "忘记我在银行上班"),
    ],
)
def test_what_is_said_of_others_stays(vault: Vault, told: str, others: str, request_to_forget: str) -> None:
    turns = said(vault, told, others, request_to_forget)
    (stays,) = prepare_forgetting(vault, "alice", asked=turns[-1].source).stays
    assert turns[1].source in stays
    assert all(look.is_absent for look in forgotten(vault, turns[-1]).looks)
    assert words_of_turns(vault, turns) == [others]


def test_a_memory_that_says_it_in_other_words_stays_with_its_turn_and_is_named(vault: Vault) -> None:
    turns = said(vault, "我住在台北，我養了一隻貓。", "我養的貓叫咪咪。", "別再記得我養貓")
    found = prepare_forgetting(vault, "alice", asked=turns[-1].source)
    forgotten(vault, turns[-1])
    for turn, words in zip(turns, words_of_turns(vault, turns), strict=False):
        assert any(row.title in words for row in memory_rows(vault, "alice")), turn
    if any("咪咪" in row.title for row in memory_rows(vault, "alice")):
        assert any(turns[1].source in line for line in found.stays)


def test_asked_twice_the_second_request_finds_what_went_for_the_first(vault: Vault) -> None:
    said(vault, "I live in Ghent and have a garden.", "I like tea.")
    turns = said(vault, "forget where I live", "forget where I live")
    forgotten(vault, turns[-1])
    assert words_of_turns(vault, turns) == []
    assert "Ghent" not in "".join(str(hit) for hit in search(vault, "alice", SearchQuery("Ghent")).hits)


def test_the_log_of_another_machines_turn_at_the_same_place_stays(vault: Vault) -> None:
    turns = said(vault, "I keep owls")
    record = vault.path("alice", turns[0].source.partition(":")[0])
    record.rename(record.with_suffix(".away"))
    again = [
        record_turn(vault, "alice", "I like tea", "ok", created_at="2026-01-30T14:16:00+08:00"),
        record_turn(vault, "alice", "forget that I like tea", "ok", created_at="2026-01-30T14:17:00+08:00"),
    ]
    assert again[0].source == turns[0].source
    forgotten(vault, again[1])
    (log,) = vault.path("alice", "daily").iterdir()
    assert "I keep owls" in log.read_text() and "tea" not in log.read_text()


def test_a_word_of_the_request_that_the_memory_does_not_say_is_not_looked_for(vault: Vault) -> None:
    """«My job» is answered by a memory; other jobs are nobody's business."""
    turns = said(vault, "I work as a beekeeper", "The cron job failed again", "Forget what I said about my job")
    forgotten(vault, turns[-1])
    assert words_of_turns(vault, turns) == ["The cron job failed again"]


def test_what_else_the_turn_says_is_remembered(vault: Vault) -> None:
    """Its line in the record goes whole, as each does; what was learned from it was not asked to be forgotten."""
    turns = said(vault, "I keep a goat", "Forget that I keep a goat. I work as a tailor.")
    forgotten(vault, turns[-1])
    assert [row.title for row in memory_rows(vault, "alice")] == ["I work as a tailor"]
    assert words_of_turns(vault, turns) == []


def test_everything_is_meant(vault: Vault) -> None:
    set_preference(vault, "alice", "theme", "dark")
    turns = said(vault, "I keep a goat", "forget everything you know about me")
    assert prepare_forgetting(vault, "alice", asked=turns[-1].source).is_all
    forgotten(vault, turns[-1])
    assert words_of_turns(vault, turns) == [] == memory_rows(vault, "alice")
    assert not any(row.value == "dark" for row in list_preferences(vault, "alice"))


def test_a_turn_that_asks_for_nothing_or_is_gone(vault: Vault) -> None:
    turns = said(vault, "I keep a goat", "forget that I keep a goat")
    with pytest.raises(UsageError, match="asks to forget nothing"):
        prepare_forgetting(vault, "alice", asked=turns[0].source)
    forgotten(vault, turns[1])
    for source in (turns[1].source, "conversations/2020-01-01.jsonl:1"):
        with pytest.raises(NotFound, match="has no turn"):
            prepare_forgetting(vault, "alice", asked=source)
    with pytest.raises(UsageError, match="in one way"):
        prepare_forgetting(vault, "alice", asked=turns[0].source, text="goat")
    with pytest.raises(UsageError, match="names no turn"):
        prepare_forgetting(vault, "alice", asked="../bob/conversations/2020-01-01.jsonl:1")
