"""Numbers with a check digit: cards, identity numbers of Taiwan, China, Hong Kong and the United States, and IBAN."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vault_memory.core.text import lazily

_SEPARATORS = re.compile(r"[ \-().]")
_ORDER = lazily(
    r"(?:order|invoice|tracking|shipment|parcel|serial|ticket|reference|ref|isbn|imei|barcode|ean|upc|sku|receipt|batch"
    r"|订单|單號|单号|訂單|发票|發票|编号|編號|流水号|序號|序列号|快递|物流|运单|條碼|条码)"
    r"(?:[ _\-]?(?:number|numbers|num|no|id|code|号码?|號碼?|编号|編號))?[\s.:#=(\"'是為为]{0,5}(?:is )?\Z",
    re.IGNORECASE,
)
_CONTEXT_CHARS = 40


def number_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of each number whose check digit holds. A card number after «order no.» is an order's."""
    for kind, number, valid in _NUMBERS:
        for match in number.finditer(text):
            if valid(_SEPARATORS.sub("", match[0]).upper()) and not (
                kind == "card" and _ORDER.search(text, max(0, match.start() - _CONTEXT_CHARS), match.start())
            ):
                yield match.start(), match.end(), kind


_CARDS = lazily(
    r"4\d{15}|4\d{18}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|(?:62|81)\d{14,17}"
)
"""What a card number begins with and how long it then is (ISO/IEC 7812): Visa, Mastercard, American Express, Diners,
Discover, JCB, UnionPay."""


def _card(digits: str) -> bool:
    """Luhn's check, of a number that begins like a card."""
    if not _CARDS.fullmatch(digits) or len(set(digits)) < 2:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


_TAIWAN_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"


def _taiwan(number: str) -> bool:
    """Taiwan's national and resident numbers: the letter counts as two digits; weights 1 9 8 … 1 1."""
    letter = _TAIWAN_LETTERS.index(number[0]) + 10
    if number[1].isalpha():  # resident numbers before 2021
        number = f"{number[0]}{(_TAIWAN_LETTERS.index(number[1]) + 10) % 10}{number[2:]}"
    digits = [letter // 10, letter % 10, *map(int, number[1:])]
    return (
        sum(weight * digit for weight, digit in zip((1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), digits, strict=True)) % 10 == 0
    )


def _china(number: str) -> bool:
    """The Resident Identity Card of the PRC: GB 11643, ISO 7064 mod 11-2."""
    total = sum(
        int(digit) * weight
        for digit, weight in zip(number, (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2), strict=False)
    )
    return "10X98765432"[total % 11] == number[17]


def _hong_kong(number: str) -> bool:
    """Hong Kong identity card: letters count 10 to 35, a missing first one 36; weights 9 … 1, mod 11."""
    letters = 2 if number[1].isalpha() else 1
    values = [36] * (2 - letters) + [ord(letter) - 55 for letter in number[:letters]]
    values += [int(digit) for digit in number[letters:-1]]
    check = 10 if number[-1] == "A" else int(number[-1])
    return (sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True)) + check) % 11 == 0


def _iban(number: str) -> bool:
    """ISO 13616: the rearranged number is 1 modulo 97."""
    rearranged = number[4:] + number[:4]
    return int("".join(str(int(char, 36)) for char in rearranged)) % 97 == 1


def _always(number: str) -> bool:
    return True


_NUMBERS: list[tuple[str, re.Pattern[str], Callable[[str], bool]]] = [
    (
        "id-number",
        lazily(
            r"[1-9](?<![\w.\-][1-9])\d{5}[ \-]?(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d[ \-]?\d{3}[\dXx](?![A-Za-z0-9_\-.]\w)"
            r"(?![A-Za-z0-9])",
            re.ASCII,
        ),
        _china,
    ),
    (
        "card",
        lazily(
            r"\d(?<![A-Za-z0-9_.\-/]\d)(?:\d{3}(?:[ \-.]\d{4}){3}(?:[ \-.]\d{1,3})?|\d{3}[ \-.]\d{6}[ \-.]\d{4,5}"
            r"|\d{13,18})(?![A-Za-z0-9_\-])(?!\.\d)",
            re.ASCII,
        ),
        _card,
    ),
    (
        "id-number",
        lazily(
            r"[A-Za-z](?<![A-Za-z0-9_\-.][A-Za-z])(?:[1289]|[A-Da-d])[ \-]?\d{4}[ \-]?\d{4}(?![A-Za-z0-9_])", re.ASCII
        ),
        _taiwan,
    ),
    (
        "id-number",
        lazily(r"[A-Za-z](?<![A-Za-z0-9_\-.][A-Za-z])[A-Za-z]?\d{6} ?\([0-9Aa]\)", re.ASCII),
        _hong_kong,
    ),
    (
        "id-number",
        lazily(r"[0-8](?<![\w.\-][0-8])(?<!000)\d\d-(?!00)\d\d-(?!0000)\d{4}(?![\w\-])", re.ASCII),
        _always,
    ),
    (
        "bank-account",
        lazily(
            r"[A-Z](?<![A-Za-z0-9_\-][A-Z])[A-Z]\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])", re.ASCII
        ),
        _iban,
    ),
]
