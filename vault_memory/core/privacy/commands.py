"""Passwords among the arguments of commands (`mysql -px`) and calls (`login("bob", "x")`), and behind accounts (b / x).

The tables are data for `secrets`; a hint is fixed text that must stand in what the pattern finds.
"""

from __future__ import annotations

import re

from vault_memory.core.privacy import values
from vault_memory.core.privacy.formats import Found
from vault_memory.core.privacy.values import Said
from vault_memory.core.text import lazily

WORD_RUN = lazily(r"[A-Za-z0-9]{3}")
"""Whatever is in `COMMANDS` and `CALLS` has so many letters or digits in a row; a Chinese sentence often has not."""
_ARGUMENT = r"(?:'(?P<single>[^'\n]{3,200})'|\"(?P<double>[^\"\n]{3,200})\"|(?P<bare>[^\s'\"|;&<>]{3,200}))"
_NO_PORT = r"(?!(?:[\d.]{7,15}:)?\d{1,5}(?::\d{1,5})?(?:/\w{3})?(?!\S))"
_OPTION_END = r"(?=\s{0,9}(?:\Z|\n| -|\\|[;&|\"`)]|</))"
_LINE_START = r"(?:\A|(?<=\n)|(?<=>))[ \t>+*\-]{0,20}"
_LINE_END = r"(?=[ \t]{0,20}(?:\Z|\r?\n|</))"
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
    ("WIFI:", r"WIFI:(?:[A-Za-z]:(?:\\?[^;\n\\]){0,64};){0,4}?P:(?P<bare>[^;\n]{4,80});"),
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
    (":543", r"(?<!\S)[\w.*\-]{1,100}:543\d:[\w*\-]{1,60}:[\w.\-]{1,60}:(?P<bare>[^\s:'\"]{4,200})(?!\S)"),
]
"""(text that must stand in it, pattern): the last group of the pattern is a password."""


def argument(match: re.Match[str]) -> Found:
    """The password among the arguments of a command."""
    group = match.lastgroup or 0
    return None if values.is_placeholder(match[group]) else match.span(group)


# --- calls ------------------------------------------------------------------------------------------------------------

_ARGUMENTS = r"\w{0,20}[\"']?(?:[=:] ?)?\((?P<arguments>[^()\n]{8,300})"
CALLS = [
    ("ogin", rf"ogin{_ARGUMENTS}"),
    ("uth", rf"uth(?!or[s_(]){_ARGUMENTS}"),
    ("redential", rf"redential{_ARGUMENTS}"),
    ("onnect", rf"onnect{_ARGUMENTS}"),
    ("PDO", rf"\bPDO{_ARGUMENTS}"),
]
"""(text that must stand in it, pattern): calls that take an account and its password, one after the other."""
_ONE_ARGUMENT = lazily(
    r"\s{0,9}(?:[bru]?'(?P<single>[^'\n]{0,200})'|[bru]?\"(?P<double>[^\"\n]{0,200})\"|[\w.$>\[\]\-]{1,60})"
    r"\s{0,9}(?:,|\Z)"
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


def behind_account(match: re.Match[str]) -> Found:
    """What is written like a password and nothing else."""
    value = match["value"]
    return match.span("value") if values.is_secret("beside", Said(value, "account", False, "")) else None
