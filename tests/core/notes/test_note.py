from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory.core.notes import note

scalars = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=20)


def test_front_matter_and_body_with_their_lines() -> None:
    read = note.parse("---\ntitle: Tea\ntags: [drink, '#hot']\n---\n\n# Tea\n")
    assert (read.title, read.tags, read.body, read.body_line) == ("Tea", ("drink", "hot"), "\n# Tea\n", 5)


def test_tags_may_be_words() -> None:
    assert note.parse("---\ntags: drink, hot\n---\n").tags == ("drink", "hot")
    assert note.parse("---\ntags: drink hot\n---\n").tags == ("drink", "hot")


def test_broken_front_matter_is_told_and_the_body_read() -> None:
    """Bad input of the first release: the body of a note with broken YAML is indexed all the same."""
    read = note.parse("---\ntitle: [unclosed\n---\nbody\n")
    assert read.body == "body\n" and read.meta == {} and "lines 1-3" in read.problems[0]


def test_yaml_that_would_run_code_is_refused() -> None:
    read = note.parse("---\nx: !!python/object/apply:os.system ['true']\n---\nbody")
    assert read.problems and read.body == "body"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    text = "---\n\nno end"
    assert note.parse(text).body == text


@given(st.text(max_size=300))
def test_nothing_is_lost_of_any_text(text: str) -> None:
    read = note.parse(text)
    before = text.removesuffix(read.body)
    assert before + read.body == text and read.body_line == before.count("\n") + 1


@given(st.dictionaries(scalars.filter(bool), st.one_of(scalars, st.integers(), st.lists(scalars)), max_size=4), scalars)
@example({"\xa0": ""}, "")
@example({"title": "tea\u3000"}, "")
def test_parse_reads_what_render_wrote(meta: dict[str, object], body: str) -> None:
    read = note.parse(note.render(meta, body + "\n"))
    assert read.body == body + "\n" or not meta
    assert dict(read.meta) == meta or not meta


def test_conflict_blocks_of_git_count_outside_code() -> None:
    block = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"
    assert note.conflicts_in(f"x\n{block}y\n{block}") == [(2, 6), (8, 12)]
    assert note.conflict_marks(f"x\n{block}") == {2, 4, 6}
    assert note.conflicts_in(f"```\n{block}```\n") == [] and note.conflicts_in("<<<<<<< HEAD\na\n") == []
