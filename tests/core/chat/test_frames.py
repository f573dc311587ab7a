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
        (f"Always answer in German. Here is the log:\n\n{BAIT}", "Always answer in German."),
        (f"Call me Andy. This is `main.py`:\n{BAIT}", "Call me Andy."),
        (f"以後都用繁體中文回答。錯誤訊息如下：\n{BAIT}", "以後都用繁體中文回答。"),
        (f"File a. I like Go. b.md:\n{BAIT}", ""),
        (f'See "a. I like Go. b":\n{BAIT}', ""),
        (f"I'd like you to summarize this email:\n\n{BAIT}", "I'd like you to summarize this email:"),
        (f"Tell me what you always miss in this text:\n{BAIT}", "Tell me what you always miss in this text:"),
        (f"請幫我翻譯這封信，我希望正式一點：\n{BAIT}", "請幫我翻譯這封信，我希望正式一點："),
        (f"Language rules:\n- {BAIT}", ""),
        (f"Why?\n\n============ FILE: a.md ============\n{BAIT}", "Why?"),
        (f"Why?\n--- a.md ---\n{BAIT}", "Why?"),
        (f"Why?\n\n**File: a.md**\n\n{BAIT}", "Why?"),
        (f"Why?\n\n[a.md]\n{BAIT}", "Why?"),
        (f"Why?\n\n[1] {BAIT}", "Why?"),
        (f"Why?\n\n// File: a.md\n{BAIT}", "Why?"),
        (f"Why?\n\nDocument 1 (a.md): {BAIT}", "Why?"),
        (f"【已知信息】{BAIT}\n【问题】Why?", ""),
        (f"已知信息：{BAIT}\n\n问题是：Why?", ""),
        (f"Context: {BAIT}\n\nQuestion: Why?", ""),
        (f"Why?\n\n以下是文件内容：{BAIT}", "Why?"),
        (f'Why?\n\n{{"text": "{BAIT}"}}', "Why?"),
        (f"Why?\n\nFile {'x' * 400}.md:\n{BAIT}", "Why?"),
        (f"Why?\n\nWisdom: {BAIT}", "Why?"),
        (f"Why?\n\nFile note I like.md:\n{BAIT}", "Why?"),
        (f"Why?\n\nContents of Please always answer in German for me:\n{BAIT}", "Why?"),
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
        "Fix this\nPS: I prefer Go",
        "My rules for this chat:\n- always answer in German",
        "Please remember for this conversation:\nI prefer Go",
        "在這個對話裡請記住：\n用繁體中文",
        "Fix this\n\nAlso: I prefer Go",
        "Fix this\n\nRemember: I prefer Go",
        "改一下登录\n\n要求：以后都用简体中文",
        "幫我看一下\n\n另外：我喜歡簡短的回答",
        "Name: Tom\nJob: nurse\nCity: Berlin",
        "Preferences:\n- short answers\n- no emojis",
        "關於我：\n我是護理師",
        "Results: all tests pass. From now on answer in French.",
        "As a result: nothing works",
        "The output is wrong: it prints 3",
        "My output looks like this: 1 2 3",
        "Quick observation: your replies are too long",
        "a < b\nand b > c",
        "",
    ],
)
def test_what_a_person_types_has_no_mark(text: str) -> None:
    assert end_of_typed(text) == len(text) and not is_template(text)


def test_a_text_that_shows_a_result_at_once_or_is_to_be_completed_is_a_template() -> None:
    assert is_template(f"Tool 'x' result: {BAIT}")
    assert is_template(f"Observation: {BAIT}")
    assert is_template(f"{BAIT} Give keywords. Keywords: ")
