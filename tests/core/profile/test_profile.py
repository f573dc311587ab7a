"""USER.md as text: the fields that are found in it, and that a change leaves all other lines alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.profile.fields import FIELDS, LOCALES, SECTIONS, TITLES
from vault_memory.core.profile.profile import Item, Profile, canonical, clean, new_profile
from vault_memory.core.text import same

_LABELS = [label for row in FIELDS.values() for label in row.labels] + [x for s in SECTIONS.values() for x in s]
_values = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_lines = st.one_of(
    _values,
    st.builds(
        lambda bullet, label, colon, value: f"{bullet}{label}{colon}{value}",
        st.sampled_from(["- ", "* ", "  - ", "-", ""]),
        st.sampled_from(_LABELS),
        st.sampled_from(["：", ":", ": ", "： "]),
        _values,
    ),
    st.builds(lambda level, title: f"{'#' * level} {title}", st.integers(1, 6), st.sampled_from([*_LABELS, *TITLES])),
    st.sampled_from(["```", "---", "", "~~~~"]),
)
texts = st.builds(lambda parts, end: end.join(parts), st.lists(_lines, max_size=20), st.sampled_from(["\n", "\r\n"]))
keys = st.sampled_from(list(FIELDS))


def fresh(locale: str = "zh-TW") -> Profile:
    return new_profile(locale, language=locale, timezone="Asia/Taipei", joined="2026-01-30")


@given(st.one_of(texts, st.binary(max_size=200)))
def test_parse_then_render_is_the_identity(text: str | bytes) -> None:
    """A1: whatever a person made of the file is kept to the byte."""
    if isinstance(text, bytes):
        assert Profile.decode(text).encode() == text
    else:
        assert Profile.parse(text).text == text


@given(texts, keys, _values)
def test_a_change_keeps_every_line_of_other_things(text: str, key: str, value: str) -> None:
    profile = Profile.parse(text)
    value = FIELDS[key].values[0] if FIELDS[key].values else value
    if not clean(value, FIELDS[key].form):
        return
    changed = profile.put(key, value)
    rest = {line.rstrip() for line in text.split("\n")} - {line.rstrip() for line in changed.text.split("\n")}
    held = [line for line in rest if line.strip()]
    # Only lines of this field may differ.
    for line in held:
        assert any(
            same(line.lstrip(" -*+\t")[: len(label)], label) or key == "note" for label in FIELDS[key].labels
        ) or ("*" in line or "_" in line), line
    for other in FIELDS:
        if other != key:
            assert changed.get(other) == profile.get(other), other


@given(texts, keys, _values, st.booleans())
def test_what_is_put_is_read_again(text: str, key: str, value: str, strong: bool) -> None:
    value = FIELDS[key].values[0] if FIELDS[key].values else value
    wanted = canonical(key, clean(value, "scalar" if key == "note" else FIELDS[key].form))
    if not wanted:
        return
    profile = Profile.parse(text).put(key, value, strong=strong)
    got = profile.get(key)
    assert same(got, wanted) if isinstance(got, str) else any(same(v, wanted) for v in got or [])
    if FIELDS[key].form != "text":
        assert profile.is_strong(key, wanted) is strong
    assert profile.put(key, value, strong=strong).text == profile.text


@pytest.mark.parametrize("locale", LOCALES)
def test_a_new_profile_has_every_field_and_fills_what_is_known(locale: str) -> None:
    """A1: created at the first interaction; the day is filled in, language and time zone only where settings name
    them."""
    assert fresh(locale).values() == {"language": locale, "timezone": "Asia/Taipei", "joined": "2026-01-30"}
    profile = new_profile(locale, joined="2026-01-30")
    assert profile.values() == {"joined": "2026-01-30"}
    assert profile.locale == locale
    assert all(f"- {row.labels[LOCALES.index(locale)]}" in profile.text for row in FIELDS.values() if row.key != "note")


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("- 語言偏好：繁體中文", "zh-TW"),
        ("- 语言偏好: 简体中文", "zh-CN"),
        ("- Language: English (UK)", "en-GB"),
        ("- Language: English (UK) (strong)", "en-GB"),
        ("- **語言偏好**：中文（強偏好）", "zh"),
        ("- Language: Klingon", "Klingon"),
    ],
)
def test_a_language_that_a_person_wrote_is_read_as_its_tag_and_its_line_stays(line: str, tag: str) -> None:
    text = f"## 基本資訊\n{line}\n"
    profile = Profile.parse(text)
    assert profile.get("language") == tag and profile.is_strong("language", tag) is ("strong" in line or "強" in line)
    assert profile.put("theme", "dark").text.startswith(text)
    assert profile.put("language", tag, strong=profile.is_strong("language", tag)).text == text
    assert profile.put("language", "日文").get("language") == "ja"
    assert profile.without("language", tag).get("language") is None


def test_a_language_is_written_as_its_tag() -> None:
    assert "- 語言偏好：zh-TW\n" in fresh("zh-TW").put("language", "Traditional Chinese").text
    assert "- Language: en-GB (strong)\n" in fresh("en").put("language", "British English", strong=True).text


def test_a_language_that_nobody_knows_is_named_as_a_problem() -> None:
    for known in ("繁體中文", "zh", "sv", "English (UK)", ""):
        assert Profile.parse(f"## Basics\n- Language: {known}\n").problems() == []
    (problem,) = Profile.parse("## Basics\n- Language: Klingonisch\n").problems()
    assert problem == "line 2: 'Klingonisch' is no language that is known: write a tag such as zh-TW"


def test_the_line_of_the_format_page_in_three_languages() -> None:
    assert "\n- 主題偏好：dark\n" in fresh().put("theme", "dark").text
    assert "\n- 主題偏好：dark（強偏好）\n" in fresh().put("theme", "dark", strong=True).text
    assert "\n- 主题偏好：dark（强偏好）\n" in fresh("zh-CN").put("theme", "dark", strong=True).text
    assert "\n- Theme: dark (strong)\n" in fresh("en").put("theme", "dark", strong=True).text


def test_a_strong_mark_goes_away_again() -> None:
    profile = fresh().put("theme", "dark", strong=True)
    assert profile.put("theme", "dark").text == fresh().put("theme", "dark").text


@pytest.mark.parametrize(
    "line",
    ["- 主題偏好：dark", "* 主题偏好: Dark", "  - **Theme**: DARK", "- Theme：  dark（强偏好）", "- **Theme:** dark"],
)
def test_labels_are_read_in_every_language_and_dress(line: str) -> None:
    assert Profile.parse(f"# mine\n\n{line}\n").get("theme") == "dark"


def test_a_changed_line_keeps_its_dress() -> None:
    text = "intro\r\n* **Theme**:  light\r\nmore\r\n"
    assert Profile.parse(text).put("theme", "dark").text == "intro\r\n* **Theme**:  dark\r\nmore\r\n"


def test_lists_take_members_once_across_scripts_and_case() -> None:
    profile = fresh().put("languages", "Python").put("languages", "python").put("languages", "C++")
    assert profile.get("languages") == ["Python", "C++"]
    assert "- 程式語言：Python、C++\n" in profile.text
    topics = (
        fresh()
        .put("recent_topics", "資料庫索引")
        .put("recent_topics", "资料库索引")
        .put("recent_topics", "React hooks")
    )
    assert topics.get("recent_topics") == ["React hooks", "資料庫索引"]


def test_bounded_lists_forget_the_oldest() -> None:
    profile = fresh()
    for number in range(15):
        profile = profile.put("recent_topics", f"topic {number}")
    assert profile.get("recent_topics") == [f"topic {number}" for number in range(14, 4, -1)]


def test_each_bullet_of_other_memories_is_one_note() -> None:
    profile = fresh().put("note", "branch names: feat/學號-功能名，once per task").put("note", "Tools: none")
    assert profile.get("note") == ["branch names: feat/學號-功能名，once per task", "Tools: none"]
    assert profile.get("tools") == []
    assert profile.without("note", "tools: none").get("note") == ["branch names: feat/學號-功能名，once per task"]


def test_a_deleted_section_comes_back_only_with_something_to_say() -> None:
    profile = Profile.parse("I turned this into prose.\n\nIt is mine.\n")
    assert profile.values() == {}
    assert (
        profile.put("theme", "dark").text
        == "I turned this into prose.\n\nIt is mine.\n\n## 使用偏好\n- 主題偏好：dark\n"
    )


def test_a_deleted_line_comes_back_in_its_section() -> None:
    text = "# User profile\n\n## Preferences\n- Examples: with_examples\n\nmy own words\n\n## Learning\n"
    assert Profile.parse(text).put("theme", "dark").text == text.replace(
        "my own words\n", "my own words\n- Theme: dark\n"
    )


def test_fields_in_front_matter_and_code_are_nobodys() -> None:
    text = "---\n- Theme: dark\n---\n\n```\n- Theme: dark\n```\n"
    assert Profile.parse(text).get("theme") is None


def test_problems_are_named_with_their_line() -> None:
    profile = Profile.parse("- Theme: purple\n- Theme: dark\n")
    assert profile.get("theme") == "purple"
    assert [p.split(":")[0] for p in profile.problems()] == ["line 2", "line 1"]


def test_a_second_line_with_the_label_of_a_field_is_text() -> None:
    """The field is the line in its own section, else the first; setting it emptied the others."""
    text = "# Ann\n- Name: Rex\n- Tools: ball\n\n## Basics\n- Name:\n- Name: Ann\n\n## Background\n- Tools: vim\n"
    profile = Profile.parse(text)
    assert (profile.get("display_name"), profile.get("tools")) == (None, ["vim"])
    assert profile.put("display_name", "Zoe").text == text.replace("Name:\n", "Name: Zoe\n")
    assert profile.put("display_name", "Zoe").without("display_name").text == text
    assert profile.put("tools", "git").text == text.replace("vim", "vim, git")
    assert profile.without("tools").text == text.replace(" vim", "")
    assert [p.split(";")[0] for p in profile.problems()] == [
        *(f"line {n}: 稱呼 (display_name) is here a second time" for n in (7, 2)),
        "line 3: 工具 (tools) is here a second time",
    ]
    assert Profile.parse("- Tools: vim\n- Tools: git\n").without("tools").text == "- Tools:\n- Tools: git\n"


def test_values_are_kept_to_one_line() -> None:
    profile = fresh().put("display_name", "A\nmi\x00 \u2028# heading （強偏好）")
    assert profile.get("display_name") == "A mi # heading"
    assert profile.text.count("\n") == fresh().text.count("\n")


def test_invalid_values_are_refused() -> None:
    with pytest.raises(ValueError, match="purple"):
        fresh().put("theme", "purple")
    with pytest.raises(ValueError, match="not a key"):
        fresh().put("colour", "red")


@pytest.mark.parametrize("locale", LOCALES)
def test_an_item_is_read_as_it_was_written(locale: str) -> None:
    for item in (Item("dark", True), Item("dark")):
        assert Item.parse(item.render(locale)) == item
