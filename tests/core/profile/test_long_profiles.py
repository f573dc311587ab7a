"""A USER.md of any size and kind is read in time, and nothing of it is lost when a value is written."""

from __future__ import annotations

import pytest

from tests.pace import assert_at_most, assert_in_proportion, repeated
from vault_memory.core.profile import Profile, Signal, changes_between, clean, merge, versions
from vault_memory.core.profile.profile import MAX_LINE_CHARS, MAX_READ_CHARS, MAX_VALUES, split_mark

pytestmark = pytest.mark.slow

LONG = 20_000
HOSTILE = {
    "blanks": ("# ", " "),
    "hashes": ("", "# "),
    "blanks in a value": ("- 主題偏好：dark", " "),
    "brackets": ("- 主題偏好：", "( "),
    "colons": ("- ", "："),
    "members": ("- 工具：", "a,"),
    "bullets": ("", "- a\n"),
    "notes": ("## 其他記憶\n", "- a\n"),
    "fences": ("", "```\n~~~\n"),
    "headings": ("", "## 使用偏好\n- 主題偏好：dark\n"),
}


@pytest.mark.parametrize(("start", "piece"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_profile_takes_a_moment(start: str, piece: str) -> None:
    """A line of 120,000 blanks once froze the server for 107 seconds, at every reading."""

    def read(size: int) -> None:
        text = start + repeated(piece, size) + "x"
        profile = Profile.parse(text)
        assert profile.values() is not None and profile.problems() is not None
        changed = profile.put("level", "beginner").put("display_name", "安")
        assert (changed.get("level"), changed.get("display_name")) == ("beginner", "安")
        after = iter(changed.text.split("\n"))
        is_kept = all(line in after for line in text.split("\n"))  # each of the old lines, in order
        assert is_kept
        assert len(clean(text)) <= 200

    assert_in_proportion(read, LONG)


def test_two_hundred_changes_of_a_long_profile_take_a_moment() -> None:
    """They took 28 s and 1.1 GB: each kept a whole profile, with every value of thousands of lines with one label."""
    text = "## 技術背景\n" + "".join(f"- 程式語言：{n}a、{n}b\n" for n in range(12_000))
    profile = Profile.parse(text)

    def change() -> None:
        changes, _ = merge(profile, [Signal("note", "add", f"n{n} {'z' * 100}", "manual") for n in range(200)], {})
        found = versions(profile, changes)
        assert len(changes) == 200 and len(found) == 1, "together they would have more than MAX_VERSIONS_BYTES"
        now = Profile.decode(found[0])
        assert len(now.get("note") or []) == 200 and now.get("languages") == ["0a", "0b"]
        after = iter(now.text.split("\n"))
        is_kept = all(line in after for line in text.split("\n"))
        assert is_kept

    assert_at_most(400, change)


def test_what_is_beyond_the_bounds_stays_as_text() -> None:
    far = "x\n" * (MAX_READ_CHARS // 2) + "- 主題偏好：dark\n"
    profile = Profile.parse(far)
    assert profile.get("theme") is None and "only the first" in profile.problems()[0]
    again = profile.put("theme", "light").put("theme", "dark").put("tools", "Docker")
    assert (again.get("theme"), again.get("tools")) == ("dark", ["Docker"])
    is_end_kept = again.text.endswith(far[-1_000:])
    assert is_end_kept

    long = "- 工具：" + "a" * MAX_LINE_CHARS
    assert Profile.parse(long).get("tools") == [] and "line 1 is longer than" in Profile.parse(long).problems()[0]
    assert Profile.parse(long).put("tools", "Docker").text.startswith(long)

    many = "## 其他記憶\n" + "".join(f"- t{n}\n" for n in range(MAX_VALUES + 5))
    read = Profile.parse(many)
    assert len(read.get("note") or []) == MAX_VALUES
    assert f"t{MAX_VALUES + 4}" in read.without("note").text, "what was not read is not removed either"
    assert read.problems() == [
        f"line {MAX_VALUES + 2}: note has more than 2,000 values: those from here on are not read"
    ]
    list_of_many = f"- 工具：{'、'.join(map(str, range(MAX_VALUES + 1)))}\n"
    read = Profile.parse(list_of_many)
    assert read.get("tools") == [] and "more than 2,000 values" in read.problems()[0]
    assert read.put("tools", "Docker").text.startswith(list_of_many)
    assert read.put("tools", "Docker").get("tools") == ["Docker"]


def test_the_mark_of_a_strong_preference() -> None:
    for text in ("dark（強偏好）", "dark (strong)", "dark ( STRONG )  ", "dark（强偏好)"):
        assert split_mark(text) == ("dark", True)
    for text in ("dark", "dark (strongly)", "(strong) dark", "dark strong)", "", "  ", "dark (a (strong)"):
        assert split_mark(text)[1] is (text == "dark (a (strong)")
    assert clean("dark (strong)（強偏好）") == "dark"


def test_a_profile_that_differs_in_many_places_is_no_list_of_changes() -> None:
    old, new = Profile.parse(""), Profile.parse("- 工具：" + "、".join(f"t{n}" for n in range(40)))
    assert len(changes_between(old, new)) == len(changes_between(old, new, 40)) == 40
    assert changes_between(old, new, 39) == []
