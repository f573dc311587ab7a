"""The gate before history: which secrets a text would bring in, and where they stand."""

from __future__ import annotations

from vault_memory.core.privacy import Finding, places, secrets_added

KEY = b"gh" + b"p_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_is_named_by_line_and_kind() -> None:
    text = b"one\npassword: hunter22\n\n" + KEY + b"\n"
    assert secrets_added([None], text) == [Finding(2, "password"), Finding(4, "token")]


def test_only_lines_that_no_known_text_has_are_searched() -> None:
    known = b"a\n" + KEY + b"\n"
    assert secrets_added([known], known + b"b\n") == []
    assert secrets_added([None, known], b"new\n" + known) == []
    assert secrets_added([known], known + b"pin: 4821\n") == [Finding(3, "password")]
    assert secrets_added([b"x\n"], b"y\nx\n" + KEY) == [Finding(3, "token")]


def test_a_key_of_several_lines_is_one_finding() -> None:
    body = b"-----BEGIN PRIVATE " + b"KEY-----\n" + b"MIIEabcdEFGH1234\n" * 8 + b"-----END PRIVATE " + b"KEY-----\n"
    assert secrets_added([b""], b"# keys\n\n" + body) == [Finding(3, "private-key")]


def test_what_is_deleted_or_binary_brings_nothing_in() -> None:
    assert secrets_added([KEY], None) == secrets_added([None], b"") == secrets_added([None], b"\0" + KEY) == []


def test_many_findings_are_told_briefly() -> None:
    found = [Finding(line, "token") for line in range(1, 6)]
    assert places(found) == "line 1 (token), line 2 (token), line 3 (token), and 2 more"
