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


DIVIDED = [
    f"{OURS}\n[tui]\nx = 1\n\n[mcp_servers.vault-memory.env]\nA = '1' # a\n\n[b]\ny = 1\n",
    f"{OURS}\n[tui]\nx = 1\n\n[mcp_servers.vault-memory.env]\nA = '1'",
    f"{OURS}[tui]\nx = 1\n# above\n[mcp_servers.vault-memory.env]\nA = '1'\n# below\n\n",
    f"{OURS}\n[tui]\n\n\n[mcp_servers.vault-memory.env]\nA = '1'\n\n\n# of b\n[b]\n\n[c]\n",
    f"[mcp_servers.vault-memory.env]\nA = '1'\n[tui]\n{OURS}[b]\n[mcp_servers.vault-memory.tools.x]\ny = 1\n[c]\n",
    f"{OURS}\n[[l]]\nx = 1\n[mcp_servers.vault-memory.env]\nA = '1'\n[[l]]\nx = 2\n\n"
    '[mcp_servers.vault-memory.tools.x]\ny = """\n[l]\n"""\n\n[[l]]\nx = 3\n',
]


@pytest.mark.parametrize("text", [*DIVIDED, DIVIDED[0].replace("\n", "\r\n")])
def test_a_table_that_a_person_has_divided_comes_back_in_its_places(text: str) -> None:
    made = with_value(text, PATH, VALUES)
    assert read(made)["mcp_servers"]["vault-memory"] == VALUES
    assert restored(made, PATH, text) == text
    assert restored(with_fields(made, PATH, {"command": "/b"}), PATH, text) == text
    more = "\n[mcp_servers.vault-memory.tools.more]\na = 1\n"  # ours, divided since
    assert restored(made + more, PATH, text) in (text, text + "\n")
    for old, new in (("x = 1", "x = [\n1]"), ("[tui]", "[more]\n[tui]"), ("[b]", "# mine\n[b]"), ("[b]", "[d]")):
        changed = text.replace(old, new)
        left = restored(made.replace(old, new), PATH, text)
        assert (sorted(left.split("\n")), read(left)) == (sorted(changed.split("\n")), read(changed))


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
