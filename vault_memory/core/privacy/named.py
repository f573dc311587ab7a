"""Secrets that a name announces: «password: x», 密碼設為 x, `DB_PASSWORD=x`, `<token>x</token>`, `mysql -px`.

`secrets` finds the names; here a bounded piece of text after one is read: a sign (`=`, is, 是, a table's or tag's edge)
and a value. Whether the value is a secret depends on how it is written: «password: str» is code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_memory.core.privacy import values
from vault_memory.core.privacy.formats import Found
from vault_memory.core.privacy.values import Said
from vault_memory.core.text import fold, lazily

_MAX_VALUE_CHARS = 300


class Name(NamedTuple):
    """What one name announces. `before` must match the text that ends where the name begins (None: anything may).

    After a letter of `not_before` it is another word: passage, keyboard.
    """

    kind: str
    text: str
    before: re.Pattern[str] | None
    not_before: str


_EDGE = lazily(r"(?<![a-z0-9])\Z")
_TOKEN_EDGE = lazily(
    r"(?:(?<![a-z])|auth|access|api|bot|refresh|session|bearer|user|service|deploy|bot|app|personal|csrf|device)\Z"
)
_SECRET_EDGE = lazily(r"(?:(?<![a-z])|client|app|consumer|shared|webhook|api|aws|auth|jwt|session|oauth|my|user)\Z")
_KEY_EDGE = lazily(
    r"(?:(?<![a-z])(?:x|[a-z]{2,12})?[ _\-.]?|[a-z0-9_]{0,20}_)(?:api|access|secret|private|account|client"
    r"|app|encryption|encrypt|signing|sign"
    r"|master|shared|storage|subscription|service|auth|license|session|aes|hmac|jwt|rsa|deploy|admin"
    r"|function|host|write"
    r"|read|server|project|integration|webhook|root|unlock|recovery|activation|pre ?shared|wifi|psk|crypt"
    r"|data|my|our|your)[ _\-.]?\Z"
)


NAMES: list[tuple[str, str, re.Pattern[str] | None, str]] = [
    ("password", "password, passwd, passphrase, passcode, 密码, 口令, 通行码, 密語", None, ""),
    (
        "password",
        "pwd, pass phrase, pass word, psk, identified by, mot de passe, passwort, contraseña",
        _EDGE,
        "",
    ),
    ("password", "pass", _EDGE, "abefghilmopqrw"),
    ("password", "pw", _EDGE, "d"),
    ("pin", "pin, cvv, cvc, cvv2, otp, 提款码, 验证码, 安全码, pin码", _EDGE, ""),
    ("api-key", "key", _KEY_EDGE, "bfopswl"),
    ("api-key", "金钥, 密钥, 私钥", None, ""),
    ("token", "token", _TOKEN_EDGE, ""),
    ("token", "secret", _SECRET_EDGE, ""),
    ("token", "credential, session id, sessionid, session_id, phpsessid, jsessionid, connect.sid", _EDGE, ""),
    ("token", "权杖, 令牌, 凭证", None, ""),
    ("authorization", "authorization", _EDGE, ""),
    ("auth", '"auth", _auth, sharedaccesssignature', None, ""),
    (
        "id-number",
        "passport, ssn, social security, id card, driver's license, drivers license, driving licence, national id, "
        "identity number, id number, tax id",
        _EDGE,
        "",
    ),
    (
        "id-number",
        "护照, 身份证, 身分证, 健保卡, 居留证, 驾照, 驾驶证, 社保卡, 统一证号, 通行证, 台胞证, 社会安全",
        None,
        "",
    ),
    (
        "bank-account",
        "account number, account no, acct no, bank account, routing number, iban, credit card, card number, card no, "
        "debit card",
        _EDGE,
        "",
    ),
    (
        "bank-account",
        "银行卡, 银行帐号, 银行账号, 银行帐户, 银行账户, 卡号, 帐号, 账号, 户头, 信用卡, 储蓄卡",
        None,
        "",
    ),
]
"""(kind, names, `before`, `not_before`): see `Name`. All are folded."""

_SUFFIX = (
    r"(?:[ _\-.]?(?:access|key|value|text|string|plain|number|no\.?|num|code|id|prod|production|dev|test|staging|live"
    r"|new|old|current|default|admin|root|user|db|database|base64|b64|字号|号码|号|码|值)){0,3}(?:_?\d{1,2}(?!\d))?"
)
_CLOSE = r"[\"'`*_\]」』】]{0,3}"
_NOTE = r"(?: ?[(\[][^()\[\]\n]{1,30}[)\]])?"
_GAP = r"(?: (?:for|of|to|on|at|in|from|here) [a-z0-9@._'/\- ]{1,40}?)?"
_HAN_GAP = r"(?:[\u4e00-\u9fff][a-z0-9\u4e00-\u9fff]{0,9}?)?"
_SET = r"(?: (?:now|still|just|simply|currently|set|changed|reset|updated|rotated|to|be|been|as|actually|probably))"
_OPEN = lazily(r"\[?[brfu]?(?P<quote>[\"'`「『“*_]{1,3})")
_OPENERS = frozenset("[brfu\"'`「『“*_")
_SIGN = lazily(
    rf"{_SUFFIX}{_CLOSE}{_NOTE}(?:"
    rf"{_GAP}[ \t]{{0,20}}(?P<direct>:=|=>|->|→|={{1,3}}|:)[ \t]{{0,12}}(?:\r?\n[ \t>]{{0,12}})?"
    rf"|{_GAP} {{1,3}}(?P<word>(?:is|was|are|be|been|has|have|will|should|must|to|equals|became"
    rf"|got){_SET}{{0,3}})[ :]{{1,3}}"
    rf"| ?{_HAN_GAP}(?P<han>就?是|设?为|系|叫|改[成为]|[设换]成|设[定置][为成]|用的?|给你|=>?|:) ?:?[ \n]{{0,4}}"
    r"|(?P<call>\()(?=[\"'])|(?P<dash> --? )"
    r"|\s{0,3}(?P<cell>\|{1,2})[ \t]{0,20}"
    r"|[\s,#>+\-*]{0,24}[\"']?(?P<pair>value|content|default_value|val)[\"']?\s{0,4}[:=]\s{0,4}"
    r"|(?P<space>[ \t]{1,8}))"
)
_TAG = lazily(r"[^<>\n=]{0,60}(?P<tag>>)\s{0,8}")
_SCHEME = lazily(r"(?:basic|bearer|token|apikey|api-key|digest|bot|key|negotiate)[ :]{1,3}")
_BARE = lazily(r"[^\s'\"`<>「」『』，。；、！？（）\u3400-\u9fff|]{1,300}")
_DIGITS = lazily(r"[A-Za-z]{0,3}[ \-]?\d(?:[ \-.]?[\dA-Za-z*]){3,30}")
_CUT = lazily(r";(?=\s|\Z|[A-Za-z ]{1,30}=)|&(?=[\w.\-\[\]]{1,40}=)|,(?=\s|\Z|[\"'\w]{1,30}[:=])|\\[nrt\"']|\{\{|</")
_QUOTES = {"「": "」", "『": "』", "“": "”"}


def value_after(text: str, folded: str, name: Name, at: int) -> tuple[int, int, str] | None:
    """(start, end, kind) of the secret that a name at `at` announces, if it does."""
    after = at + len(name.text)
    sign = (_in_tag(text, at) and _TAG.match(folded, after)) or _SIGN.match(folded, after)
    if not sign:
        return None
    start, how = sign.end(), str(sign.lastgroup)
    if how == "direct" and sign["direct"] == "=" and text[sign.start("direct") - 1 : start].isupper():
        how = "env"
    opened = _OPEN.match(text, start) if text[start : start + 1] in _OPENERS else None
    start = opened.end() if opened else start
    if name.kind == "authorization" and (scheme := _SCHEME.match(folded, start)):
        start = scheme.end()
    said = _said(text, start, opened["quote"] if opened else "", how, name.kind)
    if not said or not values.is_secret(name.kind, said):
        return None
    kind = {"pin": "password", "authorization": "token", "auth": "credentials"}.get(name.kind, name.kind)
    return start, start + len(said.value), kind


_LINK = lazily(
    r"(?: (?:as|is|for) (?:the|my|our|his|her|their|your|a)(?: [a-z\-]{1,12})? "
    r"| ?(?:[当做]作?|作为|是|为)(?:[我你他她]们?|咱)?的?(?:[a-z]{0,8} ?|[\u4e00-\u9fff]{0,4}))\Z"
)
_LINK_CHARS = 32
_VISIBLE = lazily(r"[!-~]")
_BEFORE = lazily(r"(?<![!-~])[!-~]{6,64}\Z")


def value_before(text: str, folded: str, at: int) -> Found:
    """«X as the password», 用 X 當密碼."""
    if not _VISIBLE.search(folded, max(0, at - _LINK_CHARS), at):
        return None  # no value can stand there
    link = _LINK.search(folded, max(0, at - _LINK_CHARS), at)
    found = link and _BEFORE.search(folded, max(0, link.start() - 65), link.start())
    if not found:
        return None
    begin, end = found.span()
    word = text[begin:end].rstrip("\"'`")
    value = word.lstrip("\"'`(:=,")
    begin += len(word) - len(value)
    if len(value) >= 6 and values.is_secret("password", Said(value, "space", False, "")):
        return begin, begin + len(value)
    return None


def _in_tag(text: str, at: int) -> bool:
    opened = text.rfind("<", max(0, at - 80), at)
    return opened >= 0 and text.find(">", opened, at) < 0


def _said(text: str, start: int, opened: str, how: str, kind: str) -> Said | None:
    """The value at `start`, after the quotes or emphasis `opened`, and how it is written."""
    if kind in ("id-number", "bank-account"):
        match = _DIGITS.match(text, start)
        return Said(match[0].rstrip(" -."), how, bool(opened), "") if match else None
    if opened[-2:] in ("''", '""', "``") and len(opened) == 2:
        return None  # nothing is between the quotes
    quote = opened[-1:] if opened[-1:] not in ("*", "_") else ""
    if quote:
        end = text.find(_QUOTES.get(quote, quote), start, start + _MAX_VALUE_CHARS)
        line_end = text.find("\n", start, start + _MAX_VALUE_CHARS)
        if end > start and not start <= line_end < end:
            return Said(text[start:end], how, True, text[end + 1 : end + 20])
    match = _BARE.match(text, start)
    if not match:
        return None
    cut = _CUT.search(match[0], 1)
    value = match[0][: cut.start()] if cut else match[0]
    value = value.rstrip(",;:)]}*").rstrip("\\")
    rest = text[start + len(value) : start + len(value) + 40].partition("\n")[0]
    return Said(value, how, bool(quote), rest) if value else None


# --- tables -----------------------------------------------------------------------------------------------------------

RULER = lazily(r"^[ \t>]{0,20}\|?[ \t]*:?-{2,100}:?[ \t]*\|[ \t:|\-]*$", re.MULTILINE)
_MAX_ROWS = 200


def in_table(text: str, ruler: re.Match[str], names: Sequence[Name]) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of each secret in a Markdown table, in a column that a name heads."""
    above = text.rfind("\n", 0, max(0, ruler.start() - 1)) + 1
    heads = [_heading(cell, names) for cell in fold(text[above : ruler.start()]).split("|")]
    if any(heads):
        yield from _below(text, ruler.end() + 1, heads)


def _heading(cell: str, names: Sequence[Name]) -> Name | None:
    cell = cell.strip(" *_`>\n")
    return next((name for name in names if name.text in cell and len(cell) <= len(name.text) + 12), None)


def _below(text: str, start: int, heads: list[Name | None]) -> Iterator[tuple[int, int, str]]:
    """The secrets in the rows from `start` on."""
    for _ in range(_MAX_ROWS):
        stop = text.find("\n", start)
        row = text[start : stop if stop >= 0 else len(text)]
        if "|" not in row or RULER.match(row):
            return
        at = start
        for cell, name in zip(row.split("|"), heads, strict=False):
            value = cell.strip(" *_`\r")
            if name and value and values.is_secret(name.kind, Said(value, "cell", False, "")):
                place = at + cell.index(value)
                yield place, place + len(value), name.kind if name.kind != "pin" else "password"
            at += len(cell) + 1
        if stop < 0:
            return
        start = stop + 1


# --- commands ---------------------------------------------------------------------------------------------------------

_ARGUMENT = r"(?:'(?P<single>[^'\n]{3,200})'|\"(?P<double>[^\"\n]{3,200})\"|(?P<bare>[^\s'\"|;&<>]{3,200}))"
COMMANDS = [
    ("mysql", rf"\b(?:mysql\w{{0,8}}|mysql-?dump)\b[^\n|;]{{0,200}}? -p{_ARGUMENT}"),
    ("mariadb", rf"\bmariadb[\w\-]{{0,8}}\b[^\n|;]{{0,200}}? -p{_ARGUMENT}"),
    ("sshpass", rf"\bsshpass\b[^\n|;]{{0,60}}? -p ?{_ARGUMENT}"),
    (
        " login",
        rf"\b(?:docker|podman|helm|az|oc|buildah|skopeo"
        rf"|registry)\b[^\n|;]{{0,80}}? login\b[^\n|;]{{0,200}}? -p[ =]{_ARGUMENT}",
    ),
    ("redis-cli", rf"\bredis-cli\b[^\n|;]{{0,200}}? -a {_ARGUMENT}"),
    ("mongo", rf"\bmongo\w{{0,10}}\b[^\n|;]{{0,200}}? -p[ =]?{_ARGUMENT}"),
    ("ldap", rf"\bldap(?:search|modify|add|delete|passwd|whoami)\b[^\n|;]{{0,200}}? -w {_ARGUMENT}"),
    (
        "curl",
        r"\bcurl\b[^\n|;]{0,300}? (?:-u|--user|--proxy-user)[ =]?['\"]?[^\s:'\"]{1,60}:(?P<bare>[^\s'\"]{4,200})",
    ),
    ("sqlcmd", rf"\bsqlcmd\b[^\n|;]{{0,200}}? -P ?{_ARGUMENT}"),
    ("zip", rf"\b(?:un)?zip\b[^\n|;]{{0,100}}? -P ?{_ARGUMENT}"),
    ("7z", rf"\b7za?\b[^\n|;]{{0,100}}? -p{_ARGUMENT}"),
    ("htpasswd", rf"\bhtpasswd\b[^\n|;]{{0,100}}? -\w{{0,4}}b\w{{0,4}} \S{{1,80}} \S{{1,60}} {_ARGUMENT}"),
    ("smbclient", rf"\bsmbclient\b[^\n|;]{{0,200}}? -U ?[^\s%]{{1,60}}%{_ARGUMENT}"),
    ("sudo -S", rf"\becho {_ARGUMENT} ?\| ?sudo -S"),
    ("chpasswd", r"\becho ['\"]?[\w\-]{1,40}:(?P<bare>[^\s'\"|]{4,200})['\"]? ?\| ?(?:sudo )?chpasswd"),
    ("net use", r"\bnet use\b[^\n|;]{0,120}? /user:\S{1,80} (?P<bare>[^\s'\"/]{4,200})"),
    ("net user", r"\bnet user \S{1,60} (?P<bare>[^\s'\"/*]{6,200}) /"),
    (":543", r"(?<!\S)[\w.*\-]{1,100}:543\d:[\w*\-]{1,60}:[\w.\-]{1,60}:(?P<bare>[^\s:'\"]{4,200})(?!\S)"),
]
"""(text that must stand in it, pattern): the last group of the pattern is a password."""


def argument(match: re.Match[str]) -> Found:
    """The password among the arguments of a command."""
    group = match.lastgroup or 0
    return None if values.is_placeholder(match[group]) else match.span(group)
