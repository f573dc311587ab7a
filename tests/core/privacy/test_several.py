"""Numbers in sentences, and several values of one name."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import redact


@pytest.mark.parametrize("name", ["my PIN", "the door code", "the gate code", "my card PIN", "my phone passcode"])
@pytest.mark.parametrize("sign", [" is ", ": ", " = ", " "])
@pytest.mark.parametrize("rest", ["", " now", " until Friday", " for the flat", " please remember", ", ok", " - new"])
def test_a_sentence_goes_on_behind_a_number(name: str, sign: str, rest: str) -> None:
    """Any letter behind it was taken for a unit."""
    assert redact(f"{name}{sign}4471{rest}").text == f"{name}{sign}[redacted: password]{rest}"


@pytest.mark.parametrize(
    "text",
    [
        "密碼是190284太好記了",
        "密码是190284分享给你",
        "驗證碼是 482913 快輸入",
        "行李箱密碼是 417",
        "門鎖密碼：4471 記得",
    ],
)
def test_a_chinese_sentence_goes_on_behind_a_number(text: str) -> None:
    assert redact(text).counts == {"password": 1}


@pytest.mark.parametrize(
    "text",
    [
        "the PIN is 600 characters long",
        "the OTP is valid for 300 seconds",
        "verification code: 300 s",
        "the security code is 100 bits",
        "PIN 1234 is too weak",
        "密碼 123456 是最常見的",
        "密码123456太简单",
        "密碼是 100000 元的保險箱",
        "the alarm code 5123 on the spindle drive",
        "connect pin 144 to ground",
    ],
)
def test_what_is_counted_or_only_spoken_of_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "passwords are {0} and {1}",
        "password: {0} or {1}",
        "passwords: {0}, {1}",
        "passwords: {0} / {1}",
        "密碼：{0}、{1}",
        "密码是 {0} 和 {1}",
        "password changed from {0} to {1}",
        "密碼從 {0} 改成 {1} 了",
    ],
)
@pytest.mark.parametrize(("first", "second"), [("Sunny0912!", "Moon0914"), ("Falcon-Lemon-42", "copper_7731")])
def test_each_of_several_passwords_is_found(text: str, first: str, second: str) -> None:
    assert redact(text.format(first, second)).text == text.format("[redacted: password]", "[redacted: password]")


@pytest.mark.parametrize(
    "text",
    [
        "PINs: 7731, 8842",
        "my PINs are 7731 and 8842",
        "Passwords:\nSunny0912\nMoon0914",
        'passwords: "Sunny0912", "Moon0914"',
    ],
)
def test_each_of_several_numbers_or_lines_is_found(text: str) -> None:
    shown = redact(text).text
    assert not {"7731", "8842", "Sunny0912", "Moon0914"} & set(shown.replace(",", " ").replace('"', " ").split())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password: Sunny0912, port 5432", "password: [redacted: password], port 5432"),
        ("password: Sunny0912 and then restart", "password: [redacted: password] and then restart"),
        ("my PIN is 7731, room 8842", "my PIN is [redacted: password], room 8842"),
    ],
)
def test_what_else_stands_behind_a_value_stays(text: str, left: str) -> None:
    assert redact(text).text == left


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("wifi password (Sunny0912)", "Sunny0912"),
        ('passphrase: "purple monkey dishwasher 7"', "purple monkey"),
        ("蝦皮\n帳：dave\n密：sunny0912", "sunny0912"),
    ],
)
def test_other_forms_are_found(text: str, secret: str) -> None:
    assert secret not in redact(text).text
