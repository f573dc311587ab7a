"""The digest of a log: what a day was about, in a few lines for each conversation."""

from __future__ import annotations

from datetime import datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.diary import daily, digest
from vault_memory.core.diary.digest import MAX_OWN_CHARS, MAX_REQUESTS, MAX_WORDS_CHARS

DAY = "2026-01-30"
TALK = "1a2b3c4d"
OLD = (
    f"# {DAY}\n\n## 08:00\n- 請求：早 → 安\n- 模組：coding-agent\n- 萃取偏好：theme = dark\n"
    "\n## 08:20\n- Request: tea?\n\n## 09:30\n- 请求：茶\n"
)


def ask(text: str, time: str, words: str, conversation: str = "", came: str = "", *learned: str) -> str:
    at = datetime.fromisoformat(f"{DAY} {time}")
    said = daily.Request(at, words, f"conversations/{DAY}.jsonl:{len(text)}", conversation, "", came, learned)
    return daily.with_request(text, said, "zh-TW")


def told(text: str) -> list[str]:
    return [each.text for each in digest(text, DAY)]


def test_a_conversation_is_told_by_its_first_and_its_last_requests() -> None:
    """A10: also where it fills several entries, between which others stand."""
    text = ask("", "09:00", "幫我部署登入頁", TALK, "失敗", "tools += Docker")
    text = ask(text, "09:01", "我喜歡暗色主題", "", "完成", "theme = dark", "tools += Docker")
    for minute in range(2, 30):
        text = ask(text, f"09:{minute:02}", f"為什麼是 404？{minute}" * 9, TALK, "完成")
    text = ask(text, "09:31", "謝謝", TALK, "", "tools += Docker")
    short, long = told(text)
    assert short == "2026-01-30 09:01\n- 我喜歡暗色主題 → 完成\n- 萃取偏好：theme = dark；tools += Docker"
    lines = long.split("\n")
    assert lines[:3] == ["2026-01-30 09:00–09:31", "- 幫我部署登入頁 → 失敗", "- … (+24)"]
    assert lines[3].startswith("- 為什麼是 404？26為") and lines[3].endswith("… → 完成")
    assert lines[-2:] == ["- 謝謝", "- 萃取偏好：tools += Docker"] and len(lines) == MAX_REQUESTS + 3
    assert "jsonl" not in long and "%%" not in long


def test_older_logs_are_told_like_those_of_today() -> None:
    """A10: entries of one request each, within half an hour of each other."""
    first, second = told(OLD)
    assert first == "2026-01-30 08:00–08:20\n- 早 → 安 (coding-agent)\n- tea?\n- 萃取偏好：theme = dark"
    assert second == "2026-01-30 09:30\n- 茶"


def test_what_a_person_wrote_is_told() -> None:
    text = f"# {DAY}\n今天很冷\n\n## 晚餐\n火鍋\n- 18:05 met Bob\n"
    text = (
        ask(text, "09:00", "a", TALK).replace(" · conv", "！ · conv")
        + "  - 記得問 Bob\n\n## 10:00 我的話\n很長"
        + "字" * 9_000
    )
    opening, dinner, talk, words = told(text)
    assert opening == "2026-01-30\n今天很冷" and dinner == "2026-01-30\n## 晚餐\n火鍋\n- 18:05 met Bob"
    assert talk == "2026-01-30 09:00\n- a！\n  - 記得問 Bob"
    assert words.startswith("2026-01-30 10:00\n## 10:00 我的話\n很長字") and words.endswith("字…")
    assert len(words) < MAX_OWN_CHARS + 50


def test_the_lines_of_which_nothing_is_left_out_are_known() -> None:
    """What is told whole need not be recalled besides."""
    text = ask(ask("", "09:00", "a", TALK, "完成"), "09:01", "長" * (MAX_WORDS_CHARS + 1))
    assert [sorted(each.whole) for each in digest(text, DAY)] == [[3, 4, 5], []]
    assert [sorted(each.whole) for each in digest(ask(text, "09:02", "長" * 99, TALK), DAY)] == [[], []]


@settings(deadline=None)
@given(st.text("#-· →：:%1a29/\n ", max_size=300), st.booleans())
def test_any_text_has_a_digest(text: str, is_log: bool) -> None:
    found = digest(ask(text, "09:00", text) if is_log else text, DAY)
    assert all(each.text.startswith(DAY) and max(each.whole, default=0) <= text.count("\n") + 6 for each in found)
    assert not is_log or any("09:00" in each.text for each in found)


def test_a_log_of_megabytes_is_told_in_proportion() -> None:
    def tell(size: int) -> None:
        entry = "## 10:00 %%{:08x}%%\n- {}\n- 10:00 a · conversations/2026-01-30.jsonl:1\n"
        digest("".join(entry.format(n, "x：" * 20) for n in range(size)), DAY)

    assert_in_proportion(tell, 2_000)
