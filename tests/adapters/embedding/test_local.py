"""A model on this machine, loaded by fastembed from files that the test makes: ONNX, tokenizer and settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.embedding.contract import TEXTS, EmbedderContract
from vault_memory.adapters.embedding.local import MODEL, LocalEmbedder
from vault_memory.errors import EndpointError


def field(number: int, content: bytes | str | int) -> bytes:
    """One field of a protocol buffer, the form in which ONNX keeps a model."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def tensor(name: str, kind: int, dims: list[int], raw: bytes) -> bytes:
    return b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) + field(9, raw)


def value(name: str, kind: int, dims: list[str | int]) -> bytes:
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def model() -> bytes:
    """A network of one layer: a token's vector has a one where its id says, 384 numbers in all; 64 is the number of
    words."""
    int64, real = 7, 1
    node = b"".join(field(1, name) for name in ("input_ids", "depth", "values"))
    node += field(2, "last_hidden_state") + field(4, "OneHot")
    graph = field(1, node) + field(2, "tiny")
    graph += field(5, tensor("depth", int64, [1], (384).to_bytes(8, "little")))
    graph += field(5, tensor("values", real, [2], b"\x00\x00\x00\x00\x00\x00\x80\x3f"))
    graph += b"".join(field(11, value(name, int64, ["b", "s"])) for name in ("input_ids", "attention_mask"))
    graph += field(12, value("last_hidden_state", real, ["b", "s", 384]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model"))


def write_model(folder: Path) -> Path:
    """What fastembed would have downloaded into this folder; a letter is a token."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model_optimized.onnx").write_bytes(model())
    letters = {"[PAD]": 0, "[UNK]": 1} | {chr(97 + n): n + 2 for n in range(26)}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False},
        "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": letters, "unk_token": "[UNK]"},
    }  # fmt: skip
    for name, content in {
        "tokenizer": tokenizer,
        "config": {"pad_token_id": 0},
        "tokenizer_config": {"model_max_length": 128, "pad_token": "[PAD]"},
        "special_tokens_map": {"pad_token": "[PAD]", "unk_token": "[UNK]"},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def cache_model(cache: Path) -> None:
    """Put it where a download would have left it, when `cache` is XDG_CACHE_HOME."""
    held = cache / "vault-memory/models/models--Qdrant--paraphrase-multilingual-MiniLM-L12-v2-onnx-Q"
    write_model(held / "snapshots/1")
    (held / "refs").mkdir()
    (held / "refs/main").write_text("1")


class TestLocal(EmbedderContract):
    @pytest.fixture
    def embedder(self, folder: Path) -> LocalEmbedder:
        return LocalEmbedder(folder=folder)


def test_vectors_are_the_model_s_own(folder: Path) -> None:
    """A7: the mean over the tokens, which the network's one layer makes plain to see; of unit length."""
    (vector,) = LocalEmbedder(folder=folder).embed(["aab"])
    assert [at for at, x in enumerate(vector) if x] == [2, 3] and vector[2] == pytest.approx(2 * vector[3])
    assert sum(x * x for x in vector) == pytest.approx(1)


def test_prefixes_stand_before_the_texts_and_make_another_space(folder: Path) -> None:
    embedder = LocalEmbedder(folder=folder, query_prefix="q", document_prefix="d")
    assert list(embedder.embed(["a"], "query")[0]) == list(LocalEmbedder(folder=folder).embed(["qa"])[0])
    assert list(embedder.embed(["a"])[0]) == list(LocalEmbedder(folder=folder).embed(["da"])[0])
    assert embedder.space != LocalEmbedder().space == f"local:{MODEL}"


def test_a_search_never_waits_for_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(EndpointError, match=f"{MODEL} cannot be loaded .*heartbeat vectors"):
        LocalEmbedder().embed(TEXTS, "query")


def test_a_model_that_fastembed_does_not_know_is_named(folder: Path) -> None:
    with pytest.raises(EndpointError, match="no-such-model cannot be loaded"):
        LocalEmbedder("no-such-model", folder=folder).embed(TEXTS)


@pytest.mark.slow
def test_a_model_tells_nobody_that_it_is_used(folder: Path, tmp_path: Path) -> None:
    """onnxruntime kept an id of this machine and events for its maker, and had a thread of its own to send them."""
    code = (
        "import sys; from pathlib import Path\n"
        "from vault_memory.adapters.embedding.local import LocalEmbedder\n"
        "LocalEmbedder(folder=Path(sys.argv[1])).embed(['a'])"
    )
    named = ("CI", "BUILD", "TF_BUILD", "GITHUB", "JENKINS", "ORT_")  # among them are what would make it silent
    environ = {name: value for name, value in os.environ.items() if not name.startswith(named)}
    environ |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, timeout=60, env=environ)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_without_the_extra_it_is_told_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['fastembed'] = None\n"  # as if it were not installed
        "from vault_memory.adapters.embedding.local import LocalEmbedder\n"
        "LocalEmbedder().embed(['x'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install 'vault-memory[local]'" in done.stderr
