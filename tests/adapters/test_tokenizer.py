"""Texts as tokens: by bytes, and by an encoding of the real tiktoken that is made here, as no test fetches one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.adapters.tokenizer import UTF8, pack_token_record, text_of_tokens, tokenize_text
from vault_memory.errors import UsageError

PLUGIN = """
def mine():
    ranks = {bytes([n]): n for n in range(256)} | {"你".encode()[:2]: 256, "你".encode(): 257, b"he": 258, b"ll": 259}
    return {"name": "mine", "pat_str": r"\\S+|\\s+", "mergeable_ranks": ranks, "special_tokens": {"<|end|>": 260}}

ENCODING_CONSTRUCTORS = {"mine": mine}
"""
TEXTS = ["中文，繁體與简体", "plain English\n", "emoji 🌊👩‍👩‍👧 e\u0301", "<|end|> <|endoftext|>", "", "x" * 120_001]


@pytest.mark.parametrize("text", TEXTS)
def test_bytes_give_back_the_text(text: str) -> None:
    """D2"""
    tokens = tokenize_text(text, UTF8)
    assert all(isinstance(token, int) for token in tokens) and text_of_tokens(tokens, UTF8) == text


def test_nothing_has_no_tokens() -> None:
    """D2"""
    assert tokenize_text(None, UTF8) == [] == tokenize_text("", UTF8)


@given(st.text())
def test_any_text_comes_back(text: str) -> None:
    """D2"""
    record = pack_token_record(text, None, {"summary": text, "causes": [text]}, UTF8)
    assert text_of_tokens(record["user"], record["encoding"]) == text


def test_a_record_names_its_encoding_and_nothing_is_no_tokens() -> None:
    """D2: the reflection is tokenised too; None passes"""
    assert pack_token_record(None, "", None, UTF8) == {"user": [], "assistant": [], "reflection": [], "encoding": UTF8}
    record = pack_token_record("hi", "你", {"summary": "好", "causes": []}, UTF8)
    assert record["user"] == [104, 105] and record["assistant"] == [228, 189, 160]
    assert text_of_tokens(record["reflection"], UTF8) == '{"summary": "好", "causes": []}'


def test_half_a_pair_is_replaced() -> None:
    """D2"""
    assert text_of_tokens(tokenize_text("a\ud83cb \ud83c\udf0a", UTF8), UTF8) == "a\ufffdb 🌊"


def test_an_encoding_that_is_not_there_leaves_the_bytes() -> None:
    """D2, D7: the fallback is seamless, and recorded"""
    assert pack_token_record("hi", None, None, "no-such-encoding") == {
        "user": [104, 105],
        "assistant": [],
        "reflection": [],
        "encoding": UTF8,
    }
    with pytest.raises(UsageError, match="no-such-encoding"):
        text_of_tokens([1], "no-such-encoding")


@pytest.mark.parametrize("tokens", [[300], [-1], [255], ["a"]])
def test_tokens_of_another_encoding_are_refused(tokens: list[int]) -> None:
    with pytest.raises(UsageError, match="not of the encoding"):
        text_of_tokens(tokens, UTF8)


def run(code: str, *paths: Path) -> str:
    """What a program prints, for which only these folders are on the path besides ours."""
    places = [*map(str, paths), str(Path(__file__).parents[2])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True).stdout


def test_tiktoken_gives_back_the_text(tmp_path: Path) -> None:
    """D2: with the extra, texts that hold its special tokens too"""
    (tmp_path / "tiktoken_ext").mkdir()
    (tmp_path / "tiktoken_ext/mine.py").write_text(PLUGIN)
    code = (
        "from vault_memory.adapters.tokenizer import *\n"
        f"for text in {TEXTS!r}:\n"
        "    record = pack_token_record(text, None, None, 'mine')\n"
        "    assert record['encoding'] == 'mine', record['encoding']\n"
        "    assert text_of_tokens(record['user'], 'mine') == text\n"
        "print(tokenize_text('hello 你', 'mine'))"
    )
    assert run(code, tmp_path) == "[258, 259, 111, 32, 257]\n"


def test_without_tiktoken_nothing_fails(tmp_path: Path) -> None:
    """D2: a missing tiktoken passes, and with it nothing of it is imported"""
    code = (
        "import sys; sys.modules['tiktoken'] = None; import importlib.util\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'tiktoken' else real(name, *a)\n"
        "from vault_memory import tokenize_text, pack_token_record\n"
        "print(tokenize_text('你'), pack_token_record('a', None, None)['encoding'])"
    )
    assert run(code) == "[228, 189, 160] utf-8\n"
