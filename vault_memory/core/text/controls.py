"""Control characters made visible: a terminal or a model would obey them."""

from __future__ import annotations

_OBEYED = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""C0, DEL, C1, and what reorders or embeds text in another direction."""


def _visible(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_VISIBLE = {code: _visible(code) for code in _OBEYED if chr(code) not in "\n\t"}
_IN_JSON = {code: f"\\u{code:04x}" for code in _OBEYED if code >= 0x7F}


def show_controls(text: str) -> str:
    """The text with control characters shown: `\\x1b` as `␛`, `\\x9b` as `\\x9b` in four letters. `\\n`, `\\t` stay."""
    return text.translate(_VISIBLE)


def escape_controls_in_json(text: str) -> str:
    """JSON that says the same, with those control characters escaped too which JSON allows as they are."""
    return text.translate(_IN_JSON)
