"""Names of entities: when two are one, their files, and the links to them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core import layout
from vault_memory.core.graph import Line, NewEntity, disk_key, file_stem, link, name_key
from vault_memory.core.graph.links import links_in
from vault_memory.core.graph.names import MAX_STEM_BYTES, checked_name, is_stem_of
from vault_memory.errors import UsageError

NAMES = st.text(min_size=1, max_size=120).filter(lambda text: text.strip() != "")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Redis", "redis"), ("Ｒｅｄｉｓ", "redis"), ("Café", "Cafe\u0301"), ("a  b", "A b"), ("STRASSE", "straße")],
)
def test_names_that_differ_in_case_or_width_are_one(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


def test_names_of_two_scripts_are_two() -> None:
    assert name_key("數據庫") != name_key("数据库") and name_key("a/b") != name_key("a-b")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Redis", "Redis"),
        ("資料庫 👩‍💻", "資料庫 👩‍💻"),
        ("src/app.py", "src-app.py"),
        ("a|b#c^d", "a-b-c-d"),
        ("[[Redis]]", "-Redis-"),
        ("100%% sure", "100- sure"),
        ("..", "entity"),
        ("/", "-"),
        (".env", "env"),
        ("~x", "x"),
        ("x. ", "x"),
        ("CON", "entity CON"),
        ("nul.txt", "nul-txt"),
        ("index.db", "index-db"),
        ("README.md", "README-md"),
        ("docs/a.MD", "docs-a-MD"),
        ("my .vault-memory folder", "my -vault-memory folder"),
    ],
)
def test_the_file_of_a_name(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_a_long_name_is_cut_between_characters() -> None:
    for name in ("x" * 300, "資" * 100, "👩‍💻" * 30):
        stem = file_stem(name)
        assert len(stem.encode()) <= MAX_STEM_BYTES and name.startswith(stem) and is_stem_of(stem, name)


def test_a_number_follows_where_the_file_is_anothers() -> None:
    taken = {disk_key("a-b")}
    assert file_stem("a|b", taken) == "a-b 2" and file_stem("A/B", taken) == "A-B 2"
    assert file_stem("a/b", {*taken, disk_key("a-b 2")}) == "a-b 3"
    assert is_stem_of("a-b 2", "a|b") and not is_stem_of("a-b two", "a|b") and not is_stem_of("Valkey", "Redis")


@given(NAMES)
def test_every_name_gets_a_file_that_is_kept_and_a_link_that_leads_to_it(text: str) -> None:
    try:
        name = checked_name(text)
    except UsageError:
        return
    stem = file_stem(name)
    path = PurePosixPath("memory", "alice", "entities", f"{stem}.md")
    assert layout.place_of(path) == layout.Place("alice", f"entities/{stem}.md")
    assert layout.kind_of(layout.Place("alice", f"entities/{stem}.md")) == "entity"
    assert not layout.is_private(path) and not layout.is_temporary(path.name) and not layout.is_for_programs(path)
    assert not re.search(r'[\\/:*?"<>|#^\[\]]', stem) and len(path.name.encode()) < 255 and stem == stem.strip(" .")
    assert [target for target, _ in links_in(f"uses {link(stem, name)} because")] == [stem]
    assert Line("uses", stem).key == name_key(stem), "the link leads to this file"
    assert is_stem_of(stem, name)


@pytest.mark.parametrize("name", ["", "  ", "\u200b", "a\x1bb", "x" * 501, None, 5])
def test_what_is_no_name(name: object) -> None:
    with pytest.raises(UsageError, match="name"):
        NewEntity(name)  # type: ignore[arg-type]


def test_a_name_keeps_the_joiners_of_emoji_and_loses_what_turns_the_line() -> None:
    assert NewEntity("👩‍💻\u202e x\ny").name == "👩‍💻 x y"
