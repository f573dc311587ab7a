"""Messages: what is rendered is parsed back, and no value forges a trailer."""

from __future__ import annotations

import subprocess

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.trailers import KEYS, Message, Trailers, parse, render, single_line

HOSTILE = st.text() | st.sampled_from(
    ["a\n\nVault-Key: theme", "\r\nVault-Op: set", "x\u2028Vault-User: bob", "\0", "」", "\ud800"]
)


def test_the_layout() -> None:
    """A1: the commit of a preference, exactly as people grep for it."""
    values = Trailers(user="alice", key="theme", op="set", old="", new="dark")
    assert render("memory(alice): theme = dark", "我喜歡暗色主題", values) == (
        "memory(alice): theme = dark\n\nReason: 「我喜歡暗色主題」\nVault-User: alice\nVault-Key: theme\n"
        "Vault-Op: set\nVault-Old:\nVault-New: dark\n"
    )
    assert render("log(alice)") == "log(alice)\n"


@given(HOSTILE.filter(lambda text: single_line(text)), HOSTILE, st.dictionaries(st.sampled_from([*KEYS]), HOSTILE))
def test_parse_is_the_inverse_of_render(subject: str, reason: str, values: dict[str, str]) -> None:
    made = render(subject, reason, Trailers(**values))
    wanted = Message(
        single_line(subject), single_line(reason), {KEYS[name]: single_line(v) for name, v in values.items()}
    )
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
    made = render("s", "a\n\nVault-Key: forged", Trailers(key="theme", new="x\nVault-Op: set"))
    out = subprocess.run(
        ["git", "interpret-trailers", "--parse", "--no-divider"], input=made.encode(), capture_output=True, timeout=30
    ).stdout.decode()
    assert out.splitlines() == ["Reason: 「a Vault-Key: forged」", "Vault-Key: theme", "Vault-New: x Vault-Op: set"]


def test_the_keys_are_a_promise() -> None:
    """The wire format: what people grep for, in the order of every commit."""
    assert list(KEYS.values()) == [
        *("Vault-User", "Vault-Key", "Vault-Op", "Vault-Old", "Vault-New", "Vault-Strength", "Vault-Source"),
        *("Vault-Undoes", "Vault-Conflict", "Vault-Restores", "Vault-Renamed-From", "Vault-Turn"),
        *("Vault-Entity", "Vault-Memory", "Vault-Mistake"),
    ]


@given(st.dictionaries(st.sampled_from([*KEYS]), st.text("ab 中", max_size=3).map(str.strip)))
def test_ours_are_read_back_from_any_commit(values: dict[str, str]) -> None:
    ours = Trailers(**values)
    assert Trailers.read(parse(render("s", "", ours)).trailers | {"Signed-off-by": "A <a@b>"}) == ours


def test_a_secret_that_a_person_wrote_and_took_out_is_in_no_message() -> None:
    secret = "ghp_bbDop7RtbEPApP5ocuAQmXTFm8tYonVs7Elnz"
    message = render(
        f"note -= my {secret}", f"it was {secret}", Trailers("alice", "note", "remove", f"my {secret}", "")
    )
    assert secret not in message and message.count("[redacted: token]") == 3
