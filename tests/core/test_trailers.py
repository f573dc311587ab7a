"""Messages: what is rendered is parsed back, and no value forges a trailer."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.trailers import Message, parse, render, single_line

KEYS = st.from_regex(r"Vault-[A-Za-z0-9][A-Za-z0-9-]{0,8}", fullmatch=True)
HOSTILE = st.text() | st.sampled_from(
    ["a\n\nVault-Key: theme", "\r\nVault-Op: set", "x\u2028Vault-User: bob", "\0", "」", "\ud800"]
)


def test_the_layout() -> None:
    """A1: the commit of a preference, exactly as people grep for it."""
    values = {"Vault-User": "alice", "Vault-Key": "theme", "Vault-Op": "set", "Vault-Old": "", "Vault-New": "dark"}
    assert render("memory(alice): theme = dark", "我喜歡暗色主題", values) == (
        "memory(alice): theme = dark\n\nReason: 「我喜歡暗色主題」\nVault-User: alice\nVault-Key: theme\nVault-Op: set\n"
        "Vault-Old:\nVault-New: dark\n"
    )
    assert render("log(alice)") == "log(alice)\n"


@given(HOSTILE.filter(lambda text: single_line(text)), HOSTILE, st.dictionaries(KEYS, HOSTILE, max_size=5))
def test_parse_is_the_inverse_of_render(subject: str, reason: str, values: dict[str, str]) -> None:
    made = render(subject, reason, values)
    wanted = Message(single_line(subject), single_line(reason), {key: single_line(v) for key, v in values.items()})
    assert parse(made) == wanted
    made.encode("utf-8")
    assert len(made.splitlines()) == len(made.split("\n")) - 1, "some reader would see another line"


@given(st.text())
def test_any_message_is_parsed(text: str) -> None:
    parse(text)


def test_a_persons_message() -> None:
    text = "subject\n\nSome words: and more\nof prose.\n\nLast paragraph\n\nSigned-off-by: A <a@b>\nFixes: #1\n"
    assert parse(text) == Message(
        "subject", "", {"Signed-off-by": "A <a@b>", "Fixes": "#1"}, "Some words: and more\nof prose.\n\nLast paragraph"
    )
    assert parse("Vault-Key: theme\n").trailers == {}, "a subject is no trailer"


def test_git_reads_the_same_trailers() -> None:
    made = render("s", "a\n\nVault-Key: forged", {"Vault-Key": "theme", "Vault-New": "x\nVault-Op: set"})
    out = subprocess.run(
        ["git", "interpret-trailers", "--parse", "--no-divider"], input=made.encode(), capture_output=True, timeout=30
    ).stdout.decode()
    assert out.splitlines() == ["Reason: 「a Vault-Key: forged」", "Vault-Key: theme", "Vault-New: x Vault-Op: set"]


def test_a_key_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="Vault Key"):
        render("s", "", {"Vault Key": "x"})
