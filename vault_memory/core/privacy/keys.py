"""Keys of any provider: a short prefix that ends in `_`, `-` or `.`, and a long body that nobody typed (`acme_live_…`).

No list of providers is complete, but their keys are alike. What else is written so is no secret: ids of things
(`file-…`, `msg_…`), hashes behind a name, UUIDs, names in code. A body is told from words by its pairs of neighbouring
letters, and an id from a key by the words of its prefix.
"""

from __future__ import annotations

import re

from vault_memory.core.privacy.formats import Found
from vault_memory.core.text import lazily

ANY_KEY = lazily(
    r"[A-Za-z](?<![A-Za-z0-9_\-./@#%~\\&?*][A-Za-z])(?<![A-Za-z0-9/=+]\+[A-Za-z])(?=[A-Za-z0-9]{0,15}[_\-.])(?=[A-Za-z_\-.]{0,60}\d|[a-z_\-.]{22})"
    r"[A-Za-z0-9_\-.]{21,299}(?![A-Za-z0-9_\-+/@*(\[\\]|=[^=\s\"'])"
)
"""A word that may be a key: a prefix, and at least twenty characters. No part of a path, an address or base64."""

_FOLLOWS = {
    "a": "bcdfgiklmnprstuvxy",
    "b": "aeijlorsuy",
    "c": "acehiklortu",
    "d": "adeiorsuy",
    "e": "acdefgilmnpqrstvwxy",
    "f": "aefilortu",
    "g": "aehilnorsu",
    "h": "aeiortu",
    "i": "abcdefglmnoprstvxz",
    "j": "eo",
    "k": "eis",
    "l": "adefilostuy",
    "m": "abeimopsu",
    "n": "acdefgiklnopstuvy",
    "o": "abcdefgiklmnoprstuvw",
    "p": "aeiloprstuy",
    "q": "u",
    "r": "acdegiklmnorstuy",
    "s": "acehiklopstuwy",
    "t": "acehiloprstuwy",
    "u": "abcdegilmnprst",
    "v": "aei",
    "w": "aehinors",
    "x": "ceipt",
    "y": "opst",
    "z": "e",
}
"""Letters that follow each other in words: 97 of 100 pairs in the words of documents and code (those pairs of which
there are at least 5 in 10,000), and 39 of 100 among random letters."""
_RUN = lazily(r"[A-Za-z0-9]+")
MIN_RANDOM_CHARS = 20
_MIN_DIFFERENT = 10
"""Characters of a random text: fewer repeat each other, as in aaaa or 0000."""
_MIN_ODD = 0.33
"""Of the pairs in a random text. Of the long names in code 97 of 100 have less than .22; of random texts 99 of 100 have
more than .5 (letters and digits), .36 (small letters) and .29 (hashes, which count by their form)."""

_MIN_ODD_IN_NAME = 0.45
"""Of those in a text with signs, or with capital letters and hardly a digit: Mean_Acc1298_Mem40."""


def is_random(text: str) -> bool:
    """Whether nobody typed these twenty letters and digits or more: no words, names in code, or numbers."""
    if len(text) < MIN_RANDOM_CHARS or len(set(text)) < _MIN_DIFFERENT:
        return False
    is_like_a_name = not text.isalnum() or (not text.islower() and sum(map(str.isdigit, text)) < 2)
    return _oddness(text) >= (_MIN_ODD_IN_NAME if is_like_a_name else _MIN_ODD)


_LETTERS_OF_KEY = lazily(r"[A-Za-z]{12,300}")
_MIN_DIFFERENT_LETTERS = 6
_MIN_ODD_LETTERS, _MIN_ODD_LETTERS_OF_ONE_CASE = 0.4, 0.33
"""Of the pairs in twelve random letters: 98 of 100 have more (of one case 95). Of the words and names of twelve
letters in documents and code 99 of 100 have less."""
_MIN_ODD_SHORT = 0.6
_SHORT_KEY = lazily(r"(?=[A-Za-z]{0,10}\d)(?=\d{0,10}[A-Za-z])[A-Za-z0-9]{8,24}")


def is_random_letters(text: str) -> bool:
    """Whether nobody typed these twelve letters or more: no word, no name in code, no alphabet (crmWWCMTLtKM)."""
    if not _LETTERS_OF_KEY.fullmatch(text) or len(set(text.lower())) < _MIN_DIFFERENT_LETTERS:
        return False
    steps = sum(ord(after) - ord(before) == 1 for before, after in zip(text, text[1:], strict=False))
    is_mixed_case = not (text.islower() or text.isupper())
    least = _MIN_ODD_LETTERS if is_mixed_case else _MIN_ODD_LETTERS_OF_ONE_CASE
    return 2 * steps < len(text) and _oddness(text) >= least


def is_random_key(text: str) -> bool:
    """Whether nobody typed these letters, or these eight letters and digits or more: x7k2m9qa, no sha256sum."""
    return is_random_letters(text) or (bool(_SHORT_KEY.fullmatch(text)) and _oddness(text) >= _MIN_ODD_SHORT)


def _oddness(text: str) -> float:
    """The share of pairs of neighbours that no word, number or change between them has (0 to 1)."""
    pairs = [_is_odd(*pair) for run in _RUN.findall(text) for pair in zip(run, run[1:], strict=False)]
    return sum(pairs) / len(pairs) if pairs else 0.0


def _is_odd(first: str, second: str) -> bool:
    """Whether words and code hardly have these two characters beside each other."""
    if not (first.isalnum() and second.isalnum()):
        return _class_of(second) not in _BEHIND.get(_class_of(first), "")
    if first.isdigit() or second.isdigit():
        return first.isdigit() != second.isdigit()
    return (first.islower() and second.isupper()) or second.lower() not in _FOLLOWS[first.lower()]


def _class_of(char: str) -> str:
    return "0" if char.isdigit() else char if not char.isalpha() else "a" if char.islower() else "A"


_BEHIND = {
    "a": "_.(,\">-:)=/'<[`]",
    "A": "_,.-)\"<':/;(]}`=",
    "0": ".,-])\"_:>/<';}+",
    "!": "a=",
    '"': "aA>,):].0",
    "#": "aA",
    "$": "a{(A",
    "%": "a(",
    "&": "a&",
    "'": "aA,)]:.",
    "(": "aA\"')0[",
    ")": ",:).;]`",
    "*": "*aA",
    "+": "0=",
    ",": "0aA\"'",
    "-": "a0A->",
    ".": "a0_A",
    "/": "aA/0",
    ":": "/:0a",
    "<": "a/A",
    "=": "aA\"'0=",
    ">": "<aA.",
    "@": "a",
    "[": "aA\"0'",
    "\\": "a",
    "]": "),:].[",
    "_": "aA_0",
    "`": "aA",
    "{": "aA\"}'",
    "|": "|",
    "}": '),"}',
}
"""What stands behind a sign, and which signs behind a letter or digit, in code and documents: `a` is any small letter,
`A` any capital, `0` any digit. Other pairs are odd."""
_MIN_ODD_IN_TWO_CLASSES = 0.5
"""Of the pairs where only two of small letters, capital letters, digits and signs are there."""
_MIN_ODD_PAIRS, _MIN_ODD_GENERATED = 3, 0.27
"""Of the pairs in a generated password of twelve characters or more: 99 of 100 have more."""
_WRITTEN = lazily(
    r"(?i:pass|token|secret|user)|\(\?[:=!<P]|[Aa]-[Zz]|0-9|://|xxx|\.\.\.|\*\*\*|ENC\[|\([brfu]{1,2}[\"']|\A(?:</?[a-z]{1,12}[>/:|]|<!|\{\{|[$#%][{(])"
)
"""A word for a secret, or what only a regular expression, an address or a template has."""
_IN_EXPRESSION = lazily(r"\\[bdnrstwzBDSWZ]|\.[*+]|\][*+{(]|\)[*+?]|\[\^|\{\{|\}\}|\{\}|&&|\|\||[\-=]>|</")
_MAX_IN_EXPRESSION = 1
"""A generated password has hardly more of these."""
_MAX_ODD_IN_WORD = 0.25
_VISIBLE = lazily(r"(?=[^!-/:-@\[-`{-~]{0,199}[!-/:-@\[-`{-~])(?=[^A-Za-z]{0,199}[A-Za-z])[!-~]{10,200}")
"""With a sign and a letter."""
_LONG_RUN = lazily(r"[A-Za-z][a-z]{5,}|[A-Z]{6,}")


def is_generated(text: str, least: float = _MIN_ODD_GENERATED) -> bool:
    """Whether a program made this password of letters, digits and signs: of its pairs at least this share (0 to 1) are
    such as words and code hardly have."""
    if not _VISIBLE.fullmatch(text):
        return False
    classes = {_class_of(char) if char.isalnum() else "" for char in text}
    if len(classes) < 3:
        least = max(least, _MIN_ODD_IN_TWO_CLASSES)
    odd = sum(_is_odd(*pair) for pair in zip(text, text[1:], strict=False))
    if odd < max(_MIN_ODD_PAIRS, least * (len(text) - 1)) or _WRITTEN.search(text):
        return False
    if len(_IN_EXPRESSION.findall(text)) > _MAX_IN_EXPRESSION:
        return False
    return all(_oddness(run) > _MAX_ODD_IN_WORD for run in _LONG_RUN.findall(text))


# --- what a prefix says -----------------------------------------------------------------------------------------------

_MAX_PREFIX_PARTS, _MAX_PREFIX_PART_CHARS = 4, 14
_PART = lazily(r"[A-Za-z0-9]+")
_SECRET_WORD = lazily(
    r"(?:.*(?:api|app)?(?:keys?|tokens?|secret|seck?))|api|[sp]k|sec|pat|tok|tk|live|auth|access|[a-z]{0,4}[b-df-hj-np-tv-z\d]sk"
)
"""Words of a prefix that say what it is: a secret key, a token."""
_ID_WORDS = frozenset(
    word
    for words in (
        "id ids uid uuid guid oid pid rid tid gid urn nid cid vid xid",
        "msg message messages call chatcmpl cmpl compl gen toolu tool resp response req request run step",
        "thread asst assistant file files batch ft ftjob model vs upload conv conversation chat rs ws srvtoolu",
        "cus customer evt event pi ch in ii sub si price prod acct seti src card pm txn tx po re ba ca cs py tr trr",
        "dp du il link prctbl promo qt rcpt sched sli txcd txr we cn cbtxn issfr ich iauth ic plink",
        "job task item user usr org proj project team group role member page node block blk db view col row field doc",
        "docs note list board space channel room order inv invoice ticket issue pr mr cart sess",
        "chunk chunks sha sha1 sha224 sha256 sha384 sha512 md5 blake blake2b blake3 crc crc32 h1 hash etag digest sum",
        "checksum integrity fingerprint commit rev revision ref build bld version ver v img image layer pkg package",
        "i vol sg subnet vpc snap ami eni igw rtb nat acl eipalloc vpce tgw lt asg fs cache cached lru css sc jsx",
        "icon svg png jpg class style styles font fonts asset assets bundle vendor vendors polyfill polyfills runtime",
        "index main master dev prod staging release branch tag tmp temp backup data dataset static public src dist lib",
        "test tests trace span log logs exec execution deploy dpl deployment inst instance vm pod svc web site host",
        "node npm yarn pip pypi bafy btih com org net www io ai co cdn arn urn mail email smtp imap",
        "wf workflow action actions pipeline stage cluster ns region zone device dev sensor dpkg rpm deb whl tar zip",
        "snapshot ckpt checkpoint epoch embedding vec vector point shard part partition topic queue stream",
        "ssh rsa ed25519 ecdsa pub pubkey publickey cert crt csr x509 kid jti nonce iv salt",
    )
    for word in words.split()
)
"""Words of a prefix behind which an id, a hash or a version stands."""
_HEX = lazily(r"[0-9a-f]{24,128}|[0-9A-F]{24,128}")
_UUID = lazily(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_LONG_WORD = lazily(r"[A-Za-z]{4,}")
_EXTENSION = lazily(r"\.[A-Za-z][A-Za-z0-9]{1,9}\Z")
_END = lazily(r"[_\-.]+\Z")


def any_key(match: re.Match[str]) -> Found:
    """The word as a whole, if it is a prefix and a random body, and no id, hash or file."""
    text, start = match.string, match.start()
    word = _END.sub("", match[0])
    parts = list(_PART.finditer(word))
    for number, part in enumerate(parts[1 : _MAX_PREFIX_PARTS + 1], 1):
        if len(parts[number - 1][0]) > _MAX_PREFIX_PART_CHARS or _EXTENSION.search(word):
            return None
        if _is_body(part[0], word[part.start() :]):
            is_id = _ID_BEFORE.search(text, max(0, start - _ID_CHARS), start)
            prefix = [parts[at][0].lower() for at in range(number)]
            is_one = not is_id and _is_secret(prefix, part[0], word[part.start() :])
            return (start, start + len(word)) if is_one else None
    return None


def _is_body(first: str, rest: str) -> bool:
    """Whether the rest of a word from one of its parts on is a key's body: this part alone, or all and its signs."""
    if len(first) >= MIN_RANDOM_CHARS:
        return is_random(first) or is_hash(first)
    is_word = first.isalpha() and (first.islower() or first.isupper())  # rather one of the prefix
    if _UUID.search(rest):
        return bool(_UUID.fullmatch(rest))
    return not is_word and "." not in rest and is_mixed(rest)


def is_hash(text: str) -> bool:
    """Whether a text is written as a hash: digits in base 16, not all of them of base 10."""
    return bool(_HEX.fullmatch(text)) and not text.isdigit()


def is_mixed(text: str) -> bool:
    """Whether a text is random and has small and capital letters and digits."""
    return bool(_THREE_CLASSES.match(text)) and is_random(text)


_THREE_CLASSES = lazily(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[^0-9]*[0-9]")
_ID_BEFORE = lazily(r"(?:(?<![A-Za-z])[Ii][Dd]|[a-z]I[Dd])s?(?![A-Za-z])[^\n]{0,20}\Z")
_ID_CHARS = 24
"""So near before a word something says that it is an id: session_id=, "id": "…"."""


def _is_secret(prefix: list[str], first: str, rest: str) -> bool:
    """Whether a prefix with this random body is a key's. A hash or UUID counts behind a word for a key, or no word."""
    if not _PUBLIC.isdisjoint(prefix):
        return False
    if any(map(_SECRET_WORD.fullmatch, prefix)):
        return True
    if not _ID_WORDS.isdisjoint(prefix) or _UUID.fullmatch(rest):
        return False
    return not (is_hash(first) and any(map(_LONG_WORD.search, prefix)))


_PUBLIC = frozenset(("pub", "public", "pubkey", "cache", "cached", "ssh", "sha256", "sha512"))
