"""Secrets that are known by their form: keys and tokens of providers, private keys, credentials in addresses.

The tables are data for `secrets`, which searches a text with them. The functions look at one candidate each.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

from vault_memory.core.text import lazily

Found = tuple[int, int] | None
"""Where the secret in a candidate stands; None: it is none."""

# --- keys and tokens --------------------------------------------------------------------------------------------------

KEY_RUN = lazily(r"[A-Za-z0-9_\-.=+/~$,%@]{15}")
"""Whatever is in `PREFIXED` and `SHAPED` has so many characters of keys in a row."""

_DIGIT_SOON = r"(?=[A-Za-z_\-]{0,60}\d)"
_VARIED = r"(?!x{6}|X{6})(?=[A-Za-z_\-./=]{0,60}\d|[a-z_\-./=]{0,60}[A-Z][a-z]{0,60}[A-Z])"

MAX_MATCH_CHARS = 21_000
"""A pattern of any rule looks at fewer characters."""
PREFIXED = [
    ("token", "eyJ", r"[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]{4,8000}(?:\.[A-Za-z0-9_\-]{0,2000}){0,3}"),
    ("api-key", "sk-", _DIGIT_SOON + r"[A-Za-z0-9_\-]{16,250}"),
    ("api-key", "sess-", _DIGIT_SOON + r"[A-Za-z0-9]{30,60}"),
    (
        "api-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ whsec_ sk_prod_",
        r"[A-Za-z0-9+/]{10,250}={0,2}",
    ),
    ("api-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (
        "token",
        "ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ dckr_pat_ dckr_oat_ lin_api_ figd_ vercel_ ntn_ r8_ rdme_ nfp_ "
        "api_org_ squ_ sqp_ sqa_ tfp_ bkua_ rubygems_ pnu_ lip_ ATBB",
        _VARIED + r"[A-Za-z0-9]{20,255}",
    ),
    ("token", "github_pat_ pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_\-.]{20,255}"),
    (
        "token",
        "glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glimt- glagent- gloas- GOCSPX- pypi- tskey- xapp- sq0atp- "
        "sq0csp- ATATT3x ATCTT3x ya29. EAAC EAAA HRKU- NRAK- NRJS- pul- CFPAT- CCIPAT_ CCIPRJ_ ops_eyJ FlyV1 fo1_ "
        "AQVN sl.B sl.u atlasv1. 1//0",
        _VARIED + r"[A-Za-z0-9_\-.]{16,1200}",
    ),
    (
        "token",
        "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxa. xoxb. xoxc. xoxe. xoxo. xoxp. xoxr. xoxs.",
        r"(?=[A-Za-z\-.]{0,20}\d)[A-Za-z0-9\-.]{10,255}",
    ),
    (
        "api-key",
        "AIza gsk_ pplx- xai- nvapi- xkeysib- xsmtpsib- PMAK- sntrys_ sntryu_ glsa_ glc_ rpa_ tvly- fw_ "
        "AGE-SECRET-KEY-1 dsn_ esecret_ sbp_ sb_secret_ shpat_ shpss_ shpca_ shppa_ dop_v1_ doo_v1_ dor_v1_ hvs. "
        "hvb. hvr. pcsk_ jina_ lsv2_pt_ lsv2_sk_ dp.pt. dp.st. aio_ AKCp bce-v3/ALTAK- re_ AKLT",
        _VARIED + r"[A-Za-z0-9_\-/=]{20,255}",
    ),
    ("private-key", "xprv yprv zprv tprv uprv vprv", r"[1-9A-HJ-NP-Za-km-z]{90,112}(?![A-Za-z0-9])"),
    ("api-key", "LTAI AKID", r"[A-Za-z0-9]{12,40}(?![A-Za-z0-9])"),
    ("token", "EAA", _VARIED + r"[A-Za-z0-9]{40,400}"),
    ("api-key", "SG.", r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}"),
    ("api-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("api-key", "dapi", r"[0-9a-f]{32}"),
    ("api-key", "SK AC", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("api-key", "secret_", r"[A-Za-z0-9]{40,60}"),
    ("token", "vault_", r"[A-Za-z0-9._\-]{1,64}_[0-9a-f]{64}"),
    ("token", "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
]
"""(kind, prefixes separated by blanks, pattern of the rest). A prefix stands at the start of a word, or
is glued to one if what follows looks random."""

LIKE_THE_END_OF_WORDS = ("sk-", "re_", "key-", "lip_", "rpa_", "vault_")
"""Prefixes that end words (task, store, monkey, clip, sherpa, default); names go on behind them with `-` and `_`."""
ODD = r"[A-Za-z]\d{1,6}(?=[A-Za-z])|[A-Z][a-z](?=[A-Z])"
"""What a random text often has and a name hardly ever: a digit between letters, a small letter between capitals."""

SHAPED = [
    ("token", "earer ", rf"(?<![A-Za-z0-9_\-])[Bb]earer {_DIGIT_SOON}[A-Za-z0-9_\-.=+/~]{{16,2000}}"),
    ("token", "BEARER ", rf"(?<![A-Za-z0-9_\-])BEARER {_DIGIT_SOON}[A-Za-z0-9_\-.=+/~]{{16,2000}}"),
    ("api-key", "sk-", r"(?<![A-Za-z0-9_\-])sk-[a-z]{48}(?![A-Za-z0-9])"),
    ("api-key", ".", r"(?<![A-Za-z0-9])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9.])"),
    ("api-key", "-us", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    ("api-key", "8Q~", r"(?<![A-Za-z0-9])[A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{34}"),
    ("api-key", "pat", r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    (
        "api-key",  # a licence, as Windows has it
        "-",
        r"[A-Z0-9](?<![A-Z0-9\-][A-Z0-9])(?=[A-Z\-]{0,28}\d)(?=[\d\-]{0,28}[A-Z])[A-Z0-9]{4}(?:-[A-Z0-9]{5}){4}(?![\w\-])",
    ),
    ("private-key", "-", r"\d(?<![\w\-]\d)\d{5}(?:-\d{6}){7}(?![\w\-])"),  # BitLocker's recovery key
    ("api-key", "BSA", r"(?<![A-Za-z0-9_\-])BSA" + _VARIED + r"[A-Za-z0-9_\-]{26,29}(?![A-Za-z0-9_\-])"),
    ("api-key", "v1.0-", r"(?<![\w.\-])v1\.0-[0-9a-f]{24}-[0-9a-f]{100,200}"),
    (
        "private-key",  # of a wallet, in base 58
        "",
        r"[59KLc](?<![A-Za-z0-9+/=_\-.][59KLc])(?=[A-Z]{0,50}[a-z\d])(?=[a-zA-Z]{0,50}\d)"
        r"[1-9A-HJ-NP-Za-km-z]{50,51}(?![A-Za-z0-9+/=_\-])",
    ),
    ("token", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])"),
    ("token", ":APA91b", r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]{11,22}:APA91b[A-Za-z0-9_\-]{100,160}"),
    (
        "token",
        ".",
        r"[MNO](?<![\w.\-][MNO])(?<![A-Za-z0-9_\-][MNO])[A-Za-z\d_\-]{23,26}\.[A-Za-z\d_\-]{6}\.[A-Za-z\d_\-]{27,40}",
    ),
    ("token", "hooks.slack.com/", r"(?:https://)?(?<!\w)hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,100}"),
    ("token", "/api/webhooks/", r"(?:https://[\w.]{4,30})?/api/webhooks/\d{5,25}/[A-Za-z0-9_\-]{20,100}"),
    ("token", "/private-", r"(?<=/private-)[0-9a-f]{32}(?=/)"),
    ("token", "/bot/v2/hook/", r"(?<=/bot/v2/hook/)[0-9a-f\-]{30,40}"),
    ("token", "/cgi-bin/webhook/send?key=", r"(?<=/cgi-bin/webhook/send\?key=)[0-9a-f\-]{30,40}"),
    ("token", "/webhookb2/", r"(?<=/webhookb2/)[0-9a-f@/A-Za-z\-]{60,200}"),
    ("credentials", "sentry.io", r"(?<=://)[0-9a-f]{32}(?=@[\w.]{1,40}sentry\.io)"),
    ("api-key", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/]{20,100}={0,2}"),
    ("api-key", "appid=", r"(?<=[?&]appid=)[0-9a-f]{32}(?![A-Za-z0-9])"),
    (
        "api-key",
        "key=",
        r"(?<=[?&]key=)(?=[A-Z]{0,50}[a-z\d])(?=[A-Za-z]{0,60}\d)(?!\d{1,100}\b)[A-Za-z0-9]{20,100}(?!\w)",
    ),
    ("api-key", "ignature=", r"(?<=X-Amz-Signature=)[0-9a-f]{64}"),
    ("password", "$", r"\$(?:2[abxy]\$\d\d\$|6\$|5\$|1\$|apr1\$|y\$|argon2i?d?\$)(?<!\w\$..)[A-Za-z0-9./$=,+]{20,200}"),
]

"""(kind, text that must stand in it, pattern)"""

# --- private keys -----------------------------------------------------------------------------------------------------

MAX_KEY_CHARS = 20_000
"""A private key ends within so many characters."""
_EDGE = r"-{4,5} ?(?P<which>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_ANY_EDGE = lazily(_EDGE)
_KEY_TEXT = lazily(
    r"(?:[A-Za-z0-9+/=]{16,}|[\s>+\-|#*\\\"',]|(?:\\[nr])|[A-Z][A-Za-z\-]{2,20}: [^\n]{0,200}\n){1,2000}"
)
_KEY_LINE = lazily(r"[A-Za-z0-9+/=]{8,}")


def _private_key(begin: re.Match[str]) -> Found:
    """From its first line to its last; to where its text ends if it is cut."""
    if begin["which"] != "BEGIN":
        return None
    text, start = begin.string, begin.end()
    after = _ANY_EDGE.search(text, start, start + MAX_KEY_CHARS)
    if after and after["which"] == "END":
        stop = after.end()
    else:
        body = _KEY_TEXT.match(text, start, after.start() if after else start + MAX_KEY_CHARS)
        stop = body.end() if body else start
    return (begin.start(), stop) if _KEY_LINE.search(text, start, stop) else None


def _encoded_key(match: re.Match[str]) -> Found:
    """A private key in base64."""
    return match.span() if b"PRIVATE KEY" in base64.b64decode(match[0][:80]) else None


# --- names and passwords in addresses ---------------------------------------------------------------------------------

_HOST = lazily(r"@(?=[\w\[])")
_PORT = lazily(r"\d{1,5}(?:[/?#].*)?\Z")
_PLACEHOLDER = lazily(
    r"(?:\$|%|\{|\*{2}|x{3}|\.{3}|<|\[)[^@]*\Z|(?:your|my)[a-z_\-]*\d?\Z|(?:pass(?:word)?|passwd|pwd|pw|secret|token|key)\Z",
    re.IGNORECASE,
)
_SURELY_HOST = lazily(
    r"(?:[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}|localhost|[\w\-]{1,63}(?=:\d))(?::\d{1,5})?(?:[/?#,;)\\]|\Z)"
)


def _credentials(address: re.Match[str]) -> Found:
    """`user:password` in an address. The password may hold `/` and `@`: the last `@` before a host ends it."""
    rest = address["rest"]
    ats = [host.start() for host in _HOST.finditer(rest)]
    if not ats or (_PORT.match(rest) and "@" not in rest.partition("/")[0]):
        return None
    at = next((at for at in ats if _SURELY_HOST.match(rest, at + 1)), ats[-1])
    password = rest[:at]
    if not password or (_PLACEHOLDER.match(password) and len(password) > 2):
        return None
    return address.start("user"), address.start("rest") + at


# --- basic authorization ----------------------------------------------------------------------------------------------


def _basic(match: re.Match[str]) -> Found:
    """`Basic` followed by base64 of a name, a colon and a password."""
    return match.span("value") if is_basic(match["value"]) else None


def is_basic(value: str) -> bool:
    """Whether a text is base64 of `name:password`."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_" if set("-_") & set(value) else None)
        plain = decoded.decode("utf-8")
    except ValueError:
        return False
    return ":" in plain and plain.isprintable()


_SESSION = lazily(r"sess|sid|auth|token|jwt|login|remember|sso|ticket|identity|passport|csrf|xsrf", re.IGNORECASE)
_MAX_COOKIE_LINE_CHARS = 4000


def _cookie(pair: re.Match[str]) -> Found:
    """What opens a session, in the cookies of a request or response."""
    text, start = pair.string, pair.start()
    line = max(text.rfind("\n", max(0, start - _MAX_COOKIE_LINE_CHARS), start), start - _MAX_COOKIE_LINE_CHARS, 0)
    is_random = any(char.isdigit() for char in pair["value"]) and any(char.isalpha() for char in pair["value"])
    if is_random and _SESSION.search(pair["name"]) and text.find("ookie", line, start) >= 0:
        return pair.span("value")
    return None


_AWS_SECRET = lazily(
    r"(?<![A-Za-z0-9+/=])(?=[A-Za-z+/]{0,39}\d)(?=[A-Z\d+/]{0,39}[a-z])(?=[a-z\d+/]{0,39}[A-Z])[A-Za-z0-9+/]{40}"
    r"(?![A-Za-z0-9+/=])"
)
_MAX_LINE_CHARS = 100


def _aws_secret(key_id: re.Match[str]) -> Found:
    """The secret access key on the line of its id or the next one: nothing else tells it from other base64."""
    text, (start, end) = key_id.string, key_id.span()
    line = text.rfind("\n", max(0, start - _MAX_LINE_CHARS), start) + 1 or max(0, start - _MAX_LINE_CHARS)
    next_line = text.find("\n", end, end + _MAX_LINE_CHARS)
    stop = text.find("\n", next_line + 2, next_line + _MAX_LINE_CHARS) if next_line >= 0 else -1
    found = _AWS_SECRET.search(text, line, stop if stop >= 0 else end + 2 * _MAX_LINE_CHARS)
    return found.span() if found else None


_BASIC = r"(?<![A-Za-z])[Bb](?:asic|ASIC) {1,3}(?P<value>[A-Za-z0-9+/_\-]{8,400}={0,2})"
CHECKED: list[tuple[str, str, str, Callable[[re.Match[str]], Found] | None]] = [
    ("private-key", "PRIVATE KEY", _EDGE, _private_key),
    ("private-key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,20000}={0,2}", _encoded_key),
    (
        "private-key",
        "Private-Lines: ",
        r"(?<=Private-Lines: )\d{1,3}(?:\n[A-Za-z0-9+/=]{20,80}){1,100}",
        None,
    ),
    (
        "credentials",
        "@",
        r"://(?P<user>[^\s:/@'\"<>\[\]{}()`,|]{0,100}):(?=[^@\s]{0,300}@)(?P<rest>[^\s'\"<>\[`|]{1,300})",
        _credentials,
    ),
    (
        "token",
        "ookie",
        r"(?<=[\s:;\"'])(?P<name>[\w.\-]{1,64})=(?P<value>[A-Za-z0-9%+/_\-.~|!]{16,4000}={0,2})",
        _cookie,
    ),
    ("api-key", "AKIA", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])", _aws_secret),
    ("api-key", "ASIA", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])", _aws_secret),
    ("token", "asic ", _BASIC, _basic),
    ("token", "ASIC ", _BASIC, _basic),
]
"""(kind, text that must stand in it, pattern, what decides where the secret of a match stands)"""
