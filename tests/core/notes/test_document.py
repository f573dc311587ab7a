from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.pace import assert_in_proportion
from vault_memory.core.notes import document
from vault_memory.core.notes.document import Document
from vault_memory.core.text import tokens

markdown = st.lists(
    st.one_of(
        st.sampled_from(
            ["# One", "## Two", "### Three", "", "- item", "  - inner", "1. first", "| a | b |", "|---|---|", "```"]
            + ["> said", "---", "title: x", "text " * 30, "很長的一段話。" * 40, "word " * 400, "[ref]: http://x"]
            + ["<div>", "\ttab"]
        ),
        st.text(alphabet=st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=40),
    ),
    max_size=60,
).map("\n".join)


def read(text: str, source: str = "a.md") -> Document:
    return document.read(source, "note", text.encode("utf-8", "replace"))


def segments(found: Document) -> list[tuple[int, str]]:
    return [(segment.line, c.text[segment.start : segment.end]) for c in found.chunks for segment in c.segments]


_pieces = st.lists(markdown.flatmap(lambda text: st.sampled_from([text, f"{text}\n", f"{text}\n"])), max_size=4)
_logs = st.lists(
    st.builds(
        "{} {}\n{}\n".format,
        st.sampled_from(["##", "##", "#", "###"]),
        st.sampled_from("ab"),
        st.sampled_from(["word " * 40, "word " * 120, "word " * 230, "word " * 900, ""]),
    ),
    max_size=12,
).map("".join)
_records = st.lists(
    st.sampled_from([json.dumps({"user": "word " * count, "assistant": "a\nb"}) + "\n" for count in (0, 9, 90, 170)])
    | st.sampled_from(["\n", "{}", "no record\n"]),
    max_size=12,
).map("".join)


def read_as_it_grew(source: str, pieces: list[str], cut: int = 0) -> int:
    """Read a file after each piece that is appended, and that replaces `cut` bytes at the end of what stood there, from
    its beginning and from where the last reading says that the next may go on: both must find the same. Returns how
    many chunks the second one did not read."""
    data, before, spared = b"", document.read(source, "daily", b""), 0
    for piece in pieces:
        kept = max(len(data) - cut, 0)
        data = data[:kept].decode(errors="ignore").encode() + piece.encode()
        whole = document.read(source, "daily", data)
        if before.resume and hashlib.sha256(data[: before.resume.size]).hexdigest() == before.resume.digest:
            grown = document.read(source, "daily", data, before.resume)
            found = replace(grown, first=0, chunks=before.chunks[: grown.first] + grown.chunks)
            assert replace(found, resume=whole.resume) == whole  # each may go on from where it can
            before = found
            spared += grown.first
        else:
            before = whole
    return spared


_LARGE = "## b\n" + "word " * 230 + "\n"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(_logs, _pieces, st.integers(0, 9_999))
@example("## a\nshort\n" + _LARGE * 5, ["x\n"], 5 * len(_LARGE) - 99)
@example("", ["## Two\n# One\n# One\n", "# One"], 0)
@example("", ["---\na\n## One\n" + "word " * 400 + "\n## Two\n## Three\n", "---\n"], 0)
@example("", ["# A\n" + "word " * 200 + "\n# B\nb\n\n" + "tea " * 45, "\n---\n", "c\n"], 0)
def test_a_file_that_grew_is_read_on_as_it_is_read_from_its_beginning(log: str, pieces: list[str], cut: int) -> None:
    """Also when its end has changed."""
    read_as_it_grew("daily/2026-01-30.md", [log, *pieces], cut)


@settings(deadline=None)
@given(st.lists(_records, max_size=4))
@example(['{"user": "%s"}\n' % ("word " * 200), '{"user": "%s"}' % (r"\u5b57" * 60), "no record\n", "\n"])
def test_a_record_that_grew_is_read_on_as_it_is_read_from_its_beginning(pieces: list[str]) -> None:
    read_as_it_grew("conversations/2026-01-30.jsonl", pieces)


def test_of_a_log_that_grew_only_the_end_is_read() -> None:
    day = date(2026, 1, 30)
    log = [f"# {day}\n\n"] + [f"## 14:{minute:02}\n- Request: {'tea ' * 100}\n\n" for minute in range(40)]
    assert read_as_it_grew("daily/2026-01-30.md", ["".join(log), log[1]]) > 10
    record = [json.dumps({"user": "tea " * 90}) + "\n"] * 40
    assert read_as_it_grew("conversations/2026-01-30.jsonl", ["".join(record), record[0]]) > 10


@given(markdown)
@example("---\n---")
@example("---\na: b\n---\n")
def test_every_line_belongs_to_exactly_one_chunk(text: str) -> None:
    """A5"""
    lines = text.split("\n")
    count = len(lines) - (lines[-1] == "")
    covered = [line for c in read(text).chunks for line in range(c.start, c.end + 1)]
    assert covered == list(range(1, count + 1))


@given(markdown)
def test_units_are_their_lines_text_and_lie_in_their_chunk(text: str) -> None:
    lines = text.split("\n")
    for c in read(text).chunks:
        for segment in c.segments:
            said = c.text[segment.start : segment.end]
            assert c.start <= segment.line <= c.end and said.strip() and said in lines[segment.line - 1]


@given(markdown)
@example("# One\n# One\n" + "很長的一段話。" * 52 + "\n===\n" + "很長的一段話。" * 54)
def test_chunks_are_at_most_about_400_tokens_unless_one_line_is_longer(text: str) -> None:
    """A5"""
    for c in read(text).chunks:
        body = c.text.split("\n")
        underlines = {n for n, row in enumerate(body) if row.strip() and not row.strip().strip("=-")}
        headings = underlines | {n - 1 for n in underlines}
        assert (
            sum(map(tokens.count, body)) <= document.MAX_CHUNK_TOKENS + 200
            or len([n for n, row in enumerate(body) if row.strip() and row.lstrip()[0] != "#" and n not in headings])
            <= 1
            or c.start == 1
        )


def test_chunks_follow_headings_and_know_their_path() -> None:
    long = "words of some length about one thing\n\n" * 40
    found = read(f"# Book\n\n{long}## Part\n\n{long}### Leaf\n\n{long}## Other\n\n{long}")
    assert list(dict.fromkeys(c.heading for c in found.chunks)) == [
        "Book",
        "Book > Part",
        "Book > Part > Leaf",
        "Book > Other",
    ]
    assert found.title == "Book"


def test_small_sections_share_a_chunk_and_keep_their_headings() -> None:
    [c] = read("# House\n\nOurs.\n\n## Wi-Fi\n\nhunter2\n\n## Boiler\n\n2 bar\n").chunks
    assert (c.heading, c.sections) == ("House", ((1, "Wi-Fi"), (2, "Boiler")))


def test_a_heading_is_never_cut_from_what_stands_below_it() -> None:
    found = read("---\ntitle: x\n---\n\n# Book\n\n## Part\n\n" + "words of some length about one thing. " * 60)
    assert [(c.start, c.heading, len(c.segments) > 1) for c in found.chunks] == [(1, "Book > Part", True)]


def test_a_field_without_a_value_is_no_unit() -> None:
    text = "# Profile\n\n- Name:\n- **稱呼**：\n- Language: en\n- To buy:\n  - milk\n\nThis follows:\n\n- one\n"
    assert [text for _, text in segments(read(text))] == [
        "- Language: en",
        "- To buy:",
        "  - milk",
        "This follows:",
        "- one",
    ]


def test_a_fence_hides_what_looks_like_a_heading() -> None:
    found = read("# A\n\n```\n# not a heading\n```\n")
    assert {c.heading for c in found.chunks} == {"A"}
    assert (4, "# not a heading") in segments(found)


def test_long_lines_are_cut_at_sentences() -> None:
    assert [text for _, text in segments(read("這是第一句話。" * 50))][0].endswith("。")
    english = segments(read("This is a sentence of some length. " * 30))
    assert len(english) > 2 and all(line == 1 and len(text) <= document.MAX_SEGMENT_CHARS for line, text in english)


def test_front_matter_gives_title_tags_and_day_and_is_no_passage() -> None:
    found = read("---\ntitle: Tea\ntags: [drink]\ndate: 2024-02-03\n---\nGreen tea.\n")
    assert (found.title, found.tags, found.day) == ("Tea", ("drink",), date(2024, 2, 3))
    assert segments(found) == [(6, "Green tea.")] and found.chunks[0].start == 1


def test_a_note_of_headings_alone_is_found_by_them() -> None:
    assert segments(read("# Only a title\n")) == [(1, "# Only a title")]


def test_a_conversation_is_read_as_what_was_said_with_the_record_s_lines() -> None:
    """A5: conversation records, those of older programs too."""
    rows = [
        json.dumps(
            {"conversation_id": "c", "user_id": "u", "user_message": "Hi there", "assistant_message": "Hello\nyou"}
        ),
        "broken",
        json.dumps({"timestamp": "x", "user": "old", "assistant": None, "backend": "b"}),
    ]
    found = document.read("conversations/2026-01-30.jsonl", "conversation", "\n".join(rows).encode())
    assert segments(found) == [(1, "Hi there"), (1, "Hello"), (1, "you"), (2, "broken"), (3, "old")]
    assert found.day == date(2026, 1, 30) and "line 2" in found.problems[0]


def test_bad_bytes_are_replaced_and_told() -> None:
    found = document.read("a.md", "note", b"good\nbad \xff byte\n")
    assert segments(found)[1] == (2, "bad \ufffd byte") and "line 2" in found.problems[0]


def test_a_reflection_is_read_as_a_line_that_says_so() -> None:
    """D8: whatever else anybody wrote there is passed over."""
    rows = [
        {
            "user_message": "hi",
            "assistant_message": "hello",
            "reflection": {"summary": "too short", "causes": ["haste"]},
        },
        {"user_message": "部署", "reflection": {"summary": "部署失敗", "causes": []}},
        {"user_message": "x", "reflection": 5},
    ]
    text = "\n".join(json.dumps(row) for row in rows)
    found = document.read("conversations/2026-01-30.jsonl", "conversation", text.encode())
    assert segments(found) == [
        *((1, "hi"), (1, "hello"), (1, "Reflection: too short; haste")),
        *((2, "部署"), (2, "反思：部署失敗"), (3, "x")),
    ]


@pytest.mark.slow
def test_a_record_is_read_further_than_a_note() -> None:
    """It grows by itself: of one of more than 4 MB what was said last was not found."""
    line = json.dumps({"user_message": "some words. " * 80_000}).encode() + b"\n"
    records = [document.read("conversations/2026-01-30.jsonl", "conversation", line * count) for count in (10, 30)]
    assert records[0].chunks[-1].end == 10 and not records[0].problems
    assert records[1].chunks[-1].end == document.MAX_RECORD_BYTES // len(line)
    assert records[1].problems == ("only the first 20,000,000 bytes are indexed: the daily log tells of the rest",)


@pytest.mark.slow
def test_a_huge_note_is_read_up_to_a_bound() -> None:
    found = document.read("a.md", "note", b"line of a log\n" * 600_000)
    assert found.chunks[-1].end * 14 <= document.MAX_FILE_BYTES and "only the first" in found.problems[0]


@given(st.binary(max_size=300), st.sampled_from(["a.md", "conversations/2026-01-30.jsonl"]))
def test_no_bytes_make_reading_fail(data: bytes, source: str) -> None:
    document.read(source, "note", data)


def test_a_profiles_own_headings_say_nothing() -> None:
    text = "# User\n\n## Tools\n- Editor: Vim\n\n## Notes\n"
    segments = {
        kind: [u.line for c in document.read("USER.md", kind, text.encode()).chunks for u in c.segments]
        for kind in ("profile", "note")
    }
    assert segments == {"profile": [4], "note": [4, 6]}


@pytest.mark.slow
def test_a_list_without_end_is_read_in_proportion() -> None:
    def read(items: int) -> document.Document:
        return document.read("notes/a.md", "note", b"# top\n" + b"- a\n" * items + b"# far\nthe end\n")

    assert_in_proportion(read, 20_000)
    last = read(100_000).chunks[-1]
    assert last.end == 100_003 and "the end" in last.text and last.heading == "top", (
        "beyond the bound no heading is read"
    )


def test_a_heading_of_any_length_has_a_name() -> None:
    found = document.read("notes/a.md", "note", b"# " + b"ab " * 100_000 + b"\ntext\n")
    assert len(found.title) <= document.MAX_BLOCK_CHARS and len(found.chunks[0].text) > 300_000


@pytest.mark.slow
def test_a_file_that_is_cut_is_cut_between_characters() -> None:
    found = document.read("notes/a.md", "note", "我".encode() * (document.MAX_FILE_BYTES // 3 + 100))
    assert [problem.partition(" bytes")[0] for problem in found.problems] == ["only the first 4,000,000"]


@pytest.mark.parametrize("end", "\r\x0b\x0c\x1c\x85\u2028\u2029")
def test_only_a_line_feed_ends_a_line(end: str) -> None:
    found = document.read("notes/a.md", "note", f"a{end}b\r\nc\n".encode())
    assert found.chunks[0].text == f"a{end}b\nc" and found.chunks[0].end == 2
    said = json.dumps({"user_message": f"x{end}y"}, ensure_ascii=False).encode()
    read = document.read("conversations/2026-01-30.jsonl", "conversation", said + b"\n{}\n")
    assert read.chunks[0].end == 2 and not read.problems


def test_only_so_many_lines_are_read() -> None:
    data = b"\n" * (document.MAX_LINES - 5) + b"x\n" * 10
    found = document.read("note.md", "note", data)
    assert [*found.problems] == [f"only the first {document.MAX_LINES:,} lines are indexed: divide the file"]
    assert sum(chunk.text.count("x") for chunk in found.chunks) == 5
