"""Passwords among the arguments of commands (`mysql -px`) and calls (`login("bob", "x")`), and behind accounts (b / x);
secrets in settings and options whose names have a word for one anywhere (`DB_PASSWORD_RO=x`, `--auth-token x`).

The tables are data for `secrets`; a hint is fixed text that must stand in what the pattern finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.privacy import named, values
from vault_memory.core.privacy.formats import Found
from vault_memory.core.privacy.values import Said
from vault_memory.core.text import lazily, matches

WORD_RUN = lazily(r"[A-Za-z0-9]{3}")
"""Whatever is in `COMMANDS` and `CALLS` has so many letters or digits in a row; a Chinese sentence often has not."""
_ARGUMENT = r"(?:'(?P<single>[^'\n]{3,200})'|\"(?P<double>[^\"\n]{3,200})\"|(?P<bare>[^\s'\"|;&<>]{3,200}))"
_NO_PORT = r"(?!(?:[\d.]{7,15}:)?\d{1,5}(?::\d{1,5})?(?:/\w{3})?(?!\S))"
_OPTION_END = r"(?=\s{0,9}(?:\Z|\n| -|\\|[;&|\"`)]|</))"
_LINE_START = r"(?:\A|(?<=\n)|(?<=>))[ \t>+*\-]{0,20}"
_LINE_END = r"(?=[ \t]{0,20}(?:\Z|\n|</))"
COMMANDS: list[tuple[str, str]] = [
    ("mysql", rf"\b(?:mysql\w{{0,8}}|mysql-?dump)\b[^\n|;]{{0,200}}? -p{_NO_PORT}{_ARGUMENT}"),
    ("mariadb", rf"\bmariadb[\w\-]{{0,8}}\b[^\n|;]{{0,200}}? -p{_NO_PORT}{_ARGUMENT}"),
    ("sshpass", rf"\bsshpass\b[^\n|;]{{0,60}}? -p ?{_ARGUMENT}"),
    (
        " login",
        rf"\b(?:docker|podman|helm|az|oc|buildah|skopeo"
        rf"|registry)\b[^\n|;]{{0,80}}? login\b[^\n|;]{{0,200}}? -p[ =]{_ARGUMENT}",
    ),
    ("redis-cli", rf"\bredis-cli\b[^\n|;]{{0,200}}? -a {_ARGUMENT}"),
    ("mongo", rf"\bmongo\w{{0,10}}\b[^\n|;]{{0,200}}? -p[ =]?{_NO_PORT}{_ARGUMENT}"),
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
    ("net use", r"\bnet use\b[^\n|;]{0,80}? \\\\\S{1,80} (?P<bare>[^\s'\"/*]{4,200}) /user:"),
    ("sqlplus", r"\bsqlplus\b[^\n|;]{0,40}? [\w.\-]{1,40}/(?P<bare>[^\s'\"/@]{4,200})(?=@|\s|\Z)"),
    ("net user", r"\bnet user \S{1,60} (?P<bare>[^\s'\"/*]{6,200}) /"),
    ("storepass", rf"(?<=-)(?:src|dest)?storepass[ =]{_ARGUMENT}{_OPTION_END}"),
    ("keypass", rf"(?<=-)(?:src|dest)?keypass[ =]{_ARGUMENT}{_OPTION_END}"),
    ("requirepass", rf"{_LINE_START}requirepass[ \t]{{1,20}}{_ARGUMENT}{_LINE_END}"),
    ("masterauth", rf"{_LINE_START}masterauth[ \t]{{1,20}}{_ARGUMENT}{_LINE_END}"),
    ("bindpw", rf"{_LINE_START}bindpw[ \t]{{1,20}}{_ARGUMENT}{_LINE_END}"),
    ("rootpw", rf"{_LINE_START}rootpw[ \t]{{1,20}}{_ARGUMENT}{_LINE_END}"),
    (
        " password",
        rf"\bmachine\s{{1,20}}\S{{1,100}}\s{{1,20}}login\s{{1,9}}\S{{1,80}}\s{{1,20}}password\s{{1,9}}{_ARGUMENT}",
    ),
    ("WIFI:", r"WIFI:(?:[A-Za-z]:(?:\\?[^;\n\\]){0,64};){0,4}?P:(?P<bare>(?:[^;\n\\]|\\.){4,80});"),
    ("ConvertTo-SecureString", rf"ConvertTo-SecureString (?:-String )?{_ARGUMENT} -"),
    ("-a ", r"\bhttps? (?:[^\n|;]{0,200}? )?-a ['\"]?[^\s:'\"]{1,60}:(?!\d{1,5}(?:\s|\Z))(?P<bare>[^\s'\"]{4,200})"),
    ("lftp", r"\blftp\b[^\n|;]{0,100}? -u ['\"]?[^\s,'\"]{1,60},(?P<bare>[^\s'\"]{4,200})"),
    ("freerdp", rf"\b[xw]l?freerdp3?\b[^\n|;]{{0,200}}? /p:{_ARGUMENT}"),
    ("wpa_passphrase", rf"\bwpa_passphrase (?:'[^'\n]{{1,40}}'|\"[^\"\n]{{1,40}}\"|[^\s'\"]{{1,40}}) {_ARGUMENT}"),
    ("rabbitmqctl", rf"\brabbitmqctl\b[^\n|;]{{0,80}}? (?:add_user|change_password) \S{{1,60}} {_ARGUMENT}"),
    ("gh secret set", rf"\bgh secret set\b[^\n|;]{{0,120}}? (?:-b|--body)[ =]{_ARGUMENT}"),
    ("@tcp(", r"(?<=[\w.\-]:)(?P<bare>[^\s'\":]{3,100})(?=@tcp\()"),
    ("@unix(", r"(?<=[\w.\-]:)(?P<bare>[^\s'\":]{3,100})(?=@unix\()"),
    ("useradd", rf"\buseradd\b[^\n|;]{{0,100}}? (?:-p|--password)[ =]{_ARGUMENT}"),
    ("usermod", rf"\busermod\b[^\n|;]{{0,100}}? (?:-p|--password)[ =]{_ARGUMENT}"),
    ("openssl", rf"\bopenssl\b[^\n|;]{{0,200}}? (?:-k |-pass(?:in|out)? pass:){_ARGUMENT}"),
    ("snmp-server community", rf"snmp-server community {_ARGUMENT}"),
    (
        "enable ",
        rf"{_LINE_START}enable (?:secret|password) (?=[^\n]{{0,80}}\d)(?:level \d\d? )?(?:\d )?{_ARGUMENT}{_LINE_END}",
    ),
    (
        "username ",
        rf"{_LINE_START}username \S{{1,60}} [^\n]{{0,60}}?(?:secret|password) (?:\d )?{_ARGUMENT}{_LINE_END}",
    ),
    *(
        (name, rf"{_LINE_START}{name} [05-9] (?=[!-~]{{0,80}}\d)(?P<bare>[!-~]{{6,200}}){_LINE_END}")
        for name in ("password", "secret", "key", "server-key", "key-string")
    ),
    (":543", r"(?<!\S)[\w.*\-]{1,100}:543\d:[\w*\-]{1,60}:[\w.\-]{1,60}:(?P<bare>[^\s:'\"]{4,200})(?!\S)"),
]
"""(text that must stand in it, pattern): the last group of the pattern is a password."""


def argument(match: re.Match[str]) -> Found:
    """The password among the arguments of a command."""
    group = match.lastgroup or 0
    return None if values.is_placeholder(match[group]) else match.span(group)


_SENT = r"(?P<value>[\w!#$%&*+./=@^~\-]{8,300})"
HEADERS = [
    ("password", "AUTH=", r"AUTH=[\"']?[\w.@\-]{1,60}:(?P<value>[^\s'\":/]{6,64})(?=[\"']?(?:\s|\Z))"),
    ("password", "login", r"\blogin[ \t]{1,9}\S{1,80}[ \t]{1,9}password[ \t]{1,9}(?P<value>[^\s'\"]{6,200})(?!\S)"),
    *(
        ("setting", name, rf"\b{name}[ \t]{{1,3}}(?P<value>[\w!#$%&*+./=@^~\-]{{8,300}})")
        for name in ("Bearer", "bearer")
    ),
]
"""(kind of the value, text that must stand in it, pattern): what a line of netrc or a header of HTTP sends."""


def sent(match: re.Match[str], kind: str) -> Found:
    """The value that is sent, if it is no word."""
    said = Said(match["value"].rstrip(".,"), "option", False, "")
    return (match.start("value"), match.start("value") + len(said.value)) if values.is_secret(kind, said) else None


# --- calls ------------------------------------------------------------------------------------------------------------

_ARGUMENTS = r"\w{0,20}[\"']?(?:(?:[=:] ?)?\(|[=:] ?\[)(?P<arguments>[^()\n]{8,300})"
CALLS = [
    ("ogin", rf"ogin{_ARGUMENTS}"),
    ("uth", rf"uth(?!or[s_(]){_ARGUMENTS}"),
    ("redential", rf"redential{_ARGUMENTS}"),
    ("onnect", rf"onnect{_ARGUMENTS}"),
    ("PDO", rf"\bPDO{_ARGUMENTS}"),
    ("WiFi.begin", rf"WiFi\.begin{_ARGUMENTS}"),
]
"""(text that must stand in it, pattern): calls that take an account and its password, one after the other."""
_ONE_ARGUMENT = lazily(
    r"\s{0,9}(?:[bru]?'(?P<single>[^'\n]{0,200})'|[bru]?\"(?P<double>[^\"\n]{0,200})\"|[\w.$>\[\]\-]{1,60})"
    r"\s{0,9}(?:[,\]]|\Z)"
)
_MAX_ARGUMENTS = 5


def in_call(match: re.Match[str]) -> Found:
    """The first argument after the first that is written like a password."""
    text, start = match.string, match.start("arguments")
    for number in range(_MAX_ARGUMENTS):
        one = _ONE_ARGUMENT.match(text, start, match.end("arguments"))
        if not one:
            return None
        group = one.lastgroup
        if number and group and values.is_secret("argument", Said(one[group], "next", True, "")):
            return one.span(group)
        start = one.end()
    return None


# --- accounts ---------------------------------------------------------------------------------------------------------

_BESIDE_END = r"(?=[.,;:)\]}\"'`]{0,3}(?![!-~]))"
ACCOUNTS = [
    (" / ", rf"(?<=[^\W_]) / (?P<value>[!-~]{{8,64}}?){_BESIDE_END}"),
    *(
        (f"{name}:", rf"(?<![\w.\-/]){name}:(?P<value>[!-~]{{6,64}}?){_BESIDE_END}")
        for name in ("admin", "root", "user")
    ),
    ("@", rf"@(?<=[\w.+\-]@)[\w\-]{{1,63}}(?:\.[\w\-]{{1,63}}){{1,4}}:(?P<value>[!-.0-~]{{6,64}}?){_BESIDE_END}"),
]
"""(text that must stand in it, pattern): an account and its password, which no word announces."""


BLOCKS = [
    (
        "@",
        r"\n[ \t>]{0,8}[\w.+\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,4}[ \t]{0,8}\n[ \t>]{0,8}(?P<value>[!-~]{6,64})"
        r"(?=[ \t]{0,8}(?:\Z|\n[ \t>]{0,8}(?:\Z|\n|[^\n]{1,40}\n[ \t>]{0,8}[\w.+\-]{1,64}@)))",
    )
]
"""Three lines: a service, the mail address of an account there, and its password."""
_SERVICE = lazily(r"[ \t>#*\-]{0,8}[^\W_][^\n@=]{1,40}\Z")


def in_block(match: re.Match[str]) -> Found:
    """The password below a mail address below the name of a service, if it is written like one."""
    text, at = match.string, match.start()
    line = text.rfind("\n", max(0, at - 60), at) + 1
    if (line == 0 and at > 60) or not _SERVICE.match(text, line, at):
        return None
    return match.span("value") if values.is_secret("password", Said(match["value"], "below", False, "")) else None


def behind_account(match: re.Match[str]) -> Found:
    """What is written like a password and nothing else."""
    value = match["value"]
    return match.span("value") if values.is_secret("beside", Said(value, "account", False, "")) else None


LISTS = [("auth: [", r"auth: \[[\w.@+\-]{2,64}, ?(?P<value>[^\s'\",\[\]]{6,64})\]")]
"""An account and its password as a list of YAML."""


def in_list(match: re.Match[str]) -> Found:
    """The second of two, if it is written like a password."""
    return match.span("value") if values.is_secret("argument", Said(match["value"], "next", True, "")) else None


# --- settings ---------------------------------------------------------------------------------------------------------

SECRET_WORD = lazily(
    r"(?:pass|pwd|pw|secret|token|key|auth)"
    r"(?=[a-z0-9_\-.]{0,48}+[\"'`*_\])」』】]{0,3}(?:[ \t:=<→⇒(\[]|(?<=\.{4})|[」』】]))"
)
"""Every name of a setting for a secret has one of these, and a sign or a blank behind it."""
_MAX_LEFT, _MAX_RIGHT = 64, 48
_LEFT = lazily(r"[A-Za-z0-9_\-.]{0,64}+")
_RIGHT = lazily(r"[A-Za-z0-9_\-.]{0,48}+(?![A-Za-z0-9_])")
_PARTS = lazily(r"S3|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NAMED = (
    (
        "password",
        lazily(
            r"(?!(?:by|com|encom|kee|last|tres|sur|over|under|low|high|band|all|multi|one|two|first|single)pass\Z)"
            r"[a-z]{0,12}(?:password|passwd|passphrase|passcode|pass|pwd)|[a-z]{0,6}pw"
        ),
    ),
    ("secret", lazily(r"[a-z]{0,12}secret")),
    ("token", lazily(r"[a-z]{0,12}token")),
    ("api-key", lazily(r"(?:api|auth|access|secret|private|master|encryption)key")),
    ("setting", lazily("key|auth")),
)
"""(kind, a part of a name): what such a setting holds; of several the first."""
_ABOUT = frozenset(
    word
    for words in (
        "length len size limit bits chars strength score policy rule rules regex pattern format prefix suffix header",
        "param parameter arg column col table row field label hint placeholder title text message msg error name",
        "names username id ids uid uuid type kind class mode url uri endpoint host port link file path dir folder",
        "store source src provider manager service handler callback function func method script command cmd env var",
        "variable ref arn ttl expiry expire expires expired expiration timeout age lifetime date time at created",
        "updated version algorithm alg digest fingerprint checksum usage status state valid enabled disabled required",
        "reset change changed confirm confirmation rotation button form element selector icon style css event code",
        "codes press pressed down up board author vocab word words separator sep encoder encryptor hasher bucket",
        "spec generation generator",
    )
    for word in words.split()
)
"""A part behind the word for a secret which says that the setting holds something else about it: password_length."""
_OTHER = frozenset(
    word
    for words in (
        "max min count num number index hash hashes hashed public pub primary foreign unique sort partition range",
        "cache cached routing idempotency dedup lookup map dict object s3 item record entry group next page",
        "continuation cursor last is has use show hide input special tokenizer keyboard signature signing web socket",
        "websocket",
        "check starting ciphertext",
    )
    for word in words.split()
)
"""A part anywhere which says that it is another kind of key or token, or a number of them: primary_key, max_token."""
_SET = lazily(
    r"(?:\A|[\s`$>])(?:ENV|ARG|setx?(?: +-\w{1,3})*|(?:configure|config|secret|secrets|env) +(?:set|add))[ \t]+\Z",
    re.IGNORECASE,
)
"""Commands and lines that set what is named behind them, with a blank between its name and its value."""
_SET_CHARS = 40
_MAX_WORD_CHARS = 8
"""Of a name that is one word, as a line may begin with: PASS, PASSWORD."""
_BLANK = lazily(r"[ \t]{1,8}(?=(?P<quote>[\"']?)[^\s\"'])")
_WHOLE_LINE = lazily(r"[ \t]{1,8}[^\s]{1,300}[ \t]{0,8}(?:\n|\Z)")


def settings(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of each value whose setting or option is an identifier with a word for a secret among its
    parts, unless another part says that it is something else about one: SECRET_KEY_BASE, apiKeyLive; token_count."""
    done = 0
    for word in matches(SECRET_WORD, folded):
        if word.start() < done:
            continue
        left = _LEFT.match(text[max(0, word.start() - _MAX_LEFT) : word.start()][::-1])
        right = _RIGHT.match(text, word.end())
        if left is None or right is None:
            continue
        done, start = right.end(), word.start() - left.end()
        end = start + len(text[start:done].rstrip("-."))
        sign = named.SIGN.match(folded, end)
        if not sign or (how := _how(text, start, end, sign)) is None:
            continue
        name = _named_in(text, start, end)
        if name and (span := named.value(text, folded, name, word.start(), sign, how)):
            yield *span, named.KINDS.get(name.kind, name.kind)


def _how(text: str, start: int, end: int, sign: re.Match[str]) -> str | None:
    """How a setting at these places has its value (`Said.how`; "": as the sign says); None if it has none."""
    written, before = text[start:end], text[start - 1 : start] or "\n"
    is_option = written.startswith("-") and before in " \t\n`\"'([|"
    if sign.lastgroup == "direct":
        is_named_alone = before in "?&\n" or (before == ";" and len(written) > 2)  # no `;pw=` of code made short
        is_named_alone = is_named_alone or bool(_SET.search(text, max(0, start - _SET_CHARS), start))
        is_tight = sign[0] == "=" and (is_option or is_named_alone or written.isupper())
        return "shell" if is_tight else ""
    if sign.lastgroup != "space":
        return None
    if is_option or _SET.search(text, max(0, start - _SET_CHARS), start):
        return "option"
    if not written.isupper() or len(written) <= _MAX_WORD_CHARS:
        return None
    line = text.rfind("\n", max(0, start - _SET_CHARS), start) + 1
    return None if text[line:start].strip(" \t>") or not _WHOLE_LINE.match(text, end) else "option"


def _named_in(text: str, start: int, end: int) -> named.Name | None:
    """What the parts of an identifier say that it holds."""
    written = text[start:end]
    parts = [part.lower() for part in _PARTS.findall(written)]
    if not _OTHER.isdisjoint(parts):
        return None
    for kind, pattern in _NAMED:
        for number, part in enumerate(parts, 1):
            if not pattern.fullmatch(part) or (part == "key" and len(parts) == 1):
                continue
            if part == "pass" and number < len(parts) and not written.isupper():
                continue  # passThrough
            beside = parts if kind == "setting" else parts[number:]
            return named.Name(kind, part, None, "") if _ABOUT.isdisjoint(beside) else None
    return None


# --- accesses ---------------------------------------------------------------------------------------------------------

PLAIN = lazily(
    r"(?:passw(?:ord|d|ort)|passphrase|passcode|pass|pwd|pw|密码|口令)[\"'*_]{0,2}(?P<sign> ?(?:[:=]|=>) ?)[ \t*]{0,12}"
    r"(?P<quote>[\"']?)(?P<value>[a-z]{4,20}[!.]?|\d{4,5})(?P=quote)[ \t]{0,8}"
    r"(?P<end>\Z|[,;]?[ \t]{0,8}(?:#[^\n]{0,80})?\n|,? ?[})\]]|, ?(?=[\"'\w]))"
)
"""A password that is a word or four or five digits, and all that stands behind its name."""
_FIELD_START = lazily(
    r"(?:\A|[\n{(,>])[ \t>*+\-]{0,20}(?P<set>(?:export |ENV |ARG |set |- )?)[\"'*_]{0,2}"
    r"(?P<name>(?:[\w.\-]{1,20} ){0,2}[A-Za-z0-9_.\-]{0,40})\Z"
)
_FIELD_CHARS, _BLOCK_CHARS = 80, 240
_STATES = frozenset(
    ("invalid", "wrong", "bad", "error", "err", "incorrect", "weak", "missing", "empty", "no", "forgot", "old", "e")
)
"""A part of a name that numbers a fault: ERROR_INVALID_PASSWORD."""
_BESIDE = lazily(
    r"(?:\A|(?<=[\n{(,>]))[ \t>*+\-]{0,20}(?:export |ENV |ARG |set )?[\"'*_]{0,2}[a-z0-9_.\-]{0,24}?"
    r"(?:user ?(?:name|id)?|usr|uid|login|account|e-?mail|host(?:name)?|server|url|database|dbname|ssid"
    r"|[帐账][号户]|用户名?|使用者(?:名称)?|主机|网址|信箱|邮箱)"
    r"[\"'*_]{0,2} ?(?:[:=]|=>)[ \t*]{0,12}(?P<quote>[\"']?)(?P<value>[!-~]{2,80}?)(?P=quote)"
    r"(?=[ \t]{0,8}(?:\Z|\n|[,;})\]]))"
)
"""What stands beside a password in a block of settings or an access: an account, a host, an address."""


def accesses(text: str, folded: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of each password that is an ordinary word or a short number, where the place says that it is
    one: a setting of the environment, a block of settings or an access with an account or a host beside it, or a
    text or an object that holds nothing else."""
    for plain in matches(PLAIN, folded):
        start, end = plain.span("value")
        field = _FIELD_START.search(text, max(0, plain.start() - _FIELD_CHARS), plain.start())
        if field and values.is_word_of_access(text[start:end]) and _is_access(text, folded, field, plain):
            yield start, end, "password"


def _is_access(text: str, folded: str, field: re.Match[str], plain: re.Match[str]) -> bool:
    name = text[field.start("name") : plain.end()].partition(plain["sign"])[0].rstrip("\"'*_")
    parts = {part.lower() for part in _PARTS.findall(name)}
    if not parts.isdisjoint(_OTHER | _STATES):
        return False
    is_tight = plain["sign"] == "=" and not plain["quote"]
    if is_tight and name.isupper() and len(name) > _MAX_WORD_CHARS:
        return True
    is_thing = " " in name and name.lower().endswith(" pass")  # bus pass: monthly
    if is_thing or _is_alone(text, field, plain):
        return not is_thing
    is_in_line = field[0][:1] in ("{", "(", ",") or plain["end"].strip() in (",", "}", ")", "]")
    if is_in_line and not plain["quote"] and not plain["value"].isdigit():
        return False  # arguments of a call
    begin = _block_start(text, field.start())
    stop = text.find("\n\n", plain.end(), plain.end() + _BLOCK_CHARS)
    stop = min(plain.end() + _BLOCK_CHARS, len(text)) if stop < 0 else stop
    is_label = text[plain.start("value")].isupper()
    return any(
        values.is_account(beside["value"])
        and not (is_label and beside["value"].isalpha() and text[begin + beside.start("value")].isupper())
        for beside in matches(_BESIDE, folded[begin:stop])
    )  # "user": "Benutzer", "password": "Passwort" are labels


def _is_alone(text: str, field: re.Match[str], plain: re.Match[str]) -> bool:
    """Whether a text, a paragraph or an object holds a name and its value, and nothing else."""
    if field[0].lstrip()[:1] == "{":
        return plain["end"].strip() == "}"
    if field[0][:1] in ("(", ",") or plain["end"].strip():
        return False
    above = text[max(0, field.start() - 1) : field.start() + 1]
    below = text[plain.end() : plain.end() + 1]
    return (not field.start() or above == "\n\n") and below in ("", "\n")


def _block_start(text: str, at: int) -> int:
    """Where the paragraph that holds this place begins, or what of it is near."""
    begin = max(0, at - _BLOCK_CHARS)
    above = text.rfind("\n\n", begin, at)
    return above + 1 if above >= 0 else begin
