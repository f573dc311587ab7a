"""A text as a model may read it: entities and escapes are decoded, letters, brackets and signs that look like others
count as those others, and what cannot be seen is gone. It serves to look for something; nobody is shown it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from html import unescape
from urllib.parse import unquote

COLONS = ":ː∶⩴꞉︓﹕：𐞁"
"""What a view shows as a colon; a test compares these three with all of Unicode."""
ANGLES = "<\u00ab\u02c2\u1438\u2039\u226e\u2329\u25c1\u3008\u276c\u276e\u2770\u27e8\u29fc\ufe3f\ufe64\uff1c"
SQUARES = "[]⁅⁆〔〕〖〗〘〙〚〛【】⟦⟧⟬⟭﹇﹈﹝﹞［］︗︘︹︺︻︼🄪🉀🉁🉂🉃🉄🉅🉆🉇🉈"
_LOOKS_LIKE = str.maketrans(
    {
        **dict.fromkeys("‹〈⟨❬❮❰⧼˂ᐸ◁«", "<"),
        **dict.fromkeys("›〉⟩❭❯❱⧽˃ᐳ▷»", ">"),
        **dict.fromkeys("【〔〖〘〚⟦⟬⁅", "["),
        **dict.fromkeys("】〕〗〙〛⟧⟭⁆", "]"),
        **dict.fromkeys("¦∣│⎢⏐ǀ❘❙┃", "|"),
        **dict.fromkeys("⁄∕⧸", "/"),
        **dict.fromkeys("∶꞉ː", ":"),
        **dict.fromkeys("▁_", "_"),
        # Cyrillic, Greek, then small capitals and others of Latin
        **dict(zip("авгеикмнопрстухьѕіјѵһӏԁԍԛԝ", "abreukmhonpctyxbsijvhldgqw", strict=True)),
        **dict(zip("АВСЕНІЈКМОРЅТУХѴӀԌԚԜ", "ABCEHIJKMOPSTYXVIGQW", strict=True)),
        **dict(zip("αβγεηικμνορστυχωϲϳ", "abyenikuvopotuxwcj", strict=True)),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
        **dict(zip("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɑɡłđøħŧ", "abcdeghijklmnoprstuvwyziagldoht", strict=True)),
    }
)
_UPRIGHT = "\ufe31\ufe32\ufe33"
"""Dashes and a line of vertical text: to Unicode they are dashes, to a reader bars."""
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0\ufffc"
"""They show nothing, though Unicode counts them as letters and signs."""
_SHOW_NOTHING = ("Mn", "Me", "Cf", "Co", "Cn")
"""Accents, format characters, those for private use, and those that are none."""
PLAIN_HAN = "\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
"""Kana, Han and Hangul, as ranges of a pattern: they look like nothing else."""
_ENCODED = (
    r"&(?:amp;)*(?:[A-Za-z][A-Za-z0-9]{1,31}|#0*[0-9]{1,7}|#[xX]0*[0-9A-Fa-f]{1,6});?"
    r"|\\(?:x[0-9A-Fa-f]{2}|[0-3]?[0-7]{2}|[uU]000[0-9A-Fa-f]{5}|u[0-9A-Fa-f]{4}|u\{0*[0-9A-Fa-f]{1,6}\})"
    r"|=[2-7][0-9A-Fa-f]"
    r"|%(?:25)*[0-7][0-9A-Fa-f]|%[c-fC-F][0-9A-Fa-f](?:%[89abAB][0-9A-Fa-f]){1,3}"
)
CODE = re.compile(_ENCODED)
"""An entity or an escape: `&lt;`, `\\x3c`, `\\074`, `=3C`, `%3C`."""
CODE_SIGNS = "&\\%=\ufe60\ufe68\ufe6a\uff05\uff06\uff3c\u207c\u208c\u2260\u2a74\u2a75\u2a76\ufe66\uff1d"
"""What a view shows as the first character of a code; a test compares these with all of Unicode."""
_MAX_LAYERS = 3
"""A code may stand in a code (`%26lt;`), and in its signs what shows nothing or is wide."""
_READ_OTHERWISE = re.compile(rf"{_ENCODED}|(?P<signs>[^\x00-\x7f{PLAIN_HAN}、。，；？「」『』（]+)")
_ENCODED_AGAIN = re.compile(r"(?<=[&%])(?:amp;|25)+(?=[#A-Za-z0-9])")


class PlainView:
    """The view of a text: `view`, and in the text the `places` of its characters."""

    def __init__(self, text: str, layers: int = _MAX_LAYERS) -> None:
        self._text = text
        self._inner: PlainView | None = None
        self._changed: list[tuple[int, int, str | None]] = []
        """Where what is read otherwise stands, and the view of a code; None for signs, each with a view of its own."""
        self.view = text
        if text.isascii() and not CODE.search(text):
            return
        pieces: list[str] = []
        end = 0
        for found in (CODE if text.isascii() else _READ_OTHERWISE).finditer(text):
            start, after = found.span()
            is_code = found.lastgroup is None
            plain = (_decoded(found[0]) if is_code else found[0]).translate(PLAIN)
            self._changed.append((start, after, plain if is_code else None))
            pieces += (text[end:start], plain)
            end = after
        self.view = "".join([*pieces, text[end:]])
        if layers > 1 and pieces and CODE.search(self.view):
            self._inner = PlainView(self.view, layers - 1)
            self.view = self._inner.view

    def places(self) -> Sequence[int]:
        """Where each character of the view, and its end, stands in the text; a decoded one, where its code begins."""
        places: list[int] = []
        end = 0
        for start, after, code in self._changed:
            places += range(end, start)
            if code is None:
                places += [at for at in range(start, after) for _ in PLAIN[ord(self._text[at])]]
            else:
                places += [start] * len(code)
            end = after
        places += range(end, len(self._text) + 1)
        return [places[at] for at in self._inner.places()] if self._inner else places


def _decoded(written: str) -> str:
    once = _ENCODED_AGAIN.sub("", written)
    if once[0] == "&":
        return unescape(once)
    if once[0] == "%":
        return unquote(once, errors="replace")
    if once[0] == "=":
        return chr(int(once[1:], 16))
    return chr(int(once[1:], 8) if once[1].isdigit() else min(int(once[2:].strip("{}"), 16), 0x10FFFF))


class _Plain(dict[int, str]):
    """A character as it may be read: without accents and widths, "" for one that shows nothing."""

    def __missing__(self, code: int) -> str:
        if chr(code) in _UPRIGHT:
            self[code] = "|"
            return "|"
        plain = "".join(
            " " if each.isspace() and each not in "\n\t" else "-" if unicodedata.category(each) == "Pd" else each
            for each in unicodedata.normalize("NFKD", chr(code))
            if unicodedata.category(each) not in _SHOW_NOTHING and each not in _BLANK_LETTERS
        )
        self[code] = plain = plain.translate(_LOOKS_LIKE)
        return plain


PLAIN = _Plain()
"""As `str.translate` takes it."""
