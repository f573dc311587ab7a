"""What a person says in passing is found later: through the command line, in a new session, offline."""

from __future__ import annotations

import json

from tests.conftest import Cli
from vault_memory.services.retrieval import build_enhanced_prompt, recall
from vault_memory.services.vault import open_vault

CROWD = [*(f"我喜歡第 {n} 種襪子的花紋" for n in range(10)), *(f"第 {n} 個會議改到下午" for n in range(40))]
PAIRS = (
    ("我喜歡咖啡", "我喜歡什麼飲料", "咖啡"),
    ("我喜欢吃拉面", "我喜歡吃什麼食物", "拉面"),
    ("我養了一隻柴犬", "我有什么宠物", "柴犬"),
    ("I play the cello on weekends", "which instrument do I play?", "cello"),
    ("I really love badminton", "我喜歡什麼運動", "badminton"),
    ("我每天騎腳踏車上班", "what transport do I use to get to work?", "腳踏車"),
    ("我最喜歡紫色", "我喜欢什么颜色", "紫色"),
    ("我是護理師", "我的職業是什麼", "護理師"),
    ("We decided to deploy on Thursdays only", "on which day of the week do we deploy?", "Thursdays"),
    ("My favourite fruit is the mango", "我喜歡什麼水果", "mango"),
)


def test_ten_things_said_are_found_among_fifty_others(cli: Cli) -> None:
    """E4, E7, E10: said in a turn; recalled, and in the system part of a prompt, by a question that shares no word with
    them, among fifty memories of which ten begin 我喜歡."""
    notes = cli.folder / "memory/alice/memories"
    notes.mkdir(parents=True)
    for number, text in enumerate(CROWD):
        (notes / f"mem_{number + 1}_{number}.md").write_text(f"---\ntype: note\n---\n{text}\n", encoding="utf-8")
    turns = [said for said, _, _ in PAIRS] + [f"第 {n} 題怎麼解" for n in range(6)]
    lines = [json.dumps({"user_id": "alice", "user_message": said, "assistant_message": "好的"}) for said in turns]
    told = cli("turn", "--jsonl", "-", stdin="\n".join(lines))
    assert "memories" in told
    vault = open_vault(cli.folder)
    for _, asked, word in PAIRS:
        found = [memory.content for memory in recall(vault, "alice", asked, top_k=3)]
        assert any(word in content for content in found), (asked, found)
        system = build_enhanced_prompt(vault, "alice", asked).messages[0]
        assert system["role"] == "system" and word in system["content"], asked
    (coffee,) = cli.json("recall", "--user", "alice", "我喜欢什么饮料")["memories"]
    assert coffee["content"] == "我喜歡咖啡"
    assert "preference: 我喜歡咖啡" in cli.json("prompt", "--user", "alice", "我喜歡什麼飲料")["messages"][0]["content"]


def test_what_is_kept_is_shown_and_can_be_deleted(cli: Cli) -> None:
    """E4, E8: the turn says it, the day's log has it, git names it, `memory delete` and a word remove it."""
    told = cli("turn", "--user", "alice", "--message", "我喜歡咖啡", "--reply", "好的")
    (memory,) = cli.json("memory", "list", "--user", "alice")
    assert f"remembered preference: 我喜歡咖啡  ({memory['id']})" in told
    (log,) = (cli.folder / "memory/alice/daily").glob("*.md")
    assert "記住：我喜歡咖啡" in log.read_text("utf-8")
    assert f"Vault-Memory: {memory['id']}" in cli.git("log", "-1", "--format=%B")
    assert memory["expires_at"] and memory["source"].startswith("conversations/")
    assert "reinforced" in cli("turn", "--user", "alice", "--message", "我喜欢咖啡")
    assert "forgotten preference: 我喜歡咖啡" in cli("turn", "--user", "alice", "--message", "忘掉我喜歡咖啡這件事")
    assert cli.json("memory", "list", "--user", "alice") == []

    cli("turn", "--user", "alice", "--message", "我養了一隻貓")
    (cat,) = cli.json("memory", "list", "--user", "alice")
    code = cli("memory", "delete", "--user", "alice", cat["id"]).partition("--code ")[2].split()[0].strip("`")
    cli("memory", "delete", "--user", "alice", "--code", code)
    assert cli.json("memory", "list", "--user", "alice") == []

    off = cli("turn", "--user", "alice", "--message", "我喜歡烏龍茶", VAULT_MEMORY_MEMORIES_FROM_TURNS="false")
    assert "remembered" not in off and cli.json("memory", "list", "--user", "alice") == []


def test_what_is_to_be_forgotten_goes_and_what_is_not_found_is_said(cli: Cli) -> None:
    """E8, R2: in other words; only what is meant; a change of subject deletes nothing."""

    def turn(message: str) -> str:
        return cli("turn", "--user", "alice", "--message", message)

    turn("我超愛爵士樂")
    turn("I love coffee")
    turn("I love black coffee in the morning")
    assert "forgotten preference: 我超愛爵士樂" in turn("把我喜歡爵士樂的事忘了")
    assert "forgotten" not in turn("forget about coffee, let's talk about trains")
    told = turn("Please delete that I like coffee")
    assert "forgotten preference: I love coffee  (" in told
    assert "still said elsewhere: I love black coffee in the morning (`vault-memory memory delete said_" in told
    told = turn("刪掉關於長笛的記憶")
    assert "nothing found to forget: 長笛 (`vault-memory memory list`" in told
    assert "learned nothing" not in told
    turn("I play the oboe and I keep three goldfish")
    told = turn("Forget that I keep three goldfish")
    assert "forgotten fact: I keep three goldfish; what stays: I play the oboe  (" in told
    kept = cli("remember", "--user", "alice", "I love opera").strip()
    assert f"you stored or edited it yourself: I love opera (`vault-memory memory delete {kept}`" in turn(
        "forget that I like opera"
    )
    assert {each["content"] for each in cli.json("memory", "list", "--user", "alice")} == {
        "I love opera",
        "I play the oboe",
        "I love black coffee in the morning",
    }


def test_a_change_of_mind_takes_the_place_of_what_was_said(cli: Cli) -> None:
    """E4, E8: the old one answers with history only."""
    for old, new in (
        ("I work at a bank", "I now work at a brewery"),
        ("我打網球", "我不再打網球了"),
        ("我不吃辣", "我現在很愛吃辣"),
        ("我開本田", "我換開特斯拉了"),
        ("我開豐田", "我把豐田賣了"),
        ("I work at Nokia", "I'm not at Nokia, I'm at Ericsson"),
    ):
        for message in (old, new):
            cli("turn", "--user", "alice", "--message", message)
        kept = [each["content"] for each in cli.json("memory", "list", "--user", "alice")]
        assert new in kept and old not in kept, kept
        (past,) = [
            each for each in cli.json("memory", "list", "--user", "alice", "--history") if each["content"] == old
        ]
        assert past["superseded_by"]


def test_what_is_asked_for_twice_in_one_message_is_not_kept_anew(cli: Cli) -> None:
    """E8: «I told you …» names what is to go."""
    cli("turn", "--user", "alice", "--message", "I play the cello on weekends")
    told = cli("turn", "--user", "alice", "--message", "I told you that I play the cello. Please forget that.")
    assert "forgotten fact: I play the cello on weekends" in told and "remembered" not in told
    assert cli.json("memory", "list", "--user", "alice") == []


def test_what_is_put_in_front_is_the_same_memory(cli: Cli) -> None:
    """E4, B5: 芒果我超愛 is kept and lives on by 我超愛芒果; a fragment is not kept, and where one lives is."""
    assert "remembered preference: 芒果我超愛" in cli("turn", "--user", "alice", "--message", "芒果我超愛")
    assert "reinforced preference: 芒果我超愛" in cli("turn", "--user", "alice", "--message", "我超愛芒果")
    assert "remembered fact: 我家在桃園" in cli("turn", "--user", "alice", "--message", "我家在桃園")
    for nothing in ("芒果你喜歡嗎", "這個我喜歡", "我每天都喝", "we use it every day", "我家在桃園中山路"):
        assert "remembered" not in cli("turn", "--user", "alice", "--message", nothing)
    assert len(cli.json("memory", "list", "--user", "alice")) == 2


def test_a_liked_language_is_a_memory_and_no_order(cli: Cli) -> None:
    """A8, E4: the profile has no language of a liking, and the one that is asked for."""
    assert "remembered preference: I like Portuguese" in cli(
        "turn", "--user", "alice", "--message", "I like Portuguese"
    )
    profile = cli.folder / "memory/alice/USER.md"
    assert not profile.exists() or "pt" not in profile.read_text("utf-8")
    cli("turn", "--user", "alice", "--message", "Answer in Portuguese from now on")
    assert "Language: pt\n" in profile.read_text("utf-8")


def test_what_the_profile_learned_from_a_sentence_goes_with_it(cli: Cli) -> None:
    """B6, E8: the time zone that followed from a town goes with the town, is named, and comes back; what else is said,
    or the person has set, stays, and the answer says so."""
    profile = cli.folder / "memory/alice/USER.md"

    def say(message: str) -> str:
        return cli("turn", "--user", "alice", "--message", message)

    say("I live in New York")
    say("I use Docker every day")
    assert "America/New_York" in profile.read_text("utf-8")
    told = say("Forget that I live in New York")
    assert "timezone -= America/New_York" in told and "forgotten fact: I live in New York" in told
    assert "America/New_York" not in profile.read_text("utf-8") and "Docker" in profile.read_text("utf-8")
    assert "forget fact I live in New York" in cli("undo", "--user", "alice")
    cli("undo", "--user", "alice")
    assert "America/New_York" in profile.read_text("utf-8")

    say("I live in Osaka")
    say("My time zone is Asia/Tokyo")
    told = say("forget that I live in Osaka")
    assert "timezone = Asia/Tokyo stays" in told and "My time zone is Asia/Tokyo" in told
    say("My name is Anna")
    profile.write_text(profile.read_text("utf-8").replace("Asia/Tokyo", "Europe/Paris"), encoding="utf-8")
    say("I live in Paris")
    assert "you wrote it there yourself" in say("forget that I live in Paris")
    assert "Europe/Paris" in profile.read_text("utf-8")


def test_what_was_said_in_the_same_breath_stays_and_is_told(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "I'm a Python developer and I live in Sydney")
    told = cli("turn", "--user", "alice", "--message", "Forget what I told you about Sydney")
    assert "forgotten fact: I live in Sydney; what stays: I'm a Python developer" in told
    assert "languages = Python" in cli("pref", "list", "--user", "alice")


def test_where_one_works_is_not_when_or_how(cli: Cli) -> None:
    """E4: who works at home now has the same employer."""
    cli("turn", "--user", "alice", "--message", "I work at Shell")
    for message in ("I work at home now", "I work at night now", "I work at my own pace now"):
        cli("turn", "--user", "alice", "--message", message)
    assert "I work at Shell" in cli("memory", "list", "--user", "alice")
    cli("turn", "--user", "alice", "--message", "I work at BP now")
    assert "I work at Shell" not in cli("memory", "list", "--user", "alice")


def test_a_deleted_memory_takes_along_what_followed_from_it(cli: Cli) -> None:
    """B6: the preview names the value, the receipt proves that it is gone, and its lines bring it back."""
    cli("turn", "--user", "alice", "--message", "I live in Berlin")
    chosen = cli.json("memory", "delete", "--user", "alice", "--query", "Berlin")
    assert chosen["values"] == ["timezone = Europe/Berlin"] and chosen["stays"] == []
    receipt = cli.json("memory", "delete", "--user", "alice", "--code", chosen["confirmCode"])
    assert receipt["values"] == chosen["values"]
    assert {"store": "profile", "absent": True, "says": "the values of USER.md"} in receipt["verified"]
    for line in receipt["restore"]:
        cli(*line.split()[1:])
    values = {each["key"]: each["value"] for each in cli.json("pref", "list", "--user", "alice")}
    assert values["timezone"] == "Europe/Berlin"
    assert [each["content"] for each in cli.json("memory", "list", "--user", "alice")] == ["I live in Berlin"]


def test_a_request_to_forget_is_always_answered(cli: Cli) -> None:
    """E8: by what goes, or by what was looked for; a task is none."""

    def turn(message: str) -> str:
        return cli("turn", "--user", "alice", "--message", message)

    turn("我們決定用 MongoDB 存訂單")
    turn("我住新北投")
    assert "nothing found to forget: 我住新北 (" in turn("忘掉我住新北")
    assert "nothing found to forget: Finnish (" in turn("Delete everything about Finnish you remember")
    assert "nothing found to forget: coffee (" in turn("Forget about coffee.")
    assert "a sentence deletes no more than it names" in turn("Forget everything about me")
    assert "forget" not in turn("remove the MongoDB dependency").replace("kept in", "")
    assert "forgotten decision: 我們決定用 MongoDB 存訂單" in turn("把我們選了 MongoDB 的事刪掉")
    turn("My name is Anna")
    assert "display_name -= Anna" in turn("Forget that my name is Anna")
    assert [each["content"] for each in cli.json("memory", "list", "--user", "alice")] == ["我住新北投"]


def test_changes_of_mind_in_other_words_replace_and_what_both_holds_stays(cli: Cli) -> None:
    """E4, B5: what is ended in other words than it was said in is followed by the new one; a favourite of a narrower
    kind stands beside the wider one."""
    old = (
        "I use Emacs for everything",
        "I smoke a pack a day",
        "我們資料庫用 MySQL",
        "I drive a Ford",
        "我最喜歡的點心是布丁",
    )
    new = (
        *("I switched from Emacs to Helix", "I quit smoking", "資料庫改成 MariaDB，不用 MySQL 了"),
        *("我把福特賣了，換了一台馬自達", "我最喜歡的配咖啡的點心是可頌"),
    )
    turns = [{"user_id": "alice", "user_message": said, "assistant_message": "好的"} for said in (*old, *new)]
    cli("turn", "--jsonl", "-", stdin="\n".join(json.dumps(turn) for turn in turns))
    listed = {memory["content"] for memory in cli.json("memory", "list", "--user", "alice")}
    assert listed == {*new, "我最喜歡的點心是布丁"}
    (found,) = cli.json("recall", "--user", "alice", "--history", "--top-k", "1", "Emacs for everything")["memories"]
    assert found["content"] == "I use Emacs for everything"
