"""The views of a text: when there is only the plain one, the engine of the secrets makes none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.core.privacy import redact
from vault_memory.core.privacy.views import ASCII_FORMS, DISGUISE_CHAR, DISGUISED, views

PIECES = (
    *"aZ09+/=_-.*`~<>&%\\|#\"' \t\n\r，：\u200b\u2028\u00a0",
    *(
        "\\n",
        "&amp;",
        "%41",
        "<b>",
        "__",
        "aB1",
        "sk-",
        '" + "',
        "\\\n",
        "\n> ",
        "ghp_",
        "xY9zQ",
        "1234",
        "ABCD",
        "AKIA7",
    ),
)


def is_disguised(plain: str) -> bool:
    return bool(DISGUISE_CHAR.search(plain) and DISGUISED.search(plain))


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=500, deadline=None)
def test_a_text_without_a_disguise_has_one_view_only(text: str) -> None:
    if not is_disguised(text.translate(ASCII_FORMS)):
        assert [view.text for view in views(text)] == [text.translate(ASCII_FORMS)]


def test_ordinary_lines_are_not_disguised() -> None:
    for line in (
        "以後後端都用 Go，請教我",
        '{"key": "theme", "op": "set", "count": 1}',
        "- 稱呼：Ann\n- 語言：zh-TW\n",
    ):
        assert not is_disguised(line.translate(ASCII_FORMS))


@pytest.mark.parametrize(
    "cut",
    [
        "\\_",
        "&lowbar;",
        "_&shy;",
        "_<wbr>",
        "_<!---->",
        "_\x1b[0m",
        "_\x08",
        "_\U000e0041",
        "_\u00ad",
        "_</span><span>",
    ],
)
def test_a_key_that_an_editor_escapes_or_cuts_is_found(cut: str) -> None:
    """Editors write `_` as `\\_` in Markdown; terminals and pages put marks between letters."""
    key = f"ghp{cut}aB3dE5gH7jK9mN1pQ3sT5vW7yZaB3dE5gH7j"
    assert redact(f"the key is {key} here").text == "the key is [redacted: token] here"


def test_a_value_in_a_comment_or_an_element_is_found() -> None:
    for text in (
        "password: <!-- Kq7vRz91pLm -->",
        "<!-- password: -->\nKq7vRz91pLm",
        "<label>password</label> <span>Kq7v!Rz91pLm</span>",
    ):
        assert "pLm" not in redact(text).text, text


def test_a_key_whose_second_half_has_no_digit_is_joined() -> None:
    assert redact("key AKIAIOSFODNN7\nEXAMPLQ end").counts == {"api-key": 1}
    assert not redact("built v1.2.3a7\nCHANGES\nREADME").counts
