"""Every parser, given anything: it returns, or raises an error of ours; it takes a moment; what it promises to keep, it
keeps.

Random texts are made of what the parsers look for. `data/hostile.json` records inputs that once did harm, each as
[start, piece, times, end].
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import TAIPEI
from tests.pace import assert_at_most
from vault_memory.config import Config
from vault_memory.core import layout, reading, timing, trailers
from vault_memory.core.chat import escape, inject, prompt, read_request, read_response
from vault_memory.core.diary import daily, digest, tasks
from vault_memory.core.extraction import extract, llm, load_lexicon
from vault_memory.core.merging import merge
from vault_memory.core.merging.line_merge import merge_lines
from vault_memory.core.notes import Turn, document, note, parse_line
from vault_memory.core.privacy import redact, without_private
from vault_memory.core.profile import FIELDS, PastTurn, Profile, changes_between, clean, computed
from vault_memory.core.text import tokens
from vault_memory.errors import ConfigError, InvalidId

pytestmark = pytest.mark.slow

MAX_WORKS = 300
"""Fixed works for one input of at most some 100 kB; the parsers take a hundredth of it."""
EXAMPLES = [pytest.param(100, id="some"), pytest.param(4_000, marks=pytest.mark.soak, id="many")]
RECORDED = json.loads((Path(__file__).parent / "data/hostile.json").read_text("utf-8"))
CORPUS = [start + piece * times + end for start, piece, times, end in RECORDED]

PIECES = (
    *("---\n", "...\n", "title: ", "tags: [", "date: 2026-01-30\n", "&a ", "*a", "<<: ", "!!str ", "? ", "- "),
    *("{a: ", "|\n", "# ", "## 使用偏好\n", "## 其他記憶\n", "- 主題偏好：dark", "（強偏好）", "- 工具：", "、", "，"),
    *("**", "```\n", "~~~", '{"user_message": "', '", "created_at": "2026-01-30T14:05:00+08:00"}\n'),
    *('{"choices": [{"delta": ', "data: ", "[DONE]", "[", "]", "{", "}", '"', "'", "\\", "\\u2028", "\\ud800"),
    *(":", "：", ",", "=", "#", "<", ">", "</", "`", "|", "\t", " ", "\n", "\r\n", "\r", "\x00", "\x0b", "\x1c"),
    *("\x85", "\u2028", "\u200b", "\ufeff", "\u0301\u0316", "\ud800", "😀", "İ", "ﷺ", note.CONFLICT_OPEN),
    *(note.CONFLICT_MIDDLE, note.CONFLICT_CLOSE, "<vault-memory>\n", "</vault-memory>", "<system-reminder>"),
    *("Vault-Key: theme\n", "Reason: 「", "2026年1月30日", "May 8th, ", "99999999999", "0x", "1:1", "1e999"),
    *(".inf", "0001-01-01", "我喜歡", "暗色主題", "以後都用", "不要", "請叫我", "call me ", "I like ", "dark mode"),
    *("remember ", "我住在", "，", "。", "？", "password: ", "密碼是", "sk-proj-", "AKIA", "4111 1111 1111 1111"),
    *("a@b.co", "https://", "notes/../", "memory/alice/", "[watch]\n", "settle_ms = ", "locale = ", '"""'),
    *("[lexicon]\n", "languages = [", "a.b.", "[[x]]\n", "03:00", "15m"),
)  # fmt: skip
pieces = st.sampled_from(PIECES)
texts = st.one_of(
    st.lists(pieces, max_size=30).map("".join),
    st.builds(lambda a, b, times, c: a + b * times + c, pieces, pieces, st.integers(1, 5_000), pieces),
    st.text(max_size=100),
    st.text(st.characters(), max_size=60),
)  # fmt: skip


def json_in_tree(text: str) -> None:
    for data in (text, text.encode("utf-8", "surrogatepass")):
        try:
            reading.json_value(data)
        except ValueError:
            continue


def front_matter(text: str) -> None:
    for whole in (text, f"---\n{text}\n---\nbody"):
        read = note.parse(whole)
        bare = whole.removeprefix("\ufeff")
        assert bare.endswith(read.body) and len(read.problems) <= 1
        assert read.body_line == bare[: len(bare) - len(read.body)].count("\n") + 1
        json.dumps(dict(read.meta)), read.title, read.tags


def a_document(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for source in ("notes/a.md", "USER.md", "daily/2026-01-30.md", "MEMORY.md", "conversations/2026-01-30.jsonl"):
        kind = layout.kind_of(layout.Place("alice", source))
        found = document.read(source, kind, data)
        count = len(reading.lines(data.decode("utf-8", "replace").replace("\r\n", "\n")))
        assert [chunk.start for chunk in found.chunks[1:]] == [chunk.end + 1 for chunk in found.chunks[:-1]]
        assert not found.chunks or (found.chunks[0].start, found.chunks[-1].end) == (1, count)
        for chunk in found.chunks:
            for line, start, end in chunk.segments:
                assert chunk.start <= line <= chunk.end and 0 <= start < end <= len(chunk.text)
                tokens.stems(chunk.text[start:end])


def profile(text: str) -> None:
    read = Profile.parse(text)
    assert read.text == text
    data = text.encode("utf-8", "surrogatepass")
    assert Profile.decode(data).encode() == data
    read.values(), read.problems(), read.locale
    for key, value in (("theme", "dark"), ("tools", text), ("note", text), ("display_name", text)):
        if not clean(value, "scalar" if key == "note" else FIELDS[key].form):
            continue
        after = read.put(key, value)
        lines = iter(after.text.split("\n"))
        untouched = [
            line for line in text.rstrip("\n").split("\n") if line.strip() and ":" not in line and "：" not in line
        ]
        if not text.startswith(("- ", "\t", " ")) and key == "theme":
            is_kept = all(any(line.rstrip() == old.rstrip() for line in lines) for old in untouched)
            assert is_kept
        changes_between(read, after, 5)


def a_merge(text: str) -> None:
    third = max(len(text) // 3, 1)
    base, ours, theirs = text[:third], text[: 2 * third], text[:third] + text[2 * third :]
    for path in (
        "notes/a.md",
        "memory/alice/USER.md",
        "memory/alice/daily/2026-01-30.md",
        "memory/alice/feedback.jsonl",
    ):
        data = [part.encode("utf-8", "surrogatepass") for part in (base, ours, theirs)]
        merged = merge.merge_file(PurePosixPath(path), *data, lambda key: "theirs")
        assert merged is not None
        assert merge.merge_file(PurePosixPath(path), None, data[1], data[2]) is not None
        assert len(note.conflicts_in(merged.text)) >= 0
    merged = merge_lines(base, ours, theirs)
    kept = set(merged.text.split("\n"))
    assert (set(ours.split("\n")) | set(theirs.split("\n"))) - set(base.split("\n")) <= kept
    assert merge_lines(base, ours, base).text == ours


def records(text: str) -> None:
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")  # as `record_turn` makes it
    at = datetime(2026, 1, 30, 14, 5, tzinfo=TAIPEI)
    line = Turn("c", "alice", at, text, text, {"summary": text}).line()
    assert reading.lines(line + "\n") == [line]
    assert parse_line(line)["user_message"] == text
    for row in reading.lines(text):
        try:
            assert isinstance(parse_line(row), dict)
        except ValueError:
            continue


def a_log(text: str) -> None:
    at = datetime(2026, 1, 30, 14, 5, tzinfo=TAIPEI)
    said = daily.Request(at, text, "conversations/2026-01-30.jsonl:1", "1a2b3c4d", text, text, [clean(text)])
    entry = daily.with_request("", said, "zh-TW").removeprefix("# 2026-01-30\n\n")
    assert [line[:2] for line in reading.lines(entry)] == ["##", "- "]
    grown = daily.with_request(text, said, "zh-TW")
    rest = iter(grown.split("\n"))
    assert all(line in rest for line in text.split("\n") if line), "nothing that stands there is lost"
    daily.with_reply(text, said, "en")
    daily.with_outcome(grown, at, text, text)
    digest(grown, "2026-01-30")
    tasks.with_turn(text, at, text, text, text, "en", is_reply=True)


def a_message(text: str) -> None:
    trailers.parse(text)
    made = trailers.render(text, text, trailers.Trailers(user="alice", key="theme", new=text))
    made.encode()
    read = trailers.parse(made)
    if subject := redact(trailers.single_line(text)).text:
        assert read.subject == subject and read.trailers["Vault-Key"] == "theme"


def a_request(text: str) -> None:
    for request in (
        {"messages": [{"role": "user", "content": text}]},
        {"messages": [{"role": "system", "content": text}, {"role": "user", "content": [{"text": text}]}]},
        {"messages": [{"role": text, "content": [text, {"text": {}}]}, {"role": "user", "content": {"text": text}}]},
        {"messages": text},
    ):  # fmt: skip
        found = read_request(request)
        if found is None:
            continue
        injected = inject(json.dumps(request), "memory", found.message_index, found.part_index)
        assert "memory" in read_request(json.loads(injected)).text  # type: ignore[union-attr]
    with suppress(ValueError):
        read_request(reading.json_value(text))


def a_response(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for media_type in ("text/event-stream", "application/json", text):
        read_response(media_type, data)
        read_response(media_type, b"data: " + data + b"\n\n")


def a_prompt(text: str) -> None:
    sections = [prompt.Section("relevant-memories", (escape(text),)), prompt.Section("user-request", (text,))]
    kept, _ = prompt.fit(sections, 50)
    block = prompt.as_block(kept, "en")
    prompt.without_injected(f"{block}\n{text}")
    assert prompt.tokens(text) >= 0


def dates(text: str) -> None:
    for part in (text, f"May 8 {text}", f"2026年{text}"):
        tokens.date_terms(part), tokens.query_terms(part), tokens.stems(part)
    with suppress(ValueError):
        timing.parse_schedule(text)


def names(text: str) -> None:
    with suppress(InvalidId):
        layout.check_user_id(text)
    if "\0" not in text:
        path = PurePosixPath(text)
        if place := layout.place_of(path):
            layout.kind_of(place), layout.day_of(place.source)
        layout.scope_of(path)


def what_is_said(text: str) -> None:
    for message in (text, f"我喜歡{text}", f"I like {text}"):
        for signal in extract(message, text, {"theme": "dark", "tools": [text[:200] or "x"]}):
            assert signal.key in FIELDS and signal.value
    computed.question_style([PastTurn(text, None, False)] * computed.MIN_TURNS)


def a_models_answer(text: str) -> None:
    for response in (text, f"```json\n{text}\n```", json.dumps({"changes": [{"key": text}]})):
        try:
            llm.parse(response)
        except ValueError:
            continue
    change = {"key": "theme", "op": "set", "value": "dark", "strength": "explicit", "quote": text}
    llm.grounded(llm.parse(json.dumps({"changes": [change]})), f"dark {text}", {}, load_lexicon())


def what_is_private(text: str) -> None:
    redacted = redact(text).text
    assert redact(redacted).text == redacted
    without_private(text[:20_000])


PARSERS: dict[str, Callable[[str], Any]] = {
    "JSON": json_in_tree,
    "front matter": front_matter,
    "documents": a_document,
    "USER.md": profile,
    "merge": a_merge,
    "records": records,
    "logs": a_log,
    "commit messages": a_message,
    "requests": a_request,
    "responses": a_response,
    "prompts": a_prompt,
    "dates": dates,
    "names": names,
    "extraction": what_is_said,
    "a model's answer": a_models_answer,
    "privacy": what_is_private,
}


def in_time(parser: Callable[[str], Any], text: str) -> None:
    try:
        assert_at_most(MAX_WORKS, lambda: parser(text))
    except AssertionError as error:
        raise AssertionError(f"{text[:40]!r} … of {len(text)} characters") from error


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("parser", PARSERS.values(), ids=PARSERS)
def test_a_parser_given_anything(parser: Callable[[str], Any], examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(texts)
    def anything(text: str) -> None:
        in_time(parser, text)

    anything()


@pytest.mark.parametrize("parser", PARSERS.values(), ids=PARSERS)
def test_a_parser_given_what_once_did_harm(parser: Callable[[str], Any]) -> None:
    for text in CORPUS:
        in_time(parser, text)


@pytest.mark.parametrize("examples", EXAMPLES)
def test_settings_of_any_text(tmp_path: Path, examples: int) -> None:
    file = tmp_path / "vault-memory.toml"

    def read_or_refuse(text: str) -> None:
        try:
            Config.load(file, {})
        except ConfigError as error:
            assert len(str(error)) < 30_000

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(texts)
    def anything(text: str) -> None:
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        in_time(read_or_refuse, text)

    anything()
