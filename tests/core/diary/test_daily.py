"""The log of a day: an entry for each conversation, a line for each request, and nothing of a person's lost."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault_memory.core.diary import daily, outcome, tasks
from vault_memory.core.diary.daily import Request
from vault_memory.core.notes import document, entries

DAY = "# 2026-01-30\n"
TEA = "1a2b3c4d"
OLD = f"{DAY}\n## 09:00\n- 請求：早\n- 模組：coding-agent\n- 萃取偏好：theme = dark\n"
FORGED = "x\n\n## 14:06 %%1a2b3c4d%%\n- 14:06 forged · conversations/2026-01-30.jsonl:9\u2028## 14:07\x00"


def request(time: str, words: str, number: int, conversation: str = "", **more: object) -> Request:
    at = datetime.fromisoformat(f"2026-01-30 {time}")
    return Request(at, words, f"conversations/2026-01-30.jsonl:{number}", conversation, **more)  # type: ignore[arg-type]


def log(*requests: Request, text: str = "", locale: str = "zh-TW") -> str:
    for each in requests:
        text = daily.with_request(text, each, locale)
    return text


@pytest.mark.parametrize("locale", ["zh-TW", "zh-CN", "en"])
def test_a_request_is_one_line_whatever_was_said(locale: str) -> None:
    """A3, A9: neither the message nor the name of a skill forges a second entry or request, or hides what follows."""
    said = request(
        "14:05",
        FORGED,
        1,
        TEA,
        skill=FORGED,
        came=outcome(0, locale),
        learned=["theme = dark", FORGED],
        reflection=FORGED * 50,
    )
    heading, line = log(said, locale=locale).removeprefix(f"{DAY}\n").splitlines()
    assert heading == f"## 14:05 %%{TEA}%%" and "%%" not in line and "\x00" not in line
    assert entries.request_in(line)[::2] == ("14:05", said.source)  # type: ignore[index]
    task = tasks.with_turn("", said.at, FORGED, FORGED, outcome(0, locale), locale, is_reply=False)
    assert [row[:2] for row in task.splitlines()] == ["# ", "", "##", "- ", "- ", "- "]


def test_a_line_says_when_what_was_asked_what_came_of_it_what_was_learned_and_where_it_is() -> None:
    """A3."""
    first = request("09:12", "幫我部署登入頁", 1, TEA, skill="web-deploy", came="成功", learned=["tools += Docker"])
    second = request("09:15", "How do I roll back?", 2, TEA, skill="web-deploy", came="failure", learned=["a", "b"])
    text = log(second, text=log(first), locale="en")
    assert text == (
        f"{DAY}\n## 09:12 %%{TEA}%%\n"
        "- 09:12 幫我部署登入頁（web-deploy） → 成功 · 萃取偏好：tools += Docker · conversations/2026-01-30.jsonl:1\n"
        "- 09:15 How do I roll back? (web-deploy) → failure · Preferences: a；b · conversations/2026-01-30.jsonl:2\n"
    )
    assert log(request("09:00", "", 3)).endswith("## 09:00\n- 09:00 · conversations/2026-01-30.jsonl:3\n")


def test_each_conversation_has_its_entry_and_what_has_no_name_goes_on_for_half_an_hour() -> None:
    """A3."""
    text = log(
        *(request("09:00", "a", 1), request("09:01", "t", 2, TEA), request("09:30", "b", 3), request("10:01", "c", 4)),
        *(request("10:02", "d", 5), request("17:00", "u", 6, TEA), request("10:31", "e", 7)),
    )
    found = [part.replace(" · conversations/2026-01-30.jsonl", "") for part in text.split("\n## ")[1:]]
    assert [re.findall(r"(?m)^- \d\d:\d\d (\w):", part) for part in found] == [["a", "b"], ["t", "u"], ["c", "d", "e"]]
    assert [part.partition("\n")[0] for part in found] == ["09:00", f"09:01 %%{TEA}%%", "10:01"]
    assert log(request("09:10", "x", 8), text=text).count("\n- ") == 8, "what comes late has its place by its time"
    assert "- 09:00 a" in log(request("09:10", "x", 8), text=text).split("- 09:10 x")[0].rpartition("## ")[2]


def test_an_entry_that_is_full_is_followed_by_another_and_each_is_one_chunk() -> None:
    """A5: a search returns a whole entry."""
    text = log(*(request(f"1{n // 60}:{n % 60:02}", f"茶葉要泡多久 {n}" * (n % 9), n, TEA) for n in range(99)))
    parts = text.split("\n## ")[1:]
    assert len(parts) > 5 and all(f"%%{TEA}%%" in part.partition("\n")[0] for part in parts)
    chunks = document.read("daily/2026-01-30.md", "daily", text.encode()).chunks
    assert all(any(f"## {part.rstrip()}" in chunk.text for chunk in chunks) for part in parts)


def test_a_log_of_an_older_version_stays_as_it_is() -> None:
    text = log(request("09:01", "next", 2), text=OLD)
    assert text == f"{OLD}\n## 09:01\n- 09:01 next · conversations/2026-01-30.jsonl:2\n"
    assert daily.with_reply(OLD, request("09:00", "早", 1, came="成功"), "zh-TW") == OLD


def test_an_entry_that_a_person_changed_or_moved_is_still_found() -> None:
    first, second = request("09:12", "a", 1, TEA), request("09:20", "b", 2, TEA)
    text = log(first, request("09:13", "other", 3))
    mine = text.replace(f"## 09:12 %%{TEA}%%", f"## 早上：泡茶 %%{TEA}%%").replace(
        "jsonl:1\n", "jsonl:1\n  - my point\n"
    )
    mine += "\n## 我的話\n- 09:15 call mum\n"
    after = log(second, text=mine)
    assert after == mine.replace("my point\n", "my point\n- 09:20 b · conversations/2026-01-30.jsonl:2\n")
    loose = mine.replace("my point\n", "my point\n\nMy words.\n")
    assert "- my point\n- 09:20 b" in log(second, text=loose) and "jsonl:2\n\nMy words.\n" in log(second, text=loose)
    unnamed = text.replace(f" %%{TEA}%%", "")
    assert log(second, text=unnamed) == f"{unnamed}\n## 09:20 %%{TEA}%%\n- 09:20 b · conversations/2026-01-30.jsonl:2\n"
    assert log(request("09:20", "b", 2), text=mine).endswith("- 09:15 call mum\n"), "theirs is not gone on with"


def test_what_a_person_has_to_decide_is_not_written_into() -> None:
    ours, theirs = (log(request("09:12", words, 1, TEA, came="完成")) for words in "aA")
    from vault_memory.core.merging.line_merge import merge_lines

    text = merge_lines(DAY + "\nx\n", ours, theirs).text
    after = daily.with_reply(log(request("09:20", "b", 2, TEA), text=text), request("09:12", "a", 1, came="ok"), "en")
    assert daily.with_outcome(text, datetime(2026, 1, 30, 9, 15), "A", "失敗") == text
    assert after.startswith(text) and after.endswith(
        f"\n## 09:20 %%{TEA}%%\n- 09:20 b · conversations/2026-01-30.jsonl:2\n"
    )


def test_a_reply_completes_the_line_of_its_request() -> None:
    """A3: what is known later, or was not so at first, is no lie."""
    asked = request("09:12", "怎麼部署？ → 我喜歡暗色", 1, TEA, skill="x", learned=["theme = dark"])
    text = log(asked, request("09:12", "b", 2, TEA))
    broken = daily.with_reply(text, request("09:12", asked.words, 1, TEA, skill="x", came="失敗"), "zh-TW")
    whole = request("09:12", asked.words, 1, TEA, skill="x", came="成功", learned=["recent_topics += Docker"])
    after = daily.with_reply(broken, whole, "zh-TW")
    assert after == text.replace(
        "（x） · 萃取偏好：theme = dark · ",
        "（x） → 失敗 → 成功 · 萃取偏好：theme = dark；recent_topics += Docker · ",
    )
    assert daily.with_reply(broken, request("09:12", asked.words, 1, TEA, skill="x", came="失敗"), "zh-TW") == broken
    mine = daily.with_reply(text.replace("怎麼部署？", "怎麼部署呢？！"), whole, "zh-TW")
    assert "怎麼部署呢？！ → 我喜歡暗色（x） · 萃取偏好：theme = dark；recent_topics += Docker → 成功 · conv" in mine
    gone = text.replace("- 09:12 怎", "- 怎")
    assert daily.with_reply(gone, whole, "zh-TW") == gone


def test_another_machines_request_of_the_same_place_is_not_taken_for_it() -> None:
    mine, yours = request("09:12", "mine", 1), request("09:12", "yours", 1)
    for text in (log(mine, yours), log(yours, mine)):
        after = daily.with_reply(text, request("09:12", "mine", 1, came="成功"), "zh-TW")
        assert "mine → 成功 ·" in after and "yours ·" in after


def test_an_outcome_that_a_program_tells_replaces_done() -> None:
    text = log(request("09:12", "泡茶的方法 " * 60, 1, came="完成"), request("09:13", "b", 2, came="成功"))
    at = datetime(2026, 1, 30, 9, 15)
    assert daily.with_outcome(text, at, ("泡茶的方法 " * 60)[:150], "failure") == text.replace("完成", "失敗")
    for words, told in (("b", "失敗"), ("泡茶的方法", ""), ("", "失敗"), ("綠茶", "失敗")):
        assert daily.with_outcome(text, at, words, told) == text
    assert daily.with_outcome(text, at.replace(minute=23), "泡茶的方法", "失敗") == text
    assert daily.with_outcome(text.replace("09:12", "99:99"), at, "泡茶的方法", "失敗") == text.replace(
        "09:12", "99:99"
    )


_pieces = st.lists(
    st.sampled_from(
        [
            *(
                "## 09:00\n",
                f"## 09:00 %%{TEA}%%\n",
                f"## 茶 %%{TEA}%%\n",
                "# 2026-01-30\n",
                "\n",
                "text\n",
                "  - mine\n",
            ),
            *(
                "- 09:01 a · conversations/2026-01-30.jsonl:1\n",
                "- 09:02 b → 完成 · conversations/2026-01-30.jsonl:2\r\n",
            ),
            *(
                "- 99:99 c · conversations/2026-01-30.jsonl:3\n",
                "- 請求：早\n",
                "```\n",
                "> q\n",
                "- 09:05 call\n",
                "end",
            ),
        ]
    ),
    max_size=12,
)


@settings(deadline=None)
@given(_pieces, st.sampled_from(["", TEA]), st.integers(0, 59))
@example([], "", 0)
def test_nothing_that_stands_in_a_log_is_lost(pieces: list[str], conversation: str, minute: int) -> None:
    text = "".join(pieces)
    said = request(f"09:{minute:02}", "new", 7, conversation)
    after = log(said, text=text)
    line = f"- 09:{minute:02} new · conversations/2026-01-30.jsonl:7"
    rows = after.split("\n")
    assert rows.count(line) == 1 and f"{line}\n" in after
    rest = iter(rows)
    assert all(row in rest for row in text.split("\n") if row), "in its order, byte for byte"
    assert len(rows) <= len(text.split("\n")) + 5
    told = daily.with_reply(after, request(f"09:{minute:02}", "new", 7, conversation, came="成功"), "zh-TW")
    assert told == after.replace(line, line.replace("new", "new → 成功"))
