"""Numbers with a check digit, also where other digits stand beside them."""

from __future__ import annotations

import random

import pytest

from vault_memory.core.privacy import redact

CARDS = [
    ("{} 12/30 999", "4242 4242 4242 4242"),
    ("2026 {}", "5555 5555 5555 4444"),
    ("card {} 0128 123", "4111 1111 1111 1111"),
    ("1234 {} 5678", "4111 1111 1111 1111"),
    ("{} 12/28", "3782 822463 10005"),
    ("12-{}-01", "4111-1111-1111-1111"),
    ("{} 12 30", "4242424242424242"),
    ("no.{}", "4111 1111 1111 1111"),
    ("卡號{}到期12/30", "4111 1111 1111 1111"),
]


@pytest.mark.parametrize(("frame", "card"), CARDS)
def test_a_card_is_found_beside_other_digits(frame: str, card: str) -> None:
    assert redact(frame.format(card)).text == frame.format("[redacted: card]")


def test_cards_in_a_row_are_found() -> None:
    assert redact("4111 1111 1111 1111 " * 3 + ".").text == "[redacted: card] " * 3 + "."


@pytest.mark.parametrize(
    "text",
    [
        "1111 2222 3333 4242 4242 4242 4242 1111 2222",
        "0.4242424242424242",
        "v4242 4242 4242 4242",
        "Your order number is 4539 1488 0343 6467",
        "4242 4242 4242 4241 12/30",
        "2019 2020 2021 2022 2023 2024",
        "4096 8192 16384 32768",
        "call 5123 4567 or 6123 4567",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert redact(text).text == text


def test_rows_of_numbers_are_no_cards() -> None:
    """Of four numbers one in fifty looks like a card; a table of numbers must not lose its cells."""
    r = random.Random(7)
    rows = [" ".join(str(r.randrange(1000, 10_000)) for _ in range(r.randrange(8, 16))) for _ in range(400)]
    assert sum(redact(row).text != row for row in rows) <= 2


@pytest.mark.parametrize(
    "text",
    [
        "IBAN § UND DANKE",
        "IBAN § und danke für alles",
        "Please pay § BEFORE 12 MAY",
        "konto: § am 15 Mai 2026",
        "§ 77 is the rest",
    ],
)
@pytest.mark.parametrize(
    "iban", ["DE02120300000000202051", "DE02 1203 0000 0000 2020 51", "NO8330001234567", "BE71 0961 2345 6769"]
)
def test_an_iban_is_as_long_as_those_of_its_country(text: str, iban: str) -> None:
    """The longest stretch whose check digits held took words behind it."""
    assert redact(text.replace("§", iban)).text == text.replace("§", "[redacted: bank-account]")
