"""Keys of providers that no list has: a prefix and a random body, or a random text beside the word for it."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import redact
from vault_memory.core.privacy.keys import is_mixed, is_random

ALNUM, HEX, UUID = (
    "k3Rt9ZpQ7mW2xV5nB8cL1sD4fG6hJ0yA",
    "9b2823fee77a840085a075c8df807b786a995d32",
    "5d3be26e-f430-43aa-99ff-2e7cebaadeaa",
)


@pytest.mark.parametrize(
    "key",
    [
        f"csk-{ALNUM}",
        f"fw_{ALNUM}",
        f"acme_live_{ALNUM}",
        f"ORB-{ALNUM}",
        f"user_token_{ALNUM}",
        f"xkey-v2-{ALNUM}",
        f"fc-{HEX}",
        f"e2b_{HEX}",
        f"ACMSECK_TEST-{HEX}-X",
        f"ctx7sk-{UUID}",
        "kp_TFcw_B0bjvds8R86Ba3PhhkolI2cT0T-RMkbhj7rvLJ",
        "AQ.AbHHAW5iki8PgaDLHRZfpSFOMNeQH3mQlP41MO0eYQVPQ",
        "VK7JG-NPHTM-C97JM-9MPGT-3V66T",
        "336364-484476-329374-515781-173156-163754-253761-722218",
    ],
)
@pytest.mark.parametrize("frame", ["{}", "export ACME={}", "裝置用 {} 連線", 'client = Acme("{}")', "-H 'X-Acme: {}'"])
def test_a_key_of_an_unknown_provider_is_replaced(key: str, frame: str) -> None:
    """R11.10: new providers come without a rule of their own."""
    assert key not in redact(frame.format(key)).text
    assert redact(frame.format(key)).text.count("[redacted: ") == 1


@pytest.mark.parametrize(
    "text",
    [
        f"chatcmpl-{ALNUM}",
        f'"id": "wrkspc_{ALNUM}"',
        f"request_id=rq_{ALNUM}",
        f"image: app:main-{HEX}",
        f"cache-key: Linux-pip-{HEX}",
        f"Cache restored from key: node-cache-Linux-{HEX}",
        f"https://www.notion.so/acme/Meeting-notes-{HEX[:32]}",
        f"https://cdn.example.org/assets/ab-{ALNUM}.js",
        f"/uploads/ab-{ALNUM}",
        f"task-{UUID}",
        f"Sync-with-OneDrive-{UUID}",
        f"sha512-{ALNUM}{ALNUM}==",
        "ses_00000000000000000000000001",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
        "how-to-make-pdfs-smaller-in-2026",
        "Mean_Acc1298_Std_Mem40_MFCC_9",
        "CFConst.kCFStringEncodingUTF8",
        "graphql.GraphQLInputObjectType2",
        "my-projectConfigurationManager2.load",
    ],
)
def test_an_id_a_hash_and_a_name_stay(text: str) -> None:
    assert redact(text).text == text


def test_a_known_key_in_a_longer_word_keeps_the_rest_of_it() -> None:
    key = "gh" + "p_aB3dE6gH9jK2mN5pQ8sT1vW4xZ7cF0hJ3lM6"
    assert redact(f"use ci-{key} there").text == "use ci-[redacted: token] there"


@pytest.mark.parametrize("text", [ALNUM, HEX, "abcdefghijklmnopqrstuvwxyz0123456789", "zqxjkvbpwmfgyhudrlcnst"])
def test_random_texts_are_told(text: str) -> None:
    assert is_random(text)


@pytest.mark.parametrize(
    "text",
    [
        "aaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "00000000000000000000000001",
        "getUserProfileInformation2",
        "internationalization",
        "k3Rt9ZpQ7mW2x",
        "the_quick_brown_fox_jumps_over",
    ],
)
def test_words_and_numbers_are_not_random(text: str) -> None:
    assert not is_random(text)


def test_a_mixed_text_has_three_classes() -> None:
    assert is_mixed(ALNUM) and not is_mixed(HEX) and not is_mixed(ALNUM.lower())


@pytest.mark.parametrize(
    "text",
    [
        f"use {ALNUM} as the api key",
        f"STRIPE={ALNUM}  # secret key",
        f"the token that our bot has: {ALNUM}",
        f"exa key {UUID}",
        f"綠界 HashKey {ALNUM}",
    ],
)
def test_a_random_text_on_the_line_of_a_key_is_replaced(text: str) -> None:
    left = redact(text).text
    assert ALNUM not in left and UUID not in left
