from __future__ import annotations

import tomllib

import pytest

from vault_memory.core.assistants.toml_text import with_table, without_table
from vault_memory.errors import UsageError

PATH = ("mcp_servers", "vault-memory")
VALUES = {"command": "/a b/vault-memory", "args": ["--vault", '/q"uote', "小明"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "gpt-5"  # mine',
        'model = "gpt-5"\n\n[mcp_servers.other]\ncommand = "x"  # why\n',
        '[mcp_servers.other]\ncommand = "x"\n\n# a comment at the end\n',
        "[[list]]\na = 1\n",
    ],
)
def test_a_table_comes_and_goes(text: str) -> None:
    made = with_table(text, PATH, VALUES)
    assert made.startswith(text)
    assert tomllib.loads(made)["mcp_servers"]["vault-memory"] == VALUES
    assert with_table(made, PATH, VALUES) == made
    left = without_table(made, PATH)
    assert left.rstrip("\n") == text.rstrip("\n")
    assert tomllib.loads(left) == tomllib.loads(text)


def test_what_follows_the_table_stays() -> None:
    text = '[mcp_servers.vault-memory]\ncommand = "old"\n\n[mcp_servers.vault-memory.env]\nA = "1"\n\n[tui]\nx = 1\n'
    assert without_table(text, PATH) == "[tui]\nx = 1\n"
    assert tomllib.loads(with_table(text, PATH, VALUES)) == {"tui": {"x": 1}, "mcp_servers": {"vault-memory": VALUES}}


@pytest.mark.parametrize("text", ['mcp_servers = { other = { command = "x" } }\n', "mcp_servers = 3\n"])
def test_another_form_is_left_alone(text: str) -> None:
    with pytest.raises(UsageError, match="in a form"):
        with_table(text, PATH, VALUES)


def test_what_is_no_toml_is_left_alone() -> None:
    with pytest.raises(UsageError, match="no TOML"):
        with_table("a = \n", PATH, VALUES)
