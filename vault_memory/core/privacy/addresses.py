"""Addresses as they are put into words: without the password, the values of a query, or a key that is known by its
form. What a person says yes to is the address itself, so the host is always shown.

A password ends at the last `@` before the first slash, as in git: one with a slash in it opens nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault_memory.core.privacy.secrets import redact

HIDDEN = "***"
_IN_TEXT = re.compile(r"(?<![^\s'\"])[^\s'\"]*[:/]/[^\s'\"]*")
_PORT = r"\d{1,5}(?!\w)"
_HIDING: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (rf"(?<=[:/]/)([^/\\:@\[?#]*):(?!{_PORT}(?:/|$))[^/\\?#]*@", rf"\1:{HIDDEN}@"),  # https://name:password@host
        (rf"(?<=//)([^/\\:@\[?#]*):(?!{_PORT})[^/@?#]+(?=[/?#]|$)", rf"\1:{HIDDEN}"),  # cut off before its host
        (r"(?<=//)[^/\\:@?#]{20,}@", f"{HIDDEN}@"),  # a token in the place of a name
    )
)
_QUERY_VALUE = re.compile(r"(?:(?<=[?&;])|(?<=^))([^=&;]*=)[^&;]+")
_NAME_LEFT_OVER = re.compile(r"(https?://)[^/\\:@\[?#]*@", re.IGNORECASE)
"""Git takes a name and a password out of an address, up to the first `@`: what is left may be half of a password."""
_HOST_AND_PATH = re.compile(r"(?<![^\s'\"])([^\s/\\:@'\"]+):[^\s/'\"]*@(?=[\w.\-\[\]]+:)")
"""As in `name:password@host:notes.git`; git takes that for a path on the host `name`."""


def shown_address(address: str) -> str:
    """One address, which may hold blanks and quotes, without what should stay secret in it."""
    place, mark, query = address.partition("?")
    for pattern, shown in _HIDING if "/" in place else ():
        place = pattern.sub(shown, place)
    shown_query = _QUERY_VALUE.sub(rf"\1{HIDDEN}", query)
    return redact(_HOST_AND_PATH.sub(rf"\1:{HIDDEN}@", place + mark + shown_query)).text


def without_credentials(text: str, known: Iterable[str] = ()) -> str:
    """A text, such as git's own words, with each address in it as `shown_address` has it; those that are `known` are
    found whatever is in them."""
    for address in known:
        text = text.replace(address, shown_address(address))
    text = _IN_TEXT.sub(lambda found: _NAME_LEFT_OVER.sub(rf"\1{HIDDEN}@", shown_address(found[0])), text)
    return _HOST_AND_PATH.sub(rf"\1:{HIDDEN}@", text)
