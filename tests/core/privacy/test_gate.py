"""The gate before history: which secrets a text would bring in, and where they stand."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from vault_memory.core.privacy import Finding, Moved, places, secrets_added, shown_path

NOTE = PurePosixPath("memory/alice/notes/tea.md")
KEY = b"gh" + b"p_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_is_named_by_line_and_kind() -> None:
    text = b"one\npassword: hunter22\n\n" + KEY + b"\n"
    assert secrets_added(NOTE, [None], text) == [Finding(2, "password"), Finding(4, "token")]


def test_only_lines_that_no_known_text_has_are_searched() -> None:
    known = b"a\n" + KEY + b"\n"
    assert secrets_added(NOTE, [known], known + b"b\n") == []
    assert secrets_added(NOTE, [None, known], b"new\n" + known) == []
    assert secrets_added(NOTE, [known], known + b"pin: 4821\n") == [Finding(3, "password")]
    assert secrets_added(NOTE, [b"x\n"], b"y\nx\n" + KEY) == [Finding(3, "token")]


def test_a_key_of_several_lines_is_one_finding() -> None:
    body = b"-----BEGIN PRIVATE " + b"KEY-----\n" + b"MIIEabcdEFGH1234\n" * 8 + b"-----END PRIVATE " + b"KEY-----\n"
    assert secrets_added(NOTE, [b""], b"# keys\n\n" + body) == [Finding(3, "private-key")]


def test_what_is_deleted_or_binary_brings_nothing_in() -> None:
    picture = NOTE.with_suffix(".png")
    assert (
        secrets_added(NOTE, [KEY], None)
        == secrets_added(NOTE, [None], b"")
        == secrets_added(picture, [None, b"\x89PNG\0"], b"\0" + KEY)
        == []
    )


def test_a_nul_makes_no_binary_file_of_what_is_text() -> None:
    """A remote adds one to a note that is withheld here: it was committed and pushed."""
    found = [Finding(2, "token")]
    assert secrets_added(NOTE, [b"a\0\n"], b"a\0\n" + KEY + b"\0b\n") == found
    assert secrets_added(NOTE, [None], ("a\n" + KEY.decode()).encode("utf-16")) == found
    assert secrets_added(NOTE.with_name("Board.Canvas"), [None], b"\0\n" + KEY) == found
    other = NOTE.with_name("Makefile")
    assert secrets_added(other, [b"all:\n"], b"all:\n" + KEY + b"\0")[0].kind == "token"
    assert secrets_added(other, [b"\0"], b"\0\n" + KEY, was_held=True) == found
    assert secrets_added(other, [b"\0"], b"\0\n" + KEY) == []


def test_what_was_withheld_stays_so_when_somebody_else_commits_the_name_above_it() -> None:
    text = b"a\n## password\n\nTr0ub4dor&3xyz\nb\n"
    assert secrets_added(NOTE, [b"a\nb\n"], text) == [Finding(4, "password")]
    assert secrets_added(NOTE, [b"a\n## password\n\nb\n"], text, was_held=True) == [Finding(4, "password")]
    assert secrets_added(NOTE, [text], text + b"b\n", was_held=True) == [], "nothing new is one"


def test_lines_that_history_has_use_up_nothing_of_the_limit() -> None:
    long = b"word " * 900_000 + b"\n"
    assert secrets_added(NOTE, [long + b"b\n"], b"x\n" + long + KEY + b"\nb\n") == [Finding(3, "token")]


def test_many_findings_are_told_briefly() -> None:
    found = [Finding(line, "token") for line in range(1, 6)]
    assert places(found) == "line 1 (token), line 2 (token), line 3 (token), and 2 more"


TOKEN = KEY.decode()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (f"{TOKEN}.md", "[redacted: token].md"),
        ("password hunter2xyz.md", "password [redacted: password].md"),
        ("wifi-password-hunter2xyz.md", "wifi-password-[redacted: password].md"),
        ("密碼是hunter2xyz/tea.md", "密碼是[redacted: password]/tea.md"),
        ("11010519491231002X.tar.gz", "[redacted: id-number].tar.gz"),
        ("4111 1111 1111 1111.pdf", "[redacted: card].pdf"),
    ],
)
def test_a_secret_in_a_name_is_found_and_not_shown(name: str, shown: str) -> None:
    path = PurePosixPath("notes") / name
    for text in (b"tea\n", b"", b"\0"):
        assert [finding.line for finding in secrets_added(path, [None], text)] == [0]
    assert str(shown_path(path)) == f"notes/{shown}"
    assert secrets_added(path, [b"tea\n"], b"green\n") == secrets_added(path, [None], None) == []
    assert places(secrets_added(path, [None], b"pin: 4821\n")).startswith("its name (")


def test_a_moved_text_is_not_searched_but_its_new_name_is() -> None:
    path = PurePosixPath("password hunter2xyz.md")
    moved = Moved([(NOTE, KEY)])
    assert secrets_added(NOTE.with_name("a.md"), [None], KEY, moved) == []
    assert secrets_added(path, [None], KEY, moved) == [Finding(0, "password")]
    assert secrets_added(path.with_suffix(".txt"), [None], b"tea", Moved([(path, KEY)])) == []


def test_the_name_of_a_folder_that_history_has_is_not_new() -> None:
    folder = PurePosixPath("notes/password hunter2xyz")
    assert secrets_added(folder / "a.md", [None], b"tea", has_folder=lambda known: known == folder) == []
    assert secrets_added(folder / "a.md", [None], b"tea", has_folder=lambda known: known != folder) == [
        Finding(0, "password")
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("2026-03-04.md", "password-policy.md", "password reset v2.md", "api-key-rotation-2026.md", "tokens.json"),
        *("secret-santa-2026.md", "密碼管理.md", "IMG_20260304_101112.jpg", "conv_8f14e45fceea.jsonl", "v1.2.3.md"),
        *(
            "passwords/README.md",
            "OAuth2 tokens.md",
            "meeting 2026-03-04 14-30.md",
            "pin-board.md",
            "日記 2026年3月4日.md",
        ),
        *("9fceb02d0ae598e95dc970b74767f19372d61af8.png", "password-manager-1Password.md", "key-2024-01.md"),
    ],
)
def test_an_ordinary_name_passes(name: str) -> None:
    assert secrets_added(PurePosixPath(name), [None], b"tea\n") == []
