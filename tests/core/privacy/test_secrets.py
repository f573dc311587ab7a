"""Secrets: what is replaced, what stays, and the time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.privacy.secrets import redact

SECRETS = [
    ("api-key", "sk-proj-abcdefghij0123456789klmnop"),
    ("api-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("api-key", "AIza" + "SyA1234567890abcdefghijklmnopqrstuvw"),
    ("token", "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"),
    ("token", "glpat-" + "abcdefghij0123456789"),
    ("token", "xoxb-" + "123456789012-abcdefghijkl"),
    ("token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
    ("token", "vault_alice_" + "0123456789abcdef" * 4),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----"),
    ("card", "4111 1111 1111 1111"),
    ("card", "5555555555554444"),
    ("id-number", "A123456789"),
    ("id-number", "11010519491231002X"),
    ("id-number", "A123456(3)"),
    ("id-number", "078-05-1120"),
    ("bank-account", "GB82 WEST 1234 5698 7654 32"),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize("frame", ["{}", "我的是 {}，謝謝", "here: {} ok?", "「{}」"])
def test_a_secret_is_replaced_wherever_it_stands(kind: str, secret: str, frame: str) -> None:
    """G7: secrets never reach a file."""
    result = redact(frame.format(secret))
    assert secret not in result.text
    assert f"[redacted: {kind}]" in result.text
    assert result.counts == {kind: 1}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password: hunter22", "password: [redacted: password]"),
        ("密碼是 hunter2!", "密碼是 [redacted: password]"),
        ("密码：abc12345", "密码：[redacted: password]"),
        ("the wifi password is Tr0ub4dor", "the wifi password is [redacted: password]"),
        ("postgres://u:pw@host/db", "postgres://[redacted: credentials]@host/db"),
        ("我的銀行帳號 012345678901", "我的銀行帳號 [redacted: bank-account]"),
        ("my pin is 4821", "my pin is [redacted: password]"),
        ("my passport number is K09876543", "my passport number is [redacted: id-number]"),
    ],
)
def test_a_named_value_is_replaced_and_its_name_stays(text: str, left: str) -> None:
    assert redact(text).text == left


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "1700000000000 ms, 3.14159265358979, 2026-01-30T12:00:00",
        "def login(password: str) -> Token:",
        'password = os.environ["DB_PASSWORD"]',
        "token = get_token()",
        "the password is wrong",
        "密碼是什麼",
        "忘記密碼怎麼辦，密碼欄位要加驗證",
        "127.0.0.1:8080 and 192.168.0.1",
        "https://example.com/a:b@c",
        "pip install scikit-learn==1.5.0 task-management-system-2",
    ],
)
def test_hashes_ids_numbers_and_code_stay(text: str) -> None:
    assert redact(text) == redact(text).__class__(text, {})


PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from([secret for _, secret in SECRETS]),
    st.sampled_from(["password: ", "密碼是", "token=", "pin is ", "://", ":", "@", " "]),
)


@given(st.lists(PIECES).map("".join))
def test_redacting_the_result_again_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text


def test_what_the_provider_plugins_of_detect_secrets_know_is_known_here() -> None:
    """A cross-check with a maintained library, which imports too slowly for the product."""
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.stripe import StripeDetector

    plugins = (
        AWSKeyDetector(),
        JwtTokenDetector(),
        OpenAIDetector(),
        PrivateKeyDetector(),
        SlackDetector(),
        StripeDetector(),
    )
    samples = [secret for _, secret in SECRETS] + [
        "sk_live_" + "abcdefghij0123456789abcd",
        "sk-" + "a1" * 10 + "T3BlbkFJ" + "b2" * 10,
    ]
    for sample in samples:
        if any(list(plugin.analyze_string(sample)) for plugin in plugins):
            left = redact(sample).text
            assert not any(list(plugin.analyze_string(left)) for plugin in plugins), sample


REPEATED = [
    *("hello ", "a1b2", "1234567890", "我喜歡暗色主題，", "sk-", "password ", "eyJ", "eyJaaaaaaaaaaaa.", "1234 "),
    *("://a:", "-----BEGIN PRIVATE KEY-----", "A1", "密碼是", "M"),
]


@pytest.mark.parametrize("piece", REPEATED)
def test_a_megabyte_is_redacted_in_linear_time(piece: str) -> None:
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    best = float("inf")
    for _ in range(2):
        began = time.perf_counter()
        redact(text)
        best = min(best, time.perf_counter() - began)
    assert best < 2
