"""Addresses in words show where, and nothing that opens it."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import shown_address, without_credentials

TOKEN = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"
SHOWN = {
    "https://alice:Sup3rS3cret@host:8080/x.git": "https://alice:***@host:8080/x.git",
    "https://u:a@b!Sup3rS3cret@host/x": "https://u:***@host/x",
    "https://u:Sup3r@evil.example/x@good.example/": "https://u:***@evil.example/x@good.example/",
    "https://good.example:x@evil.example?y=@good": "https://good.example:***@evil.example?y=***",
    "https://:Sup3rS3cret@host/x": "https://:***@host/x",
    "https://alice:p%40Sup3r@host/x": "https://alice:***@host/x",
    "https://alice:p w'Sup3r@host/x": "https://alice:***@host/x",
    "https:/alice:Sup3r@h/x": "https:/alice:***@h/x",
    "foo::https://u:Sup3r@h/x": "foo::https://u:***@h/x",
    "//u:Sup3r@h/x": "//u:***@h/x",
    "https://u:Sup3r": "https://u:***",
    "u:Sup3r@host:x.git": "u:***@host:x.git",
    "https://0123456789abcdef0123456789abcdef@host/x": "https://***@host/x",
    "https://host/x.git?private_token=Sup3r&a=b": "https://host/x.git?private_token=***&a=***",
    f"https://host/{TOKEN}.git": "https://host/[redacted: token].git",
}
AS_IT_IS = (
    *("https://host:8080/x.git", "ssh://alice@host/x.git", "git@host:x.git", "ssh://git@host:22/x", "../x.git"),
    *("https://[::1]:8080/x", "C:\\notes\\a@b", "C:/notes/a@b:c", "/srv/notes@home:x/y", "https://host:8080/a@b"),
    *("file:///srv/x.git", "fatal: ambiguous argument 'HEAD:notes@home.md'", "https://host/x?y"),
    "/tmp/]52;c;ZXZpbA==/",
)


@pytest.mark.parametrize("address", SHOWN)
def test_what_opens_an_address_is_hidden(address: str) -> None:
    assert shown_address(address) == SHOWN[address]
    assert without_credentials(f"fatal: '{address}' is gone", [address]) == f"fatal: '{SHOWN[address]}' is gone"
    if " " not in address:
        said = without_credentials(f"fatal: unable to access '{address}': no")
        assert said == f"fatal: unable to access '{SHOWN[address]}': no"


@pytest.mark.parametrize("text", AS_IT_IS)
def test_everything_else_is_shown_as_it_is(text: str) -> None:
    assert shown_address(text) == without_credentials(text) == text
    assert without_credentials(f"'{text}': no") == f"'{text}': no"


def test_a_name_alone_is_shown_but_not_in_gits_words_where_it_may_be_half_a_password() -> None:
    assert shown_address("https://alice@host/x") == "https://alice@host/x"
    assert without_credentials("fatal: 'https://b-Sup3r@host/x/'") == "fatal: 'https://***@host/x/'"
