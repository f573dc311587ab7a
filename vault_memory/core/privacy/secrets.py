"""Secrets: each one in a text is replaced by its kind.

Three kinds are known: formats (keys of providers, tokens, private keys), numbers with a check digit (cards, identity
numbers, IBAN) and values with a name («password: …», 密碼是 …). A rule begins with fixed letters, so a text without
them costs one substring search; 1 MB of any text takes tens of milliseconds. Git hashes, UUIDs, plain numbers and code
stay.

detect-secrets is used by the tests only, which check that this file knows what its provider plugins know: its import
takes 0.5 s, a message 1.8 ms, 1 MB on one line 3 to 6 s, and on chat its entropy plugins report every other word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from vault_memory.core.text import lazily


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and how many of each kind were replaced (`{"api-key": 1}`)."""

    text: str
    counts: Mapping[str, int]


def redact(text: str) -> Redacted:
    """The text with each secret replaced by `[redacted: kind]`; redacting the result again changes nothing.

    Kinds: api-key, token, private-key, password, credentials, card, id-number, bank-account.
    """
    counts: Counter[str] = Counter()
    while True:  # replacing one value may uncover another («TOKEN=TOKEN=…»); each round replaces at least one
        redacted = _once(text, counts)
        if redacted == text:
            return Redacted(text, dict(counts))
        text = redacted


def _once(text: str, counts: Counter[str]) -> str:
    lower = text.lower()
    if len(lower) != len(text):  # a few letters, such as İ, grow in lower case; offsets must hold
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    pieces: list[str] = []
    done = 0
    for start, end, kind in sorted(_spans(text, lower), key=lambda span: (span[0], -span[1])):
        if start < done:
            continue
        pieces += [text[done:start], f"[redacted: {kind}]"]
        counts[kind] += 1
        done = end
    return "".join([*pieces, text[done:]])


def _spans(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    for kind, hint, pattern in _FORMATS:
        if hint in text:
            yield from ((match.start(), match.end(), kind) for match in _compiled(pattern).finditer(text))
    for kind, hint, pattern, holds in _NAMED:
        if hint in lower:
            for match in _compiled(pattern).finditer(lower):
                start, end = match.span("value")
                if holds(text[start:end], match["sign"]):
                    yield start, end, kind
    for kind, number, valid in _NUMBERS:
        for match in number.finditer(text):
            if valid(re.sub(r"[ \-().]", "", match[0])):
                yield match.start(), match.end(), kind


_compiled = cache(re.compile)
"""Compiled when first needed: most texts hold no secret, and there are about a hundred patterns."""

# --- known formats: (kind, text that must stand in it, pattern) -------------------------------------------------------


def _format(kind: str, prefix: str, rest: str) -> tuple[str, str, str]:
    """A token that begins with `prefix` at the start of a word, followed by the pattern `rest`."""
    literal = re.escape(prefix)
    return kind, prefix, rf"{literal}(?<![A-Za-z0-9_\-]{literal}){rest}"


def _formats(kind: str, prefixes: str, rest: str) -> Iterator[tuple[str, str, str]]:
    """The same for each of several prefixes, separated by blanks."""
    return (_format(kind, prefix, rest) for prefix in prefixes.split())


_DIGIT_SOON = r"(?=[A-Za-z_\-]{0,60}\d)"
_FORMATS = [
    (
        "private-key",
        "PRIVATE KEY",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,]{0,16000}"
        r"(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    ("credentials", "://", r"(?<=://)[^\s:/@'\"<>\[]{0,100}:[^\s@/'\"<>\[]{1,200}(?=@[\w\[])"),
    _format("token", "eyJ", r"[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]{4,8000}(?:\.[A-Za-z0-9_\-]{0,2000})?"),
    _format("token", "Bearer ", rf"{_DIGIT_SOON}[A-Za-z0-9_\-.=+/~]{{16,2000}}"),
    _format("token", "bearer ", rf"{_DIGIT_SOON}[A-Za-z0-9_\-.=+/~]{{16,2000}}"),
    _format("token", "Basic ", r"[A-Za-z0-9+/]{16,400}={1,2}"),
    _format("api-key", "sk-", rf"{_DIGIT_SOON}[A-Za-z0-9_\-]{{16,250}}"),
    *_formats("api-key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ whsec_", r"[A-Za-z0-9]{10,250}"),
    *_formats("api-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *_formats(
        "token",
        "ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ dckr_pat_ lin_api_ figd_ vercel_ ntn_ r8_ rdme_",
        r"[A-Za-z0-9]{20,255}",
    ),
    _format("token", "github_pat_", r"[A-Za-z0-9_]{20,255}"),
    *_formats(
        "token",
        "glpat- gldt- glrt- glcbt- GOCSPX- pypi- tskey- xapp- sq0atp- sq0csp- ATATT3x ATCTT3x ya29. EAAC EAAA",
        r"[A-Za-z0-9_\-]{16,255}",
    ),
    *(_format("token", f"xox{letter}-", r"[A-Za-z0-9\-]{10,255}") for letter in "abeprs"),
    *_formats(
        "api-key",
        "AIza gsk_ pplx- xai- nvapi- xkeysib- PMAK- sntrys_ glsa_ rpa_ tvly- fw_ AGE-SECRET-KEY-1 dsn_ "
        "esecret_ sbp_ shpat_ shpss_ shpca_ dop_v1_ doo_v1_ dor_v1_ hvs. pcsk_ jina_",
        r"[A-Za-z0-9_\-]{20,255}",
    ),
    *_formats("api-key", "LTAI AKID", r"[A-Za-z0-9]{12,40}(?![A-Za-z0-9])"),
    _format("api-key", "SG.", r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}"),
    _format("api-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("api-key", "dapi", r"[0-9a-f]{32}"),
    *_formats("api-key", "SK AC", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("api-key", "secret_", r"[A-Za-z0-9]{40,60}"),
    _format("token", "vault_", r"[A-Za-z0-9._\-]{1,64}_[0-9a-f]{64}"),
    ("token", ":AA", r"(?<![\w])\d{8,10}:AA[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])"),
    (
        "token",
        ".",
        r"[MNO](?<![\w.\-][MNO])(?<![A-Za-z0-9_\-][MNO])[A-Za-z\d_\-]{23,26}\.[A-Za-z\d_\-]{6}\.[A-Za-z\d_\-]{27,40}",
    ),
    ("token", "hooks.slack.com/", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,100}"),
    ("token", "/api/webhooks/", r"(?<=/api/webhooks/)\d{5,25}/[A-Za-z0-9_\-]{20,100}"),
]

# --- named values: «password: x», 密碼是 x ----------------------------------------------------------------------------

_SIGN = (
    r"(?: ?(?:number|no\.?|code|值|号|號|碼|码))?['\"」』`]? {0,2}(?P<sign>[:：=]|=>|is|was|are|是|為|为|係|系"
    r"|就是|改成|设成|設成|用的是|用|[ ](?=[a-z]*\d))['\"「『`]{0,1}[ :：]{0,2}['\"「『`]?"
)
_VALUE = r"(?P<value>[^\s'\"「」『』`,，。;；、)）]{4,120})"
_NOT_A_SECRET = lazily(
    r"\[redacted|[$<{(*\[%]|(?:string|str|none|null|true|false|undefined|required|optional|varchar|text|char|int"
    r"|number|integer|bytes?|any|password|passwd|pwd|secret|token|input|hash(?:ed)?|wrong|invalid|incorrect"
    r"|correct|missing|empty|weak|expired|reset|hidden|visible|encrypted|stored|saved|being|always|still|same"
    r"|different|changeme|example|your|self|this|process|os|env|config|settings|request|req|user|getenv|environ"
    r"|data|form|body|params?|args?|props?|state|document)(?![a-z0-9])|x{3,}|\.{3}",
    re.IGNORECASE,
)
_CODE = lazily(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|.*[(\[{].*|[A-Za-z_]+_[A-Za-z_]+|/.*|https?:.*")


def _password(value: str, sign: str) -> bool:
    """Whether a value after «password» is one: not a type, not code, not an adjective."""
    if _NOT_A_SECRET.match(value) or _CODE.fullmatch(value) or not re.search(r"[A-Za-z0-9]", value):
        return False
    if re.search(r"[\u4e00-\u9fff]", value):
        return bool(re.match(r"(?=[!-~]{4})[!-~]*\d[!-~]*(?:[\u4e00-\u9fff]|$)", value))
    mixed = bool(re.search(r"\d|[^\w]", value.rstrip(".!?"))) or not (
        value.islower() or value.istitle() or value.isupper()
    )
    return mixed or sign in ":：="


def _key(value: str, sign: str) -> bool:
    return len(value) >= 12 and bool(re.search(r"\d", value)) and _password(value, sign) and "-" not in value[:3]


def _digits(value: str, sign: str) -> bool:
    return sum(char.isdigit() for char in value) >= 6 and not re.search(r"[\u4e00-\u9fff]{2}", value)


def _pin(value: str, sign: str) -> bool:
    return bool(re.fullmatch(r"\d{4,8}[.!?]?", value))


def _named(
    kind: str, holds: Callable[[str, str], bool], names: str
) -> Iterator[tuple[str, str, str, Callable[[str, str], bool]]]:
    """A rule for each of the names, separated by commas: (kind, name, pattern, check of value and sign)."""
    for name in names.split(", "):
        edge = rf"(?<![a-z]{re.escape(name)})" if name.isascii() else ""
        yield kind, name, rf"{re.escape(name)}{edge}{_SIGN}{_VALUE}", holds


_NAMED = [
    *_named("password", _password, "password, passwd, passcode, passphrase, pwd, 密码, 密碼, 口令, 通行碼, pass"),
    *_named("password", _pin, "pin, 提款碼, 驗證碼, 验证码"),
    *_named(
        "api-key",
        _key,
        "api key, api_key, apikey, api-key, access key, access_key, secret key, secret_key, "
        "secret_access_key, client_secret, 金鑰, 密钥, 密鑰, accountkey, private_key",
    ),
    *_named("token", _key, "token, secret, 权杖, 權杖, 令牌"),
    *_named(
        "id-number",
        _digits,
        "passport, 护照, 護照, 身份证, 身分證, 身份證, 身分證字號, 身份证号, 身份证号码, ssn, "
        "social security, social security number, id card, 健保卡, 居留证, 居留證, driver's license, 驾照, "
        "national id",
    ),
    *_named(
        "bank-account",
        _digits,
        "account number, account no, bank account, routing number, iban, 银行卡, 銀行卡, 银行卡号, 銀行帳號, "
        "銀行賬號, 银行账号, 銀行帳戶, 银行账户, 卡号, 卡號, 帳號, 账号, 賬號, 户头, 戶頭, 信用卡, "
        "credit card, card number",
    ),
]

# --- numbers with a check digit ---------------------------------------------------------------------------------------


def _card(digits: str) -> bool:
    """Luhn's check, of a number that begins like a card (ISO/IEC 7812)."""
    if not 13 <= len(digits) <= 19 or not re.match(r"4|5[1-5]|2[2-7]|3[0-9]|6[0-9]|81", digits) or len(set(digits)) < 2:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _taiwan(number: str) -> bool:
    """Taiwan's national and resident numbers: the letter counts as two digits; weights 1 9 8 … 1 1."""
    letter = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10
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
    return "10X98765432"[total % 11] == number[17].upper()


def _hong_kong(number: str) -> bool:
    """Hong Kong identity card: letters count 10 to 35, a missing first one 36; weights 9 … 1, mod 11."""
    letters = number.rstrip("0123456789A") or number[0]
    letters = re.match(r"[A-Z]{1,2}(?=\d)", number)[0]  # type: ignore[index]
    values = (
        [36] * (2 - len(letters))
        + [ord(letter) - 55 for letter in letters]
        + [int(digit) for digit in number[len(letters) : -1]]
    )
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
        lazily(r"[1-9](?<![\w.\-][1-9])\d{5}(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d{4}[\dXx](?![A-Za-z0-9_\-.]\w)"),
        _china,
    ),
    (
        "card",
        lazily(
            r"\d(?<![A-Za-z0-9_.\-/]\d)(?:\d{3}(?:[ \-]\d{4}){3}(?:[ \-]\d{1,3})?|\d{3}[ \-]\d{6}[ \-]\d{4,5}"
            r"|\d{12,18})(?![A-Za-z0-9_\-])(?!\.\d)"
        ),
        _card,
    ),
    ("id-number", lazily(r"[A-Z](?<![A-Za-z0-9_\-][A-Z])[1289]\d{8}(?![A-Za-z0-9_])"), _taiwan),
    ("id-number", lazily(r"[A-Z](?<![A-Za-z0-9_\-][A-Z])[A-Z]?\d{6} ?\([0-9A]\)"), _hong_kong),
    ("id-number", lazily(r"[0-8](?<![\w.\-][0-8])(?<!000)\d\d-(?!00)\d\d-(?!0000)\d{4}(?![\w\-])"), _always),
    (
        "bank-account",
        lazily(r"[A-Z](?<![A-Za-z0-9_\-][A-Z])[A-Z]\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"),
        _iban,
    ),
]
