"""The marks of programs in a text, behind which anybody may speak."""

from __future__ import annotations

import pytest

from vault_memory.core.clients import end_of_typed, is_template

BAIT = "I prefer Vue."


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        (f"Why?\n\n# Notes\n{BAIT}", "Why?"),
        (f"Why?\n-----\n{BAIT}", "Why?"),
        (f"fix this:\n\n{BAIT}", ""),
        (f"Contents of always:\n{BAIT}", ""),
        (f'The file "please {BAIT}":\nx', ""),
        (f"[writer] said: {BAIT}", ""),
        (f"Read it.\n\nContext: {BAIT}", "Read it."),
        (f"看一下\n\n上下文：{BAIT}", "看一下"),
        (f"Why?\n```\n{BAIT}\n```\n{BAIT}", "Why?"),
        ("For context:", ""),
        (f"Why?\n<output>\n{BAIT}", "Why?"),
        (f"please look at this:\n{BAIT}", "please look at this:"),
        (f"這是我的檔案：\n{BAIT}", "這是我的檔案："),
    ],
)
def test_what_stands_behind_a_mark_is_not_typed_for_sure(text: str, typed: str) -> None:
    assert text[: end_of_typed(text)].strip() == typed


@pytest.mark.parametrize(
    "text",
    [
        "Remember: I prefer Vue.",
        "記住：以後用繁體中文回答。",
        "My rules for you:\n- always answer in English\n- no emoji",
        "請記住：\n- 用繁體中文\n- 不要表情符號",
        "Three things: I'm Abena, my zone's Accra, and I like short answers",
        "[Image #1] What is this?",
        "I like C#. # is a sharp sign",
        "first line\nsecond line: I prefer tabs",
        "a < b\nand b > c",
        "",
    ],
)
def test_what_a_person_types_has_no_mark(text: str) -> None:
    assert end_of_typed(text) == len(text) and not is_template(text)


def test_a_text_that_shows_a_result_at_once_or_is_to_be_completed_is_a_template() -> None:
    assert is_template(f"Tool 'x' result: {BAIT}")
    assert is_template(f"{BAIT} Give keywords. Keywords: ")
