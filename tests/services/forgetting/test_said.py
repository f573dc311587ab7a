"""What a turn asks to be forgotten of memories of conversations: half a sentence, a fact, a kind (rows E8, R2)."""

from __future__ import annotations

import pytest

from vault_memory.services.memories import list_memories, store_memory, without_successor
from vault_memory.services.turns import record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import Vault


def contents(vault: Vault) -> list[str]:
    return sorted(file.memory.content for file in list_memories(vault, "alice"))


@pytest.mark.parametrize(
    ("said", "then", "gone", "left"),
    [
        ("我住在台南，在成大教書", "忘記我住在台南", "我住在台南", "我在成大教書"),
        ("我住在台南，在成大教書", "忘記我在成大教書", "我在成大教書", "我住在台南"),
        ("I live in Leeds and teach maths", "forget that I live in Leeds", "I live in Leeds", "I teach maths"),
        ("I live in Leeds and teach maths", "Forget where I live", "I live in Leeds", "I teach maths"),
        ("我喜歡喝咖啡配蛋糕", "忘記我喜歡蛋糕", "我喜歡蛋糕", "我喜歡喝咖啡"),
    ],
)
def test_one_half_goes_and_the_other_is_a_statement(vault: Vault, said: str, then: str, gone: str, left: str) -> None:
    record_turn(vault, "alice", said)
    (told,) = record_turn(vault, "alice", then).memories
    assert (told.became, told.content, told.stays, told.is_more) == ("forgotten", gone, left, False)
    assert contents(vault) == [left]
    assert undo(vault, "alice") and contents(vault) == [said]


def test_what_cannot_be_parted_goes_whole_and_that_is_told(vault: Vault) -> None:
    said = "I work in research and development"
    record_turn(vault, "alice", said)
    (told,) = record_turn(vault, "alice", "forget that I work in research").memories
    assert (told.content, told.stays, told.is_more) == (said, "", True)
    assert "all of it went" in told.summary() and "`vault-memory undo` brings it back from git" in told.summary()
    assert contents(vault) == [] and undo(vault, "alice") and contents(vault) == [said]


def test_a_part_that_says_more_goes_whole_and_that_is_told_with_what_stays(vault: Vault) -> None:
    """The other clauses behind it may be about the cat."""
    record_turn(vault, "alice", "我住在台北，養了一隻貓叫咪咪，平常用 Notion 做筆記")
    (told,) = record_turn(vault, "alice", "忘掉我養貓的事").memories
    assert (told.content, told.stays, told.is_more) == ("我養了一隻貓叫咪咪，平常用 Notion 做筆記", "我住在台北", True)
    assert "it says more than you named" in told.summary() and told.summary().endswith("what stays: 我住在台北")


@pytest.mark.parametrize(
    ("then", "gone"),
    [
        ("Forget where I live", ["I live in Leeds"]),
        ("forget what you know about my job", ["I work at Ericsson"]),
        ("Forget which instrument I play", ["I play the cello"]),
        ("忘掉我的寵物", ["I have two cats"]),
        ("忘掉大提琴的事", ["I play the cello"]),
    ],
)
def test_what_shares_no_word_with_the_request_is_found_among_others(vault: Vault, then: str, gone: list[str]) -> None:
    """The near ones stay."""
    said = ["I live in Leeds", "I work at Ericsson", "I play the cello", "I have two cats"]
    others = ["I like cats", "I love Leeds", "I like nurses", "I love hiking"]
    for each in [*said, *others]:
        record_turn(vault, "alice", each)
    before = contents(vault)
    forgotten = [each for each in record_turn(vault, "alice", then).memories if each.became == "forgotten"]
    assert [each.content for each in forgotten] == gone
    assert contents(vault) == [each for each in before if each not in gone]


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("I drive a Mazda", "Forget my car"),
        ("我最喜欢的电影是泰坦尼克号", "忘掉我最喜欢的电影是什么"),
        ("我每週上瑜伽課", "忘掉瑜珈的事"),
        ("I have a beagle named Otis", "forget my dog's name"),
        ("My cat is called Mochi", "What my cat is called: forget it"),
    ],
)
def test_what_is_meant_by_its_kind_is_found(vault: Vault, said: str, then: str) -> None:
    """The index finds it, though the request may share no word with it."""
    record_turn(vault, "alice", said)
    assert contents(vault) == [said]
    record_turn(vault, "alice", then)
    assert contents(vault) == []


@pytest.mark.parametrize(
    ("said", "then", "gone"),
    [
        (["I work as a nurse", "I'm a teacher now"], "forget my job", ["I'm a teacher now", "I work as a nurse"]),
        (["I live in Leeds", "I moved to York"], "forget where I live", ["I moved to York", "I live in Leeds"]),
        (["我住在台中", "我搬到高雄了"], "別再記得我住哪裡", ["我搬到高雄了", "我住在台中"]),
        (
            ["I play chess and work at Nokia", "I work at Ericsson now"],
            "forget where I work",
            ["I work at Ericsson now", "I work at Nokia"],
        ),
        (
            ["I live in Bath", "I moved to Leeds", "I moved to York"],
            "forget where I live",
            ["I moved to York", "I moved to Leeds", "I live in Bath"],
        ),
        (
            ["I live in Leeds and teach maths", "I moved to York"],
            "forget where I live",
            ["I moved to York", "I live in Leeds"],
        ),
    ],
)
def test_what_it_had_replaced_goes_too_as_far_as_it_is_meant(
    vault: Vault, said: list[str], then: str, gone: list[str]
) -> None:
    for each in said:
        record_turn(vault, "alice", each)
    before = contents(vault)
    told = record_turn(vault, "alice", then).memories
    assert [(each.became, each.content) for each in told] == [("forgotten", each) for each in gone]
    assert contents(vault) == [each for each in before if each not in gone]
    assert undo(vault, "alice") and contents(vault) == before


@pytest.mark.parametrize(
    ("said", "then", "still"),
    [
        (["I live in Leeds", "I moved to York"], "forget that I moved to York", []),
        (["我在台積電上班", "我跳槽到聯發科了"], "忘掉我跳槽到聯發科的事", []),
        (["I live in Leeds and teach maths", "I moved to York"], "forget that I moved to York", ["I teach maths"]),
    ],
)
def test_what_it_had_replaced_does_not_hold_again(vault: Vault, said: list[str], then: str, still: list[str]) -> None:
    """Who moved away lives there no more; git and the history of memories have it."""
    for each in said:
        record_turn(vault, "alice", each)
    before = contents(vault)
    (told,) = record_turn(vault, "alice", then).memories
    assert (told.became, told.content) == ("forgotten", said[-1])
    assert contents(vault) == still
    assert said[0] in [file.memory.content for file in list_memories(vault, "alice", history=True)]
    assert without_successor(vault, "alice") == []
    assert undo(vault, "alice") and contents(vault) == before
    assert undo(vault, "alice") and contents(vault) == [said[0]], "what had replaced it is taken back as well"


def test_what_was_so_at_the_time_of_something_else_is_not_meant(vault: Vault) -> None:
    for each in ("我住在台中", "我住在台中的時候學會騎車", "別再記得我住在台中"):
        recorded = record_turn(vault, "alice", each)
    assert [each.content for each in recorded.memories] == ["我住在台中"]
    assert contents(vault) == ["我住在台中的時候學會騎車"]


@pytest.mark.parametrize(
    ("said", "then"),
    [
        (["I live in Leeds", "I moved to York"], "forget that I live in Leeds"),
        (["我住在台中", "我搬到高雄了"], "別再記得我住在台中"),
    ],
)
def test_what_was_replaced_goes_alone_where_nothing_else_is_meant(vault: Vault, said: list[str], then: str) -> None:
    for each in said:
        record_turn(vault, "alice", each)
    recorded = record_turn(vault, "alice", then)
    assert [each.content for each in recorded.memories] == said[:1] and contents(vault) == said[1:]
    assert said[0] not in [file.memory.content for file in list_memories(vault, "alice", history=True)]


def test_what_is_taken_back_had_replaced_nothing(vault: Vault) -> None:
    for each in ("I live in Leeds", "I moved to York", "Scratch that"):
        record_turn(vault, "alice", each)
    assert contents(vault) == ["I live in Leeds"]


def test_what_a_person_stored_and_a_turn_replaced_is_named(vault: Vault) -> None:
    """It is theirs, and it holds no more."""
    record_turn(vault, "alice", "Hello")
    store_memory(vault, "alice", "I live in Leeds", memory_type="fact")
    record_turn(vault, "alice", "I moved to York")
    assert contents(vault) == ["I moved to York"]
    recorded = record_turn(vault, "alice", "forget where I live")
    assert [each.content for each in recorded.memories] == ["I moved to York"]
    assert contents(vault) == [] and "still said elsewhere: I live in Leeds" in recorded.not_forgotten[0]
