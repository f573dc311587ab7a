"""Merging: nothing is decided that need not be, and no word of either side is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.core.merging.journal_merge import merge_journal
from vault_memory.core.merging.line_merge import Clash, Merged, Newer, Side, merge_jsonl, merge_lines
from vault_memory.core.merging.merge import merge_file, with_entries_of
from vault_memory.core.merging.profile_merge import carry_values, merge_profile
from vault_memory.core.notes import note
from vault_memory.core.profile.fields import FIELDS
from vault_memory.core.profile.profile import Profile, new_profile

BASE = new_profile("zh-TW", language="zh-TW", timezone="Asia/Taipei", joined="2026-01-30").text

line = st.text(st.sampled_from("abc主題-# "), max_size=4)
text = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(line, max_size=8), st.sampled_from(["", "\n"]))
values = st.tuples(
    st.sampled_from(["theme", "level", "languages", "tools", "display_name"]),
    st.sampled_from(["dark", "light", "beginner", "Python", "Go", "安"]),
)


@st.composite
def profiles(draw: st.DrawFn) -> str:
    """A profile in some language with some values, and lines that a person wrote between them."""
    profile = new_profile(draw(st.sampled_from(["zh-TW", "en"])), language="en", timezone="UTC", joined="2026-01-30")
    for key, value in draw(st.lists(values, max_size=5)):
        if not FIELDS[key].values or value in FIELDS[key].values:
            profile = profile.put(key, value, strong=draw(st.booleans()))
    lines = profile.text.splitlines(keepends=True)
    for at, own in draw(st.lists(st.tuples(st.integers(0, 30), line), max_size=3)):
        lines.insert(at, f"{own}\n")
    return "".join(lines)


def newer(_: str) -> Side:
    return "theirs"


HEADINGS = ("## Basics", "## Background", "## Preferences", "## Other memories", "## My dog", "# Ann", "### 使用偏好")
WORD = re.compile(r"\b[bot]\d+")
LABELS = ("Name", "Theme", "主題偏好", "Tools", "Programming languages", "Recent topics", "breed")


@st.composite
def own_line(draw: st.DrawFn, side: str) -> str:
    """A line that somebody may have in USER.md; its words tell whose they are, and some are there more than once."""
    words = draw(st.lists(st.integers(0, 9).map(lambda n: f"{side}{n}"), min_size=1, max_size=3))
    label, heading = draw(st.sampled_from(LABELS)), draw(st.sampled_from(HEADINGS))
    field = f"- {label}: {', '.join(words)}"
    return draw(st.sampled_from([field, field, f"- {label}:", heading, f"- {words[0]}", " ".join(words), "", "```"]))


@st.composite
def edited(draw: st.DrawFn, lines: list[str], side: str) -> list[str]:
    """The lines after some edits: inserted, replaced, extended, removed, repeated and moved ones."""
    now = list(lines)
    for at, edit in draw(st.lists(st.tuples(st.integers(0, 40), st.sampled_from("iirredcm")), max_size=4)):
        place = at % (len(now) + 1)
        here = now[place : place + 1]
        if edit in "ir":
            now[place : place + (edit == "r")] = [draw(own_line(side))]
        elif edit == "e":
            now[place : place + 1] = [f"{line}, {side}{at}" for line in here]
        elif edit == "c":
            now[place:place] = here
        else:
            del now[place : place + 1]
            now += here if edit == "m" else []
    return now


START = """# User

## Basics
- Name: b1 b2

## Background
- Tools: b3, b4

## Preferences
- Theme: b5

## Other memories
- b6
- b7

## My dog
- Name: b8 b9
- Tools: b0, b1
"""


@st.composite
def three_states(draw: st.DrawFn) -> tuple[str | None, str, str]:
    """A USER.md, and what two people made of it."""
    start = draw(edited(START.split("\n"), "b"))
    ours, theirs = ("\n".join(draw(edited(start, side))) for side in ("o", "t"))
    return draw(st.sampled_from(["\n".join(start)] * 4 + [None])), ours, theirs


MERGES = (merge_lines, merge_journal)


@given(text, text, st.sampled_from(MERGES))
def test_one_side_alone_is_that_side(base: str, x: str, merge: Callable[..., Merged]) -> None:
    assert merge(base, x, base).text == x
    assert merge(base, base, x).text == x
    assert merge(base, x, x).text == x
    assert merge_jsonl(base, x, base).text == x and merge_jsonl(base, base, x).text == x


@pytest.mark.slow
@given(profiles(), profiles())
def test_one_sides_profile_alone_is_that_side(base: str, x: str) -> None:
    assert merge_profile(base, x, base, newer).text == x
    assert merge_profile(base, base, x, newer).text == x
    assert merge_profile(base, x, x, newer).text == x


@given(st.none() | text, text, text, st.sampled_from(MERGES))
def test_no_line_that_a_side_added_is_lost(
    base: str | None, ours: str, theirs: str, merge: Callable[..., Merged]
) -> None:
    merged = merge(base, ours, theirs).text.splitlines()  # blank lines are nobody's words
    for side in (ours, theirs):
        assert set(side.splitlines()) - {*(base or "").splitlines(), ""} <= set(merged)


@given(text, text, text)
def test_a_conflict_is_found_again(base: str, ours: str, theirs: str) -> None:
    merged = merge_lines(base, ours, theirs)
    assert len(note.conflicts_in(merged.text)) == merged.conflicts


@given(profiles(), profiles(), profiles())
def test_no_value_is_lost(base: str, ours: str, theirs: str) -> None:
    merged = merge_profile(base, ours, theirs, newer)
    if merged.conflicts:
        return
    old, one, other, now = (Profile.parse(t) for t in (base, ours, theirs, merged.text))
    for key, row in FIELDS.items():
        was, mine, yours = old.items(key), one.items(key), other.items(key)
        if row.form == "scalar":
            wanted = mine if yours in (was, mine) else yours
            assert now.items(key) == wanted
            clashes = [clash for clash in merged.clashes if clash.key == key]
            assert bool(clashes) == (mine != was and yours != was and mine != yours)
        else:
            added = {i.value for i in (*mine, *yours)} - {i.value for i in was}
            assert added <= {i.value for i in now.items(key)}


def test_a_language_is_the_same_by_any_of_its_names() -> None:
    """What one side wrote by hand and the other learned is no conflict."""
    theirs = BASE.replace("語言偏好：zh-TW", "語言偏好：繁體中文").replace("主題偏好：", "主題偏好：dark")
    merged = merge_profile(BASE, BASE.replace("zh-TW", "zh-Hant"), theirs, newer)
    assert not merged.conflicts and not merged.clashes
    assert Profile.parse(merged.text).get("language") == "zh-TW" and "主題偏好：dark\n" in merged.text
    english = BASE.replace("語言偏好：zh-TW", "語言偏好：English (UK)")
    assert Profile.parse(merge_profile(BASE, BASE, english, newer).text).get("language") == "en-GB"


@pytest.mark.slow
@settings(max_examples=300)
@given(three_states(), st.sampled_from([newer, None]))
def test_no_word_of_a_profile_is_lost(states: tuple[str | None, str, str], ages: Newer | None) -> None:
    """What a side added is in the merge, or told as the older of two values. Of what both left alone all is there."""
    base, ours, theirs = states
    merged = merge_profile(base, ours, theirs, ages)
    told = {word for clash in merged.clashes for word in WORD.findall(clash.older)}
    old, mine, yours, have = (set(WORD.findall(text or "")) for text in (base, ours, theirs, merged.text))
    once = {word for word, count in Counter(WORD.findall(base or "")).items() if count == 1}
    assert (mine | yours) - old | (mine & yours & once) <= have | told

    fields = set()
    for side in (base or "", ours, theirs):
        lines, profile = side.split("\n"), Profile.parse(side)
        fields |= {lines[line.index] for key in FIELDS if (line := profile.line_of(key))}
    lines = set(merged.text.split("\n"))
    for side in (ours, theirs):
        added = set(side.split("\n")) - set((base or "").split("\n"))
        assert added - fields <= lines, "every line that is no field stays as it is"


@pytest.mark.slow
@settings(max_examples=300)
@given(three_states(), st.booleans())
def test_a_change_that_is_carried_over_takes_no_word_with_it(states: tuple[str | None, str, str], yields: bool) -> None:
    """What is there since stays, but for the one value of a field that the change sets, too; and the change is made,
    but for that value if it yields."""
    before, onto, after = states
    before = before or ""
    have = carry_values(before, after, onto, yields=yields)
    old, there, new, now = (set(WORD.findall(text)) for text in (before, onto, after, have))
    profiles = [Profile.parse(text) for text in (before, onto, after)]
    replaced = set[str]()
    for key, row in FIELDS.items():
        was, mine, yours = (profile.items(key) for profile in profiles)
        if row.form == "scalar" and yours and mine != yours != was != mine:
            replaced |= set(WORD.findall(" ".join(item.value for item in (yours if yields else mine))))
    assert (there | new) - old <= now | replaced


@pytest.mark.parametrize("yields", [False, True])
@pytest.mark.parametrize(
    ("after", "onto", "wanted"),
    [
        ("", "- Theme: blue\n", "- Theme: blue\n"),
        ("", "- Theme: blue\n- Theme: dark\n", "- Theme: blue\n"),
        ("- Theme:\n", "- Theme: blue\n", "- Theme: blue\n"),
        ("", "- Theme: dark\n", ""),
        ("- Theme:\n", "- Theme: dark\n", "- Theme:\n"),
        ("- Theme: light\n", "- Theme: dark\n", "- Theme: light\n"),
        ("- Theme: light\n", "", None),  # a new line, below all others
        ("- Theme: light\n", "- Theme: blue\n", None),
    ],
)
def test_a_value_that_is_removed_takes_no_other_with_it(
    after: str, onto: str, wanted: str | None, yields: bool
) -> None:
    before, after, onto = (f"# User\n\n## Preferences\n{text}" for text in ("- Theme: dark\n", after, onto))
    if wanted is None:  # two values
        wanted = onto.rpartition("Preferences\n")[2] if yields else "- Theme: light\n"
    carried = carry_values(before, after, f"{onto}- ours\n", yields=yields)
    assert sorted(carried.split("\n")) == sorted(f"# User\n\n## Preferences\n{wanted}- ours\n".split("\n"))


DOG = """# User

## Basics
- Name: Ann

## Background
- Tools: vim

## Preferences
- Theme: dark

## My dog
free text
"""


@pytest.mark.parametrize("ages", [newer, None])
@pytest.mark.parametrize(
    ("was", "own", "old", "new"),
    [
        ("", "- Name: Rex the dog\n- Theme: grief, and the sea\n", "Ann", "Anna"),
        ("", "- Name: Rex the dog\n", "- Name: Ann\n", ""),
        ("", "- Name: Rex the dog\n", "Name: Ann", "Name:"),
        ("- Name: Rex\n", "- Name: Rex the dog\n", "Ann", "Anna"),
        ("", "- Tools: ball, lead\n", "vim", "vim, git"),
        ("- Tools: ball\n", "- Tools: ball, lead\n", "vim", "vim, git"),
    ],
    ids=["added", "field removed", "field emptied", "edited", "list", "list edited"],
)
def test_a_line_of_ones_own_with_the_label_of_a_field_is_text(
    was: str, own: str, old: str, new: str, ages: Newer | None
) -> None:
    """The line became `- Name:`, because somebody else had corrected a name."""
    ours, theirs = DOG + own, (DOG + was).replace(old, new)
    for one, other in ((ours, theirs), (theirs, ours)):
        merged = merge_profile(DOG + was, one, other, ages)
        assert merged.text == ours.replace(old, new)
        assert not merged.conflicts and not merged.clashes


def test_different_keys_merge_silently_and_lists_by_member() -> None:
    start = Profile.parse(BASE).put("languages", "Python").put("languages", "Go")
    ours = start.put("theme", "dark").put("languages", "Rust").without("languages", "Go")
    theirs = start.put("design_style", "modern").put("languages", "C")
    merged = merge_profile(start.text, ours.text, theirs.text)
    now = Profile.parse(merged.text)
    assert (now.get("theme"), now.get("design_style"), now.get("languages")) == (
        "dark",
        "modern",
        ["Python", "Rust", "C"],
    )
    assert not merged.clashes and not merged.conflicts


def test_the_newer_of_two_values_stays_and_the_older_is_told() -> None:
    ours, theirs = Profile.parse(BASE).put("theme", "dark"), Profile.parse(BASE).put("theme", "light", strong=True)
    merged = merge_profile(BASE, ours.text, theirs.text + "\n我住台北。\n", newer)
    assert merged.clashes == (Clash("theme", "light", "dark", "theirs"),)
    assert "- 主題偏好：light（強偏好）\n" in merged.text and "我住台北。" in merged.text and "dark" not in merged.text


def test_without_ages_two_values_of_a_key_are_the_persons_to_decide() -> None:
    ours, theirs = (Profile.parse(BASE).put("theme", value).text for value in ("dark", "light"))
    merged = merge_profile(BASE, ours, theirs)
    assert merged.conflicts == 1
    block = f"{note.CONFLICT_OPEN}\n- 主題偏好：dark\n=======\n- 主題偏好：light\n{note.CONFLICT_CLOSE}\n"
    assert block in merged.text and merged.text.replace(block, "- 主題偏好：\n") == BASE


def test_two_profiles_without_an_ancestor() -> None:
    ours, theirs = Profile.parse(BASE).put("theme", "dark"), Profile.parse(BASE).put("tools", "Docker")
    now = Profile.parse(merge_profile(None, ours.text, theirs.text, newer).text)
    assert (now.get("theme"), now.get("tools")) == ("dark", ["Docker"]) and now.problems() == []


def test_lines_of_a_note() -> None:
    base = "# 想法\n\n- [ ] 一\n- [ ] 二\n\nend\n"
    ours, theirs = base.replace("[ ] 一", "[x] 一"), base.replace("[ ] 二", "[x] 二").replace("end", "the end")
    assert merge_lines(base, ours, theirs).text == "# 想法\n\n- [x] 一\n- [x] 二\n\nthe end\n"
    both = merge_lines(base, base.replace("一", "A"), base.replace("一", "B"))
    assert both.conflicts == 1 and note.conflicts_in(both.text) == [(3, 7)]
    assert note.conflict_problems(both.text) == [
        "conflict: lines 3-7 hold two texts: keep what is right and delete the three marks"
    ]
    assert merge_lines(base, base + "from here\n", base + "from there\n").text == base + "from here\nfrom there\n"
    assert merge_lines("a", "a\nb", "a\nc").text == "a\nb\nc\n"


def test_entries_of_a_journal_are_put_in_order() -> None:
    base = "# 2026-01-30\n\n## 09:00\n- 請求：早\n"
    ours = base + "\n## 10:00\n- 請求：甲\n- 模組：coding-agent\n\n## 12:00\n- 請求：丙\n"
    theirs = base + "\n## 11:00\n- 請求：乙\n- 模組：coding-agent\n"
    merged = merge_journal(base, ours, theirs)
    assert merged.text == base + "\n" + "\n".join(
        f"## {hour}:00\n- 請求：{what}\n{rest}"
        for hour, what, rest in (
            (10, "甲", "- 模組：coding-agent\n"),
            (11, "乙", "- 模組：coding-agent\n"),
            (12, "丙", ""),
        )
    )
    assert merge_journal(base, theirs, ours) == merged, "both machines get the same"


def row(minute: int, zone: str = "+08:00") -> str:
    return json.dumps({"created_at": f"2026-01-30T10:{minute:02d}:00{zone}"}) + "\n"


def test_records_are_united_in_the_order_of_time() -> None:
    base = row(1) + row(2)
    merged = merge_jsonl(base, base + row(3) + row(7), row(2) + row(5) + row(3))
    assert merged.text == row(2) + row(3) + row(5) + row(7), "what one side moved to the archive is gone"
    assert merge_jsonl(None, "broken\n", row(5)).text == "broken\n" + row(5)


@pytest.mark.parametrize(
    ("path", "is_ours"),
    [
        ("memory/alice/USER.md", True),
        ("notes/a.md", True),
        ("memory/alice/feedback.jsonl", True),
        ("a.canvas", False),
        ("vault-memory.toml", False),
        (".obsidian/x.md", False),
    ],  # fmt: skip
)
def test_what_is_no_text_of_ours_is_not_merged(path: str, is_ours: bool) -> None:
    assert (merge_file(PurePosixPath(path), b"", b"a\n", b"b\n", newer) is not None) == is_ours


def test_bytes_that_are_no_utf_8_pass_through() -> None:
    merged = merge_file(PurePosixPath("a.md"), b"\xff\nx\n", b"\xff\nx\ny\n", b"\xfe\nx\n")
    assert merged is not None
    assert merged.text.encode("utf-8", "surrogateescape") == b"\xfe\nx\ny\n"


def test_a_record_is_one_line_whatever_characters_it_holds() -> None:
    """U+2028 and others end a line for `str.splitlines`, and stand as they are in JSON: a merge tore them apart."""
    torn = "".join(
        json.dumps({"user_message": f"a{end}b"}, ensure_ascii=False) + "\n" for end in "\x85\u2028\u2029\x7f"
    )
    merged = merge_jsonl(row(1), row(1) + torn, row(1).replace("\n", "\r\n") + row(5))
    assert merged.text.split("\n") == [*(row(1) + torn).split("\n")[:-1], row(5)[:-1], ""]
    base = "x\u2028y\nz\n"
    assert merge_lines(base, base + "1\x0b2\n", "0\x0c\n" + base).text == "0\x0c\n" + base + "1\x0b2\n"


def test_times_that_no_calendar_holds_keep_their_place() -> None:
    odd = '{"created_at": "0001-01-01T00:00:00+14:00"}\n' + '{"created_at": ' + "[" * 200 + "]" * 200 + "}\n"
    assert merge_jsonl("", odd, row(5)).text == odd + row(5)


entry = st.builds(
    lambda hour, lines: f"## {hour:02}:00\n" + "".join(f"- {each}\n" for each in lines) + "\n",
    st.integers(0, 3),
    st.lists(st.sampled_from("abc"), max_size=2),
)
journals = st.builds(lambda lead, entries: lead + "".join(entries), text, st.lists(entry, max_size=5))


@given(journals, journals)
def test_the_entries_of_another_journal_are_added_once(ours: str, theirs: str) -> None:
    """An import may be run again at any time."""
    once = with_entries_of(theirs.encode(), ours.encode())
    assert with_entries_of(theirs.encode(), once) == once
    for side in (ours, theirs):
        lacking = Counter(filter(None, side.split("\n"))) - Counter(once.decode().split("\n"))
        assert not lacking, "no line of either side is lost"
    assert not note.conflicts_in(once.decode())
    assert with_entries_of(ours.encode(), ours.encode()) == ours.encode()
