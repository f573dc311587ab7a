"""Secrets that are known by a check digit: cards, IBAN, and identity numbers of Taiwan, China, Hong Kong and the USA.

`secrets` searches a text with the patterns. The functions look at one candidate each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vault_memory.core.privacy.formats import Found
from vault_memory.core.text import lazily, matches

DIGIT_RUN = lazily(r"(?<!:[0-9]{2}\.)[0-9]{3}[ \-.]?[0-9]{3}|[0-9]{2}-[0-9]{4}")
"""Whatever is in `CARD` and `NUMBERS` has such digits; years, dates, times and their microseconds have not."""
_SEPARATORS = re.compile(r"[ \-().]")
_ORDER = lazily(
    r"(?:order|invoice|tracking|shipment|parcel|serial|ticket|reference|ref|isbn|imei|barcode|ean|upc|sku|receipt|batch"
    r"|订单|單號|单号|訂單|发票|發票|编号|編號|流水号|序號|序列号|快递|物流|运单|條碼|条码)"
    r"(?:[ _\-]?(?:number|numbers|num|no|id|code|号码?|號碼?|编号|編號))?[\s.:#=(\"'是為为]{0,5}(?:is )?\Z",
    re.IGNORECASE,
)
_SEPARATING = " .-"
"""Between digits, after which no word announces an order."""
_CONTEXT_CHARS = 40


def number(match: re.Match[str], is_valid: Callable[[str], bool]) -> Found:
    """The number, if its check digit holds. After «order no.» a number like a social security number is the order's."""
    if not is_valid(_SEPARATORS.sub("", match[0]).upper()) or (is_valid is _social and _is_order(match)):
        return None
    return match.span()


def _is_order(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _CONTEXT_CHARS) : match.start()]
    return not before.rstrip(_SEPARATING)[-1:].isdigit() and bool(_ORDER.search(before))


# --- cards ------------------------------------------------------------------------------------------------------------

_CARDS = lazily(
    r"4\d{15}|4\d{18}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|(?:62|81)\d{14,17}"
)
"""What a card number begins with and how long it then is (ISO/IEC 7812): Visa, Mastercard, American Express, Diners,
Discover, JCB, UnionPay."""
CARD = lazily(
    r"[2-68](?<![A-Za-z0-9_/][2-68])(?=(?P<rest>(?<![.\-].)\d{12,18}(?![\w\-]|\.\d)"
    r"|(?P<four>\d{3}(?:[ \-.]\d{4}){3})(?!\w)(?:[ \-.]\d{1,3}(?!\w))?"
    r"|\d{3}[ \-.]\d{6}[ \-.]\d{4,5}(?!\w)|\d{5}[ \-.]\d{10,13}(?!\w)|\d{7}[ \-.]\d{8}(?!\w)))",
    re.ASCII,
)
"""The first digit of a group from which on the digits are grouped like a card's. It takes that digit alone, so that
each group is looked at: numbers may stand before the card and after it (2026 5555 …, … 4242 12/30)."""
_MAX_GROUPS_BESIDE = 3
"""Beside the four groups of a card: its date and code, or a date before it. More make a row of numbers."""
_LEFT = lazily(r"(?:\d{4}[ \-.]){1,4}\Z")
_RUN = lazily(r"(?:[ \-.]\d{4}(?!\d))*")
_GROUP_CHARS, _CARD_GROUPS = 5, 4
_LEFT_CHARS = _GROUP_CHARS * _CARD_GROUPS


def cards(text: str) -> Iterator[tuple[int, int]]:
    """Where the longest card number that begins at each group ends; not of an order, nor of four numbers of a long row.

    Each four groups are checked once, and a row is measured once, however long it is.
    """
    checked: dict[int, bool] = {}

    def is_four(start: int) -> bool:
        if start not in checked:
            checked[start] = _is_card(text[start : start + _LEFT_CHARS - 1])
        return checked[start]

    left, last, run_end = 0, -1, 0
    for match in matches(CARD, text):
        start, end, four_end = match.start(), match.end("rest"), match.end("four")
        if four_end >= 0:
            if last == start - _GROUP_CHARS:
                left = min(left + 1, _CARD_GROUPS)
            else:
                before = _LEFT.search(text, max(0, start - _LEFT_CHARS), start)
                left = len(before[0]) // _GROUP_CHARS if before else 0
            last = start
        is_card = is_four(start) if end == four_end else _is_card(text[start:end])
        if not is_card and 0 <= four_end < end:
            end, is_card = four_end, is_four(start)
        if not is_card or _is_order(match):
            continue
        if four_end >= 0:
            if run_end < four_end:
                run = _RUN.match(text, four_end)
                run_end = run.end() if run else four_end
            right = min((run_end - four_end) // _GROUP_CHARS, _CARD_GROUPS)
            if left + right > _MAX_GROUPS_BESIDE and not (
                (not left or (left == _CARD_GROUPS and is_four(start - _LEFT_CHARS)))
                and (not right or (right == _CARD_GROUPS and is_four(four_end + 1)))
            ):
                continue  # one of many numbers, which are not all cards
        yield start, end


def _is_card(text: str) -> bool:
    """Luhn's check, of a number that begins like a card."""
    digits = text.translate(_NO_SEPARATORS)
    if not _CARDS.fullmatch(digits) or len(set(digits)) < 2:
        return False
    sums = sum(digits[::-2].encode()) + sum(digits[-2::-2].translate(_DOUBLED).encode())
    return (sums - len(digits) * ord("0")) % 10 == 0


_NO_SEPARATORS = dict.fromkeys(map(ord, " -.()"))
_DOUBLED = str.maketrans("0123456789", "0246813579")
"""A digit → the digits of its double, added up."""

# --- identity numbers and accounts ------------------------------------------------------------------------------------

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


_IBAN_LENGTHS = (
    (15, "NO"),
    (16, "BE"),
    (18, "DK FI FK FO GL NL SD"),
    (19, "MK SI"),
    (20, "AT BA EE KZ LT LU MN XK"),
    (21, "CH CR HR LI LV"),
    (22, "BG BH DE GB GE IE ME RS VA"),
    (23, "AE GI IL IQ OM SO TL"),
    (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
    (25, "LY PT ST"),
    (26, "IS TR"),
    (27, "BI DJ FR GR IT MC MR SM"),
    (28, "AL AZ BY CY DO GT HU LB NI PL SV"),
    (29, "BR EG PS QA UA"),
    (30, "JO KW MU YE"),
    (31, "MT SC"),
    (32, "LC"),
    (33, "RU"),
)
"""(characters, countries): the IBAN registry (ISO 13616)."""
_LENGTH_OF = {country: length for length, countries in _IBAN_LENGTHS for country in countries.split()}
_IBAN = lazily(r"[A-Z]{2}\d\d(?: ?[A-Z0-9]){11,30}", re.ASCII)


def iban_at(text: str, start: int) -> int | None:
    """Where the IBAN ends that begins at `start`: it is as long as its country's are, and ends a word."""
    match = _IBAN.match(text, start)
    left = _LENGTH_OF.get(text[start : start + 2])
    if not match or left is None:
        return None
    end = start
    while left and end < match.end():
        left -= text[end] != " "
        end += 1
    is_whole = not left and not (text[end : end + 1].isascii() and text[end : end + 1].isalnum())
    return end if is_whole and _is_iban(text[start:end].replace(" ", "")) else None


def iban(match: re.Match[str]) -> Found:
    """The IBAN that begins where the match does."""
    end = iban_at(match.string, match.start())
    return (match.start(), end) if end else None


def _is_iban(number: str) -> bool:
    """ISO 13616: the rearranged number is 1 modulo 97."""
    rearranged = number[4:] + number[:4]
    return int("".join(str(int(char, 36)) for char in rearranged)) % 97 == 1


def _social(number: str) -> bool:
    """A Social Security number has no check digit; three round numbers are a range or a size."""
    return not (number[2] == number[4] == number[8] == "0")


NUMBERS: list[tuple[str, re.Pattern[str], Callable[[str], bool]]] = [
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
        _social,
    ),
]
IBAN = lazily(r"[A-Z](?<![A-Za-z0-9_\-][A-Z])[A-Z]\d\d(?= ?[A-Z0-9]{4})", re.ASCII)
"""What an IBAN begins with."""
