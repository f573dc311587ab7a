"""Lines end where JSON and git say they do; JSON and TOML of others are read within bounds."""

from __future__ import annotations

import contextlib
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vault_memory
from tests.pace import assert_in_proportion, repeated
from vault_memory.core.reading import MAX_KEY_PARTS, MAX_NESTING, json_value, lines, plain_text, toml_table

NO_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What `str.splitlines` takes for the end of a line, and JSON for a part of a text."""


def test_a_line_ends_at_a_line_feed_only() -> None:
    assert lines(f"a{NO_ENDS}b\nc\r\nd\re") == [f"a{NO_ENDS}b", "c", "d\re"]
    assert lines(b"a\r\nb\rc\n\n") == [b"a", b"b\rc", b""]
    assert (lines(""), lines("\n"), lines("a\n")) == ([], [""], ["a"])
    assert lines("a\r\nb", keep_ends=True) == ["a\r\n", "b"]


def test_no_other_function_of_ours_says_where_a_line_ends() -> None:
    package = Path(vault_memory.__file__).parent
    files = [path for path in package.rglob("*.py") if path.name != "reading.py"]
    assert [path.name for path in files if ".splitlines(" in path.read_text(encoding="utf-8")] == []


@given(st.text(st.sampled_from("a\r\n\u2028"), max_size=12))
def test_nothing_of_a_text_is_lost(text: str) -> None:
    assert "".join(lines(text, keep_ends=True)) == text
    assert lines(text.encode()) == [line.encode() for line in lines(text)]


def test_what_is_no_number_of_json_becomes_a_text() -> None:
    value = json_value("[1e999, -1e999, NaN, -Infinity, 1.5, %s.0]" % ("9" * 400))
    assert value == ["1e999", "-1e999", "NaN", "-Infinity", 1.5, "9" * 400 + ".0"]
    json.dumps(value, allow_nan=False)


def test_deep_json_is_a_value_error() -> None:
    deep = "[" * MAX_NESTING + "]" * MAX_NESTING
    assert json_value(deep) == json.loads(deep)
    assert json_value("[" + "[],{}," * 200 + "0]")[-1] == 0, "many are not deep"
    for text in (f"[{deep}]", '{"a":' * 500 + "0" + "}" * 500, "[" * 100_000):
        with pytest.raises(ValueError, match="nested"):
            json_value(text)
        with pytest.raises(ValueError, match="nested"):
            json_value(text.encode())


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 5_000, "x = " + "{a=" * 5_000, "a." * 50_000 + "a = 1", "[" + "a." * 50_000 + "a]"]
)
def test_deep_toml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="nested|parts"):
        toml_table(text)


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_what_stands_in_a_text_or_comment_is_not_counted(quote: str) -> None:
    inside = "[{." * 100
    table = toml_table(f"# it's {inside}\nx = {quote}{inside}{quote}  # {inside}\n[a.b]\ny = [[1]]\n")
    assert table == {"x": inside, "a": {"b": {"y": [[1]]}}}
    with pytest.raises(ValueError):
        toml_table(f"x = {quote}{inside}")
    assert toml_table(".".join("k" * MAX_KEY_PARTS) + " = 1")


def test_half_a_character_is_replaced() -> None:
    """`\\ud800` alone is valid JSON, and no encoding can write it: a search or a response that shows it would fail."""
    value = json_value(r'{"a\uD83D": ["x \ud800 y", "\ud83d\ude00", 1, null], "b": "\\ud800"}')
    assert value == {"a\ufffd": ["x \ufffd y", "😀", 1, None], "b": r"\ud800"}
    json.dumps(json_value(rb'["\udc00"]'), ensure_ascii=False).encode()


TRIPLE = "'" * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ['\\"', '"a', "'a", "\\", '"""', f"{TRIPLE}a", "[a]\n", "#", "a=", f"x={TRIPLE}", '["""x"""",']
)
@pytest.mark.parametrize("start", ['a = "', "a = '", 'a = """', f"a = {TRIPLE}", ""])
def test_settings_that_do_not_end_are_read_in_a_time_in_proportion(start: str, piece: str) -> None:
    def read(size: int) -> None:
        with contextlib.suppress(ValueError):
            toml_table(start + repeated(piece, size))

    assert_in_proportion(read, 50_000)


def test_a_text_that_ends_with_more_quotes_hides_no_brackets() -> None:
    assert toml_table('a = ["""x"""", 1]') == {"a": ['x"', 1]}
    for opening in ('["""x"""", ', '["""x""""", ', f"[{TRIPLE}x{TRIPLE}', ", f"[{TRIPLE}x{TRIPLE}'', "):
        with pytest.raises(ValueError, match="nested"):
            toml_table(f"a = {opening}" + "[" * 5_000)


def test_bytes_are_json_in_utf_8_only() -> None:
    """Half of a surrogate pair in the bytes, or another encoding, would be a text that nothing can write."""
    for data in (b'"a\xed\xa0\x80b"', '"a"'.encode("utf-16-le"), b'"\xff"'):
        with pytest.raises(ValueError):
            json_value(data)
    assert json_value('\ufeff"鳥"'.encode()) == "鳥"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" a\r\nb\rc\u2028d\x0ce \n", "a\nb\nc\nd\ne"),
        ("\x1b[1;31mred\x1b[0m\x07 alert\x00", "red alert"),
        ("\x1b]0;title\x07words \x1b]8;;https://x\x1b\\link", "words link"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("tab\tstays, 中文\u200d too", "tab\tstays, 中文\u200d too"),
        ("\ud800", "\ufffd"),
    ],
)
def test_plain_text_holds_nothing_that_a_terminal_obeys(given: str, kept: str) -> None:
    assert plain_text(given) == kept


@given(st.text(st.sampled_from("\x1b[]31m\x07\\\r\n\x00 \u202ea\ud800") | st.characters()))
def test_plain_text_is_idempotent_and_has_no_controls(text: str) -> None:
    found = plain_text(text)
    assert plain_text(found) == found == found.strip()
    assert not [char for char in found if char not in "\n\t" and unicodedata.category(char) == "Cc"]
