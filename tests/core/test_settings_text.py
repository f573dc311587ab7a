"""Settings are changed in the text of their file, and nothing else of it is."""

from __future__ import annotations

import tomllib

import pytest

from vault_memory.core.settings_text import with_values

ENDPOINTS = [{"url": "http://gpu:11434/api/embed"}, {"url": "https://a.example/v1/embeddings", "key_env": "KEY"}]
CHOICE = {"kind": "http", "model": "bge-m3", "endpoints": ENDPOINTS}


SHOWN = """# mine
format = 1

[embedding]
# what
# kind = "offline"

# model = ""
#   endpoints = [{ url
# endpoints = []

[search]
"""
SET = """# mine
format = 1

[embedding]
# what
# kind = "offline"
kind = "http"

# model = ""
model = "bge-m3"
#   endpoints = [{ url
# endpoints = []
endpoints = [{ url = "http://gpu:11434/api/embed" }, { url = "https://a.example/v1/embeddings", key_env = "KEY" }]

[search]
"""


def test_a_new_value_follows_the_line_that_shows_its_default() -> None:
    assert with_values(SHOWN, "embedding", CHOICE) == SET


def test_an_old_value_is_replaced_where_it_stands_and_comments_stay() -> None:
    old = """x = 1 # [embedding]
[embedding] # vectors
kind = "local"  # for # now
timeout_s = 5
endpoints = [
  # the fast one
  { url = "http://a/v1/embeddings" }, # first
] # all
model = "a # b"
[embedding_x]
kind = 3"""
    new = """x = 1 # [embedding]
[embedding] # vectors
kind = "http"  # for # now
timeout_s = 5
  # the fast one
endpoints = []  # all
model = "c"
[embedding_x]
kind = 3
"""
    assert with_values(old, "embedding", {"kind": "http", "endpoints": [], "model": "c"}) == new


@pytest.mark.parametrize(
    "text", ["", "format = 1\n", "a = 1\r\n[search]\r\nweight = 'auto'\r\n", "[a]\nx = '''\n[b]\n'''\n"]
)
def test_a_table_that_is_not_there_comes_last(text: str) -> None:
    changed = with_values(text, "embedding", CHOICE)
    assert changed.startswith(text) and tomllib.loads(changed) == tomllib.loads(text) | {"embedding": CHOICE}
    assert ("\n" in changed.replace("\r\n", "")) != ("\r\n" in text)


def test_a_value_that_is_there_changes_nothing() -> None:
    text = "[embedding]\nendpoints = [\n  {url='http://gpu:11434/api/embed'}, # mine\n]\n"
    assert with_values(text, "embedding", {"endpoints": ENDPOINTS[:1]}) == text


@pytest.mark.parametrize("name", ['a "b" \\ c', "模型", "a\tb"])
def test_every_text_comes_back(name: str) -> None:
    assert tomllib.loads(with_values("", "embedding", {"model": name}))["embedding"]["model"] == name


@pytest.mark.parametrize(
    "text",
    ["embedding.kind = 'local'\n", "embedding = {kind = 'local'}\n", "[embedding\n", "[embedding]\nkind = '''\na'''\n"],
)
def test_what_is_written_in_another_way_is_refused_or_right(text: str) -> None:
    """The outcome is parsed again: nothing else may have changed."""
    try:
        changed = with_values(text, "embedding", {"kind": "http"})
    except ValueError:
        return
    assert tomllib.loads(changed)["embedding"] == {"kind": "http"}
