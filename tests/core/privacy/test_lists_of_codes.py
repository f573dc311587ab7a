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


@pytest.mark.parametrize("count", [12, 40, 64])
@pytest.mark.parametrize(
    "form",
    [
        "recovery codes:\n{lines}",
        "# GitHub backup codes\n\n{bullets}",
        "backup codes: {row}",
        "TAN list\n{tans}",
        "iTAN-Liste:\n{tans}",
    ],
)
def test_a_list_of_any_length_is_redacted_whole(form: str, count: int) -> None:
    codes = [f"{n * 7919 % 99991:05d}-{n * 104729 % 999983 % 90000 + 10000:05x}" for n in range(1, count + 1)]
    tans = [f"{n} {n * 611953 % 899981 + 100000}" for n in range(1, count + 1)]
    text = form.format(
        lines="\n".join(codes),
        bullets="\n".join(f"- {code}" for code in codes),
        row=" ".join(codes),
        tans="\n".join(tans),
    )
    shown = redact(text + "\n").text
    assert shown.endswith("[redacted: token]\n") and shown.count("[") == 1


GOOGLES = (
    "SAVE YOUR BACKUP CODES\nKeep these backup codes somewhere safe but accessible.\n\n"
    "1. 7715 2093\t\t 4. 1180 4462\n2. 5521 9014\t\t 5. 6113 8825\n3. 3307 1186\t\t 6. 9048 2250\n\n"
    "(ana@example.org)\n* You can only use each backup code once.\n"
)
DISCORDS = (
    "These are your Discord backup codes for account ana@example.org. Keep them safe!\n\n"
    "* 7kd2-x4zp\n* r3s9-71ab\n* u5q8-c2vd\n"
)


def test_files_of_codes_as_providers_write_them() -> None:
    shown = redact(GOOGLES).text
    assert "7715" not in shown and "2250" not in shown and "You can only use each backup code once." in shown
    assert redact(DISCORDS).text.endswith("!\n\n* [redacted: token]\n")
    joined = "backup codes: 38291047 / 65667781 and 70123349 / 21223340"
    assert redact(joined).text == "backup codes: [redacted: token]"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("PUK: 60218834", "60218834"),
        ("PIN 7730, PUK 60218834", "60218834"),
        ("TAN: 730164", "730164"),
        ("pairing code: 730164", "730164"),
        ("voicemail password 730164", "730164"),
        ("safe: 730164", "730164"),
        ("locker 31, code 730164", "730164"),
        ("the buzzer code is 7301", "7301"),
        ("Security question: name of your first school?\nBirchwood", "Birchwood"),
        ("secret question: the street you grew up in\n> Mill Lane\n", "Mill Lane"),
        ("安全問題：第一隻寵物叫什麼？\n來福", "來福"),
    ],
)
def test_what_opens_something_is_redacted(text: str, code: str) -> None:
    assert code not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "safe: 2026",
        "safe: 30 kg at most",
        "a tan in 2024, and tan 45 degrees",
        "locker 31 is on floor 2",
        "Backup codes are printed; see page 1234.\n\nRuns: 20240101 and 20240102",
        "security question: which vendor do we ask?\nWe will ask them on Monday",
    ],
)
def test_what_opens_nothing_stays(text: str) -> None:
    assert redact(text).text == text
