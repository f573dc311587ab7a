"""Whether a value after a name («password», `API_KEY`) is a secret, or a type, code, a placeholder or a word."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from vault_memory.core.privacy.formats import is_basic
from vault_memory.core.privacy.keys import is_generated, is_hash, is_random, is_random_key, is_random_letters
from vault_memory.core.text import fold, lazily


class Said(NamedTuple):
    """A value and how it is written.

    `how` is the sign before it: direct (`=`, `:`), env (`NAME=`), shell (the same without blanks, or in
    an address: no prose or code is there), option (a blank, in a command or setting: `--password x`), word (is), han
    (是), cell (a table's), account (one
    of a table with accounts), pair (`value=`), tag, call (`(`), next (a string after the name's, or an argument of a
    call), dash, space; joined (none or a bracket, after Han words), aside (a comma or bracket after others), below
    (none, on a line below the name), announced (the same below a sentence), item (in a list below the name).
    `rest` is what follows it on its line, at most forty characters.
    """

    value: str
    how: str
    is_quoted: bool
    rest: str


def is_secret(kind: str, said: Said) -> bool:
    """Whether a value announced as this kind is one."""
    if "[redacted" in said.value or "redacted:" in said.value:
        return False
    if said.value.startswith("%%") and _OUR_COMMENT.match(said.value + said.rest):
        return False
    if said.how not in ("shell", "option"):
        return _CHECKS[kind](said)
    if said.how == "option" and _WORD.fullmatch(said.value) and not is_random_letters(said.value):
        return False  # use --password instead
    said = said._replace(how="env")
    if kind == "token" and 8 <= len(said.value) <= 64 and ":" not in said.value and not _SLUG.fullmatch(said.value):
        return _key(said) or _password(said)  # --token=hunter2x9
    return _CHECKS[kind](said) or (_CHECKS[kind] is _password and _is_odd_word(said.value))


_OUR_COMMENT = lazily(r"%%[a-z]{2,20}_\d{12,14}_[0-9a-z]{1,12} \d{4}-\d\d-\d\d(?:T[\d:.+\-Z]+)?%%")
"""Id and time of a relation, which stand behind its description or link in the note of an entity."""

_WORD = lazily(r"(?:[A-Z]?[a-z]+|[A-Z]+)[.,;:!?]?")


def _is_odd_word(value: str) -> bool:
    """Whether letters change their case as in no word or name, also behind an underscore: horseIyZU, Otter_yYuj."""
    return bool(_ODD_CASE.fullmatch(value)) and len(value) >= 6 and not _is_named_in_code(value)


_ODD_CASE = lazily(
    r"(?![A-Z]?[a-z]+(?:[A-Z][a-z]+)*[A-Z]*\Z|[A-Z]?[a-z]+(?:_[a-z]+)*\Z|[A-Z][a-z]+(?:_[A-Z][a-z]+)*\Z)"
    r"(?=[A-Z_]{0,60}[a-z])(?=[a-z_]{0,60}[A-Z])[A-Za-z]+(?:_[A-Za-z]+)*"
)
"""No userID, user_name, User_Name."""


def is_word_of_access(value: str) -> bool:
    """Whether a word or number may be a password where the place says that it is one (pizza, root, 0000): no type, no
    state, no word for a password."""
    word = value.rstrip(".!")
    folded = fold(word)
    if folded in _FIRST_ACCOUNTS:
        return True
    is_one = word.isdigit() or (bool(_WORD.fullmatch(word)) and not _ABOUT_SECRETS.fullmatch(folded))
    return is_one and len(word) >= 4 and folded not in _TYPES and not is_placeholder(word)


_FIRST_ACCOUNTS = frozenset(("root", "admin", "guest", "test", "demo", "postgres", "mysql", "redis"))
"""What programs come with, as an account and as its password."""
_TYPES = frozenset(
    word
    for words in (
        "float double date datetime time uuid list dict enum blob function callable symbol file files compat bytearray",
        "varchar nvarchar longtext tinytext passwort kennwort senha wachtwoord parola heslo haslo salasana passord",
        "adgangskode jelszo lozinka parool parole mima nullable unsigned readonly writeonly textbox textinput",
        "literal inline ignore ignored skip skipped never always maybe again here there cert certificate keyring",
        "else elif pass break continue return raise except finally import while class static final const",
    )
    for word in words.split()
)
"""Types, states and words of code, and «password» in other languages, as tables of translations have it."""


def is_account(value: str) -> bool:
    """Whether a folded value may be an account, a host or an address, and is no type, label or code."""
    if value in _FIRST_ACCOUNTS:
        return True
    if (
        value in _TYPES
        or _ACCOUNT_IN_CODE.match(value)
        or is_placeholder(value.partition("@")[0])
        or value.strip("*.-_") == ""
    ):
        return False
    return "@" in value or "/" in value or not any(map(_ABOUT_SECRETS.fullmatch, _PARTS.findall(value)))


_ACCOUNT_IN_CODE = lazily(r"[\w.]*[(\[{$<|]|(?:self|this|req|request|config|settings|args|opts|options|env|os)\.")


def is_placeholder(value: str) -> bool:
    """Whether a value as a whole stands for another: `$PASSWORD`, `<your-key>`, `****`, changeme, example-key-123."""
    start = value[:_MARKED_CHARS]
    folded = fold(start)
    if (
        _VARIABLE.match(value)
        or _is_variable(value)
        or _MASKED.search(folded)
        or _is_common(folded)
        or _MY_PASSWORD.fullmatch(folded)
    ):
        return True
    rest, words = _STANDS_FOR.subn(" ", folded)
    return words > 0 and all(map(_is_plain, _PARTS.findall(rest)))


def _is_plain(part: str) -> bool:
    """Whether what stands beside «example» is a word or counted up (123, abc123), and nothing that somebody made up."""
    return part.isalpha() or bool(_COUNTED.fullmatch(part))


def _is_variable(value: str) -> bool:
    """Whether a value begins with a variable ($PASS, $dbPassword), and is no password with `$` ($Tr0ub4dor)."""
    found = _DOLLAR.match(value)
    if not found or found["name"].isupper() or _is_named_in_code(found["name"]):
        return found is not None
    return not found["sign"] and not (len(found["name"]) >= 6 and _DIGIT_INSIDE.search(found["name"]))


_DOLLAR = lazily(r"\$(?P<name>[A-Za-z_]\w*)(?P<sign>[!#%^*@]?)")
_DIGIT_INSIDE = lazily(r"[A-Za-z]\d{1,9}[A-Za-z]")
_MARKED_CHARS = 80
"""A placeholder says so in its first characters."""
_VARIABLE = lazily(
    r"[?+\-]?[A-Z]+(?:_[A-Z]+)+$|\$(?:\{|\(|env:)|\$\$|\{\{|\{[\w.:!\-\[\]()]*(?:\}|$)"
    r"|<[^>]*>?$|<%|%\(|%[sdvq](?![A-Za-z0-9])|%\w+%$|#\{"
    r"|\[\^|\[[^\]]*\]?$|:[a-z_]\w*$|@[a-z_]\w*$|\(|\?$|!\w+ |&[a-z]|\\[({]|\*+$|\.{2,}|-+$|_+$|…"
)
_MASKED = lazily(r"\*\*\*|xxxx|\.\.\.|…|••|●●|###|<[a-z_\- ]+>|redacted")
"""Characters that nobody has in a value."""
_STANDS_FOR = lazily(
    r"(?:^|(?<=[_\-. ]))your(?:[_\-. ]|[a-z]*(?:key|token|secret|pass))|placeholder|change[_\-]?(?:me|this)"
    r"|replace[_\-]?(?:me|with|this)|insert[_\-]|example|\bdummy|\bfake|not[_\-]?a[_\-]?real|todo|fixme"
    r"|goes[_\-]?here|here$"
)
"""What says that a value is none, if nothing else is in it."""
_PARTS = lazily(r"[^\W_]+")
_COUNTED = lazily(
    r"(?:sk|pk|v)?\d{1,4}|[a-z]{0,20}0?123\d*|\d*(?:abc|xyz)(?:\d{1,3}|def\w*)?|(.)\1*|1234567890[a-z]*|[a-z]{2,8}\d"
)
_MY_PASSWORD = lazily(
    r"(?:my|the|some|a|an|new|old|test|user|db|demo|sample|default|mock|any|invalid"
    r"|wrong|bad|good|no)?[_\-. ]?"
    r"(?:api|access|secret|auth|private|client|session)?[_\-. ]?(?:password|passwd|passphrase|pass|pwd"
    r"|secret|token|key|pw)(?:[_\-. ]?(?:here|value|\d))?"
)
_COMMON_WORDS = frozenset(
    word
    for words in (
        "string str none null nil true false yes no undefined optional varchar text char int integer",
        "number numeric boolean bool any object array password passwords passwd pwd pass secret secrets",
        "token tokens input salt wrong invalid incorrect correct missing empty weak strong medium",
        "expired reset hidden visible encrypted plain plaintext stored saved always still same different",
        "example self this that process os env environ environment config configuration settings request",
        "req user username getenv data form body state document value values default generated random",
        "prompt ask keychain vault file stdin basic bearer digest disabled enabled allowed denied",
        "forbidden revoked active inactive pending valid unknown unset set unchanged changed needed",
        "protected locked and or the not for with from are was too very only also must should can cannot",
        "will when which what how why where n/a tbd login logout admin root guest test tests testing",
        "demo sample public private internal external manager field column label icon type error",
        "recovery policy strength length short long unique primary foreign auto manual inherit email",
        "phone name masked shared rotated leaked compromised omitted below above following attached",
        "separately postgres mysql redis md5 base64 pbkdf2 bcrypt scrypt hs256 rs256 es256 x509 ed25519",
        "2fa mfa totp u2f fido2 lastpass http2 python3 sqlite3 ascii unicode ntlm pam ldap saml sso jwt",
        "rsa dsa hmac require required byte bytes hash hashed your yours param params arg args prop",
        "props confirm confirmation forgot forgotten rule rules follow follows",
    )
    for word in words.split()
)
_COMMON_FORMS = lazily(
    r"sha-?\d+|utf-?8|oauth2?|argon2(?:id?)?|aes-?\d+|pkcs\d+|[mt]fa|1password\d?|keepass\w{0,4}|bitwarden\d*"
    r"|ipv[46]"
)


def _is_common(word: str) -> bool:
    """Whether a folded word is one that stands beside «password» in texts and code, and is none."""
    return word in _COMMON_WORDS or bool(_COMMON_FORMS.fullmatch(word))


_NAMED_IN_CODE = lazily(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+(?:[;!].*)?|[A-Za-z_$](?:[\w$.:?]|->)*[(\[{].*"
)
"""An attribute, a call, or an item: config.password, getpass(prompt, row["x"]."""
_CODE = lazily(
    r"[A-Za-z]+(?:_[A-Za-z]+)+"
    r"|(?:\.{0,2}|~)/(?:(?:Users)?/.*|[a-z0-9_.\-/${}]*)|https?:.*|[a-z]+://.*|[A-Z]:\\.*"
    r"|[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+"
    r"|:.*|new [A-Z].*|await .*|lambda.*|!?(?:true|false|null).*|[\w\-]+\.(?:py|js|ts|tsx|json|ya?ml|toml"
    r"|txt|md|pem|key|env|html|php|rb|go|java|cfg|ini|crt)"
)
_OPERATOR = lazily(r"=>|\|\||&&|\?\?|[=!]==? ?[\w'\"]|\)\.|\(\)")
_MEASURE = lazily(
    r"top\d+|[$€£¥]\d[\d.,]*[kmb]?|\d+x\d+|[\^~]?v?\d+(?:\.\d+)+[a-z0-9\-]*|\d{4}[\-/]\d{1,2}[\-/]\d{1,2}.*"
    r"|[(\[]{0,2}a-z\S*|(?=[a-z_|]*:\d)[a-z_]+(?::\d[\d,]*)?(?:\|[a-z_]+(?::\d[\d,]*)?)+"
    r"|\d{1,2}:\d\d.*|\d{1,5}/[a-z]{1,6}|(?:a-z|0-9|[,_{}\[\]\d+*$!@-])+|[<>~≥≤+\-]?\d[\d,.]*\+?(?:[\-~–]\d+)?"
    r"(?:ms|s|sec|px|em|rem|kb|mb|gb|k|m|b|x|th|st|nd|rd|min|mins|h|hrs?|hours?|days?|d|weeks?|months?"
    r"|years?|%|chars?|characters?|bits?|bytes?|tokens?)?"
)
_HAN = lazily(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_SLUG = lazily(r"[a-z]+(?:[-_.:/][a-z]+)*(?:[-_.:/]v?\d{1,4}(?:[-_.:/][a-z]+)*)?|[a-z]+\d?(?:[-_.][a-z]+\d?)+")
_NUMBERED_WORD = lazily(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+)*\d{1,4}")
_CAPITALIZED = lazily(r"(?:[A-Z][a-z]+\d{0,3})+")
_VERSIONED = lazily(r"[A-Za-z][a-z]+\d")
_DIGIT = lazily(r"[0-9]")
_FUNCTION_WORDS = re.compile(
    r"(?:an?|the|your?|is|are|was|must|to|and|or|for|at|least|please|enter|of|not?|in|on|with|from|be|has"
    r"|have|it|this"
    r"|that|if|when|we|will|can|should|may|than|my|i|as|by|after|before|use)[.,!?]*",
    re.IGNORECASE,
)


def _is_strong(value: str) -> bool:
    """Letters with digits, or either with other characters."""
    letters, digits = _LETTER.search(value), _ANY_DIGIT.search(value)
    return bool((letters and digits) or ((letters or digits) and _OTHER.search(value)))


_LETTER = lazily(r"[^\W\d_]")
_ANY_DIGIT = lazily(r"\d")
_OTHER = lazily(r"[^\w .,:;/'\"\-]")


def _is_code(said: Said) -> bool:
    value = said.value
    if said.is_quoted and "(" in value and _is_strong(value):
        return False
    return _is_expression(value) or bool(_CODE.fullmatch(value) or _OPERATOR.search(value))


def _is_expression(value: str) -> bool:
    """Whether a value is an attribute, a call or an item, and all words in it are words of code."""
    if not _NAMED_IN_CODE.fullmatch(value) or _NO_NAME_IN_CODE.match(value):
        return False
    if _WORDS_WITH_NUMBER.fullmatch(value):
        return any(_is_common(word) or word in _OWNERS for word in _PARTS.findall(_DIGITS.sub("", value.lower())))
    return all(map(_is_word_of_code, _WORD_IN_CODE.findall(_STRING.sub("", value))))


def is_made_by_a_program(value: str, is_left_open: bool = False) -> bool:
    """Whether a password was generated, with whatever signs are in it; what has the form of code must be odder, unless
    it `is_left_open`: a bracket in it does not close, as no code has it."""
    if not is_generated(value) or is_left_open:
        return is_generated(value)
    return not _is_expression(value) or is_generated(value, _MIN_ODD_IN_FORM_OF_CODE)


_MIN_ODD_IN_FORM_OF_CODE = 0.4


_NO_NAME_IN_CODE = lazily(
    r"\w*[A-Za-z]\[(?:\d{3,}\]|\d{4,}\Z)|(?!String|Text|Unicode)[A-Z][a-z]+[({]\d{4,}|\w*(?:_\d{3,}|\d\$)[(\[{]"
)
"""Tiger[2024], Tiger(2024)!, tiger_2024(guest): code takes items by smaller numbers, and calls nothing so."""
_WORDS_WITH_NUMBER = lazily(r"[A-Za-z]{3,}(?:\.[A-Za-z]{3,})+\d{2,4}")
"""pencil.ocean20: a password, unless the words are of code (config.db20)."""
_OWNERS = frozenset(
    word
    for words in (
        "cfg conf opts options arg argv kwargs res response ctx context props obj item row node event result results",
        "body headers cls super window math faker client server session model module lib util utils spec parser page",
        "key creds cred credentials account accounts auth http host app api db vars var inputs parsed payload query",
    )
    for word in words.split()
)
"""Words before a dot whose attribute follows."""
_STRING = lazily(r"([\"'`])[^\"'`]*(?:\1|\Z)")
_WORD_IN_CODE = lazily(r"[A-Za-z0-9]+")


def _is_word_of_code(word: str) -> bool:
    """Whether letters and digits are a part of a name in code (userPassword, db2, sha256, x1), or a number; nothing
    that somebody made up: Sunny0912, Qx7Km."""
    if word.isdigit() or _SHORT_NAME.fullmatch(word):
        return True
    letters = _KNOWN_DIGITS.sub("", word)
    return letters.isalpha() and 3 * (len(_LETTERS.findall(letters)) - 1) <= len(letters)


_SHORT_NAME = lazily(r"[a-z]{1,2}\d{1,2}|[A-Z]\d?|0[xob][\da-f]+")
_KNOWN_DIGITS = lazily(
    r"(?<=[a-z])\d{1,2}(?=[A-Z][a-z]|[a-z]{2})|(?:\d{1,2}|128|192|224|256|384|512|509|1024|2048|25519)(?=[A-Z]|[a-z]?\Z)"
)
"""In names of code: str2bool, b64encode, Argon2Hasher, db2, sha256, x509."""


_LOOSE = ("space", "joined", "aside", "below", "announced", "item", "next")
"""Signs that say little: only a value with digits, of six characters and more, counts."""
_UNIT = lazily(
    r" ?(?:(?:[kKMGT]?[bB]|[kKMG]?Hz|[mk]?[VAWmg]|[mnu]?s|x|k|h|d|px|pt|em|cm|km|rpm|bps|dpi|am|pm|AM|PM"
    r"|(?:bit|byte|char|character|letter|digit|number|word|symbol|token|line|row|page|item|point|step|user|account|time"
    r"|attempt|sec|second|min|minute|hr|hour|day|week|month|year|dollar|euro|mile|meter|metre|volt|amp|pixel)s?"
    r"|tries|entries|people|persons|USD|EUR)(?![A-Za-z])"
    r"|[%/]|[位个個次秒字条條天年月元人块組组笔筆万萬号號种種项項]|分(?!享)|端口|[-~]\d)"
)
"""After a number that counts something."""
_SAID_OF = lazily(r" ?(?:(?:is|are|was|were|has|had|means|can|should|will|to|in|on|of)(?![A-Za-z])|[太是])")
"""After a value of which a sentence says something: password 123456 is too weak."""


def _is_counted(said: Said) -> bool:
    """Whether a number counts something, or is only spoken of."""
    return bool(_UNIT.match(said.rest) or (said.how in _LOOSE and _SAID_OF.match(said.rest)))


def _password(said: Said) -> bool:
    value = said.value
    if said.how in _LOOSE and not _DIGIT.search(value):
        if said.how in ("below", "item", "next"):
            return is_random_word(value) and not (_has_more(said.rest) if said.how == "below" else said.rest[:1] == ":")
        return said.how in ("space", "joined") and is_like_no_word(value.rstrip(".!?"))
    if said.how == "aside" and not (_is_made_up(value) or (said.rest[:1] == ")" and _WORD_AND_DIGITS.fullmatch(value))):
        return False
    if said.how == "cell" and _UNOPENED.match(value):
        return False  # (user|pass2) in a pattern
    if said.how == "joined" and _VERSIONED.fullmatch(value):
        return False
    if said.how in (*_LOOSE, "dash") and _STANDARD.fullmatch(value):
        return False
    if said.how in ("below", "announced", "item") and (_has_more(said.rest) or _is_slug(value)):
        return False
    if said.how in ("announced", "item") and (_VERSIONED.fullmatch(value) or _NO_PASSWORD.fullmatch(value)):
        return False
    if said.how == "next" and not _may_be_next(said):
        return False
    if said.how not in _LOOSE and is_made_by_a_program(value):
        return True
    if not 4 <= len(value) <= 200 or is_placeholder(value) or not value.isprintable():
        return False
    core = value.rstrip(".!?")
    if _is_uncommon_word(said, core):
        return True
    if (
        (core != value and _is_common(fold(core)))
        or _MEASURE.fullmatch(core.lower())
        and not _is_plain_number(said)
        or (_is_code(said) and not (said.how == "account" and value.isalpha()))
    ):
        return False
    if _HAN.search(value):
        return False
    if " " in value:
        return _is_phrase(said) or is_app_password(value)
    if _is_strong(core):
        return said.how not in _LOOSE or (
            len(core) >= 6 and any(c.isdigit() for c in core) and core[0] not in "-(=|" and "=" not in core
        )
    if core.isdigit():
        return _is_plain_number(said)
    return _is_lone_word(said, core)


_WORD_AND_DIGITS = lazily(r"(?!sha|iso|rfc|aes|utf|ascii)[A-Z]?[a-z]{3,20}\d{3,6}")
_STANDARD = lazily(r"[A-Z]{2,5}\d[\-/][A-Za-z]{2,9}\d?|[A-Z][A-Za-z]{2,6}\d\.\d")
"""WPA2-PSK, MD5-hashed, OAuth2.0."""
_UNOPENED = lazily(r"[^(\[{]*[)\]}]")


def _may_be_next(said: Said) -> bool:
    """Whether a string that follows a name may be its value: no key with a value of its own, selector, or address."""
    if not said.is_quoted or _A_VALUE.match(said.rest) or _SELECTOR.match(said.value):
        return False
    return not (_is_slug(said.value) or _NO_PASSWORD.fullmatch(said.value))


def _is_slug(value: str) -> bool:
    """Whether words with hyphens and a number name a thing (http-2, my-app-v3), and are no password (Tunes-2020)."""
    return bool(_SLUG.fullmatch(value.lower())) and not _WORDS_AND_NUMBER.fullmatch(value)


_WORDS_AND_NUMBER = lazily(r"(?:[A-Z][a-z]{2,11}[\-_.]){1,4}(?:\d{2,4}|[A-Z][a-z]{2,11}\d{1,4})")


_A_VALUE = lazily(r"\s{0,9}(?:[:=]|, ?[\"']\w+[\"'],)")
_SELECTOR = lazily(r"[#.@/\[&?]")
_NO_PASSWORD = lazily(
    r"[\w.\-]+:\d{2,5}|[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+|[\w\-]+(?:\.[\w\-]+)+(?:/.*)?|[a-z_]+[:|][\w:,|]*|[A-Z]+-?\d+|\w+\([^()]*\)"
)
"""A port, mail address, host or file, a scope or rule (min:8|max:64), a document (RFC6749), a type (varchar(60))."""


def _argument(said: Said) -> bool:
    """A password among the arguments of a call, which may be anything else."""
    if is_app_password(said.value):
        return True
    return not _NUMBERED_WORD.fullmatch(said.value) and " " not in said.value and _password(said)


def _beside(said: Said) -> bool:
    """A password that nothing but an account before it announces: letters, digits and a sign that few words have."""
    value = said.value
    if not _RARE_SIGN.search(value) or _NO_PASSWORD_BESIDE.fullmatch(value) or is_placeholder(value):
        return False
    return _is_made_up(value) and not _is_code(said)


_RARE_SIGN = lazily(r"[!#$&*]")
_NO_PASSWORD_BESIDE = lazily(r"[A-Za-z]{1,3}\$\d[\d,.]*[A-Za-z]?|[\w.\-]+[#&]\d+|.*[?&]\w+=.*|[^A-Za-z0-9].*")
"""A price, a name with a number (alice#1234), the query of an address, a word with a sign before it."""


def is_app_password(value: str) -> bool:
    """Whether these are sixteen letters as Google writes them, and no sentence: abkd efmh ijql mnvp."""
    return bool(_APP_PASSWORD.fullmatch(value))


def _app_password(said: Said) -> bool:
    """Sixteen letters, alone or in fours, as Google, Apple and Tencent give them to a program; or any password."""
    value = said.value.rstrip(".")
    return is_app_password(value.lower().replace("-", " ")) or _is_made_of_letters(value) or _password(said)


def _is_made_of_letters(value: str) -> bool:
    """Whether these are sixteen letters, all small or all capital, and no word."""
    return bool(_SIXTEEN.fullmatch(value)) and (value.islower() or value.isupper())


_SIXTEEN = lazily(r"(?=[A-Za-z]{0,12}[B-DF-HJ-NP-TV-XZb-df-hj-np-tv-xz]{4})[A-Za-z]{16}")
_APP_PASSWORD = lazily(r"(?=[a-z ]{0,18}[b-df-hj-np-tv-xz]{3})[a-z]{4}(?: [a-z]{4}){3}")
"""Three consonants in a row are rare in words of four letters."""


def _is_plain_number(said: Said) -> bool:
    """«password: 20394857»; not «password: 8 characters»."""
    return (
        said.value.rstrip(".!?").isdigit()
        and len(said.value) >= 6
        and said.how in ("direct", "env", "han", "word", "pair", "tag", "cell", "account", "joined")
        and not _is_counted(said)
    )


def _is_phrase(said: Said) -> bool:
    """A quoted passphrase of four words and more, or one odd word among two: not a sentence."""
    words = said.value.split()
    if said.is_quoted and said.how in ("direct", "env", "pair") and _is_phrase_with_number(words):
        return True
    if not said.is_quoted or said.how not in ("direct", "env", "pair", "word", "han", "space") or len(words) < 2:
        return False
    if len(words) >= 4:
        return is_phrase(said.value)
    if any(_FUNCTION_WORDS.fullmatch(word) for word in words):
        return False
    return any(_is_strong(word) and any(c.isdigit() for c in word) and len(word) >= 5 for word in words)


def _is_phrase_with_number(words: list[str]) -> bool:
    """Whether words and a number at their end are a passphrase: purple rain 1984; no sentence, no «error code 404»."""
    *before, last = words
    return (
        2 <= len(before) <= 9
        and bool(_SHORT_NUMBER.fullmatch(last))
        and all(word.isalpha() and word.isascii() and 3 <= len(word) <= 9 for word in before)
        and not any(
            _FUNCTION_WORDS.fullmatch(w) or _is_common(w) or _ABOUT_SECRETS.fullmatch(w) for w in map(fold, before)
        )
        and fold(before[-1]) not in _COUNTING
    )


_SHORT_NUMBER = lazily(r"\d{1,4}")
_COUNTING = frozenset(
    ("version", "code", "step", "part", "chapter", "page", "line", "level", "section", "day", "phase")
)


def is_phrase(value: str) -> bool:
    """Whether words are a passphrase, and no sentence."""
    words = value.replace("-", " ").split()
    if any(_FUNCTION_WORDS.fullmatch(word) for word in words):
        return False
    return all(word.isalpha() and word.islower() and len(word) <= 9 for word in words)


def is_phrase_in_a_sentence(value: str) -> bool:
    """Whether words that a sentence may go on with (the passphrase is …) are a passphrase: no verb or adverb is."""
    return is_phrase(value) and not any(map(_OF_A_SENTENCE.fullmatch, value.split()))


_OF_A_SENTENCE = lazily(
    r".{2,}(?:ed|ing|ly)|(?:not?|never|always|still|too|very|just|so|also|same|more|less|than|then|there|here|how|what"
    r"|which|who|we|they|you|any|every|each|all|one|do|does|did|don|one|was|were|would|could|might|kept|written|lost|long"
    r"|wrong|right|required|sent|known|shown|short|weak|strong|again|only|about|over|into|out|up|down|off|both|but|him|her)"
)


def is_in_groups(value: str) -> bool:
    """Whether a code in groups (8f3k-29dk, 1234 5678) has digits in more than a word or a date has."""
    digits = sum(char.isdigit() for char in value)
    return digits >= 2 and not _NAMED_GROUPS.fullmatch(value)


_NAMED_GROUPS = lazily(
    r"[a-z]+(?:[- ][a-z]+)*[- ]v?\d{1,4}|\d{4}-\d{1,2}(?:-\d{1,2})?.*|(?:[a-z]+\d?[- ])+[a-z]+\d?"
    r"|\d{3,4}[- ](?:[a-z]{3,8})(?:[- ][a-z]+)*"
)


def is_answer(value: str) -> bool:
    """Whether folded words answer a security question, and do not say how that is done (required, hashed)."""
    words = value.split()
    if is_placeholder(value) or any(_is_common(word) or _FUNCTION_WORDS.fullmatch(word) for word in words):
        return False
    if _HAN.search(value):
        return is_said_in_han(value, True)
    return len(value) >= 3 and not value.isdigit() and not any(map(_OF_A_SENTENCE.fullmatch, words))


def is_said_in_han(value: str, is_said: bool) -> bool:
    """Whether folded Chinese words are a password: digits (四八二一), words with digits at an end (芝麻開門123), or, if
    it `is_said` or quoted, words alone; no words of a sentence about one."""
    if _HAN_DIGITS.fullmatch(value):
        return True
    if _ABOUT_HAN.search(value):
        return False
    return bool(_HAN_WITH_DIGITS.fullmatch(value)) or (is_said and bool(_HAN_ONLY.fullmatch(value)))


_HAN_DIGITS = lazily(r"[零〇一二三四五六七八九两幺]{4,12}了?")
_HAN_WITH_DIGITS = lazily(r"[\u3400-\u9fff]{2,8}\d{2,8}[!@#$]?|[A-Za-z]{0,8}\d{2,8}[\u3400-\u9fff]{2,8}")
_HAN_ONLY = lazily(r"(?!芝麻开门|天王盖地虎)[\u3400-\u9fff]{2,10}")
_ABOUT_HAN = lazily(
    r"[的了是不没要在被和与或为请见问同无待忘错对改码位个字短太很必选填输设效期验什么谁哪怎吗呢吧吃给把从到看向让会能可应该如附暂已还又再就"
    r"才只每第秒元次种名密管第号]|长度|公告|说明|确认|取消|登录|登入|安全|测试"
)


def _is_lone_word(said: Said, core: str) -> bool:
    """A word without digits: only where a setting or a quoted value holds nothing else."""
    if len(core) < 6 or not core.isascii() or said.how not in ("direct", "env", "pair", "tag", "account"):
        return False
    if said.how == "account":
        return True
    if not core.isalpha():
        return said.is_quoted and not _SLUG.fullmatch(core) and any(c.isupper() for c in core) and len(core) >= 10
    turns = sum(a.isupper() != b.isupper() for a, b in zip(core[1:], core[2:], strict=False))
    if turns >= 3:
        return True
    if said.how == "tag" and _GOES_ON_IN_TAG.match(said.rest):
        return False  # <li id="password">change it</li>
    return core.islower() and (said.is_quoted or said.how != "direct" or not said.rest.strip())


_GOES_ON_IN_TAG = lazily(r"[ \t]{1,8}[^\s<]")


def _is_uncommon_word(said: Said, core: str) -> bool:
    """Letters that are no word of a sentence and no name in code: JqlIkXOpIq, iLoveMyCat, Summer!, one-two-three.

    Code has the same forms (`password: userPassword`): what is called by words of code, or is followed by its signs,
    is none.
    """
    if said.how not in ("direct", "env", "pair", "tag", "cell", "word", "han") or not core.isascii():
        return False
    if is_random_word(core):
        return True
    if said.how in ("word", "han"):
        goes_on = said.value == core and not _ENDS.match(said.rest)
    else:
        goes_on = bool(_IN_CODE.match(said.rest)) and not (said.how == "tag" and said.rest.startswith("</"))
    if (goes_on and not said.is_quoted) or _is_named_in_code(core):
        return False
    is_exclaimed = said.value == core + "!" and _CAPITALIZED.fullmatch(core) and not _is_common(fold(core))
    if is_exclaimed or (core.isalpha() and len(core) >= 8 and _HUMP.search(core)):
        return len(core) >= 6
    return bool(_HYPHENATED.fullmatch(core)) and is_phrase(core)


def is_like_no_word(value: str) -> bool:
    """Whether letters, with or without signs, are written as no word, name or address is: JqlIkXOpIq, Passw@rd."""
    return is_random_word(value) or is_spelled_with_signs(value)


def is_spelled_with_signs(value: str) -> bool:
    """Whether signs stand for letters in a word: Passw@rd, tr!cky, Mon$ter; bob@nas, Outer$Inner are none."""
    if len(value) < 6 or value.isalpha() or not _SPELLED.fullmatch(value):
        return False
    parts = _LETTERS_OF_A_WORD.findall(value)
    return min(map(len, parts)) <= 2 if "@" in value else not all(part[0].isupper() for part in parts)


_SPELLED = lazily(r"[A-Za-z]+(?:[@$!]{1,2}[A-Za-z]+)+")
_LETTERS_OF_A_WORD = lazily(r"[A-Za-z]+")


def is_random_word(value: str) -> bool:
    """Whether letters change between small and capital as in no word, name or identifier: JqlIkXOpIq."""
    if value.islower() or not _LETTERS_ONLY.fullmatch(value) or _CODE.fullmatch(value) or _is_named_in_code(value):
        return False
    turns = sum(a.isupper() != b.isupper() for a, b in zip(value[1:], value[2:], strict=False))
    return turns >= 3 and 3 * turns >= len(value) - 1


def is_parameter(value: str) -> bool:
    """Whether code could have a parameter of this name, or one less: force_zip64, count-1."""
    return bool(_PARAMETER.fullmatch(value))


_PARAMETER = lazily(r"[a-z]+(?:_[a-z]+)+(?:_?\d{1,4})?[.,;]?|[a-z]+-\d")


def is_destination(value: str) -> bool:
    """Whether a link may lead there: a path, a name with escapes, a place in a note (Passwords#2024)."""
    return bool(_DESTINATION.match(value))


_DESTINATION = lazily(r"\S*?(?:/|%[0-9A-Fa-f]{2})|(?:[A-Za-z]+|[\w\-]+\.[a-z]{2,5})#")


def is_document(value: str) -> bool:
    """Whether a value is written as the number of a standard: ISO27001."""
    return bool(_DOCUMENT.fullmatch(value))


_DOCUMENT = lazily(r"[A-Z]{2,5}-?\d{3,5}")


def is_attribute(value: str) -> bool:
    """Whether a value has the form of words and a number in code, too: pencil.ocean20."""
    return bool(_WORDS_WITH_NUMBER.fullmatch(value))


def is_identifier(value: str) -> bool:
    """Whether code could have a variable of this name: typedPhrase."""
    return bool(_CODE.fullmatch(value)) and value.isalpha()


def _is_named_in_code(value: str) -> bool:
    """Whether an identifier, or words with hyphens, name what they hold: userPassword, SecretStr, CharField."""
    words = _LETTERS.findall(value)
    return bool(words and _is_common(words[-1].lower())) or any(
        _ABOUT_SECRETS.fullmatch(word.lower()) for word in words
    )


_LETTERS_ONLY = lazily(r"[A-Za-z]{8,64}")
_HUMP = lazily(r"[a-z][A-Z]")
_HYPHENATED = lazily(r"[a-z]{4,9}(?:-[a-z]{4,9}){2,5}")
_IN_CODE = lazily(r"\s{0,4}(?:[)}\];=({|&<>+?]|,\s*(?:\Z|[\w\"']+\s*[:=,)}]))")
_ENDS = lazily(r"[.!?]*\s*(?:\Z|[,;。，；！？、)）」』\"'])")
_ABOUT_SECRETS = lazily(
    r"pass(?:word|wd|phrase|code)?s?|p[as]*wd?s?|secrets?|tokens?|keys?|cred\w*|auth\w*|users?|login|account\w*|hash\w*"
    r"|encrypt\w*|salt\w*|html|form|element|control\w*|component|param\w*|service|provider|handler|factory|schema|model"
    r"|dto|validat\w*|encod\w*"
)


def _key(said: Said) -> bool:
    """A key or token: letters and digits, twelve or more (fewer, if they alternate), no name of something."""
    value = said.value
    if _is_random_key(said):
        return True
    is_set_off = (said.how in ("joined", "aside") and _is_mixed(value)) or (
        said.how == "space" and len(value.rstrip(".!?")) >= 10 and _beside(said._replace(value=value.rstrip(".!?")))
    )
    if (
        len(value) < 12
        and not is_set_off
        and not (said.how not in _LOOSE and _is_made_up(value.rstrip(".!?" if said.how in ("word", "han") else ".")))
    ):
        return False
    if len(value) > 300 or " " in value or value.isalpha() or value.isdigit() or _HAN.search(value):
        return False
    if not _DIGIT.search(value) or is_placeholder(value):
        return False
    if said.how in _LOOSE and not is_set_off and not (_is_dense(value) and len(value) >= 16):
        return False
    if said.how in ("below", "announced") and _has_more(said.rest):
        return False
    if said.how == "next" and (not _may_be_next(said) or _CAPITALIZED.fullmatch(value)):
        return False
    if _is_code(said) or _MEASURE.fullmatch(value.lower()) or value.startswith("-"):
        return False
    if _SLUG.fullmatch(value.lower()) and not (said.how == "env" and said.is_quoted and _ENDS_ODD.search(value)):
        return False  # SECRET_KEY = 'quiet-maple-river9' is no slug
    if _NUMBERED_WORD.fullmatch(value):
        return False
    return any(c.isalpha() for c in value)


def _is_random_key(said: Said) -> bool:
    """Whether a value is random letters, or a short key of letters and digits, where nothing else is written so."""
    value = said.value.rstrip(".!?")
    if said.how in ("item", "aside") or not is_random_key(value) or is_placeholder(value) or is_hash(value):
        return False
    if any(_ABOUT_SECRETS.fullmatch(word.lower()) for word in _LETTERS.findall(value) if len(word) > 2):
        return False  # AzureApiKeyT
    if said.how in _LOOSE and (value.islower() or value.isupper() or len(value) < _MIN_LOOSE_KEY_CHARS):
        return False
    if said.how in ("below", "announced") and _has_more(said.rest):
        return False
    return said.how != "next" or (said.is_quoted and not _A_VALUE.match(said.rest))


_MIN_LOOSE_KEY_CHARS = 12


def _secret(said: Said) -> bool:
    """A key, or in a setting or string that holds nothing else also letters: JWT_SECRET=keyboardcat."""
    return _key(said) or _is_word_of_a_setting(said)


def _is_word_of_a_setting(said: Said) -> bool:
    value = said.value
    if said.how != "env" and not (said.is_quoted and said.how == "direct"):
        return False
    if len(value) < 8 or not value.isalpha() or not value.isascii() or is_placeholder(value):
        return False
    return not _is_common(value.lower()) and not (said.is_quoted and _NAME_OF_ONE.fullmatch(value))


_NAME_OF_ONE = lazily(r"[A-Za-z]{0,40}(?:(?<=[a-z])(?:Secret|Key|Token|Name|Id|Value)|[Ss]ecret[A-Z][a-z]{1,12})")
"""What code calls a secret: "clientSecret", "secretName"."""


def _random_key(said: Said) -> bool:
    """What is written after «key» alone: twenty letters and digits and more that nobody typed, and no UUID."""
    value = said.value.rstrip(".!?")
    if said.how not in ("direct", "env", "word", "han", "space", "joined", "cell") or not _RANDOM.fullmatch(value):
        return False
    if _UUID.fullmatch(value):
        return said.how in ("space", "word", "han")
    is_made = len(_TURNS.findall(value)) >= 5 or is_random(value)
    return is_made and not _HASHED_NAME.fullmatch(value) and _key(said._replace(value=value))


_HASHED_NAME = lazily(r"[A-Za-z]{3,}[\w\-]{0,200}-[0-9a-f]{32,64}")
"""Of a cache: Linux-npm-2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae."""
_RANDOM = lazily(r"(?=[A-Za-z\d+/_\-]{0,300}[A-Za-z])[A-Za-z\d+/_\-]{20,300}={0,2}")
_UUID = lazily(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def _is_made_up(value: str) -> bool:
    """Whether a short value (Tr0ub4dor, K8P2-XW4M) is written as no word, name or version is."""
    if len(value) < 8 or not _DIGIT.search(value) or _NO_PASSWORD.fullmatch(value):
        return False
    if _ODD_SIGN.search(value):
        return any(char.isalpha() for char in value)
    words = _LETTERS.findall(value)
    if len(_DIGITS.findall(value)) == 1 and all(_VOWEL.search(word) or len(word) == 1 for word in words):
        return False  # Sha256Hash, OAuth2Token
    if value != value.lower() != value.upper() != value:  # both cases
        return True
    if not all(map(_DIGIT.search, _PARTS.findall(value))):
        return False  # app-1a2b3c
    return len(_TURNS.findall(value)) >= 4 and max(map(len, words), default=0) <= 3


def _is_mixed(value: str) -> bool:
    """Whether both cases and digits take turns in a value, as in no hash, name or number: Xk9mQ2vL7pRt."""
    return value.lower() != value != value.upper() and len(_TURNS.findall(value)) >= 4 and _is_made_up(value)


_ODD_SIGN = lazily(r"[!#$%^&*~?]")
_LETTERS = lazily(r"[A-Z]?[a-z]+|[A-Z]+")
_DIGITS = lazily(r"\d+")
_TURNS = lazily(r"\d(?=[\W_]?[A-Za-z])|[A-Za-z](?=[\W_]?\d)")
_ENDS_ODD = lazily(r"[a-z]{3}\d\Z")


def _recovery(said: Said) -> bool:
    """A code that opens an account once: a key, or eight digits and more in one or two groups."""
    return _key(said) or (said.how not in _LOOSE and bool(_DIGIT_GROUPS.fullmatch(said.value)))


_DIGIT_GROUPS = lazily(r"\d{4,6}-\d{4,6}|\d{8,10}")


def _is_dense(value: str) -> bool:
    return sum(c.isdigit() for c in value) >= 2 and any(c.isalpha() for c in value)


def _authorization(said: Said) -> bool:
    value = said.value.rstrip(".,")
    if (
        len(value) < 8
        or said.how not in ("direct", "env", "pair")
        or is_placeholder(value)
        or " " in value
        or _is_code(said)
    ):
        return False
    return is_basic(value) or (_is_strong(value) and _is_dense(value) and not _SLUG.fullmatch(value.lower()))


def _setting(said: Said) -> bool:
    """What a setting for a key holds, of which nothing else says what it opens: a key that was made up or is random."""
    value = said.value.rstrip(".")
    return _key(said) and (_is_made_up(value) or is_random(value) or is_random_key(value) or is_hash(value))


def _auth(said: Said) -> bool:
    return is_basic(said.value) or (said.how in ("direct", "env") and _key(said) and len(said.value) >= 20)


def _door(said: Said) -> bool:
    """Four to eight digits, as they are keyed in: 4711#."""
    return said.how != "item" and _one_time(said._replace(value=said.value.strip("#*")))


def _lock(said: Said) -> bool:
    """What opens a lock: as `_door`, and where nothing else can be meant also three digits, as cases have them."""
    return _door(said) or (said.how in ("direct", "env", "han", "word") and _pin(said))


def _pin(said: Said) -> bool:
    if said.how in _LOOSE and len(said.value) < 4 and _GOES_ON.match(said.rest):
        return False
    return bool(_DIGITS_OF_PIN.fullmatch(said.value)) and not _is_counted(said)


_GOES_ON = lazily(r" ?[A-Za-z]")
_DIGITS_OF_PIN = lazily(r"\d{3,8}[.!?]?")


def _has_more(rest: str) -> bool:
    """Whether a line goes on after a value."""
    return bool(rest.strip("`\"' |")) and not rest.startswith("</")


def _passcode(said: Said) -> bool:
    """A password, or four digits and more."""
    return _password(said) or (
        said.how not in ("cell", "account", "below", "announced", "item", "next", "dash") and _door(said)
    )


def _kept(said: Said) -> bool:
    """What is written behind the name of a lock alone: four to eight digits, and no year."""
    return (
        said.how in ("direct", "env", "han", "word")
        and not _has_more(said.rest)
        and _door(said)
        and (len(said.value.strip("#*")) != 4 or said.value[:2] not in ("19", "20"))
    )


def _puk(said: Said) -> bool:
    """Eight digits."""
    return bool(_EIGHT_DIGITS.fullmatch(said.value))


def _tan(said: Said) -> bool:
    """Six to eight digits."""
    return len(said.value.rstrip(".!?")) >= 6 and _pin(said)


_EIGHT_DIGITS = lazily(r"\d{8}[.!?]?")


def _one_time(said: Said) -> bool:
    """Four to eight digits; Google writes G-123456."""
    return len(said.value) >= 4 and _pin(said._replace(value=said.value.removeprefix("G-")))


def _code(said: Said) -> bool:
    """A short code for a shared file or parcel: four to eight letters and digits."""
    value = said.value.rstrip(".!?")
    if not _SHORT_CODE.fullmatch(value) or _is_common(fold(value)) or _is_counted(said):
        return False
    return bool(_DIGIT.search(value)) or (said.how in ("direct", "han") and not _VOWEL.search(value))


_SHORT_CODE = lazily(r"[A-Za-z0-9]{4,8}")
_VOWEL = lazily(r"[aeiouAEIOU]")


def _login(said: Said) -> bool:
    """The password after an account: no path, no name with a number."""
    if said.how == "space":
        return _beside(said) or bool(_WORDS_AND_NUMBER.fullmatch(said.value)) or is_random_word(said.value)
    value = said.value.rstrip(".!?")
    if said.how in ("aside", "cell", "account", "dash", "call") or len(value) < 6 or _is_slug(value):
        return False
    if is_random_word(value):
        return True
    return _is_strong(value) and value[0] not in "/(*" and _password(said._replace(how="word"))


def _never(said: Said) -> bool:
    return False


def _totp(said: Said) -> bool:
    """The key in base 32 of an authenticator, in a column of them: JBSW Y3DP…, otpauth://totp/…"""
    return said.how in ("account", "cell", "joined") and bool(_TOTP.fullmatch(said.value))


_TOTP = lazily(r"otpauth://\S+|(?=\D*\d)(?:[A-Z2-7 ]{16,}|[a-z2-7 ]{16,})=*")


def _digits(said: Said) -> bool:
    return sum(c.isdigit() for c in said.value) >= 6 and not set(said.value) & set("*") and len(set(said.value)) > 2


def _wifi(said: Said) -> bool:
    """What is told of a network and has letters, digits and a sign is its password, and no name (HomeNet-5G)."""
    value = said.value
    if said.how == "direct" and _WORD_AND_YEAR.fullmatch(value) and len(value) >= 8 and not _has_more(said.rest):
        return True
    is_told = said.how in ("direct", "word", "han") and bool(_SIGN_OF_PASSWORDS.search(value))
    return is_told and bool(_DIGIT.search(value)) and not _NO_PASSWORD.fullmatch(value) and _password(said)


_WORD_AND_YEAR = lazily(r"[a-z]{4,20}\d{4}")
_SIGN_OF_PASSWORDS = lazily(r"[!#$%&*@]")


def _phrase(said: Said) -> bool:
    """A password, or in quotes three words and more that are no sentence: "blue dog 7"."""
    words = fold(said.value).split() if said.is_quoted else []
    is_one = 3 <= len(words) <= 12 and all(word.isalnum() and len(word) <= 12 for word in words)
    return (is_one and not any(_FUNCTION_WORDS.fullmatch(w) or _OF_A_SENTENCE.fullmatch(w) for w in words)) or (
        _password(said)
    )


_CHECKS: dict[str, Callable[[Said], bool]] = {
    "password": _password,
    "passcode": _passcode,
    "saying": _password,
    "answer": _never,
    "combination": _never,
    "door of": _door,
    "wifi": _wifi,
    "argument": _argument,
    "code": _code,
    "app password": _app_password,
    "login": _login,
    "seed": _never,
    "phrase": _phrase,
    "pin": _pin,
    "one-time": _one_time,
    "totp": _totp,
    "door": _lock,
    "beside": _beside,
    "api-key": _key,
    "token": _key,
    "secret": _secret,
    "random-key": _random_key,
    "recovery": _recovery,
    "setting": _setting,
    "bearer": _setting,
    "kept": _kept,
    "puk": _puk,
    "tan": _tan,
    "question": _never,
    "authorization": _authorization,
    "auth": _auth,
    "id-number": _digits,
    "bank-account": _digits,
}
