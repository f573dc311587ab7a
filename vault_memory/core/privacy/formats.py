"""Secrets that are known by their form: keys and tokens of providers, private keys, credentials in addresses."""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Iterator
from functools import cache

from vault_memory.core.text import lazily

MAX_KEY_CHARS = 20_000
"""A private key ends within so many characters."""
Span = tuple[int, int, str]


def format_spans(text: str) -> Iterator[Span]:
    """(start, end, kind) of each secret with a known form."""
    for kind, hint, pattern in _FORMATS:
        if hint in text:
            yield from ((match.start(), match.end(), kind) for match in _compiled(pattern).finditer(text))
    yield from _private_keys(text)
    yield from _credentials(text)
    yield from _basic(text)


_compiled = cache(re.compile)
"""Compiled when first needed: most texts hold no secret, and there are about two hundred patterns."""


# --- (kind, text that must stand in it, pattern) ----------------------------------------------------------------------


def _format(kind: str, prefix: str, rest: str) -> tuple[str, str, str]:
    """A token that begins with `prefix` at the start of a word, followed by the pattern `rest`."""
    literal = re.escape(prefix)
    return kind, prefix, rf"{literal}(?<![A-Za-z0-9_\-]{literal}){rest}"


def _formats(kind: str, prefixes: str, rest: str) -> Iterator[tuple[str, str, str]]:
    """The same for each of several prefixes, separated by blanks."""
    return (_format(kind, prefix, rest) for prefix in prefixes.split())


_DIGIT_SOON = r"(?=[A-Za-z_\-]{0,60}\d)"
_VARIED = r"(?!x{6}|X{6})(?=[A-Za-z_\-./=]{0,60}\d|[a-z_\-./=]{0,60}[A-Z][a-z]{0,60}[A-Z])"
_FORMATS = [
    _format("token", "eyJ", r"[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]{4,8000}(?:\.[A-Za-z0-9_\-]{0,2000}){0,3}"),
    *(
        _format("token", word, rf"{_DIGIT_SOON}[A-Za-z0-9_\-.=+/~]{{16,2000}}")
        for word in ("Bearer ", "bearer ", "BEARER ")
    ),
    _format("api-key", "sk-", rf"{_DIGIT_SOON}[A-Za-z0-9_\-]{{16,250}}"),
    _format("api-key", "sess-", rf"{_DIGIT_SOON}[A-Za-z0-9]{{30,60}}"),
    *_formats(
        "api-key", "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ whsec_ sk_prod_", r"[A-Za-z0-9+/]{10,250}={0,2}"
    ),
    *_formats("api-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *_formats(
        "token",
        "ghp_ gho_ ghu_ ghs_ ghr_ npm_ hf_ dckr_pat_ dckr_oat_ lin_api_ figd_ vercel_ ntn_ r8_ rdme_ nfp_ "
        "api_org_ squ_ sqp_ sqa_ tfp_ bkua_ rubygems_ pnu_ lip_ ATBB",
        _VARIED + r"[A-Za-z0-9]{20,255}",
    ),
    *_formats("token", "github_pat_ pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_\-.]{20,255}"),
    *_formats(
        "token",
        "glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glimt- glagent- gloas- GOCSPX- pypi- tskey- xapp- sq0atp- "
        "sq0csp- ATATT3x ATCTT3x ya29. EAAC EAAA HRKU- NRAK- NRJS- pul- CFPAT- CCIPAT_ CCIPRJ_ ops_eyJ FlyV1 fo1_ "
        "AQVN sl.B sl.u atlasv1.",
        _VARIED + r"[A-Za-z0-9_\-.]{16,1200}",
    ),
    *(_format("token", f"xox{letter}", r"[\-.](?=[A-Za-z\-.]{0,20}\d)[A-Za-z0-9\-.]{10,255}") for letter in "abceoprs"),
    *_formats(
        "api-key",
        "AIza gsk_ pplx- xai- nvapi- xkeysib- xsmtpsib- PMAK- sntrys_ sntryu_ glsa_ glc_ rpa_ tvly- fw_ "
        "AGE-SECRET-KEY-1 dsn_ esecret_ sbp_ sb_secret_ shpat_ shpss_ shpca_ shppa_ dop_v1_ doo_v1_ dor_v1_ hvs. hvb. "
        "hvr. pcsk_ jina_ lsv2_pt_ lsv2_sk_ dp.pt. dp.st. aio_ AKCp bce-v3/ALTAK- re_ AKLT",
        _VARIED + r"[A-Za-z0-9_\-/=]{20,255}",
    ),
    *_formats("api-key", "LTAI AKID", r"[A-Za-z0-9]{12,40}(?![A-Za-z0-9])"),
    _format("api-key", "SG.", r"[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}"),
    _format("api-key", "key-", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("api-key", "dapi", r"[0-9a-f]{32}"),
    *_formats("api-key", "SK AC", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _format("api-key", "secret_", r"[A-Za-z0-9]{40,60}"),
    _format("token", "vault_", r"[A-Za-z0-9._\-]{1,64}_[0-9a-f]{64}"),
    _format("token", "access_token$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("api-key", "-us", r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    ("api-key", "8Q~", r"(?<![A-Za-z0-9])[A-Za-z0-9_~.\-]{3}8Q~[A-Za-z0-9_~.\-]{34}"),
    ("api-key", "pat", r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("token", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_\-]{32,34}(?![A-Za-z0-9_\-])"),
    ("token", ":APA91b", r"(?<![A-Za-z0-9_\-])[A-Za-z0-9_\-]{11,22}:APA91b[A-Za-z0-9_\-]{100,160}"),
    (
        "token",
        ".",
        r"[MNO](?<![\w.\-][MNO])(?<![A-Za-z0-9_\-][MNO])[A-Za-z\d_\-]{23,26}\.[A-Za-z\d_\-]{6}\.[A-Za-z\d_\-]{27,40}",
    ),
    ("token", "hooks.slack.com/", r"(?:https://)?(?<!\w)hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,100}"),
    ("token", "/api/webhooks/", r"(?:https://[\w.]{4,30})?/api/webhooks/\d{5,25}/[A-Za-z0-9_\-]{20,100}"),
    ("token", "/bot/v2/hook/", r"(?<=/bot/v2/hook/)[0-9a-f\-]{30,40}"),
    ("token", "/cgi-bin/webhook/send?key=", r"(?<=/cgi-bin/webhook/send\?key=)[0-9a-f\-]{30,40}"),
    ("token", "/webhookb2/", r"(?<=/webhookb2/)[0-9a-f@/A-Za-z\-]{60,200}"),
    ("credentials", "sentry.io", r"(?<=://)[0-9a-f]{32}(?=@[\w.]{1,40}sentry\.io)"),
    ("api-key", "sig=", r"(?<=[?&]sig=)[A-Za-z0-9%+/]{20,100}={0,2}"),
    ("api-key", "ignature=", r"(?<=X-Amz-Signature=)[0-9a-f]{64}"),
    ("password", "$", r"\$(?:2[abxy]\$\d\d\$|6\$|5\$|1\$|apr1\$|y\$|argon2i?d?\$)(?<!\w\$..)[A-Za-z0-9./$=,+]{20,200}"),
]

# --- private keys -----------------------------------------------------------------------------------------------------

_EDGE = lazily(r"-{4,5} ?(?P<which>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_KEY_TEXT = lazily(
    r"(?:[A-Za-z0-9+/=]{16,}|[\s>+\-|#*\\\"',]|(?:\\[nr])|[A-Z][A-Za-z\-]{2,20}: [^\n]{0,200}\n){1,2000}"
)
_KEY_RUN = lazily(r"[A-Za-z0-9+/=]{8,}")
_ENCODED = lazily(r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,20000}={0,2}")
_PUTTY = lazily(r"(?<=Private-Lines: )\d{1,3}(?:\r?\n[A-Za-z0-9+/=]{20,80}){1,100}")


def _private_keys(text: str) -> Iterator[Span]:
    if "PRIVATE KEY" in text:
        edges = [*_EDGE.finditer(text), None]
        for begin, after in itertools.pairwise(edges):
            if begin and begin["which"] == "BEGIN":
                stop = _end_of_key(text, begin.end(), after)
                if _KEY_RUN.search(text, begin.end(), stop):
                    yield begin.start(), stop, "private-key"
    if "LS0tLS1CRUdJTi" in text:
        for match in _ENCODED.finditer(text):
            if b"PRIVATE KEY" in base64.b64decode(match[0][:80]):
                yield *match.span(), "private-key"
    if "Private-Lines: " in text:
        yield from ((match.start(), match.end(), "private-key") for match in _PUTTY.finditer(text))


def _end_of_key(text: str, start: int, after: re.Match[str] | None) -> int:
    """Where the key ends whose first line ends at `start`: at its last line, or where its text ends if that is cut."""
    if after and after["which"] == "END" and after.end() - start <= MAX_KEY_CHARS:
        return after.end()
    body = _KEY_TEXT.match(text, start, min(start + MAX_KEY_CHARS, after.start() if after else len(text)))
    return body.end() if body else start


# --- names and passwords in addresses ---------------------------------------------------------------------------------

_ADDRESS = lazily(r"(?<=://)(?P<user>[^\s:/@'\"<>\[\]{}()`,|]{0,100}):(?P<rest>[^\s'\"<>\[`|]{1,300})")
_HOST = lazily(r"@(?=[\w\[])")
_PORT = lazily(r"\d{1,5}(?:[/?#].*)?\Z")
_PLACEHOLDER = lazily(
    r"(?:\$|%|\{|\*{2}|x{3}|\.{3}|<|\[|your|my)[^@]*\Z|(?:pass(?:word)?|passwd|pwd|pw|secret|token|key)\Z",
    re.IGNORECASE,
)


def _credentials(text: str) -> Iterator[Span]:
    """`user:password` in an address. The password may hold `/` and `@`: the last `@` before a host ends it."""
    if "://" not in text or "@" not in text:
        return
    for match in _ADDRESS.finditer(text):
        rest = match["rest"]
        hosts = list(_HOST.finditer(rest))
        first = rest.partition("/")[0]
        if not hosts or (_PORT.match(rest) and "@" not in first):
            continue
        at = _last_host(rest, [host.start() for host in hosts])
        password = rest[:at]
        if password and not (_PLACEHOLDER.match(password) and len(password) > 2):
            yield match.start(), match.start("rest") + at, "credentials"


def _last_host(rest: str, ats: list[int]) -> int:
    """The `@` before the host: the first one before something that can only be a host, else the last one."""
    return next((at for at in ats if _SURELY_HOST.match(rest, at + 1)), ats[-1])


_SURELY_HOST = lazily(
    r"(?:[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}|localhost|[\w\-]{1,63}(?=:\d))(?::\d{1,5})?(?:[/?#,;)\\]|\Z)"
)


# --- basic authorization ----------------------------------------------------------------------------------------------

_BASIC = lazily(r"(?<![A-Za-z])[Bb](?:asic|ASIC) {1,3}(?P<value>[A-Za-z0-9+/_\-]{8,400}={0,2})")


def _basic(text: str) -> Iterator[Span]:
    """`Basic` followed by base64 of a name, a colon and a password."""
    if "asic " in text or "ASIC " in text:
        for match in _BASIC.finditer(text):
            if is_basic(match["value"]):
                yield *match.span("value"), "token"


def is_basic(value: str) -> bool:
    """Whether a text is base64 of `name:password`."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_" if set("-_") & set(value) else None)
        plain = decoded.decode("utf-8")
    except ValueError:
        return False
    return ":" in plain and plain.isprintable()
