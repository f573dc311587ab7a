"""Recovery codes come as lists, and answers behind their questions."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import redact


@pytest.mark.parametrize(
    "text",
    [
        "Please keep my GitHub backup codes: 48291038, 55667788, 90123344",
        "recovery codes: a1b2c-3d4e5 f6g7h-8i9j0 k1l2m-3n4o5",
        "Backup codes: 8H2K-9LQP, 77DD-MM2X, 12AB-CD34",
        "# Google backup codes\n\n1. 4829 1038\n2. 5566 7788\n3. 1122 3344",
        "## GitHub recovery codes\n\n- [ ] a1b2c-3d4e5\n- [x] f6g7h-8i9j0",
        "備援碼 48291038、55667788、90123344",
        "recovery codes\n48291038\n55667788",
    ],
)
def test_all_codes_of_a_list_are_redacted(text: str) -> None:
    shown = redact(text).text
    assert shown.endswith("[redacted: token]") and shown.count("[") - shown.count("[ ]") == 1


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("security question: What was the name of your first pet? answer: Whiskers", "Whiskers"),
        ("security question: first pet? answer: Mr. Whiskers", "Whiskers"),
        ("安全問題：第一隻寵物叫什麼名字？ 答案：來福", "來福"),
        ("密保問題：第一隻寵物叫什麼？答案：小黑", "小黑"),
    ],
)
def test_the_answer_behind_a_security_question_is_redacted(text: str, answer: str) -> None:
    assert answer not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "The backup runs at 03:00, 04:00 and 05:00",
        "recovery code path in main.py, line 1234, 5678",
        'allow_credentials=True, allow_origins=["http://localhost:3000"]',
        "12 words I learned: apple river stone cloud green happy table chair window summer winter school",
        "restore-keys: ubuntu-22.04-pip-",
        "問題：1+1？答案：2",
    ],
)
def test_what_only_sounds_like_it_stays(text: str) -> None:
    assert redact(text).text == text
