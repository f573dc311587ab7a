from __future__ import annotations

import tomllib

import pytest

from vault_memory.core.assistants.toml_text import read, restored, says_more, settled, with_fields, with_value
from vault_memory.errors import UsageError

PATH = ("mcp_servers", "vault-memory")
VALUES = {"command": "/a b/vault-memory", "args": ["--vault", '/q"uote', "小明"]}
OURS = '[mcp_servers.vault-memory]\ncommand = "old"\n'
TEXTS = [
    "",
    "\n",
    'model = "gpt-5"  # mine',
    'model = "gpt-5"\n\n\n',
    'model = "gpt-5"\r\n[a]\r\nb = 1\r\n',
    'model = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x"  # why\n',
    '[mcp_servers.other]\ncommand = "x"\n\n# a comment at the end\n',
    "[[list]]\na = 1\n",
    'note = """\n[mcp_servers.vault-memory]\ncommand = "keep me"\n"""\nz = 1\n',
    "note = '''\n[mcp_servers.vault-memory]\n'''\n# \"\n[a.\"b.]\"]\nlist = [\n  [1], # ]\n]\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_table_comes_and_goes(text: str) -> None:
    made = with_value(text, PATH, VALUES)
    assert made.startswith(text)
    assert tomllib.loads(made)["mcp_servers"]["vault-memory"] == VALUES
    assert with_value(made, PATH, VALUES) == with_fields(made, PATH, VALUES) == made
    assert settled(restored(made, PATH, text), text) == text


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("below", ["# a note of mine\n", "\n\n# mine\n[tui]\nx = 1 # y\n", "\n[[more]]\nx = [\n[1]]\n"])
def test_what_a_person_writes_below_it_stays(text: str, below: str) -> None:
    made = with_value(text, PATH, VALUES) + below
    assert with_value(made, PATH, VALUES) == made
    assert with_fields(made, PATH, VALUES | {"command": "/b"}).endswith(below)
    left = restored(made, PATH, text)
    assert left == text + ("" if not text or text.endswith("\n") else "\n") + below


def test_what_a_person_adds_to_it_stays_with_new_values_and_goes_with_it() -> None:
    more = 'enabled_tools = [\n  "a",\n  # not b\n]\n\n[mcp_servers.vault-memory.env]\nA = "1"\n\n[tui]\nx = 1\n'
    text = OURS + more
    assert says_more(text, PATH, {"command": "old"})
    assert not says_more(OURS + "# mine\n", PATH, {"command": "old"})
    made = with_fields(text, PATH, VALUES)
    assert made.endswith(more)
    assert read(made)["mcp_servers"]["vault-memory"] == VALUES | {"enabled_tools": ["a"], "env": {"A": "1"}}
    assert restored(text, PATH, "") == "\n[tui]\nx = 1\n"
    assert restored(with_value(text, PATH, VALUES), PATH, text) == text
    unended = OURS.rstrip("\n")
    assert restored(with_value(unended, PATH, VALUES) + "[tui]\n", PATH, unended) == OURS + "[tui]\n"


@pytest.mark.parametrize(
    "text",
    ['mcp_servers = { other = { command = "x" } }\n', "mcp_servers = 3\n", "[mcp_servers]\nvault-memory = {a = 1}\n"],
)
def test_another_form_is_left_alone(text: str) -> None:
    with pytest.raises(UsageError, match="in a form"):
        with_value(text, PATH, VALUES)


def test_a_table_in_another_form_is_not_taken() -> None:
    with pytest.raises(UsageError, match="in a form"):
        restored("mcp_servers.vault-memory.command = 1\n", PATH, "")


def test_what_is_no_toml_is_left_alone() -> None:
    with pytest.raises(UsageError, match="no TOML"):
        with_value("a = \n", PATH, VALUES)
