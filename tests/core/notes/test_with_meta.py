"""Another value of a key: all other lines of the note stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.notes import note

WRITTEN = """---
# mine
type: fact
tags:
- tea
- hot
"quoted": yes   # a comment
importance: 0.50
created_at: 2026-01-30T10:00:00+08:00
---

The body: as it is
---
"""


def test_only_the_lines_of_the_key_change() -> None:
    changed = note.with_meta(WRITTEN, {"importance": 0.9, "access_count": 3})
    assert changed == WRITTEN.replace("importance: 0.50", "importance: 0.9").replace(
        "+08:00\n", "+08:00\naccess_count: 3\n"
    )


def test_a_list_goes_as_a_whole_and_comes_as_a_whole() -> None:
    assert note.with_meta(WRITTEN, {"tags": None}) == WRITTEN.replace("tags:\n- tea\n- hot\n", "")
    assert note.with_meta(WRITTEN, {"tags": ["cold"]}) == WRITTEN.replace("- tea\n- hot\n", "- cold\n")


def test_a_note_without_front_matter_gets_some() -> None:
    assert note.with_meta("tea\n", {"type": "fact", "title": None}) == "---\ntype: fact\n---\ntea\n"
    assert note.with_meta("---\n---\ntea\n", {"type": "fact"}) == "---\ntype: fact\n---\ntea\n"


def test_line_ends_of_windows_stay() -> None:
    text = "---\r\ntype: fact\r\n---\r\ntea\r\n"
    assert note.with_meta(text, {"type": "note", "n": 1}) == "---\r\ntype: note\r\nn: 1\r\n---\r\ntea\r\n"


@pytest.mark.parametrize(
    "yaml",
    [
        "{type: fact, n: 1}\n",
        "text: |\n  a\n\n  type: no\ntype: fact\n",
        "'type' : fact\nn: 1\n",
        "type: >\n\n  fact\n",
    ],
    ids=["flow", "block", "quoted", "folded"],
)
def test_front_matter_of_another_form_is_changed_all_the_same(yaml: str) -> None:
    before = note.parse(f"---\n{yaml}---\nbody\n")
    after = note.parse(note.with_meta(f"---\n{yaml}---\nbody\n", {"type": "note"}))
    assert after.meta == {**before.meta, "type": "note"} and after.body == "body\n"


def test_broken_front_matter_is_told() -> None:
    with pytest.raises(ValueError, match="line"):
        note.with_meta("---\ntype: [fact\n---\nbody\n", {"type": "note"})


TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C"]), max_size=15)
VALUES = st.one_of(TEXTS, st.integers(), st.booleans(), st.lists(TEXTS, max_size=3))


@given(
    st.dictionaries(TEXTS.filter(str.strip), VALUES, max_size=5),
    st.dictionaries(st.sampled_from(["a", "b b", "type", "c:d"]), st.one_of(st.none(), VALUES), max_size=3),
    TEXTS,
)
def test_the_values_are_what_was_asked(meta: dict, changes: dict, body: str) -> None:
    text = note.render(meta, body)
    after = note.parse(note.with_meta(text, changes))
    merged = {**note.parse(text).meta, **changes}
    assert after.meta == {key: value for key, value in merged.items() if key not in changes or value is not None}
    assert after.body == note.parse(text).body
