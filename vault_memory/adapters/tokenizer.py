"""Texts as numbers, by an encoding of tiktoken's or, without it, by the bytes of UTF-8.

tiktoken fetches the vocabulary of an encoding from the network when it is first asked for. Nobody waits for that longer
than `WAIT_S`: the bytes serve until it has come, and every record names the encoding that it was made by.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from vault_memory.core import reading
from vault_memory.errors import UsageError

DEFAULT_ENCODING = "cl100k_base"
UTF8 = "utf-8"
"""The name of the encoding by bytes: a token is one of 0 to 255."""
WAIT_S = 1.0
_PIECE_CHARS = 50_000
"""A longer text is encoded in pieces: of one long word tiktoken's time grows with the square."""


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...
    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...


class _Loading(NamedTuple):
    """An encoding that is being loaded: `found` is empty until it is there."""

    thread: threading.Thread
    found: list[_Encoding]


def tokenize_text(text: str | None, encoding: str = DEFAULT_ENCODING) -> list[int]:
    """The tokens of a text, in order, none of None; `pack_token_record` says by which encoding. A half of a pair of
    surrogates becomes U+FFFD."""
    return _tokens(_loaded(encoding), text)


def pack_token_record(
    user: str | None,
    assistant: str | None,
    reflection_json: Mapping[str, Any] | None,
    encoding: str = DEFAULT_ENCODING,
) -> dict[str, Any]:
    """{"user": tokens, "assistant": tokens, "reflection": tokens of its JSON, "encoding": the name of the encoding they
    are all made by}. What is None has no tokens."""
    loaded = _loaded(encoding)
    reflection = json.dumps(reflection_json, ensure_ascii=False) if reflection_json else None
    texts = {"user": user, "assistant": assistant, "reflection": reflection}
    tokens = {name: _tokens(loaded, text) for name, text in texts.items()}
    return {**tokens, "encoding": encoding if loaded else UTF8}


def is_encoding(name: str) -> bool:
    """Whether an encoding can be had by that name, or tiktoken is not here to say so. Nothing is fetched."""
    if name in (UTF8, DEFAULT_ENCODING) or importlib.util.find_spec("tiktoken") is None:
        return True
    import tiktoken

    return name in tiktoken.list_encoding_names()


def text_of_tokens(tokens: Sequence[int], encoding: str) -> str:
    """The text of the tokens that an encoding has made. Raises `UsageError` where the encoding cannot be had, or did
    not make them."""
    loaded = None if encoding == UTF8 else _loaded(encoding)
    if loaded is None and encoding != UTF8:
        raise UsageError(f"the encoding {encoding!r} is not here: pip install 'vault-memory[tokens]', with the network")
    try:
        return (loaded.decode_bytes(tokens) if loaded else bytes(tokens)).decode()
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise UsageError(f"these tokens are not of the encoding {encoding!r}") from error


def _tokens(encoding: _Encoding | None, text: str | None) -> list[int]:
    if text is None:
        return []
    text = reading.without_surrogates(text)
    if encoding is None:
        return [*text.encode()]
    pieces = (text[start : start + _PIECE_CHARS] for start in range(0, len(text), _PIECE_CHARS))
    return [token for piece in pieces for token in encoding.encode_ordinary(piece)]


def _loaded(name: str) -> _Encoding | None:
    """The encoding of that name; None while it is not there, or where there is none."""
    if name == UTF8 or importlib.util.find_spec("tiktoken") is None:
        return None
    loading = _begin_to_load(name)
    if loading.thread.is_alive() and not _waited(name):
        loading.thread.join(WAIT_S)
    return loading.found[0] if loading.found else None


@functools.cache
def _begin_to_load(name: str) -> _Loading:
    found: list[_Encoding] = []

    def load() -> None:
        import tiktoken

        try:
            found.append(tiktoken.get_encoding(name))
        except Exception:  # no such name, no network, a damaged file: the bytes serve
            return

    thread = threading.Thread(target=load, daemon=True, name=f"load {name}")
    thread.start()
    return _Loading(thread, found)


_waited_for: set[str] = set()


def _waited(name: str) -> bool:
    """Whether somebody has waited for an encoding already; from now on, somebody has."""
    was = name in _waited_for
    _waited_for.add(name)
    return was
