"""What an embedding endpoint is sent of notes: nothing that only another passage tells to be a secret."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.adapters.index.test_judging import Model
from tests.adapters.index.test_sqlite import entry
from vault_memory.adapters.embedding import outgoing
from vault_memory.adapters.index.sqlite import SqliteIndex

RNG = random.Random(7)


def made_up(length: int) -> str:
    return "".join(RNG.choices(string.ascii_letters + string.digits, k=length))


def key() -> tuple[str, list[str]]:
    lines = [made_up(64) for _ in range(60)]
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"]), lines


def table() -> tuple[str, list[str]]:
    words = [f"Lark{made_up(8)}7!" for _ in range(90)]
    rows = [f"| site{n}.example.org | maria | {word} |" for n, word in enumerate(words)]
    return "\n".join(["| site | user | password |", "|---|---|---|", *rows]), words


class Endpoint(Model):
    """A model behind an endpoint: it gets what `HttpEmbedder` would send."""

    def __init__(self) -> None:
        super().__init__()
        self.space = "http:m"
        self.sent: list[str] = []

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[list[float]]:
        self.sent += map(outgoing, texts)
        return super().embed(texts, kind)


def sent_of(path: Path, notes: dict[str, str]) -> tuple[SqliteIndex, Endpoint]:
    index, endpoint = SqliteIndex(path / "index.db"), Endpoint()
    index.replace([entry(source, text) for source, text in notes.items()])
    while index.embed_pending(endpoint, 3):
        pass
    return index, endpoint


@pytest.mark.parametrize("made", [key, table])
def test_a_secret_that_another_passage_tells_stays_here(tmp_path: Path, made: object) -> None:
    """A key or a table of passwords is cut into passages, and only the first one has the line that says what it is."""
    text, values = made()  # type: ignore[operator]
    notes = {"notes/a.md": f"# Mine\n\nSome words.\n\n{text}\n", "notes/b.md": "# Other\n\nA walk in the rain.\n"}
    index, endpoint = sent_of(tmp_path, notes)
    assert index.stats().chunks > 3
    everything = "\n".join(endpoint.sent)
    assert [value for value in values if value in everything] == []
    assert "A walk in the rain." in everything and "Some words." in everything
    tried = index.waiting("http:other", is_sent=True)
    assert [value for value in values if value in "\n".join(tried)] == []
    assert values[-1] in "\n".join(index.waiting("local:other"))


def test_half_a_sentence_tells_no_secret(tmp_path: Path) -> None:
    """Probes are every second word: «password:» may be among those that are left out."""
    told = [
        f"In the summer of year {n} Peter wrote us the new wifi password: Lark{made_up(7)}$7 for all" for n in range(30)
    ]
    private = [f"In the year {n} the doctors told my wife that she has diabetes of the second kind" for n in range(30)]
    plain = [f"In the summer of year {n} we walked up to the hut and made a fire near the lake" for n in range(30)]
    _, endpoint = sent_of(tmp_path, {f"notes/{n}.md": f"{text}.\n" for n, text in enumerate([*told, *private, *plain])})
    assert endpoint.probes
    for text in told + private:
        assert text.split()[-3 if text in told else 9] not in " ".join(endpoint.probes).split()


def test_a_file_that_is_as_it_was_before_an_edit_is_read_again(tmp_path: Path) -> None:
    """Its chunks have other ids then; they got the vector of a title alone."""
    note = {"notes/a.md": "# Walk\n\nThe lake lies behind the mill.\n"}
    index, endpoint = sent_of(tmp_path, note)
    index.replace([entry("notes/a.md", "# Walk\n\nThe lake is frozen.\n")])
    index.replace([entry("notes/a.md", note["notes/a.md"])])
    endpoint.sent.clear()
    while index.embed_pending(endpoint, 3):
        pass
    assert "behind the mill" in "\n".join(endpoint.sent)


def test_in_an_index_made_anew_ids_are_other_chunks(tmp_path: Path) -> None:
    long = "# Walk\n\n" + "\n\n".join(f"## Day {n}\n\n{'We went on along the river. ' * 60}mark{n}" for n in range(4))
    index, endpoint = sent_of(tmp_path, {"notes/a.md": long})
    index.close()
    for path in tmp_path.glob("index.db*"):
        path.unlink()
    index.replace([entry("notes/a.md", "# Walk\n\nA word.\n")])
    index.replace([entry("notes/a.md", long)])
    endpoint.sent.clear()
    while index.embed_pending(endpoint, 3):
        pass
    found = [f"mark{n}" for n in range(4) if f"mark{n}" in "\n".join(endpoint.sent)]
    assert found == ["mark0", "mark1", "mark2", "mark3"]
